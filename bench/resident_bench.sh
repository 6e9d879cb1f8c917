#!/bin/bash
#
# resident_bench.sh: aggregates over resident columns, beside the same through pages, and
# beside core's own plans.
#
#	resident_bench.sh [--quick] [--targets] [--rows N] [--reps N] [--installed] [--out DIR]
#
# Writes resident.csv to DIR (build/bench): for each query the time with columns in memory, with
# HpSort Aggregate reading pages, and by core, all of a line in turn in one session, one
# process each, medians; how many times faster the first is than the second, the least that was promised of that,
# and whether it is kept.  resident_changes.csv has the cost of residency where it does not help: a row is
# updated before each query, so that what is in memory is looked at in vain.  resident_bytes.csv
# has bytes a row, and resident_emission.csv what ORDER BY of a column adds to returning its values.  --targets: only what was promised.  Where a Python with duckdb is found
# (build/duckdb/bin/python or python3), the same SQL on the same data in its memory is timed
# with one and two threads.  --installed: with the hpsort that is installed, instead of this working tree's.

set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

rows=10000000
reps=7
targets=
take_options "quick:rows=1000000,reps=3 targets rows= reps= installed out=" "$@"

begin_bench
start_server shared_buffers=3GB maintenance_work_mem=512MB max_wal_size=8GB checkpoint_timeout=1h jit=off work_mem=2GB \
	max_parallel_workers_per_gather=0 session_preload_libraries=hpsort hpsort.resident_fill=on_use hpsort.resident_memory=1GB

run_psql <<SQL
CREATE EXTENSION hpsort;
CREATE EXTENSION pg_prewarm;
-- Rows of some 60 bytes: x has 1,000 values, y many; id comes in order.
CREATE TABLE even AS
SELECT i AS id, (hashint8(i) & 2147483647) % 1000 AS x, (hashint8(i + 1000000000) & 2147483647) % 1000000 AS y, 'row ' || i AS label
FROM generate_series(1, $rows) i;
CREATE INDEX ON even (id);
SELECT hpsort_keep('even', 'x', 'y');
SQL
run_psql -c 'VACUUM (ANALYZE, FREEZE) even' -c "SELECT pg_prewarm('even')" >/dev/null

# --- DuckDB

python=
for python in "$root/build/duckdb/bin/python" python3 ''; do
	[ -z "$python" ] || ! "$python" -c 'import duckdb' 2>/dev/null || break
done
[ -n "$python" ] || echo "DuckDB is not measured: no Python with duckdb" >&2

# duckdb_times QUERY: milliseconds with one thread and with two
duckdb_times()
{
	[ -n "$python" ] || { echo "-,-"; return; }
	[ -e "$work/even.csv" ] || run_psql -c "COPY even TO STDOUT (FORMAT csv, HEADER)" >"$work/even.csv"
	"$python" "$root/bench/duckdb_aggregates.py" "$work/even.csv" "$work/even.csv" "$reps" "$1" || echo "-,-"
}

# --- comparing

# The settings of each way to read.
resident="SET hpsort.debug_aggregate = force; SET hpsort.enable_resident = on;"
pages="SET hpsort.debug_aggregate = force; SET hpsort.enable_resident = off;"
core="SET hpsort.debug_scan = forbid; SET hpsort.debug_aggregate = forbid; SET hpsort.enable_aggregate = off; SET hpsort.debug_sort = forbid; SET hpsort.enable_resident = off;"

# medians FILE NAME...: of the lines "times NAME" and "Time: N ms" behind each, by name
medians()
{
	awk -v names="${*:2}" -v loop="$loop" '
		$1 == "times" { what = $2; round = $3 }
		$1 == "Time:" && round > 0 { ms[what, ++count[what]] = $2 }
		END {
			m = split(names, name, " ")
			for (k = 1; k <= m; k++) {
				n = count[name[k]]
				for (i = 1; i <= n; i++) v[i] = ms[name[k], i]
				for (i = 2; i <= n; i++)
					for (j = i; j > 1 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
				printf "%.4f ", (n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2) / loop
			}
		}' "$1"
}

csv=$out/resident.csv
echo "$version" >"$out/postgres_version"
echo "rows,query,resident_ms,pages_ms,core_ms,times_faster,target,met,duckdb_1_ms,duckdb_2_ms" >"$csv"

# compare TARGET QUERY: TARGET times as fast as through pages is what is promised, or "-"
compare()
{
	local target=$1 query=$2 i way resident_ms pages_ms core_ms met=- faster
	local loop=$((2000000 / rows))

	[ "$loop" -ge 1 ] || loop=1
	{
		echo "CREATE FUNCTION pg_temp.run(n int) RETURNS void LANGUAGE plpgsql AS \$\$ BEGIN FOR i IN 1 .. n LOOP PERFORM * FROM ($query) q; END LOOP; END \$\$;"
		# Answers are the same, and values in memory after the third read.
		for way in resident resident resident pages core; do
			echo "${!way} SELECT '$way', count(*), sum(hashtextextended(q::text, 0)) FROM ($query OFFSET 0) q; RESET ALL;"
		done
		for ((i = 0; i <= reps; i++)); do
			for way in resident pages core; do
				printf '%s\n' "SET work_mem = '2GB'; ${!way} DISCARD PLANS;" "\\echo times $way $i" "\\timing on" "SELECT pg_temp.run($loop);" "\\timing off" "RESET ALL;"
			done
		done
	} >"$work/compare.sql"
	run_psql -f "$work/compare.sql" >"$work/compare.out" || die "failed: $query"
	[ "$(grep -E '^(resident|pages|core)\|' "$work/compare.out" | cut -d'|' -f2- | sort -u | wc -l)" = 1 ] || die "wrong: $query"
	read -r resident_ms pages_ms core_ms <<<"$(medians "$work/compare.out" resident pages core)"
	faster=$(awk "BEGIN { printf \"%.2f\", $pages_ms / $resident_ms }")
	[ "$target" = - ] || met=$(awk "BEGIN { print ($faster >= $target) ? \"yes\" : \"no\" }")
	echo "$rows,${query//,/ },$resident_ms,$pages_ms,$core_ms,$faster,$target,$met,$(duckdb_times "$query")" | tee -a "$csv" >&2
}

compare 10 "SELECT x, count(*) FROM even GROUP BY x"
compare 10 "SELECT DISTINCT x FROM even"
compare 10 "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY x) FROM even"
compare 3 "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM even"
compare 3 "SELECT count(DISTINCT y) FROM even"
# 1, 50 and 99 % of the rows, and the first ones
for most in 10000 500000 990000; do
	compare 10 "SELECT count(*) FROM even WHERE y < $most"
	compare 5 "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY x) FROM even WHERE y < $most"
done
compare 10 "SELECT y, label <> '' FROM (SELECT * FROM even ORDER BY y LIMIT 10) q"
compare 10 "SELECT * FROM (SELECT y FROM even ORDER BY y LIMIT 10) q"
if [ -z "$targets" ]; then
	compare - "SELECT x, sum(y), avg(y), min(y), max(y) FROM even GROUP BY x"
	compare - "SELECT x, percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM even GROUP BY x"
	compare - "SELECT x, count(DISTINCT y) FROM even GROUP BY x"
	compare - "SELECT count(*), sum(y), avg(y), min(y), max(y) FROM even"
	compare - "SELECT DISTINCT x, y % 10 FROM even"
fi

# --- bytes

echo "attribute,bytes_a_row,most,met" >"$out/resident_bytes.csv"
run_psql -F , -c "SELECT attribute, round(bytes::numeric / rows, 3), most, CASE WHEN bytes <= most * rows THEN 'yes' ELSE 'no' END
	FROM hpsort_resident JOIN (VALUES ('x', 1.3 * 2), ('y', 1.3 * 4)) w(name, most) ON attribute = name ORDER BY 1" | tee -a "$out/resident_bytes.csv" >&2

# --- all values in order: when the first one comes, all have been read and counted; in ms of processor time

echo "rows,query,first_ms,rest_ms,share,most,met" >"$out/resident_emission.csv"
emission()
{
	local query=$1 i first_ms rest_ms share loop=1

	{
		echo "SET hpsort.debug_sort = force; SET client_min_messages = log; SET log_statement_stats = on;"
		for ((i = 0; i <= reps; i++)); do
			printf '%s\n' "BEGIN; DECLARE c NO SCROLL CURSOR FOR $query;" "\\echo times first $i" "FETCH 1 FROM c \\g /dev/null" \
				"\\echo times rest $i" "MOVE FORWARD ALL IN c;" "\\echo times - $i" "COMMIT;"
		done
	} >"$work/emission.sql"
	run_psql -f "$work/emission.sql" 2>&1 | awk '/ elapsed/ { print "Time:", ($2 + $5) * 1000, "ms"; next } 1' >"$work/emission.out" || die "failed: $query"
	read -r first_ms rest_ms <<<"$(medians "$work/emission.out" first rest)"
	share=$(awk "BEGIN { printf \"%.3f\", ($first_ms + $rest_ms) / $rest_ms }")
	echo "$rows,$query,$first_ms,$rest_ms,$share,1.10,$(awk "BEGIN { print ($share <= 1.10) ? \"yes\" : \"no\" }")" | tee -a "$out/resident_emission.csv" >&2
}
emission "SELECT x FROM even ORDER BY x"

# --- updated between any two queries

echo "rows,query,resident_ms,pages_ms,overhead,most,met" >"$out/resident_changes.csv"
changes()
{
	local query=$1 i way resident_ms pages_ms overhead loop=1

	{
		for ((i = 0; i <= 4 * reps; i++)); do
			for way in resident pages; do
				printf '%s\n' "${!way}" "UPDATE even SET y = y WHERE id = 1 + ($i * 7919 % $rows);" "\\echo times $way $i" "\\timing on" "$query;" "\\timing off" "RESET ALL;"
			done
		done
	} >"$work/changes.sql"
	run_psql -f "$work/changes.sql" >"$work/changes.out" || die "failed: $query"
	read -r resident_ms pages_ms <<<"$(medians "$work/changes.out" resident pages)"
	overhead=$(awk "BEGIN { printf \"%.3f\", $resident_ms / $pages_ms }")
	echo "$rows,${query//,/ },$resident_ms,$pages_ms,$overhead,1.03,$(awk "BEGIN { print ($overhead <= 1.03) ? \"yes\" : \"no\" }")" | tee -a "$out/resident_changes.csv" >&2
}
changes "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY x) FROM even"
changes "SELECT count(DISTINCT y) FROM even"

awk -F, 'FNR == 1 { for (i = 1; i <= NF; i++) if ($i == "met") at = i; next } { n[$at]++ }
	END { printf "promises: %d kept, %d not\n", n["yes"], n["no"] }' "$csv" "$out"/resident_bytes.csv "$out"/resident_emission.csv "$out"/resident_changes.csv >&2
