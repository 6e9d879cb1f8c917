#!/bin/bash
# order_grid.sh: ORDER BY on a host with a GPU: core, hpsort on the CPU, hpsort
# with whatever device it chooses (make gpubench).
#
#	PG_CONFIG=...		the PostgreSQL, hpsort installed into it
#	OUT=DIR				where order_gpu.csv goes (build/bench)
#	ROWS=100000000		rows of 60 bytes of the large table; 0: none
#	SHAPES=10000000		rows with a text of 32 characters, for the shapes that PG-Strom publishes; 0: none
#	LIMIT_S=600			seconds after which no further case is begun
#
# Time is EXPLAIN (ANALYZE, TIMING OFF)'s Execution Time: all rows are read, and
# sent nowhere.  The shapes: medians of 3 with 8 workers allowed; the large
# table: once, serial.
set -euo pipefail
cd "$(dirname "$0")/../.."
source test/lib.sh

out=$(mkdir -p "${OUT:-build/bench}" && cd "${OUT:-build/bench}" && pwd)
rows=${ROWS:-100000000}
shapes=${SHAPES:-10000000}
limit=${LIMIT_S:-600}
find_postgres
[ ${#postgres_list[@]} -gt 0 ] || die "no PostgreSQL found (PG_CONFIG=${PG_CONFIG:-})"
use_postgres "${postgres_list[-1]}"
cores=$(nproc)
memory=$(awk '/^MemTotal/ { printf "%d", $2 / 1048576 }' /proc/meminfo)
start_server shared_buffers=$((memory / 8))GB work_mem=$((memory / 6))GB max_wal_size=32GB checkpoint_timeout=1h fsync=off \
	jit=off session_preload_libraries=hpsort max_connections=100 max_worker_processes=24 max_parallel_workers=16 \
	max_parallel_workers_per_gather=0 hpsort.gpu_wait_timeout=60s

sql()
{
	as_user "$bindir/psql" -qXAt -v ON_ERROR_STOP=1 "$@"
}

# fill TABLE ROWS TEXT: some sessions at once.
fill()
{
	local jobs=$((cores > 16 ? 16 : cores)) part pids=() i

	part=$((($2 + jobs - 1) / jobs))
	sql -c "CREATE UNLOGGED TABLE $1 (x int, y int, z int, label text, big int8)" -c "ALTER TABLE $1 SET (autovacuum_enabled = off)"
	for ((i = 0; i < jobs; i++)); do
		sql -c "INSERT INTO $1 SELECT (hashint8(i) & 2147483647) % 1000, (hashint8(i + 1000000000) & 2147483647) % 1000000,
			hashint8(i + 2000000000), $3, hashint8extended(i, 0)
			FROM generate_series($((i * part + 1)), $(((i + 1) * part < $2 ? (i + 1) * part : $2))) i" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do wait "$i"; done
	sql -c "VACUUM (ANALYZE, FREEZE) $1"
}

sql -c "CREATE EXTENSION hpsort"
sql -c "SET hpsort.device = gpu" -c "SELECT cardinality(hpsort(array_agg(i))) FROM generate_series(1, 1000) i" >/dev/null ||
	echo "no GPU: all of it on the CPU" >&2
sql -F '  ' -c "SELECT device, name, state, memory FROM hpsort_devices() WHERE device = 'gpu'"

csv=$out/order_gpu.csv
echo "rows,workers,query,core_ms,cpu_ms,auto_ms,times_faster,method" >"$csv"

# compare ROWS WORKERS TIMES QUERY
compare()
{
	local i mode

	[ $SECONDS -lt "$limit" ] || { echo "left out, time is up: $4" >&2; return; }
	{
		echo "SET max_parallel_workers_per_gather = $2;"
		for ((i = 0; i < $3; i++)); do
			for mode in core cpu auto; do
				echo "SET hpsort.enable_sort = $([ $mode = core ] && echo off || echo on);"
				echo "SET hpsort.device = $([ $mode = auto ] && echo auto || echo cpu);"
				echo "\\echo mode $mode"
				echo "EXPLAIN (ANALYZE, TIMING OFF, VERBOSE) $4;"
			done
		done
	} >"$work/compare.sql"
	sql -f "$work/compare.sql" >"$work/compare.out"
	awk -v n="$1" -v workers="$2" -v query="$4" '
		function median(v, n,    i, j, t) {
			for (i = 2; i <= n; i++)
				for (j = i; j > 1 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
			return v[int((n + 1) / 2)]
		}
		/^mode/ { mode = $2; if (mode == "auto") method = "core" }
		/HpSort/ && mode == "auto" { method = "hpsort" }
		/Sort Method: .* on / && mode == "auto" { method = $0; sub(/.*Sort Method: /, "", method); sub(/  .*/, "", method) }
		/^Execution Time/ { if (mode == "core") core[++c] = $3; if (mode == "cpu") cpu[++d] = $3; if (mode == "auto") any[++a] = $3 }
		END {
			gsub(/,/, " ", query)
			x = median(core, c); y = median(cpu, d); z = median(any, a)
			printf "%d,%d,%s,%.0f,%.0f,%.0f,%.2f,%s\n", n, workers, query, x, y, z, x / z, method
		}' "$work/compare.out" | tee -a "$csv"
}

if [ "$shapes" -gt 0 ]; then
	fill shapes "$shapes" "md5(i::text)"
	for workers in 8 0; do
		compare "$shapes" $workers 3 "SELECT x FROM shapes ORDER BY x"
		compare "$shapes" $workers 3 "SELECT * FROM shapes ORDER BY x"
		compare "$shapes" $workers 3 "SELECT * FROM shapes ORDER BY y"
		compare "$shapes" $workers 3 "SELECT x FROM shapes ORDER BY x LIMIT 10"
		compare "$shapes" $workers 3 "SELECT x, count(*) FROM shapes GROUP BY x ORDER BY x"
		compare "$shapes" $workers 1 "SELECT * FROM (SELECT *, rank() OVER (PARTITION BY x ORDER BY y) AS r FROM shapes) s WHERE r <= 3"
	done
fi
if [ "$rows" -gt 0 ]; then
	fill large "$rows" "'row ' || i"
	echo "loaded after $SECONDS s"
	compare "$rows" 0 1 "SELECT x FROM large ORDER BY x"
	compare "$rows" 0 1 "SELECT * FROM large ORDER BY y"
	compare "$rows" 0 1 "SELECT * FROM large ORDER BY x"
	compare "$rows" 0 1 "SELECT z FROM large ORDER BY z"
fi
