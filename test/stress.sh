#!/bin/bash
# stress.sh: resident columns while their tables change (make stress).
#
#	STRESS_SECONDS=3600					how long on each PostgreSQL; ten minutes by default
#	STRESS_RESTARTS=N					instead: N shutdowns, N crashes of the server, N of one process (025_resident_stress.pl)
#	STRESS_SEED=N						the clients' random numbers, as of the run that printed it
#	STRESS_CLIENTS=N					sessions at a time, 8 by default
#	PG_CONFIGS="/path/to/pg_config ..."	only these
#	SETTINGS="..."						more server settings
#	STANDBY=1							a standby, which others read meanwhile
#
# Clients insert, update, delete, lock, roll back, vacuum, rewrite and truncate two tables
# (test/stress), and read columns that are kept: each answer is compared with core's of the same
# snapshot, and what is in memory with the tables (hpsort_resident_check).  What differs ends its
# client, and the run has failed; so has one in which nothing was read from memory.
#
# With STANDBY the same is read on a standby, whose replay waits for queries or cancels them, pauses and
# starts again after a crash.  After three quarters of the time it is promoted, while it is read, and
# changed from then on.
set -euo pipefail
cd "$(dirname "$0")/.."
source test/lib.sh

seconds=${STRESS_SECONDS:-600}
seed=${STRESS_SEED:-$(($(date +%s) % 1000000))}
failed=0

run_psql()
{
	"$bindir/psql" -qXAt -v ON_ERROR_STOP=1 "$@"
}

# pgbench PORT SECONDS CLIENTS SCRIPT[@WEIGHT]...
bench()
{
	"$bindir/pgbench" -n -p "$1" -T "$2" -c "$3" -j 2 --random-seed="$seed" $(printf -- '-f test/stress/%s ' "${@:4}")
}

control_standby()
{
	as_user "$bindir/pg_ctl" -D "$work/standby" -l "$work/standby.log" -s -w "$@"
}

stop_standby()
{
	[ ! -d "$work/standby" ] || control_standby -m immediate stop >/dev/null 2>&1 || true
	rm -rf "$work/standby"
}
trap 'stop_standby; finish' EXIT

start_standby()
{
	as_user "$bindir/pg_basebackup" -h "$work" -U postgres -D "$work/standby" -R -c fast --no-sync
	echo "port = 5433" | as_user tee -a "$work/standby/postgresql.conf" >/dev/null
	control_standby start
}

# Reads the standby until there is a file.  A conflict with replay may end a session, and not the run.
read_standby()
{
	local round=0 delays=(0 100ms -1 2s)

	while [ ! -e "$work/written" ]; do
		printf '%s\n' "max_standby_streaming_delay = ${delays[round % 4]}" "hot_standby_feedback = $((round / 2 % 2))" |
			as_user tee -a "$work/standby/postgresql.conf" >/dev/null
		if [ ! -e "$work/promoted" ]; then
			[ $((round % 4)) != 3 ] || control_standby -m immediate restart
			control_standby reload
			run_psql -p 5433 -c "SELECT pg_wal_replay_pause()" -c "SELECT pg_sleep(1)" -c "SELECT pg_wal_replay_resume()" >/dev/null 2>&1 &
		fi
		bench 5433 8 4 read.sql read_committed.sql || true
		round=$((round + 1))
	done >"$work/readers.log" 2>&1
}

need build
find_postgres
[ ${#postgres_list[@]} -gt 0 ] || die "no PostgreSQL with server headers found"
for pg_config in "${postgres_list[@]}"; do
	use_postgres "$pg_config"
	rm -rf "$work/src"
	copy_tree "$work/src"
	{ build "$work/src" && install_built "$work/src"; } >"$work/build.log" 2>&1 || { tail -20 "$work/build.log" >&2; exit 1; }
	if [ -n "${STRESS_RESTARTS:-}" ]; then
		echo "PostgreSQL $version, $STRESS_RESTARTS restarts of each kind, seed $seed"
		as_user env STRESS_SECONDS=1 HPSORT_TEST_SEED="$seed" make -C "$work/src" "${make_flags[@]}" PROVE_FLAGS=-v PROVE_TESTS=test/t/025_resident_stress.pl prove_installcheck >"$work/restarts.log" 2>&1 || failed=1
		grep -E -A 20 '^not ok|^Bail out|were taken back' "$work/restarts.log" || tail -20 "$work/restarts.log"
		continue
	fi
	# Memory for a part of the columns only, so that some are given up.
	start_server session_preload_libraries=hpsort hpsort.resident_memory=1MB shared_buffers=128MB \
		max_worker_processes=16 jit=off synchronous_commit=off parallel_setup_cost=0 parallel_tuple_cost=0 min_parallel_table_scan_size=0 ${SETTINGS:-}
	run_psql -f test/stress/setup.sql >/dev/null
	echo "PostgreSQL $version, $seconds s, seed $seed"
	port=5432
	rm -f "$work/written" "$work/promoted" "$work/standby.log"
	if [ -n "${STANDBY:-}" ]; then
		start_standby
		read_standby &
		reader=$!
		bench 5432 $((seconds * 3 / 4)) "${STRESS_CLIENTS:-4}" $(cat test/stress/mix) >"$work/pgbench.log" 2>&1 ||
			{ grep -m 20 -E 'ERROR|abort' "$work/pgbench.log"; failed=1; }
		port=5433
		touch "$work/promoted"
		control_standby promote
	fi
	bench $port $((seconds / (port == 5432 ? 1 : 4))) "${STRESS_CLIENTS:-8}" $(cat test/stress/mix) >"$work/pgbench.log" 2>&1 ||
		{ grep -m 20 -E 'ERROR|abort' "$work/pgbench.log"; failed=1; }
	if [ -n "${STANDBY:-}" ]; then
		touch "$work/written"
		wait $reader
		awk '/^number of transactions actually/ { n += $6 } END { print "transactions of readers of the standby: " n + 0 }' "$work/readers.log"
		! grep -m 20 -E 'resident columns (are wrong|differ)' "$work/readers.log" || failed=1
	fi
	grep -m 1 'number of transactions actually' "$work/pgbench.log" || failed=1
	read -r hits refreshes evictions < <(run_psql -p $port -F ' ' -c "SELECT sum(hits), sum(refreshes), sum(evictions) FROM hpsort_resident")
	echo "blocks from memory: $hits; extents refreshed: $refreshes, given up: $evictions"
	[ "$hits" -gt 0 ] || { echo "nothing was read from memory"; failed=1; }
	! grep -E 'terminated by signal|PANIC:|TRAP:|ERROR:  XX' "$work/server.log" $(ls "$work/standby.log" 2>/dev/null) | head -20 | grep . || failed=1
	stop_standby
	stop_server
done
exit $failed
