--
-- hpsort_set(), hpsort_runs() and hpsort_query(): sets in order
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS hpsort;
RESET client_min_messages;

-- hpsort_set
SELECT * FROM hpsort_set('{3,NULL,1,2,1}');
SELECT * FROM hpsort_set('{3,NULL,1,2,1}', true);
SELECT array_agg(x) FROM hpsort_set('{3,NULL,1}', false, true) x;
SELECT array_agg(x) FROM hpsort_set(nulls_first => false, keys => '{3,NULL,1}', descending => true) x;
SELECT hpsort_set('{3,NULL,1}') AS x, generate_series(1, 4) AS i;
SELECT count(*) FROM hpsort_set('{}');
SELECT count(*) FROM hpsort_set(NULL);
SELECT count(*) FROM hpsort_set('{1,2}', NULL);
SELECT count(*), count(x) FROM hpsort_set('{NULL,NULL}') x;
SELECT x, i FROM hpsort_set('[5:7]={30,10,20}') WITH ORDINALITY s(x, i);

-- hpsort_runs
SELECT * FROM hpsort_runs('{3,NULL,1,3,1,3,NULL}');
SELECT (r).key, (r).count FROM (SELECT hpsort_runs('{5,5,2147483647,-2147483648}') AS r) s;
SELECT r FROM hpsort_runs(keys => '{5}') r;
SELECT count(*) FROM hpsort_runs('{}');
SELECT count(*) FROM hpsort_runs(NULL);
SELECT * FROM hpsort_runs('{NULL}');
SELECT pg_typeof(r), pg_typeof(r.key), pg_typeof(r.count) FROM hpsort_runs('{1}') r;

-- in FROM a set is stored as a whole: in memory or not, read again, backwards, beside others
SET hpsort.enable_sort = off;
CREATE TEMP TABLE spread AS SELECT nullif(i % 7919, 5) * 271 AS x, i FROM generate_series(1, 40000) i;
CREATE FUNCTION pg_temp.differs() RETURNS TABLE (set bigint, runs bigint, runs_first bigint) LANGUAGE sql AS $$
SELECT
	(SELECT count(*) FROM hpsort_set((SELECT array_agg(x) FROM spread)) WITH ORDINALITY h(x, n)
		FULL JOIN (SELECT x, row_number() OVER (ORDER BY x) AS n FROM spread) core USING (n) WHERE h.x IS DISTINCT FROM core.x),
	(SELECT count(*) FROM hpsort_runs((SELECT array_agg(x) FROM spread)) WITH ORDINALITY h(x, k, n)
		FULL JOIN (SELECT x, count(*) AS k, row_number() OVER (ORDER BY x) AS n FROM spread GROUP BY x) core USING (n)
		WHERE (h.x, h.k) IS DISTINCT FROM (core.x, core.k)),
	(SELECT count(*) FROM hpsort_column_runs('spread', 'x', descending => true) WITH ORDINALITY h(x, k, n)
		FULL JOIN (SELECT x, count(*) AS k, row_number() OVER (ORDER BY x DESC) AS n FROM spread GROUP BY x) core USING (n)
		WHERE (h.x, h.k) IS DISTINCT FROM (core.x, core.k))
$$;
SELECT * FROM pg_temp.differs();
SET work_mem = '64kB';
SELECT * FROM pg_temp.differs();
RESET work_mem;
SELECT * FROM generate_series(1, 3) i, LATERAL hpsort_runs(ARRAY[i, 2, NULL]) r WHERE r.count > 0;
SELECT * FROM ROWS FROM (hpsort_runs('{2,1,2}'), hpsort_set('{9,8,7}'), generate_series(1, 4)) AS s(key, count, x, i);
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT * FROM hpsort_runs('{3,1,NULL,3}');
FETCH ALL FROM c;
FETCH BACKWARD ALL FROM c;
COMMIT;
-- in a select list it is streamed: what is not asked for is not returned
SELECT hpsort_set(ARRAY[i, 0]) AS x, hpsort_runs(ARRAY[i, i]) AS r FROM generate_series(1, 2) i;
SELECT hpsort_column_runs('spread', 'x') LIMIT 2;
DROP FUNCTION pg_temp.differs();
RESET hpsort.enable_sort;

-- hpsort_query: columns of every integer type, and of domains over them
SELECT * FROM hpsort_query('SELECT x FROM (VALUES (3), (NULL), (1), (2), (1)) v(x)');
SELECT array_agg(x) FROM hpsort_query('VALUES (3), (1), (NULL), (2)', 1, 3, true) x;
SELECT array_agg(x) FROM hpsort_query('VALUES (3), (1), (NULL), (2)', descending => true, nulls_first => false) x;
SELECT array_agg(x) FROM hpsort_query('VALUES (3), (1), (NULL), (2)', nulls_first => true) x;
SELECT array_agg(x) FROM hpsort_query(query => 'VALUES (3), (1), (2)', hi => 3) x;
SELECT array_agg(x) FROM hpsort_query('SELECT x::int2 FROM generate_series(3, 1, -1) x') x;
SELECT array_agg(x) FROM hpsort_query('SELECT x::int8 FROM generate_series(3, 1, -1) x') x;
SELECT array_agg(x) FROM hpsort_query('SELECT count(*) FROM generate_series(1, 5)') x;
CREATE DOMAIN small AS int2 CHECK (VALUE < 100);
CREATE DOMAIN smaller AS small CHECK (VALUE < 50);
SELECT array_agg(x) FROM hpsort_query('SELECT x::smaller FROM generate_series(3, 1, -1) x') x;
SELECT array_agg(x), pg_typeof(min(x)) FROM hpsort_query('VALUES (2147483647::int8), (-2147483648)') x GROUP BY ();
SELECT count(*) FROM hpsort_query('SELECT 1 WHERE false');
SELECT count(*) FROM hpsort_query(NULL);
SELECT count(*) FROM hpsort_query('SELECT 1', descending => NULL);
SELECT hpsort_query('VALUES (2), (1)');
SELECT array_agg(x) FROM hpsort_query('SELECT 2 UNION SELECT 1;') x;
SELECT array_agg(x) FROM hpsort_query('WITH w AS (SELECT 5 AS n) SELECT n FROM w -- a comment') x;
SELECT array_agg(x) FROM hpsort_query('SELECT x FROM hpsort_query(''VALUES (2), (1)'', descending => true) x') x;

-- it sees what its caller's transaction has done ...
CREATE TABLE numbers (x int);
INSERT INTO numbers VALUES (3), (1), (2);
SELECT array_agg(x) FROM hpsort_query('SELECT x FROM numbers') x;
SELECT array_agg(x) FROM hpsort_query('TABLE numbers') x;
BEGIN;
INSERT INTO numbers VALUES (0);
SELECT array_agg(x) FROM hpsort_query('SELECT x FROM numbers') x;
ROLLBACK;
SELECT array_agg(x) FROM hpsort_query('SELECT x FROM numbers') x;
-- ... and does nothing but read: what else returns rows is refused before it is run
SELECT * FROM hpsort_query('DELETE FROM numbers WHERE x > 1 RETURNING x');
SELECT * FROM hpsort_query('INSERT INTO numbers VALUES (4) RETURNING x');
SELECT * FROM hpsort_query('UPDATE numbers SET x = x + 1 RETURNING x');
SELECT * FROM hpsort_query('WITH gone AS (DELETE FROM numbers RETURNING x) SELECT x FROM gone');
SELECT * FROM hpsort_query('SELECT x FROM numbers FOR UPDATE');
SELECT * FROM hpsort_query('SELECT x FROM (SELECT x FROM numbers FOR SHARE) s');
SELECT * FROM hpsort_query('WITH locked AS MATERIALIZED (SELECT x FROM numbers FOR KEY SHARE) SELECT 1 WHERE EXISTS (SELECT FROM locked)');
SELECT * FROM hpsort_query('EXPLAIN ANALYZE DELETE FROM numbers');
CREATE RULE also AS ON DELETE TO numbers DO ALSO SELECT 1;
SELECT * FROM hpsort_query('DELETE FROM numbers RETURNING x');
DROP RULE also ON numbers;
SELECT array_agg(x) FROM hpsort_query('SELECT x FROM numbers') x;
-- names are those of the search_path at the time of the call, which REFRESH and a restore empty ...
CREATE SCHEMA hpsort_test;
CREATE TABLE hpsort_test.numbers (x int);
INSERT INTO hpsort_test.numbers VALUES (20), (10);
CREATE FUNCTION hpsort_test.ordered() RETURNS SETOF int LANGUAGE sql SET search_path = hpsort_test, public
	AS $$SELECT hpsort_query('SELECT x FROM numbers')$$;
BEGIN;
SET LOCAL search_path = pg_catalog, pg_temp;
SELECT public.hpsort_query('SELECT x FROM numbers');
ROLLBACK;
-- ... unless the query says them in full, or a function brings its own
BEGIN;
SET LOCAL search_path = pg_catalog, pg_temp;
SELECT public.hpsort_query('SELECT x FROM hpsort_test.numbers');
SELECT hpsort_test.ordered();
SELECT public.hpsort_column('hpsort_test.numbers', 'x');
ROLLBACK;
SET client_min_messages = warning;
DROP SCHEMA hpsort_test CASCADE;
RESET client_min_messages;
DROP TABLE numbers;

-- with the rights of the caller
CREATE ROLE regress_hpsort_user;
CREATE TABLE secret (x int);
INSERT INTO secret VALUES (42);
SET ROLE regress_hpsort_user;
SELECT * FROM hpsort_query('SELECT x FROM secret');
RESET ROLE;
GRANT SELECT ON secret TO regress_hpsort_user;
SET ROLE regress_hpsort_user;
SELECT * FROM hpsort_query('SELECT x FROM secret');
RESET ROLE;
-- what somebody else could read is not told afterwards
REVOKE SELECT ON secret FROM regress_hpsort_user;
CREATE FUNCTION pg_temp.of_secret() RETURNS int LANGUAGE sql SECURITY DEFINER AS $$SELECT cardinality(hpsort_column_array('secret', 'x'))$$;
SET ROLE regress_hpsort_user;
SELECT hpsort('{2,1}');
SELECT function, lo, hi FROM hpsort_last();
SELECT pg_temp.of_secret();
SELECT function, lo, hi FROM hpsort_last();
RESET ROLE;
SELECT function, lo, hi FROM hpsort_last();
DROP FUNCTION pg_temp.of_secret();
DROP TABLE secret;
DROP ROLE regress_hpsort_user;

-- the error of a query is reported with the query
SELECT * FROM hpsort_query('SELECT 1/x FROM generate_series(-2, 2) x');

-- its type is what it was
BEGIN;
ALTER TYPE hpsort_run ADD ATTRIBUTE more text;
SELECT hpsort_runs('{1,1,2}');
ROLLBACK;
BEGIN;
ALTER TYPE hpsort_run ADD ATTRIBUTE more text;
SELECT hpsort_runs_agg(x) FROM generate_series(1, 3) x;
ROLLBACK;

DROP DOMAIN smaller, small;
