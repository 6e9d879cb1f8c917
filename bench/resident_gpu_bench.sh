#!/bin/bash
#
# resident_gpu_bench.sh: statements over resident columns whose values a GPU has, beside the same
# from the server's memory, from pages, and by core.  For a host with a GPU.
#
#	resident_gpu_bench.sh [--rows N]... [--narrow N] [--star N]... [--parted N]... [--divided N]... [--calibrate N]... [--jobs N] [--reps N] [--ways "WAY..."] [--promised] [--match REGEX] [--out DIR]
#
# With the hpsort that is installed.  For each number of rows (default 10000000 and 100000000) a table of rows of
# some 60 bytes is filled by several sessions; --narrow N: a table of N rows of one smallint instead, N in millions.
# --parted N: a table of N rows in 1, 10 and 100 partitions, one after the other in resident_gpu.csv.
# --divided N: percentiles and sums by group of a table of N rows of two columns, N in millions, by each of the first two
# GPUs alone and by both (DEVICES: other lists of ordinals); writes resident_gpu_divided.csv: milliseconds by the first list,
# and how many times faster each list is.  With more hpsort.resident_memory if need be (SETTINGS).
# --star N: star joins of a table of N rows with dimensions of 1,000 and 100,000.
# SETTINGS: more of the server's, NAME=VALUE ...  --ways: only these of gpu, auto, memory, workers, pages and core.
# --promised: only statements of which something was promised; --match: only statements that match.
# Writes resident_gpu.csv: for each query the median milliseconds of the whole statement, as psql sees them,
# by the GPU, by one process from memory and from pages, by nine processes from memory, and by core with nine; then
# how many times the GPU is faster than one process from memory, what was promised of the GPU in ms, and whether it is
# kept.  resident_gpu_first.csv has what the first statement takes, which gives the GPU its values.
# --calibrate N: a table of N rows, of which rows are looked up by the GPU and read from memory by one process; writes
# resident_gpu_costs.csv: what both take, what src/sort/plan.c expects of both (its constants, and the start of a job as
# the service has measured it), and which one a session chooses that says nothing.

set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

all_rows=()
narrow=
stars=()
parted=()
divided=()
calibrate=()
jobs=$(nproc)
reps=9
some_ways="gpu auto memory workers pages core"
promised=
match=
take_options "rows+all_rows narrow= star+stars parted+parted divided+divided calibrate+calibrate jobs= reps= ways=some_ways promised match= out=" "$@"
[ -n "${all_rows[*]}$narrow${stars[*]}${parted[*]}${divided[*]}${calibrate[*]}" ] || all_rows=(10000000 100000000)

installed=yes
begin_bench
# Of 1e9 narrow rows there are 36 GB of pages.
buffers=12GB
[ "${narrow:-0}" -lt 500000000 ] || buffers=42GB
start_server shared_buffers=$buffers maintenance_work_mem=1GB max_wal_size=64GB checkpoint_timeout=1h jit=off work_mem=2GB autovacuum=off \
	full_page_writes=off wal_buffers=256MB wal_recycle=off wal_init_zero=off max_worker_processes=32 max_parallel_workers=16 shared_preload_libraries=hpsort hpsort.resident_fill=on_use hpsort.resident_memory=8GB \
	hpsort.resident_gpu_memory=16GB ${SETTINGS:-}

run_psql -c "CREATE EXTENSION hpsort" -c "CREATE EXTENSION pg_prewarm"

gpu="SET hpsort.debug_aggregate = force; SET hpsort.device = gpu; SET max_parallel_workers_per_gather = 0;"
memory="SET hpsort.debug_aggregate = force; SET hpsort.device = cpu; SET max_parallel_workers_per_gather = 0;"
workers="SET hpsort.debug_aggregate = force; SET hpsort.device = cpu; SET max_parallel_workers_per_gather = 8; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;"
pages="SET hpsort.debug_aggregate = force; SET hpsort.device = cpu; SET max_parallel_workers_per_gather = 0; SET hpsort.enable_resident = off;"
core="SET hpsort.debug_scan = forbid; SET hpsort.debug_aggregate = forbid; SET hpsort.enable_aggregate = off; SET hpsort.debug_sort = forbid; SET hpsort.enable_sort = off; SET hpsort.enable_resident = off; SET max_parallel_workers_per_gather = 8;"
# What a session does that says nothing.
auto="SET max_parallel_workers_per_gather = 2;"

say() { printf '# %4d s  %s\n' "$SECONDS" "$*" >&2; }

# SOURCE JOB TABLE: what the job copies into the table, by COPY, which takes less time than INSERT
from_series()
{
	local part=$((fill_rows / jobs))

	run_psql -c "COPY (SELECT $fill_expressions FROM generate_series($(($1 * part + 1)), $(($1 == jobs - 1 ? fill_rows : $1 * part + part))) i) TO STDOUT (FORMAT binary)" |
		run_psql -c "COPY $2 FROM STDIN (FORMAT binary)"
}

# A million rows again and again.
from_million()
{
	local i

	for ((i = $1; i < fill_rows / 1000000; i += jobs)); do
		echo "COPY $2 FROM '$work/million' (FORMAT binary);"
	done | run_psql
}

# fill TABLE SOURCE: VACUUM, which is one process, takes as long as all that copy: it goes on beside them.
fill()
{
	local table=$1 source=$2 job pids=()

	for ((job = 0; job < jobs; job++)); do
		"$source" "$job" "$table" &
		pids+=($!)
	done
	touch "$work/filling"
	while [ -e "$work/filling" ]; do
		sleep 1
		run_psql -c "VACUUM (TRUNCATE off) $table"
		say "$table: $(run_psql -c "SELECT pg_relation_size('$table') / 8192 || ' pages, all-visible ' || relallvisible FROM pg_class WHERE oid = '$table'::regclass")"
	done &
	for job in "${pids[@]}"; do
		wait "$job" || die "$table was not filled"
	done
	say "$table: filled"
	rm "$work/filling"
	wait
	run_psql -c "VACUUM $table" -c "ANALYZE $table"
	say "$table: vacuumed"
}

# fill_series TABLE COLUMNS ROWS EXPRESSIONS: of i
fill_series()
{
	fill_rows=$3 fill_expressions=$4
	run_psql -c "CREATE TABLE $1 ($2)"
	fill "$1" from_series
}

# fill_narrow TABLE ROWS: a smallint each
fill_narrow()
{
	fill_rows=$2
	run_psql -c "CREATE TABLE $1 (x smallint)" \
		-c "COPY (SELECT ((hashint8(i) & 2147483647) % 1000)::smallint FROM generate_series(1, 1000000) i) TO '$work/million' (FORMAT binary)"
	fill "$1" from_million
}

csv=$out/resident_gpu.csv
echo "$version" >"$out/postgres_version"
echo "rows,query,gpu_ms,auto_ms,memory_ms,pages_ms,memory_9_ms,core_9_ms,times_memory,most_ms,met" >"$csv"
echo "rows,query,first_gpu_ms,second_gpu_ms" >"$out/resident_gpu_first.csv"

# median FILE WAY
median()
{
	awk -v way="$2" '$1 == "times" { now = $2 } $1 == "Time:" && now == way { v[++n] = $2 }
		END {
			if (n == 0) { print "-"; exit }
			for (i = 2; i <= n; i++)
				for (j = i; j > 1 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
			printf "%.3f", n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
		}' "$1"
}

# measure ROWS MOST_MS WAYS QUERY
measure()
{
	local rows=$1 most=$2 ways= query=$4 way i times ms=() met=- best times_memory=-

	[ -z "$promised" ] || [ "$most" != - ] || return 0
	[[ $query =~ $match ]] || return 0
	for way in $3; do
		case " $some_ways " in *" $way "*) ways="$ways $way" ;; esac
	done
	[ -n "$ways" ] || return 0
	{
		for way in $ways; do
			echo "${!way} SELECT '$way', count(*), sum(hashtextextended(q::text, 0)) FROM ($query OFFSET 0) q; RESET ALL;"
		done
		for way in $ways; do
			times=$reps
			case $way in
				pages|core) times=1 ;;
				memory|workers) [ "$rows" -lt 100000000 ] || times=$((reps < 3 ? reps : 3)) ;;
			esac
			echo "${!way}"
			for ((i = 0; i <= times; i++)); do
				[ "$i" -gt 0 ] || printf '%s\n' "\\o /dev/null" "$query;" "\\o"
				[ "$i" -eq 0 ] || printf '%s\n' "\\echo times $way" "\\timing on" "\\o /dev/null" "$query;" "\\o" "\\timing off"
			done
			echo "RESET ALL;"
		done
	} >"$work/measure.sql"
	run_psql -f "$work/measure.sql" >"$work/measure.out" || die "failed: $query"
	[ "$(grep -E '^(gpu|auto|memory|pages|workers|core)\|' "$work/measure.out" | cut -d'|' -f2- | sort -u | wc -l)" = 1 ] || die "wrong: $query"
	for way in gpu auto memory pages workers core; do
		ms+=("$(median "$work/measure.out" "$way")")
	done
	best=${ms[0]}
	[ "$best" != - ] || best=${ms[1]}
	[ "$most" = - ] || met=$(awk "BEGIN { print ($best <= $most) ? \"yes\" : \"no\" }")
	[ "${ms[2]}" = - ] || times_memory=$(awk "BEGIN { printf \"%.1f\", ${ms[2]} / $best }")
	echo "$rows,${query//,/ },${ms[0]},${ms[1]},${ms[2]},${ms[3]},${ms[4]},${ms[5]},$times_memory,$most,$met" | tee -a "$csv" >&2
}

# first ROWS QUERY: the statement that gives the GPU the values, and the next one
first()
{
	run_psql >"$work/first.out" <<SQL
$gpu
SELECT hpsort('{2,1}');
\\timing on
\\o /dev/null
$2;
$2;
SQL
	echo "$1,${2//,/ },$(awk '$1 == "Time:" { printf "%s%s", sep, $2; sep = "," }' "$work/first.out")" | tee -a "$out/resident_gpu_first.csv" >&2
}

# keep TABLE COLUMN...: in memory after the second read, by processes side by side where the table is large
keep()
{
	local table=$1 column
	shift

	for column; do
		run_psql -c "SELECT hpsort_keep('$table', '$column')" >/dev/null
		for _ in 1 2 3; do
			run_psql -c "$workers SELECT count(*) FROM (SELECT DISTINCT $column FROM $table OFFSET 0) q" >/dev/null
			say "$table.$column: $(run_psql -F ' ' -c "SELECT sum(blocks_valid), 'of', sum(blocks), 'blocks', sum(rows), 'rows', sum(bytes), 'bytes', min(reason) FROM hpsort_resident WHERE attribute = '$column'")"
		done
	done
}

# expect NAME: a constant of src/sort/plan.c
expect()
{
	sed -n "s/^#define $1 \([0-9.e]*\)$/\1/p" "$root/src/sort/plan.c"
}

# cost ROWS COLUMNS QUERY: of keys of more than EXTENT_BINS values
cost()
{
	local rows=$1 columns=$2 query=$3 way by_gpu by_memory chosen i

	[[ $query =~ $match ]] || return 0
	for way in gpu memory; do
		{
			printf '%s\n' "${!way}" "\\o /dev/null" "$query;" "$query;" "\\o" "\\echo times $way" "\\timing on" "\\o /dev/null"
			for ((i = 0; i < reps; i++)); do echo "$query;"; done
		} | run_psql >"$work/cost.$way" || die "failed: $query"
	done
	by_gpu=$(median "$work/cost.gpu" gpu)
	by_memory=$(median "$work/cost.memory" memory)
	chosen=$(run_psql -c "$auto_serial EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $query" | grep -q 'on the GPU' && echo gpu || echo memory)
	awk -v rows="$rows" -v columns="$columns" -v query="${query//,/ }" -v gpu="$by_gpu" -v memory="$by_memory" -v chosen="$chosen" -v startup="$startup" \
		-v order="$(expect ROW_ORDER_NS)" -v wide="$(expect EXTENT_WIDE_KEY_NS)" -v key="$(expect EXTENT_KEY_NS)" -v look="$(expect ROWS_LOOK_NS)" -v column="$(expect ROW_COLUMN_NS)" 'BEGIN {
			printf "%d,%d,%s,%s,%.3f,%s,%.3f,%s,%s\n", rows, columns, query, gpu,
				(startup * 1000 + look + rows * (wide + (columns - 1) * key)) / 1e6, memory, rows * ((columns - 1) * column + (query ~ /percentile/ ? order : 0)) / 1e6, chosen,
				gpu < memory ? "gpu" : "memory" }' | tee -a "$out/resident_gpu_costs.csv" >&2
}

for rows in "${all_rows[@]}"; do
	# Core's sorts of very many rows take half a minute each.
	ways="gpu auto memory workers pages"
	[ "$rows" -gt 20000000 ] || ways="$ways core"
	# What was promised is of 1e8 rows.
	most=-
	limit=-
	pairs=-
	sums=-
	[ "$rows" -ne 100000000 ] || { most=3; limit=5; pairs=10; sums=6; }
	fill_series "even" "id int, x int, y int, label text" "$rows" "i, (hashint8(i) & 2147483647) % 1000, (hashint8(i + 1000000000) & 2147483647) % 1000000, 'row ' || i"
	run_psql -c "SELECT pg_prewarm('even')" >/dev/null
	keep even x y id
	first "$rows" "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY x) FROM even"
	first "$rows" "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM even"
	measure "$rows" $most "$ways" "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY x) FROM even"
	measure "$rows" $most "$ways" "SELECT count(DISTINCT x) FROM even"
	measure "$rows" $most "$ways" "SELECT x, count(*) FROM even GROUP BY x"
	measure "$rows" $most "$ways" "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM even"
	measure "$rows" - "$ways" "SELECT percentile_disc(array[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY y), min(y), max(y), count(y) FROM even"
	measure "$rows" - "$ways" "SELECT count(DISTINCT y) FROM even"
	measure "$rows" $pairs "$ways" "SELECT x, percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM even GROUP BY x"
	measure "$rows" $pairs "$ways" "SELECT x, percentile_cont(array[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY y), min(y), max(y), count(*) FROM even GROUP BY x"
	for share in 1 50 99; do
		measure "$rows" - "$ways" "SELECT count(*) FROM even WHERE y < ${share}0000"
		measure "$rows" - "$ways" "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM even WHERE x < ${share}0"
		measure "$rows" - "$ways" "SELECT x, count(*) FROM even WHERE y < ${share}0000 GROUP BY x"
		measure "$rows" $pairs "$ways" "SELECT x, percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM even WHERE id > $((rows / 100 * (100 - share))) GROUP BY x"
	done
	measure "$rows" $sums "$ways" "SELECT x, sum(y), avg(y) FROM even GROUP BY x"
	measure "$rows" - "$ways" "SELECT x, sum(y), count(*) FROM even WHERE id > $((rows / 2)) GROUP BY x"
	measure "$rows" - "$ways" "SELECT x, sum(y) FILTER (WHERE id > $((rows / 2))), avg(y) FROM even GROUP BY x"
	measure "$rows" - "$ways" "SELECT x, sum(y) FILTER (WHERE y < 10000), count(*) FILTER (WHERE y > 500000) FROM even GROUP BY x"
	measure "$rows" - "$ways" "SELECT sum(y), avg(id) FROM even WHERE x < 500"
	# Groups by expressions are maps of columns.
	measure "$rows" - "$ways" "SELECT x / 10, count(*), sum(y) FROM even GROUP BY x / 10"
	measure "$rows" - "$ways" "SELECT CASE WHEN x % 7 = 0 THEN 'seventh' ELSE 'other' END, x / 100, percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM even WHERE x < 990 GROUP BY 1, 2"
	measure "$rows" - "gpu memory pages" "SELECT x FROM even ORDER BY x"
	# The server's memory answers these, whatever there is.
	measure "$rows" $limit "auto memory pages core" "SELECT y FROM (SELECT * FROM even ORDER BY y LIMIT 10) q"
	measure "$rows" $limit "auto memory pages core" "SELECT * FROM (SELECT * FROM even ORDER BY id DESC LIMIT 10) q"
	run_psql -F ' ' -c "$gpu EXPLAIN (ANALYZE, COSTS OFF) SELECT x, count(*) FROM even GROUP BY x" | sed 's/^/# /' >&2
	run_psql -F ' ' -c "$auto EXPLAIN (ANALYZE) SELECT x, percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM even WHERE id > 100 GROUP BY x" | sed 's/^/# /' >&2
	run_psql -F ' ' -c "$auto EXPLAIN (ANALYZE) SELECT x, count(*) FROM even GROUP BY x" | sed 's/^/# /' >&2
	run_psql -c "DROP TABLE even"
done
# What several partitions cost beside one table: the same rows in all.
for rows in "${parted[@]}"; do
	for parts in 1 10 100; do
		fill_rows=$rows fill_expressions="i, (hashint8(i) & 2147483647) % 1000, (hashint8(i + 1000000000) & 2147483647) % 1000000"
		run_psql -c "CREATE TABLE parted (id int, x int, y int) PARTITION BY RANGE (id)"
		for ((i = 0; i < parts; i++)); do
			run_psql -c "CREATE TABLE parted_$i PARTITION OF parted FOR VALUES FROM ($((rows / parts * i + 1))) TO ($((i == parts - 1 ? rows + 1 : rows / parts * (i + 1) + 1)))"
		done
		for ((job = 0; job < jobs; job++)); do from_series "$job" parted & done
		wait
		run_psql -c "VACUUM ANALYZE parted"
		keep parted x y id
		run_psql -c "$gpu SELECT hpsort('{2,1}')" >/dev/null
		for query in "SELECT x, sum(y), count(*) FROM parted GROUP BY x" "SELECT x, percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM parted GROUP BY x" \
			"SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM parted" "SELECT count(*) FROM parted WHERE y < 500000 AND x > 10" "SELECT x, count(*) FROM parted GROUP BY x"; do
			measure "$rows" - "gpu auto memory workers" "$query"
			say "$parts partitions: $(run_psql -c "$gpu EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $query" | grep -E 'Resident Blocks|Planning Time|Execution Time' | xargs)"
		done
		run_psql -c "DROP TABLE parted"
	done
done
if [ -n "$narrow" ]; then
	fill_narrow narrow "$narrow"
	keep narrow x
	most=-
	[ "$narrow" -ne 1000000000 ] || most=10
	first "$narrow" "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY x) FROM narrow"
	reps=5
	measure "$narrow" $most "gpu auto memory workers" "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY x) FROM narrow"
	measure "$narrow" $most "gpu auto memory workers" "SELECT count(DISTINCT x) FROM narrow"
	measure "$narrow" $most "gpu auto memory workers" "SELECT x, count(*) FROM narrow GROUP BY x"
fi
# star QUERY: of so many rows as the table has; whether the GPU has answered is in what is said
star()
{
	# Core's sorts of very many rows take half a minute each.
	measure "$rows" - "gpu auto memory workers $([ "$rows" -gt 20000000 ] || echo core)" "$1"
	say "$(run_psql -c "$gpu EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $1" | grep -E 'Resident Blocks|Execution Time' | xargs)"
}

if [ -n "${stars[*]}" ]; then
	run_psql <<-SQL
		CREATE TABLE region (id int PRIMARY KEY, name text);
		INSERT INTO region SELECT i, 'Region ' || i FROM generate_series(1, 25) i;
		CREATE TABLE shop (id int PRIMARY KEY, name text, region_id int REFERENCES region, size int);
		INSERT INTO shop SELECT i, 'Shop ' || i, 1 + i % 25, i % 100 FROM generate_series(1, 1000) i;
		CREATE TABLE item (id int PRIMARY KEY, kind text, size int);
		INSERT INTO item SELECT i, 'Kind ' || i % 1000, i / 7 % 100 FROM generate_series(1, 100000) i;
		ANALYZE region, shop, item;
	SQL
fi
for rows in "${stars[@]}"; do
	fill_series sale "id int, shop int, item int, customer int, y int" "$rows" "i, 1 + (hashint8(i) & 2147483647) % 1000, 1 + (hashint8(i + 1000000000) & 2147483647) % 100000, (hashint8(i + 2000000000) & 2147483647) % 50000, (hashint8(i + 3000000000) & 2147483647) % 1000000"
	keep sale shop item customer y
	run_psql -c "$gpu SELECT hpsort('{2,1}')" >/dev/null
	first "$rows" "SELECT s.name, count(*), sum(o.y) FROM sale o JOIN shop s ON s.id = o.shop GROUP BY s.name"
	star "SELECT s.name, count(*), sum(o.y) FROM sale o JOIN shop s ON s.id = o.shop GROUP BY s.name"
	star "SELECT s.name, count(*) FROM sale o JOIN shop s ON s.id = o.shop GROUP BY s.name"
	star "SELECT s.name, percentile_disc(0.5) WITHIN GROUP (ORDER BY o.y) FROM sale o JOIN shop s ON s.id = o.shop GROUP BY s.name"
	star "SELECT s.name, count(*), sum(o.y) FROM sale o JOIN shop s ON s.id = o.shop WHERE s.size < 5 GROUP BY s.name"
	star "SELECT i.kind, count(*), sum(o.y) FROM sale o JOIN item i ON i.id = o.item GROUP BY i.kind"
	star "SELECT i.kind, percentile_disc(0.5) WITHIN GROUP (ORDER BY o.y) FROM sale o JOIN item i ON i.id = o.item WHERE i.size < 5 GROUP BY i.kind"
	star "SELECT r.name, count(*), sum(o.y) FROM sale o JOIN shop s ON s.id = o.shop JOIN region r ON r.id = s.region_id GROUP BY r.name"
	star "SELECT r.name, i.kind, count(*) FROM sale o JOIN shop s ON s.id = o.shop JOIN region r ON r.id = s.region_id JOIN item i ON i.id = o.item GROUP BY r.name, i.kind"
	star "SELECT count(*), avg(o.y) FROM sale o WHERE EXISTS (SELECT FROM item i WHERE i.id = o.item AND i.size < 5)"
	star "SELECT r.name, count(DISTINCT o.customer) FROM sale o JOIN shop s ON s.id = o.shop JOIN region r ON r.id = s.region_id GROUP BY r.name"
	run_psql -c "DROP TABLE sale"
done
if [ -n "${calibrate[*]}" ]; then
	echo "rows,columns,query,gpu_ms,gpu_expected_ms,memory_ms,memory_expected_ms,chosen,faster" >"$out/resident_gpu_costs.csv"
	run_psql -c "$gpu SELECT hpsort('{2,1}')" >/dev/null
	grep -m 1 'measured in' "$work/server.log" | sed 's/^/# /' >&2 || true
	startup=$(sed -n 's/.*measured in .* job \([0-9]*\) us,.*/\1/p' "$work/server.log" | head -1)
	auto_serial="SET max_parallel_workers_per_gather = 0; SET hpsort.debug_aggregate = force;"
fi
for rows in "${calibrate[@]}"; do
	fill_series "even" "id int, x int, y int" "$rows" "i, (hashint8(i) & 2147483647) % 1000, (hashint8(i + 1000000000) & 2147483647) % 1000000"
	keep even x y id
	cost "$rows" 2 "SELECT x, percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM even GROUP BY x"
	cost "$rows" 2 "SELECT x, min(y), count(y) FROM even GROUP BY x"
	cost "$rows" 2 "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM even WHERE x < 500"
	cost "$rows" 2 "SELECT x, count(*) FROM even WHERE y < 10000 GROUP BY x"
	cost "$rows" 2 "SELECT x, count(*) FROM even WHERE y < 990000 GROUP BY x"
	cost "$rows" 3 "SELECT x, percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM even WHERE id > $((rows / 2)) GROUP BY x"
	cost "$rows" 3 "SELECT x, percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM even WHERE id > $((rows / 100 * 99)) GROUP BY x"
	cost "$rows" 3 "SELECT count(*) FROM even WHERE x < 500 AND y < 500000 AND id > 100"
	cost "$rows" 2 "SELECT x, sum(y), avg(y) FROM even GROUP BY x"
	cost "$rows" 3 "SELECT x, sum(y) FROM even WHERE id > $((rows / 2)) GROUP BY x"
	cost "$rows" 2 "SELECT sum(y), count(*) FROM even WHERE x < 500"
	run_psql -c "DROP TABLE even"
done

# divided_one ROWS LIST QUERY: the median of the statement by the GPUs of a list
divided_one()
{
	run_psql -c "ALTER SYSTEM SET hpsort.gpu_devices = '$2'" -c "SELECT pg_reload_conf()" >/dev/null
	sleep 2
	{
		# The first ones give the GPUs the values.
		printf '%s\n' "$gpu SELECT hpsort('{2,1}');" "\\o /dev/null" "$3;" "$3;" "\\o" "SELECT 'sum', sum(hashtextextended(q::text, 0)) FROM ($3 OFFSET 0) q;" "\\echo times divided" "\\timing on" "\\o /dev/null"
		for ((i = 0; i < reps; i++)); do echo "$3;"; done
	} | run_psql >"$work/divided.out" || die "failed: $3"
	say "GPUs $2: $(run_psql -F ' ' -c "SELECT ordinal, resident_extents, resident_bytes FROM hpsort_devices()" | xargs)"
}

if [ -n "${divided[*]}" ]; then
	echo "rows,query,devices,ms,times_first" >"$out/resident_gpu_divided.csv"
fi
for rows in "${divided[@]}"; do
	run_psql -c "COPY (SELECT ((hashint8(i) & 2147483647) % 1000)::smallint, (hashint8(i + 1000000000) & 2147483647) % 1000000 FROM generate_series(1, 1000000) i) TO '$work/million' (FORMAT binary)" \
		-c "CREATE TABLE halves (x smallint, y int)"
	fill_rows=$rows
	fill halves from_million
	keep halves x y
	for query in "SELECT x, percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM halves GROUP BY x" "SELECT x, percentile_cont(array[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY y), min(y), max(y), count(*) FROM halves GROUP BY x" \
		"SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM halves" "SELECT x, sum(y), avg(y) FROM halves GROUP BY x" "SELECT x, count(*) FROM halves GROUP BY x"; do
		[[ $query =~ $match ]] || continue
		first_ms=
		first_sum=
		for list in ${DEVICES:-0 1 0,1}; do
			divided_one "$rows" "$list" "$query"
			ms=$(median "$work/divided.out" divided)
			sum=$(grep '^sum' "$work/divided.out")
			first_ms=${first_ms:-$ms}
			[ "$sum" = "${first_sum:=$sum}" ] || die "wrong by $list: $query"
			echo "$rows,${query//,/ },${list//,/+},$ms,$(awk "BEGIN { printf \"%.2f\", $first_ms / $ms }")" | tee -a "$out/resident_gpu_divided.csv" >&2
		done
	done
	run_psql -c "DROP TABLE halves"
done
