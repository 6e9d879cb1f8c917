--
-- Every error: SQLSTATE, message, detail and hint
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS hpsort;
RESET client_min_messages;
\pset format unaligned
\pset tuples_only

CREATE FUNCTION pg_temp.error_of(command text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	state text;
	message text;
	detail text;
	hint text;
BEGIN
	EXECUTE command;
	RETURN NEXT 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
		detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN NEXT state || ': ' || message;
	-- what core says beyond "does not exist" and "is not unique" depends on its version
	IF state IN ('42883', '42725') THEN
		RETURN;
	END IF;
	IF detail <> '' THEN
		RETURN NEXT 'DETAIL: ' || detail;
	END IF;
	IF hint <> '' THEN
		RETURN NEXT 'HINT: ' || hint;
	END IF;
END $$;

-- a key outside the bounds, which is not named
SELECT pg_temp.error_of($$SELECT hpsort('{1,300,-7,2}', 0, 255)$$);
SELECT pg_temp.error_of($$SELECT hpsort('{1,-7,300,2}', 0, 255, true, true)$$);
SELECT pg_temp.error_of($$SELECT hpsort('{7}', 0, 6)$$);
SELECT pg_temp.error_of($$SELECT hpsort('{NULL,7,NULL}', 8, NULL)$$);
SELECT pg_temp.error_of($$SELECT hpsort('{-2147483648}', -2147483647, 2147483647)$$);
SELECT pg_temp.error_of($$SELECT hpsort('{2147483647}', -2147483648, 2147483646)$$);
SELECT pg_temp.error_of($$SELECT hpsort(array_agg(x), 1, 99999) FROM generate_series(1, 100000) x$$);
SELECT pg_temp.error_of($$SELECT hpsort(array_agg(x * 20000), 1, 2000000000) FROM generate_series(1, 100001) x$$);
SELECT pg_temp.error_of($$SELECT hpsort_agg(x, 1, 2) FROM generate_series(1, 3) x$$);
SELECT pg_temp.error_of($$SELECT hpsort_agg(x, 1, 2, true) FROM generate_series(1, 3) x$$);
SELECT pg_temp.error_of($$SELECT hpsort_agg(x, 1, 2) OVER (ORDER BY x) FROM generate_series(1, 3) x$$);
SELECT pg_temp.error_of($$SELECT hpsort_agg(x, 1, 99999) FROM generate_series(1, 100000) x$$);
SELECT pg_temp.error_of($$SELECT hpsort_agg(x, 0, 20000000) FROM generate_series(-1, 100000) x$$);
SELECT pg_temp.error_of($$SELECT hpsort_agg(x * 20000, NULL, 2000000000) FROM generate_series(1, 100001) x$$);
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('VALUES (1), (3)', 1, 2)$$);
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('VALUES (1), (3::int2)', 1, 2)$$);
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('SELECT generate_series(1, 100000)', 1, 99999, true)$$);

-- of other types too
SELECT pg_temp.error_of($$SELECT hpsort_agg(x) FROM (VALUES (1), (2147483648)) v(x)$$);
SELECT pg_temp.error_of($$SELECT hpsort_runs_agg(x) FROM (VALUES (1), (-2147483649)) v(x)$$);
SELECT pg_temp.error_of($$SELECT hpsort_agg(x, 1, 2) FROM (VALUES (1), (3::int8)) v(x)$$);
SELECT pg_temp.error_of($$SELECT hpsort_agg(x, 1, 2) FROM (VALUES (3::int2)) v(x)$$);
SELECT pg_temp.error_of($$SELECT hpsort_agg(x, '2000-01-02', NULL) FROM (VALUES (date '2000-01-01')) v(x)$$);
SELECT pg_temp.error_of($$SELECT hpsort_agg(x) FROM (VALUES (1.5)) v(x)$$);
SELECT pg_temp.error_of($$SELECT hpsort_agg(NULL)$$);
SELECT pg_temp.error_of($$SELECT hpsort_agg('5')$$);

-- lo > hi, whether or not there are keys
SELECT pg_temp.error_of($$SELECT hpsort('{1,2}', 2, 1)$$);
SELECT pg_temp.error_of($$SELECT hpsort('{}', 2, 1)$$);
SELECT pg_temp.error_of($$SELECT hpsort('{1,2}', 2147483647, -2147483648)$$);
SELECT pg_temp.error_of($$SELECT hpsort_agg(x, 2, 1) FROM (VALUES (1)) v(x)$$);
SELECT pg_temp.error_of($$SELECT hpsort_agg(x, 2, 1, true) FROM (VALUES (NULL::int)) v(x)$$);
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('SELECT 1', 2, 1)$$);

-- bounds or direction that change within a group; NULLs are rows too
SELECT pg_temp.error_of($$SELECT hpsort_agg(x, 0, 9 + x) FROM generate_series(0, 1) x$$);
SELECT pg_temp.error_of($$SELECT hpsort_agg(x, -x, 9) FROM generate_series(0, 1) x$$);
SELECT pg_temp.error_of($$SELECT hpsort_agg(x, 0, 9, x = 1) FROM generate_series(0, 1) x$$);
SELECT pg_temp.error_of($$SELECT hpsort_agg(NULL::int, 0, 9 + x) FROM generate_series(0, 1) x$$);
SELECT pg_temp.error_of($$SELECT x, hpsort_agg(x, 0, 9 + x) FROM generate_series(0, 1) x GROUP BY x$$);

-- more than one dimension
SELECT pg_temp.error_of($$SELECT hpsort('{{1,2},{3,4}}')$$);
SELECT pg_temp.error_of($$SELECT hpsort('{{{1}}}')$$);
SELECT pg_temp.error_of($$SELECT hpsort('{{1,2},{3,4}}', 0, 9)$$);
SELECT pg_temp.error_of($$SELECT hpsort_order('{{1,2},{3,4}}')$$);
SELECT pg_temp.error_of($$SELECT hpsort_order_float4('{{1,2},{3,4}}')$$);
SELECT pg_temp.error_of($$SELECT hpsort_set('{{1,2},{3,4}}')$$);
SELECT pg_temp.error_of($$SELECT hpsort_runs('{{1,2},{3,4}}')$$);

-- hpsort_query: something else than one integer column
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('SELECT')$$);
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('SELECT 1, 2')$$);
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('SELECT ''1''::text AS t')$$);
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('SELECT 1.5')$$);
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('SELECT true AS yes')$$);
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('SELECT ARRAY[1]')$$);
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('SELECT 1::oid')$$);
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('SHOW work_mem')$$);
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('EXPLAIN SELECT 1')$$);
-- no statement, two statements, not a statement
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('')$$);
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('-- nothing')$$);
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('SELECT 1; SELECT 2')$$);
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('SELEC 1')$$);
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('SELECT $1')$$);
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('SELECT x FROM no_such_table')$$);
-- int8 values that are no int4
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('SELECT 2147483648')$$);
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('SELECT -2147483649')$$);
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('SELECT 9223372036854775807', 0, 9)$$);
-- what returns no rows is not run
CREATE TEMP TABLE victim (x int);
INSERT INTO victim VALUES (1);
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('CREATE TABLE offspring (x int)')$$);
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('DROP TABLE victim')$$);
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('DELETE FROM victim')$$);
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('SELECT x INTO offspring FROM victim')$$);
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('DELETE FROM victim RETURNING x, x')$$);
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('DELETE FROM victim; SELECT 1')$$);
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('SELECT 1; DROP TABLE victim')$$);
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('COMMIT')$$);
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('COPY victim TO STDOUT')$$);
SELECT x, to_regclass('offspring') IS NULL AS no_offspring FROM victim;

-- one that sorts distinct keys
SET hpsort.device = cpu;
SET hpsort.algorithm = one_hp;
SELECT pg_temp.error_of($$SELECT hpsort('{2,1,2}')$$);
SELECT pg_temp.error_of($$SELECT hpsort('{2,1,1}', 1, 2)$$);
SELECT pg_temp.error_of($$SELECT hpsort_set('{2,2}')$$);
SELECT pg_temp.error_of($$SELECT hpsort_runs('{2,2}')$$);
SELECT pg_temp.error_of($$SELECT hpsort_agg(x) FROM (VALUES (2), (2)) v(x)$$);
SELECT pg_temp.error_of($$SELECT hpsort_runs_agg(x) FROM (VALUES (2), (2)) v(x)$$);
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('VALUES (2), (2)')$$);
-- those without a permutation say why
SELECT pg_temp.error_of($$SELECT hpsort_order('{2,1}')$$);
SET hpsort.algorithm = hp;
SELECT pg_temp.error_of($$SELECT hpsort_order('{2,1}')$$);
SET hpsort.algorithm = zero_compressed_published;
SELECT pg_temp.error_of($$SELECT hpsort_order('{2,1}')$$);
SET hpsort.algorithm = bucket_radix;
SELECT pg_temp.error_of($$SELECT hpsort_order('{2,1}')$$);
-- floating-point numbers are not counted
SET hpsort.algorithm = zero_compressed;
SELECT pg_temp.error_of($$SELECT hpsort_float4('{2,1}')$$);
SELECT pg_temp.error_of($$SELECT hpsort_order_float4('{2,1}')$$);
-- an algorithm that cannot count so many values there
SET hpsort.algorithm = zero_compressed;
SELECT pg_temp.error_of($$SELECT hpsort('{2147483647,-2147483648}')$$);
SELECT pg_temp.error_of($$SELECT hpsort('{0,268435456}')$$);
SELECT pg_temp.error_of($$SELECT hpsort_order('{0,268435456}')$$);
SELECT pg_temp.error_of($$SELECT hpsort_set('{0,268435456}')$$);
SELECT pg_temp.error_of($$SELECT hpsort_runs('{0,268435456}')$$);
SELECT pg_temp.error_of($$SELECT hpsort_agg(x) FROM (VALUES (0), (268435456)) v(x)$$);
SELECT pg_temp.error_of($$SELECT hpsort_runs_agg(x) FROM (VALUES (0), (268435456)) v(x)$$);
SELECT pg_temp.error_of($$SELECT * FROM hpsort_query('VALUES (0), (268435456)')$$);
SELECT pg_temp.error_of($$SELECT hpsort('{2147483647,2147483640}')$$);
-- or that needs more memory for it than there may be
SET hpsort.algorithm = comparison_free;
SELECT pg_temp.error_of($$SELECT hpsort('{0,268435456}')$$);
SELECT pg_temp.error_of($$SELECT hpsort_set('{0,268435456}')$$);
SELECT pg_temp.error_of($$SELECT hpsort_runs_agg(x) FROM (VALUES (0), (268435456)) v(x)$$);
-- or has no permutation
SELECT pg_temp.error_of($$SELECT hpsort_order('{2,1}')$$);
RESET hpsort.algorithm;
RESET hpsort.device;

-- settings
SELECT pg_temp.error_of($$SET hpsort.algorithm = quick$$);
SELECT pg_temp.error_of($$SET hpsort.device = tpu$$);
SELECT pg_temp.error_of($$SET hpsort.cost_factor = -1$$);
SELECT pg_temp.error_of($$SET hpsort.cost_factors = 2$$);

-- an error leaves nothing behind: the same session goes on
SELECT hpsort('{2,1}'), (SELECT hpsort_agg(x) FROM (VALUES (2), (1)) v(x));
