#!/bin/bash
# sql_grid.sh: the GPU service inside PostgreSQL: "cpu", "gpu" and "auto" over
# the grid n x range x {array, runs, order}, and the targets (make gpubench).
#
#	PG_CONFIG=...		the PostgreSQL, hpsort installed into it
#	OUT=DIR				where the CSV go (build/bench)
#	MAX_N=100000000		the largest n
#	SKIP_MIDDLE=1		n = 1e8 only
#	SETTINGS=...		more settings of the server, NAME=VALUE ...
#
# Needs a GPU, PostgreSQL with hpsort (WITH_CUDA=yes) and no network; the server
# is our own.  bench/gpu/plot.sh makes the table and the plot of the CSV.
set -euo pipefail
cd "$(dirname "$0")/../.."
source test/lib.sh

out=$(mkdir -p "${OUT:-build/bench}" && cd "${OUT:-build/bench}" && pwd)
max_n=${MAX_N:-100000000}
find_postgres
[ ${#postgres_list[@]} -gt 0 ] || die "no PostgreSQL found (PG_CONFIG=${PG_CONFIG:-})"
use_postgres "${postgres_list[-1]}"
start_server shared_buffers=1GB work_mem=64MB hpsort.gpu_wait_timeout=60s max_connections=200 ${SETTINGS:-}

sql()
{
	as_user "$bindir/psql" -qXAt -v ON_ERROR_STOP=1 "$@"
}

cp bench/gpu/gpu_grid.sql "$work/" && chmod 644 "$work/gpu_grid.sql"
sql -f "$work/gpu_grid.sql"
sql -c "SET hpsort.device = gpu" -c "SELECT cardinality(hpsort(array_agg(i))) FROM generate_series(1, 1000) i" >/dev/null
sql -F '  ' -c "SELECT device, name, state, memory FROM hpsort_devices() WHERE device = 'gpu'" | tee "$out/gpu_name"

ranges="'{100,10000,1000000,100000000,4294967296}'"
grid()
{
	sql -c "COPY (SELECT * FROM gpu_grid($1, $2, '{array,runs,order}', '{cpu,gpu,auto}', $3)) TO STDOUT CSV"
}
echo "want,n,range,device,used,ms,inside_ms" >"$out/gpu_sql.csv"
[ -n "${SKIP_MIDDLE:-}" ] || grid "'{10000,31623,100000,316228,1000000}'" "$ranges" 9 >>"$out/gpu_sql.csv"
[ "$max_n" -lt 10000000 ] || [ -n "${SKIP_MIDDLE:-}" ] || grid "'{10000000}'" "$ranges" 3 >>"$out/gpu_sql.csv"
[ "$max_n" -lt 100000000 ] || grid "'{100000000}'" "'{100,1000000,4294967296}'" 1 >>"$out/gpu_sql.csv"
echo "grid: $(wc -l <"$out/gpu_sql.csv") lines"

# --- the targets


memory_used()
{
	nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits 2>/dev/null | head -1 || true
}

{
	# the first query on the GPU beside the second; the CPU's first loads the library
	for i in 1 2 3 4 5; do
		sql <<'SQL'
DO $$
DECLARE
	keys int4[];
	start timestamptz;
	ms numeric[] := '{}';
	dummy int;
BEGIN
	SELECT array_agg(hashint4(i)) INTO keys FROM generate_series(1, 1000000) i;
	FOR round IN 1 .. 6 LOOP
		PERFORM set_config('hpsort.device', CASE WHEN round <= 2 THEN 'cpu' ELSE 'gpu' END, false);
		start := clock_timestamp();
		dummy := cardinality(hpsort(keys));
		ms := ms || round(extract(epoch FROM clock_timestamp() - start) * 1000, 3);
	END LOOP;
	RAISE NOTICE 'session with 1e6 keys, ms: cpu %, gpu %', ms[1:2], ms[3:6];
END
$$;
SQL
	done 2>&1 | sed 's/^.*NOTICE: *//'
	before=$(memory_used)
	for i in $(seq 100); do
		(echo "SET hpsort.device = gpu; SELECT cardinality(hpsort(array_agg(i))) FROM generate_series(1, 100000) i;"; sleep 25) | sql >/dev/null &
	done
	# the service gives its memory pool back after 10 s without a job
	sleep 22
	echo "GPU memory with 0 and with 100 more idle sessions: $before and $(memory_used) MiB"
	wait
	cat >"$work/one.sql" <<'SQL'
SELECT cardinality(hpsort(keys)) FROM session_keys;
SQL
	chmod 644 "$work/one.sql"
	sql -c "CREATE TABLE session_keys AS SELECT array_agg(hashint4(i)) AS keys FROM generate_series(1, 1000000) i"
	sql -c "ALTER TABLE session_keys ALTER keys SET STORAGE EXTERNAL" -c "UPDATE session_keys SET keys = keys || 1"
	for device in gpu cpu; do
		for sessions in 1 32; do
			tps=$(as_user env PGOPTIONS="-c hpsort.device=$device" "$bindir/pgbench" -n -f "$work/one.sql" -c $sessions -j $sessions -T 5 postgres 2>/dev/null |
				sed -n 's/^tps = \([0-9.]*\).*/\1/p')
			echo "sessions $sessions, $device: $tps queries of 1e6 keys a second in all"
		done
	done
	sql -F ' ' -c "SELECT 'jobs', jobs, 'keys', keys, 'fallbacks', fallbacks, 'restarts', restarts FROM hpsort_stat_gpu()"
} | tee "$out/gpu_targets.txt"

# How far auto is from the better of the two, and where that is more than 15 %.
sql -c "CREATE TABLE grid (want text, n int8, range int8, device text, used text, ms float8, inside_ms float8)" \
	-c "\\copy grid FROM $out/gpu_sql.csv CSV HEADER" 2>/dev/null ||
	sed 1d "$out/gpu_sql.csv" | sql -c "CREATE TABLE IF NOT EXISTS grid (want text, n int8, range int8, device text, used text, ms float8, inside_ms float8)" -c "COPY grid FROM STDIN CSV"
sql -F ' ' <<'SQL' | tee "$out/gpu_auto.txt"
CREATE VIEW cases AS SELECT want, n, range, min(ms) FILTER (WHERE device = 'cpu') AS cpu,
	min(ms) FILTER (WHERE device = 'gpu') AS gpu, min(ms) FILTER (WHERE device = 'auto') AS auto,
	min(used) FILTER (WHERE device = 'auto') AS used FROM grid GROUP BY want, n, range;
SELECT 'auto within 15 % of the better in', count(*) FILTER (WHERE auto <= 1.15 * least(cpu, gpu)), 'of', count(*), 'cases' FROM cases;
SELECT want, n, range, 'cpu', round(cpu::numeric, 3), 'gpu', round(gpu::numeric, 3), 'auto', round(auto::numeric, 3), used,
	round((100 * (auto / least(cpu, gpu) - 1))::numeric) || ' %'
FROM cases WHERE auto > 1.15 * least(cpu, gpu) ORDER BY want, n, range;
SELECT want, n, range, 'cpu/gpu', round((cpu / gpu)::numeric, 2) FROM cases WHERE n >= 10000000 ORDER BY want, n, range;
SQL
