#!/bin/bash
#
# order_planning.sh: what a loaded hpsort adds to planning: of queries that it
# does not touch, which sort nothing, or little, or text; and of those for which
# it makes paths of its own, whether they are taken or not.
#
#	order_planning.sh [--reps N] [--out DIR]
#
# Writes order_planning.csv to DIR (build/bench): for each query the instructions that
# the planner takes, without the library and with it, counted by valgrind in a backend of its
# own: the same in every run, whatever else the machine does.  With --reps, the
# planner's time as well: the smallest of 3,000 in a session, in microseconds, medians
# over N sessions with and N without the library, in turn.
#
# Fails if a query that hpsort does not touch takes 1 % more instructions.

set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

reps=0
take_options "reps= out=" "$@"

begin_bench
command -v valgrind >/dev/null || need_packages valgrind
start_server jit=off max_parallel_workers_per_gather=0 shared_preload_libraries=pg_stat_statements \
	pg_stat_statements.track=all pg_stat_statements.track_planning=on

run_psql <<'SQL'
CREATE EXTENSION pg_stat_statements;
-- in a locale of the C library, whose texts HpSort does not map
CREATE TABLE customers (id int PRIMARY KEY, name text COLLATE "C.utf8", city text COLLATE "C.utf8");
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

# "-": not touched; "+": a node of hpsort's is a choice, or would be with more rows
queries=(
	"- SELECT 1"
	"- SELECT * FROM customers WHERE id = 1"
	"- SELECT * FROM customers"
	"+ SELECT count(*) FROM orders WHERE total > 10"
	"+ SELECT city, count(*) FROM customers GROUP BY city"
	"+ SELECT * FROM customers ORDER BY name LIMIT 10"
	"+ SELECT * FROM orders WHERE day = date '2024-02-01' ORDER BY id"
	"+ SELECT * FROM orders WHERE day = date '2024-02-01' AND customer < 100"
	"+ SELECT * FROM orders WHERE total + 1 = customer"
	"- SELECT * FROM products WHERE price > 10"
	"- INSERT INTO customers VALUES (0, 'name', 'city')"
	"- UPDATE orders SET total = total + 1 WHERE id = 5"
	"- DELETE FROM items WHERE orderid = 3 AND product = 2"
	"- SELECT o.id, c.name FROM orders o JOIN customers c ON c.id = o.customer WHERE o.id = 10"
	"+ SELECT c.name, sum(i.amount * p.price) FROM customers c JOIN orders o ON o.customer = c.id JOIN items i ON i.orderid = o.id JOIN products p ON p.id = i.product WHERE c.name = 'name 7' AND i.amount = 2 GROUP BY c.name"
	"+ SELECT city, max(name) FROM customers GROUP BY city"
	"+ SELECT sum(total), avg(total) FROM orders"
	"+ SELECT count(DISTINCT city) FROM customers"
	"+ SELECT DISTINCT city FROM customers"
	"+ SELECT c.city, max(o.total) FROM orders o JOIN customers c ON c.id = o.customer WHERE o.id = 10 GROUP BY c.city"
	"+ SELECT * FROM customers ORDER BY id"
	"+ SELECT * FROM customers ORDER BY name COLLATE \"C\""
	"+ SELECT * FROM orders ORDER BY day, total"
	"+ SELECT * FROM orders ORDER BY day LIMIT 10"
	"+ SELECT customer, count(*) FROM orders GROUP BY customer"
	"+ SELECT day, sum(customer), avg(id), count(*) FROM orders WHERE customer > 10 GROUP BY day ORDER BY day"
	"+ SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY id) FROM orders"
	"+ SELECT customer, percentile_disc(0.5) WITHIN GROUP (ORDER BY id) FROM orders GROUP BY customer"
	"+ SELECT count(DISTINCT customer) FROM orders"
	"+ SELECT array_agg(customer ORDER BY customer) FROM orders"
	"+ SELECT DISTINCT day FROM orders"
	"+ SELECT c.name, sum(i.amount * p.price) FROM customers c JOIN orders o ON o.customer = c.id JOIN items i ON i.orderid = o.id JOIN products p ON p.id = i.product GROUP BY c.name"
	# below joins, and chains of joins
	"+ SELECT * FROM orders o JOIN customers c ON c.id = o.customer ORDER BY o.day LIMIT 10"
	"+ SELECT * FROM orders o LEFT JOIN customers c ON c.id = o.customer ORDER BY o.day LIMIT 10"
	"+ SELECT * FROM (SELECT o.id, c.name, row_number() OVER (PARTITION BY o.customer ORDER BY o.day) n FROM orders o LEFT JOIN customers c ON c.id = o.customer) s WHERE n <= 3"
	"+ SELECT DISTINCT ON (o.customer) o.id, c.name FROM orders o LEFT JOIN customers c ON c.id = o.customer ORDER BY o.customer, o.day"
	"- SELECT * FROM orders o FULL JOIN customers c ON c.id = o.customer"
	"+ SELECT * FROM orders o FULL JOIN customers c ON c.id = o.customer ORDER BY o.day LIMIT 10"
	"+ SELECT i.amount, c.name, p.name FROM items i JOIN products p ON p.id = i.product JOIN orders o ON o.id = i.orderid JOIN customers c ON c.id = o.customer ORDER BY i.amount LIMIT 10"
	"+ SELECT i.amount, c.name, p.name FROM items i JOIN products p ON p.id = i.product JOIN orders o ON o.id = i.orderid JOIN customers c ON c.id = o.customer JOIN customers d ON d.id = i.amount JOIN products q ON q.id = i.amount ORDER BY i.amount LIMIT 10"
)

# count_instructions LIBRARY: a line for each query, in order.  Each is planned six
# times, so that the caches are filled; the smallest count of the last three is
# it.  Less what malloc takes, whose way depends on all that was done before.
count_instructions()
{
	local dir=$work/count-${1:-none} query at part parts

	mkdir "$dir"
	chown "${test_user:-$(id -un)}" "$dir"
	for query in "${queries[@]}"; do
		for ((at = 0; at < 6; at++)); do
			echo "EXPLAIN ${query:2}"
		done
	done >"$dir/sql"
	# A part of the profile ends whenever planner() returns, and has it alone.
	as_user valgrind --tool=callgrind --toggle-collect=planner --dump-after=planner --callgrind-out-file="$dir/part" \
		"$bindir/postgres" --single -D "$data" -c shared_preload_libraries= -c session_preload_libraries="$1" postgres \
		<"$dir/sql" >"$dir/log" 2>&1 || { tail -20 "$dir/log" >&2; return 1; }
	parts=$(ls "$dir" | grep -c '^part\.')
	[ "$parts" = $((6 * ${#queries[@]})) ] || die "planner() was called $parts times, not $((6 * ${#queries[@]}))"
	for ((at = 4; at <= parts; at += 6)); do
		for part in $at $((at + 1)) $((at + 2)); do
			callgrind_annotate --show-percs=no --threshold=100 "$dir/part.$part" |
				awk '{ gsub(/,/, "") } /PROGRAM TOTALS/ { total = $1 } /malloc\.c:/ { malloc += $1 } END { print total - malloc }'
		done | sort -n | head -1
	done
}

# time_planning QUERY: microseconds without and with the library.
time_planning()
{
	local i library

	: >"$work/times"
	for ((i = 0; i < reps; i++)); do
		for library in hpsort ""; do
			PGOPTIONS="-c session_preload_libraries=$library" run_psql -c "SELECT planning(\$q\$$1\$q\$, 3000)" |
				sed "s/^/${library:-none} /" >>"$work/times"
		done
	done
	awk '
		function median(v, n,    i, j, t) {
			for (i = 2; i <= n; i++)
				for (j = i; j > 1 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
			return v[int((n + 1) / 2)]
		}
		$1 == "none" { b[++nb] = $2 }
		$1 != "none" { a[++na] = $2 }
		END { if (na) printf ",%.2f,%.2f", median(b, nb) * 1000, median(a, na) * 1000; else printf ",," }' "$work/times"
}

csv=$out/order_planning.csv
times=()
for query in "${queries[@]}"; do
	times+=("$(time_planning "${query:2}")")
done
as_user "$bindir/pg_ctl" -D "$data" -m fast -s stop
count_instructions "" >"$work/without"
count_instructions hpsort >"$work/with"
echo "$version" >"$out/postgres_version"
echo "query,touched,instructions_without,instructions_with,percent,us_without,us_with" >"$csv"
at=0
paste -d' ' "$work/without" "$work/with" | while read -r without with; do
	query=${queries[$at]}
	awk -v touched="${query:0:1}" -v query="${query:2}" -v without="$without" -v with="$with" -v times="${times[$at]}" '
		BEGIN {
			gsub(/,/, " ", query)
			printf "%s,%s,%d,%d,%+.2f%s\n", query, touched == "+" ? "yes" : "no", without, with, (with / without - 1) * 100, times
		}'
	at=$((at + 1))
done | tee -a "$csv" >&2
awk -F, '$2 == "no" && $5 >= 1 { print "1 % or more: " $1; bad = 1 } END { exit bad }' "$csv"
