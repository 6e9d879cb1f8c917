-- hpsort() and PostgreSQL 18's array_sort(): the same function of one
-- dimension.  Skipped where there is no array_sort.
\set test array_sort
\ir setup.psql

SELECT EXISTS (SELECT FROM pg_proc WHERE proname = 'array_sort' AND pronamespace = 'pg_catalog'::regnamespace) AS has_array_sort \gset
\if :has_array_sort

SELECT pg_temp.make_shapes('{0,1,2,3,15,16,17,32,33}', '{1,3,256,65536,4294967296}', '{uniform,zipf,few,outliers}', '{0,0.2,1}');
SELECT pg_temp.make_shapes('{4095,4096,4097}', '{2,256,2049,65536,4294967296}', '{uniform,descending,outliers}', '{0,0.01}');

-- as they are, and with another lower bound
CREATE TEMP TABLE inputs AS
SELECT a FROM shapes
UNION ALL
SELECT ('[' || lower || ':' || lower + n - 1 || ']=' || a::text)::int4[] FROM shapes, unnest('{0,-5,7}'::int[]) lower
WHERE n IN (1, 2, 17, 4096);
INSERT INTO inputs VALUES (NULL);
SELECT cmp_ok(count(*), '>', 10::int8, 'lower bounds') FROM inputs WHERE array_lower(a, 1) < 1;

SELECT is_empty('SELECT a FROM inputs WHERE hpsort(a) IS DISTINCT FROM array_sort(a)', 'one argument');
SELECT is_empty(format('SELECT a FROM inputs WHERE hpsort(a, %1$L::boolean) IS DISTINCT FROM array_sort(a, %1$L::boolean)', d), 'two arguments: ' || coalesce(d::text, 'NULL'))
FROM unnest('{false,true,NULL}'::boolean[]) d;
SELECT is_empty(format('SELECT a FROM inputs WHERE hpsort(a, %1$L::boolean, %2$L::boolean) IS DISTINCT FROM array_sort(a, %1$L::boolean, %2$L::boolean)', d, f),
	format('three arguments: %s, %s', coalesce(d::text, 'NULL'), coalesce(f::text, 'NULL')))
FROM unnest('{false,true}'::boolean[]) d, unnest('{false,true}'::boolean[]) f;
-- array_sort is strict in all its arguments; ours takes a NULL nulls_first for its default
SELECT is_empty(format('SELECT a FROM inputs WHERE hpsort(a, %1$L::boolean, NULL) IS DISTINCT FROM array_sort(a, %1$L::boolean)', d), 'nulls_first of NULL: ' || d)
FROM unnest('{false,true}'::boolean[]) d;
SELECT is_empty('SELECT a FROM inputs WHERE array_lower(hpsort(a, true), 1) IS DISTINCT FROM array_lower(array_sort(a, true), 1)', 'lower bounds kept');
-- the names of the arguments too
SELECT is((SELECT proargnames FROM pg_proc WHERE oid = 'hpsort(int4[], bool, bool)'::regprocedure)[2:3],
	(SELECT proargnames FROM pg_proc WHERE oid = 'pg_catalog.array_sort(anyarray, bool, bool)'::regprocedure)[2:3], 'argument names');

\else
SELECT skip('no array_sort before PostgreSQL 18', 1);
\endif

SELECT * FROM finish();
ROLLBACK;
