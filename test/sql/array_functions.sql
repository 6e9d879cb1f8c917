--
-- hpsort() and hpsort_order(): arrays in, arrays out
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS hpsort;
RESET client_min_messages;
-- ORDER BY is PostgreSQL's own answer below.
SET hpsort.enable_sort = off;

-- every spelling of a call
SELECT hpsort('{3,1,2}');
SELECT hpsort('{3,1,2}', true);
SELECT hpsort('{3,1,NULL,2}', false, true);
SELECT hpsort(ARRAY[3,1,2]::int4[], descending => true);
SELECT hpsort(keys => '{3,NULL,1}', nulls_first => true);
SELECT hpsort(keys => '{3,NULL,1}', nulls_first => false, descending => true);
SELECT hpsort('{3,1,2}', 0, 9);
SELECT hpsort('{3,1,2}', 0, 9, true);
SELECT hpsort('{3,1,NULL,2}', 0, 9, true, false);
SELECT hpsort(keys => '{3,1,2}', hi => 9, lo => 0, descending => true);
SELECT hpsort_order('{30,10,20}');
SELECT hpsort_order('{30,10,20}', true);
SELECT hpsort_order('{30,NULL,10,20}', false, true);
SELECT hpsort_order(keys => '{30,NULL,10,20}', nulls_first => true);

-- directions and NULLs: PostgreSQL's own order beside ours
WITH input(a) AS (VALUES ('{2,NULL,-1,7,NULL,2,0}'::int4[]))
SELECT descending, nulls_first,
       hpsort(a, descending, nulls_first) AS hpsort,
       hpsort(a, -1, 7, descending, nulls_first) AS hpsort_bounds,
       hpsort_order(a, descending, nulls_first) AS hpsort_order,
       CASE WHEN descending AND coalesce(nulls_first, descending)
            THEN ARRAY(SELECT x FROM unnest(a) x ORDER BY x DESC NULLS FIRST)
            WHEN descending
            THEN ARRAY(SELECT x FROM unnest(a) x ORDER BY x DESC NULLS LAST)
            WHEN coalesce(nulls_first, descending)
            THEN ARRAY(SELECT x FROM unnest(a) x ORDER BY x ASC NULLS FIRST)
            ELSE ARRAY(SELECT x FROM unnest(a) x ORDER BY x ASC NULLS LAST)
       END AS core
FROM input, (VALUES (false), (true)) d(descending), (VALUES (NULL), (false), (true)) f(nulls_first)
ORDER BY descending, nulls_first;

-- NULL arguments: no array and no direction give NULL, no bound is no promise
SELECT hpsort(NULL) IS NULL AS keys,
       hpsort('{2,1}', NULL) IS NULL AS descending,
       hpsort('{2,1}', false, NULL) AS nulls_first;
SELECT hpsort(NULL, 0, 9) IS NULL AS keys,
       hpsort('{2,1}', 0, 9, NULL) IS NULL AS descending,
       hpsort('{2,1}', NULL, 9) AS lo,
       hpsort('{2,1}', 0, NULL) AS hi,
       hpsort('{2,1}', NULL::int4, NULL::int4) AS both;
SELECT hpsort_order(NULL) IS NULL AS keys,
       hpsort_order('{2,1}', NULL) IS NULL AS descending,
       hpsort_order('{2,1}', false, NULL) AS nulls_first;

-- empty arrays, single elements, nothing but NULLs
SELECT hpsort('{}'), hpsort('{}', true, true), hpsort('{}', 0, 9), hpsort_order('{}');
SELECT hpsort('{7}'), hpsort('{7}', true), hpsort('{7}', 7, 7), hpsort_order('{7}');
SELECT hpsort('{NULL}'), hpsort('{NULL}', 0, 9), hpsort_order('{NULL}');
SELECT hpsort('{NULL,NULL,NULL}', true), hpsort('{NULL,NULL}', 3, 3), hpsort_order('{NULL,NULL,NULL}', true);

-- a lower bound of the subscripts is kept; positions count from 1
SELECT hpsort('[0:2]={3,1,2}'), hpsort('[-5:-2]={3,NULL,1,2}', true), hpsort('[7:7]={3}');
SELECT hpsort('[0:2]={3,1,2}', 1, 3), hpsort('[-5:-2]={3,NULL,1,2}', 1, 3, true);
SELECT hpsort('[2147483645:2147483646]={2,1}');
SELECT hpsort_order('[0:2]={3,1,2}'), hpsort_order('[-5:-2]={3,NULL,1,2}');

-- the ends of the type, as keys and as bounds
SELECT hpsort('{2147483647,-2147483648,0,-1,1}');
SELECT hpsort('{2147483647,-2147483648,0,-1,1}', true);
SELECT hpsort('{2147483647,-2147483648,0}', -2147483648, 2147483647);
SELECT hpsort('{2147483647,2147483647}', 2147483647, 2147483647),
       hpsort('{-2147483648,-2147483648}', -2147483648, -2147483648);
SELECT hpsort_order('{2147483647,-2147483648,0,-1,1}', true);

-- equal keys keep their input order, in both directions
SELECT hpsort_order('{5,3,5,3,5,NULL,NULL}');
SELECT hpsort_order('{5,3,5,3,5,NULL,NULL}', true);

-- the input is not touched: as a column, as a variable
CREATE TEMP TABLE arrays (id int, a int4[]);
INSERT INTO arrays VALUES (1, '{3,1,2}'), (2, NULL), (3, '{}'), (4, '{9,NULL,8}');
SELECT id, hpsort(a), hpsort(a, true), hpsort_order(a), a FROM arrays ORDER BY id;
DO $$
DECLARE
	a int4[] := '{3,1,2}';
	b int4[];
BEGIN
	b := hpsort(a);
	a[1] := 0;
	RAISE INFO 'a % b %', a, b;
	a := hpsort(a || b, true);
	RAISE INFO 'a %', a;
END $$;

-- results are arrays like any other
SELECT (hpsort('{3,1,2}'))[2], array_length(hpsort('{3,1,2}'), 1), hpsort('{3,1,2}') = '{1,2,3}' AS equal;
SELECT hpsort('{2,1}'::int2[]);
\set VERBOSITY terse
SELECT hpsort('{2,1}'::int8[]);
\set VERBOSITY default
SELECT hpsort('{2,1}'::int8[]::int4[]);

-- as IMMUTABLE functions can: in an index and a generated column
CREATE TEMP TABLE generated (a int4[], sorted int4[] GENERATED ALWAYS AS (hpsort(a)) STORED);
CREATE INDEX ON generated (hpsort(a, true));
INSERT INTO generated VALUES ('{3,1,2}'), ('{5,4}');
SELECT * FROM generated ORDER BY hpsort(a, true);
DROP TABLE generated;
