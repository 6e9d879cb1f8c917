#!/bin/bash
# run.sh: the whole test suite, on every PostgreSQL found (make test).
#
#	PG_CONFIGS="/path/to/pg_config ..."		only these
#	VERBOSE=1								all output, not only of failures
#	HPSORT_TEST_KILLS=1000					how often the GPU service is killed on the newest version
#
# A PostgreSQL in the root directory of another system, /opt/*, is tested inside
# that system (by root).  Half of all are tested beside the others, and the unit tests after
# them, by this script with PART, the directory that it leaves its counts and what failed in,
# PART_SYSTEMS, PART_UNITS and PG_CONFIGS.
#
# Installs what is missing where it may.  hpsort is installed into each
# PostgreSQL tested; its server is our own, started and stopped here.  The
# last line is "N passed, N failed"; one suite of one version counts one.
set -euo pipefail
cd "$(dirname "$0")/.."
source test/lib.sh

passed=0
failed=0

# What a reader of the last lines has to know: the tests that failed, by pg_regress,
# prove, pg_prove or cmocka, with what they said, and the seeds to repeat them.
what_failed()
{
	echo "--- $1"
	grep -E -A 20 '^not ok|^circle|may not include|Failed test|FAILED|psql:.*ERROR|AddressSanitizer|runtime error' "$2" | head -n 60
	grep -iE 'seed' "$2" | sort -u | head -n 20
}

# suite NAME COMMAND...: runs it, and says PASS or FAIL.  No "set -e" inside a
# function run so, hence the && in those below.
suite()
{
	local name=$1 log start=$SECONDS
	shift

	log=$work/${name// /-}.log
	if "$@" >"$log" 2>&1 </dev/null; then
		passed=$((passed + 1))
		[ -z "${VERBOSE:-}" ] || cat "$log"
		echo "PASS $name ($((SECONDS - start)) s)"
	else
		failed=$((failed + 1))
		tail -n 200 "$log"
		echo "FAIL $name ($((SECONDS - start)) s)"
		what_failed "$name" "$log" >>"$work/failures"
		return 1
	fi
}

# An empty suite proves nothing.
some()
{
	compgen -G "$1" >/dev/null || { echo "no tests: $1"; return 1; }
}

# A crash that leaves a right answer behind is still a failure.
no_crash()
{
	! grep -E 'terminated by signal|PANIC:|TRAP:' "$work/server.log"
}

build_and_install()
{
	build "$1" && install_built "$1"
}

regress()
{
	some "$1/test/sql/*.sql" &&
		{ as_user make -C "$1" "${make_flags[@]}" installcheck ||
			{ cat "$1/regression.diffs"; false; }; } && no_crash
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

pgtap()
{
	some "$1/test/pgtap/*.sql" || return
	have_pgtap "$("$pg_config" --sharedir)/extension" || return
	as_user make -C "$1" "${make_flags[@]}" "${@:2}" pgtap && no_crash
}

# The same results when the GPU has to be used, which is the service's CPU device here.
# Of sorts of rows order.sql is enough.
on_gpu()
{
	as_user make -C "$1" "${make_flags[@]}" REGRESS="array_functions set_functions aggregates" installcheck ||
		{ cat "$1/regression.diffs"; return 1; }
	pgtap "$1" PGTAP_TESTS="$(cd "$1" && ls test/pgtap/*.sql | grep -vE '/(keys|first_of_group)[.]sql' | tr '\n' ' ')" || return
	[ "$(as_user "$bindir/psql" -XAtc "SELECT jobs > 1000 AND fallbacks = 0 FROM hpsort_stat_gpu" hpsort_pgtap)" = t ] ||
		{ echo "the service was not used"; return 1; }
}

# What the tests that failed have to say beyond "exited with 4": what they died of,
# and what their servers did.  It would go with the directory.
tap_logs()
{
	local test logs=$1/tmp_check/log

	for test in $(sed -n 's|^test/t/\(.*\)\.pl *(Wstat.*|\1|p' "$work/prove"); do
		echo "Failed test $test, last of its log:"
		tail -n 20 "$logs/regress_log_$test"
		grep -E 'PANIC:|FATAL:|TRAP:|terminated by signal' "$logs/$test"_*.log | tail -n 10
	done
}

# PGXS only says so, and succeeds, where PostgreSQL was built without TAP tests.
perl_tap()
{
	some "$1/test/t/*.pl" || return
	as_user env HPSORT_TEST_KILLS="$kills" make -C "$1" "${make_flags[@]}" PROVE_FLAGS=--timer prove_installcheck | tee "$work/prove" &&
		grep -q '^Result: PASS' "$work/prove" || { tap_logs "$1"; return 1; }
}

# The suites of the PostgreSQL chosen; KILLS is how often its GPU service is killed.
test_postgres()
{
	local kills=$1 tree=$work/$name

	make_flags+=(COPT=-Werror)
	rm -rf "$tree"
	copy_tree "$tree"
	suite "$name build" build_and_install "$tree" || return 0
	suite "$name server" start_server shared_buffers=128MB max_worker_processes=16 max_parallel_workers=8 || return 0
	suite "$name regress" regress "$tree" || true
	suite "$name pgtap" pgtap "$tree" || true
	suite "$name tap" perl_tap "$tree" || true
	stop_server
	suite "$name gpu server" start_server shared_buffers=128MB max_worker_processes=16 max_parallel_workers=8 \
		hpsort.gpu_devices=cpu hpsort.device=gpu || return 0
	suite "$name gpu" on_gpu "$tree" || true
	stop_server
}

# What needs no PostgreSQL.
test_units()
{
	local tree=$work/unit

	copy_tree "$tree"
	suite structure perl "$tree/test/structure.pl" "$tree" || true
	suite unit as_user make -C "$tree" -s -O -j"$(nproc)" COPT=-Werror PG_CONFIG=none WITH_CUDA=no unit || true
}

# end_part DIR PID NAME: waits for a part of the run that another process made, and takes
# over its log, its counts and what failed, which it has left in DIR.
end_part()
{
	local more_passed more_failed

	wait "$2" || true
	cat "$1.log"
	if [ -e "$1/counts" ]; then
		read -r more_passed more_failed <"$1/counts"
		passed=$((passed + more_passed))
		failed=$((failed + more_failed))
		[ "$more_failed" = 0 ] || cat "$1/failures" >>"$work/failures"
	else
		failed=$((failed + 1))
		echo "FAIL $3: its suites did not come to their end" | tee -a "$work/failures"
	fi
}

# The suites of the PostgreSQLs in another system, by this script in there, whose
# directory for temporary files both know.
test_system()
{
	local configs=("$1"/usr/lib/postgresql/*/bin/pg_config) name=${1##*/}
	local tools=(/usr/bin/pg_prove "$(perl -MTAP::Parser::SourceHandler::pgTAP -e 'print $INC{"TAP/Parser/SourceHandler/pgTAP.pm"}')")

	# Plain SQL and Perl, which a system that is newer than its packages may lack.
	for pg_config in "${configs[@]}"; do
		major=${pg_config#"$1"/usr/lib/postgresql/}
		major=${major%%/*}
		have_pgtap "$1/usr/share/postgresql/$major/extension" || true
	done
	[ -e "$1/usr/bin/pg_prove" ] || tar -cPf - "${tools[@]}" | tar -C "$1" -xf - 2>/dev/null

	start_system "$1" "$work/$name" env PART=/tmp VERBOSE="${VERBOSE:-}" PG_CONFIGS="${configs[*]#"$1"}" \
		test/run.sh >"$work/$name.log" 2>&1
	end_part "$work/$name" "${system_pids[0]}" "$1"
	system_pids=()
}

# start_beside: the PostgreSQLs of other systems, and as many of ours as make a half of all
# with them, are tested beside the rest: the suites wait more than they compute.  The
# newest of ours stays with the rest.
start_beside()
{
	local n=$(((${#postgres_list[@]} + ${#system_list[@]}) / 2 - ${#system_list[@]})) from

	[ "$n" -ge 0 ] || n=0
	[ $((n + ${#system_list[@]})) -gt 0 ] || return 0
	from=$((${#postgres_list[@]} - 1 - n))
	mkdir "$work/beside"
	PART=$work/beside PART_SYSTEMS="${system_list[*]}" PART_UNITS=yes PG_CONFIGS="${postgres_list[*]:from:n}" \
		setsid test/run.sh >"$work/beside.log" 2>&1 &
	beside_pid=$!
	postgres_list=("${postgres_list[@]:0:from}" "${postgres_list[@]:from+n}")
}

# How often the GPU service is killed: on one version more often.  A kill takes 0.7 s.
few_kills=50
many_kills=${HPSORT_TEST_KILLS:-300}

need build unit pgtap perl
if [ -n "${PART:-}" ]; then
	for system in ${PART_SYSTEMS:-}; do
		test_system "$system"
	done
	for pg_config in ${PG_CONFIGS:-}; do
		use_postgres "$pg_config"
		test_postgres $few_kills
	done
	[ -z "${PART_UNITS:-}" ] || test_units
	[ "$failed" = 0 ] || cp "$work/failures" "$PART/failures"
	echo "$passed $failed" >"$PART/counts"
	exit 0
fi

find_postgres
find_systems
[ ${#postgres_list[@]} -gt 0 ] || die "no PostgreSQL with server headers found (PG_CONFIGS=${PG_CONFIGS:-${PG_CONFIG:-}})"
for pg_config in "${postgres_list[@]}"; do
	use_postgres "$pg_config"
	echo "found PostgreSQL $version in $bindir"
done
for system in "${system_list[@]}"; do
	echo "found PostgreSQL $(ls "$system/usr/lib/postgresql") in $system"
done
start_beside
for pg_config in "${postgres_list[@]}"; do
	use_postgres "$pg_config"
	[ "$pg_config" = "${postgres_list[-1]}" ] && kills=$many_kills || kills=$few_kills
	test_postgres $kills
done

if [ -z "$beside_pid" ]; then
	test_units
else
	end_part "$work/beside" "$beside_pid" "the PostgreSQLs tested beside"
	beside_pid=
fi
[ "$failed" = 0 ] || cat "$work/failures"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
