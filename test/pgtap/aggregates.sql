-- hpsort_agg() and hpsort_runs_agg(), wherever an aggregate can stand: equal
-- to array_agg(x ORDER BY x) and GROUP BY x.
\set test aggregates
\ir setup.psql
-- PostgreSQL's own nodes are to call the functions.
LOAD 'hpsort';
SET hpsort.enable_scan = off;
SET hpsort.enable_aggregate = off;

SELECT pg_temp.make_shapes('{0,1,2,3,15,16,17,31,32,33}', '{1,3,256,2049,1000000,4294967296}',
	'{uniform,zipf,constant,descending,few,outliers}', '{0,0.2}');
SELECT pg_temp.make_shapes('{4095,4096,4097,8193}', '{2,256,2048,2049,65536,1000000,4294967296}',
	'{uniform,zipf,few,outliers}', '{0.01}');
SELECT pg_temp.make_shapes('{4096,8193}', '{1,1000,4294967296}', '{constant,ascending,descending,interval}', '{0}');
SELECT pg_temp.make_shapes('{17,5000}', '{1000}', '{uniform}', '{1}');
SELECT pg_temp.make_shapes('{140000}', '{1000}', '{uniform}', '{0}');
SELECT pg_temp.make_shapes('{140000}', '{4294967296}', '{few,outliers}', '{0}');
-- three threads have work from 589824 keys on
SELECT pg_temp.make_shapes('{600000}', '{1000}', '{uniform}', '{0.01}');

CREATE FUNCTION pg_temp.check_aggregates(forced text, threads int, subset text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	how text := format(' (%s, %s threads)', forced, threads);
BEGIN
	PERFORM set_config('hpsort.algorithm', forced, true), set_config('max_parallel_workers_per_gather', (threads - 1)::text, true);
	-- only the CPU does as it is told; the device is otherwise what test/run.sh says
	PERFORM set_config('hpsort.device', CASE forced WHEN 'auto' THEN reset_val ELSE 'cpu' END, true)
	FROM pg_settings WHERE name = 'hpsort.device';
	RETURN NEXT is_empty(format('SELECT 1 WHERE (SELECT count(*) FROM shapes WHERE %s) < 10', subset), 'enough shapes' || how);
	RETURN NEXT pg_temp.holds('coalesce((SELECT hpsort_agg(x) FROM unnest(a) x), ''{}'') = asc_last', subset, 'hpsort_agg' || how);
	IF forced <> 'auto' THEN
		RETURN NEXT is((SELECT algorithm FROM hpsort_last()), forced, 'as told' || how);
	END IF;
	RETURN NEXT pg_temp.holds('coalesce((SELECT hpsort_agg(x, lo, hi) FROM unnest(a) x), ''{}'') = asc_last', subset, 'hpsort_agg within bounds' || how);
	RETURN NEXT pg_temp.holds('coalesce((SELECT hpsort_agg(x, lo, NULL, false) FROM unnest(a) x), ''{}'') = asc_last', subset, 'hpsort_agg, not descending' || how);
	RETURN NEXT pg_temp.holds('coalesce((SELECT hpsort_agg(x, lo, hi, true) FROM unnest(a) x), ''{}'') = desc_first', subset, 'hpsort_agg, descending' || how);
	RETURN NEXT pg_temp.holds('coalesce((SELECT hpsort_runs_agg(x) FROM unnest(a) x), ''{}'') = runs', subset, 'hpsort_runs_agg' || how);
	-- one state for both, read twice
	RETURN NEXT pg_temp.holds('(SELECT (coalesce(hpsort_agg(x), ''{}''), coalesce(hpsort_runs_agg(x), ''{}'')) = (asc_last, runs) FROM unnest(a) x)', subset, 'shared state' || how);
	RETURN NEXT pg_temp.holds('(SELECT (coalesce(hpsort_runs_agg(x), ''{}''), coalesce(hpsort_agg(x), ''{}'')) = (runs, asc_last) FROM unnest(a) x)', subset, 'shared state, the other way round' || how);
	RETURN NEXT pg_temp.holds('coalesce((SELECT hpsort_agg(x ORDER BY x DESC, i) FROM unnest(a) WITH ORDINALITY u(x, i)), ''{}'') = desc_first', subset, 'with an ORDER BY' || how);
	RETURN NEXT pg_temp.holds('ARRAY(SELECT hpsort_query(format(''SELECT unnest(a) FROM shapes WHERE id = %s'', id))) = asc_last', subset, 'hpsort_query' || how);
	RETURN NEXT pg_temp.holds('ARRAY(SELECT hpsort_query(format(''SELECT unnest(a)::int8 FROM shapes WHERE id = %s'', id), lo, hi, true, false)) = desc_last', subset, 'hpsort_query within bounds, descending' || how);
END $$;
CREATE FUNCTION pg_temp.threads_used() RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	-- a GPU has no threads of the CPU to be counted
	PERFORM set_config('hpsort.device', 'cpu', true);
	PERFORM hpsort_agg(x) FROM (SELECT unnest(a) AS x FROM shapes WHERE n = 600000) s;
	RETURN (SELECT threads FROM hpsort_last());
END $$;
SELECT pg_temp.check_aggregates('auto', 1, 'true');
SELECT pg_temp.check_aggregates('radix', 1, 'n IN (0, 1, 16, 17, 4096, 8193)');
SELECT pg_temp.check_aggregates('zero_compressed', 1, 'coalesce(hi - lo::int8 < 2000000, true) AND n IN (0, 16, 33, 4097, 8193)');
SELECT pg_temp.check_aggregates('comparison_free', 1, 'coalesce(hi - lo::int8 < 2000000, true) AND n IN (1, 17, 32, 4096)');
SELECT pg_temp.check_aggregates('comparison_free', 3, 'coalesce(hi - lo::int8 < 2000000, true) AND n IN (17, 4095, 600000)');
SELECT pg_temp.check_aggregates('hp', 1, 'coalesce(hi - lo::int8 < 2000000, true) AND n IN (1, 17, 4096)');
SELECT pg_temp.check_aggregates('bucket_radix', 1, 'n IN (1, 17, 4096)');
SELECT pg_temp.check_aggregates('bucket_bitonic', 1, 'n IN (1, 17, 4096)');
SELECT set_config('hpsort.algorithm', 'comparison_free', true), set_config('max_parallel_workers_per_gather', '2', true);
SELECT is(pg_temp.threads_used(), least(3, processors), 'threads indeed')
FROM (SELECT substring(name FROM '^[0-9]+')::int AS processors FROM hpsort_devices() WHERE device = 'cpu') d;
RESET hpsort.algorithm;
RESET max_parallel_workers_per_gather;
RESET hpsort.device;

-- Rows to be grouped: groups of very different sizes.
CREATE TEMP TABLE data AS
SELECT i, (abs(i % 97) * random())::int AS g, i % 3 AS h,
	-- rounded down before the subtraction, whose result has no bits to tell 9.99999999 from 10
	CASE WHEN random() > 0.02 THEN (floor(random() * (CASE i % 3 WHEN 0 THEN 10 WHEN 1 THEN 3000 ELSE 4000000000 END)) - 2000000000)::int END AS x
FROM generate_series(1, 30000) i;
-- a group is wide, a group is narrow, a group is small
INSERT INTO data SELECT i, 1000, 0, floor(random() * 50)::int FROM generate_series(1, 15000) i;
INSERT INTO data SELECT i, 1001, 1, floor(random() * 4294967296 - 2147483648)::int FROM generate_series(1, 15000) i;
INSERT INTO data VALUES (0, 1002, 1, NULL), (0, 1003, 2, NULL), (1, 1003, 2, 5), (0, NULL, NULL, 1), (0, NULL, NULL, NULL);
ANALYZE data;

-- The same query with their aggregates and ours; in ours, x ORDER BY x is left out.
CREATE FUNCTION pg_temp.same(query text, description text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	core text := query;
	ours text := query;
BEGIN
	core := replace(core, 'SORTED(x)', 'array_agg(x ORDER BY x)');
	core := replace(core, 'SORTED_DISTINCT(x)', 'array_agg(DISTINCT x ORDER BY x)');
	core := replace(core, 'SORTED_DESC(x)', 'array_agg(x ORDER BY x DESC)');
	ours := replace(ours, 'SORTED(x)', 'hpsort_agg(x)');
	ours := replace(ours, 'SORTED_DISTINCT(x)', 'hpsort_agg(DISTINCT x)');
	ours := replace(ours, 'SORTED_DESC(x)', 'hpsort_agg(x, NULL, NULL, true)');
	IF core = ours THEN
		RETURN fail(description || ': nothing to compare');
	END IF;
	RETURN pg_temp.same_rows(ours, core, description);
END $$;
-- Windows: core's aggregates take no ORDER BY there, so their results are sorted.
CREATE FUNCTION pg_temp.sort_core(a int4[], descending boolean) RETURNS int4[] LANGUAGE sql IMMUTABLE AS $$
SELECT CASE WHEN a IS NULL THEN NULL WHEN descending THEN ARRAY(SELECT x FROM unnest(a) x ORDER BY x DESC)
	ELSE ARRAY(SELECT x FROM unnest(a) x ORDER BY x) END;
$$;
CREATE FUNCTION pg_temp.runs_core(a int4[]) RETURNS hpsort_run[] LANGUAGE sql IMMUTABLE AS $$
SELECT CASE WHEN a IS NOT NULL THEN ARRAY(SELECT ROW(x, count(*))::hpsort_run FROM unnest(a) x GROUP BY x ORDER BY x) END;
$$;

SELECT pg_temp.same('SELECT g, SORTED(x), SORTED_DESC(x) FROM data GROUP BY g', 'GROUP BY');
SET enable_hashagg = off;
SELECT pg_temp.same('SELECT g, SORTED(x), SORTED_DESC(x) FROM data GROUP BY g', 'GROUP BY, sorted');
RESET enable_hashagg;
SET enable_sort = off;
SELECT pg_temp.same('SELECT g, SORTED(x), SORTED_DESC(x) FROM data GROUP BY g', 'GROUP BY, hashed');
RESET enable_sort;
SELECT pg_temp.same('SELECT g, SORTED(x) FILTER (WHERE x > 0), SORTED(x) FILTER (WHERE i % 2 = 0), SORTED(x) FILTER (WHERE false) FROM data GROUP BY g', 'FILTER');
SELECT pg_temp.same('SELECT g, SORTED_DISTINCT(x), SORTED(x) FROM data GROUP BY g', 'DISTINCT');
SELECT pg_temp.same('SELECT g, h, SORTED(x), SORTED_DESC(x) FROM data GROUP BY GROUPING SETS ((g, h), (g), (h), ())', 'GROUPING SETS');
SET enable_hashagg = off;
SELECT pg_temp.same('SELECT g, h, SORTED(x), SORTED_DESC(x) FROM data GROUP BY GROUPING SETS ((g, h), (g), (h), ())', 'GROUPING SETS, sorted');
RESET enable_hashagg;
SELECT pg_temp.same('SELECT g, h, SORTED(x) FROM data GROUP BY ROLLUP (g, h)', 'ROLLUP');
SELECT pg_temp.same('SELECT g, h, SORTED(x) FROM data GROUP BY CUBE (g, h)', 'CUBE');
SELECT pg_temp.same('SELECT g, SORTED(x) FROM data GROUP BY g HAVING SORTED(x) <> SORTED_DESC(x) AND count(*) > 100', 'HAVING');
SELECT pg_temp.same('SELECT SORTED(x) FROM data WHERE false', 'no rows');
SELECT is_empty('SELECT g, hpsort_agg(x) FROM data WHERE false GROUP BY g', 'no groups');
SELECT pg_temp.same('SELECT i, SORTED(x) FROM data GROUP BY i', 'many small groups');
SELECT pg_temp.same('SELECT g, (SELECT SORTED(x) FROM data d WHERE d.g = o.g AND d.i < 2000) FROM (SELECT DISTINCT g FROM data) o', 'correlated subquery');
SELECT pg_temp.same('SELECT g, s FROM (SELECT DISTINCT g FROM data) o, LATERAL (SELECT SORTED(x) AS s FROM data d WHERE d.g = o.g AND d.h = 1 AND d.i < 2000) l', 'lateral subquery');
SELECT pg_temp.same_rows('SELECT g, hpsort_agg(x, -2000000000, -1999999991), hpsort_agg(x, NULL, 0), hpsort_runs_agg(x) FROM data WHERE h = 0 AND g < 1000 GROUP BY g',
	'SELECT g, array_agg(x ORDER BY x), array_agg(x ORDER BY x), pg_temp.runs_core(array_agg(x)) FROM data WHERE h = 0 AND g < 1000 GROUP BY g', 'bounds');
SELECT pg_temp.same_rows('SELECT g, hpsort_runs_agg(x), hpsort_runs_agg(x) FILTER (WHERE i % 2 = 0), hpsort_runs_agg(DISTINCT x) FROM data GROUP BY g',
	'SELECT g, pg_temp.runs_core(array_agg(x)), pg_temp.runs_core(array_agg(x) FILTER (WHERE i % 2 = 0)), pg_temp.runs_core(array_agg(DISTINCT x)) FROM data GROUP BY g', 'hpsort_runs_agg');
-- runs say it all: counts, sums, and the array itself
SELECT is((SELECT hpsort_agg(r.key) FROM unnest(runs) r, generate_series(1, r.count)), (SELECT array_agg(x ORDER BY x) FROM data), 'runs expanded')
FROM (SELECT hpsort_runs_agg(x) AS runs FROM data) s;

-- Hash aggregation beyond work_mem: groups are spilled and come back.
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SET enable_sort = off;
SELECT pg_temp.same('SELECT i, SORTED(x), SORTED_DESC(x) FROM data GROUP BY i', 'many groups, spilled');
SELECT pg_temp.same('SELECT g, SORTED(x), SORTED_DESC(x) FROM data GROUP BY g', 'large groups, spilled');
CREATE FUNCTION pg_temp.spilled(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ' || query INTO plan;
	RETURN (plan -> 0 -> 'Plan' ->> 'HashAgg Batches')::int > 1;
END $$;
SELECT ok(pg_temp.spilled('SELECT i, hpsort_agg(x) FROM data GROUP BY i'), 'spilled indeed');
RESET enable_sort;
RESET hash_mem_multiplier;
RESET work_mem;

-- Windows
CREATE FUNCTION pg_temp.same_window(clause text, description text) RETURNS text LANGUAGE sql AS $$
SELECT pg_temp.same_rows(format('SELECT g, i, hpsort_agg(x) OVER w, hpsort_agg(x, NULL, NULL, true) OVER w, hpsort_runs_agg(x) OVER w FROM data WHERE i < 400 WINDOW w AS (%s)', clause),
	format('SELECT g, i, pg_temp.sort_core(array_agg(x) OVER w, false), pg_temp.sort_core(array_agg(x) OVER w, true), pg_temp.runs_core(array_agg(x) OVER w) FROM data WHERE i < 400 WINDOW w AS (%s)', clause),
	description);
$$;
SELECT pg_temp.same_window('PARTITION BY g', 'OVER a partition');
SELECT pg_temp.same_window('PARTITION BY g ORDER BY i', 'OVER, running');
SELECT pg_temp.same_window('PARTITION BY h ORDER BY x', 'OVER, running with peers');
SELECT pg_temp.same_window('PARTITION BY h ORDER BY i ROWS BETWEEN 20 PRECEDING AND CURRENT ROW', 'OVER, sliding');
SELECT pg_temp.same_window('PARTITION BY g ORDER BY i ROWS BETWEEN 2 PRECEDING AND 3 FOLLOWING EXCLUDE CURRENT ROW', 'OVER, sliding with exclusion');
SELECT pg_temp.same_window('PARTITION BY g ORDER BY i ROWS BETWEEN 3 FOLLOWING AND 5 FOLLOWING', 'OVER, empty frames');
SELECT pg_temp.same_window('PARTITION BY g ORDER BY i GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING', 'OVER, groups');
SELECT pg_temp.same_window('PARTITION BY g ORDER BY i ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING', 'OVER, shrinking');
-- a frame that grows past every threshold: few keys, counted keys, kept keys; read at each of many sizes
CREATE TEMP TABLE growing AS SELECT g, row_number() OVER (PARTITION BY g ORDER BY i) AS i, x FROM data WHERE g IN (1000, 1001) AND i < 9000;
-- counted keys and, in no order, kept ones on both sides of them
INSERT INTO growing SELECT 1005, i, CASE WHEN random() > 0.005 THEN floor(random() * 50)::int ELSE floor(random() * 4294967296 - 2147483648)::int END
FROM generate_series(1, 12000) i;
SELECT is_empty(format($$SELECT i FROM (SELECT i, wanted, CASE WHEN wanted THEN hpsort_agg(x) OVER w END AS ours, CASE WHEN wanted THEN hpsort_runs_agg(x) OVER w END AS runs,
		CASE WHEN wanted THEN array_agg(x) OVER w END AS core
	FROM (SELECT *, i < 40 OR i BETWEEN 4090 AND 4100 OR i %% 500 = 0 AS wanted FROM growing) d WHERE g = %s WINDOW w AS (ORDER BY i)) s
	WHERE wanted AND (ours IS DISTINCT FROM pg_temp.sort_core(core, false) OR runs IS DISTINCT FROM pg_temp.runs_core(core))$$, g), 'OVER, growing, group ' || g)
FROM unnest('{1000,1001,1005}'::int[]) g;

-- prepared, with custom and generic plans
PREPARE ours(int, boolean) AS SELECT g, hpsort_agg(x, NULL, $1, $2) FROM data WHERE x <= $1 GROUP BY g ORDER BY g;
PREPARE core_desc(int) AS SELECT g, array_agg(x ORDER BY x DESC) FROM data WHERE x <= $1 GROUP BY g ORDER BY g;
SET plan_cache_mode = force_custom_plan;
SELECT results_eq('EXECUTE ours(-1999999000, true)', 'EXECUTE core_desc(-1999999000)', 'prepared, custom plan');
SET plan_cache_mode = force_generic_plan;
SELECT results_eq(format('EXECUTE ours(%s, true)', bound), format('EXECUTE core_desc(%s)', bound), 'prepared, generic plan')
FROM unnest('{-1999999999,-1999999000,2147483647}'::int[]) bound;
RESET plan_cache_mode;
DEALLOCATE ours;

-- errors within subtransactions, and the state used again
CREATE FUNCTION pg_temp.survive(bound int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result int4[];
	failures int := 0;
BEGIN
	FOR i IN 1 .. 50 LOOP
		BEGIN
			SELECT hpsort_agg(x, 0, bound) INTO result FROM generate_series(0, 5000 + i) x;
			RAISE EXCEPTION 'no error';
		EXCEPTION WHEN numeric_value_out_of_range THEN
			failures := failures + 1;
		END;
		SELECT hpsort_agg(x % 10) INTO result FROM generate_series(1, 100 * i) x;
		IF result IS DISTINCT FROM (SELECT array_agg(x % 10 ORDER BY x % 10) FROM generate_series(1, 100 * i) x) THEN
			RETURN 'wrong after ' || i;
		END IF;
	END LOOP;
	RETURN failures;
END $$;
SELECT is(pg_temp.survive(5000), '50', 'errors in subtransactions');

-- aggregates of aggregates, ours as input of ours
SELECT is((SELECT hpsort_agg(c) FROM (SELECT cardinality(hpsort_agg(x)) AS c FROM data GROUP BY g) s),
	(SELECT array_agg(c ORDER BY c) FROM (SELECT count(*)::int AS c FROM data GROUP BY g) s), 'nested');

SELECT * FROM finish();
ROLLBACK;
