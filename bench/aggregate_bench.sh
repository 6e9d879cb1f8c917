#!/bin/bash
#
# aggregate_bench.sh: PostgreSQL's own aggregates, GROUP BY and DISTINCT with Custom
# Scan (HpSort Aggregate) beside core's own plans, and beside sum(x) of the same table.
#
#	aggregate_bench.sh [--quick] [--targets] [--memory] [--rows N] [--only N] [--reps N] [--installed] [--out DIR]
#
# Writes aggregate.csv to DIR (build/bench): for each query the time with the node
# forced and forbidden, that of sum(x) by core, what the planner chooses when it may and
# whether that was right, and whether the promise for that query is kept.  --targets: only
# the queries with a promise, at the full number of rows.  --only: of all numbers of
# rows, --rows and its tenth parts, this one.  All of a line are run in turn in one session;
# medians.  Rows go nowhere: a function drops them, or a cursor where there are many.  Core's
# time is PostgreSQL's without hpsort; a choice is right if no other plan that the
# planner has, Custom Scan (HpSort) below core's aggregates among them, is 5 % faster.
# Where a Python with duckdb is found (build/duckdb/bin/python or python3), the same
# SQL on the same data in its memory is timed with one and two threads.
#
# --installed: with the hpsort that is installed, instead of this working tree's.
#
# --memory: no times; aggregate_memory.csv has what the same queries take in memory and on
# disk, with the node forced and by core's plan, under 4MB and 64MB, at the full number of rows.

set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

rows=10000000
reps=5
only=
targets=
memory_only=
take_options "quick:rows=1000000,reps=3 targets memory:memory_only=yes rows= only= reps= installed out=" "$@"

begin_bench
start_server shared_buffers=3GB maintenance_work_mem=512MB max_wal_size=8GB checkpoint_timeout=1h jit=off hpsort.enable_scan=off \
	max_parallel_workers_per_gather=0 session_preload_libraries=hpsort

# --- tables

run_psql <<SQL
CREATE EXTENSION hpsort;
CREATE EXTENSION pg_prewarm;
-- Rows of some 60 bytes: x has 1,000 values, y many, z is anywhere in int4; id comes in order.
CREATE TABLE even$rows AS
SELECT i AS id, (hashint8(i) & 2147483647) % 1000 AS x, (hashint8(i + 1000000000) & 2147483647) % 1000000 AS y,
	hashint8(i + 2000000000) AS z, 'row ' || i AS label
FROM generate_series(1, $rows) i;
-- Groups as they come in practice: few values with most rows, one value with nearly all, one group after the
-- other, 30 % NULLs, the ids of a time series that come in turn; 10 groups and 100,000.
CREATE TABLE odd$rows AS
SELECT i AS id, (hashint8(i) & 2147483647) % 1000 AS x, (hashint8(i + 1000000000) & 2147483647) % 1000000 AS y,
	(1000 * ((hashint8(i + 3) & 1048575) / 1048576.0::float8) ^ 6)::int AS skew,
	CASE WHEN hashint8(i + 4) & 31 > 0 THEN 7 ELSE (hashint8(i) & 2147483647) % 1000 END AS dominant,
	(i::int8 * 1000 / ($rows + 1))::int AS clustered,
	CASE WHEN (hashint8(i + 5) & 1023) >= 307 THEN (hashint8(i) & 2147483647) % 1000 END AS holes,
	CASE WHEN (hashint8(i + 6) & 1023) >= 307 THEN (hashint8(i + 1000000000) & 2147483647) % 1000000 END AS gaps,
	i % 5000 AS sensor, timestamp '2024-01-01' + i / 5000 * interval '1 minute' AS moment,
	i % 10 AS ten, (hashint8(i + 7) & 2147483647) % 100000 AS many
FROM generate_series(1, $rows) i;
SQL
sizes=
for ((n = rows; n >= 1000; n /= 10)); do
	[ "$n" = "$rows" ] || [ -z "$targets$memory_only" ] || break
	[ -z "$only" ] || [ "$n" = "$only" ] || continue
	sizes="$n $sizes"
	for t in even odd; do
		[ "$n" = "$rows" ] || run_psql -c "CREATE TABLE $t$n AS SELECT * FROM $t$rows LIMIT $n"
		run_psql -c "VACUUM (ANALYZE, FREEZE) $t$n" -c "SELECT pg_prewarm('$t$n')" >/dev/null
	done
done
[ -n "$sizes" ] || die "--only must be $rows or one of its tenth parts"

# --- DuckDB

python=
for python in "$root/build/duckdb/bin/python" python3 ''; do
	[ -z "$python" ] || ! "$python" -c 'import duckdb' 2>/dev/null || break
done
[ -n "$python" ] || echo "DuckDB is not measured: no Python with duckdb" >&2

# duckdb_times ROWS QUERY: milliseconds with one thread and with two, once for each query
duckdb_times()
{
	local name=$1-$(md5sum <<<"$2" | cut -c1-12)

	[ -n "$python" ] || { echo "-,-"; return; }
	[ -e "$work/duckdb.$name" ] || for t in even odd; do
		[ -e "$work/$t$1.csv" ] || run_psql -c "COPY $t$1 TO STDOUT (FORMAT csv, HEADER)" >"$work/$t$1.csv"
	done
	[ -e "$work/duckdb.$name" ] || "$python" "$root/bench/duckdb_aggregates.py" "$work/even$1.csv" "$work/odd$1.csv" "$reps" "$2" >"$work/duckdb.$name" ||
		echo "-,-" >"$work/duckdb.$name"
	cat "$work/duckdb.$name"
}

# --- comparing

echo "$version" >"$out/postgres_version"
csv=$out/aggregate.csv
echo "rows,work_mem,workers,query,hpsort_ms,core_ms,sum_ms,times_faster,share_of_sum,chosen,right,target,met,duckdb_1_ms,duckdb_2_ms" >"$csv"

# compare ROWS WORK_MEM WORKERS TARGET READ QUERY
#
# READ is how the rows are read: "cursor", which has no workers, or "perform", which keeps
# them all for a moment.
# The query's tables are even and odd, without their numbers.  TARGET is what is
# promised: "sum R", not more than R times what sum(x) takes; "core R", R times as
# fast as core; "like QUERY", not more than 5 % longer than that one with the node; or "-".
compare()
{
	local n=$1 memory=$2 workers=$3 target=$4 read=$5 query=$6 i at mode of what chosen=- peer= sorted=
	local sql table loop=$((500000 / n))

	sql=$(sed -E "s/\b(even|odd)\b/\1$n/g" <<<"$query")
	table=$(grep -oE '\b(even|odd)[0-9]+' <<<"$sql" | head -1)
	# Short queries are repeated until there is something to measure.
	[ "$loop" -ge 1 ] || loop=1
	[ "$loop" -le 200 ] || loop=200
	[ "${target%% *}" != like ] || peer=$(sed -E "s/^like //; s/\b(even|odd)\b/\1$n/g" <<<"$target")
	{
		echo "SET work_mem = '$memory'; SET max_parallel_workers_per_gather = $workers;"
		[ "$workers" = 0 ] || echo "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;"
		for what in query:"$sql" sum:"SELECT sum(x) FROM $table" ${peer:+peer:"$peer"}; do
			echo "CREATE FUNCTION pg_temp.run_${what%%:*}(n int) RETURNS void LANGUAGE plpgsql AS \$\$
				BEGIN FOR i IN 1 .. n LOOP"
			if [ "$read" = cursor ]; then
				echo "DECLARE c NO SCROLL CURSOR FOR ${what#*:}; BEGIN OPEN c; MOVE FORWARD ALL FROM c; CLOSE c; END;"
			else
				echo "PERFORM * FROM (${what#*:}) q;"
			fi
			echo "END LOOP; END \$\$;"
		done
	} >"$work/setup.sql"
	for mode in allow force forbid; do
		run_psql -f "$work/setup.sql" -c "SET hpsort.debug_aggregate = $mode" -c "EXPLAIN (COSTS OFF) $sql" >"$work/plan.$mode" || die "not planned: $query"
	done
	# Neither is chosen where the node has no answer.
	if grep -q 'HpSort Aggregate' "$work/plan.force"; then
		chosen=core
		! grep -q 'HpSort Aggregate' "$work/plan.allow" || chosen=hpsort
		! grep -q HpSort "$work/plan.forbid" || sorted=yes
		# Rows in any order, and no sort of them: a sum of hashes.
		for mode in force forbid; do
			run_psql -f "$work/setup.sql" -c "SET hpsort.debug_aggregate = $mode" \
				-c "SELECT count(*), sum(hashtextextended(q::text, 0)) FROM ($sql) q" >"$work/answer.$mode" || die "failed: $query"
		done
		cmp -s "$work/answer.force" "$work/answer.forbid" || die "wrong with the node: $query"
	fi
	{
		cat "$work/setup.sql"
		for ((i = 0; i <= reps; i++)); do
			for at in hpsort:force:allow:query core:forbid:forbid:query ${sorted:+sorted:forbid:allow:query} sum:forbid:forbid:sum ${peer:+peer:force:allow:peer}; do
				IFS=: read -r what mode of at <<<"$at"
				printf '%s\n' "SET hpsort.debug_aggregate = $mode; SET hpsort.debug_sort = $of; DISCARD PLANS;" "\\echo times $what $i" "\\timing on" \
					"SELECT pg_temp.run_$at($loop);" "\\timing off"
			done
		done
	} >"$work/compare.sql"
	run_psql -f "$work/compare.sql" >"$work/compare.out" || die "failed: $query"
	# The first of each is for warming up.
	awk -v n="$n" -v memory="$memory" -v workers="$workers" -v query="$query" -v chosen="$chosen" -v loop="$loop" -v target="$target" \
		-v duckdb="$(duckdb_times "$n" "$query")" '
		function median(what,    i, j, t, v, n) {
			n = count[what]
			for (i = 1; i <= n; i++) v[i] = ms[what, i]
			for (i = 2; i <= n; i++)
				for (j = i; j > 1 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
			return (n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2) / loop
		}
		$1 == "times" { what = $2; round = $3 }
		$1 == "Time:" && round > 0 { ms[what, ++count[what]] = $2 }
		END {
			hpsort = median("hpsort"); core = median("core"); sum = median("sum")
			other = count["sorted"] && median("sorted") < core ? median("sorted") : core
			right = chosen == "-" ? "-" : (chosen == "hpsort" ? other / hpsort > 0.95 : other / hpsort < 1.05) ? "yes" : "no"
			split(target, t, " ")
			met = t[1] == "sum" ? hpsort <= t[2] * sum : t[1] == "core" ? core >= t[2] * hpsort : t[1] == "like" ? hpsort <= 1.05 * median("peer") : -1
			met = met < 0 ? "-" : met ? "yes" : "no"
			gsub(/,/, " ", query); gsub(/,/, " ", target)
			printf "%d,%s,%d,%s,%.4f,%.4f,%.4f,%.2f,%.3f,%s,%s,%s,%s,%s\n", n, memory, workers, query, hpsort, core, sum, core / hpsort, hpsort / sum, chosen, right, target, met, duckdb
		}' "$work/compare.out" | tee -a "$csv" >&2
}

# What is promised, and the query.
promised=(
	"sum 0.45|SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM even"
	"sum 0.5|SELECT count(DISTINCT y) FROM even"
	"sum 0.4|SELECT x, count(*) FROM even GROUP BY x"
	"sum 0.4|SELECT DISTINCT x FROM even"
	"sum 0.9|SELECT x, percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM even GROUP BY x"
	"like SELECT hpsort_agg(x) FROM even|SELECT array_agg(x ORDER BY x) FROM even"
	"core 8|SELECT x, array_agg(y ORDER BY y) FROM even GROUP BY x"
	"sum 0.8|SELECT x, sum(y), avg(y), min(y), max(y), count(*) FROM even GROUP BY x"
)
# Data and groups that nothing was tuned for.
others=(
	"SELECT skew, count(*) FROM odd GROUP BY skew"
	"SELECT skew, percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM odd GROUP BY skew"
	"SELECT clustered, sum(y), avg(y) FROM odd GROUP BY clustered"
	"SELECT clustered, percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM odd GROUP BY clustered"
	"SELECT dominant, count(*), max(y) FROM odd GROUP BY dominant"
	"SELECT dominant, percentile_disc(0.9) WITHIN GROUP (ORDER BY y) FROM odd GROUP BY dominant"
	"SELECT holes, count(gaps), avg(gaps) FROM odd GROUP BY holes"
	"SELECT holes, percentile_disc(0.5) WITHIN GROUP (ORDER BY gaps) FROM odd GROUP BY holes"
	"SELECT sensor, count(*), min(y), max(y) FROM odd GROUP BY sensor"
	"SELECT sensor, percentile_cont(0.95) WITHIN GROUP (ORDER BY y) FROM odd GROUP BY sensor"
	"SELECT date_trunc('hour', moment), avg(y) FROM odd GROUP BY date_trunc('hour', moment)"
	"SELECT y::text, count(*) FROM odd GROUP BY y::text"
	"SELECT ten, count(*) FROM odd GROUP BY ten"
	"SELECT ten, percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM odd GROUP BY ten"
	"SELECT ten, x, sum(y) FROM odd GROUP BY ten, x"
	"SELECT many, count(*) FROM odd GROUP BY many"
	"SELECT many, percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM odd GROUP BY many"
	"SELECT count(DISTINCT y), sum(x), mode() WITHIN GROUP (ORDER BY skew) FROM odd"
	"SELECT x, count(*) FROM odd WHERE ten < 3 GROUP BY x"
	"SELECT z, count(*) FROM even GROUP BY z"
	"SELECT z, sum(y) FROM even GROUP BY z"
	"SELECT DISTINCT z FROM even"
	"SELECT x, count(*) FROM even GROUP BY x ORDER BY x DESC LIMIT 10"
)

# --- memory

# measure_memory WORK_MEM QUERY
#
# A session of its own for each plan.  Shared buffers count as the process's memory once it
# has touched them, so that it reads the table before; then the kernel forgets the peak.
measure_memory()
{
	local memory=$1 query=$2 sql mode shown

	sql=$(sed -E "s/\b(even|odd)\b/\1$rows/g" <<<"$query")
	for mode in force forbid; do
		run_psql <<SQL >"$work/memory.$mode" || die "failed: $query"
SET work_mem = '$memory'; SET hpsort.debug_aggregate = $mode; SET hpsort.debug_sort = forbid;
SELECT sum(x) FROM $(grep -oE '\b(even|odd)[0-9]+' <<<"$sql" | head -1) WHERE id <> 0 \g /dev/null
COPY (SELECT 5) TO '/proc/self/clear_refs';
\set peak 'SELECT ''peak '' || substring(pg_read_file(''/proc/self/status'') FROM ''VmHWM:[[:space:]]*([0-9]+)'');'
:peak
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $sql;
:peak
SQL
	done
	shown=$(cat "$work/memory.force")
	# What the plan's nodes say of themselves is added up: Memory, Memory Usage, Disk, Disk Usage.
	awk -v memory="$memory" -v query="$query" -v node="$(grep -c 'HpSort Aggregate' <<<"$shown" || true)" '
		FNR == 1 { plan++ }
		$1 == "peak" && (plan, 1) in peak { peak[plan, 2] = $2 }
		$1 == "peak" && !((plan, 1) in peak) { peak[plan, 1] = $2 }
		{ line = $0
		  while (match(line, /(Memory|Disk)( Usage)?: [0-9]+ ?kB/)) {
			item = substr(line, RSTART, RLENGTH); what = substr(item, 1, 1)
			gsub(/[^0-9]/, "", item); said[plan, what] += item
			line = substr(line, RSTART + RLENGTH) } }
		END {
			gsub(/,/, " ", query)
			printf "%s,%s", memory, query
			for (plan = 1; plan <= 2; plan++)
				printf ",%s,%s,%d", plan == 1 && !node ? "-" : said[plan, "M"] + 0, said[plan, "D"] + 0, peak[plan, 2] - peak[plan, 1]
			printf "\n"
		}' "$work/memory.force" "$work/memory.forbid" | tee -a "$out/aggregate_memory.csv" >&2
}

if [ -n "$memory_only" ]; then
	echo "work_mem,query,hpsort_kb,hpsort_disk_kb,hpsort_growth_kb,core_kb,core_disk_kb,core_growth_kb" >"$out/aggregate_memory.csv"
	for memory in 4MB 64MB; do
		for query in "${promised[@]#*|}" "${others[@]}"; do
			measure_memory $memory "$query"
		done
	done
	exit 0
fi

# --- all of it

for n in $sizes; do
	for memory in 4MB 2GB; do
		for query in "${promised[@]}"; do
			# Times are promised of many rows.
			[ "$n" = "$rows" ] && target=${query%%|*} || target=-
			compare "$n" $memory 0 "$target" perform "${query#*|}"
		done
		[ -z "$targets" ] || continue
		for query in "${others[@]}"; do
			compare "$n" $memory 0 - cursor "$query"
		done
	done
done
if [ -z "$only" ] || [ "$only" = "$rows" ]; then
	for query in "${promised[@]}"; do
		compare "$rows" 2GB 2 - perform "${query#*|}"
	done
	# Workers may not make the node slower than one process is.
	awk -F, '$1 == '"$rows"' && $2 == "2GB" && $10 != "-" {
			if ($3 == 0) one[$4] = $5
			else if ($5 > 1.05 * one[$4]) printf "slower with workers: %s: %.1f instead of %.1f ms\n", $4, $5, one[$4]
		}' "$csv" >&2
fi
awk -F, 'NR > 1 { n[$11]++; met[$13]++ }
	END { printf "planner: %d right, %d wrong, %d not answered by the node; promises: %d kept, %d not\n", n["yes"], n["no"], n["-"], met["yes"], met["no"] }' "$csv" >&2
