#!/bin/bash
# resident_mutants.sh: whether the tests of resident columns notice a rule that lacks one of
# its conditions (make resident-mutants).
#
#	PG_CONFIGS="/path/to/pg_config ..."		the last one is used; the newest found by default
#	MUTANTS="LSN subid ..."					only these
#
# Each mutant is hpsort without one condition of docs/internals/resident.md, built from a copy of the
# working tree and installed; test/t/024_resident_breaks.pl, 031_heap_format.pl for headers, or 034_saved_columns.pl for files
# after a restart, has to fail with it, in a test that has the condition's name in brackets.  A mutant
# that survives is a test that proves nothing.  A test ends with the failure that it has to have.
# given-up and values-given-up are no such mutants, but have memory given up that often that others find their faults.
# lock and old_snapshot_threshold are for PostgreSQL 15 and 16: 17 has no such setting, and clearing a bit gives the map another LSN.
# At last hpsort is installed as it is.  Some seconds to a minute for each mutant, whose file alone is compiled again.
set -euo pipefail
cd "$(dirname "$0")/.."
source test/lib.sh

# edit FILE EXPRESSION...: perl's s///, each of which has to change something in the copy.
edit()
{
	local file expression

	file=$(cd "$work/src" && find src/pg -name "$1")
	shift
	[ -e "$work/src/$file.orig" ] || cp "$work/src/$file" "$work/src/$file.orig"
	for expression; do
		perl -0pi -e "$expression or exit 1" "$work/src/$file" ||
			{ echo "FAIL $mutant: not found in $file: $expression"; return 1; }
	done
}

# Every seventh time that it is asked, an extent has been given up while it was copied.
give_up()
{
	edit extent_reader.c 's/extent_reader_holds\(const ExtentReader \*reader\)\n\{\n/extent_reader_holds(const ExtentReader *reader)\n{\n\tstatic int asked = 0;\n\n\tif (++asked % 7 == 0)\n\t\treturn false;\n/'
}

# Every third time that values are numbered, all that had numbers are given up before.
give_up_values()
{
	edit column_values.c 's/(\tif \(column && column->summary.no_repeats\))/\t{\n\t\tstatic int asked = 0;\n\n\t\tif (column && ++asked % 3 == 0)\n\t\t\tdirectory_drop_values(root, column, false);\n\t}\n$1/'
}

# Takes a condition out of the copy; with it whatever else hides that it is missing.
mutate()
{
	case $1 in
		# bit = 1 alone says that a block has not changed
		LSN) edit resident_valid.c 's/extent->stamp == look->lsn\)/true)/' ;;
		# a heap page with another LSN has not changed as long as it is all-visible
		page-LSN) edit resident_valid.c 's/look->headers->lsns\[i\] != extent->stamps\[i\]/look->headers->lsns[i] == 0/' ;;
		# the same on a standby; and a page that says more than the map, which a full-page image may
		standby-LSN) edit resident_valid.c 's/extent->stamp == look->lsn\)/extent->stamp == look->lsn || RecoveryInProgress())/' 's/(#include "miscadmin.h")/#include "access\/xlog.h"\n$1/' ;;
		standby-page-LSN) edit resident_valid.c 's/look->headers->lsns\[i\] != (extent->stamps\[i\])/look->headers->lsns[i] != (RecoveryInProgress() ? Max(look->headers->lsns[i], 1) : $1)/' 's/(#include "miscadmin.h")/#include "access\/xlog.h"\n$1/' ;;
		standby-bit) edit visibility.h 's/return resident_blocks_and\(&blocks, &wanted\);/return RecoveryInProgress() ? wanted : resident_blocks_and(&blocks, &wanted);/' 's/(#include "port\/pg_bitutils.h")/#include "access\/xlog.h"\n$1/' ;;
		# tables that the transaction has made, or given another file
		subid) edit residency.c 's/ && !is_new\(rel\)/ && (is_new(rel) || true)/' ;;
		catalog) edit residency.c 's/if \(IsCatalogRelation\(rel\) \|\| [^\n]*\)\n/if (false)\n/' ;;
		# the map of a table that writes no WAL has no LSN
		WAL)
			edit residency.c 's/RELPERSISTENCE_UNLOGGED\)/RELPERSISTENCE_UNLOGGED && false)/' 's/!= RELPERSISTENCE_PERMANENT\)/!= RELPERSISTENCE_PERMANENT && false)/' \
				's/RelationNeedsWAL\(rel\) && //' &&
				edit resident_valid.c 's/look->lsn == 0/false/g' &&
				edit page_list.c 's/lsn = BufferGetLSNAtomic\(buffer\);/lsn = Max(BufferGetLSNAtomic(buffer), 1);/'
			;;
		serializable) edit residency.c 's/!CheckForSerializableConflictOutNeeded\(rel, snapshot\)/true/' ;;
		# the value of rows that lack the column; a transaction that adds a column is one that has a new row in pg_class
		missing) edit residency.c 's/if \(!isnull/if (false && !isnull/' 's/mine = [^;]*;/mine = false;/' ;;
		type) edit residency.c 's/key->type = att->atttypid;/key->type = 0;/' ;;
		# numbers of values that have been given up: what gives them up so often is the mutant
		values)
			give_up_values &&
				edit directory.c 's/ \|\| extent->values != column->values.generation//' &&
				edit column_values.c 's/\*generation != 0 && \*generation != column->values.generation/false/'
			;;
		values-given-up) give_up_values ;;
		# NaN is another integer of a numeric of more digits
		typmod) edit residency.c 's/key->typmod = att->atttypmod;/key->typmod = 0;/' ;;
		# blocks that are read from their pages come behind others
		ordered) edit resident_source.c 's/source->scan.ordered && resident_blocks_any/false && resident_blocks_any/' ;;
		PD_ALL_VISIBLE) edit page_list.c 's/all_visible = PageIsAllVisible\(page\);/all_visible = true;/' ;;
		# rows have line numbers 1, 2, 3 ... in any block
		numbered) edit page_list.c 's/numbered = last == capture->rows\.n;/numbered = last >= 0;/' ;;
		# extents are given up all the time: then rows that are taken back must take their NULLs along
		given-up) give_up ;;
		taken-back) give_up && edit batch.c 's/(\*batch = \*before;\n\tif \()batch->nulls/${1}false/' ;;
		# the map copied without its lock: a new bit with the LSN of the map before a row changed
		lock) edit heap_format.c 's/\tLockBuffer\(buffer, BUFFER_LOCK_SHARE\);\n(\tmemcpy\(words[^\n]*\n[^\n]*\n)\tUnlockReleaseBuffer/$1\tReleaseBuffer/' ;;
		# headers read without a pin: of the block, and while nobody may change the page
		note) edit heap_format.c 's/ && BufferTagsEqual\(&desc->tag, &tag\)//' 's/!BufferTagsEqual\(&desc->tag, &tag\)/false/' ;;
		pin) edit heap_format.c 's/BUF_STATE_GET_REFCOUNT\(state\) == 0 && //' ;;
		old_snapshot_threshold) edit residency.c 's/old_snapshot_threshold < 0/true/' ;;
		# files: pg_control is another than the seal says
		control) edit saved_extents.c 's/read_control\(&control\) && memcmp\([^;]*?== 0 &&/read_control(&control) \&\&/' ;;
		checksum) edit saved_extents.c 's/ \|\|\n\t*checksum\(&header, bytes.data\) != header.crc//' ;;
		format) edit saved_extents.c 's/strcmp\(start.format, FORMAT\) == 0 &&//' ;;
		# numbers: values before are of the same generation, have these numbers, and are all of them
		generation) edit saved_extents.c 's/extent->values != taken->saved \|\| //' ;;
		renumbered) edit saved_extents.c 's/ && numbers\[i\] == taken->n//' ;;
		last) edit saved_extents.c 's/ \|\| resident_numbers\(extent\) > taken->n//' ;;
		# the seal is of that very file
		number) edit saved_extents.c 's/memcmp\(&start, &seal->start, sizeof\(start\)\) == 0 &&//' ;;
		fsync) edit saved_extents.c 's/return enableFsync && /return /' ;;
		full_page_writes) edit saved_extents.c 's/return enableFsync && fullPageWrites/return enableFsync/' ;;
		# settings of the server that wrote it
		seal) edit saved_extents.c 's/seal->outlives_crash && //' 's/seal.outlives_crash = hpsort[^;]*;/seal.outlives_crash = true;/' ;;
		flush) edit saved_extents.c 's/\tXLogFlush\(end\);\n//' ;;
		lost-WAL) edit saved_extents.c 's/GetXLogReplayRecPtr\(NULL\) >= trusted.start.flushed/true/' ;;
		label) edit saved_extents.c 's/ &&\n\t*access\("backup_label"[^;]*;/;/' ;;
		*) die "no such mutant: $1" ;;
	esac
}

# The condition that the tests' names have, of a mutant.
condition()
{
	case $1 in
		page-LSN) echo LSN ;;
		standby-page-LSN) echo 'standby LSN' ;;
		standby-*) echo "standby ${1#*-}" ;;
		taken-back | given-up) echo 'taken back' ;;
		values-given-up) echo values ;;
		lost-WAL) echo 'lost WAL' ;;
		*) echo "$1" ;;
	esac
}

# The test that notices a mutant; of none, both.
test_of()
{
	case $1 in
		control | checksum | format | generation | renumbered | last | number | fsync | full_page_writes | seal | flush | lost-WAL | label) echo test/t/034_saved_columns.pl ;;
		note | pin) echo test/t/031_heap_format.pl ;;
		none) echo test/t/024_resident_breaks.pl test/t/031_heap_format.pl test/t/034_saved_columns.pl ;;
		*) echo test/t/024_resident_breaks.pl ;;
	esac
}

# Puts back what a mutant has changed.
restore()
{
	local file

	find "$work/src/src/pg" -name '*.orig' | while read -r file; do
		cp "$file" "${file%.orig}"
		rm "$file"
	done
}

# run_test [PATTERN]: the mutant's test, until its log has a line of the pattern.  Sets rc and log.
run_test()
{
	local logs=$work/src/tmp_check/log

	rm -rf "$work/src/tmp_check"
	# In a process group of its own, that all of it ends.
	set -m
	as_user make -C "$work/src" "${make_flags[@]}" "PROVE_TESTS=$(test_of "$mutant")" prove_installcheck >"$work/prove.log" 2>&1 &
	parts_pid=$!
	set +m
	while kill -0 "$parts_pid"; do
		if [ -n "${1:-}" ] && grep -qE "$1" "$logs"/regress_log_*; then
			kill -TERM -- "-$parts_pid"
			# The test stops its servers.
			while kill -0 -- "-$parts_pid"; do sleep 0.2; done
		fi
		sleep 0.2
	done 2>/dev/null
	rc=0
	wait "$parts_pid" 2>/dev/null || rc=$?
	parts_pid=
	log=$work/$mutant.log
	cat "$logs"/regress_log_* >"$log"
}

survived=0
need build perl
find_postgres
[ ${#postgres_list[@]} -gt 0 ] || die "no PostgreSQL with server headers found"
use_postgres "${postgres_list[-1]}"
copy_tree "$work/src"
build "$work/src" >"$work/build.log" 2>&1 || { tail -20 "$work/build.log" >&2; exit 1; }
for mutant in ${MUTANTS:-LSN page-LSN standby-LSN standby-page-LSN subid catalog WAL serializable missing type typmod ordered PD_ALL_VISIBLE numbered values values-given-up given-up taken-back note pin \
	$([ "$major" -ge 17 ] || echo lock old_snapshot_threshold) control checksum format generation renumbered last number fsync full_page_writes seal flush lost-WAL label standby-bit} none; do
	restore
	[ "$mutant" = none ] || mutate "$mutant" || { survived=1; continue; }
	{ build "$work/src" && install_built "$work/src"; } >"$work/build.log" 2>&1 || { tail -20 "$work/build.log" >&2; exit 1; }
	# Lines of a test's log begin with a time.
	named="ok [0-9]* - \[$(condition "$mutant")\]"
	[[ "$mutant" = none || "$mutant" = *given-up ]] && expected= || expected="(^|\) )not $named"
	run_test "$expected"
	if [ "$mutant" = none ]; then
		[ $rc = 0 ] && echo "PASS hpsort as it is" || { grep 'not ok' "$log"; echo "FAIL hpsort as it is"; survived=1; }
	elif [[ "$mutant" = *given-up ]]; then
		# Harmless by itself: so it is what lacks below that makes a difference.
		grep -qE "(^|\) )$named" "$log" && ! grep -q "not $named" "$log" &&
			echo "PASS $mutant: answers are right" || { echo "FAIL $mutant: answers are wrong"; survived=1; }
	elif grep -m 1 -E "$expected" "$log" >"$work/killed"; then
		echo "PASS without $mutant: $(sed 's/.*not ok [0-9]* - //' "$work/killed")"
	else
		echo "FAIL without $mutant: no test of it fails ($(grep -c 'not ok' "$log" || true) others)"
		survived=1
	fi
done
exit $survived
