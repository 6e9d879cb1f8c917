#!/bin/bash
#
# order_planning.sh: what a loaded hpsort adds to planning: of queries that it
# does not touch, which sort nothing, or little, or text; and of those for which
# it makes paths of its own, whether they are taken or not.
#
#	order_planning.sh [--reps N] [--out DIR]
#
# Writes order_planning.csv to DIR (build/bench).  The planner's own time of each
# query in microseconds, from pg_stat_statements: the smallest of 3,000 in a
# session, medians over N sessions with and N without the library, in turn.

set -euo pipefail

reps=15
out=
while [ $# -gt 0 ]; do
	case $1 in
		--reps) reps=$2; shift ;;
		--out) out=$2; shift ;;
		*) echo "usage: order_planning.sh [--reps N] [--out DIR]" >&2; exit 2 ;;
	esac
	shift
done

. "$(dirname "${BASH_SOURCE[0]}")/../test/lib.sh"

out=${out:-$root/build/bench}
mkdir -p "$out"
use_working_tree
start_server jit=off max_parallel_workers_per_gather=0 shared_preload_libraries=pg_stat_statements \
	pg_stat_statements.track=all pg_stat_statements.track_planning=on

run_psql()
{
	"$bindir/psql" -qXAt -v ON_ERROR_STOP=1 "$@"
}

run_psql <<'SQL'
CREATE EXTENSION pg_stat_statements;
CREATE TABLE customers (id int PRIMARY KEY, name text, city text);
CREATE TABLE orders (id int PRIMARY KEY, customer int, day date, total numeric);
CREATE TABLE items (orderid int, product int, amount int, PRIMARY KEY (orderid, product));
CREATE TABLE products (id int PRIMARY KEY, name text, price numeric);
INSERT INTO customers SELECT i, 'name ' || i, 'city ' || i % 100 FROM generate_series(1, 20000) i;
INSERT INTO orders SELECT i, i % 20000, date '2024-01-01' + i % 365, i FROM generate_series(1, 100000) i;
INSERT INTO items SELECT i, j, j FROM generate_series(1, 50000) i, generate_series(1, 3) j;
INSERT INTO products SELECT i, 'product ' || i, i FROM generate_series(1, 1000) i;
VACUUM ANALYZE;
CREATE FUNCTION planning(query text, n int) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	c refcursor;
	result float8;
BEGIN
	PERFORM pg_stat_statements_reset();
	-- planned, not run
	FOR i IN 1 .. n LOOP
		OPEN c FOR EXECUTE query;
		CLOSE c;
	END LOOP;
	SELECT min(s.min_plan_time) INTO result FROM pg_stat_statements s WHERE s.plans >= n;
	RETURN result;
END $$;
SQL

queries=(
	"SELECT * FROM customers WHERE id = 1"
	"SELECT count(*) FROM orders WHERE total > 10"
	"SELECT city, count(*) FROM customers GROUP BY city"
	"SELECT * FROM customers ORDER BY name LIMIT 10"
	"SELECT * FROM customers ORDER BY id"
	"SELECT * FROM orders ORDER BY day, total"
	"SELECT c.name, sum(i.amount * p.price) FROM customers c JOIN orders o ON o.customer = c.id JOIN items i ON i.orderid = o.id JOIN products p ON p.id = i.product WHERE c.id = 7 GROUP BY c.name"
)
csv=$out/order_planning.csv
echo "query,with_us,without_us,percent" >"$csv"
for query in "${queries[@]}"; do
	: >"$work/times"
	for ((i = 0; i < reps; i++)); do
		for library in hpsort ""; do
			PGOPTIONS="-c session_preload_libraries=$library" run_psql -c "SELECT planning('$query', 3000)" |
				sed "s/^/${library:-none} /" >>"$work/times"
		done
	done
	awk -v query="$query" '
		function median(v, n,    i, j, t) {
			for (i = 2; i <= n; i++)
				for (j = i; j > 1 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
			return v[int((n + 1) / 2)]
		}
		$1 == "none" { b[++nb] = $2 }
		$1 != "none" { a[++na] = $2 }
		END {
			x = median(a, na) * 1000; y = median(b, nb) * 1000
			gsub(/,/, " ", query)
			printf "%s,%.2f,%.2f,%+.1f\n", query, x, y, (x / y - 1) * 100
		}' "$work/times" | tee -a "$csv" >&2
done
