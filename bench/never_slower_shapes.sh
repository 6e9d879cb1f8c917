# never_slower_shapes.sh: the queries of never_slower.sh, about the tables of sql/never_slower.sql.  Sourced by that script, whose
# function shape takes each: shape NAME SQL [SETTING=VALUE...].  A query returns the same rows whatever its plan: where LIMIT cuts
# between peers, or a list depends on the order of rows, a last key decides.

# Each type, both directions, NULLs, several keys, expressions; all rows.
shapes_order()
{
	local key where

	for key in id at seen day user_id order_id x2 x100 x10k x1m s flag f8 price num u status city label gaps skew; do
		shape "order by $key" "SELECT id, label, $key FROM events ORDER BY $key"
	done
	for key in "at DESC" "x1m DESC" "price DESC" "label DESC" "city DESC" "f8 DESC" "gaps DESC" "gaps NULLS FIRST" "gaps DESC NULLS LAST"; do
		shape "order by $key" "SELECT * FROM events ORDER BY $key"
	done
	for key in x2,x100 x100,at day,x1m status,at city,price x10k,label gaps,id "user_id,at DESC" skew,x1m x2,x100,x10k,s "status DESC,city,x100" u,id; do
		shape "order by ${key//,/ and }" "SELECT * FROM events ORDER BY $key"
	done
	for key in x100 x1m user_id at day f8 price label; do
		shape "order by $key alone" "SELECT $key FROM events ORDER BY $key"
	done
	for key in "x1m % 100" "lower(label)" "at::date, x1m" "-x1m" "date_trunc('day', at)" "extract(hour FROM at)" "flag, x1m / 10"; do
		shape "order by expression ${key//,/ and}" "SELECT id, at, x1m FROM events ORDER BY $key"
	done
	for where in "x100 < 1" "x100 < 10" "x100 < 50" "x100 < 90" "status = 'new'" "at >= '2025-06-01'" "label LIKE 'a%'" "price > 500"; do
		shape "where ${where//[\'%]/} order by at" "SELECT id, at, x1m FROM events WHERE $where ORDER BY at"
	done
	for key in event_time client_ip user_id counter "region, event_time"; do
		shape "wide order by ${key//,/ and}" "SELECT * FROM wide WHERE class < 3 ORDER BY $key"
	done
	shape "wide order by watch_id, few columns" "SELECT watch_id, title, url FROM wide ORDER BY watch_id"
}

# The first rows.
shapes_first()
{
	local key limit where

	for key in at x1m,id user_id,id f8,id price,id u label,id x100,id status,at city,label,id "at DESC" "gaps DESC NULLS LAST,id" day,id; do
		shape "first 10 by ${key//,/ and }" "SELECT * FROM events ORDER BY ${key%,id}, id LIMIT 10"
	done
	for key in at x1m x100 label; do
		shape "first 1000 by $key" "SELECT * FROM events ORDER BY $key, id LIMIT 1000"
		shape "from 5000 on 20 by $key" "SELECT * FROM events ORDER BY $key, id LIMIT 20 OFFSET 5000"
	done
	for where in "x100 < 1" "x100 < 50" "status = 'new'" "tens = 3 AND s < 100" "label LIKE 'a%'" "odd(x100)" "label <> ''"; do
		shape "where ${where//[\'%]/} first 10 by at" "SELECT * FROM events WHERE $where ORDER BY at, id LIMIT 10"
	done
	shape "wide where phrase first 10 by time" "SELECT phrase, watch_id FROM wide WHERE phrase <> '' ORDER BY event_time, watch_id LIMIT 10"
	shape "wide where phrase first 10 by phrase" "SELECT phrase FROM wide WHERE phrase <> '' ORDER BY phrase LIMIT 10"
	shape "wide where phrase first 10 by time and phrase" "SELECT phrase FROM wide WHERE phrase <> '' ORDER BY event_time, phrase LIMIT 10"
	shape "wide where url first 10 by time" "SELECT * FROM wide WHERE url LIKE '%/77/%' ORDER BY event_time, watch_id LIMIT 10"
	shape "wide first 10 by time" "SELECT * FROM wide ORDER BY event_time, watch_id LIMIT 10"
	shape "cursor 100 of order by x1m" "FETCH 100 OF SELECT * FROM events ORDER BY x1m, id"
	shape "cursor 100 of order by label" "FETCH 100 OF SELECT * FROM events ORDER BY label, id"
	shape "cursor 10 of groups by day" "FETCH 10 OF SELECT day, count(*) FROM events GROUP BY day ORDER BY day"
	shape "cursor 10 of groups by x1m" "FETCH 10 OF SELECT x1m, count(*) FROM events GROUP BY x1m ORDER BY x1m"
}

# Groups by columns: one to three, of few values and many; their aggregates.
shapes_groups()
{
	local key

	for key in x2 x100 x10k x1m s flag day user_id order_id gaps skew at f8 price status city label; do
		shape "groups by $key" "SELECT $key, count(*) FROM events GROUP BY $key"
	done
	for key in x100 x10k x1m day user_id order_id status city; do
		shape "sums by $key" "SELECT $key, count(*), sum(x1m), min(s), max(s) FROM events GROUP BY $key"
		shape "averages by $key" "SELECT $key, avg(f8), sum(price) FROM events GROUP BY $key"
	done
	for key in x2,x100 x100,x10k day,x100 day,status city,status x10k,s user_id,x2 x100,gaps order_id,x2 x100,x10k,x1m day,x2,status x2,x100,s; do
		shape "groups by ${key//,/ and }" "SELECT $key, count(*), sum(x1m) FROM events GROUP BY $key"
	done
	shape "groups in order" "SELECT x10k, sum(s) FROM events GROUP BY x10k ORDER BY x10k"
	shape "groups, the largest" "SELECT user_id, count(*) FROM events GROUP BY user_id ORDER BY count(*) DESC, user_id LIMIT 10"
	shape "groups, having" "SELECT order_id, count(*) FROM events GROUP BY order_id HAVING count(*) > 2"
	shape "groups of many columns, having" "SELECT x10k, x100, sum(s) FROM events GROUP BY x10k, x100 HAVING sum(s) > 1900"
	shape "groups by day, few rows" "SELECT day, count(*), sum(s) FROM events WHERE x100 = 7 GROUP BY day"
	shape "groups by day, half of the rows" "SELECT day, count(*), sum(s) FROM events WHERE x2 = 1 GROUP BY day"
	shape "groups by day, most rows" "SELECT day, count(*), sum(s) FROM events WHERE status <> 'returned' GROUP BY day"
	shape "groups by day, of a text" "SELECT day, count(*) FROM events WHERE city = 'city 77' GROUP BY day"
	shape "filters" "SELECT x100, count(*) FILTER (WHERE x2 = 1), sum(x1m) FILTER (WHERE s < 50) FROM events GROUP BY x100"
}

# Groups by expressions.
shapes_expressions()
{
	local key

	for key in "date_trunc('hour', at)" "date_trunc('day', at)" "date_trunc('week', at)" "date_trunc('month', at)" "at::date" "seen::date" \
		"date_trunc('day', seen)" "extract(year FROM at)" "extract(hour FROM at)" "extract(dow FROM seen)" "date_bin('5 min', at, '2024-01-01')" \
		"date_bin('1 hour', at, '2024-01-01')" "x1m / 1000" "x1m / 7" "x1m % 10" "user_id % 10" "x10k + 1" "abs(s - 250)" "x1m > 500000" "lower(status)"; do
		shape "groups by ${key//,/ of}" "SELECT $key, count(*) FROM events GROUP BY 1"
	done
	for key in "date_trunc('hour', at)" "at::date" "extract(hour FROM at)" "date_bin('5 min', at, '2024-01-01')" "x1m / 1000"; do
		shape "averages by ${key//,/ of}" "SELECT $key, avg(f8) FROM events GROUP BY 1"
		shape "different users by ${key//,/ of}" "SELECT $key, count(DISTINCT user_id) FROM events GROUP BY 1"
	done
	shape "groups by day of at and status" "SELECT date_trunc('day', at), status, count(*) FROM events GROUP BY 1, 2"
	shape "groups by day of at and hour" "SELECT at::date, extract(hour FROM at), count(*), sum(x1m) FROM events GROUP BY 1, 2"
	shape "groups by year and two columns" "SELECT extract(year FROM at), x10k, x100, count(*) FROM events GROUP BY 1, 2, 3"
	shape "groups by year and label" "SELECT extract(year FROM at), label, count(*) FROM events GROUP BY 1, 2"
	shape "groups by month in order" "SELECT date_trunc('month', at) AS m, sum(price), count(DISTINCT user_id) FROM events GROUP BY m ORDER BY m"
	shape "groups by four expressions" "SELECT x1m, x1m - 1, x1m - 2, x1m - 3, count(*) FROM events GROUP BY 1, 2, 3, 4"
	shape "groups by expressions, some rows" "SELECT at::date, count(*) FROM events WHERE tens = 3 GROUP BY 1"
}

# Wide rows.
shapes_wide()
{
	local key

	for key in user_id client_ip url phrase phone,model watch_id,client_ip user_id,phrase region,user_id client_ip,region counter; do
		shape "wide groups by ${key//,/ and }" "SELECT $key, count(*) FROM wide GROUP BY $key"
		shape "wide largest groups by ${key//,/ and }" "SELECT $key, count(*) FROM wide GROUP BY $key ORDER BY count(*) DESC, $key LIMIT 10"
	done
	shape "wide adv_id" "SELECT adv_id, count(*) FROM wide WHERE adv_id <> 0 GROUP BY adv_id ORDER BY count(*) DESC, adv_id"
	shape "wide users by region" "SELECT region, count(DISTINCT user_id) AS u FROM wide GROUP BY region ORDER BY u DESC, region LIMIT 10"
	shape "wide aggregates by region" "SELECT region, sum(adv_id), count(*), avg(resolution), count(DISTINCT user_id) FROM wide GROUP BY region"
	shape "wide users by model" "SELECT model, count(DISTINCT user_id) AS u FROM wide WHERE model <> '' GROUP BY model ORDER BY u DESC, model LIMIT 10"
	shape "wide users by phrase" "SELECT phrase, count(DISTINCT user_id) AS u FROM wide WHERE phrase <> '' GROUP BY phrase ORDER BY u DESC, phrase LIMIT 10"
	shape "wide four expressions of client_ip" "SELECT client_ip, client_ip - 1, client_ip - 2, client_ip - 3, count(*) AS c FROM wide GROUP BY 1, 2, 3, 4 ORDER BY c DESC, 1 LIMIT 10"
	shape "wide user, minute, phrase" "SELECT user_id, extract(minute FROM event_time) AS m, phrase, count(*) FROM wide GROUP BY 1, 2, 3 ORDER BY count(*) DESC, 1, 2, 3 LIMIT 10"
	shape "wide length of url" "SELECT counter, avg(length(url)), count(*) AS c FROM wide WHERE url <> '' GROUP BY counter HAVING count(*) > 10 ORDER BY 2 DESC, 1 LIMIT 25"
	shape "wide thirty sums" "SELECT $(for key in {1..29}; do printf 'sum(resolution + %s), ' "$key"; done) sum(resolution) FROM wide"
	shape "wide watch and ip, sums" "SELECT watch_id, client_ip, count(*) AS c, sum(java), avg(resolution) FROM wide WHERE phrase <> '' GROUP BY 1, 2 ORDER BY c DESC, 1, 2 LIMIT 10"
	shape "wide by minute" "SELECT date_trunc('minute', event_time) AS m, count(*) FROM wide WHERE counter < 300 AND java = 1 GROUP BY m ORDER BY m LIMIT 10 OFFSET 100"
	shape "wide by date, few rows" "SELECT event_date, count(*) FROM wide WHERE counter = 62 AND adv_id = 0 GROUP BY 1"
	shape "wide one user" "SELECT user_id FROM wide WHERE user_id = 435090932899640449"
	shape "wide different users" "SELECT count(DISTINCT user_id) FROM wide"
	shape "wide different phrases" "SELECT count(DISTINCT phrase) FROM wide"
	shape "wide smallest date" "SELECT min(event_date), max(event_date) FROM wide"
	shape "wide last column" "SELECT last_one, count(*), sum(c86) FROM wide GROUP BY last_one"
}

# Aggregates of all rows, and by group, that want values in order.
shapes_aggregates()
{
	local key

	for key in x100 x1m user_id at day f8 price u label; do
		shape "different $key" "SELECT count(DISTINCT $key) FROM events"
	done
	for key in x1m price f8 at label; do
		shape "median of $key" "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY $key) FROM events"
	done
	for key in "count(*)" "sum(x1m), avg(s)" "min(at), max(at)" "avg(f8)" "percentile_cont(ARRAY[0.1, 0.9]) WITHIN GROUP (ORDER BY x1m)" \
		"percentile_cont(0.5) WITHIN GROUP (ORDER BY f8)" "mode() WITHIN GROUP (ORDER BY x100)" "mode() WITHIN GROUP (ORDER BY label)" "array_agg(x1m ORDER BY x1m)" \
		"string_agg(label, ',' ORDER BY label)" "stddev(s)" "count(*) FILTER (WHERE x100 < 10), sum(s) FILTER (WHERE x2 = 1)" "array_agg(DISTINCT x10k)"; do
		shape "all ${key//,/ and}" "SELECT $key FROM events"
	done
	for key in x100 x10k day city status order_id; do
		shape "median by $key" "SELECT $key, percentile_disc(0.5) WITHIN GROUP (ORDER BY x1m) FROM events GROUP BY $key"
		shape "different by $key" "SELECT $key, count(DISTINCT x10k) FROM events GROUP BY $key"
	done
	for key in "percentile_cont(0.5) WITHIN GROUP (ORDER BY f8)" "percentile_disc(0.5) WITHIN GROUP (ORDER BY price)" "mode() WITHIN GROUP (ORDER BY s)" \
		"array_agg(x1m ORDER BY x1m DESC)" "string_agg(label, ',' ORDER BY label)" "stddev(s)" "count(DISTINCT u)" "count(DISTINCT label)" "percentile_disc(0.9) WITHIN GROUP (ORDER BY at)"; do
		shape "by x100 ${key//,/ and}" "SELECT x100, $key FROM events GROUP BY x100"
	done
	shape "array_agg in order by small groups" "SELECT (id - 1) / 10 AS g, array_agg(x1m ORDER BY x1m) FROM events GROUP BY g"
	shape "median by two columns" "SELECT x100, x2, percentile_disc(0.5) WITHIN GROUP (ORDER BY s) FROM events GROUP BY 1, 2"
	shape "median, some rows" "SELECT x100, percentile_disc(0.5) WITHIN GROUP (ORDER BY x1m) FROM events WHERE status = 'paid' GROUP BY x100"
}

# Different rows, windows, joins, sets.
shapes_other()
{
	local key

	for key in x100 x1m user_id status label x100,s day,status at::date x10k,x1m "x1m / 1000" price; do
		shape "distinct ${key//,/ and }" "SELECT DISTINCT $key FROM events"
	done
	for key in x100 user_id city order_id; do
		shape "distinct on $key" "SELECT DISTINCT ON ($key) $key, at, id FROM events ORDER BY $key, at, id"
	done
	for key in x100 x10k user_id city; do
		shape "rank of three by $key" "SELECT * FROM (SELECT id, $key, rank() OVER (PARTITION BY $key ORDER BY x1m DESC) AS r FROM events) q WHERE r <= 3"
		shape "first row by $key" "SELECT * FROM (SELECT id, $key, at, row_number() OVER (PARTITION BY $key ORDER BY at, id) AS r FROM events) q WHERE r <= 1"
	done
	for key in "dense_rank() OVER (PARTITION BY x100 ORDER BY x1m)" "sum(s) OVER (PARTITION BY x10k)" "lag(at) OVER (PARTITION BY user_id ORDER BY at, id)" \
		"row_number() OVER (ORDER BY at, id)" "sum(s) OVER (PARTITION BY x100 ORDER BY at, id)" "ntile(4) OVER (ORDER BY price, id)"; do
		shape "window ${key//,/ and}" "SELECT id, $key FROM events"
	done
	shape "merge join by id" "SELECT count(*) FROM events a JOIN kept b ON a.order_id = b.order_id" enable_hashjoin=off enable_nestloop=off
	shape "merge join by user" "SELECT count(*), sum(a.s) FROM events a JOIN users u USING (user_id)" enable_hashjoin=off enable_nestloop=off
	shape "merge join in order" "SELECT a.order_id, a.id, b.quantity FROM events a JOIN items b ON a.order_id = b.order_id ORDER BY a.order_id"
	shape "join with items" "SELECT count(*), sum(b.quantity * a.x100) FROM events a JOIN items b USING (order_id) WHERE a.x2 = 1"
	shape "star join by category" "SELECT category, sum(price), count(*) FROM events JOIN products USING (x10k) GROUP BY category"
	shape "star join by country" "SELECT country, segment, sum(s), avg(f8) FROM events JOIN users USING (user_id) GROUP BY 1, 2"
	shape "star join, median" "SELECT category, percentile_disc(0.5) WITHIN GROUP (ORDER BY x1m) FROM events JOIN products USING (x10k) GROUP BY category"
	shape "star join in order" "SELECT id, category, at FROM events JOIN products USING (x10k) ORDER BY at"
	shape "star join, first 10" "SELECT id, category, at FROM events JOIN products USING (x10k) WHERE category = 'category 7' ORDER BY at, id LIMIT 10"
	shape "semijoin, groups" "SELECT day, count(*) FROM events WHERE user_id IN (SELECT user_id FROM users WHERE country = 7) GROUP BY day"
	shape "union" "SELECT x100, s FROM events UNION SELECT x100, s FROM kept"
	shape "union all in order" "SELECT id, at FROM events UNION ALL SELECT id, at FROM kept ORDER BY at"
	shape "intersect" "SELECT x1m FROM events INTERSECT SELECT x10k FROM kept"
	shape "except" "SELECT user_id FROM events EXCEPT SELECT user_id FROM users WHERE country < 20"
	shape "rollup" "SELECT x100, s, count(*), sum(x1m) FROM events GROUP BY ROLLUP (x100, s)"
	shape "rollup of text" "SELECT status, x100, count(*) FROM events GROUP BY ROLLUP (status, x100)"
	shape "cube" "SELECT x2, tens, flag, sum(s) FROM events GROUP BY CUBE (x2, tens, flag)"
	shape "grouping sets" "SELECT x100, day, count(*) FROM events GROUP BY GROUPING SETS ((x100), (day), ())"
	shape "subquery with groups" "SELECT n, count(*) FROM (SELECT user_id, count(*) AS n FROM events GROUP BY user_id) q GROUP BY n"
	shape "correlated maximum" "SELECT count(*) FROM small a WHERE s = (SELECT max(s) FROM middle b WHERE b.x100 = a.x100 AND b.x2 = a.x2)"
}

# What the planner misjudges: conditions that go together, old statistics, functions.
shapes_misjudged()
{
	local where

	for where in "x100 < 10 AND tens = 0" "x100 < 10 AND tens = 1" "x1m % 7 = 0" "odd(x1m)" "abs(x1m - 500000) < 400000" "label || city > 'f'"; do
		shape "misjudged order: ${where//\'/}" "SELECT * FROM events WHERE $where ORDER BY x1m"
		shape "misjudged groups: ${where//\'/}" "SELECT x10k, count(*), sum(s) FROM events WHERE $where GROUP BY x10k"
		shape "misjudged averages: ${where//\'/}" "SELECT x1m / 100, avg(f8) FROM events WHERE $where GROUP BY 1"
	done
	for where in stale fresh; do
		shape "$where order" "SELECT * FROM $where ORDER BY x1m"
		shape "$where first 10" "SELECT * FROM $where ORDER BY at, id LIMIT 10"
		shape "$where groups" "SELECT user_id, count(*), sum(s) FROM $where GROUP BY user_id"
		shape "$where groups by two" "SELECT x100, x1m, count(*) FROM $where GROUP BY x100, x1m"
		shape "$where averages" "SELECT status, city, avg(f8) FROM $where GROUP BY 1, 2"
		shape "$where median" "SELECT x100, percentile_disc(0.5) WITHIN GROUP (ORDER BY x1m) FROM $where GROUP BY x100"
		shape "$where different" "SELECT count(DISTINCT user_id) FROM $where WHERE x100 = 1"
	done
}

# Small tables, and partitions.
shapes_small()
{
	local t

	for t in tiny small middle; do
		shape "$t order" "SELECT * FROM $t ORDER BY x1m, id"
		shape "$t order by label" "SELECT id, label FROM $t ORDER BY label"
		shape "$t first 10" "SELECT * FROM $t ORDER BY at LIMIT 10"
		shape "$t groups" "SELECT x100, count(*), sum(s) FROM $t GROUP BY x100"
		shape "$t groups by day of at" "SELECT at::date, count(*) FROM $t GROUP BY 1"
		shape "$t median" "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY x1m) FROM $t"
		shape "$t different" "SELECT count(DISTINCT x1m) FROM $t"
		shape "$t distinct" "SELECT DISTINCT status FROM $t"
		shape "$t rank" "SELECT * FROM (SELECT id, x2, rank() OVER (PARTITION BY x2 ORDER BY x1m) AS r FROM $t) q WHERE r <= 3"
	done
	shape "parts order" "SELECT * FROM parts ORDER BY at"
	shape "parts order by x1m" "SELECT id, x1m FROM parts ORDER BY x1m"
	shape "parts first 10" "SELECT * FROM parts ORDER BY x1m, id LIMIT 10"
	shape "parts first 10 by at" "SELECT * FROM parts ORDER BY at DESC LIMIT 10"
	shape "parts groups" "SELECT x10k, count(*), sum(s) FROM parts GROUP BY x10k"
	shape "parts groups by day of at" "SELECT at::date, count(*) FROM parts GROUP BY 1"
	shape "parts different" "SELECT count(DISTINCT user_id) FROM parts"
	shape "parts, two of them" "SELECT x100, count(*) FROM parts WHERE at BETWEEN '2024-03-01' AND '2024-05-01' GROUP BY x100"
	shape "parts rank" "SELECT * FROM (SELECT id, x100, rank() OVER (PARTITION BY x100 ORDER BY x1m) AS r FROM parts) q WHERE r <= 3"
}

# Columns in memory.
shapes_kept()
{
	local key

	for key in x2 x100 x10k x1m s day order_id user_id gaps at x100,s day,x2; do
		shape "kept groups by ${key//,/ and }" "SELECT $key, count(*) FROM kept GROUP BY $key"
	done
	for key in x100 x10k day order_id; do
		shape "kept sums by $key" "SELECT $key, sum(x1m), min(s), max(s) FROM kept GROUP BY $key"
		shape "kept median by $key" "SELECT $key, percentile_disc(0.5) WITHIN GROUP (ORDER BY x1m) FROM kept GROUP BY $key"
	done
	for key in x100 x1m user_id; do
		shape "kept different $key" "SELECT count(DISTINCT $key) FROM kept"
		shape "kept median of $key" "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY $key) FROM kept"
		shape "kept distinct $key" "SELECT DISTINCT $key FROM kept"
		shape "kept first 10 by $key" "SELECT * FROM kept ORDER BY $key, id LIMIT 10"
	done
	shape "kept count, some rows" "SELECT count(*) FROM kept WHERE x100 = 7"
	shape "kept count, a month" "SELECT count(*) FROM kept WHERE day BETWEEN '2024-03-01' AND '2024-03-31'"
	shape "kept groups, some rows" "SELECT x100, count(*), sum(s) FROM kept WHERE day >= '2025-06-01' GROUP BY x100"
	shape "kept groups, of a text" "SELECT x100, count(*), sum(s) FROM kept WHERE status = 'paid' GROUP BY x100"
	shape "kept groups by day of at" "SELECT at::date, count(*) FROM kept GROUP BY 1"
	shape "kept groups by hour" "SELECT extract(hour FROM at), count(*) FROM kept GROUP BY 1"
	shape "kept order by x1m" "SELECT * FROM kept ORDER BY x1m"
	shape "kept order by x100 alone" "SELECT x100 FROM kept ORDER BY x100"
	shape "kept rank" "SELECT * FROM (SELECT id, x100, rank() OVER (PARTITION BY x100 ORDER BY x1m) AS r FROM kept) q WHERE r <= 3"
	shape "kept different by day" "SELECT day, count(DISTINCT user_id) FROM kept GROUP BY day"
	shape "kept sums of all" "SELECT count(*), sum(x1m), avg(s), min(day), max(day) FROM kept"
}

# Filters, without anything that is sorted or added up by hpsort.
shapes_scans()
{
	local t where

	for t in events kept; do
		for where in "x10k = 77" "x100 < 20" "x100 >= 0" "at > '2025-12-01'" "status = 'paid'" "day BETWEEN '2024-03-01' AND '2024-03-31'" "flag" \
			"gaps IS NULL" "user_id < 1000" "x1m IN (1, 77, 1000, 50000, 999999)" "x100 < 50 AND x1m * 7 % 13 = 5" "x1m * 7 % 13 = 5 AND x100 < 50" \
			"x2 = 1 OR s = 3" "status LIKE 'p%' AND x100 <> 3" "at::date = '2024-02-02'" "id > 0"; do
			shape "scan of $t, ${where//[\'%]/}" "SELECT * FROM $t WHERE $where"
			shape "scan of $t, ${where//[\'%]/}, one column" "SELECT s FROM $t WHERE $where"
		done
		shape "scan of $t first 10" "SELECT * FROM $t WHERE x10k = 77 LIMIT 10"
		shape "scan of $t first row of many" "SELECT id FROM $t WHERE x100 >= 0 LIMIT 1"
		shape "scan of $t in a join" "SELECT count(*) FROM (SELECT a.id, b.at FROM $t a JOIN events b USING (order_id) WHERE a.x100 < 5 AND b.s < 100 OFFSET 0) q"
		shape "scan of $t in a window" "SELECT id, sum(s) OVER (PARTITION BY x100 ORDER BY id) FROM $t WHERE x2 = 1"
		shape "scan of $t exists" "SELECT count(*) FROM users u WHERE EXISTS (SELECT FROM $t e WHERE e.user_id = u.user_id AND e.x100 = 7)"
	done
	for where in "price > 990" "label = 'abc'" "label LIKE '%abc%'" "f8 < 1000" "num < 100" "u > 'f0000000-0000-0000-0000-000000000000'" "city <> 'city 7'"; do
		shape "scan of events, ${where//[\'%]/}" "SELECT * FROM events WHERE $where"
	done
	for where in "class < 1" "last_one = 7" "last_one >= 0" "url LIKE '%/77/%'" "phrase <> ''" "user_id = 1" "length(url) > 60"; do
		shape "scan of wide, ${where//[\'%]/}" "SELECT watch_id, last_one FROM wide WHERE $where"
		shape "scan of wide, ${where//[\'%]/}, whole rows" "SELECT * FROM wide WHERE $where"
	done
	for t in stale fresh middle parts; do
		shape "scan of $t" "SELECT * FROM $t WHERE x100 = 1"
		shape "scan of $t, most rows" "SELECT id FROM $t WHERE x1m >= 0"
		shape "scan of $t, for rows of another table" "SELECT count(*) FROM generate_series(1, 5) g, LATERAL (SELECT id FROM $t WHERE x1m = g OFFSET 0) q"
	done
	for t in tiny small; do
		shape "scan of $t, for rows of another table" "SELECT count(*) FROM generate_series(1, 1000) g, LATERAL (SELECT id FROM $t WHERE x1m = g OFFSET 0) q"
	done
}

all_shapes()
{
	shapes_scans
	shapes_order
	shapes_first
	shapes_groups
	shapes_expressions
	shapes_wide
	shapes_aggregates
	shapes_other
	shapes_misjudged
	shapes_small
	shapes_kept
}
