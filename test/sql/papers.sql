--
-- The papers' algorithms on the CPU, by the nine names: what they sort, what they refuse,
-- and what hpsort_last() says of them
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS hpsort;
RESET client_min_messages;
\pset format unaligned
SET hpsort.device = cpu;
CREATE FUNCTION pg_temp.by(name text) RETURNS TABLE (sorted int4[], down int4[], runs hpsort_run[], agg int4[],
	algorithm text, device text, n int8, lo int4, hi int4, threads int4, reason text) LANGUAGE plpgsql AS $$
DECLARE
	keys int4[] := '{7,-3,100,NULL,0,42}';
BEGIN
	PERFORM set_config('hpsort.algorithm', name, true);
	sorted := hpsort(keys);
	down := hpsort(keys, -3, 100, true);
	runs := ARRAY(SELECT hpsort_runs(keys));
	agg := (SELECT hpsort_agg(k) FROM unnest(keys) k);
	RETURN QUERY SELECT sorted, down, runs, agg, l.algorithm, l.device, l.n, l.lo, l.hi, l.threads, l.reason FROM hpsort_last() l;
END $$;
SELECT (pg_temp.by(algorithm)).* FROM hpsort_algorithms();

-- where they run, what they give
SELECT algorithm, devices, automatic, stable, limits, memory FROM hpsort_algorithms();

-- the permutation, by those that are stable
CREATE FUNCTION pg_temp.order_by(name text, keys int4[] = '{5,3,NULL,5,3,5}') RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('hpsort.algorithm', name, true);
	RETURN hpsort_order(keys)::text || ' ' || hpsort_order(keys, true)::text;
EXCEPTION WHEN feature_not_supported THEN
	RETURN SQLERRM;
END $$;
SELECT algorithm, pg_temp.order_by(algorithm) FROM hpsort_algorithms();

-- numbers: by bucket_bitonic, whose slices are of their values
SET hpsort.algorithm = bucket_bitonic;
SELECT hpsort_float4('{2,NaN,-Infinity,NULL,-1.5,Infinity,-0,0}'), hpsort_order_float4('{2,NaN,-Infinity,NULL,-1.5,Infinity,0,-0,NaN}');
SELECT function, algorithm, device, n, nulls, lo, hi FROM hpsort_last();
RESET hpsort.algorithm;
SELECT hpsort_order_float4('{0,-0,NaN,-NaN,0}', true), hpsort_order_float4('{}'), hpsort_order_float4(NULL),
	hpsort_order_float4('{NULL,NULL}', false, true), hpsort_order_float4('[5:7]={3,1,NULL}', true);
SELECT hpsort_order_float4('{1}', NULL);
SELECT hpsort_order_float4('{{1,2},{3,4}}');
SET hpsort.algorithm = hp;
SELECT hpsort_order_float4('{2,1}');

-- one_hp: a key that occurs twice, however it comes
SET hpsort.algorithm = one_hp;
SELECT hpsort('{3,1,2,3,1}');
SELECT hpsort('{3,1,2,3,1}', true);
SELECT hpsort_runs('{3,3}');
SELECT hpsort_agg(x % 10) FROM generate_series(1, 100) x;
SELECT cardinality(hpsort_agg(x)) FROM generate_series(1, 100000) x;

-- bounds are checked first
SELECT hpsort('{3,1,2,3,1}', 1, 2);

-- memory: work_mem, but 256 MB are always allowed
SET hpsort.algorithm = hp;
SELECT hpsort('{0,2147483647,-2147483648}');
SET hpsort.algorithm = one_hp;
SELECT hpsort('{0,40000000}');
SET hpsort.algorithm = zero_compressed_published;
SELECT hpsort('{0,40000000}');
SET hpsort.algorithm = comparison_free;
SELECT hpsort('{0,70000000}');
SET hpsort.algorithm = comparison_free_onehot;
SELECT hpsort('{0,200000000}');
SELECT hpsort_order('{0,200000000}');
-- these need none for values
SET hpsort.algorithm = bucket_radix;
SELECT hpsort('{0,2147483647,-2147483648}');
SET hpsort.algorithm = bucket_bitonic;
SELECT hpsort('{0,2147483647,-2147483648}');
-- more is a matter of the setting: beyond 2^26 values
SET work_mem = '600MB';
SET hpsort.algorithm = comparison_free;
SELECT hpsort('{0,70000000}');
SET hpsort.algorithm = hp;
SELECT hpsort('{0,70000000}');
SELECT algorithm, lo, hi FROM hpsort_last();
RESET work_mem;

-- one column of many keys, sorted as a set: the cursor's way
SET hpsort.algorithm = bucket_bitonic;
SELECT count(*), min(x), max(x) FROM (SELECT x, lag(x) OVER () AS y FROM hpsort_query('SELECT (i::int8 * 7919 % 100003)::int4 FROM generate_series(1, 100000) i') x) s WHERE y IS NULL OR y < x;
SELECT function, algorithm, device, n FROM hpsort_last();

-- threads: three where they pay, or as many as there are processors; and one
SET hpsort.algorithm = comparison_free;
SET max_parallel_workers_per_gather = 2;
SELECT cardinality(hpsort(array_agg(i % 1000))) FROM generate_series(1, 600000) i;
SELECT threads = least(3, substring(name FROM '^[0-9]+')::int) AS threads FROM hpsort_last(), hpsort_devices() d WHERE d.device = 'cpu';
SELECT cardinality(hpsort(array_agg(i % 1000))) FROM generate_series(1, 200000) i;
SELECT threads FROM hpsort_last();
RESET max_parallel_workers_per_gather;

-- ORDER BY is not theirs: rows are sorted as by auto
SET hpsort.debug_sort = force;
SELECT x FROM (VALUES (3), (1), (2)) v(x) ORDER BY x;
