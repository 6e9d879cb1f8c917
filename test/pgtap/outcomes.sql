-- Queries that may end in an error: they do where core's do, with the same text, and nowhere else, whatever
-- the plan.  What has an error for some rows is computed of as many rows, and what has one in any case only
-- when there is a row.
\set test outcomes
\ir setup.psql

LOAD 'hpsort';
SET LOCAL jit = off;
SET LOCAL plan_cache_mode = force_generic_plan;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL enable_memoize = off;

-- Tables that workers can read: y is the number of a row of its x, from 0 on, and id says where it was put.
CREATE TABLE outcome_data AS SELECT i AS id, i % 50 AS x, i / 50 AS y, 'row ' || i AS note FROM generate_series(0, 4999) i;
CREATE TABLE outcome_empty AS SELECT * FROM outcome_data LIMIT 0;
CREATE TABLE outcome_zero AS SELECT 0 AS k;
CREATE TABLE outcome_few AS SELECT i AS id, i AS n FROM generate_series(1, 12) i;
CREATE SEQUENCE outcome_calls;
ALTER TABLE outcome_data SET (parallel_workers = 2);
ALTER TABLE outcome_empty SET (parallel_workers = 2);
ALTER TABLE outcome_few SET (parallel_workers = 0);
ANALYZE outcome_data;
ANALYZE outcome_empty;
ANALYZE outcome_zero;
ANALYZE outcome_few;

CREATE FUNCTION pg_temp.use_nodes(used boolean) RETURNS void LANGUAGE sql AS $$
SELECT set_config(name, value, true) FROM (VALUES
	('hpsort.enable_sort', used::text), ('hpsort.enable_aggregate', used::text),
	('hpsort.debug_sort', CASE WHEN used THEN 'force' ELSE 'forbid' END), ('hpsort.debug_scan', CASE WHEN used THEN 'force' ELSE 'forbid' END),
	('hpsort.debug_aggregate', CASE WHEN used THEN 'force' ELSE 'forbid' END)) s (name, value)
$$;

-- The rows that a query returns, or the error that it ends in; $1 of the query is 0.
CREATE FUNCTION pg_temp.outcome(query text, OUT result text, OUT has_node boolean) LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	DEALLOCATE ALL;
	has_node := false;
	PERFORM setval('outcome_calls', 1);
	EXECUTE 'PREPARE q (int) AS ' || query;
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) EXECUTE q (0)' LOOP
		has_node := has_node OR line ~ 'HpSort';
	END LOOP;
	BEGIN
		CREATE TEMP TABLE outcome_rows AS EXECUTE q (0);
		SELECT coalesce(string_agg(r::text, ';' ORDER BY r::text), 'no rows') || ' calls ' || (SELECT last_value FROM outcome_calls)
			INTO result FROM outcome_rows r;
		DROP TABLE outcome_rows;
	EXCEPTION WHEN OTHERS THEN
		result := SQLSTATE || ': ' || SQLERRM;
	END;
END $$;

-- The same of the first row that a cursor returns, and what moving over all others ends in.
CREATE FUNCTION pg_temp.cursor_outcome(query text, OUT result text, OUT has_node boolean) LANGUAGE plpgsql AS $$
DECLARE
	c refcursor;
	line text;
BEGIN
	has_node := false;
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) DECLARE c CURSOR FOR ' || query LOOP
		has_node := has_node OR line ~ 'HpSort';
	END LOOP;
	BEGIN
		OPEN c FOR EXECUTE query;
		FETCH c INTO line;
		result := 'first row ' || line;
		MOVE FORWARD ALL FROM c;
		result := result || ' and all others';
		CLOSE c;
	EXCEPTION WHEN OTHERS THEN
		result := coalesce(result, '') || SQLSTATE || ': ' || SQLERRM;
	END;
END $$;

-- fails: what core's outcome is, so that the query is what it is meant to be; NULL: it is another one in PostgreSQL 15.
CREATE FUNCTION pg_temp.check_outcome(query text, fails boolean, settings text, of text DEFAULT 'outcome') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	core record;
	own record;
BEGIN
	PERFORM pg_temp.use_nodes(false);
	EXECUTE format('SELECT * FROM pg_temp.%I($1)', of) INTO core USING query;
	PERFORM pg_temp.use_nodes(true);
	EXECUTE format('SELECT * FROM pg_temp.%I($1)', of) INTO own USING query;
	RETURN NEXT is(own.result, core.result, format('%s (%s)', query, settings));
	IF fails IS NOT NULL THEN
		RETURN NEXT ok((core.result ~ '22012: division by zero') = fails, 'and core has the outcome expected');
	END IF;
	RETURN NEXT ok((own.has_node OR (fails IS NULL AND current_setting('server_version_num')::int < 160000)) AND NOT core.has_node,
		'with a node of hpsort and without');
END $$;

CREATE TEMP TABLE outcome_queries (query text, fails boolean, how text);
INSERT INTO outcome_queries
-- what a window function is compared with
SELECT format('SELECT * FROM (SELECT x, y, %s OVER (%s ORDER BY y) AS r FROM %s) q WHERE r <= %s', function, part, source, value), source = 'outcome_data', NULL
FROM unnest(ARRAY['row_number()', 'rank()', 'dense_rank()']) function, unnest(ARRAY['', 'PARTITION BY x']) part,
	unnest(ARRAY['outcome_data', 'outcome_empty', 'outcome_data WHERE y + 0 > 1000']) source,
	unnest(ARRAY['10 / $1', '(SELECT 10 / k FROM outcome_zero)']) value
UNION ALL
-- the list is computed for the row that ends a group, and for no row after it; before PostgreSQL 16, whose frames stay as they are
-- written, also for rows that were read to find the end of a frame of peers
SELECT format('SELECT * FROM (SELECT x, 1 / (%s - %s) AS e, %s OVER (PARTITION BY x ORDER BY %s %s) AS r FROM outcome_data) q WHERE r <= 3', key, zero, function, key, frame),
	CASE WHEN frame <> '' THEN function = ANY (failing) END, NULL
FROM unnest(ARRAY['row_number()', 'rank()', 'dense_rank()']) function, unnest(ARRAY['', 'ROWS UNBOUNDED PRECEDING']) frame,
	(VALUES ('y', 2, ARRAY['row_number()', 'rank()', 'dense_rank()']), ('y', 3, ARRAY['row_number()', 'rank()', 'dense_rank()']), ('y', 4, '{}'),
		('y / 4', 1, ARRAY['rank()', 'dense_rank()']), ('y / 4', 2, ARRAY['dense_rank()']), ('y / 4', 3, ARRAY['dense_rank()']),
		('y / 4', 4, '{}')) s (key, zero, failing)
UNION ALL
SELECT format('SELECT * FROM (SELECT x, 1 / (y - %s) AS e, %s OVER (PARTITION BY x ORDER BY y %s) AS r FROM outcome_data) q WHERE r <= %s', zero, function, frame, value),
	CASE WHEN frame <> '' THEN zero = 0 END, NULL
FROM unnest(ARRAY['row_number()', 'rank()', 'dense_rank()']) function, unnest(ARRAY['', 'ROWS UNBOUNDED PRECEDING']) frame, unnest(ARRAY[0, 1]) zero, unnest(ARRAY['0', 'nullif($1, 0)', '$1']) value
UNION ALL
SELECT format('SELECT x, r FROM (SELECT x, nextval(''outcome_calls'') AS e, %s OVER (%s ORDER BY x, y) AS r FROM outcome_data) q WHERE r <= 3 OFFSET $1', function, part), false, 'serial'
FROM unnest(ARRAY['row_number()', 'rank()', 'dense_rank()']) function, unnest(ARRAY['', 'PARTITION BY x']) part
UNION ALL
-- the list of a sort
SELECT format('SELECT x, 1 / (id - %s) AS e FROM outcome_data ORDER BY x, id LIMIT %s', zero, bound), zero < 5000, NULL
FROM unnest(ARRAY[0, 4000, 5000]) zero, unnest(ARRAY['3', '3 + $1']) bound
UNION ALL
VALUES ('SELECT x, 1 / (id - 4000) AS e FROM outcome_data ORDER BY x, id', true, NULL),
	('SELECT x, CASE WHEN y > 3 THEN 10 / $1 END AS e FROM outcome_data ORDER BY y, x LIMIT 3', true, NULL),
	('SELECT x, left(note, x) || coalesce(y::text, ''none'') AS e FROM outcome_data ORDER BY y, x LIMIT 3', false, NULL),
	('SELECT x, 10 / $1 AS e FROM outcome_empty ORDER BY x, id LIMIT 3', false, NULL),
	('SELECT * FROM (SELECT x, y, 1 / (id - 4999) AS e FROM outcome_data ORDER BY y, x OFFSET 0) q LIMIT 3', true, NULL),
	('SELECT f.n, q.e FROM outcome_few f LEFT JOIN (SELECT id, coalesce(1 / (id - 4000), 0) AS e FROM outcome_data) q ON q.id = f.id ORDER BY f.id', true, 'merge'),
	('SELECT x FROM outcome_data ORDER BY x LIMIT 10 / $1', true, NULL),
	('SELECT x FROM outcome_empty ORDER BY x LIMIT 10 / $1', true, NULL),
	('SELECT DISTINCT ON (x) x, 1 / (y - 3) AS e FROM outcome_data ORDER BY x, y', true, NULL),
	('SELECT DISTINCT ON (x) x, 1 / (id - 4990) AS e FROM outcome_data ORDER BY x, y LIMIT 1', true, NULL),
	('SELECT * FROM (SELECT DISTINCT ON (x) x, 1 / (id - 4990) AS e FROM outcome_data ORDER BY x, y) q LIMIT 1', true, NULL),
	('SELECT DISTINCT x, 1 / (id - 4990) AS e FROM outcome_data ORDER BY x, e LIMIT 1', true, NULL)
UNION ALL
-- aggregates: bounds and directions with the first row, direct arguments for each group
SELECT format('SELECT %s FROM %s', call, source), coalesce(fails, source = 'outcome_data'), NULL
FROM (VALUES ('hpsort_agg(x, 0, 10 / $1)', NULL), ('hpsort_agg(x, 0, 99, 10 / $1 > 0)', NULL),
		('hpsort_agg(x, 0, 10 / $1) FILTER (WHERE x > 1000)', false), ('hpsort_agg(x, 0, 10 / $1) FILTER (WHERE x > 1000), count(*)', false),
		('count(*) FILTER (WHERE 10 / $1 > 0)', NULL), ('percentile_disc(1.0 / $1) WITHIN GROUP (ORDER BY x)', true),
		('rank(10 / $1) WITHIN GROUP (ORDER BY x)', true)) s (call, fails),
	unnest(ARRAY['outcome_data', 'outcome_empty', 'outcome_data WHERE y > 1000']) source
UNION ALL
SELECT format('SELECT y, %s FROM %s GROUP BY y ORDER BY y', call, source), fails AND source = 'outcome_data', NULL
FROM (VALUES ('hpsort_agg(x, 0, 10 / $1)', true), ('hpsort_agg(x, 0, 10 / $1) FILTER (WHERE x > 1000)', false),
		('percentile_disc(1.0 / $1) WITHIN GROUP (ORDER BY x) FILTER (WHERE x > 1000)', true), ('count(*) FILTER (WHERE 1 / (id - 777) > 0)', true)) s (call, fails),
	unnest(ARRAY['outcome_data', 'outcome_empty']) source
UNION ALL
SELECT format('SELECT 1 / (x - 3), count(*) FROM outcome_data WHERE x <> %s GROUP BY 1', spared), spared <> 3, NULL
FROM unnest(ARRAY[3, 4]) spared
UNION ALL
SELECT 'SELECT x, count(*) FROM outcome_data GROUP BY x HAVING 1 / (count(*) - 100) > 0 ORDER BY x', true, NULL;

SET LOCAL max_parallel_workers_per_gather = 0;
SELECT r FROM outcome_queries q, pg_temp.check_outcome(q.query, q.fails, 'one process') r WHERE how IS DISTINCT FROM 'merge';
SELECT r FROM unnest(ARRAY[
	'SELECT x || '' '' || 1 / (id - 4000) FROM outcome_data ORDER BY x, id',
	'SELECT left(note, 5) FROM outcome_data ORDER BY x, id',
	'SELECT DISTINCT ON (x) x || '' '' || 1 / (id - 4990) FROM outcome_data ORDER BY x, y'
	]) query, pg_temp.check_outcome(query, query ~ '/', 'cursor', 'cursor_outcome') r;
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_nestloop = off;
SELECT r FROM outcome_queries q, pg_temp.check_outcome(q.query, q.fails, 'merge join') r WHERE how = 'merge';
SET LOCAL enable_hashjoin = on;
SET LOCAL enable_nestloop = on;
SET LOCAL work_mem = '64kB';
SELECT r FROM outcome_queries q, pg_temp.check_outcome(q.query, q.fails, 'little memory') r WHERE how IS NULL;
SET LOCAL work_mem = '4MB';
-- HpSort reads no pages of a sample, but takes the rows of the node below it, and copies them.
SELECT r FROM outcome_queries q,
	pg_temp.check_outcome(regexp_replace(q.query, '(FROM outcome_(data|empty))\M', '\1 TABLESAMPLE system (100)', 'g'), q.fails, 'a sample') r
WHERE how IS NULL AND query !~ 'count|rank\(10|percentile|_agg|GROUP BY';
SET LOCAL max_parallel_workers_per_gather = 2;
SELECT r FROM outcome_queries q, pg_temp.check_outcome(q.query, q.fails, 'workers') r WHERE how IS NULL;

-- A LIMIT that changes while the query runs: PostgreSQL's workers know the first one only.
SET LOCAL parallel_leader_participation = off;
SELECT r FROM unnest(ARRAY[
	'SELECT f.n, q.x FROM outcome_few f LEFT JOIN LATERAL (SELECT x, count(DISTINCT y) FROM outcome_data GROUP BY x ORDER BY 1 LIMIT f.n % 4) q ON true',
	'SELECT f.n, q.x FROM outcome_few f LEFT JOIN LATERAL (SELECT DISTINCT x FROM outcome_data ORDER BY 1 LIMIT 3 OFFSET f.n % 4) q ON true',
	'SELECT f.n, q.x FROM outcome_few f LEFT JOIN LATERAL (SELECT * FROM (SELECT x, count(DISTINCT y) FROM outcome_data GROUP BY x ORDER BY 1) i LIMIT f.n % 4) q ON true',
	'SELECT n, (SELECT x FROM outcome_data GROUP BY x ORDER BY x LIMIT 1 OFFSET n) FROM outcome_few'
	]) query, pg_temp.check_outcome(query, false, 'LIMIT that changes') r;
CREATE FUNCTION pg_temp.has_workers(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ 'Parallel Custom Scan \(HpSort' THEN
			RETURN true;
		END IF;
	END LOOP;
	RETURN false;
END $$;
SELECT ok(NOT pg_temp.has_workers('SELECT n, (SELECT id FROM outcome_data ORDER BY y, x LIMIT 1 OFFSET n) FROM outcome_few'), 'no worker sorts below it');
SELECT ok(pg_temp.has_workers('SELECT n, (SELECT id FROM outcome_data ORDER BY y, x LIMIT 1 OFFSET 5) FROM outcome_few'), 'but below one that stays the same');

SELECT * FROM finish();
ROLLBACK;
