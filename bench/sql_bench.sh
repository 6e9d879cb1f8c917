#!/bin/bash
#
# sql_bench.sh: hpsort beside PostgreSQL's own ways, in a throw-away server.
#
#	sql_bench.sh [--quick | --full] [--columns] [--rows N] [--reps N] [--out DIR]
#
#	--columns	only what reads columns of tables
#
# Writes sql.csv and sql_targets.csv to DIR (build/bench).  Of each pair both
# are run in turn, A B A B ..., in one session, after one run of each that does
# not count; ratios are medians of the ratios within a round.

set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

rows=10000000
reps=7
full=
columns_only=
take_options "quick:rows=1000000,reps=3 full:full=1 columns:columns_only=1 rows= reps= out=" "$@"

begin_bench
sql=$root/bench/sql

# Memory enough that nobody's sort goes to disk: the peers at their best.
start_server shared_buffers=3GB work_mem=2GB hash_mem_multiplier=1 maintenance_work_mem=512MB \
	max_wal_size=8GB checkpoint_timeout=1h jit=off max_parallel_workers_per_gather=0 \
	hpsort.enable_sort=off hpsort.enable_scan=off	# the peers sort as PostgreSQL does

echo "$version" >"$out/postgres_version"
echo "PostgreSQL $version, $rows rows, $reps repetitions; loading" >&2
run_psql -v rows="$rows" -f "$sql/load.sql" >"$work/load.log" 2>&1 || { tail -5 "$work/load.log" >&2; exit 1; }

csv=$out/sql.csv
targets=$out/sql_targets.csv
echo "case,workers,contender,reps,median_ms,min_ms,max_ms,speedup_over_peer,peer" >"$csv"
echo "target,wanted,measured,met" >"$targets"

# pair CASE WORKERS SETTINGS NAME_A SQL_A NAME_B SQL_B: A is what we measure, B its peer.
# Leaves A's median, B's median and how many times faster A is in a_ms, b_ms, faster.
pair()
{
	local case=$1 workers=$2 settings=$3 name_a=$4 sql_a=$5 name_b=$6 sql_b=$7 i

	{
		echo "SET max_parallel_workers_per_gather = $workers;"
		echo "$settings"
		[ "$workers" = 0 ] || echo "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;"
		# Both answers, to see that they are the same; and this warms up.
		echo "$sql_a;"
		echo "$sql_b;"
		echo '\timing on'
		for ((i = 0; i < reps; i++)); do
			echo "$sql_a;"
			echo "$sql_b;"
		done
	} >"$work/pair.sql"
	run_psql -f "$work/pair.sql" >"$work/pair.out" || die "$case: failed"
	if [ "$(sed -n 1p "$work/pair.out")" != "$(sed -n 2p "$work/pair.out")" ]; then
		die "$case: $name_a and $name_b differ: $(sed -n 1,2p "$work/pair.out" | cut -c1-200 | tr '\n' ' ')"
	fi
	sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' "$work/pair.out" |
		awk -v case="$case" -v workers="$workers" -v a="$name_a" -v b="$name_b" -v csv="$csv" '
			function median(v, n,    i, j, t) {
				for (i = 2; i <= n; i++)
					for (j = i; j > 1 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
				return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
			}
			NR % 2 { x[++n] = $1 }
			NR % 2 == 0 { y[n] = $1; r[n] = $1 / x[n] }
			END {
				ratio = median(r, n); ma = median(x, n); mb = median(y, n)
				printf "%s,%d,%s,%d,%.2f,%.2f,%.2f,%.2f,%s\n", case, workers, a, n, ma, x[1], x[n], ratio, b >>csv
				printf "%s,%d,%s,%d,%.2f,%.2f,%.2f,1.00,%s\n", case, workers, b, n, mb, y[1], y[n], b >>csv
				printf "%.3f %.3f %.4f\n", ma, mb, ratio
			}' >"$work/pair.result"
	read -r a_ms b_ms faster <"$work/pair.result"
	printf '%-28s %s workers  %-22s %9.1f ms  %-26s %9.1f ms  %6.2fx\n' "$case" "$workers" "$name_a" "$a_ms" "$name_b" "$b_ms" "$faster" >&2
}

# peak SETTINGS SQL: peak resident memory, in kB, of a fresh session that runs
# it; hpsort is loaded in all of them, so that its code does not count.
peak()
{
	run_psql -c "SELECT hpsort('{2,1}'); $1" -c "$2" -c "SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s*(\d+)')" | tail -1
}

# target TEXT at-most|at-least WANTED MEASURED
target()
{
	awk -v text="$1" -v how="$2" -v wanted="$3" -v got="$4" 'BEGIN {
		met = how == "at-most" ? got <= wanted : got >= wanted
		sub("-", " ", how)
		printf "%s,%s %s,%.2f,%s\n", text, how, wanted, got, met ? "met" : "not met" }' | tee -a "$targets" >&2
}

div() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4f", a / b }'; }

# --- equality first

equal=$(run_psql -c "SELECT hpsort_agg(x) = array_agg(x ORDER BY x) AND hpsort_agg(y) = array_agg(y ORDER BY y)
	AND hpsort_agg(z) = array_agg(z ORDER BY z) FROM t")
[ "$equal" = t ] || die "hpsort_agg and array_agg differ"

# --- columns

column() { echo "SELECT array_length(hpsort_column_array('$1', '$2'), 1)"; }
agg() { echo "SELECT array_length($1, 1) FROM ${2:-t}"; }
share() { awk -v f="$faster" 'BEGIN { print 1 / f }'; }
node="LOAD 'hpsort';"

run_psql -f "$sql/load_columns.sql" >"$work/load.log" 2>&1 || { tail -5 "$work/load.log" >&2; exit 1; }
for workers in 0 2; do
	pair "column beside sum(x)" "$workers" "" hpsort_column_array "$(column t x) * 0" "sum(x)" "SELECT sum(x) * 0 FROM t"
	[ "$workers" = 2 ] || target "hpsort_column_array / sum(x) serial" at-most 0.45 "$(share)"
	for key in x y z; do
		pair "column $key" "$workers" "" hpsort_column_array "$(column t $key)" "array_agg ORDER BY" "$(agg "array_agg($key ORDER BY $key)")"
		case $workers$key in
			0x) target "hpsort_column_array faster than array_agg(x ORDER BY x) serial" at-least 12 "$faster" ;;
			2x) target "hpsort_column_array faster than array_agg(x ORDER BY x) 2 workers" at-least 20 "$faster" ;;
		esac
	done
	pair "hpsort_agg(x) by HpSort Aggregate" "$workers" "$node" hpsort_agg "$(agg "hpsort_agg(x)")" hpsort_column_array "$(column t x)"
	target "hpsort_agg(x) / hpsort_column_array with $workers workers" at-most 1.1 "$(share)"
	pair "… with a filter" "$workers" "$node" hpsort_agg "SELECT array_length(hpsort_agg(x), 1) * 0 FROM t WHERE y >= 0" \
		"sum(x)" "SELECT sum(x) * 0 FROM t WHERE y >= 0"
done
pair "two columns" 0 "$node" hpsort_agg "SELECT (array_length(hpsort_agg(x), 1) + array_length(hpsort_agg(y), 1)) * 0 FROM t" \
	"sum(x) sum(y)" "SELECT (sum(x) + sum(y)) * 0 FROM t"
pair "runs of a column" 0 "" hpsort_column_runs "SELECT sum(count) FROM hpsort_column_runs('t', 'x')" \
	"GROUP BY" "SELECT sum(n) FROM (SELECT x, count(*) AS n FROM t GROUP BY x ORDER BY x) s"
pair "set of a column" 0 "" hpsort_column "SELECT max(v) FROM (SELECT hpsort_column('t', 'x') AS v OFFSET 0) s" \
	"ORDER BY" "SELECT max(v) FROM (SELECT x AS v FROM t ORDER BY x OFFSET 0) s"
pair "runs of z in FROM" 0 "" hpsort_column_runs "SELECT count(*) * 0 FROM hpsort_column_runs('t', 'z')" \
	hpsort_column "SELECT count(*) * 0 FROM (SELECT hpsort_column('t', 'z') OFFSET 0) s"
target "hpsort_column_runs of different keys in FROM / hpsort_column in a select list" at-most 3 "$(share)"
for table in fresh text_first nulls_first; do
	pair "column of $table" 0 "" hpsort_column_array "$(column $table x) * 0" "sum(x)" "SELECT sum(x) * 0 FROM $table"
	case $table in
		fresh) target "not all-visible: hpsort_column_array / sum(x)" at-most 0.7 "$(share)" ;;
		text_first) target "text before the key: hpsort_column_array / sum(x)" at-most 0.8 "$(share)" ;;
	esac
done
run_psql -c "DROP TABLE fresh, text_first, nulls_first"

# --- sets

for column in x y z; do
	pair "ordered set of $column" 0 "" hpsort_query "SELECT max(v) FROM (SELECT hpsort_query('SELECT $column FROM t') AS v OFFSET 0) s" \
		"ORDER BY" "SELECT max(v) FROM (SELECT $column AS v FROM t ORDER BY $column OFFSET 0) s"
done
pair "ordered set in FROM" 0 "" hpsort_query "SELECT max(v) FROM hpsort_query('SELECT x FROM t') v" \
	"ORDER BY" "SELECT max(v) FROM (SELECT x AS v FROM t ORDER BY x OFFSET 0) s"

[ -z "$columns_only" ] || exit 0

# --- aggregates, as they are in groups and over joins: with the executor's rows

rows_only="SET hpsort.enable_aggregate = off;"

serial_ms=
for workers in 0 2; do
	pair "sum(x)" "$workers" "$rows_only" hpsort_agg "SELECT array_length(hpsort_agg(x), 1) * 0 FROM t" sum "SELECT sum(x) * 0 FROM t"
	if [ "$workers" = 0 ]; then
		target "hpsort_agg(x) / sum(x) serial" at-most 1.25 "$(awk -v f="$faster" 'BEGIN { print 1 / f }')"
		serial_ms=$a_ms
	else
		target "hpsort_agg(x) serial / with 2 workers" at-least 1.0 "$(div "$serial_ms" "$a_ms")"
	fi
	pair "array_agg(x) unordered" "$workers" "$rows_only" hpsort_agg "$(agg "hpsort_agg(x)")" array_agg "$(agg "array_agg(x)")"
	for column in x y z; do
		pair "ordered array of $column" "$workers" "$rows_only" hpsort_agg "$(agg "hpsort_agg($column)")" \
			"array_agg ORDER BY" "$(agg "array_agg($column ORDER BY $column)")"
		if [ "$workers$column" = 0x ]; then
			target "hpsort_agg(x) faster than array_agg(x ORDER BY x) serial (about 4)" at-least 3.5 "$faster"
		fi
	done
done
pair "promised bounds" 0 "$rows_only" "hpsort_agg(x lo hi)" "$(agg "hpsort_agg(x, 0, 999)")" hpsort_agg "$(agg "hpsort_agg(x)")"
pair "percentile of x" 0 "$rows_only" hpsort_runs_agg "SELECT min(key) FROM (SELECT (r).key, sum((r).count) OVER (ORDER BY (r).key) AS upto,
	sum((r).count) OVER () AS n FROM (SELECT unnest(hpsort_runs_agg(x)) AS r FROM t) s) s WHERE upto >= n * 0.5" \
	percentile_disc "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY x) FROM t"

# --- arrays

for column in x y z; do
	pair "array of $column" 0 "" hpsort "SELECT array_length(hpsort(a), 1) FROM arrays WHERE name = '$column'" "array_agg of unnest" \
		"SELECT array_length((SELECT array_agg(v ORDER BY v) FROM unnest(a) v), 1) FROM arrays WHERE name = '$column'"
	if [ "$major" -ge 18 ]; then
		pair "array of $column" 0 "" hpsort "SELECT array_length(hpsort(a), 1) FROM arrays WHERE name = '$column'" \
			array_sort "SELECT array_length(array_sort(a), 1) FROM arrays WHERE name = '$column'"
	fi
done

# --- small groups

groups() { echo "SELECT sum(a[1]) FROM (SELECT g, $1 AS a FROM grouped GROUP BY g) s"; }

# As PostgreSQL chooses with its default memory, with so much that nobody goes
# to disk, and grouped by sorting, which core always does for ORDER BY.
groups_pair()
{
	local name=$1 settings=$2

	pair "$name" 0 "$settings" hpsort_agg "$(groups "hpsort_agg(x)")" "array_agg ORDER BY" "$(groups "array_agg(x ORDER BY x)")"
	target "$name: time of hpsort_agg / array_agg" at-most 1.0 "$(awk -v f="$faster" 'BEGIN { print 1 / f }')"
	base=$(peak "" "SELECT sum(x) FROM grouped")
	mine=$(peak "$settings" "$(groups "hpsort_agg(x)")")
	theirs=$(peak "$settings" "$(groups "array_agg(x ORDER BY x)")")
	echo "$name,0,peak memory of hpsort_agg (MB),1,$(((mine - base) / 1024)),,,,array_agg $(((theirs - base) / 1024)) MB" >>"$csv"
	# Sessions of the same plan differ by some 100 kB.
	target "$name: memory of hpsort_agg / array_agg" at-most 1.01 "$(div $((mine - base)) $((theirs - base)))"
}

default_memory="SET work_mem = '4MB'; SET hash_mem_multiplier = 2;"
groups_pair "groups of 10 default memory" "$default_memory"
groups_pair "groups of 10 sorted" "$default_memory SET enable_hashagg = off;"
groups_pair "groups of 10 work_mem 2 GB" ""
# --- memory

base=$(peak "" "SELECT sum(y) FROM t")
mine=$(peak "" "$(agg "hpsort_agg(y)")")
target "hpsort_agg(y): MB held besides its result" at-most 16 "$(awk -v m=$((mine - base)) -v r="$rows" 'BEGIN { print m / 1024 - r * 4 / 1048576 }')"

# --- large

if [ -n "$full" ]; then
	run_psql -c "CREATE UNLOGGED TABLE large AS SELECT (hashint8(i) & 2147483647) % 1000000 AS y FROM generate_series(1, 100000000) i" \
		-c "VACUUM (ANALYZE, FREEZE) large"
	reps=3
	pair "ordered set of 1e8" 0 "" hpsort_query "SELECT count(v) FROM (SELECT hpsort_query('SELECT y FROM large') AS v OFFSET 0) s" \
		"ORDER BY" "SELECT count(v) FROM (SELECT y AS v FROM large ORDER BY y OFFSET 0) s"
	target "1e8 rows through hpsort_query" at-least 1 1
fi
