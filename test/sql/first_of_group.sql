-- The first rows of each group: what EXPLAIN says, and where all rows are sorted.
LOAD 'hpsort';
SET max_parallel_workers_per_gather = 0;
SET enable_hashagg = off;
CREATE TABLE readings AS
SELECT i AS id, i % 20 AS sensor, CASE WHEN i % 500 > 0 THEN 30000 - i END AS at, i * 7919 % 1009 / 10.0 AS value, 'row ' || i AS note
FROM generate_series(1, 30000) i;
CREATE FUNCTION bound() RETURNS int IMMUTABLE LANGUAGE sql RETURN 4;
ANALYZE readings;

-- The lines of HpSort and what is below it: those of WindowAgg differ between versions.
CREATE FUNCTION pg_temp.explained(query text, options text DEFAULT 'COSTS OFF') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	below bool := false;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (%s) %s', options, query) LOOP
		below := below OR line ~ 'HpSort';
		CONTINUE WHEN NOT below;
		line := regexp_replace(ltrim(line), ' \(actual .*\)$', '');
		RETURN NEXT regexp_replace(line, 'Memory: \d+kB', 'Memory: NkB');
	END LOOP;
END $$;

SELECT pg_temp.explained($$SELECT * FROM (SELECT *, rank() OVER (PARTITION BY sensor ORDER BY at DESC) AS r FROM readings) q WHERE r <= 3$$);
SELECT pg_temp.explained($$SELECT * FROM (SELECT *, rank() OVER (PARTITION BY sensor ORDER BY at DESC) AS r FROM readings) q WHERE r <= 3$$,
	'ANALYZE, BUFFERS OFF, COSTS OFF, TIMING OFF, SUMMARY OFF');
SELECT sensor, at, id, r FROM (SELECT *, rank() OVER (PARTITION BY sensor ORDER BY at DESC NULLS LAST) AS r FROM readings) q WHERE r <= 2 AND sensor < 3 ORDER BY sensor, r;
SELECT pg_temp.explained($$SELECT DISTINCT ON (sensor) * FROM readings ORDER BY sensor, at DESC NULLS LAST$$);
SELECT count(*), sum(id) FROM (SELECT DISTINCT ON (sensor) * FROM readings ORDER BY sensor, at DESC NULLS LAST) q;
SELECT pg_temp.explained($$SELECT * FROM (SELECT *, dense_rank() OVER (PARTITION BY sensor ORDER BY value, note) AS r FROM readings) q WHERE bound() > r$$);
SELECT pg_temp.explained($$SELECT * FROM (SELECT *, row_number() OVER (ORDER BY at) AS r FROM readings WHERE sensor > 3) q WHERE r = 7$$,
	'ANALYZE, BUFFERS OFF, COSTS OFF, TIMING OFF, SUMMARY OFF');

-- a list that may fail, or that can be noticed, is computed for the row after these, too;
-- with peers in the frame, which is the default of PostgreSQL 15, all rows are sorted
SELECT pg_temp.explained($$SELECT * FROM (SELECT sensor, 1 / id AS x, rank() OVER (PARTITION BY sensor ORDER BY at DESC ROWS UNBOUNDED PRECEDING) AS r FROM readings) q WHERE r <= 3$$,
	'ANALYZE, BUFFERS OFF, COSTS OFF, TIMING OFF, SUMMARY OFF');
SELECT pg_temp.explained($$SELECT * FROM (SELECT sensor, random() AS x, row_number() OVER (PARTITION BY sensor ORDER BY id ROWS UNBOUNDED PRECEDING) AS r FROM readings) q WHERE r <= 3$$,
	'ANALYZE, BUFFERS OFF, COSTS OFF, TIMING OFF, SUMMARY OFF');

-- nothing can pass
SELECT * FROM (SELECT *, rank() OVER (PARTITION BY sensor ORDER BY at) AS r FROM readings) q WHERE r <= 0;
SELECT * FROM (SELECT *, rank() OVER (PARTITION BY sensor ORDER BY at) AS r FROM readings) q WHERE r < NULL::int;

-- parameters
SET plan_cache_mode = force_generic_plan;
PREPARE first_of(int) AS SELECT count(*), sum(id) FROM (SELECT *, row_number() OVER (PARTITION BY sensor ORDER BY id DESC) AS r FROM readings) q WHERE r < $1;
SELECT pg_temp.explained('EXECUTE first_of(3)');
EXECUTE first_of(3);
EXECUTE first_of(100000);
EXECUTE first_of(0);
EXECUTE first_of(NULL);
RESET plan_cache_mode;
SELECT n, (SELECT sum(id) FROM (SELECT id, rank() OVER (PARTITION BY sensor ORDER BY at) AS r FROM readings) q WHERE r <= n) FROM unnest(ARRAY[1, 3, 0, NULL, 2]) n;

-- with little memory: the bound keeps the rows in memory, or all are sorted on disk
SET work_mem = '128kB';
SELECT pg_temp.explained($$SELECT * FROM (SELECT *, rank() OVER (PARTITION BY sensor ORDER BY at) AS r FROM readings) q WHERE r <= 3$$,
	'ANALYZE, BUFFERS OFF, COSTS OFF, TIMING OFF, SUMMARY OFF');
SELECT count(*), sum(id) FROM (SELECT *, row_number() OVER (PARTITION BY sensor ORDER BY id) AS r FROM readings) q WHERE r <= 200;
RESET work_mem;

-- all rows: functions that look ahead, other windows above, conditions of other kinds, too many wanted
CREATE FUNCTION pg_temp.bounds(query text) RETURNS bigint LANGUAGE sql AS
$$SELECT count(*) FROM pg_temp.explained(query) line WHERE line ~ 'First of Group'$$;
SELECT pg_temp.bounds(q) AS bounds, q FROM unnest(ARRAY[
	'SELECT * FROM (SELECT *, rank() OVER w AS r, count(*) OVER w AS c FROM readings WINDOW w AS (PARTITION BY sensor ORDER BY at)) q WHERE r <= 3',
	'SELECT * FROM (SELECT *, rank() OVER w AS r, lead(id) OVER w AS c FROM readings WINDOW w AS (PARTITION BY sensor ORDER BY at)) q WHERE r <= 3',
	'SELECT * FROM (SELECT *, rank() OVER w AS r, rank() OVER w + ntile(3) OVER w AS c FROM readings WINDOW w AS (PARTITION BY sensor ORDER BY at)) q WHERE r <= 3',
	'SELECT * FROM (SELECT *, rank() OVER (PARTITION BY sensor ORDER BY at) AS r, rank() OVER (PARTITION BY at ORDER BY id) AS s FROM readings) q WHERE r <= 3 AND s <= 3',
	'SELECT * FROM (SELECT *, count(*) OVER (PARTITION BY sensor ORDER BY at) AS r FROM readings) q WHERE r <= 3',
	'SELECT * FROM (SELECT *, ntile(4) OVER (PARTITION BY sensor ORDER BY at) AS r FROM readings) q WHERE r <= 3',
	'SELECT * FROM (SELECT *, rank() OVER (PARTITION BY sensor ORDER BY at) AS r FROM readings) q WHERE r >= 3',
	'SELECT * FROM (SELECT *, rank() OVER (PARTITION BY sensor ORDER BY at) AS r FROM readings) q WHERE r <= 3.5',
	'SELECT * FROM (SELECT *, rank() OVER (PARTITION BY sensor ORDER BY at) AS r FROM readings) q WHERE r <= 1000',
	'SELECT * FROM (SELECT *, rank() OVER (PARTITION BY sensor ORDER BY at) AS r FROM readings) q WHERE r <= random() * 3',
	'SELECT * FROM (SELECT *, rank() OVER (PARTITION BY sensor) AS r FROM readings) q WHERE r <= 3',
	'SELECT * FROM (SELECT *, rank() OVER (PARTITION BY value ORDER BY at) AS r FROM readings) q WHERE r <= 3',
	'SELECT * FROM (SELECT *, rank() OVER (PARTITION BY sensor ORDER BY at) AS r FROM readings LIMIT 100) q WHERE r <= 3'
	]) q;
SET hpsort.enable_sort = off;
SELECT pg_temp.bounds('SELECT * FROM (SELECT *, rank() OVER (PARTITION BY sensor ORDER BY at) AS r FROM readings) q WHERE r <= 3');
DROP TABLE readings;
DROP FUNCTION bound();
