-- hpsort(), hpsort_order(), hpsort_set() and hpsort_runs() over shapes of all
-- kinds, by every algorithm: equal to ORDER BY and GROUP BY.
\set test arrays
\ir setup.psql

\set all_ranges '''{1,2,3,4,5,256,1000,2048,2049,65536,1000000,4294967296}'''
\set all_spreads '''{uniform,zipf,constant,ascending,descending,interval,few,outliers}'''
SELECT pg_temp.make_shapes('{0,1,2,3,15,16,17,31,32,33}', :all_ranges, :all_spreads, '{0,0.2}');
SELECT pg_temp.make_shapes('{4095,4096,4097}', :all_ranges, :all_spreads, '{0}');
SELECT pg_temp.make_shapes('{4097}', :all_ranges, :all_spreads, '{0.01}');
SELECT pg_temp.make_shapes('{17,5000}', '{1000}', '{uniform}', '{1}');
SELECT pg_temp.make_shapes('{30000}', '{1,2,256,2049,65536,1000000,4294967296}', '{uniform,zipf}', '{0}');
SELECT pg_temp.make_shapes('{30000}', '{1000,4294967296}', '{ascending,few,outliers}', '{0.01}');
-- three threads have work from 589824 keys on
SELECT pg_temp.make_shapes('{600000}', '{2}', '{zipf}', '{0}');
SELECT pg_temp.make_shapes('{600000}', '{65537}', '{uniform}', '{0}');

-- the shapes are what they are meant to be
SELECT is(count(*), (10 * 12 * 8 * 2 + 3 * 12 * 8 + 12 * 8 + 2 + 7 * 2 + 2 * 3 + 2)::int8, 'shapes are there')
FROM shapes WHERE cardinality(a) = n;
SELECT cmp_ok(count(*), '>', 10::int8, 'some reach the ends of int4') FROM shapes
WHERE lo = -2147483648 AND hi = 2147483647 AND n < 5000;
SELECT is(count(DISTINCT hi - lo::int8), 1::int8, 'ranges are full') FROM shapes
WHERE n >= 4095 AND range = 256 AND spread IN ('uniform', 'interval');
SELECT is(count(*), 0::int8, 'NULLs are there') FROM shapes
WHERE nulls > 0 AND n >= 4095 AND array_position(a, NULL) IS NULL;

-- All functions, for the shapes of subset, by one algorithm.
CREATE FUNCTION pg_temp.check_arrays(forced text, threads int, subset text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	how text := format(' (%s, %s threads)', forced, threads);
BEGIN
	PERFORM set_config('hpsort.algorithm', forced, true), set_config('max_parallel_workers_per_gather', (threads - 1)::text, true);
	-- only the CPU does as it is told; the device is otherwise what test/run.sh says
	PERFORM set_config('hpsort.device', CASE forced WHEN 'auto' THEN reset_val ELSE 'cpu' END, true)
	FROM pg_settings WHERE name = 'hpsort.device';
	-- something is there to be sorted, and sorted as told
	RETURN NEXT is_empty(format('SELECT 1 WHERE (SELECT count(*) FROM shapes WHERE %s) < 10', subset), 'enough shapes' || how);

	RETURN NEXT pg_temp.holds('hpsort(a) = asc_last', subset, 'hpsort' || how);
	IF forced <> 'auto' THEN
		RETURN NEXT is((SELECT algorithm FROM hpsort_last()), forced, 'as told' || how);
	END IF;
	RETURN NEXT pg_temp.holds('hpsort(a, false, true) = asc_first', subset, 'hpsort, NULLs first' || how);
	RETURN NEXT pg_temp.holds('hpsort(a, true) = desc_first', subset, 'hpsort, descending' || how);
	RETURN NEXT pg_temp.holds('hpsort(a, true, false) = desc_last', subset, 'hpsort, descending, NULLs last' || how);

	RETURN NEXT pg_temp.holds('hpsort(a, lo, hi) = asc_last', subset, 'hpsort within tight bounds' || how);
	RETURN NEXT pg_temp.holds('hpsort(a, lo, hi, true, false) = desc_last', subset, 'hpsort within tight bounds, descending' || how);
	RETURN NEXT pg_temp.holds('hpsort(a, NULL, hi, false, true) = asc_first', subset, 'hpsort within an upper bound' || how);
	RETURN NEXT pg_temp.holds('hpsort(a, lo, NULL, true) = desc_first', subset, 'hpsort within a lower bound' || how);

	RETURN NEXT pg_temp.holds('ARRAY(SELECT hpsort_set(a)) = asc_last', subset, 'hpsort_set' || how);
	RETURN NEXT pg_temp.holds('ARRAY(SELECT hpsort_set(a, false, true)) = asc_first', subset, 'hpsort_set, NULLs first' || how);
	RETURN NEXT pg_temp.holds('ARRAY(SELECT hpsort_set(a, true)) = desc_first', subset, 'hpsort_set, descending' || how);
	RETURN NEXT pg_temp.holds('ARRAY(SELECT x FROM hpsort_set(a, true, false) x) = desc_last', subset, 'hpsort_set, descending, NULLs last' || how);
	RETURN NEXT pg_temp.holds('ARRAY(SELECT hpsort_runs(a)) = runs', subset, 'hpsort_runs' || how);

	IF forced = 'auto' OR (SELECT stable FROM hpsort_algorithms() WHERE algorithm = forced) THEN
		RETURN NEXT pg_temp.holds('hpsort_order(a) = order_asc_last', subset, 'hpsort_order' || how);
		RETURN NEXT pg_temp.holds('hpsort_order(a, false, true) = order_asc_first', subset, 'hpsort_order, NULLs first' || how);
		RETURN NEXT pg_temp.holds('hpsort_order(a, true) = order_desc_first', subset, 'hpsort_order, descending' || how);
		RETURN NEXT pg_temp.holds('hpsort_order(a, true, false) = order_desc_last', subset, 'hpsort_order, descending, NULLs last' || how);
	END IF;
END $$;

SELECT pg_temp.check_arrays('auto', 1, 'true');
SELECT pg_temp.check_arrays('radix', 1, 'n < 4096 OR n = 30000 AND range > 1000');
SELECT pg_temp.check_arrays('zero_compressed', 1, 'coalesce(hi - lo::int8 < 2000000, true) AND (n < 4096 AND nulls > 0 OR n IN (4096, 30000))');
SELECT pg_temp.check_arrays('comparison_free', 1, 'coalesce(hi - lo::int8 < 2000000, true) AND (n IN (0, 1, 2, 16, 17, 4097))');
SELECT pg_temp.check_arrays('comparison_free', 3, 'coalesce(hi - lo::int8 < 2000000, true) AND (n IN (0, 2, 33, 4096, 600000))');
-- the papers' algorithms as they are on the CPU, whatever else sorts here
SELECT pg_temp.check_arrays('hp', 1, 'coalesce(hi - lo::int8 < 2000000, true) AND (n IN (0, 1, 2, 17) OR n = 4097 AND nulls = 0)');
SELECT pg_temp.check_arrays('zero_compressed_published', 1, 'coalesce(hi - lo::int8 < 2000000, true) AND (n IN (0, 1, 2, 17) OR n = 4097 AND nulls = 0)');
SELECT pg_temp.check_arrays('one_hp', 1, 'n < 5000 AND range BETWEEN n AND 1000000 AND spread IN (''ascending'', ''descending'')');
SELECT pg_temp.check_arrays('bucket_radix', 1, 'n IN (0, 1, 2, 17) OR n = 4097 AND nulls = 0 OR n = 30000 AND range = 4294967296');
SELECT pg_temp.check_arrays('bucket_bitonic', 1, 'n IN (0, 1, 2, 17) OR n = 4097 AND nulls = 0 OR n = 30000 AND range = 4294967296');
SELECT pg_temp.check_arrays('comparison_free_onehot', 1, 'coalesce((hi - lo::int8) * n < 2000000, true) AND n < 5000');
SELECT pg_temp.check_arrays('auto', 3, 'n IN (31, 600000)');
RESET hpsort.algorithm;
RESET max_parallel_workers_per_gather;

-- how many threads there were: no more than a parallel query would have processes, by either
-- setting, than there are processors; and never for nothing
CREATE FUNCTION pg_temp.threads_used(allowed int, workers int, n_wanted int, forced text = 'comparison_free') RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('max_parallel_workers_per_gather', (allowed - 1)::text, true), set_config('max_parallel_workers', workers::text, true),
		set_config('hpsort.device', 'cpu', true), set_config('hpsort.algorithm', forced, true);
	PERFORM hpsort(a) FROM shapes WHERE n = n_wanted AND range IN (65536, 65537) ORDER BY id LIMIT 1;
	RETURN (SELECT threads FROM hpsort_last());
END $$;
SELECT is(pg_temp.threads_used(allowed, workers, 600000), least(allowed, workers + 1, 3, processors),
	format('%s threads allowed, %s workers', allowed, workers))
FROM unnest('{1,2,3,1024}'::int[]) allowed, unnest('{0,1,2,8}'::int[]) workers,
	(SELECT substring(name FROM '^[0-9]+')::int AS processors FROM hpsort_devices() WHERE device = 'cpu') d;
SELECT is(pg_temp.threads_used(3, 8, 4097), 1, 'few keys');
SELECT is(pg_temp.threads_used(3, 8, 600000, 'radix'), 1, 'radix has one');
RESET max_parallel_workers;
RESET hpsort.algorithm;
RESET max_parallel_workers_per_gather;
RESET hpsort.device;

-- a promise broken by one key, wherever it is
CREATE FUNCTION pg_temp.complaint(a int4[], lo int4, hi int4) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN cardinality(hpsort(a, lo, hi));
EXCEPTION WHEN numeric_value_out_of_range THEN
	RETURN SQLERRM;
END $$;
SELECT is_empty($$SELECT id, n, range, spread FROM shapes
	WHERE hi > lo AND n <> 30000 AND pg_temp.complaint(a, lo, hi - 1) IS DISTINCT FROM 'key is out of bounds'$$,
	'a key above the bounds');
SELECT is_empty($$SELECT id, n, range, spread FROM shapes
	WHERE hi > lo AND n <> 30000 AND pg_temp.complaint(a, lo + 1, hi) IS DISTINCT FROM 'key is out of bounds'$$,
	'a key below the bounds');

-- the input is left as it was
CREATE FUNCTION pg_temp.untouched(a int4[], lo int4, hi int4) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	before text := a;
BEGIN
	PERFORM hpsort(a), hpsort(a, lo, hi, true), hpsort_order(a, true), (SELECT count(*) FROM hpsort_set(a)), (SELECT count(*) FROM hpsort_runs(a));
	RETURN a::text = before;
END $$;
SELECT is_empty($$SELECT id FROM shapes WHERE n IN (16, 17, 4097, 30000) AND range <> 1 AND NOT pg_temp.untouched(a, lo, hi)$$, 'input untouched');

-- lower bounds of subscripts, for sizes on both sides of every threshold
CREATE FUNCTION pg_temp.shifted(a int4[], lower int) RETURNS int4[] LANGUAGE sql IMMUTABLE AS
$$SELECT array_fill(NULL::int4, ARRAY[cardinality(a)], ARRAY[lower])$$;
CREATE FUNCTION pg_temp.move(a int4[], lower int) RETURNS int4[] LANGUAGE plpgsql AS $$
DECLARE
	b int4[] := pg_temp.shifted(a, lower);
BEGIN
	b[lower:lower + cardinality(a) - 1] := a;
	RETURN b;
END $$;
SELECT is_empty(format($$SELECT id, n FROM shapes, LATERAL (SELECT pg_temp.move(a, %1$s) AS b OFFSET 0) m
	WHERE n IN (1, 2, 16, 17, 4095, 4096) AND spread = 'uniform' AND range = 1000
		AND (array_lower(b, 1) <> %1$s OR hpsort(b) IS DISTINCT FROM pg_temp.move(asc_last, %1$s)
			OR hpsort(b, lo, hi, true) IS DISTINCT FROM pg_temp.move(desc_first, %1$s)
			OR hpsort_order(b) IS DISTINCT FROM order_asc_last)$$, lower), 'lower bound ' || lower)
FROM unnest('{0,-5,2,100000}'::int[]) lower;

-- slices, concatenations and arrays grown in PL/pgSQL have their own layouts
SELECT is_empty($$SELECT id, n FROM shapes WHERE n IN (33, 4097) AND
	(hpsort(a[2:n - 1]) <> ARRAY(SELECT x FROM unnest(a[2:n - 1]) x ORDER BY x)
	OR hpsort(a || NULL::int4 || a) <> ARRAY(SELECT x FROM unnest(a || NULL::int4 || a) x ORDER BY x))$$, 'slices and concatenations');
CREATE FUNCTION pg_temp.grown(n int) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	a int4[] := '{}';
	b int4[];
BEGIN
	FOR i IN 1 .. n LOOP
		a[i] := n - i % 3;
		b := hpsort(a, true);
		IF b[1] <> (SELECT max(x) FROM unnest(a) x) OR cardinality(b) <> i THEN
			RETURN false;
		END IF;
	END LOOP;
	RETURN hpsort(a) = ARRAY(SELECT x FROM unnest(a) x ORDER BY x);
END $$;
SELECT ok(pg_temp.grown(200), 'a PL/pgSQL variable, sorted as it grows');

SELECT * FROM finish();
ROLLBACK;
