#!/bin/bash
# stress.sh: resident columns while their tables change (make stress).
#
#	STRESS_SECONDS=3600					how long on each PostgreSQL; ten minutes by default
#	STRESS_RESTARTS=N					instead: N shutdowns, N crashes of the server, N of one process (025_resident_stress.pl)
#	STRESS_SEED=N						the clients' random numbers, as of the run that printed it
#	STRESS_CLIENTS=N					sessions at a time, 8 by default
#	PG_CONFIGS="/path/to/pg_config ..."	only these
#	SETTINGS="..."						more server settings
#
# Clients insert, update, delete, lock, roll back, vacuum, rewrite and truncate two tables
# (test/stress), and read columns that are kept: each answer is compared with core's of the same
# snapshot, and what is in memory with the tables (hpsort_resident_check).  What differs ends its
# client, and the run has failed; so has one in which nothing was read from memory.
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

need build
find_postgres
[ ${#postgres_list[@]} -gt 0 ] || die "no PostgreSQL with server headers found"
for pg_config in "${postgres_list[@]}"; do
	use_postgres "$pg_config"
	rm -rf "$work/src"
	copy_tree "$work/src"
	{ build "$work/src" && install_built "$work/src"; } >"$work/build.log" 2>&1 || { tail -20 "$work/build.log" >&2; exit 1; }
	if [ -n "${STRESS_RESTARTS:-}" ]; then
		as_user env STRESS_SECONDS=1 make -C "$work/src" "${make_flags[@]}" PROVE_FLAGS=-v PROVE_TESTS=test/t/025_resident_stress.pl prove_installcheck >"$work/restarts.log" 2>&1 || failed=1
		grep -E '^not ok|were taken back' "$work/restarts.log"
		continue
	fi
	# Memory for a part of the columns only, so that some are given up.
	start_server session_preload_libraries=hpsort hpsort.resident_memory=1MB shared_buffers=128MB \
		max_worker_processes=16 jit=off synchronous_commit=off parallel_setup_cost=0 parallel_tuple_cost=0 min_parallel_table_scan_size=0 ${SETTINGS:-}
	run_psql -f test/stress/setup.sql >/dev/null
	echo "PostgreSQL $version, $seconds s, seed $seed"
	"$bindir/pgbench" -n -T "$seconds" -c "${STRESS_CLIENTS:-8}" -j 2 --random-seed="$seed" \
		$(sed 's|^|-f test/stress/|' test/stress/mix) >"$work/pgbench.log" 2>&1 ||
		{ grep -m 20 -E 'ERROR|abort' "$work/pgbench.log"; failed=1; }
	grep -m 1 'number of transactions actually' "$work/pgbench.log" || failed=1
	read -r hits refreshes evictions < <(run_psql -F ' ' -c "SELECT sum(hits), sum(refreshes), sum(evictions) FROM hpsort_resident")
	echo "blocks from memory: $hits; extents refreshed: $refreshes, given up: $evictions"
	[ "$hits" -gt 0 ] || { echo "nothing was read from memory"; failed=1; }
	! grep -E 'terminated by signal|PANIC:|TRAP:|ERROR:  XX' "$work/server.log" | head -20 | grep . || failed=1
	stop_server
done
exit $failed
