#!/bin/bash
# run.sh: the test suite.
#
#	test/run.sh			what proves hpsort, on one PostgreSQL (make test): PG_CONFIG, or the
#						newest one found
#	test/run.sh --all	all that there is, on every PostgreSQL found (make test-all)
#
#	PG_CONFIGS="/path/to/pg_config ..."		only these PostgreSQLs
#	TESTED=/path/to/pg_config				with --all: make test has passed on this PostgreSQL, which has
#											no more to do unless it is the newest
#	VERBOSE=1								all output, not only of failures
#	HPSORT_TEST_KILLS=1000					with --all: how often the GPU service is killed, 50 by default
#	HPSORT_TEST_QUERIES=10000				random queries of each kind
#	HPSORT_TEST_SEED=1						of all random tests, each of which prints its own otherwise
#
# With --all the tests are long on one PostgreSQL, on one with assertions if there is any, else on the newest.  What
# versions differ in, the short tests pass through on all others, which are spared the rest (once_tests, once_pgtap).
#
# Installs what is missing where it may.  hpsort is installed into each PostgreSQL tested;
# its server is our own, started and stopped here.  Each test has a line with its time when
# it has ended, each suite has one, and the last line is "N passed, N failed"; one suite of
# one version counts one.
#
# The work is a list of parts, each of one PostgreSQL or of none.  Four are run at a time with --all, since
# a test also waits, else two.  Of test/t, a part runs three tests at a time; with --all one, and two where
# they are long.  Parts are run by this script:
#
#	test/run.sh --part pg CONFIG	a PostgreSQL
#	test/run.sh --part system DIR	the PostgreSQLs in the root directory of another system, inside
#									it (by root)
#	test/run.sh --part units		what needs no PostgreSQL
#
# with RESULTS, the file that its suites write a line to; HPSORT_TEST_ALL is the same as --all, LONGEST
# the PostgreSQL on which tests are long, and NEWEST the one that suites of all versions alike are run on.
set -euo pipefail
cd "$(dirname "$0")/.."
source test/lib.sh

# --- running a suite

# progress NAME: of what a suite NAME prints, one line for each test that has ended, as soon
# as it has: of pg_regress, by 15 and by later versions, and of prove, which may have
# written the test's name before.
progress()
{
	perl -ne '
		BEGIN { $| = 1; $suite = shift }
		sub ended { print "  $suite: $_[0] $_[1]\n"; undef $name }
		ended($1, "$2 ($3)"), next if /^(?:test| ) +(\w+) +\.\.\. (ok|FAILED) +(\d+ ms)/;
		ended($2, "$1 ($3)"), next if /^(ok|not ok) \d+ +[-+] (\w+) +(\d+ ms)/;
		$name = $1 if s{^(?:\[[\d:]+\] )?[^ ]*?(\w+)\.(?:pl|sql) \.+ *}{};
		next if !defined $name;
		ended($name, "ok ($1)") if /^ok +(\d+ ms)/;
		ended($name, $1) if /^(skipped: .*)/;
		ended($name, "FAILED") if /^(Dubious|Failed \d|No subtests)/' "$1"
}

# What a reader of the last lines has to know: the tests that failed, by pg_regress,
# prove, pg_prove or cmocka, with what they said, and the seeds to repeat them.
what_failed()
{
	echo "--- $1"
	grep -E -A 20 '(^|[) ])not ok|^circle|may not include|without new_cluster|Failed test|FAILED|psql:.*ERROR|AddressSanitizer|runtime error' "$2" |
		cut -c 1-400 | head -n 60
	grep -iE 'seed' "$2" | sort -u | head -n 20
}

# suite NAME COMMAND...: runs it, and says PASS or FAIL.  No "set -e" inside a
# function run so, hence the && in those below.
suite()
{
	local name=$1 log out reader start=$SECONDS result=FAIL
	shift

	log=$work/${name// /-}.log
	# Who reads goes on when this script is told to end: what it then writes would end it at once.
	exec {out}> >(trap '' INT TERM; tee "$log" | progress "$name")
	reader=$!
	if "$@" >&$out 2>&1 {out}>&- </dev/null; then
		result=PASS
	fi
	exec {out}>&-
	wait $reader
	# Another part may have something to say at the same time.
	{
		flock 9
		[ -z "${VERBOSE:-}" ] || cat "$log"
		if [ $result = FAIL ]; then
			[ -n "${VERBOSE:-}" ] || tail -n 200 "$log" | cut -c 1-2000
			what_failed "$name" "$log" >>"$RESULTS.failures"
		fi
		echo "$result $name ($((SECONDS - start)) s)" | tee -a "$RESULTS"
	} 9>>"$RESULTS.lock"
	[ $result = PASS ]
}

# --- the suites

# An empty suite proves nothing.
some()
{
	compgen -G "$1" >/dev/null || { echo "no tests: $1"; return 1; }
}

# no_crash LOG...: a crash that leaves a right answer behind is still a failure, and so is
# what AddressSanitizer has to report.
no_crash()
{
	! grep -hE -A 30 'terminated by signal|PANIC:|TRAP:|AddressSanitizer' "$@"
}

build_and_install()
{
	build "$1" && install_built "$1"
}

regress()
{
	some "$1/test/sql/*.sql" &&
		{ as_user make -C "$1" "${make_flags[@]}" installcheck ||
			{ cat "$1/regression.diffs"; false; }; } && no_crash "$work/server.log"
}

# pgTAP is plain SQL: where it was not packaged for this PostgreSQL, another's will do.
# have_pgtap DIR: sees to it that this directory of extensions has it.
have_pgtap()
{
	local other

	[ ! -e "$1/pgtap.control" ] || return 0
	other=$(ls /usr/share/postgresql/*/extension/pgtap.control 2>/dev/null | tail -1)
	[ -n "$other" ] || { echo "no pgTAP: install postgresql-$major-pgtap"; return 1; }
	as_root cp "${other%.control}"* "$1"
}

# pgtap TREE [PATTERN]: all tests but those whose path matches.
pgtap()
{
	local tests

	tests=$(cd "$1" && ls test/pgtap/*.sql | grep -vE "${2:-^$}" | tr '\n' ' ')
	have_pgtap "$("$pg_config" --sharedir)/extension" || return
	as_user make -C "$1" "${make_flags[@]}" PGTAP_TESTS="$tests" pgtap && no_crash "$work/server.log"
}

# The same results when the GPU has to be used, which is the stub of one here.
# Of sorts of rows order.sql is enough.
on_gpu()
{
	as_user make -C "$1" "${make_flags[@]}" REGRESS="array_functions set_functions aggregates" ISOLATION= installcheck ||
		{ cat "$1/regression.diffs"; return 1; }
	pgtap "$1" '/(keys|first_of_group)[.]sql' || return
	[ "$(as_user "$bindir/psql" -XAtc "SELECT jobs > 1000 AND fallbacks = 0 FROM hpsort_stat_gpu" hpsort_pgtap)" = t ] ||
		{ echo "the service was not used"; return 1; }
}

# stub_server DIR [SETTING=VALUE...]: start_server, with the stub of a GPU for a service.
stub_server()
{
	as_user make -C "$1" -j"$(nproc)" "${make_flags[@]}" gpu-stub &&
		HPSORT_GPUD=$1/build/gpu_stub/hpsort-gpud start_server "${@:2}"
}

# What the tests that failed have to say beyond "exited with 4": each error with its context,
# what they died of, and what their servers did.  It would go with the directory.
tap_logs()
{
	local test logs=$1/tmp_check/log

	for test in $(sed -n 's|^test/t/\(.*\)\.pl *(Wstat.*|\1|p' "$2"); do
		echo "Failed test $test, the errors in its log:"
		grep -nE -A 15 '(^|[) ])not ok|error running SQL|psql:.*(ERROR|FATAL)|psql: error|timed out|expired| at [^ ]+ line [0-9]+\.$' "$logs/regress_log_$test" |
			cut -c 1-600 | head -n 80
		echo "the end of its log:"
		tail -n 10 "$logs/regress_log_$test" | cut -c 1-600
		grep -E 'PANIC:|FATAL:|TRAP:|terminated by signal|AddressSanitizer' "$logs/$test"_*.log | tail -n 10
	done
}

# perl_tap TREE TEST...: PGXS only says so, and succeeds, where PostgreSQL was built without
# TAP tests.
perl_tap()
{
	local tree=$1 out=$work/prove tests

	shift
	[ $# -gt 0 ] || { echo "no tests"; return 1; }
	# What takes longest begins first: mostly those with more lines.
	tests=$(cd "$tree" && ls -S "$@" | tr '\n' ' ')
	as_user make -C "$tree" "${make_flags[@]}" PROVE_TESTS="$tests" PROVE_FLAGS="--timer -j$tap_jobs" prove_installcheck | tee "$out" &&
		grep -q '^Result: PASS' "$out" || { tap_logs "$tree" "$out"; return 1; }
	# A test whose server is meant to crash does not notice.
	! grep -hE -A 30 'ERROR: AddressSanitizer' "$tree"/tmp_check/log/*
}

# The tests of test/t that do more with HPSORT_TEST_ALL, or nothing without it.
longer_tests()
{
	(cd "$1" && grep -lE '\b(only_)?at_length\(' test/t/*.pl)
}

# The tests that are run under AddressSanitizer: those that limit memory, and that measure
# memory or time, are not.
asan_tests="test/t/009_columns.pl test/t/014_order_spill.pl test/t/017_aggregate.pl test/t/020_aggregate_parallel.pl
	test/t/023_resident.pl test/t/024_resident_breaks.pl test/t/026_resident_where.pl test/t/027_resident_gpu.pl test/t/028_rows.pl test/t/029_wrong_statistics.pl test/t/035_conditions.pl
	test/t/036_star_joins.pl test/t/037_scan.pl"

# The tests that --all leaves to the PostgreSQL on which tests are long: of the sorter and its files, of what is too
# much, of wrong statistics, and of the GPU service, which hardly depend on the version.
once_tests='/(001|002|003|006|012|014|025|027|029)_'
# The same of pgTAP's: functions of arrays, through every algorithm.
once_pgtap='/(aggregates|arrays|array_sort|floats|multiset|sets)[.]sql'

server_settings=(shared_buffers=128MB max_worker_processes=16 max_parallel_workers=8)

# --- parts

# The suites of the PostgreSQL chosen: make test's, all, or those that --all has beyond
# make test's.
test_postgres()
{
	local tree=$work/$name tests more=${HPSORT_TEST_ALL:-}

	[ "$pg_config" != "${TESTED:-}" ] || more=only
	[ "$pg_config" = "${LONGEST:-}" ] || unset HPSORT_TEST_ALL
	# Of code that it has changed for a sanitizer, gcc warns without reason.
	[[ $name = *-asan ]] || make_flags+=(COPT=-Werror)
	rm -rf "$tree"
	copy_tree "$tree"
	suite "$name build" build_and_install "$tree" || return 0
	if [ "$more" != only ]; then
		suite "$name server" start_server "${server_settings[@]}" || return 0
		suite "$name regress" regress "$tree" || true
		suite "$name pgtap" pgtap "$tree" "$([[ -z $more || -n ${HPSORT_TEST_ALL:-} ]] || echo "$once_pgtap")" || true
		stop_server
	fi
	if [[ $name = *-asan ]]; then
		tests=$asan_tests
	elif [ "$more" = only ]; then
		tests=$([ -z "${HPSORT_TEST_ALL:-}" ] || longer_tests "$tree")
	elif [[ -n $more && -z ${HPSORT_TEST_ALL:-} ]]; then
		tests=$(cd "$tree" && ls test/t/*.pl | grep -vE "$once_tests")
	else
		tests=$(cd "$tree" && ls test/t/*.pl)
	fi
	[ -z "$tests" ] || suite "$name tap" perl_tap "$tree" $tests || true
	[ -n "$more" ] || return 0
	# The way to the GPU hardly depends on the version.
	if [[ $pg_config = "${NEWEST:-}" || $name = *-asan ]]; then
		suite "$name gpu server" stub_server "$tree" "${server_settings[@]}" hpsort.device=gpu || return 0
		suite "$name gpu" on_gpu "$tree" || true
		stop_server
	fi
	if [ "$pg_config" = "${NEWEST:-}" ]; then
		suite "$name docs" env PG_CONFIG="$pg_config" BUILT="$tree" test/docs.sh || true
	fi
	if [ "$pg_config" = "${LONGEST:-}" ]; then
		suite "$name fuzz-sql" env PG_CONFIG="$pg_config" BUILT="$tree" FUZZ_SECONDS=60 \
			${HPSORT_TEST_SEED:+FUZZ_SEED=$HPSORT_TEST_SEED} test/fuzz/sql_fuzz.sh || true
	fi
}

# What needs no PostgreSQL.
test_units()
{
	local tree=$work/unit
	local make=(as_user env -u ASAN_OPTIONS make -C "$tree" -s -j"$(nproc)" PG_CONFIG=none WITH_CUDA=no)

	copy_tree "$tree"
	if [ -z "${TESTED:-}" ]; then
		suite structure perl "$tree/test/structure.pl" "$tree" || true
		suite unit "${make[@]}" COPT=-Werror run-unit || true
	fi
	[ -n "${HPSORT_TEST_ALL:-}" ] || return 0
	suite "unit asan" "${make[@]}" COPT=-Werror run-unit-asan || true
	suite fuzz "${make[@]}" FUZZ_SECONDS=60 fuzz || true
}

# The PostgreSQLs in another system, by this script in there, whose directory for temporary
# files both know.
test_system()
{
	local tools name=${1##*/}
	local configs=("$1"/usr/lib/postgresql/*/bin/pg_config)

	# Plain SQL and Perl, which a system that is newer than its packages may lack.
	tools=(/usr/bin/pg_prove "$(perl -MTAP::Parser::SourceHandler::pgTAP -e 'print $INC{"TAP/Parser/SourceHandler/pgTAP.pm"}')")
	for pg_config in "${configs[@]}"; do
		major=${pg_config#"$1"/usr/lib/postgresql/}
		major=${major%%/*}
		have_pgtap "$1/usr/share/postgresql/$major/extension" || true
	done
	[ -e "$1/usr/bin/pg_prove" ] || tar -cPf - "${tools[@]}" | tar -C "$1" -xf - 2>/dev/null

	for pg_config in "${configs[@]#"$1"}"; do
		rm -rf "$work/$name"
		start_system "$1" "$work/$name" env RESULTS=/tmp/results VERBOSE="${VERBOSE:-}" HPSORT_TEST_ALL="${HPSORT_TEST_ALL:-}" \
			${HPSORT_TEST_SEED:+HPSORT_TEST_SEED=$HPSORT_TEST_SEED} test/run.sh --part pg "$pg_config"
		wait "${system_pids[0]}" || echo "FAIL $pg_config in $1: its suites did not come to their end" | tee -a "$RESULTS"
		system_pids=()
		cat "$work/$name/results" >>"$RESULTS"
		cat "$work/$name/results.failures" >>"$RESULTS.failures" 2>/dev/null || true
	done
}

# run_part KIND WHICH
run_part()
{
	tap_jobs=3
	[ -z "${HPSORT_TEST_ALL:-}" ] || tap_jobs=$([[ ${2:-} = "${LONGEST:-}" ]] && echo 2 || echo 1)
	case $1 in
		pg)
			export PG_CONFIG=$2
			need build pgtap perl
			use_postgres "$2"
			test_postgres
			;;
		system) test_system "$2" ;;
		units) test_units ;;
	esac
}

# --- the whole

run_all()
{
	local tools=(build unit pgtap perl) parts=("units none") at_a_time=2 passed failed

	[ -z "${HPSORT_TEST_ALL:-}" ] || { tools+=(fuzz); at_a_time=4; }
	export TESTED=${TESTED:-} VERBOSE=${VERBOSE:-} RESULTS=$work/results
	: >"$RESULTS" >"$RESULTS.failures"

	need "${tools[@]}"
	find_postgres
	[ ${#postgres_list[@]} -gt 0 ] || die "no PostgreSQL with server headers found (PG_CONFIGS=${PG_CONFIGS:-${PG_CONFIG:-}})"
	export NEWEST=${postgres_list[-1]} LONGEST=${postgres_list[-1]}
	system_list=()
	if [ -n "${HPSORT_TEST_ALL:-}" ]; then
		find_systems
	else
		postgres_list=("$NEWEST")
	fi

	for system in "${system_list[@]}"; do
		echo "found PostgreSQL $(ls "$system/usr/lib/postgresql") in $system"
		parts=("system $system" "${parts[@]}")
	done
	for pg_config in "${postgres_list[@]}"; do
		use_postgres "$pg_config"
		echo "found PostgreSQL $version in $bindir ($name)"
		[[ $name != *-assert ]] || LONGEST=$pg_config
	done
	for pg_config in "${postgres_list[@]}"; do
		[[ $pg_config = "$LONGEST" || ($pg_config = "$TESTED" && $pg_config != "$NEWEST") ]] || parts=("pg $pg_config" "${parts[@]}")
	done

	# What takes longest begins first.
	printf '%s\n' "pg $LONGEST" "${parts[@]}" | PG_CONFIGS= setsid xargs -P $at_a_time -L 1 test/run.sh --part &
	parts_pid=$!
	wait "$parts_pid" || echo "FAIL the parts: one did not come to its end" | tee -a "$RESULTS"
	parts_pid=

	cat "$RESULTS.failures"
	passed=$(grep -c '^PASS' "$RESULTS" || true)
	failed=$(grep -c '^FAIL' "$RESULTS" || true)
	echo "$passed passed, $failed failed"
	[ "$failed" = 0 ]
}

case ${1:-} in
	--part) run_part "$2" "$3" ;;
	--all)
		export HPSORT_TEST_ALL=1
		run_all
		;;
	'') run_all ;;
	*) die "usage: test/run.sh [--all]" ;;
esac
exit
