#!/bin/bash
#
# measure.sh: rows in order, a percentile, and a percentile by group against the number of
# rows, by PostgreSQL, hpsort and DuckDB: what draw.py draws.
#
#	PG_CONFIG=... measure.sh [--rows "N ..."] [--reps N] [--out DIR]
#
# With the hpsort that is installed.  Writes DIR/DATE-CPU-picture.csv (DIR: build/bench);
# draw.py draws the newest one in bench/results.
#
# The queries are the same for PostgreSQL and hpsort, whose library is loaded or not; then
# with columns that are kept in memory (hpsort_keep), and on a GPU, if there is one.  DuckDB
# is measured where build/duckdb/bin/python or python3 has it.  All tables are in shared
# buffers, work_mem is large enough for every sort, and each query uses one process, or one
# of DuckDB's threads.  Contenders take turns: in each of the rounds every one of them has a
# new session, asks each query of the smallest table once, and is timed.  Before the rounds
# all answers are compared, and plans are looked at: PostgreSQL's have no HpSort, hpsort's
# have.  Takes four minutes, 8 GB of memory and 2 GB of disk.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

command="bench/picture/measure.sh"
rows="100000 1000000 3000000 10000000"
reps=5
take_options "rows= reps= out=" "$@"

installed=yes
begin_bench
rows=$(printf '%s\n' $rows | sort -n | xargs)
smallest=${rows%% *}
largest=${rows##* }

# Rows stay in place where a quarter of the buffers holds the table.
start_server shared_buffers=$((largest / 3500 + 256))MB work_mem=2GB maintenance_work_mem=512MB max_wal_size=8GB checkpoint_timeout=1h jit=off client_min_messages=warning \
	max_parallel_workers_per_gather=0 cursor_tuple_fraction=1 wal_level=minimal max_wal_senders=0 hpsort.resident_fill=on_use hpsort.resident_memory=1GB hpsort.resident_gpu_memory=1GB

run_psql()
{
	"$bindir/psql" -qXAt -F ' ' -v ON_ERROR_STOP=1 "$@"
}

# --- the contenders

python=
for python in "$root/build/duckdb/bin/python" python3 ''; do
	[ -z "$python" ] || ! "$python" -c 'import duckdb' 2>/dev/null || break
done
[ -n "$python" ] || echo "DuckDB is not measured: no Python with duckdb" >&2

declare -A settings=(
	[core]="-c jit=off"
	[pages]="-c session_preload_libraries=hpsort -c hpsort.enable_resident=off -c hpsort.device=cpu"
	[memory]="-c session_preload_libraries=hpsort -c hpsort.device=cpu"
	[gpu]="-c session_preload_libraries=hpsort -c hpsort.device=gpu")
declare -A names=(
	[core]="PostgreSQL ${version%% *}"
	[pages]="hpsort"
	[memory]="hpsort: columns kept in memory"
	[gpu]="hpsort: columns kept on a GPU")

# session CONTENDER: psql in a session of its own
session()
{
	PGOPTIONS=${settings[$1]} run_psql
}

run_psql -c 'CREATE EXTENSION hpsort' -c 'CREATE EXTENSION pg_prewarm'
contenders="core pages memory"
gpu=
if session gpu <<<"SELECT hpsort('{2,1}')" >/dev/null 2>"$work/gpu"; then
	contenders+=" gpu"
	gpu="; $(run_psql -c "SELECT name FROM hpsort_devices() WHERE device = 'gpu' LIMIT 1")"
else
	echo "no GPU is measured: $(sed -n 's/^DETAIL: *//p' "$work/gpu")" >&2
fi

# --- the queries

queries="order percentile groups"
sql_of()
{
	case $1 in
		order) echo "SELECT * FROM t$2 ORDER BY y" ;;
		percentile) echo "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM t$2" ;;
		groups) echo "SELECT x, percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM t$2 GROUP BY x" ;;
	esac
}

# timed QUERY ROWS: a cursor reads all rows in order and sends them nowhere.
timed()
{
	local sql

	sql=$(sql_of "$1" "$2")
	[ "$1" != order ] || sql="DO \$\$ DECLARE c NO SCROLL CURSOR FOR $sql; BEGIN OPEN c; MOVE FORWARD ALL FROM c; CLOSE c; END \$\$"
	echo "$sql;"
}

# Kept columns and the GPU have no part in returning rows in order.
has()
{
	[ "$2" != order ] || [[ "$1" == core || "$1" == pages ]]
}

# answer CONTENDER ROWS: a line for each query, as duckdb_times.py has it.  The order's
# rows are not compared: test/ does that.
answer()
{
	session "$1" <<-END
		SELECT 'percentile', p FROM ($(sql_of percentile "$2")) q(p);
		SELECT 'groups', count(*), sum((x + 1) * p::bigint) FROM ($(sql_of groups "$2")) q(x, p);
	END
}

# check_plans CONTENDER ROWS: HpSort where it is to be, blocks kept, and on the GPU
check_plans()
{
	local query plan wrong

	for query in $queries; do
		has "$1" "$query" || continue
		plan=$(session "$1" <<<"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $(sql_of "$query" "$2");")
		wrong=
		case $1 in
			core) ! grep -q 'HpSort' <<<"$plan" || wrong=yes ;;
			pages) grep -q 'HpSort' <<<"$plan" || wrong=yes ;;
			memory) grep -q 'Resident Blocks: [1-9]' <<<"$plan" || wrong=yes ;;
			gpu) grep -q ', [1-9][0-9]* on the GPU' <<<"$plan" || wrong=yes ;;
		esac
		[ -z "$wrong" ] || die "not the plan of ${names[$1]}, $2 rows:"$'\n'"$plan"
	done
}

# --- the tables

# Rows of some 60 bytes; x and y are mixed from the row's number, so that DuckDB has the same.
fill()
{
	run_psql <<-END
		CREATE TABLE t$1 AS
		SELECT i::int AS id, ((h * 1812433253 % 2147483648 >> 11) % 1000)::int AS x, (h % 1000000)::int AS y, 'row ' || i AS label
		FROM (SELECT i, h # (h >> 15) AS h
			FROM (SELECT i, (h # (h >> 13)) * 1812433253 % 2147483648 AS h
				FROM (SELECT i, (i * 1103515245 + 12345) % 2147483648 AS h FROM generate_series(1, $1::bigint) i) a OFFSET 0) b OFFSET 0) c;
		VACUUM (ANALYZE, FREEZE) t$1;
		\o /dev/null
		SELECT pg_prewarm('t$1'), hpsort_keep('t$1', 'x'), hpsort_keep('t$1', 'y');
	END
}

# keep ROWS: queries that read a column bring it into memory, which a worker allocates.
keep()
{
	local i kept=

	for ((i = 0; i < 20; i++)); do
		answer memory "$1" >/dev/null
		kept=$(run_psql -c "SELECT count(*) FROM hpsort_resident WHERE relation = 't$1'::regclass AND blocks_valid > blocks * 0.9")
		[ "$kept" != 2 ] || return 0
		sleep 0.1
	done
	run_psql -c "SELECT * FROM hpsort_resident" >&2
	die "the columns of t$1 are not in memory"
}

say()
{
	printf '%4d s  %s\n' "$SECONDS" "$*" >&2
}

# --- rounds

# run_postgres CONTENDER ROWS LOOPS: lines of query, tab and ms
run_postgres()
{
	local query i

	{
		# What a session learns with its first queries is not the queries' time.
		echo '\o /dev/null'
		for query in $queries; do
			timed "$query" "$smallest"
		done
		for query in $queries; do
			has "$1" "$query" || continue
			printf '\\echo @%s\n\\timing on\n' "$query"
			for ((i = 0; i < $3; i++)); do
				timed "$query" "$2"
			done
			echo '\timing off'
		done
	} >"$work/session.sql"
	session "$1" <"$work/session.sql" >"$work/session.out" || die "failed: see above"
	awk '/^@/ { query = substr($0, 2) } /^Time: / { print query "\t" $2 }' "$work/session.out"
}

# took CONTENDER ROWS: what it ran, from standard input, goes to the others' times
took()
{
	sed "s/^/$1\t$2\t/" >>"$work/times"
}

for n in $rows; do
	fill "$n"
	keep "$n"
	say "$n rows: filled, and kept in memory"
	for contender in $contenders; do
		check_plans "$contender" "$n"
		answer "$contender" "$n" | sort >"$work/answer.$contender"
		cmp "$work/answer.core" "$work/answer.$contender" || die "another answer: ${names[$contender]}"
	done
done
for n in $rows; do
	loops=$((1000000 / n))
	[ "$loops" -ge 1 ] || loops=1
	for ((round = 0; round < reps; round++)); do
		for contender in $contenders; do
			run_postgres "$contender" "$n" "$loops" | took "${names[$contender]}" "$n"
		done
		[ -n "$python" ] || continue
		"$python" "$root/bench/picture/duckdb_times.py" "$n" "$loops" "$smallest" >"$work/duckdb"
		duckdb=$(sed -n 1p "$work/duckdb")
		sed 1d "$work/duckdb" | grep -v $'\t' | sort >"$work/answer.duckdb"
		answer core "$n" | sort | cmp - "$work/answer.duckdb" || die "another answer: $duckdb"
		sed 1d "$work/duckdb" | grep $'\t' | took "$duckdb" "$n"
	done
	say "$n rows: measured"
done

csv=$out/$(date -u +%Y-%m-%d)-$(cpu_name)-picture.csv
{
	echo "# $command --rows \"$rows\" --reps $reps"
	machine
	echo "# hpsort $(run_psql -c "SELECT extversion FROM pg_extension WHERE extname = 'hpsort'"), PostgreSQL ${version%% *}${python:+, $duckdb}$gpu"
	echo "query,contender,rows,runs,median_ms,min_ms,max_ms"
	sort -s -t$'\t' -k3,3 -k1,1 -k2,2n -k4,4g "$work/times" | awk -F'\t' '
		function put()
		{
			if (n)
				printf "%s,%d,%.3f,%.3f,%.3f\n", key, n, n % 2 ? ms[(n + 1) / 2] : (ms[n / 2] + ms[n / 2 + 1]) / 2, ms[1], ms[n]
			n = 0
		}
		{ this = $3 "," $1 "," $2; if (this != key) put(); key = this; ms[++n] = $4 }
		END { put() }'
} >"$csv"
cat "$csv"
echo "written to $csv"
