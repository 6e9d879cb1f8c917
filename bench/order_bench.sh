#!/bin/bash
#
# order_bench.sh: ORDER BY with Custom Scan (HpSort) beside core's own sort.
#
#	order_bench.sh [--quick] [--targets] [--first] [--types] [--queries REGEX] [--rows N] [--only N] [--memory M] [--reps N]
#		[--cpu] [--installed] [--out DIR]
#
# Writes order.csv to DIR (build/bench): for each query both times, what the
# planner chooses when it may, and whether that was right.  --targets: only
# the queries at the full number of rows whose times are promised, and to first.csv
# the first execution in a session beside the third.  --first: that alone.  --types: only keys
# that are no integers.  --queries: of their queries, and no others, those that REGEX matches.  --only: of all
# numbers of rows, --rows and its tenth parts, this one.  --memory: this work_mem, instead
# of 4MB and 2GB.  Both are run in turn in
# one session, hpsort forced and forbidden; medians.  Long ones each right after an untimed run of the same: on a virtual machine
# memory that has been free for some time may take long to get.  All rows are read by a
# cursor that sends them nowhere: what a client would do with them is not measured.
# --cpu: milliseconds of the session's processor time instead of the clock's, for a
# machine that others keep busy; without the queries that may have workers.
# --installed: with the hpsort that is installed, instead of this working tree's.

set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

rows=10000000
reps=5
only=
targets=
first=
types=
queries=
memories=
cpu=
take_options "quick:rows=1000000,reps=3 targets first:first=yes,targets=yes types queries= rows= only= memory=memories reps= cpu installed out=" "$@"

begin_bench
start_server shared_buffers=5GB maintenance_work_mem=512MB max_wal_size=8GB wal_level=minimal max_wal_senders=0 checkpoint_timeout=1h jit=off hpsort.enable_scan=off \
	max_parallel_workers_per_gather=0 session_preload_libraries=hpsort

# Keys that are no integers: those whose times are promised, in rows that all fit into the
# buffers, and of all kinds: with many values and few, in order, with a long common prefix, with one value in most rows.
promised_keys="CREATE TABLE typed$rows AS
SELECT i AS id, (hashint8(i) & 2147483647) % 1000 AS x, hashint8extended(i, 0) AS big, hashint8extended(i, 0) / 9.3e18::float8 AS f8,
	md5(i::text)::uuid AS u, hashint8extended(i, 0) / 1000.0 AS nmany, md5(i::text) COLLATE \"C\" AS t
FROM generate_series(1, $rows) i;"
all_keys="CREATE TABLE typed$rows AS
SELECT i AS id, (hashint8(i) & 2147483647) % 1000 AS x, hashint8extended(i, 0) / 9.3e18::float8 AS f8,
	((hashint8(i) & 2147483647) % 1000000 / 100.0)::float8 AS price, (hashint8(i) / 7.0)::float4 AS f4,
	make_interval(secs => hashint8(i) / 10.0::float8) AS span, md5(i::text)::uuid AS u, md5((i % 50)::text)::uuid AS ufew,
	((hashint8(i) & 2147483647) % 1000000 / 100.0)::numeric(10,2) AS amount, hashint8extended(i, 0) / 1000.0 AS nmany, i::numeric AS nid,
	((hashint8(i) & 2147483647) % 50)::numeric AS nfew, md5(i::text) COLLATE \"C\" AS t, ('row ' || hashint8(i)) COLLATE \"C\" AS label,
	('row ' || to_char(i, 'FM000000000')) COLLATE \"C\" AS tid, ('status ' || i % 20) COLLATE \"C\" AS tfew,
	('https://www.example.com/path/' || md5(i::text)) COLLATE \"C\" AS url,
	(CASE WHEN i % 10 = 0 THEN md5(i::text) ELSE 'the one' END) COLLATE \"C\" AS skew,
	(CASE WHEN i % 3 = 0 THEN md5(i::text) END) COLLATE \"C\" AS gaps, decode(md5(i::text), 'hex') AS b,
	'10.0.0.0'::inet + (hashint8(i) & 16777215) AS ip
FROM generate_series(1, $rows) i;"

# Rows as they come in practice: by time, nearly so, in windows, in clusters, and with few keys in most rows.
timed="CREATE TABLE timed$rows AS
SELECT i AS id, (i::int8 * 366 / $rows)::int AS day, (hashint8(i) & 2147483647) % 1440 AS minute,
	i + (hashint8(i) & 2147483647) % 2000 AS nearly, i - i % 100000 + (hashint8(i) & 2147483647) % 100000 AS windows,
	((hashint8(i / 5000) & 2147483647)::int8 + i % 5000) AS clusters,
	(1000 * ((hashint8(i) & 1048575) / 1048576.0::float8) ^ 6)::int AS skew, 'row ' || i AS label
FROM generate_series(1, $rows) i;"

run_psql <<SQL
CREATE EXTENSION pg_prewarm;
-- Rows of some 60 bytes; id comes in order, flag and x have few values, y many, z and big any.
CREATE TABLE narrow$rows AS
SELECT i AS id, (hashint8(i) & 1) = 1 AS flag, (hashint8(i) & 2147483647) % 1000 AS x,
	(hashint8(i + 1000000000) & 2147483647) % 1000000 AS y, hashint8(i + 2000000000) AS z,
	'row ' || i AS label, hashint8extended(i, 0) AS big
FROM generate_series(1, $rows) i;
SQL
tables="narrow timed typed"
if [ -n "$first" ]; then
	tables="narrow"
elif [ -n "$targets" ]; then
	tables="narrow typed"
	run_psql -c "$promised_keys"
else
	run_psql -c "$timed" -c "$all_keys"
fi
sizes=
for ((n = rows; n >= 1000; n /= 10)); do
	[ "$n" = "$rows" ] || [ -z "$targets" ] || break
	[ -z "$only" ] || [ "$n" = "$only" ] || continue
	sizes="$n $sizes"
	for t in $tables; do
		[ "$n" = "$rows" ] || run_psql -c "CREATE TABLE $t$n AS SELECT * FROM $t$rows LIMIT $n"
		run_psql -c "VACUUM (ANALYZE, FREEZE) $t$n" -c "SELECT pg_prewarm('$t$n')" >/dev/null
	done
	# Wide ones of 500 bytes, of which there are not so many.
	[ -n "$targets" ] || [ "$n" -gt 1000000 ] || run_psql -c "CREATE TABLE wide$n AS SELECT *, repeat('x', 440) AS filler FROM narrow$n" \
		-c "VACUUM (ANALYZE, FREEZE) wide$n" -c "SELECT pg_prewarm('wide$n')" >/dev/null
done
echo "$version" >"$out/postgres_version"
csv=$out/order.csv
echo "rows,work_mem,workers,query,hpsort_ms,core_ms,times_faster,chosen,right" >"$csv"

# The median of v[1] to v[n], in awk.
median='function median(v, n,    i, j, t) {
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
	return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}'

# compare ROWS WORK_MEM WORKERS QUERY
compare()
{
	local n=$1 memory=$2 workers=$3 query=$4 i mode chosen times=$reps

	[[ $query =~ $queries ]] || return 0

	# Short queries are repeated until there is something to measure.
	local loop=$((500000 / n)) clock= untimed=
	[ "$loop" -ge 1 ] || loop=1
	[ "$loop" -le 200 ] || loop=200
	[ "$loop" -gt 1 ] || untimed="SELECT pg_temp.run(1);"
	# The first number there is nanoseconds on a processor.
	[ -z "$cpu" ] || clock="SELECT 'cpu ' || split_part(pg_read_file('/proc/self/schedstat'), ' ', 1);"
	{
		echo "SET work_mem = '$memory'; SET max_parallel_workers_per_gather = $workers;"
		[ "$workers" = 0 ] || echo "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;"
		echo "CREATE FUNCTION pg_temp.run(n int) RETURNS void LANGUAGE plpgsql AS \$\$
			BEGIN FOR i IN 1 .. n LOOP
				DECLARE c NO SCROLL CURSOR FOR $query; BEGIN OPEN c; MOVE FORWARD ALL FROM c; CLOSE c; END;
			END LOOP; END \$\$;"
		echo "EXPLAIN (COSTS OFF) $query;"
		for ((i = 0; i <= times; i++)); do
			[ "$i" != 1 ] || echo '\timing on'
			for mode in force forbid; do
				echo "SET hpsort.debug_sort = $mode; DISCARD PLANS; $untimed"
				echo "$clock"
				echo "SELECT pg_temp.run($loop);"
				echo "$clock"
			done
		done
	} | sed "s/^SET hpsort.*/\\\\timing off\n&\n\\\\timing on/" >"$work/compare.sql"
	run_psql -f "$work/compare.sql" >"$work/compare.out" || die "failed: $query"
	chosen=core
	! grep -q HpSort "$work/compare.out" || chosen=hpsort
	if [ -n "$cpu" ]; then
		awk '$1 == "cpu" && !from { from = $2; next } $1 == "cpu" { print ($2 - from) / 1e6; from = 0 }' "$work/compare.out"
	else
		sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' "$work/compare.out"
	fi |
		awk -v n="$n" -v memory="$memory" -v workers="$workers" -v query="$query" -v chosen="$chosen" -v loop="$loop" "$median"'
			NR > 2 && NR % 2 { a[++k] = $1 }
			NR > 2 && NR % 2 == 0 { b[k] = $1 }
			END {
				x = median(a, k); y = median(b, k); ratio = y / x
				# Within 5 % either is right.
				right = chosen == "hpsort" ? ratio > 0.95 : ratio < 1.05
				gsub(/,/, " ", query)
				printf "%d,%s,%d,%s,%.4f,%.4f,%.2f,%s,%s\n", n, memory, workers, query, x / loop, y / loop, ratio, chosen, right ? "yes" : "no"
			}' | tee -a "$csv" >&2
}

# compare_first WORK_MEM QUERY: the first execution in a session beside the third.  Each
# session is a new one, and the executor makes all rows of which psql gets none.
compare_first()
{
	local memory=$1 query=$2 i

	for ((i = 0; i < 2 * reps + 1; i++)); do
		printf '%s\n' "SET work_mem = '$memory'; SET hpsort.debug_sort = force;" '\timing on' \
			"$query OFFSET $rows;" "$query OFFSET $rows;" "$query OFFSET $rows;" | run_psql | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' | paste -sd' '
	done | awk -v rows="$rows" -v memory="$memory" -v query="$query" "$median"'
		{ a[NR] = $1; b[NR] = $2; c[NR] = $3; ratio[NR] = $1 / $3 }
		END { printf "%d,%s,%s,%d,%.1f,%.1f,%.1f,%.2f\n", rows, memory, query, NR, median(a, NR), median(b, NR), median(c, NR), median(ratio, NR) }' |
		tee -a "$out/first.csv" >&2
}

# Sorts by keys that are no integers.
compare_types()
{
	local n=$1 memory=$2 column

	for column in f8 price f4 span u ufew amount nmany nid nfew t label tid tfew url skew gaps b ip; do
		compare "$n" "$memory" 0 "SELECT id, x, $column FROM typed$n ORDER BY $column"
	done
	for column in "x, t" "x, f8" "u, x"; do
		compare "$n" "$memory" 0 "SELECT * FROM typed$n ORDER BY $column"
	done
	for column in f8 u t nmany; do
		compare "$n" "$memory" 0 "SELECT * FROM typed$n ORDER BY $column LIMIT 10"
	done
	compare "$n" "$memory" 0 "SELECT f8 FROM typed$n ORDER BY f8"
}

if [ -n "$types" ]; then
	for n in $sizes; do
		for memory in ${memories:-4MB 2GB}; do
			compare_types "$n" "$memory"
		done
	done
elif [ -z "$targets" ]; then
	for n in $sizes; do
		for memory in ${memories:-4MB 2GB}; do
			compare_types "$n" "$memory"
			for keys in "day, minute" "day, label" nearly "nearly, id" windows clusters skew "skew, label" "day DESC, minute DESC"; do
				compare "$n" "$memory" 0 "SELECT * FROM timed$n ORDER BY $keys"
			done
			for t in narrow$n wide$n; do
				[ "$t" = "narrow$n" ] || [ "$n" -le 1000000 ] || continue
				for columns in "*:x" "*:y" "*:z DESC" "*:big" "*:id" "*:id DESC" "*:flag" "*:x, y" "*:y, label" "*:x, label" \
					"x:x" "y:y" "z:z" "big:big" "id:id"; do
					[ "$t" = "narrow$n" ] || [ "${columns%%:*}" = "*" ] || continue
					compare "$n" "$memory" 0 "SELECT ${columns%%:*} FROM $t ORDER BY ${columns#*:}"
				done
				for limit in 10 $((n / 10)); do
					compare "$n" "$memory" 0 "SELECT * FROM $t ORDER BY y LIMIT $limit"
					compare "$n" "$memory" 0 "SELECT * FROM $t ORDER BY x, label LIMIT $limit"
				done
			done
		done
	done
elif [ -z "$first" ]; then
	for memory in ${memories:-2GB 4MB}; do
		for query in "x:x" "*:x" "*:y" "*:y LIMIT 10"; do
			compare "$rows" $memory 0 "SELECT ${query%%:*} FROM narrow$rows ORDER BY ${query#*:}"
		done
		# The same rows by either key: how far a column lies from the row's beginning takes time as well.
		for column in big f8; do
			compare "$rows" $memory 0 "SELECT id, x, big, f8 FROM typed$rows ORDER BY $column"
		done
		for column in u nmany t; do
			compare "$rows" $memory 0 "SELECT id, x, $column FROM typed$rows ORDER BY $column"
		done
	done
fi
if [ -n "$targets" ] && [ -z "$queries" ]; then
	echo "rows,work_mem,query,sessions,first_ms,second_ms,third_ms,first_by_third" >"$out/first.csv"
	for memory in ${memories:-2GB 4MB}; do
		for column in x y; do
			compare_first "$memory" "SELECT * FROM narrow$rows ORDER BY $column"
		done
	done
fi
[ -z "$only$cpu$types$queries$first" ] && [[ "${memories:-2GB}" = *2GB* ]] || exit 0
for query in "x:x" "*:x" "*:y"; do
	compare "$rows" 2GB 2 "SELECT ${query%%:*} FROM narrow$rows ORDER BY ${query#*:}"
done
