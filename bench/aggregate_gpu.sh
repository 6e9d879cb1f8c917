#!/bin/bash
#
# aggregate_gpu.sh: percentiles by group with HpSort Aggregate, by device and by
# workers, on a GPU host.
#
#	PG_CONFIG=... aggregate_gpu.sh [--rows N] [--reps N] [--out DIR]
#
# Writes aggregate_gpu.csv to DIR (build/bench): milliseconds of each query, medians, with
# hpsort.device cpu, gpu and auto, by core, and with workers.  hpsort must be installed
# already, with its GPU service.  x has 1,000 values; y has 1,000,000, so that group and
# value fit 32 bits; z has any, so that they do not.

set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

rows=100000000
reps=3
take_options "rows= reps= out=" "$@"

installed=yes
begin_bench
start_server shared_buffers=16GB work_mem=8GB max_wal_size=64GB wal_level=minimal max_wal_senders=0 checkpoint_timeout=1h jit=off \
	max_worker_processes=24 max_parallel_workers=16 session_preload_libraries=hpsort hpsort.gpu_wait_timeout=60s

run_psql <<SQL
CREATE EXTENSION hpsort;
CREATE EXTENSION pg_prewarm;
CREATE UNLOGGED TABLE t (x int, y int, z int) WITH (parallel_workers = 8, autovacuum_enabled = off);
SQL
# The rows are made by several sessions.
parts=12
pids=()
for ((i = 0; i < parts; i++)); do
	run_psql -c "INSERT INTO t SELECT (hashint8(i) & 2147483647) % 1000, (hashint8(i + 1000000000) & 2147483647) % 1000000, hashint8(i + 2000000000)
		FROM generate_series($rows::int8 * $i / $parts + 1, $rows::int8 * ($i + 1) / $parts) i" &
	pids+=($!)
done
for pid in "${pids[@]}"; do
	wait "$pid"
done
run_psql -c 'VACUUM (ANALYZE, FREEZE) t' -c "SELECT pg_prewarm('t')" >/dev/null
csv=$out/aggregate_gpu.csv
echo "rows,query,way,workers,ms" >"$csv"

# measure WAY WORKERS SETTINGS QUERY
measure()
{
	local i

	{
		echo "SET max_parallel_workers_per_gather = $2; $3"
		[ "$2" = 0 ] || echo "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;"
		echo "\\timing on"
		for ((i = 0; i <= reps; i++)); do
			echo "$4;"
		done
	} | run_psql | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' | tail -n "$reps" | sort -n |
		awk -v rows="$rows" -v query="${4//,/ }" -v way="$1" -v workers="$2" \
			'{ ms[NR] = $1 } END { printf "%d,%s,%s,%d,%.1f\n", rows, query, way, workers, ms[int((NR + 1) / 2)] }' | tee -a "$csv" >&2
}

by_group='SELECT max(p) FROM (SELECT x, percentile_disc(0.5) WITHIN GROUP (ORDER BY COLUMN) AS p FROM t GROUP BY x OFFSET 0) q'
force='SET hpsort.debug_aggregate = force;'
measure core 0 'SET hpsort.debug_aggregate = forbid;' 'SELECT sum(x) FROM t'
for column in y z; do
	for device in cpu gpu auto; do
		measure $device 0 "$force SET hpsort.device = $device;" "${by_group/COLUMN/$column}"
	done
	for workers in 2 4 8; do
		measure cpu $workers "$force SET hpsort.device = cpu;" "${by_group/COLUMN/$column}"
	done
done
for device in cpu gpu auto; do
	measure $device 0 "$force SET hpsort.device = $device;" 'SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY z) FROM t'
done
for workers in 0 2 4 8; do
	measure cpu $workers "$force SET hpsort.device = cpu;" 'SELECT max(n) FROM (SELECT x, count(*) AS n FROM t GROUP BY x OFFSET 0) q'
done
