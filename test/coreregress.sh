#!/bin/bash
# coreregress.sh: PostgreSQL's own regression suite with hpsort loaded and
# sorting wherever it can (make coreregress).
#
#	PG_CONFIGS="/path/to/pg_config ..."		only these
#	PG_SOURCES="/path/to/source ..."		their source trees, in the same order; else fetched
#	MODES="force columns parallel resident"	which of these; all by default
#	SETTINGS="work_mem=64kB ..."			more server settings, for all runs
#	KEEP=/path/to/directory					keeps all results there
#
# For each mode the suite runs on a throw-away server, and its results are
# compared with those of a run without hpsort under the same settings:
#
#	force		rows are sorted by HpSort, and filters evaluated by HpSort Scan, wherever they can
#	columns		aggregates, groups and DISTINCT are answered by HpSort Aggregate wherever it
#				can, and sorting is left to the planner
#	parallel	all are forced, and parallel plans cost nothing
#	resident	as columns, with all columns of all tables resident from the second read on; at the
#				end what is in memory is compared with the tables
#
# The results must be the same but for
#
#	query plans		of EXPLAIN, and of the functions that test/coreregress.txt names
#	order of rows	where the query has no ORDER BY that determines it
#
# Rows that come in another order are still compared as a set, and allowed for
# the statements of test/coreregress.txt only, which gives the reason for each;
# so are results that depend on an order that the query leaves open.  Where plans
# are parallel, a statement without an ORDER BY at its end has no order at all.
set -euo pipefail
cd "$(dirname "$0")/.."
source test/lib.sh

# fetch_source VERSION DIR: Debian's source package of that major version, its
# directory in source.
fetch_source()
{
	local suite suites

	case ${1%%[!0-9]*} in
		15) suites=bookworm ;;
		17) suites=trixie ;;
		18) suites=sid ;;
		19) suites="sid experimental" ;;
		*) die "give PG_SOURCES: no source package known of PostgreSQL $1" ;;
	esac
	command -v apt-get >/dev/null || die "give PG_SOURCES: a source tree of PostgreSQL $1"
	mkdir -p "$2/lists/partial"
	for suite in $suites; do
		echo "deb-src [trusted=yes] http://deb.debian.org/debian $suite main"
	done >"$2/sources.list"
	(
		cd "$2"
		options=(-o "Dir::Etc::sourcelist=$2/sources.list" -o Dir::Etc::sourceparts=/dev/null
			-o "Dir::State::Lists=$2/lists" -o APT::Sandbox::User=root)
		as_root apt-get -qq "${options[@]}" update
		apt-get -qq "${options[@]}" source --download-only "postgresql-${1%%[!0-9]*}" >/dev/null
		tar xjf postgresql-*.orig.tar.bz2
	)
	source=$(echo "$2"/postgresql-*/)
}

# install_for MODE: hpsort, for mode resident a build that keeps all columns.
install_for()
{
	local flag=

	[ "$1" != resident ] || flag=-DHPSORT_KEEP_ALL
	as_user touch "$work/src/src/pg/resident/memory/kept.c"
	{ build "$work/src" COPT="$flag" && install_built "$work/src"; } >"$work/build.log" 2>&1 || { tail -20 "$work/build.log" >&2; exit 1; }
}

# suite_library: what the suite's C functions are in, and where.
suite_library()
{
	mkdir "$work/library"
	cp "$source/src/test/regress/regress.c" "$work/library"
	printf 'MODULES = regress\nPG_CPPFLAGS = -w\nPG_CONFIG = %s\nPGXS := $(shell $(PG_CONFIG) --pgxs)\ninclude $(PGXS)\n' "$pg_config" >"$work/library/Makefile"
	chown -R "${test_user:-$(id -un)}" "$work/library"
	as_user make -s -C "$work/library" with_llvm=no >"$work/library.log" 2>&1 || { cat "$work/library.log" >&2; return 1; }
	cp "$("$pg_config" --pkglibdir)"/{autoinc,refint}.so "$work/library"
}

# run_suite NAME: its output is in $work/NAME.
run_suite()
{
	local driver

	driver=$("$pg_config" --pkglibdir)/pgxs/src/test/regress/pg_regress
	mkdir -p "$work/$1"
	chown "${test_user:-$(id -un)}" "$work/$1"
	# What differs is found out later.
	as_user "$driver" --bindir="$bindir" --inputdir="$work/suite" --outputdir="$work/$1" --dlpath="$work/library" \
		--host="$PGHOST" --port="$PGPORT" --user="$PGUSER" --max-connections=8 --max-concurrent-tests=20 \
		--schedule="$work/suite/parallel_schedule" >"$work/$1.log" 2>&1 || true
	! grep -E 'terminated by signal|PANIC:|TRAP:' "$work/server.log"
}

# check_resident: whether memory has what the tables have that the suite has left, in columns of all types.
check_resident()
{
	"$bindir/psql" -qXAt -v ON_ERROR_STOP=1 -d regression -c "CREATE EXTENSION hpsort" -c VACUUM \
		-c "DO \$\$ BEGIN PERFORM hpsort_keep(oid, '{}', wait => true) FROM pg_class c WHERE relkind IN ('r', 'm') AND relpersistence = 'p' AND oid >= 16384
			AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated <> 'v'); END \$\$" \
		-c "SELECT sum(k.blocks) || ' resident blocks, of which differ: ' || sum(k.differing) FROM pg_class c, hpsort_resident_check(c.oid) k WHERE relkind IN ('r', 'm')" |
		tee "$work/check"
	grep -q '^[1-9].*: 0$' "$work/check"
}

# run_server NAME SETTING...: the suite on a new server with these settings.
run_server()
{
	local run=$1

	shift
	start_server shared_buffers=128MB max_prepared_transactions=4 max_worker_processes=16 "$@" ${SETTINGS:-}
	run_suite "$run" || failed=1
	[ "$run" != resident ] || check_resident || failed=1
	stop_server
	mv "$work/server.log" "$work/$run-server.log"
}

need build
find_postgres
sources=(${PG_SOURCES:-})
failed=0
at=0
for pg_config in "${postgres_list[@]}"; do
	use_postgres "$pg_config"
	source=${sources[$at]:-}
	at=$((at + 1))
	[ -n "$source" ] || fetch_source "$version" "$work/source$major"
	rm -rf "$work"/{suite,library,src,plain*,force*,columns*,parallel*,resident*}
	cp -R "$source/src/test/regress" "$work/suite"
	# Beside other tests, its VACUUM FULL pg_class would wait for a transaction whose worker,
	# in parallel mode, waits for pg_class.
	sed -i 's/^\(test: .*\) vacuum \(.*\)/\1 \2\ntest: vacuum/' "$work/suite/parallel_schedule"
	suite_library
	copy_tree "$work/src"
	install_for all
	chmod -R a+rX "$work/suite"

	for mode in ${MODES:-force columns parallel resident}; do
		settings=()
		plain=plain
		case $mode in
			force) ours=(hpsort.debug_sort=force hpsort.debug_scan=force) ;;
			columns) ours=(hpsort.debug_aggregate=force) ;;
			parallel)
				ours=(hpsort.debug_sort=force hpsort.debug_aggregate=force hpsort.debug_scan=force)
				settings=(parallel_setup_cost=0 parallel_tuple_cost=0 min_parallel_table_scan_size=0 min_parallel_index_scan_size=0)
				[ "$major" -ge 16 ] && settings+=(debug_parallel_query=regress) || settings+=(force_parallel_mode=regress)
				plain=plain-parallel
				;;
			resident) ours=(hpsort.debug_aggregate=force hpsort.debug_sort=force hpsort.debug_scan=force hpsort.resident_memory=256MB) ;;
			*) die "no such mode: $mode" ;;
		esac
		if [ ! -e "$work/$plain" ]; then
			run_server $plain "${settings[@]}"
		fi
		[ "$mode" != resident ] || install_for resident
		run_server "$mode" "${settings[@]}" session_preload_libraries=hpsort "${ours[@]}"
		[ "$mode" != resident ] || install_for all
		# Those that a forced node is most likely to break.
		for test in aggregates groupingsets select_distinct partition_aggregate; do
			[ -s "$work/$mode/results/$test.out" ] || { echo "$mode: no results of $test"; failed=1; }
		done
		echo "PostgreSQL $version, $mode: plans shown have HpSort $(cat "$work/$mode/results"/*.out | grep -c 'Custom Scan (HpSort)' || true) times," \
			"HpSort Scan $(cat "$work/$mode/results"/*.out | grep -c 'Custom Scan (HpSort Scan)' || true) times," \
			"HpSort Aggregate $(cat "$work/$mode/results"/*.out | grep -c 'Custom Scan (HpSort Aggregate)' || true) times"
		echo "PostgreSQL $version, $mode: $(grep -cE '^(not )?ok |\.\.\. (ok|FAILED)' "$work/$mode.log" || true) tests run"
		perl test/coreregress.pl "$work/$plain/results" "$work/$mode/results" "$work/suite/sql" test/coreregress.txt "$mode" || failed=1
	done
	if [ -n "${KEEP:-}" ]; then
		mkdir -p "$KEEP/$major"
		cp -R "$work"/{plain,force,columns,parallel,resident}* "$KEEP/$major" 2>/dev/null || true
	fi
done
exit $failed
