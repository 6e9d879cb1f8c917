#!/bin/bash
#
# nodes_bench.sh: two servers with the rows, and a third one that asks them, on this machine:
# what travels, and how long it takes, of rows, runs and multisets.
#
#	nodes_bench.sh [--quick] [--rows N] [--reps N] [--out DIR]
#
# Writes nodes.csv to DIR (build/bench): for each question and each way to ask it the milliseconds
# (median) and the bytes that have gone over the loopback interface (least of all
# repetitions, as others may use it meanwhile).  Each way's result is compared with that of the rows.
# docs/distributed.md has the same queries.

set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

rows=4000000
reps=5
take_options "quick:rows=200000,reps=3 rows= reps= out=" "$@"

begin_bench
start_server shared_buffers=256MB session_preload_libraries=hpsort jit=off max_parallel_workers_per_gather=0

# --- the nodes

declare -A port

# A port on which nobody listens.
free_port()
{
	local port

	while :; do
		port=$((20000 + RANDOM % 20000))
		(: </dev/tcp/127.0.0.1/$port) 2>/dev/null || break
	done
	echo $port
}

stop_nodes()
{
	local node

	for node in "${!port[@]}"; do
		as_user "$bindir/pg_ctl" -D "$work/$node" -m immediate -s stop >/dev/null 2>&1 || true
	done
}

start_node()
{
	local node=$1 setting

	port[$node]=$(free_port)
	as_user "$bindir/initdb" -D "$work/$node" -U postgres -A trust -E UTF8 --locale=C --no-sync >"$work/initdb.log" 2>&1 ||
		{ cat "$work/initdb.log" >&2; return 1; }
	for setting in listen_addresses=127.0.0.1 "unix_socket_directories=" "port=${port[$node]}" fsync=off autovacuum=off \
		shared_buffers=512MB max_wal_size=4GB session_preload_libraries=hpsort jit=off max_parallel_workers_per_gather=0; do
		echo "${setting%%=*} = '${setting#*=}'"
	done | as_user tee -a "$work/$node/postgresql.conf" >/dev/null
	as_user "$bindir/pg_ctl" -D "$work/$node" -l "$work/$node.log" -w -s start ||
		{ tail -20 "$work/$node.log" >&2; return 1; }
}

trap 'stop_nodes; finish' EXIT
run_psql <<SQL
CREATE EXTENSION hpsort;
CREATE EXTENSION postgres_fdw;
CREATE EXTENSION dblink;
CREATE TABLE t (node int, g int, x int, y int) PARTITION BY LIST (node);
CREATE TABLE local (node int, g int, x int, y int);
SQL
connections=
for i in 1 2; do
	start_node node$i
	connections+=${connections:+,}"'host=127.0.0.1 port=${port[node$i]} dbname=postgres'"
	# x has 1,000 values, y up to 1,000,000, g ten
	run_psql -h 127.0.0.1 -p "${port[node$i]}" <<SQL
CREATE EXTENSION hpsort;
CREATE TABLE t AS SELECT $i AS node, i % 10 AS g, (hashint8(i) & 2147483647) % 1000 AS x, (hashint8(i + 1000000000) & 2147483647) % 1000000 AS y
FROM generate_series($((rows / 2 * (i - 1) + 1)), $((rows / 2 * i))) i;
VACUUM (ANALYZE, FREEZE) t;
CREATE VIEW x_multiset AS SELECT hpsort_column_multiset('t', 'x') AS m;
CREATE VIEW x_runs AS SELECT key, count FROM hpsort_column_runs('t', 'x');
SQL
	run_psql <<SQL
CREATE SERVER node$i FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '127.0.0.1', port '${port[node$i]}', dbname 'postgres',
	extensions 'hpsort', async_capable 'true', fetch_size '10000');
CREATE USER MAPPING FOR CURRENT_USER SERVER node$i;
CREATE FOREIGN TABLE t_$i PARTITION OF t FOR VALUES IN ($i) SERVER node$i OPTIONS (table_name 't');
CREATE FOREIGN TABLE x_multiset_$i (m int4multiset) SERVER node$i OPTIONS (table_name 'x_multiset');
CREATE FOREIGN TABLE x_runs_$i (key int4, count int8) SERVER node$i OPTIONS (table_name 'x_runs');
INSERT INTO local SELECT * FROM t_$i;
SQL
done
run_psql -c 'VACUUM (ANALYZE, FREEZE) local' -c 'ANALYZE t_1' -c 'ANALYZE t_2'

# --- the questions

csv=$out/nodes.csv
{
	echo "# bench/nodes_bench.sh --rows $rows --reps $reps"
	machine
	echo "# PostgreSQL $version; two nodes and the server that asks on this machine, one process each"
	echo "question,way,ms,bytes"
} >"$csv"

# measure QUESTION WAY SQL: in a session that is connected already.  The first way to ask a
# question has the right result.
wanted=
asked=
measure()
{
	local question=$1 way=$2 sql=$3 rep before result
	local -a ms=() bytes=()

	for ((rep = 0; rep < reps; rep++)); do
		result=$(run_psql <<SQL
SELECT count(*) FROM x_multiset_1, x_multiset_2 \g /dev/null
SELECT count(*) FROM dblink(${connections%%,*}, 'SELECT 1') AS d (one int) \g /dev/null
\! sed -n 's/^ *lo: *\([0-9]*\) .*/\1/p' /proc/net/dev
SELECT clock_timestamp() AS begun \gset
$sql;
SELECT (extract(epoch FROM clock_timestamp() - :'begun') * 1000)::numeric(12,1);
\! sed -n 's/^ *lo: *\([0-9]*\) .*/\1/p' /proc/net/dev
SQL
)
		mapfile -t result <<<"$result"
		bytes+=($((${result[-1]} - ${result[0]})))
		ms+=("${result[-2]}")
		result=$(printf '%s\n' "${result[@]:1:${#result[@]}-3}")
		[ "$question" = "$asked" ] || { asked=$question wanted=$result; }
		[ "$result" = "$wanted" ] || die "$question by $way: $result, not $wanted"
	done
	printf '%s,%s,%s,%s\n' "$question" "$way" "$(printf '%s\n' "${ms[@]}" | sort -g | sed -n "$((reps / 2 + 1))p")" \
		"$(printf '%s\n' "${bytes[@]}" | sort -g | head -1)" | tee -a "$csv"
}

p="percentile_disc(ARRAY[0.5, 0.9, 0.99])"
q="percentile_disc(m, ARRAY[0.5, 0.9, 0.99])"
measure 'percentiles of x' 'rows on one server' "SELECT $p WITHIN GROUP (ORDER BY x) FROM local"
measure 'percentiles of x' 'rows' "SELECT $p WITHIN GROUP (ORDER BY x) FROM t"
measure 'percentiles of x' 'int4multiset_agg of each foreign table' "SELECT $q FROM (SELECT int4multiset_sum(m) AS m FROM (SELECT int4multiset_agg(x) AS m FROM t_1 UNION ALL SELECT int4multiset_agg(x) FROM t_2) s) s"
measure 'percentiles of x' 'view of a multiset' "SELECT $q FROM (SELECT int4multiset_sum(m) AS m FROM (SELECT m FROM x_multiset_1 UNION ALL SELECT m FROM x_multiset_2) s) s"
measure 'percentiles of x' 'view of runs' "SELECT $q FROM (SELECT int4multiset_agg(key, count) AS m FROM (SELECT * FROM x_runs_1 UNION ALL SELECT * FROM x_runs_2) s) s"
measure 'percentiles of x' 'dblink' "SELECT $q FROM (SELECT int4multiset_sum(m) AS m FROM unnest(ARRAY[$connections]) c, LATERAL dblink(c, 'SELECT hpsort_column_multiset(''t'', ''x'')') AS n (m int4multiset)) s"
g="g, percentile_disc(0.9) WITHIN GROUP (ORDER BY x)"
measure 'percentiles of x by g' 'rows on one server' "SELECT $g FROM local GROUP BY g ORDER BY g"
measure 'percentiles of x by g' 'rows' "SELECT $g FROM t GROUP BY g ORDER BY g"
measure 'percentiles of x by g' 'int4multiset_agg of each foreign table' "SELECT g, percentile_disc(int4multiset_sum(m), 0.9) FROM (SELECT g, int4multiset_agg(x) AS m FROM t_1 GROUP BY g UNION ALL SELECT g, int4multiset_agg(x) FROM t_2 GROUP BY g) s GROUP BY g ORDER BY g"
measure 'percentiles of y' 'rows on one server' "SELECT $p WITHIN GROUP (ORDER BY y) FROM local"
measure 'percentiles of y' 'rows' "SELECT $p WITHIN GROUP (ORDER BY y) FROM t"
measure 'percentiles of y' 'int4multiset_agg of each foreign table' "SELECT $q FROM (SELECT int4multiset_sum(m) AS m FROM (SELECT int4multiset_agg(y) AS m FROM t_1 UNION ALL SELECT int4multiset_agg(y) FROM t_2) s) s"
echo "written to $csv"
