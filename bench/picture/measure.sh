#!/bin/bash
#
# measure.sh: ORDER BY, a percentile and an ordered array against the number of rows,
# by PostgreSQL, hpsort and DuckDB: what draw.py draws.
#
#	measure.sh [--rows "N ..."] [--reps N] [--save] POSTGRESQL...		for example
#	measure.sh /usr/lib/postgresql/17/bin/pg_config /opt/sid19
#
#	POSTGRESQL	a pg_config, or the root directory of another system that has a
#				PostgreSQL (test/lib.sh: start_system; at most one); hpsort is measured on
#				the last one
#	--save		copies picture.csv from build/bench to bench/results/DATE-CPU-picture.csv
#
# Takes ten minutes, 6 GB of memory and 4 GB of disk.  DuckDB is measured where
# build/duckdb/bin/python or python3 has it.  All tables are in shared buffers, work_mem is large enough for every
# sort, and each query uses one process, or one of DuckDB's threads.  Contenders take
# turns: in each of the rounds every one of them has a new session, plans its queries,
# and runs them.  Answers that differ end the run.
set -euo pipefail

source "$(dirname "${BASH_SOURCE[0]}")/../../test/lib.sh"
source "$root/bench/machine.sh"

command="bench/picture/measure.sh"
rows="100000 1000000 3000000 10000000"
reps=5
save=
serve=
with_hpsort=yes
postgresqls=()
while [ $# -gt 0 ]; do
	case $1 in
		--rows) rows=$2; shift ;;
		--reps) reps=$2; shift ;;
		--save) save=1 ;;
		--serve) serve=$2; shift ;;
		--without-hpsort) with_hpsort= ;;
		-*) die "usage: measure.sh [--rows \"N ...\"] [--reps N] [--save] POSTGRESQL..." ;;
		*) postgresqls+=("$1") ;;
	esac
	shift
done

# --- one server, in a process of its own, here or in another system

# serve_tables DIR: writes its place and version to DIR/socket, and waits to be killed.
serve_tables()
{
	local n largest

	largest=$(printf '%s\n' $rows | sort -n | tail -1)
	mkdir -p "$1"
	if [ -n "$with_hpsort" ]; then
		use_working_tree
	else
		find_postgres
		use_postgres "${postgres_list[-1]}"
	fi
	start_server shared_buffers=1500MB work_mem=2GB maintenance_work_mem=512MB max_wal_size=8GB checkpoint_timeout=1h \
		jit=off max_parallel_workers_per_gather=0 wal_level=minimal max_wal_senders=0
	for n in $(printf '%s\n' $rows | sort -rn); do
		echo "CREATE TABLE t$n AS"
		if [ "$n" = "$largest" ]; then
			# Rows of some 60 bytes; y is mixed from the row's number, so that DuckDB has the same.
			echo "SELECT i::int AS id, ((h # (h >> 15)) % 1000000)::int AS y, 'row ' || i AS label, 3 * i AS amount
				FROM (SELECT i, (h # (h >> 13)) * 1812433253 % 2147483648 AS h
					FROM (SELECT i, (i * 1103515245 + 12345) % 2147483648 AS h FROM generate_series(1, $n::bigint) i) a OFFSET 0) b;"
		else
			echo "SELECT * FROM t$largest WHERE id <= $n;"
		fi
		echo "VACUUM (ANALYZE, FREEZE) t$n;"
		echo "SELECT pg_prewarm('t$n');"
	done | {
		echo "CREATE EXTENSION pg_prewarm;${with_hpsort:+ CREATE EXTENSION hpsort;}"
		cat
	} | as_user "$bindir/psql" -qXAt -v ON_ERROR_STOP=1 >"$work/load.log" 2>&1 || { tail -5 "$work/load.log" >&2; exit 1; }
	echo "$PGHOST ${version%% *}" >"$1/socket.new"
	mv "$1/socket.new" "$1/socket"
	sleep infinity &
	wait
}

if [ -n "$serve" ]; then
	serve_tables "$serve"
	exit
fi

# --- the servers

[ ${#postgresqls[@]} -gt 0 ] || die "usage: measure.sh [--rows \"N ...\"] [--reps N] [--save] POSTGRESQL..."
dirs=()
groups=()		# of processes: a server with what compiles for it
end_servers()
{
	local i

	for i in "${!groups[@]}"; do
		# A server here ends by its own trap, one in a system with the system's namespace.
		kill "-$([ "${dirs[i]}" = "$work/system/served" ] && echo KILL || echo TERM)" -- "-${groups[i]}" 2>/dev/null || true
	done
	# Not to be told that they were killed.
	{ wait; } 2>/dev/null
	sleep 1
	finish
}
trap end_servers EXIT

psql=$(command -v psql || true)
psql_libdir=
for postgresql in "${postgresqls[@]}"; do
	options=(--rows "$rows")
	[ "$postgresql" = "${postgresqls[-1]}" ] || options+=(--without-hpsort)
	set -m
	if [ -d "$postgresql" ]; then
		dir=$work/system/served
		rm -rf "$work/system"
		start_system "$postgresql" "$work/system" bench/picture/measure.sh "${options[@]}" --serve /tmp/served >"$work/served.log" 2>&1
	else
		dir=$work/served${#dirs[@]}
		psql=$("$postgresql" --bindir)/psql
		psql_libdir=$("$postgresql" --libdir)
		mkdir "$dir"
		PG_CONFIG=$postgresql "$root/bench/picture/measure.sh" "${options[@]}" --serve "$dir" >"$dir/log" 2>&1 </dev/null &
	fi
	groups+=($!)
	set +m
	dirs+=("$dir")
	# One after the other: each compiles and loads.
	while [ ! -e "$dir/socket" ]; do
		sleep 1
		if ! jobs -rp | grep -qx "${groups[-1]}"; then
			cat "$work/served.log" "$dir/log" 2>/dev/null >&2 || true
			die "no server of $postgresql"
		fi
	done
done
[ -n "$psql" ] || die "no psql"

sockets=()
versions=()
for dir in "${dirs[@]}"; do
	read -r socket version <"$dir/socket"
	[ "$dir" != "$work/system/served" ] || socket=$work/system${socket#/tmp}
	sockets+=("$socket")
	versions+=("$version")
done

# --- the queries

# queries ROWS hpsort|core: a line each: name, tab, SQL
queries()
{
	# A cursor reads all rows and sends them nowhere.
	printf 'order\tDO $$ DECLARE c NO SCROLL CURSOR FOR SELECT * FROM t%d ORDER BY y; BEGIN OPEN c; MOVE FORWARD ALL FROM c; CLOSE c; END $$\n' "$1"
	if [ "$2" = hpsort ]; then
		printf "percentile\tSELECT a[ceil(0.5 * cardinality(a))::int] FROM (SELECT hpsort_column_array('t%d', 'y') AS a OFFSET 0) s\n" "$1"
		printf "array\tSELECT cardinality(a), a[1], a[1 + cardinality(a) / 3] FROM (SELECT hpsort_column_array('t%d', 'y') AS a OFFSET 0) s\n" "$1"
	else
		printf 'percentile\tSELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM t%d\n' "$1"
		printf 'array\tSELECT cardinality(a), a[1], a[1 + cardinality(a) / 3] FROM (SELECT array_agg(y ORDER BY y) AS a FROM t%d OFFSET 0) s\n' "$1"
	fi
}

# run_postgres SOCKET hpsort|core ROWS LOOPS: lines of query, answer and ms
run_postgres()
{
	local name sql i options=

	[ "$2" = core ] || options='-c session_preload_libraries=hpsort'
	{
		# What a session learns with its first queries is not the queries' time.
		echo '\o /dev/null'
		echo "EXPLAIN SELECT * FROM t$3 ORDER BY y;"
		queries "$3" "$2" | sed -n 's/^[a-z]*\tSELECT \(.*\)/EXPLAIN SELECT \1;/p'
		echo '\o'
		while IFS=$'\t' read -r name sql; do
			printf '\\echo @%s\n\\timing on\n' "$name"
			for ((i = 0; i < $4; i++)); do
				echo "$sql;"
			done
			echo '\timing off'
		done < <(queries "$3" "$2")
	} >"$work/session.sql"
	PGHOST=$1 PGPORT=5432 PGUSER=postgres PGDATABASE=postgres PGOPTIONS=$options LD_LIBRARY_PATH=$psql_libdir \
		"$psql" -qXAt -F ' ' -v ON_ERROR_STOP=1 -f "$work/session.sql" >"$work/session.out" || die "failed: see above"
	awk '/^@/ { query = substr($0, 2); answer = "-"; next }
		/^Time: / { print query "\t" answer "\t" $2; next }
		/^Timing / { next }
		{ answer = $0 }' OFS='\t' "$work/session.out"
}

python=
for python in "$root/build/duckdb/bin/python" python3 ''; do
	[ -z "$python" ] || ! "$python" -c 'import duckdb' 2>/dev/null || break
done
[ -n "$python" ] || echo "DuckDB is not measured: no Python with duckdb" >&2

# --- rounds

out=$root/build/bench
mkdir -p "$out"
rm -f "$work/times"
# took CONTENDER ROWS: what it ran, from standard input, goes to the others' times
took()
{
	sed "s/^/$1\t$2\t/" >>"$work/times"
}

hpsort="hpsort on PostgreSQL ${versions[-1]}"
for n in $rows; do
	loops=$((1000000 / n))
	[ "$loops" -ge 1 ] || loops=1
	echo "$n rows" >&2
	for ((round = 0; round < reps; round++)); do
		for i in "${!sockets[@]}"; do
			run_postgres "${sockets[i]}" core "$n" "$loops" | took "PostgreSQL ${versions[i]}" "$n"
		done
		run_postgres "${sockets[-1]}" hpsort "$n" "$loops" | took "$hpsort" "$n"
		[ -z "$python" ] || "$python" "$root/bench/picture/duckdb_times.py" "$n" "$loops" >"$work/duckdb"
		[ -z "$python" ] || sed 1d "$work/duckdb" | took "$(head -1 "$work/duckdb")" "$n"
	done
done

# The order's rows are not compared: test/ does that.
differ=$(cut -f2-4 "$work/times" | sort -u | cut -f1-2 | uniq -d)
[ -z "$differ" ] || { sort -u -k2,3 "$work/times" >&2; die "answers differ: $differ"; }

{
	echo "# $command --rows \"$rows\" --reps $reps"
	machine
	echo "# $(gcc --version | head -1); $(IFS=,; echo "PostgreSQL ${versions[*]}" | sed 's/,/, /g')${python:+; $(head -1 "$work/duckdb")}"
	echo "query,contender,rows,runs,median_ms,min_ms,max_ms"
	sort -s -t$'\t' -k3,3 -k1,1 -k2,2n -k5,5g "$work/times" | awk -F'\t' '
		function put()
		{
			if (n)
				printf "%s,%d,%.3f,%.3f,%.3f\n", key, n, n % 2 ? ms[(n + 1) / 2] : (ms[n / 2] + ms[n / 2 + 1]) / 2, ms[1], ms[n]
			n = 0
		}
		{ this = $3 "," $1 "," $2; if (this != key) put(); key = this; ms[++n] = $5 }
		END { put() }'
} >"$out/picture.csv"
grep -v '^#' "$out/picture.csv" | column -s, -t
if [ -n "$save" ]; then
	saved=bench/results/$(date -u +%Y-%m-%d)-$(cpu_name)-picture.csv
	cp "$out/picture.csv" "$root/$saved"
	echo "saved to $saved; bench/picture/draw.py draws it"
fi
