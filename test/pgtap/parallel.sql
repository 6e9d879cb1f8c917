-- Aggregates in parallel plans: equal to what one process makes of the rows.
\set test parallel
\ir setup.psql

-- Temporary tables are not read in parallel.
CREATE TABLE parallel_data AS
SELECT i, i % 100 AS g,
	CASE WHEN random() > 0.01 THEN floor(random() * 1000)::int END AS narrow,
	floor(random() * 4294967296 - 2147483648)::int AS wide,
	CASE WHEN random() > 0.001 THEN floor(random() * 5000)::int ELSE floor(random() * 4294967296 - 2147483648)::int END AS outliers,
	(ARRAY[-2147483648, -5, 70000, 2147483647])[1 + floor(random() * 4)] AS few,
	i AS ascending,
	7 AS constant,
	NULL::int AS nothing
FROM generate_series(1, 120000) i;
CREATE TABLE parallel_small AS SELECT i AS x FROM generate_series(1, 10) i;
CREATE TABLE parallel_empty (x int);
CREATE TABLE parallel_parts (i int, g int, x int) PARTITION BY RANGE (i);
CREATE TABLE parallel_parts_1 PARTITION OF parallel_parts FOR VALUES FROM (0) TO (100);
CREATE TABLE parallel_parts_2 PARTITION OF parallel_parts FOR VALUES FROM (100) TO (60000);
CREATE TABLE parallel_parts_3 PARTITION OF parallel_parts FOR VALUES FROM (60000) TO (70000);
INSERT INTO parallel_parts SELECT i, g, CASE WHEN i < 30000 THEN narrow ELSE wide END FROM parallel_data WHERE i < 60000;
-- one part to be counted, one to be kept as runs, on both sides of the other
CREATE TABLE parallel_mixed (part int, x int) PARTITION BY LIST (part);
CREATE TABLE parallel_mixed_1 PARTITION OF parallel_mixed FOR VALUES IN (1);
CREATE TABLE parallel_mixed_2 PARTITION OF parallel_mixed FOR VALUES IN (2);
INSERT INTO parallel_mixed SELECT 1, narrow FROM parallel_data;
INSERT INTO parallel_mixed SELECT 2, (i::int8 % 50 * 80000000 - 2000000000)::int FROM generate_series(1, 200000) i;
ANALYZE parallel_mixed, parallel_data, parallel_small, parallel_empty, parallel_parts;

-- PostgreSQL's answers, made by one process and by nobody but itself.
SET max_parallel_workers_per_gather = 0;
CREATE TEMP TABLE core (source text, what text, a int4[], d int4[], runs hpsort_run[]);
INSERT INTO core
SELECT 'parallel_data', c, array_agg(x ORDER BY x), array_agg(x ORDER BY x DESC),
	(SELECT array_agg(ROW(key, count)::hpsort_run ORDER BY key) FROM
		(SELECT key, count(*) FROM unnest(array_agg(x)) key GROUP BY key) r)
FROM parallel_data, LATERAL (VALUES ('narrow', narrow), ('wide', wide), ('outliers', outliers), ('few', few),
	('ascending', ascending), ('constant', constant), ('nothing', nothing)) v(c, x)
GROUP BY c;
INSERT INTO core
SELECT source, 'x', array_agg(x ORDER BY x), array_agg(x ORDER BY x DESC),
	(SELECT array_agg(ROW(key, count)::hpsort_run ORDER BY key) FROM
		(SELECT key, count(*) FROM unnest(array_agg(x)) key GROUP BY key) r)
FROM (SELECT 'parallel_small' AS source, x FROM parallel_small UNION ALL SELECT 'parallel_mixed', x FROM parallel_mixed) s
GROUP BY source;
CREATE TEMP TABLE core_groups AS SELECT g, array_agg(narrow ORDER BY narrow) AS narrow, array_agg(wide ORDER BY wide DESC) AS wide FROM parallel_data GROUP BY g;
CREATE TEMP TABLE core_parts AS SELECT i, g, array_agg(x ORDER BY x) AS a FROM parallel_parts GROUP BY GROUPING SETS ((i), (g), ());

SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;

-- Partial plans are chosen, and workers run: else nothing below means anything.  The column reader, which
-- would take many of these queries as soon as the library is loaded, has its turn at the end.
LOAD 'hpsort';
SET hpsort.enable_aggregate = off;
CREATE FUNCTION pg_temp.plan(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	plan text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ' || query LOOP
		plan := plan || line || E'\n';
	END LOOP;
	RETURN plan;
END $$;
SELECT matches(pg_temp.plan('SELECT hpsort_agg(narrow) FROM parallel_data'), 'Finalize Aggregate.*Gather.*Partial Aggregate', 'partial plan');
SELECT matches(pg_temp.plan('SELECT hpsort_agg(narrow) FROM parallel_data'), 'Workers Launched: [12]', 'workers');
SELECT matches(pg_temp.plan('SELECT g, hpsort_agg(narrow) FROM parallel_data GROUP BY g'), 'Finalize .*Aggregate.*Gather.*Partial .*Aggregate', 'partial plan of groups');

CREATE FUNCTION pg_temp.check_parallel(how text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	w text;
	a int4[];
	b int4[];
	d int4[];
	r hpsort_run[];
	as_core boolean;
	c core;
BEGIN
	FOR c IN SELECT * FROM core ORDER BY source, what LOOP
		w := c.source || '.' || c.what;
		EXECUTE format('SELECT hpsort_agg(%1$I), hpsort_agg(%1$I, %2$s, %3$s), hpsort_agg(%1$I, %2$s, NULL, true), hpsort_runs_agg(%1$I) FROM %4$I',
				c.what, coalesce((SELECT min(x) FROM unnest(c.a) x)::text, 'NULL'), coalesce((SELECT max(x) FROM unnest(c.a) x)::text, 'NULL'), c.source)
			INTO a, b, d, r;
		RETURN NEXT ok(a = c.a, w || how);
		RETURN NEXT ok(b = c.a, w || ', bounds' || how);
		RETURN NEXT ok(d = c.d, w || ', descending' || how);
		RETURN NEXT ok(r = c.runs, w || ', runs' || how);
	END LOOP;
	-- one worker's rows have none, all workers' rows have none
	SELECT hpsort_agg(narrow) FILTER (WHERE i = 77) = ARRAY(SELECT narrow FROM parallel_data WHERE i = 77) AND hpsort_agg(narrow) FILTER (WHERE i < 0) IS NULL
		INTO as_core FROM parallel_data;
	RETURN NEXT ok(as_core, 'FILTER' || how);
	RETURN NEXT ok((SELECT hpsort_agg(wide) FROM parallel_data WHERE i = 119999) = ARRAY(SELECT wide FROM parallel_data WHERE i = 119999), 'one row' || how);
	RETURN NEXT ok((SELECT hpsort_agg(x) IS NULL AND hpsort_runs_agg(x) IS NULL AND hpsort_agg(x, 0, 1, true) IS NULL FROM parallel_empty), 'no rows' || how);
	RETURN NEXT ok((SELECT hpsort_agg(narrow) IS NULL FROM parallel_data WHERE i < 0), 'no rows left' || how);
	RETURN NEXT ok((SELECT array_agg(x ORDER BY x) = hpsort_agg(x) FROM (SELECT narrow AS x FROM parallel_data OFFSET 0) s), 'below a subquery' || how);
	RETURN NEXT pg_temp.same_rows('SELECT g, hpsort_agg(narrow), hpsort_agg(wide, NULL, NULL, true) FROM parallel_data GROUP BY g', 'TABLE core_groups', 'groups' || how);
	RETURN NEXT pg_temp.same_rows('SELECT g, hpsort_agg(narrow, 0, 999), hpsort_agg(wide, NULL, NULL, true) FROM parallel_data GROUP BY g', 'TABLE core_groups', 'groups, bounds' || how);
	RETURN NEXT pg_temp.same_rows('SELECT NULL::int, g, hpsort_agg(x) FROM parallel_parts GROUP BY g UNION ALL SELECT NULL, NULL, hpsort_agg(x) FROM parallel_parts',
		'SELECT * FROM core_parts WHERE i IS NULL', 'partitions' || how);
	RETURN NEXT pg_temp.same_rows('SELECT i, NULL::int, hpsort_agg(x) FROM parallel_parts WHERE i < 2000 GROUP BY i', 'SELECT * FROM core_parts WHERE i < 2000', 'partitions, by their key' || how);
	-- not partial, but of rows from workers
	RETURN NEXT ok((SELECT hpsort_agg(DISTINCT narrow) = array_agg(DISTINCT narrow ORDER BY narrow) FROM parallel_data), 'DISTINCT' || how);
	-- the other functions, in workers: of few rows, for each is two jobs
	RETURN NEXT is((SELECT count(*) FROM parallel_data WHERE i % 16 = 0 AND hpsort(ARRAY[i, wide, 5]) = ARRAY[least(i, wide, 5), i + wide::int8 + 5 - least(i, wide, 5) - greatest(i, wide, 5), greatest(i, wide, 5)]::int4[]
		AND hpsort_order(ARRAY[wide, wide], true) = '{1,2}'), 7500::int8, 'functions' || how);
END $$;

SELECT pg_temp.check_parallel('');
SET parallel_leader_participation = off;
SELECT pg_temp.check_parallel(', without the leader');
SET enable_partitionwise_aggregate = on;
SELECT pg_temp.check_parallel(', by partition');
RESET parallel_leader_participation;
SET enable_hashagg = off;
SELECT pg_temp.check_parallel(', by partition, sorted');
RESET enable_hashagg;
RESET enable_partitionwise_aggregate;
SET hpsort.enable_aggregate = on;
SELECT matches(pg_temp.plan('SELECT hpsort_agg(narrow) FROM parallel_data'), 'Finalize Aggregate.*Gather.*Parallel Custom Scan \(HpSort Aggregate\)', 'gathered by workers');
SELECT pg_temp.check_parallel(', HpSort Aggregate');
SET hpsort.enable_aggregate = off;
SET hpsort.device = cpu;
SET hpsort.algorithm = radix;
SELECT pg_temp.check_parallel(', radix');
RESET hpsort.algorithm;

-- workers have the leader's settings
SET hpsort.algorithm = zero_compressed;
SELECT ok((SELECT hpsort_agg(narrow) FROM parallel_data) = (SELECT a FROM core WHERE source = 'parallel_data' AND what = 'narrow'), 'zero_compressed in workers');
SELECT is((SELECT algorithm FROM hpsort_last()), 'zero_compressed', 'as told');
SELECT throws_ok('SELECT hpsort_agg(wide) FROM parallel_data', '0A000', NULL, 'zero_compressed cannot, in workers either');
RESET hpsort.algorithm;
RESET hpsort.device;

-- errors come from workers as from anywhere
SET parallel_leader_participation = off;
SELECT throws_ok('SELECT hpsort_agg(narrow, 1, 999) FROM parallel_data', '22003', 'key is out of bounds', 'out of bounds, counted');
SELECT throws_ok('SELECT hpsort_agg(ascending, 1, 119999) FROM parallel_data', '22003', 'key is out of bounds', 'out of bounds, ascending');
SELECT throws_ok('SELECT hpsort_agg(x, 1, 9) FROM parallel_small', '22003', 'key is out of bounds', 'out of bounds, few');
SELECT throws_ok('SELECT hpsort_agg(ascending, 1, g) FROM parallel_data', '22023', 'bounds and direction must be the same for all rows of a group', 'bounds that change');
SELECT throws_ok('SELECT hpsort_agg(ascending, 2, 1) FROM parallel_data', '22023', 'lower bound 2 is greater than upper bound 1', 'impossible bounds');
RESET parallel_leader_participation;

-- what hpsort_query runs may be parallel too
SELECT results_eq($$SELECT x FROM hpsort_query('SELECT narrow FROM parallel_data WHERE wide > 0') x$$,
	$$SELECT narrow FROM parallel_data WHERE wide > 0 ORDER BY 1$$, 'within hpsort_query');

SELECT * FROM finish();
ROLLBACK;
