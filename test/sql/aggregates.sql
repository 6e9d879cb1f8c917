--
-- hpsort_agg() and hpsort_runs_agg()
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS hpsort;
RESET client_min_messages;
-- ORDER BY is PostgreSQL's own answer below.
SET hpsort.enable_sort = off;

CREATE TEMP TABLE data (g text, x int);
INSERT INTO data VALUES
	('a', 3), ('a', 1), ('a', NULL), ('a', 2), ('a', 1),
	('b', 2147483647), ('b', -2147483648),
	('c', NULL), ('c', NULL),
	('d', 7);

-- all forms
SELECT hpsort_agg(x) FROM data;
SELECT hpsort_agg(x, 0, 9) FROM data WHERE g <> 'b';
SELECT hpsort_agg(x, 0, 9, false) FROM data WHERE g <> 'b';
SELECT hpsort_agg(x, 0, 9, true) FROM data WHERE g <> 'b';
SELECT hpsort_agg(x, NULL, NULL, true) FROM data;
SELECT hpsort_agg(x, NULL, 9, NULL) FROM data WHERE g <> 'b';
SELECT hpsort_runs_agg(x) FROM data;
SELECT pg_typeof(hpsort_agg(x)), pg_typeof(hpsort_runs_agg(x)) FROM data;

-- no rows: NULL, as array_agg
SELECT array_agg(x ORDER BY x) AS core, hpsort_agg(x), hpsort_agg(x, 0, 9), hpsort_agg(x, 0, 9, true), hpsort_runs_agg(x)
FROM data WHERE false;
-- nothing but NULLs: an array of them
SELECT array_agg(x ORDER BY x) AS core, hpsort_agg(x), hpsort_agg(x, 0, 9, true), hpsort_runs_agg(x)
FROM data WHERE g = 'c';

-- groups, beside PostgreSQL's own
SELECT g, array_agg(x ORDER BY x) AS core, hpsort_agg(x), hpsort_runs_agg(x)
FROM data GROUP BY g ORDER BY g;
SELECT g, array_agg(x ORDER BY x DESC) AS core, hpsort_agg(x, NULL, NULL, true)
FROM data GROUP BY g ORDER BY g;
SELECT g, array_agg(x ORDER BY x) FILTER (WHERE x > 1) AS core,
       hpsort_agg(x) FILTER (WHERE x > 1), hpsort_runs_agg(x) FILTER (WHERE x > 1)
FROM data GROUP BY g ORDER BY g;
SELECT g, array_agg(DISTINCT x ORDER BY x) AS core, hpsort_agg(DISTINCT x), hpsort_runs_agg(DISTINCT x)
FROM data GROUP BY g ORDER BY g;
SELECT g, array_agg(x ORDER BY x) AS core, hpsort_agg(x), hpsort_agg(x ORDER BY x DESC) AS ordered
FROM data GROUP BY ROLLUP (g) HAVING count(*) > 1 ORDER BY g;

-- other types: arrays of them, as array_agg returns; runs have int4 keys, dates as days since 2000-01-01
CREATE TEMP TABLE typed AS SELECT g, i % 5 AS x, (i % 7)::int2 AS small, (i % 11 - 5)::int8 AS big, date '1999-12-30' + i % 6 AS day
	FROM (VALUES ('a', 3000), ('b', 1)) groups(g, n), generate_series(1, n) i;
INSERT INTO typed VALUES ('a', NULL, NULL, NULL, NULL), ('c', 0, -32768, 2147483647, 'infinity'), ('c', 0, 32767, -2147483648, '-infinity'),
	('d', NULL, NULL, NULL, NULL);
SELECT g, array_agg(small ORDER BY small) = hpsort_agg(small) AS small, array_agg(big ORDER BY big) = hpsort_agg(big) AS big,
       array_agg(day ORDER BY day) = hpsort_agg(day) AS day,
       array_agg(small ORDER BY small DESC) = hpsort_agg(small, -32768, 32767, true) AS small_down,
       array_agg(big ORDER BY big DESC) = hpsort_agg(big, NULL, NULL, true) AS big_down,
       array_agg(day ORDER BY day DESC) = hpsort_agg(day, '-infinity', 'infinity', true) AS day_down,
       array_agg(small ORDER BY small DESC NULLS LAST) = hpsort_agg(small ORDER BY small DESC NULLS LAST) AS small_order,
       array_agg(DISTINCT big ORDER BY big DESC) = hpsort_agg(DISTINCT big ORDER BY big DESC) AS big_order,
       array_agg(day ORDER BY day NULLS FIRST) = hpsort_agg(day, NULL, NULL ORDER BY day NULLS FIRST) AS day_order,
       hpsort_runs_agg(small)::text = hpsort_runs_agg(small::int)::text AND hpsort_runs_agg(big)::text = hpsort_runs_agg(big::int)::text AS runs
FROM typed GROUP BY ROLLUP (g) ORDER BY g;
SELECT pg_typeof(hpsort_agg(small)) AS small, pg_typeof(hpsort_agg(big)) AS big, pg_typeof(hpsort_agg(day)) AS day,
       pg_typeof(hpsort_runs_agg(day)) AS runs FROM typed WHERE false;
SELECT hpsort_agg(small) AS small, hpsort_agg(big) AS big, hpsort_agg(day) AS day, hpsort_runs_agg(day) AS days FROM typed WHERE g IN ('b', 'd');
SELECT hpsort_agg(day, '1999-12-31', '2000-01-01') FROM typed WHERE g = 'b';
SELECT array_agg(big) OVER w AS core, hpsort_agg(big) OVER w FROM typed WHERE g = 'c' WINDOW w AS (ORDER BY big);
CREATE DOMAIN birthday AS date;
SELECT hpsort_agg(day::birthday), pg_typeof(hpsort_agg(day::birthday)) FROM typed WHERE g = 'b';
DROP DOMAIN birthday;

-- ORDER BY in the call: by the argument, in any direction; further columns change nothing
SELECT array_agg(x ORDER BY x DESC) = hpsort_agg(x ORDER BY x DESC) AS descending,
       array_agg(x ORDER BY x DESC NULLS LAST) = hpsort_agg(x ORDER BY x DESC NULLS LAST) AS nulls_last,
       array_agg(x ORDER BY x NULLS FIRST) = hpsort_agg(x ORDER BY x NULLS FIRST) AS nulls_first,
       array_agg(x ORDER BY x USING >) = hpsort_agg(x ORDER BY x USING >) AS operator,
       array_agg(x ORDER BY x DESC, g) = hpsort_agg(x ORDER BY x DESC, g) AS two,
       array_agg(DISTINCT x ORDER BY x DESC) = hpsort_agg(DISTINCT x ORDER BY x DESC) AS distinct,
       array_agg(x ORDER BY x DESC) FILTER (WHERE x < 9) = hpsort_agg(x ORDER BY x DESC) FILTER (WHERE x < 9) AS filter,
       array_agg(x::int2 ORDER BY x::int2 DESC) FILTER (WHERE x < 9 AND g <> 'b')::text =
           hpsort_agg(x::int2 ORDER BY x::int2 DESC) FILTER (WHERE x < 9 AND g <> 'b')::text AS of_int2
FROM data;
SELECT g, array_agg(x ORDER BY x DESC NULLS LAST) AS core, hpsort_agg(x ORDER BY x DESC NULLS LAST), hpsort_runs_agg(x ORDER BY x DESC),
       hpsort_runs_agg(x ORDER BY x NULLS FIRST) AS first
FROM data GROUP BY ROLLUP (g) ORDER BY g;
-- with bounds and direction, which may not say the contrary
SELECT hpsort_agg(x, 0, 9 ORDER BY x DESC), hpsort_agg(x, 0, 9, true ORDER BY x DESC NULLS LAST) AS both, hpsort_agg(x, NULL, NULL, NULL ORDER BY x DESC) AS unknown
FROM data WHERE g IN ('a', 'd');
SELECT hpsort_agg(x, 0, 9, false ORDER BY x DESC) FROM data WHERE g = 'a';
SELECT hpsort_agg(x, 0, 9, true ORDER BY x) FROM data WHERE g = 'a';
SELECT hpsort_agg(x, 0, 9, x > 1 ORDER BY x DESC) FROM data WHERE g = 'a';
-- by anything else: an error, where array_agg has an order that we have not
SELECT hpsort_agg(x ORDER BY g) FROM data;
SELECT hpsort_agg(x ORDER BY g, x) FROM data;
SELECT hpsort_agg(x ORDER BY -x) FROM data WHERE g = 'a';
SELECT hpsort_agg(x, 0, 9 ORDER BY 9) FROM data;
SELECT g, hpsort_runs_agg(x ORDER BY x::text) FROM data GROUP BY g;
-- core has it for no window
SELECT hpsort_agg(x ORDER BY x DESC) OVER () FROM data;

-- windows, running and sliding
SELECT x, array_agg(x) OVER (ORDER BY x) AS core, hpsort_agg(x) OVER (ORDER BY x), hpsort_runs_agg(x) OVER (ORDER BY x)
FROM data WHERE g = 'a' ORDER BY x;
SELECT x, hpsort_agg(x) OVER w, hpsort_runs_agg(x) OVER w
FROM data WHERE g = 'a'
WINDOW w AS (ORDER BY x ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) ORDER BY x;

-- runs are an array of a type that has everything a type has
SELECT r.key, r.count, r.key * r.count AS product
FROM (SELECT hpsort_runs_agg(x) AS runs FROM data) s, unnest(runs) r;
SELECT (hpsort_runs_agg(x))[2], ((hpsort_runs_agg(x))[2]).count FROM data WHERE g = 'a';
SELECT ROW(1, 2)::hpsort_run = ROW(1, 2)::hpsort_run AS equal, ROW(1, 2)::hpsort_run < ROW(1, 3)::hpsort_run AS less;

-- enough keys to be counted while they come, and to be kept
SELECT hpsort_agg(x % 3) = array_agg(x % 3 ORDER BY x % 3) AS narrow,
       hpsort_agg(x * 200000) = array_agg(x * 200000 ORDER BY x * 200000) AS wide,
       hpsort_runs_agg(x % 3)
FROM generate_series(1, 10000) x;

-- an oid as an integer is in another order
CREATE TEMP TABLE oids AS SELECT (4294966000 + i)::oid AS o FROM generate_series(1, 1000) i
  UNION ALL SELECT i::oid FROM generate_series(1, 1000) i;
SELECT hpsort_agg(o::int4) = array_agg(o::int4 ORDER BY o::int4) AS ordered FROM oids;
