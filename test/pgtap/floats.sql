-- hpsort_float4(): equal to ORDER BY, NaN, -0, infinities and NULLs included.
\set test floats
\ir setup.psql

-- Numbers of all magnitudes, a few of each that are special, NULLs in every
-- other array.
CREATE FUNCTION pg_temp.numbers(n int, special float8, nulls float8) RETURNS float4[] LANGUAGE sql VOLATILE AS $$
	SELECT coalesce(array_agg(CASE
		WHEN random() < nulls THEN NULL
		WHEN random() < special THEN ('{NaN,-NaN,Infinity,-Infinity,0,-0,1e-45,-1e-45,3.4028235e38,-3.4028235e38}'::float4[])[1 + floor(random() * 10)]
		ELSE ((random() - 0.5) * 10 ^ (random() * 70 - 35))::float4 END), '{}')
	FROM generate_series(1, n)
$$;
CREATE TEMP TABLE inputs AS
SELECT n, pg_temp.numbers(n, special, nulls) AS a
FROM unnest('{0,1,2,3,16,17,500,4095,4096,4097,20000}'::int[]) n, unnest('{0,0.2,1}'::float8[]) special, unnest('{0,0.2,1}'::float8[]) nulls;
INSERT INTO inputs SELECT n, ('[-3:' || n - 4 || ']=' || a::text)::float4[] FROM inputs WHERE n IN (2, 500) AND cardinality(a) = n;
SELECT cmp_ok(count(*), '>', 10::int8, 'NaN is there') FROM inputs WHERE 'NaN' = ANY (a);
SELECT cmp_ok(count(*), '>', 10::int8, '-0 is there') FROM inputs WHERE '-0' = ANY (a::text[]);

-- what PostgreSQL itself makes of them; -0 and 0 are equal, and so are arrays
CREATE FUNCTION pg_temp.ordered(a float4[], descending bool, nulls_first bool) RETURNS float4[] LANGUAGE plpgsql AS $$
DECLARE
	result float4[];
BEGIN
	EXECUTE format('SELECT array_agg(x ORDER BY x %s NULLS %s) FROM unnest($1) x',
		CASE WHEN descending THEN 'DESC' ELSE 'ASC' END, CASE WHEN nulls_first THEN 'FIRST' ELSE 'LAST' END)
	INTO result USING a;
	RETURN coalesce(result, '{}');
END $$;

CREATE FUNCTION pg_temp.check_floats(forced text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('hpsort.algorithm', forced, true);
	RETURN NEXT is_empty('SELECT n, a FROM inputs WHERE ARRAY(SELECT unnest(hpsort_float4(a))) <> pg_temp.ordered(a, false, false)', forced || ': ascending');
	RETURN NEXT is_empty('SELECT n, a FROM inputs WHERE ARRAY(SELECT unnest(hpsort_float4(a, true))) <> pg_temp.ordered(a, true, true)', forced || ': descending');
	RETURN NEXT is_empty('SELECT n, a FROM inputs WHERE ARRAY(SELECT unnest(hpsort_float4(a, false, true))) <> pg_temp.ordered(a, false, true)', forced || ': NULLs first');
	RETURN NEXT is_empty('SELECT n, a FROM inputs WHERE ARRAY(SELECT unnest(hpsort_float4(a, true, false))) <> pg_temp.ordered(a, true, false)', forced || ': descending, NULLs last');
	-- nothing is lost: the same texts, -0 and all, as often
	RETURN NEXT is_empty('SELECT n FROM inputs WHERE n < 20000 AND
		(SELECT array_agg(x::text ORDER BY x::text) FROM unnest(a) x) IS DISTINCT FROM
		(SELECT array_agg(x::text ORDER BY x::text) FROM unnest(hpsort_float4(a)) x)', forced || ': bit for bit');
	RETURN NEXT is_empty('SELECT n FROM inputs WHERE array_lower(hpsort_float4(a), 1) IS DISTINCT FROM array_lower(a, 1)', forced || ': lower bounds kept');
END $$;
SELECT pg_temp.check_floats('auto');
SELECT pg_temp.check_floats('radix');
SELECT pg_temp.check_floats('bucket_bitonic');

-- the permutation: 0 and -0 are equal, and all NaNs
CREATE FUNCTION pg_temp.positions(a float4[], descending bool, nulls_first bool) RETURNS int4[] LANGUAGE plpgsql AS $$
DECLARE
	result int4[];
BEGIN
	EXECUTE format('SELECT array_agg(i ORDER BY x %s NULLS %s, i) FROM unnest($1) WITH ORDINALITY u(x, i)',
		CASE WHEN descending THEN 'DESC' ELSE 'ASC' END, CASE WHEN nulls_first THEN 'FIRST' ELSE 'LAST' END)
	INTO result USING a;
	RETURN coalesce(result, '{}');
END $$;
CREATE TEMP TABLE ordered_inputs AS SELECT n, a, pg_temp.positions(a, false, false) AS asc_last, pg_temp.positions(a, true, true) AS desc_first,
	pg_temp.positions(a, false, true) AS asc_first, pg_temp.positions(a, true, false) AS desc_last FROM inputs;
CREATE FUNCTION pg_temp.check_positions(forced text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('hpsort.algorithm', forced, true);
	RETURN NEXT is_empty('SELECT n FROM ordered_inputs WHERE hpsort_order_float4(a) <> asc_last', forced || ': permutation');
	RETURN NEXT is_empty('SELECT n FROM ordered_inputs WHERE hpsort_order_float4(a, true) <> desc_first', forced || ': permutation, descending');
	RETURN NEXT is_empty('SELECT n FROM ordered_inputs WHERE hpsort_order_float4(a, false, true) <> asc_first', forced || ': permutation, NULLs first');
	RETURN NEXT is_empty('SELECT n FROM ordered_inputs WHERE hpsort_order_float4(a, true, false) <> desc_last', forced || ': permutation, descending, NULLs last');
END $$;
SELECT pg_temp.check_positions('auto');
SELECT pg_temp.check_positions('radix');
SELECT pg_temp.check_positions('bucket_bitonic');
SELECT is((SELECT (function, algorithm, lo, hi)::text FROM hpsort_last()), '(hpsort_order_float4,bucket_bitonic,,)', 'by bucket_bitonic indeed');
RESET hpsort.algorithm;

SELECT is(hpsort_float4('{2,NaN,-Infinity,NULL,-1.5,Infinity}')::text, '{-Infinity,-1.5,2,Infinity,NaN,NULL}', 'one by hand');
SELECT is(hpsort_float4(NULL), NULL::float4[], 'NULL');
SELECT is(hpsort_float4('{1,2}', NULL), NULL::float4[], 'NULL for descending');
SELECT is((SELECT (function, n, nulls, lo, hi)::text FROM hpsort_last()), '(hpsort_float4,5,1,,)', 'hpsort_last');
SELECT throws_ok($$SELECT hpsort_float4('{{1,2},{3,4}}')$$, '2202E', 'array of keys must be one-dimensional', 'two dimensions');

-- PL/pgSQL's arrays, as they came and taken apart: read where they lie, and
-- left as they are
CREATE FUNCTION pg_temp.check_plpgsql(a float4[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	x float4[] := a;
	was text;
	got float4[];
BEGIN
	FOR i IN 1..4 LOOP
		was := x::text;
		got := hpsort_float4(x);
		IF ARRAY(SELECT unnest(got)) <> pg_temp.ordered(x, false, false) THEN
			RETURN 'wrong after ' || i || ': ' || got::text;
		ELSIF x::text <> was THEN
			RETURN 'argument changed: ' || x::text;
		END IF;
		IF i = 1 THEN				-- taken apart
			x[array_lower(x, 1) + 1] := 'NaN';
		ELSIF i = 2 THEN			-- and made longer
			x := x || '-0'::float4 || NULL::float4;
		ELSE
			x := hpsort_float4(x, true);
		END IF;
	END LOOP;
	RETURN 'right';
END $$;
SELECT is(pg_temp.check_plpgsql(a), 'right', 'in PL/pgSQL: ' || n || ' numbers') FROM inputs WHERE n > 1 AND cardinality(a) > 1 AND n < 5000;
DO $$
DECLARE
	flat float4[] := '{{2,1},{4,3}}';
BEGIN
	flat[1][1] := 5;
	PERFORM hpsort_float4(flat);
	RAISE 'no error';
EXCEPTION WHEN array_subscript_error THEN
	NULL;
END $$;

-- a domain over float4[], and arrays that are stored: toasted, or with a short header
CREATE DOMAIN pg_temp.readings AS float4[] CHECK (cardinality(VALUE) > 0);
SELECT is(hpsort_float4('{3,NaN,1}'::pg_temp.readings)::text, '{1,3,NaN}', 'a domain');
SELECT is((SELECT hpsort_float4(r)::text FROM (SELECT array_agg(x)::pg_temp.readings FROM generate_series(9, 1, -1) x) v(r)), '{1,2,3,4,5,6,7,8,9}', 'a domain of an aggregate');
CREATE TEMP TABLE stored (a float4[], external float4[]);
ALTER TABLE stored ALTER external SET STORAGE EXTERNAL;
INSERT INTO stored SELECT a, a FROM inputs UNION ALL SELECT array_agg(1.5), array_agg(1.5) FROM generate_series(1, 50000);
SELECT is_empty('SELECT cardinality(a) FROM stored WHERE ARRAY(SELECT unnest(hpsort_float4(a))) <> pg_temp.ordered(a, false, false)
	OR ARRAY(SELECT unnest(hpsort_float4(external))) <> pg_temp.ordered(a, false, false)', 'stored arrays');
SELECT cmp_ok(max(pg_column_size(a) - cardinality(a) * 4), '<', 100, 'whose largest are as large as ever') FROM stored;
SELECT cmp_ok(min(pg_column_size(a) - cardinality(a) * 4), '<', -100000, 'or compressed') FROM stored;

SELECT * FROM finish();
ROLLBACK;
