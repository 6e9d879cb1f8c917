#!/bin/bash
#
# rows_gpu.sh: rows in order that stay in place, and the first rows of each group, beside
# PostgreSQL's own plans, serial and with workers, on a host with many cores.
#
#	PG_CONFIG=... rows_gpu.sh [--rows N] [--reps N] [--out DIR]
#
# Writes rows_gpu.csv to DIR (build/bench): milliseconds of each query, medians, with hpsort
# and by core alone.  hpsort must be installed already.  Rows have 60 bytes; x has 1,000
# values, y 1,000,000.  Of more than 20,000,000 rows core is asked once, and for windows with workers
# only: it takes minutes.

set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

rows=10000000
reps=3
take_options "rows= reps= out=" "$@"

installed=yes
begin_bench
# A quarter of the buffers, which may be pinned, holds the table.
start_server shared_buffers=$((rows > 40000000 ? rows / 3333333 : 12))GB max_wal_size=64GB wal_level=minimal max_wal_senders=0 checkpoint_timeout=1h jit=off \
	max_worker_processes=24 max_parallel_workers=16 session_preload_libraries=hpsort

run_psql <<SQL
CREATE EXTENSION hpsort;
CREATE EXTENSION pg_prewarm;
CREATE UNLOGGED TABLE t (x int, y int, z int, a int8, b int8, c int) WITH (parallel_workers = 8, autovacuum_enabled = off);
SQL
# The rows are made by several sessions.
parts=12
pids=()
for ((i = 0; i < parts; i++)); do
	run_psql -c "INSERT INTO t SELECT (hashint8(i) & 2147483647) % 1000, (hashint8(i + 1000000000) & 2147483647) % 1000000, hashint8(i + 2000000000), i, i * 2, 7
		FROM generate_series($rows::int8 * $i / $parts + 1, $rows::int8 * ($i + 1) / $parts) i" &
	pids+=($!)
done
for pid in "${pids[@]}"; do
	wait "$pid"
done
run_psql -c 'VACUUM (ANALYZE, FREEZE) t' -c "SELECT pg_prewarm('t')" >/dev/null
csv=$out/rows_gpu.csv
echo "rows,query,way,workers,work_mem,ms" >"$csv"

# measure WAY WORKERS WORK_MEM QUERY: the first execution does not count where there are others.
measure()
{
	local i times=$((reps + 1))

	[ "$1" = hpsort ] || [ "$rows" -le 20000000 ] || times=1
	{
		echo "SET max_parallel_workers_per_gather = $2; SET work_mem = '$3';"
		[ "$1" = hpsort ] || echo "SET hpsort.enable_sort = off; SET hpsort.enable_aggregate = off; SET hpsort.enable_scan = off;"
		[ "$2" = 0 ] || echo "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;"
		echo "\\timing on"
		for ((i = 0; i < times; i++)); do
			echo "$4;"
		done
	} | run_psql | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' | tail -n "$reps" | sort -n |
		awk -v rows="$rows" -v query="${4//,/ }" -v way="$1" -v workers="$2" -v work_mem="$3" \
			'{ ms[NR] = $1 } END { printf "%d,%s,%s,%d,%s,%.1f\n", rows, query, way, workers, work_mem, ms[int((NR + 1) / 2)] }' | tee -a "$csv" >&2
}

measure core 0 4GB 'SELECT sum(x) FROM t'
# The executor makes all rows, and psql gets none.
for column in x y; do
	for way in hpsort core; do
		measure $way 0 4GB "SELECT * FROM t ORDER BY $column OFFSET $rows"
	done
done
for way in hpsort core; do
	measure $way 0 4MB 'SELECT * FROM t ORDER BY y LIMIT 10'
done
rank='SELECT count(*) FROM (SELECT rank() OVER (PARTITION BY x ORDER BY y) AS r FROM t) q WHERE r <= 3'
first='SELECT count(*) FROM (SELECT DISTINCT ON (x) x, y, a FROM t ORDER BY x, y) q'
for query in "$rank" "$first"; do
	for workers in 0 2 4 8; do
		measure hpsort $workers 4GB "$query"
	done
	measure hpsort 0 4MB "$query"
	for workers in 0 8; do
		[ "$workers" = 8 ] || [ "$rows" -le 20000000 ] || continue
		measure core $workers 4GB "$query"
	done
done
echo "results: $csv"
