-- gpu_published.sql: every algorithm of hpsort_algorithms() on a GPU, by name,
-- equal to PostgreSQL's own ORDER BY and GROUP BY, or refused with the reason.
-- Run by gpu_sql.sh with hpsort.device = gpu and ON_ERROR_STOP; the last line
-- says how many checks were made.
\set QUIET 1
\set ON_ERROR_STOP 1
\pset tuples_only
SET hpsort.device = gpu;
-- what is expected is PostgreSQL's own
SET hpsort.enable_sort = off;
SET hpsort.enable_aggregate = off;
SET client_min_messages = warning;

CREATE TEMP TABLE shapes AS
SELECT name, a, (SELECT array_agg(x ORDER BY x) FROM unnest(a) x) AS up,
	(SELECT array_agg(x ORDER BY x DESC) FROM unnest(a) x) AS down,
	(SELECT array_agg((x, c)::hpsort_run ORDER BY x) FROM (SELECT x, count(*) c FROM unnest(a) x GROUP BY x) g) AS runs,
	(SELECT array_agg(i::int4 ORDER BY x, i) FROM unnest(a) WITH ORDINALITY u(x, i)) AS order_up,
	(SELECT array_agg(i::int4 ORDER BY x DESC, i) FROM unnest(a) WITH ORDINALITY u(x, i)) AS order_down,
	(SELECT count(*) = count(DISTINCT x) FROM unnest(a) x) AS all_distinct
FROM (
	SELECT 'two', '{2,1}'::int4[]
	UNION ALL SELECT 'permuted', (SELECT array_agg((i::int8 * 7919 % 100003)::int4 - 50000) FROM generate_series(1, 100002) i)
	UNION ALL SELECT 'narrow', (SELECT array_agg(abs(hashint4(i)) % 1000 - 300) FROM generate_series(1, 200000) i)
	UNION ALL SELECT 'sparse', (SELECT array_agg(abs(hashint4(i)) % 300000) FROM generate_series(1, 100000) i)
	UNION ALL SELECT 'ends', (SELECT array_agg(2147483647 - abs(hashint4(i) % 5000)) FROM generate_series(1, 5000) i)
	UNION ALL SELECT 'wide', (SELECT array_agg(hashint4(i)) FROM generate_series(1, 300000) i)
) v(name, a);

-- An algorithm's answers for a shape, counted; anything wrong is an error.
CREATE FUNCTION pg_temp.check_shape(algo text, s shapes) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	last record;
	ok bool;
	checks int := 0;
BEGIN
	FOR ok IN
		SELECT hpsort(s.a) = s.up
		UNION ALL SELECT hpsort(s.a, true) = s.down
		UNION ALL SELECT hpsort(s.a, s.up[1], s.up[cardinality(s.up)]) = s.up
		UNION ALL SELECT ARRAY(SELECT hpsort_set(s.a)) = s.up
		UNION ALL SELECT ARRAY(SELECT hpsort_runs(s.a)) = s.runs
		UNION ALL SELECT hpsort_agg(x) = s.up FROM unnest(s.a) x
		UNION ALL SELECT hpsort_runs_agg(x) = s.runs FROM unnest(s.a) x
	LOOP
		checks := checks + 1;
		IF ok IS NOT TRUE THEN
			RAISE 'check % of % by % is wrong', checks, s.name, algo;
		END IF;
	END LOOP;
	PERFORM hpsort(s.a);
	SELECT * INTO last FROM hpsort_last();
	IF last.device <> 'gpu' OR last.algorithm <> algo THEN
		RAISE '% by %: was done by % on %', s.name, algo, last.algorithm, last.device;
	END IF;
	RETURN checks + 1;
END $$;

-- The stable permutation, of those that have one; zero_compressed chooses its own way.
CREATE FUNCTION pg_temp.check_order(algo text, s shapes) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	last record;
BEGIN
	IF hpsort_order(s.a) IS DISTINCT FROM s.order_up OR hpsort_order(s.a, true) IS DISTINCT FROM s.order_down THEN
		RAISE 'permutation of % by % is wrong', s.name, algo;
	END IF;
	SELECT * INTO last FROM hpsort_last();
	IF last.device <> 'gpu' OR last.algorithm <> algo THEN
		RAISE 'permutation of % by %: was done by % on %', s.name, algo, last.algorithm, last.device;
	END IF;
	IF hpsort_order(NULL::int4 || s.a || NULL::int4) IS DISTINCT FROM
		(SELECT array_agg(i + 1 ORDER BY place) FROM unnest(s.order_up) WITH ORDINALITY u(i, place)) || ARRAY[1, cardinality(s.a) + 2] THEN
		RAISE 'permutation of % with NULLs by % is wrong', s.name, algo;
	END IF;
	RETURN 4;
END $$;

CREATE FUNCTION pg_temp.refusal(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE command;
	RETURN 'no error';
EXCEPTION WHEN feature_not_supported OR configuration_limit_exceeded THEN
	RETURN SQLERRM;
END $$;

CREATE FUNCTION pg_temp.check_all() RETURNS TABLE (algorithm text, shapes int, checks int) LANGUAGE plpgsql AS $$
DECLARE
	s shapes;
	words text;
BEGIN
	FOR algorithm IN SELECT h.algorithm FROM hpsort_algorithms() h LOOP
		shapes := 0;
		checks := 0;
		PERFORM set_config('hpsort.algorithm', algorithm, false);
		FOR s IN SELECT * FROM shapes v WHERE
			CASE algorithm
				WHEN 'one_hp' THEN v.all_distinct AND v.name <> 'wide'
				WHEN 'comparison_free_onehot' THEN v.name IN ('two', 'narrow', 'ends')
				-- the engine's own choice, where it counts
				WHEN 'zero_compressed' THEN v.name IN ('two', 'narrow')
				WHEN 'bucket_radix' THEN true
				WHEN 'bucket_bitonic' THEN true
				WHEN 'radix' THEN true
				ELSE v.name <> 'wide' END
		LOOP
			shapes := shapes + 1;
			checks := checks + pg_temp.check_shape(algorithm, s);
			IF (SELECT h.stable FROM hpsort_algorithms() h WHERE h.algorithm = check_all.algorithm) THEN
				checks := checks + pg_temp.check_order(algorithm, s);
			END IF;
		END LOOP;
		words := pg_temp.refusal($q$SELECT hpsort_order('{3,1,2}')$q$);
		IF (words LIKE '%cannot return a permutation') IS DISTINCT FROM
			(SELECT NOT h.stable FROM hpsort_algorithms() h WHERE h.algorithm = check_all.algorithm) THEN
			RAISE 'permutation by %: %', algorithm, words;
		END IF;
		checks := checks + 1;
		RETURN NEXT;
	END LOOP;
END $$;
RESET hpsort.enable_aggregate;
SELECT * FROM pg_temp.check_all();
SET hpsort.enable_aggregate = off;

-- Fails unless the last sort was by this algorithm on the GPU.
CREATE FUNCTION pg_temp.check_last(algo text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	last record;
BEGIN
	SELECT * INTO last FROM hpsort_last();
	IF last.device <> 'gpu' OR last.algorithm <> algo THEN
		RAISE '% was to sort on the gpu: done by % on %', algo, last.algorithm, last.device;
	END IF;
	RETURN last.device || ' ' || last.algorithm;
END $$;

-- what cannot be done names the reason, with device auto as well
SET hpsort.algorithm = one_hp;
SELECT pg_temp.refusal('SELECT hpsort(ARRAY[5,3,5])');
SET hpsort.device = auto;
SELECT pg_temp.refusal('SELECT hpsort(ARRAY[5,3,5])');
SELECT hpsort(ARRAY[5,3,4]), (SELECT device || ' ' || algorithm FROM hpsort_last());
SET hpsort.algorithm = comparison_free_onehot;
SELECT pg_temp.refusal($q$SELECT hpsort(a) FROM shapes WHERE name = 'wide'$q$);
SET hpsort.device = gpu;
SELECT pg_temp.refusal($q$SELECT hpsort(a) FROM shapes WHERE name = 'wide'$q$);

-- keys that are sent while the sorter fills, more than the service's first million
CREATE TEMP TABLE many AS SELECT abs(hashint4(i)) % 3000000 AS x FROM generate_series(1, 2500000) i;
SET hpsort.device = gpu;
SET hpsort.algorithm = hp;
SELECT 1 / (hpsort_agg(x) = array_agg(x ORDER BY x))::int FROM many;
SELECT pg_temp.check_last('hp');
SET hpsort.algorithm = comparison_free_onehot;
SELECT pg_temp.refusal('SELECT hpsort_agg(x) FROM many');
SET hpsort.device = auto;
SELECT pg_temp.refusal('SELECT hpsort_agg(x) FROM many');
SET hpsort.algorithm = bucket_radix;
SET hpsort.device = gpu;
SELECT 1 / (hpsort_agg(x) = array_agg(x ORDER BY x))::int FROM many;
SELECT pg_temp.check_last('bucket_radix');

-- float4
SET hpsort.algorithm = bucket_bitonic;
SELECT 1 / (hpsort_float4(a) = (SELECT array_agg(x ORDER BY x) FROM unnest(a) x))::int, pg_temp.check_last('bucket_bitonic')
FROM (SELECT array_agg(CASE i % 1000 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' ELSE (hashint4(i) / 7.0)::float4 END) FROM generate_series(1, 200000) i) v(a);
SET hpsort.algorithm = hp;
SELECT pg_temp.refusal($q$SELECT hpsort_float4('{2,1}')$q$);

-- the permutation of equal keys, crowded, and of rows that are moved with it
SET hpsort.algorithm = bucket_bitonic;
CREATE TEMP TABLE crowded AS SELECT array_agg(CASE WHEN i % 3 = 0 THEN i % 1000 ELSE i % 2 * 1000000 END) AS a FROM generate_series(1, 5000000) i;
SELECT 1 / (hpsort_order(a) = (SELECT array_agg(i::int4 ORDER BY x, i) FROM unnest(a) WITH ORDINALITY u(x, i)))::int,
	1 / (hpsort_order(a, true) = (SELECT array_agg(i::int4 ORDER BY x DESC, i) FROM unnest(a) WITH ORDINALITY u(x, i)))::int,
	pg_temp.check_last('bucket_bitonic') FROM crowded;
-- of all GPUs of the service each has its part
SELECT 1 / (coalesce(substring(reason FROM 'on (\d+) gpus')::int, 1) = (SELECT count(*) FROM hpsort_devices() WHERE device = 'gpu'))::int,
	coalesce(substring(reason FROM 'on \d+ gpus'), 'on one gpu') FROM hpsort_last();

-- memory for less than one pass: cut, sorted, merged; for less than that: refused
ALTER SYSTEM SET hpsort.gpu_memory_limit = '56MB';
SELECT pg_reload_conf(), pg_sleep(2) \g /dev/null
SELECT 1 / (hpsort(a) = (SELECT array_agg(x ORDER BY x) FROM unnest(a) x))::int FROM crowded;
SELECT regexp_replace(reason, '.*(in \d+ parts that were merged).*', '\1') FROM hpsort_last();
SELECT pg_temp.refusal('SELECT hpsort_order(a) FROM crowded');
ALTER SYSTEM SET hpsort.gpu_memory_limit = '90MB';
SELECT pg_reload_conf(), pg_sleep(2) \g /dev/null
SELECT 1 / (hpsort_order(a) = (SELECT array_agg(i::int4 ORDER BY x, i) FROM unnest(a) WITH ORDINALITY u(x, i)))::int FROM crowded;
SELECT regexp_replace(reason, '.*(in \d+ parts that were merged).*', '\1') FROM hpsort_last();
ALTER SYSTEM RESET hpsort.gpu_memory_limit;
SELECT pg_reload_conf(), pg_sleep(2) \g /dev/null
