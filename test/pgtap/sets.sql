-- Sets: hpsort_set(), hpsort_runs() and hpsort_query() wherever a set can
-- stand, stopped early, rescanned, nested, read through cursors.
\set test sets
\ir setup.psql

CREATE TEMP TABLE data AS SELECT i, CASE WHEN random() > 0.01 THEN floor(random() * 1000)::int END AS x,
	floor(random() * 4294967296 - 2147483648)::int AS wide FROM generate_series(1, 30000) i;
CREATE TEMP TABLE arrays AS
SELECT n AS id, ARRAY(SELECT floor(random() * 100)::int FROM generate_series(1, n)) AS a FROM generate_series(0, 40) n
UNION ALL SELECT 41, NULL
UNION ALL SELECT 42, ARRAY[NULL, 3, NULL]::int4[]
UNION ALL SELECT 43, array_agg(x) FROM data
UNION ALL SELECT 44, array_agg(wide) FROM data;

-- in FROM, in the target list, lateral
SELECT results_eq($$SELECT x FROM hpsort_set((SELECT a FROM arrays WHERE id = 43)) x$$, $$SELECT x FROM data ORDER BY x$$, 'in FROM');
SELECT results_eq($$SELECT hpsort_set(a, true) FROM arrays WHERE id = 43$$, $$SELECT x FROM data ORDER BY x DESC$$, 'in the target list');
SELECT results_eq($$SELECT id, x FROM (SELECT id, hpsort_set(a) AS x FROM arrays ORDER BY id) s$$,
	$$SELECT id, x FROM arrays, unnest(a) x ORDER BY id, x$$, 'in the target list, for every row');
SELECT results_eq($$SELECT id, x FROM (SELECT * FROM arrays ORDER BY id OFFSET 0) s, hpsort_set(a) x$$,
	$$SELECT id, x FROM arrays, unnest(a) x ORDER BY id, x$$, 'lateral');
SELECT results_eq($$SELECT id, r.key, r.count FROM (SELECT * FROM arrays ORDER BY id OFFSET 0) s, hpsort_runs(a) r$$,
	$$SELECT id, x, count(*) FROM arrays, unnest(a) x GROUP BY id, x ORDER BY id, x$$, 'runs, lateral');
SELECT results_eq($$SELECT id, (r).key, (r).count FROM (SELECT id, hpsort_runs(a) AS r FROM arrays ORDER BY id) s$$,
	$$SELECT id, x, count(*) FROM arrays, unnest(a) x GROUP BY id, x ORDER BY id, x$$, 'runs, in the target list');
SELECT pg_temp.same_rows($$SELECT id, (SELECT max(x) FROM hpsort_set(a) x), EXISTS (SELECT FROM hpsort_set(a)) FROM arrays$$,
	$$SELECT id, (SELECT max(x) FROM unnest(a) x), cardinality(a) > 0 IS TRUE FROM arrays$$, 'in subqueries');
SELECT results_eq($$SELECT id, x, n FROM (SELECT * FROM arrays ORDER BY id OFFSET 0) s, hpsort_set(a) WITH ORDINALITY h(x, n)$$,
	$$SELECT id, x, row_number() OVER (PARTITION BY id ORDER BY x) FROM arrays, unnest(a) x ORDER BY id, x$$, 'WITH ORDINALITY');
SELECT results_eq($$SELECT h, r FROM ROWS FROM (hpsort_set('{3,1,2}'), hpsort_runs('{5,5}')) AS s(h, r, c)$$,
	$$VALUES (1, 5), (2, NULL), (3, NULL)$$, 'ROWS FROM');
SELECT results_eq($$SELECT hpsort_set('{3,1,2}'), hpsort_set('{9,8}', true)$$, $$VALUES (1, 9), (2, 8), (3, NULL)$$, 'two sets side by side');
SELECT results_eq($$SELECT hpsort_set(ARRAY(SELECT hpsort_set('{3,1,2}', true)))$$, $$VALUES (1), (2), (3)$$, 'nested');

-- stopped early: only what is asked for is read
SELECT results_eq($$SELECT hpsort_set(a) FROM arrays WHERE id = 43 LIMIT 5$$, $$SELECT x FROM data ORDER BY x LIMIT 5$$, 'LIMIT, target list');
SELECT results_eq($$SELECT hpsort_set(a, true) FROM arrays WHERE id = 44 LIMIT 5$$, $$SELECT wide FROM data ORDER BY wide DESC LIMIT 5$$, 'LIMIT, wide');
SELECT results_eq($$SELECT x FROM hpsort_set((SELECT a FROM arrays WHERE id = 43)) x LIMIT 5 OFFSET 1020$$,
	$$SELECT x FROM data ORDER BY x LIMIT 5 OFFSET 1020$$, 'LIMIT and OFFSET, FROM');
SELECT results_eq($$SELECT id, (SELECT x FROM (SELECT hpsort_set(a) AS x) s LIMIT 1) FROM arrays ORDER BY id$$,
	$$SELECT id, (SELECT x FROM unnest(a) x ORDER BY x LIMIT 1) FROM arrays ORDER BY id$$, 'LIMIT, once a row');
SELECT results_eq($$SELECT hpsort_query('SELECT x FROM data') LIMIT 5$$, $$SELECT x FROM data ORDER BY x LIMIT 5$$, 'LIMIT, query');

-- rescanned
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SELECT pg_temp.same_rows($$SELECT l.x, r.x FROM hpsort_set('{1,2,3,2}') l(x) JOIN hpsort_set('{3,2,2,NULL}') r(x) ON l.x = r.x$$,
	$$SELECT l.x, r.x FROM unnest('{1,2,3,2}'::int[]) l(x) JOIN unnest('{3,2,2,NULL}'::int[]) r(x) ON l.x = r.x$$, 'joined by nested loop');
SELECT pg_temp.same_rows($$SELECT i, x FROM generate_series(1, 3) i, LATERAL (SELECT hpsort_set(ARRAY[3, i, 1]) AS x) s$$,
	$$SELECT i, x FROM generate_series(1, 3) i, LATERAL unnest(ARRAY[3, i, 1]) x$$, 'rescanned with other arguments');
SELECT pg_temp.same_rows($$SELECT i, x FROM generate_series(1, 3) i, hpsort_query(format('VALUES (3), (%s), (1)', i)) x$$,
	$$SELECT i, x FROM generate_series(1, 3) i, LATERAL unnest(ARRAY[3, i, 1]) x$$, 'a query with other texts');
RESET enable_material;
RESET enable_mergejoin;
RESET enable_hashjoin;

-- cursors: a part, forwards; backwards and again where the cursor can
DECLARE c CURSOR FOR SELECT hpsort_set(a) FROM arrays WHERE id = 43;
SELECT results_eq('FETCH 3 FROM c', $$SELECT x FROM data ORDER BY x LIMIT 3$$, 'FETCH');
MOVE 2000 FROM c;
SELECT results_eq('FETCH 3 FROM c', $$SELECT x FROM data ORDER BY x LIMIT 3 OFFSET 2003$$, 'MOVE and FETCH');
CLOSE c;
DECLARE s SCROLL CURSOR FOR SELECT x FROM hpsort_set((SELECT a FROM arrays WHERE id = 44)) x;
MOVE LAST FROM s;
SELECT results_eq('FETCH BACKWARD 3 FROM s', $$SELECT wide FROM data ORDER BY wide DESC LIMIT 3 OFFSET 1$$, 'FETCH BACKWARD');
SELECT results_eq('FETCH FIRST FROM s', $$SELECT min(wide) FROM data$$, 'FETCH FIRST');
CLOSE s;
DECLARE q CURSOR FOR SELECT hpsort_query('SELECT wide FROM data', descending => true);
SELECT results_eq('FETCH 3 FROM q', $$SELECT wide FROM data ORDER BY wide DESC LIMIT 3$$, 'FETCH, query');
-- two open at once, each at its own place
DECLARE c2 CURSOR FOR SELECT hpsort_query('SELECT x FROM data');
SELECT results_eq('FETCH 3 FROM c2', $$SELECT x FROM data ORDER BY x LIMIT 3$$, 'FETCH, another query');
SELECT results_eq('FETCH 3 FROM q', $$SELECT wide FROM data ORDER BY wide DESC LIMIT 3 OFFSET 3$$, 'FETCH, the first query again');
CLOSE q;
CLOSE c2;

-- a set being read while others are sorted, and fail
CREATE FUNCTION pg_temp.interleaved() RETURNS int4[] LANGUAGE plpgsql AS $$
DECLARE
	got int4[] := '{}';
	key int;
BEGIN
	FOR key IN SELECT hpsort_query('SELECT i FROM data WHERE i <= 3000', 1, 3000) LOOP
		got := got || (hpsort(ARRAY[key + 1, key]))[1];
		IF key % 100 = 0 THEN
			BEGIN
				PERFORM hpsort_query('SELECT i FROM data', 1, 100);
				RETURN NULL;
			EXCEPTION WHEN numeric_value_out_of_range THEN
				NULL;
			END;
		END IF;
		EXIT WHEN key = 2500;
	END LOOP;
	RETURN got;
END $$;
SELECT is(pg_temp.interleaved(), ARRAY(SELECT generate_series(1, 2500)), 'read while other sorts fail');

-- hpsort_query: types, nesting, snapshots, rights of its own query
CREATE DOMAIN pg_temp.percent AS int2 CHECK (VALUE BETWEEN 0 AND 100);
CREATE TEMP TABLE typed AS SELECT (i % 101)::int2 AS two, (i % 1000)::int4 AS four, (i * 70000 % 2147483647)::int8 AS eight,
	(i % 101)::pg_temp.percent AS pct FROM generate_series(1, 9000::int8) i;
SELECT results_eq('SELECT x FROM hpsort_query(''SELECT ' || c || ' FROM typed'') x', 'SELECT ' || c || '::int4 FROM typed ORDER BY 1', 'column ' || c)
FROM unnest('{two,four,eight,pct}'::text[]) c;
SELECT results_eq($$SELECT x FROM hpsort_query('SELECT hpsort_query(''SELECT x FROM data'', descending => true)') x$$,
	$$SELECT x FROM data ORDER BY x$$, 'query in query');
SELECT results_eq($$SELECT x FROM hpsort_query('SELECT unnest(hpsort_agg(x)) FROM data GROUP BY i % 7') x$$,
	$$SELECT x FROM data ORDER BY x$$, 'aggregates in query');
SELECT results_eq($$SELECT x FROM hpsort_query('SELECT x FROM data', nulls_first => true) x$$, $$SELECT x FROM data ORDER BY x NULLS FIRST$$, 'query, NULLs first');
SELECT results_eq($$SELECT x FROM hpsort_query('SELECT x FROM data', NULL, 999, true, false) x$$, $$SELECT x FROM data ORDER BY x DESC NULLS LAST$$, 'query, NULLs last');
SELECT results_eq($$WITH w AS (SELECT hpsort_query('SELECT wide FROM data') AS x) SELECT x FROM w$$, $$SELECT wide FROM data ORDER BY 1$$, 'query in a CTE');

-- prepared, called again and again with other arguments
PREPARE sets(int4[], boolean) AS SELECT hpsort_set($1, $2);
SELECT results_eq(format('EXECUTE sets(''{%s,5,NULL}'', %L)', i, i % 2 = 0),
	format('SELECT x FROM unnest(''{%s,5,NULL}''::int[]) x ORDER BY x %s', i, CASE WHEN i % 2 = 0 THEN 'DESC' END), 'prepared ' || i)
FROM generate_series(1, 8) i;
DEALLOCATE sets;

-- toasted arrays: compressed, out of line, both
CREATE TEMP TABLE toasted (kind text, a int4[]);
INSERT INTO toasted SELECT 'compressed', array_agg(i % 3) FROM generate_series(1, 2000) i;
ALTER TABLE toasted ALTER a SET STORAGE EXTERNAL;
INSERT INTO toasted SELECT 'external', array_agg(wide) FROM data;
ALTER TABLE toasted ALTER a SET STORAGE EXTENDED;
INSERT INTO toasted SELECT 'both', array_agg(x) FROM data;
SELECT pg_temp.same_rows('SELECT kind, hpsort(a), hpsort(a, true), ARRAY(SELECT hpsort_set(a)), hpsort_order(a) FROM toasted',
	$$SELECT kind, ARRAY(SELECT x FROM unnest(a) x ORDER BY x), ARRAY(SELECT x FROM unnest(a) x ORDER BY x DESC), ARRAY(SELECT x FROM unnest(a) x ORDER BY x),
		ARRAY(SELECT i::int FROM unnest(a) WITH ORDINALITY u(x, i) ORDER BY x, i) FROM toasted$$, 'toasted');
SELECT is(count(*), 3::int8, 'toasted indeed') FROM toasted
WHERE CASE kind WHEN 'external' THEN pg_column_size(a) >= 4 * cardinality(a) ELSE pg_column_size(a) < 4 * cardinality(a) END;

SELECT * FROM finish();
ROLLBACK;
