#!/bin/bash
# gpu_resident.sh: what a GPU answers of resident columns beside core's answers, on a real GPU (make gputest).
#
#	PG_CONFIG=...			the PostgreSQL, hpsort installed into it (WITH_CUDA=yes)
#	TABLES="ROWS:ROUNDS:N"	for each table: its rows, and how often it is changed and then asked N random statements
#							by each of JOBS sessions (20000:6:60 p20000:6:60 300000:3:15 2000000:1:5; with a p partitioned); then, of the first one, with little of the GPU's
#							memory and with none, and after the server has crashed, whose LSNs and numbers of extents come again
#	DEVICES="LIST ..."		then the first one is asked of these GPUs together, among which its extents are divided; by default one as two,
#							and as three, and if there are several, the first two (0,0 0,0,0 0,1)
#	JOBS=...				sessions side by side (the processors)
#	HPSORT_TEST_KILLS=1000	afterwards the service is killed so often while sessions compare (0), for
#	HPSORT_TEST_SECONDS=...	so many seconds at most (3600)
#	HPSORT_TEST_SEED=...	repeats
#	HPSORT_GPUD=/path/to/build/gpu_stub/hpsort-gpud		the stub of a GPU (make gpu-stub): a trial of this script without one
#
# Statements are those of resident_queries.sql; each is answered twice under one snapshot.  The server is our own.  The last line is
# "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/.."
source test/lib.sh

tables=${TABLES:-20000:6:60 p20000:6:60 300000:3:15 2000000:1:5}
jobs=${JOBS:-$(nproc)}
kills=${HPSORT_TEST_KILLS:-0}
seconds=${HPSORT_TEST_SECONDS:-3600}
seed=${HPSORT_TEST_SEED:-$((RANDOM * 32768 + RANDOM))}
RANDOM=$((seed % 32768))
echo "seed $seed"

passed=0
failed=0
result()
{
	if [ "$1" = 0 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAIL $2"
	fi
}

use_installed
start_server shared_buffers=2GB work_mem=64MB maintenance_work_mem=256MB max_wal_size=4GB autovacuum=off jit=off fsync=off max_connections=200 \
	max_worker_processes=32 session_preload_libraries=hpsort hpsort.resident_memory=4GB hpsort.debug_aggregate=force hpsort.cost_factor=1000000 \
	hpsort.gpu_wait_timeout=60s max_parallel_workers_per_gather=0 hpsort.resident_fill=on_use hpsort.resident_save=0

sql()
{
	as_user "$bindir/psql" -qXAt -v ON_ERROR_STOP=1 "$@"
}

sql -c "CREATE EXTENSION hpsort" -c "SET hpsort.device = gpu" -c "SELECT (hpsort(array_agg(hashint4(i))))[1:3] FROM generate_series(1, 100000) i" \
	-c "SELECT device, name, state FROM hpsort_devices()"
sql <test/resident_queries.sql

# fill TABLE ROWS: partitioned if its name begins with p
fill()
{
	local job part=$(($2 / jobs + 1))

	sql -c "SELECT resident_make('$1', 0, $([[ $1 = p* ]] && echo "$2" || echo 0))" >/dev/null
	for ((job = 0; job < jobs; job++)); do
		sql -c "INSERT INTO $1 SELECT * FROM resident_rows($((job * part + 1)), $((job == jobs - 1 ? $2 : job * part + part)))" &
	done
	wait
	sql -c "VACUUM ANALYZE $1" -c "SELECT resident_warm('$1')" >/dev/null
}

# change TABLE ROWS: some rows, few or many of its blocks
change()
{
	local at=$((RANDOM * 32768 + RANDOM)) size=$((1 + RANDOM % 100))

	sql -c "UPDATE $1 SET x = x + 1, n = NULL, y = y + 100 WHERE id BETWEEN $((at % $2)) AND $((at % $2 + $2 / 1000 * size / 10))" \
		-c "DELETE FROM $1 WHERE id % 1000 = $((RANDOM % 1000))" \
		-c "INSERT INTO $1 SELECT * FROM resident_rows($(($2 + at % 100000)), $(($2 + at % 100000 + size)))"
	# Of partitions rows move.
	[[ $1 != p* ]] || sql -c "UPDATE $1 SET id = (id + 5000) % $2 WHERE id % 500 = $((RANDOM % 500))"
	[ $((RANDOM % 2)) = 0 ] || sql -c "VACUUM $1"
}

# compare TABLE N SETTINGS...: by each of the sessions; counts what was right and prints what was not
compare()
{
	local table=$1 n=$2 job line pids=()
	shift 2

	for ((job = 0; job < jobs; job++)); do
		sql -c "SET work_mem = '$((RANDOM % 3 == 0 ? 1 : 64))MB'" -c "BEGIN ISOLATION LEVEL REPEATABLE READ" \
			-c "SELECT * FROM resident_compare('$table', $((seed + RANDOM * 32768 + RANDOM)) % 1000000, $n, '{$(IFS=,; echo "$*")}')" -c COMMIT \
			>"$work/compare.$job" 2>&1 || echo "FAILED" >>"$work/compare.$job" &
		pids+=($!)
	done
	# the one who kills the service goes on
	wait "${pids[@]}"
	for ((job = 0; job < jobs; job++)); do
		while read -r line; do
			case $line in
				*" right|") passed=$((passed + ${line%% *})) ;;
				*) result 1 "$table $*: $line" ;;
			esac
		done <"$work/compare.$job"
	done
}

hits() { sql -c "SELECT coalesce(sum(gpu_hits), 0) FROM hpsort_resident"; }

for spec in $tables; do
	IFS=: read -r rows rounds n <<<"$spec"
	[[ $rows = p* ]] && table=$rows || table=r$rows
	rows=${rows#p}
	fill "$table" "$rows"
	before=$(hits)
	compare "$table" "$n" hpsort.device=gpu
	after=$(hits)
	result $((after > before ? 0 : 1)) "the GPU answers of $table"
	for ((round = 1; round < rounds; round++)); do
		change "$table" "$rows"
		case $((round % 3)) in
			0)
				compare "$table" "$n" hpsort.device=gpu
				result "$(sql -c "SELECT sum(differing) FROM pg_class c, hpsort_resident_check(c.oid) WHERE relname ~ '^${table}(_|$)' AND relkind = 'r'")" "memory has what $table has"
				;;
			1) compare "$table" "$n" hpsort.device=auto ;;
			*) compare "$table" "$n" hpsort.device=gpu ;;
		esac
	done
	echo "$table: $passed passed, $failed failed; $((after - before)) blocks by the GPU"
done
# Groups by expressions are maps of columns.
for query in "x / 10, d - date '2026-01-01', count(*) FROM r GROUP BY 1, 2" "substr(t, 1, 6), t, sum(y) FROM r GROUP BY 1, 2" \
	"extract(month FROM d), percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM r WHERE x < 400 GROUP BY 1"; do
	result "$(sql -c "SET hpsort.device = gpu" -c "EXPLAIN (ANALYZE, COSTS OFF) SELECT ${query/FROM r /FROM r${tables%%:*} }" | grep -q 'on the GPU' && echo 0 || echo 1)" "the GPU answers $query"
done
result "$(sql -c "SELECT least(fallbacks, 1) FROM hpsort_stat_gpu")" "nothing has fallen back to the CPU"

# --- memory, and other shared memory

table=r${tables%%:*}
rows=${tables%%:*}
for limit in 1MB 0 -1; do
	sql -c "ALTER SYSTEM SET hpsort.resident_gpu_memory = '$limit'" -c "SELECT pg_reload_conf()" >/dev/null
	sleep 1
	before=$(hits)
	compare "$table" 20 hpsort.device=gpu
	[ $limit = 0 ] || result $(($(hits) > before ? 0 : 1)) "the GPU answers with $limit"
done
# --- several GPUs: a megabyte of a table is one's

[ "$(nvidia-smi -L 2>/dev/null | wc -l)" -lt 2 ] || several=0,1
for devices in ${DEVICES:-0,0 0,0,0 ${several:-}}; do
	sql -c "ALTER SYSTEM SET hpsort.gpu_devices = '$devices'" -c "ALTER SYSTEM SET hpsort.resident_gpu_stripe = '1MB'" -c "SELECT pg_reload_conf()" >/dev/null
	sleep 1
	for round in 1 2 3; do
		before=$(hits)
		compare "$table" 30 hpsort.device=$([ $round = 2 ] && echo auto || echo gpu)
		[ $round = 2 ] || result $(($(hits) > before ? 0 : 1)) "GPUs $devices answer"
		change "$table" "$rows"
	done
	result "$(sql -c "SELECT count(*) FROM hpsort_devices() WHERE resident_extents = 0")" "all GPUs of $devices have extents"
	echo "GPUs $devices: $passed passed, $failed failed"
done
sql -c "ALTER SYSTEM RESET hpsort.gpu_devices" -c "ALTER SYSTEM RESET hpsort.resident_gpu_stripe" -c "SELECT pg_reload_conf()" >/dev/null
sleep 1
for round in 1 2; do
	sql -c CHECKPOINT
	change "$table" "$rows"
	pid=$(sql -c "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'")
	as_user kill -KILL "$pid"
	for ((i = 0; i < 600; i++)); do
		now=$(sql -c "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'" 2>/dev/null) || now=
		[ -z "$now" ] || [ "$now" = "$pid" ] || break
		sleep 0.1
	done
	result "$(sql -c "SELECT count(*) FROM hpsort_resident WHERE rows > 0")" "nothing is resident after crash $round"
	change "$table" "$rows"
	sql -c "SELECT resident_warm('$table')" >/dev/null
	before=$(hits)
	compare "$table" 20 hpsort.device=gpu
	result $(($(hits) > before ? 0 : 1)) "the GPU answers after crash $round"
done
echo "memory and crashes: $passed passed, $failed failed"

# --- the service is killed while sessions compare

if [ "$kills" -gt 0 ]; then
	until=$((SECONDS + seconds))
	done_kills=0
	touch "$work/busy"
	(
		n=0
		while [ -e "$work/busy" ] && [ $SECONDS -lt $until ] && [ "$n" -lt "$kills" ]; do
			pid=$(sql -c "SELECT pid FROM hpsort_stat_gpu WHERE state = 'running'" 2>/dev/null || true)
			if [ -z "$pid" ] || ! as_user kill -KILL "$pid" 2>/dev/null; then
				# A reload starts it at once.
				sql -c "SELECT pg_reload_conf() FROM hpsort_stat_gpu WHERE state = 'restarting'" >/dev/null 2>&1 || true
				sleep 0.02
				continue
			fi
			n=$((n + 1))
			echo "$n" >"$work/kills"
			sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
		done
		rm -f "$work/busy"
	) &
	killer=$!
	while [ -e "$work/busy" ]; do
		compare "$table" 20 hpsort.device=auto
		[ $((RANDOM % 4)) != 0 ] || change "$table" "$rows"
	done
	wait $killer
	done_kills=$(cat "$work/kills" 2>/dev/null || echo 0)
	result $((done_kills > 0 ? 0 : 1)) "the service was killed"
	compare "$table" 20 hpsort.device=gpu
	echo "$done_kills kills"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
