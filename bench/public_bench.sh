#!/bin/bash
#
# public_bench.sh: queries in the shape of public benchmarks, with hpsort and without it.
#
#	public_bench.sh [--rows N] [--sets "hits groupby trade star joins"] [--only REGEX] [--ways "pages kept duckdb"] [--reps N] [--least MS]
#		[--memory M]... [--workers N]... [--installed] [--out DIR]
#
# The sets are ClickBench's 43 queries of page views (hits), the ten of the database-like groupby benchmark (groupby), TPC-H's 22 (trade),
# the star-schema benchmark's 13 (star), and 15 of one table and what it refers to (joins).  Tables and queries are this project's own: public/SET.sql makes the tables, public/SET_queries.sql
# asks the same kind of question.  Each query is executed with 4 MB and 256 MB of work_mem (--memory), without workers and with two
# (--workers): by core, and by hpsort from pages and from kept columns, all columns that hpsort_keep takes.  Hpsort and core take turns in one session,
# the best of --reps (3) executions by processor time, each repeated for --least (100) ms.  Both return the same rows: where floats
# are added up in another order than core's, but for their last digits.  DuckDB executes the queries in its memory with one thread where a Python has it (build/duckdb/bin/python or python3).
#
# Writes public.csv to DIR (build/bench), public_summary.csv, and public.txt with the plans of what is slower or other, and prints the summary.
# Ends with status 1 if a query returns other rows.  --rows: of hits, 2000000 if it is not said; groupby and joins have five times as many, trade and star
# three times, which is scale 1.  --only: queries whose set and number, as hits/12, match.

set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

command="bench/public_bench.sh $*"
rows=2000000
sets="hits groupby trade star joins"
only=
ways="pages kept duckdb"
reps=3
least=100
memories=()
workers=()
take_options "rows= sets= only= ways= reps= least= memory+memories workers+workers installed out=" "$@"
[ ${#memories[@]} -gt 0 ] || memories=(4MB 256MB)
[ ${#workers[@]} -gt 0 ] || workers=(0 2)

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/compare.sh"

begin_bench
start_server shared_buffers=$((rows / 1000 + 256))MB maintenance_work_mem=256MB max_wal_size=8GB wal_level=minimal max_wal_senders=0 checkpoint_timeout=1h \
	jit=off timezone=UTC shared_preload_libraries=hpsort hpsort.gpu=off hpsort.resident_fill=on_use hpsort.resident_memory=$((rows / 2000 + 64))MB
run_psql -c "CREATE EXTENSION hpsort" -c "CREATE EXTENSION pg_prewarm" -f "$here/sql/measure.sql" >/dev/null

python=
for python in "$root/build/duckdb/bin/python" python3 ''; do
	[ -z "$python" ] || ! "$python" -c 'import duckdb' 2>/dev/null || break
done
[ -n "$python" ] || [[ " $ways " != *" duckdb "* ]] || echo "DuckDB is not measured: no Python with duckdb" >&2

csv=$out/public.csv
{
	echo "# $command"
	machine
	echo "# PostgreSQL $version; hpsort $(run_psql -c "SELECT extversion FROM pg_extension WHERE extname = 'hpsort'")$(
		[ -z "$python" ] || "$python" -c 'import duckdb; print("; DuckDB", duckdb.__version__, end="")'); $rows rows of hits"
	echo "set,query,way,work_mem,workers,node,ms,core_ms,times_faster,clock_ms,core_clock_ms,rows,verdict,question"
} >"$csv"
plans=$out/public.txt
: >"$plans"

# queries SET: for each that was asked for its number, question and SQL, separated by tabs
queries()
{
	awk -v OFS='\t' '
		/^-- [0-9]/ { number = $2; sub(/^-- [^ ]* /, ""); question = $0; sql = ""; next }
		number != "" && NF { sub(/^\t+/, ""); sql = sql (sql == "" ? "" : " ") $0 }
		sub(/;$/, "", sql) { print number, question, sql; number = "" }' "$here/public/$1_queries.sql" |
		awk -F '\t' -v set="$1" -v only="$only" '(set "/" $1) ~ only'
}

# load SET: its tables, all columns kept that can be, in shared buffers
load()
{
	local times=1

	case $1 in
		groupby | joins) times=5 ;;
		trade | star) times=3 ;;
	esac
	say "$1: making tables"
	run_psql -v rows=$((times * rows)) -f "$here/public/$1.sql" >/dev/null
	run_psql -v set="$1" >/dev/null <<'SQL'
SET search_path = :set, public;
VACUUM (ANALYZE, FREEZE);
CREATE FUNCTION keep(rel regclass, attribute name) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM hpsort_keep(rel, attribute);
EXCEPTION WHEN OTHERS THEN
	NULL;
END $$;
SELECT keep(attrelid, attname) FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND attnum > 0 ORDER BY attrelid, attnum;
DROP FUNCTION keep;
SELECT pg_prewarm(oid) FROM pg_class WHERE relkind IN ('r', 'i') AND relnamespace = current_schema()::regnamespace;
SQL
}

# compare SET NUMBER QUESTION QUERY WAY WORK_MEM WORKERS: a line of the CSV
compare()
{
	local settings long=$least compared=$4

	[ "$7" = 0 ] || long=$((3 * least))
	[[ $3 != *"(any)" ]] || compared=${4% LIMIT *}
	settings="SET search_path = $1, public; SET work_mem = '$6'; SET max_parallel_workers_per_gather = $7; SET hpsort.enable_resident = "
	if [ "$5" = kept ]; then
		settings+="on;"
		# Values are kept from the second reading on, by hpsort's nodes.
		run_psql -c "$settings; SET hpsort.debug_sort = force; SET hpsort.debug_aggregate = force" -c "SELECT use_hpsort(true)" -v q="$4" -f - <<<"SELECT run_statement(:'q', 3)" >/dev/null
	else
		settings+="off;"
	fi
	compare_plans "$settings" "$4" "$reps" "$long" "$compared"
	if [ "$verdict" = "same plan" ]; then
		measure "$settings" "$4" 0 0
		core_ms=$(awk -v a="$core_ms" -v b="$hpsort_ms" 'BEGIN { print a < b ? a : b }')
		hpsort_ms=$core_ms times_faster=1.000
	fi
	printf '%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,"%s"\n' "$1" "$2" "$5" "$6" "$7" "$(node_of "$with" | tr -d ,)" "$hpsort_ms" "$core_ms" "$times_faster" \
		"$hpsort_clock_ms" "$core_clock_ms" "$rows_are" "$verdict" "$3" >>"$csv"
	case $verdict in
		slower* | other*) report "$plans" "$1/$2 from $5, $6, $7 workers" "$settings" "$4" ;;
	esac
}

# duckdb SET: a line of the CSV for each query.  core_ms is that of core with the most memory and no worker, if that was measured.
duckdb()
{
	local directory=$work/duckdb table

	say "$1: DuckDB"
	mkdir -p "$directory"
	chmod 777 "$directory"
	run_psql -v set="$1" -v directory="$directory" -f "$here/sql/duckdb_export.sql" >/dev/null
	queries "$1" >"$directory/queries"
	while IFS=$'\t' read -r number question query; do
		[[ $question != *"(any)" ]] || query=${query% LIMIT *}
		run_psql -c "SET search_path = $1, public" -c "COPY ($query) TO STDOUT (FORMAT csv)" >"$directory/$number.rows"
	done <"$directory/queries"
	"$python" "$here/duckdb_public.py" "$directory" "$reps" | while IFS=$'\t' read -r number ms clock_ms rows_are question; do
		core_ms=$(awk -F, -v set="$1" -v number="$number" '$1 == set && $2 == number && $5 == 0 && $8 != "" { ms = $8 } END { print ms }' "$csv")
		printf '%s,%s,duckdb,,0,,%s,%s,%s,%s,,%s,,"%s"\n' "$1" "$number" "$ms" "$core_ms" "$(awk -v a="$core_ms" -v b="$ms" 'BEGIN { if (a && b) printf "%.3f", a / b }')" \
			"$clock_ms" "$rows_are" "$question" >>"$csv"
	done
	rm -rf "$directory"
}

for set in $sets; do
	queries "$set" >"$work/queries"
	[ -s "$work/queries" ] || continue
	load "$set"
	while IFS=$'\t' read -r number question query <&3; do
		say "$set/$number $question"
		for way in $ways; do
			[ "$way" != duckdb ] || continue
			for memory in "${memories[@]}"; do
				for n in "${workers[@]}"; do
					compare "$set" "$number" "$question" "$query" "$way" "$memory" "$n"
				done
			done
		done
	done 3<"$work/queries"
	[ -z "$python" ] || [[ " $ways " != *" duckdb "* ]] || duckdb "$set"
	run_psql -c "DROP SCHEMA $set CASCADE" 2>/dev/null
done

# slower_in_one: with other workers than core has, by processor time or by the clock.  The geometric mean is over all queries.
{
	sed -n '/^#/p' "$csv"
	awk -F, -v OFS=, '
		/^#/ || $1 == "set" { next }
		{
			key = $1 OFS $3 OFS $4 OFS $5
			if (!(key in queries)) keys[++n] = key
			queries[key]++
			aggregate[key] += $6 ~ /aggregate/
			part[key] += $6 != "" && $6 != "none"
			slower[key] += $13 == "slower"
			in_one[key] += $13 ~ /^slower /
			other[key] += $12 !~ /equal|rounded/
			if ($9 != "") { log_sum[key] += log($9); logs[key]++ }
			if ($9 != "" && (!(key in worst) || $9 < worst[key])) worst[key] = $9
			ms[key] += $7
			core_ms[key] += $8
		}
		END {
			print "set,way,work_mem,workers,queries,aggregate,taking_part,slower,slower_in_one,worst,other_rows,ms,core_ms,geometric_mean"
			for (i = 1; i <= n; i++) {
				key = keys[i]
				print key, queries[key], aggregate[key], part[key], slower[key], in_one[key], worst[key], other[key], sprintf("%.0f", ms[key]),
					sprintf("%.0f", core_ms[key]), logs[key] ? sprintf("%.2f", exp(log_sum[key] / logs[key])) : ""
			}
		}' "$csv"
} >"$out/public_summary.csv"
sed '/^#/d' "$out/public_summary.csv" | if command -v column >/dev/null; then column -s, -t; else cat; fi
! grep -q ',other,other rows,' "$csv"
