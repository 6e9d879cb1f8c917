#!/bin/bash
# resident_mutants.sh: whether the tests of resident columns notice a rule that lacks one of
# its conditions (make resident-mutants).
#
#	PG_CONFIGS="/path/to/pg_config ..."		the last one is used; the newest found by default
#	MUTANTS="LSN subid ..."					only these
#
# Each mutant is hpsort without one condition of docs/resident.md, built from a copy of the
# working tree and installed; test/t/024_resident_breaks.pl has to fail with it, in a test that
# has the condition's name in brackets.  A mutant that survives is a test that proves nothing.
# At last hpsort is installed as it is.  Some 40 seconds for each mutant.
set -euo pipefail
cd "$(dirname "$0")/.."
source test/lib.sh

column=src/pg/column

# mutate NAME: changes the copy, or fails.  Each is one place that perl's s/// has to find.
mutate()
{
	local file expression

	case $1 in
		# bit = 1 alone says that a block has not changed
		LSN) file=resident_source.c expression='s/extent->stamp == source->map\.lsn\)/true)/' ;;
		# a heap page with another LSN has not changed as long as it is all-visible
		page-LSN) file=visibility.c expression='s/PageIsAllVisible\(BufferGetPage\(buffer\)\) && BufferGetLSNAtomic\(buffer\) == lsn/PageIsAllVisible(BufferGetPage(buffer))/' ;;
		# tables that the transaction has made, or given another file
		subid) file=residency.c expression='s/ && !is_new\(rel\)/ \&\& (is_new(rel) || true)/' ;;
		catalog) file=residency.c expression='s/if \(IsCatalogRelation\(rel\) \|\| [^\n]*\)\n/if (false)\n/' ;;
		WAL) file=residency.c expression='s/RELPERSISTENCE_UNLOGGED\)/RELPERSISTENCE_UNLOGGED \&\& false)/; s/!= RELPERSISTENCE_PERMANENT\)/!= RELPERSISTENCE_PERMANENT \&\& false)/; s/RelationNeedsWAL\(rel\) && //' ;;
		serializable) file=residency.c expression='s/!CheckForSerializableConflictOutNeeded\(rel, snapshot\)/true/' ;;
		missing) file=residency.c expression='s/if \(!isnull\)/if (false \&\& !isnull)/' ;;
		type) file=residency.c expression='s/key->type = type;/key->type = 0;/' ;;
		file) file=residency.c expression='s/compat_relation_file\(rel, key->file\);//' ;;
		PD_ALL_VISIBLE) file=capture.c expression='s/if \(PageIsAllVisible\(page\)\)/if (true)/' ;;
		*) die "no such mutant: $1" ;;
	esac
	perl -0pi -e "$expression and \$done++; END { exit !\$done }" "$work/src/$column/$file" 2>/dev/null &&
		! cmp -s "$column/$file" "$work/src/$column/$file" ||
		{ echo "FAIL $1: the place in $column/$file is not found"; return 1; }
}

# The condition that the tests' names have, of a mutant.
condition()
{
	case $1 in
		page-LSN) echo LSN ;;
		*) echo "$1" ;;
	esac
}

survived=0
need build perl
find_postgres
[ ${#postgres_list[@]} -gt 0 ] || die "no PostgreSQL with server headers found"
use_postgres "${postgres_list[-1]}"
copy_tree "$work/src"
build "$work/src" >"$work/build.log" 2>&1 || { tail -20 "$work/build.log" >&2; exit 1; }
for mutant in ${MUTANTS:-LSN page-LSN subid catalog WAL serializable missing type file PD_ALL_VISIBLE} none; do
	cp "$column"/*.c "$work/src/$column"
	[ "$mutant" = none ] || mutate "$mutant" || { survived=1; continue; }
	{ build "$work/src" && install_built "$work/src"; } >"$work/build.log" 2>&1 || { tail -20 "$work/build.log" >&2; exit 1; }
	rc=0
	as_user make -C "$work/src" "${make_flags[@]}" PROVE_FLAGS=-v PROVE_TESTS=test/t/024_resident_breaks.pl prove_installcheck >"$work/$mutant.log" 2>&1 || rc=$?
	if [ "$mutant" = none ]; then
		[ $rc = 0 ] && echo "PASS hpsort as it is" || { grep '^not ok' "$work/none.log"; echo "FAIL hpsort as it is"; survived=1; }
	elif grep -q "^not ok [0-9]* - \[$(condition "$mutant")\]" "$work/$mutant.log"; then
		echo "PASS without $mutant: $(grep -c '^not ok' "$work/$mutant.log") tests fail, $(grep -m 1 "^not ok [0-9]* - \[$(condition "$mutant")\]" "$work/$mutant.log" | cut -d' ' -f4-)"
	else
		echo "FAIL without $mutant: no test of it fails ($(grep -c '^not ok' "$work/$mutant.log" || true) others)"
		survived=1
	fi
done
exit $survived
