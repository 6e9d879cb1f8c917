--
-- Custom Scan (HpSort): where the planner uses it, and what EXPLAIN says
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS hpsort;
RESET client_min_messages;
LOAD 'hpsort';
SET max_parallel_workers_per_gather = 0;
SET jit = off;
SET hpsort.device = cpu;
-- what HpSort Aggregate would answer is in groups.sql
SET hpsort.enable_aggregate = off;
CREATE TYPE order_mood AS ENUM ('sad', 'ok', 'happy');
CREATE TABLE order_data AS
SELECT i AS id, i % 10 AS few, (i * 7919) % 20011 AS many, (i % 3)::int2 AS small, i * 1000000007::int8 % 999999999989 AS big,
	date '2024-01-01' + i % 100 AS day, i % 2 = 0 AS flag, (ARRAY['sad', 'ok', 'happy'])[i % 3 + 1]::order_mood AS mood,
	'row ' || i % 9000 AS label
FROM generate_series(1, 20000) i;
UPDATE order_data SET many = NULL WHERE id % 100 = 0;
VACUUM ANALYZE order_data;

-- ORDER BY: one key, several, all directions; keys left to core; LIMIT
EXPLAIN (COSTS OFF) SELECT * FROM order_data ORDER BY many;
EXPLAIN (COSTS OFF) SELECT * FROM order_data ORDER BY many DESC NULLS LAST, big NULLS FIRST, day;
EXPLAIN (COSTS OFF) SELECT * FROM order_data ORDER BY mood, flag, small, id DESC;
EXPLAIN (COSTS OFF, VERBOSE) SELECT label, few FROM order_data ORDER BY few, label COLLATE "C" DESC;
EXPLAIN (COSTS OFF) SELECT * FROM order_data WHERE few < 8 ORDER BY many + 1 LIMIT 10 OFFSET 5;
-- floats, intervals, and what sort support abbreviates; a key behind one of these is left to core
EXPLAIN (COSTS OFF) SELECT * FROM order_data ORDER BY few / 7.0::float8, many::float4 DESC;
EXPLAIN (COSTS OFF) SELECT * FROM order_data ORDER BY many * interval '1 hour';
EXPLAIN (COSTS OFF) SELECT * FROM order_data ORDER BY many::numeric DESC, label COLLATE "C";
EXPLAIN (COSTS OFF) SELECT * FROM order_data ORDER BY md5(id::text)::uuid;
EXPLAIN (COSTS OFF) SELECT * FROM order_data ORDER BY (label || id) COLLATE "POSIX" NULLS FIRST;
-- not what it cannot map, nor what is not worth it
EXPLAIN (COSTS OFF) SELECT * FROM order_data ORDER BY ARRAY[label], few;
EXPLAIN (COSTS OFF) SELECT * FROM order_data ORDER BY few, ARRAY[label] LIMIT 10;
EXPLAIN (COSTS OFF) SELECT * FROM order_data WHERE id < 100 ORDER BY many;
-- nor texts that begin alike, whose abbreviations say nothing
CREATE TABLE order_texts AS SELECT i % 500 AS few, 'they begin alike ' || i AS alike, md5(i::text) AS unlike FROM generate_series(1, 5000) i;
ANALYZE order_texts;
EXPLAIN (COSTS OFF) SELECT * FROM order_texts ORDER BY alike COLLATE "C";
EXPLAIN (COSTS OFF) SELECT * FROM order_texts ORDER BY unlike COLLATE "C";
EXPLAIN (COSTS OFF) SELECT * FROM order_texts ORDER BY few, alike COLLATE "C";
SELECT count(*) FROM (SELECT unlike COLLATE "C" FROM order_texts UNION ALL SELECT alike COLLATE "C" FROM order_texts ORDER BY 1 OFFSET 0) q;
DROP TABLE order_texts;

-- windows, DISTINCT, groups, merge joins, set operations
SET enable_hashagg = off;
EXPLAIN (COSTS OFF) SELECT DISTINCT ON (few) few, many FROM order_data ORDER BY few, many;
EXPLAIN (COSTS OFF) SELECT DISTINCT many FROM order_data;
EXPLAIN (COSTS OFF) SELECT few + small, count(*) FROM order_data GROUP BY few + small;
EXPLAIN (COSTS OFF) SELECT few, many, count(*) FROM order_data GROUP BY ROLLUP (few, many);
SET enable_hashjoin = off;
SET enable_nestloop = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM order_data a JOIN order_data b ON a.many = b.id;
RESET enable_hashagg;
RESET enable_hashjoin;
RESET enable_nestloop;

-- with ANALYZE: without what differs from machine to machine
CREATE FUNCTION pg_temp.explain(query text, options text = 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (%s) %s', options, query) LOOP
		CONTINUE WHEN line !~ 'HpSort|Sort |Keys|Distinct|Range|Segments|Read|Reason';
		line := regexp_replace(line, '\(actual.*\)', '(actual)');
		line := regexp_replace(line, '\d+kB', 'NkB');
		RETURN NEXT regexp_replace(line, '\(.* expected.*\)', '(N expected)');
	END LOOP;
END $$;
-- versions name the first arm differently
SELECT regexp_replace(pg_temp.explain('SELECT few FROM order_data UNION ALL SELECT many FROM order_data ORDER BY 1', 'COSTS OFF'),
	'"\*SELECT\* 1"|unnamed_subquery', 'first_arm');
SELECT pg_temp.explain('SELECT few FROM order_data ORDER BY few');
SELECT pg_temp.explain('SELECT many FROM order_data WHERE few > 0 ORDER BY many DESC', 'ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF');
SELECT pg_temp.explain('SELECT * FROM order_data ORDER BY many');
SELECT pg_temp.explain('SELECT * FROM order_data ORDER BY few, ARRAY[label]');
SELECT pg_temp.explain('SELECT * FROM order_data ORDER BY big');
SELECT pg_temp.explain('SELECT * FROM order_data ORDER BY many LIMIT 10');
SET work_mem = '128kB';
SELECT regexp_replace(pg_temp.explain('SELECT * FROM order_data ORDER BY many'), 'Segments: \d+', 'Segments: N');
RESET work_mem;
CREATE FUNCTION pg_temp.explain_as(format text, query text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	plan text;
BEGIN
	EXECUTE format('EXPLAIN (ANALYZE, FORMAT %s) %s', format, query) INTO plan;
	RETURN plan;
END $$;
SELECT key, CASE WHEN key IN ('Sort Space Used', 'Reason') THEN json_typeof(value) ELSE value::text END AS value
FROM json_each(pg_temp.explain_as('JSON', 'SELECT few FROM order_data ORDER BY few')::json -> 0 -> 'Plan')
WHERE key ~ 'Sort|Keys|Distinct|Range|^Read|Reason|Custom' ORDER BY key;
SELECT pg_temp.explain_as('XML', 'SELECT few FROM order_data ORDER BY few') ~ '<Sort-Method>zero_compressed</Sort-Method>' AS xml;
SELECT pg_temp.explain_as('YAML', 'SELECT few FROM order_data ORDER BY few') ~ 'Sort Method: "zero_compressed"' AS yaml;

-- switched off, and forced
SET hpsort.enable_sort = off;
EXPLAIN (COSTS OFF) SELECT * FROM order_data ORDER BY many;
RESET hpsort.enable_sort;
SET hpsort.debug_sort = forbid;
EXPLAIN (COSTS OFF) SELECT * FROM order_data ORDER BY many;
SET hpsort.debug_sort = force;
EXPLAIN (COSTS OFF) SELECT * FROM order_data WHERE id < 100 ORDER BY many;
-- as a Sort, it is no choice when sorting is disabled
RESET hpsort.debug_sort;
SET enable_sort = off;
EXPLAIN (COSTS OFF) SELECT few, count(*) FROM order_data GROUP BY few;
DROP TABLE order_data;
DROP TYPE order_mood;
