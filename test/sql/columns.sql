--
-- Columns of tables: hpsort_column(), hpsort_column_array(), hpsort_column_runs(),
-- and Custom Scan (HpSort Aggregate)
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS hpsort;
RESET client_min_messages;
LOAD 'hpsort';
SET max_parallel_workers_per_gather = 0;

CREATE TABLE readings (note text, gone int8, key int4, small int2, big int8, day date, nothing int4);
INSERT INTO readings
SELECT 'note ' || i, i, CASE WHEN i % 5 > 0 THEN i % 4 END, i % 3, i * 10, date '2000-01-01' + i, NULL
FROM generate_series(1, 12) i;
ALTER TABLE readings DROP COLUMN gone;
ALTER TABLE readings ADD COLUMN late int4 DEFAULT 7;
ALTER TABLE readings ADD COLUMN later int4;
INSERT INTO readings VALUES (NULL, NULL, NULL, NULL, NULL, NULL, 1, 2);

-- in order, of every type
SELECT hpsort_column_array('readings', 'key');
SELECT hpsort_column_array('readings', 'key', descending => true);
SELECT hpsort_column_array('readings', 'key', descending => true, nulls_first => false);
SELECT hpsort_column_array('readings', 'key', 1, 3, nulls_first => true);
SELECT hpsort_column_array('readings', 'small'), hpsort_column_array('readings', 'big');
SELECT hpsort_column_array('readings', 'nothing'), hpsort_column_array('readings', 'late'), hpsort_column_array('readings', 'later');
-- a date is its days since 2000-01-01
SELECT date '2000-01-01' + d AS day FROM hpsort_column('readings', 'day') d LIMIT 2;
SELECT hpsort_column('readings', 'key') LIMIT 4;
SELECT * FROM hpsort_column_runs('readings', 'key');
SELECT * FROM hpsort_column_runs('readings', 'key', descending => true);
SELECT function, n, nulls, lo, hi FROM hpsort_last();

-- nothing, and NULL arguments
CREATE TABLE nothing (x int4);
SELECT hpsort_column_array('nothing', 'x') IS NULL AS array, (SELECT count(*) FROM hpsort_column('nothing', 'x')) AS set,
	(SELECT count(*) FROM hpsort_column_runs('nothing', 'x')) AS runs;
SELECT hpsort_column_array(NULL, 'x') IS NULL AS rel, hpsort_column_array('nothing', NULL) IS NULL AS attribute,
	hpsort_column_array('nothing', 'x', descending => NULL) IS NULL AS descending;

-- rows as the table is known to have them
VACUUM ANALYZE readings;
SET jit = off; -- which would be shown
EXPLAIN SELECT * FROM hpsort_column('readings', 'key');
RESET jit;

-- what is wrong
SELECT hpsort_column_array('readings', 'note');
SELECT hpsort_column_array('readings', 'gone');
SELECT hpsort_column_array('readings', 'ctid');
SELECT hpsort_column_array('unknown', 'x');
SELECT hpsort_column_array(0, 'x');
SELECT hpsort_column_array('readings', 'key', 2, 1);
SELECT hpsort_column_array('readings', 'key', 0, 2);
SELECT hpsort_column('readings', 'key', 1);
INSERT INTO readings (big) VALUES (3000000000);
SELECT hpsort_column_array('readings', 'big');
DELETE FROM readings WHERE big = 3000000000;

-- what is not a table
CREATE VIEW even AS SELECT key, count(*) AS n FROM readings WHERE key % 2 = 0 GROUP BY key;
CREATE MATERIALIZED VIEW stored AS SELECT key FROM readings WITH NO DATA;
CREATE SEQUENCE numbers START 5;
CREATE TYPE pair AS (x int4, y int4);
SELECT hpsort_column_array('even', 'key'), hpsort_column_array('even', 'n'), hpsort_column_array('numbers', 'last_value');
SELECT hpsort_column_array('stored', 'key');
REFRESH MATERIALIZED VIEW stored;
SELECT hpsort_column_array('stored', 'key');

-- trees of tables: each with its own layout
CREATE TABLE tree (id int4, x int4) PARTITION BY RANGE (id);
CREATE TABLE tree_1 PARTITION OF tree FOR VALUES FROM (0) TO (10);
CREATE TABLE tree_2 (x int4, gone text, id int4);
ALTER TABLE tree_2 DROP COLUMN gone;
ALTER TABLE tree ATTACH PARTITION tree_2 FOR VALUES FROM (10) TO (20);
INSERT INTO tree SELECT i, 20 - i FROM generate_series(0, 19) i;
CREATE TABLE parent (x int4);
CREATE TABLE child (y text) INHERITS (parent);
INSERT INTO parent VALUES (3), (1);
INSERT INTO child VALUES (2, ''), (4, '');
SELECT hpsort_column_array('tree', 'x'), hpsort_column_array('tree_2', 'x');
SELECT hpsort_column_array('parent', 'x'), hpsort_column_array('child', 'x');

-- rights: those of SELECT attribute FROM rel
CREATE ROLE hpsort_reader;
GRANT SELECT (key) ON readings TO hpsort_reader;
GRANT SELECT ON tree TO hpsort_reader;
CREATE TABLE policed (x int4, owner name);
INSERT INTO policed SELECT i, CASE WHEN i % 2 = 0 THEN 'hpsort_reader' ELSE 'somebody' END FROM generate_series(1, 10) i;
GRANT SELECT ON policed TO hpsort_reader;
ALTER TABLE policed ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON policed USING (owner = current_user);
CREATE SCHEMA hidden;
CREATE TABLE hidden.visible (x int4);
GRANT SELECT ON hidden.visible TO hpsort_reader;
SELECT 'hidden.visible'::regclass::oid AS hidden \gset
SET ROLE hpsort_reader;
SELECT hpsort_column_array('readings', 'key');
SELECT hpsort_column_array('readings', 'small');
SELECT hpsort_column_array('stored', 'key');
SELECT hpsort_column_array('even', 'key');
-- of a tree, the root's
SELECT hpsort_column_array('tree', 'x');
SELECT hpsort_column_array('tree_1', 'x');
SELECT hpsort_column_array(:hidden, 'x');
-- row security is in force, or an error
SELECT hpsort_column_array('policed', 'x');
SET hpsort.debug_aggregate = force;
EXPLAIN (COSTS OFF) SELECT hpsort_agg(x) FROM policed;
SELECT hpsort_agg(x) FROM policed;
SELECT hpsort_query('SELECT x FROM policed') LIMIT 2;
RESET hpsort.debug_aggregate;
SET row_security = off;
SELECT hpsort_column_array('policed', 'x');
RESET row_security;
RESET ROLE;
SELECT hpsort_column_array('policed', 'x');
DROP TABLE policed;
DROP SCHEMA hidden CASCADE;
-- and the aggregates' own, whatever the plan
REVOKE EXECUTE ON FUNCTION hpsort_agg(int4) FROM PUBLIC;
SET ROLE hpsort_reader;
SET hpsort.debug_aggregate = force;
SELECT hpsort_agg(x) FROM tree;
SELECT hpsort_runs_agg(x) IS NOT NULL AS allowed FROM tree;
SET hpsort.enable_aggregate = off;
SELECT hpsort_agg(x) FROM tree;
RESET hpsort.enable_aggregate;
RESET hpsort.debug_aggregate;
RESET ROLE;
GRANT EXECUTE ON FUNCTION hpsort_agg(int4) TO PUBLIC;

-- as the statement sees it: what it has done itself is there, later changes are not
BEGIN;
WITH new AS (INSERT INTO nothing VALUES (1) RETURNING x) SELECT hpsort_column_array('nothing', 'x') IS NULL AS before FROM new;
SELECT hpsort_column_array('nothing', 'x');
ROLLBACK;
CREATE FUNCTION pg_temp.change() RETURNS int4[] LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO nothing VALUES (2);
	RETURN hpsort_column_array('nothing', 'x');
END $$;
SELECT pg_temp.change();
DELETE FROM nothing;

--
-- The plan
--
SET hpsort.debug_aggregate = force;
EXPLAIN (COSTS OFF) SELECT hpsort_agg(key) FROM readings;
EXPLAIN (COSTS OFF) SELECT hpsort_agg(key), hpsort_runs_agg(small), hpsort_agg(key, 0, 9, true) FROM readings r WHERE note LIKE 'note 1%';
EXPLAIN (COSTS OFF, VERBOSE) SELECT cardinality(hpsort_agg(small)) + 1 FROM readings HAVING cardinality(hpsort_agg(small)) > 2;
EXPLAIN (COSTS OFF) SELECT hpsort_agg(x) FROM tree;
EXPLAIN (COSTS OFF) SELECT hpsort_agg(x) FROM tree WHERE id < 5;
EXPLAIN (COSTS OFF) SELECT hpsort_agg(x) FROM parent;
EXPLAIN (COSTS OFF) SELECT hpsort_agg(x) FROM stored s(x);
EXPLAIN (COSTS OFF) SELECT s, keys FROM generate_series(0, 2) s, LATERAL (SELECT hpsort_agg(key) FROM readings WHERE small = s) l(keys);

-- and what it returns
SELECT hpsort_agg(key), hpsort_agg(small), hpsort_agg(key, 0, 9, true), hpsort_runs_agg(small) FROM readings;
EXPLAIN (COSTS OFF) SELECT hpsort_agg(big), hpsort_agg(day) FROM readings;
SELECT hpsort_agg(big), hpsort_agg(big, 10, 120, true), hpsort_runs_agg(big) FROM readings;
SELECT hpsort_agg(day), hpsort_agg(day, '2000-01-02', '2000-01-13', true), hpsort_runs_agg(day) FROM readings;
SELECT hpsort_agg(small) = array_agg(small ORDER BY small) AS small, hpsort_agg(big) = array_agg(big ORDER BY big) AS big,
	hpsort_agg(day) = array_agg(day ORDER BY day) AS day FROM readings;
SELECT hpsort_agg(key) FROM readings WHERE note LIKE 'note 1%';
SELECT hpsort_agg(x) FROM tree WHERE id < 5;
SELECT hpsort_agg(x) FROM parent;
SELECT cardinality(hpsort_agg(small)) + 1 AS n FROM readings HAVING cardinality(hpsort_agg(small)) > 2;
SELECT cardinality(hpsort_agg(small)) + 1 AS n FROM readings HAVING cardinality(hpsort_agg(small)) > 100;
SELECT s, (SELECT hpsort_agg(key) FROM readings WHERE small = s) FROM generate_series(0, 3) s;
SELECT unnest(hpsort_agg(x)) FROM parent ORDER BY 1 DESC;
SELECT hpsort_agg(x) IS NULL AS none, hpsort_agg(x, 9, 1) IS NULL AS bad_bounds_of_none FROM nothing;
SELECT hpsort_agg(key, 9, 1) FROM readings;
SELECT hpsort_agg(key, 0, 1) FROM readings;
SELECT hpsort_agg(key) FROM readings WHERE 1 / (key - 1) > 0;
PREPARE bounded(int4, int4, bool) AS SELECT hpsort_agg(key, $1, $2, $3) FROM readings WHERE key BETWEEN $1 AND $2;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE bounded(1, 2, true);
EXECUTE bounded(1, 2, true);
EXECUTE bounded(0, 1, false);
RESET plan_cache_mode;
SELECT * FROM (SELECT hpsort_agg(x) AS a FROM tree) a, LATERAL (SELECT hpsort_agg(key) AS b FROM readings WHERE key < cardinality(a)) b;

-- executed: what was done, by column
CREATE FUNCTION pg_temp.explain_analyze(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, FORMAT JSON) ' || query INTO plan;
	RETURN QUERY SELECT format('%s: %s', key, value) FROM json_each(plan -> 0 -> 'Plan')
		WHERE key IN ('Node Type', 'Custom Plan Provider', 'Relation Name', 'Aggregates', 'Tables', 'Filter', 'Rows Removed by Filter',
			'Scan Filter', 'Rows Removed by Scan Filter', 'Algorithm', 'Keys');
END $$;
SELECT pg_temp.explain_analyze('SELECT hpsort_agg(key), hpsort_runs_agg(small) FROM readings WHERE big > 30');
SELECT pg_temp.explain_analyze('SELECT hpsort_agg(key) FROM readings WHERE big > 30 HAVING hpsort_agg(key) IS NULL');

-- by several processes
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT hpsort_agg(key), hpsort_runs_agg(key) FROM readings WHERE small < 2;
SELECT hpsort_agg(key), hpsort_runs_agg(key) FROM readings WHERE small < 2;
SELECT hpsort_agg(small), hpsort_agg(big), hpsort_agg(day) FROM readings;
EXPLAIN (COSTS OFF) SELECT hpsort_agg(x) FROM tree;
SELECT hpsort_agg(x) FROM tree;
SELECT hpsort_column_array('tree', 'x'), hpsort_column_array('readings', 'key');
RESET min_parallel_table_scan_size;
RESET parallel_tuple_cost;
RESET parallel_setup_cost;
SET max_parallel_workers_per_gather = 0;

-- where it cannot be used, core does it
CREATE FUNCTION pg_temp.uses_aggregate_node(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN plan::text LIKE '%HpSort Aggregate%';
END $$;
SELECT query, pg_temp.uses_aggregate_node(query) FROM (VALUES
	('SELECT hpsort_agg(key) FROM readings'),
	('SELECT hpsort_agg(DISTINCT key) FROM readings'),
	('SELECT hpsort_agg(key ORDER BY key) FROM readings'),
	('SELECT hpsort_agg(key) FILTER (WHERE small = 1) FROM readings'),
	('SELECT hpsort_agg(key + 1) FROM readings'),
	('SELECT hpsort_agg(key, small, 9) FROM readings'),
	('SELECT hpsort_agg(key), count(*) FROM readings'),
	('SELECT small, hpsort_agg(key) FROM readings GROUP BY small'),
	('SELECT hpsort_agg(key) FROM readings, nothing'),
	('SELECT hpsort_agg(key) FROM readings TABLESAMPLE SYSTEM (50)'),
	('SELECT hpsort_agg(key) FROM (SELECT key FROM readings LIMIT 3) s'),
	('SELECT hpsort_agg(key) FROM readings WHERE small IN (SELECT x FROM nothing WHERE x <> key)'),
	('SELECT hpsort_agg(key) OVER () FROM readings'),
	('SELECT hpsort_agg(key) FROM even'),
	('SELECT hpsort_agg(x) FROM generate_series(1, 3) x'),
	('SELECT array_agg(key ORDER BY key) FROM readings'),
	('SELECT sum(key) FROM readings')) q(query);

-- settings
SET hpsort.debug_aggregate = allow;
SELECT pg_temp.uses_aggregate_node('SELECT hpsort_agg(key) FROM readings') AS allowed;
-- parameters of a loop around it have names
SET hpsort.debug_aggregate = force;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
EXPLAIN (COSTS OFF) SELECT * FROM generate_series(1, 3) g, LATERAL (SELECT hpsort_agg(key) FROM readings WHERE small < g) s;
RESET enable_mergejoin;
RESET enable_hashjoin;
SET hpsort.debug_aggregate = allow;
-- what the executor would prune is core's
SELECT pg_temp.uses_aggregate_node('SELECT hpsort_agg(x) FROM tree WHERE id < 15') AS constant,
	pg_temp.uses_aggregate_node('SELECT hpsort_agg(x) FROM tree WHERE x < extract(epoch FROM now())') AS other_column,
	pg_temp.uses_aggregate_node('SELECT hpsort_agg(x) FROM tree WHERE id < extract(epoch FROM now())') AS pruned_later;
SET hpsort.debug_aggregate = forbid;
SELECT pg_temp.uses_aggregate_node('SELECT hpsort_agg(key) FROM readings') AS forbidden;
RESET hpsort.debug_aggregate;
SET hpsort.enable_aggregate = off;
SELECT pg_temp.uses_aggregate_node('SELECT hpsort_agg(key) FROM readings') AS disabled;
RESET hpsort.enable_aggregate;
-- an index is better where few rows pass
CREATE TABLE large (id int4 PRIMARY KEY, x int4);
INSERT INTO large SELECT i, i % 10 FROM generate_series(1, 20000) i;
VACUUM ANALYZE large;
SELECT pg_temp.uses_aggregate_node('SELECT hpsort_agg(x) FROM large') AS whole, pg_temp.uses_aggregate_node('SELECT hpsort_agg(x) FROM large WHERE id = 5') AS one_row;

-- counted as a sequential scan is
SELECT pg_stat_force_next_flush();
SELECT seq_scan, seq_tup_read FROM pg_stat_user_tables WHERE relname = 'large' \gset before_
SELECT cardinality(hpsort_column_array('large', 'x'));
SELECT pg_stat_force_next_flush();
SELECT seq_scan - :before_seq_scan AS scans, seq_tup_read - :before_seq_tup_read AS rows FROM pg_stat_user_tables WHERE relname = 'large';

DROP TABLE large, readings, nothing, tree, parent, child CASCADE;
DROP SEQUENCE numbers;
DROP TYPE pair;
DROP ROLE hpsort_reader;
RESET max_parallel_workers_per_gather;
