--
-- What the planner makes of it
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS hpsort;
RESET client_min_messages;

CREATE TABLE plan_data (g int, x int);
INSERT INTO plan_data SELECT i % 10, i % 1000 FROM generate_series(1, 20000) i;
ANALYZE plan_data;

-- aggregates in parallel; what replaces them is the business of columns.sql
SET hpsort.enable_aggregate = off;
SET hpsort.enable_sort = off;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET enable_sort = off;
EXPLAIN (COSTS OFF) SELECT hpsort_agg(x) FROM plan_data;
EXPLAIN (COSTS OFF) SELECT hpsort_agg(x, 0, 999), hpsort_agg(x, 0, 999, true), hpsort_runs_agg(x) FROM plan_data;
EXPLAIN (COSTS OFF) SELECT g, hpsort_agg(x) FROM plan_data GROUP BY g;

-- the nodes of a plan, in words that all versions share
CREATE FUNCTION pg_temp.nodes(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (COSTS OFF, FORMAT JSON) ' || query INTO plan;
	RETURN (
		WITH RECURSIVE node(depth, p) AS (
			SELECT 0, plan -> 0 -> 'Plan'
			UNION ALL
			SELECT depth + 1, child FROM node, jsonb_array_elements(p -> 'Plans') child
		)
		SELECT string_agg(replace(concat_ws(' ', nullif(p ->> 'Partial Mode', 'Simple'),
			nullif(nullif(p ->> 'Strategy', 'Plain'), 'Sorted'), p ->> 'Node Type'), 'Gather Merge', 'Gather'), ' < ' ORDER BY depth)
		FROM node WHERE p ->> 'Node Type' <> 'Sort');
END $$;
-- but not where PostgreSQL cannot
SELECT pg_temp.nodes('SELECT hpsort_agg(DISTINCT x) FROM plan_data');
SELECT pg_temp.nodes('SELECT hpsort_agg(x ORDER BY x) FROM plan_data');
-- functions of arrays may run in workers; hpsort_query may not
EXPLAIN (COSTS OFF) SELECT count(*) FROM plan_data WHERE hpsort(ARRAY[x, g]) = '{1,2}';
SELECT pg_temp.nodes('SELECT count(*) FROM plan_data WHERE x = (SELECT count(*) FROM hpsort_algorithms())') ~ 'Gather' AS algorithms,
       pg_temp.nodes('SELECT count(*) FROM plan_data WHERE EXISTS (SELECT FROM hpsort_query(x::text))') ~ 'Gather' AS query;
RESET enable_sort;
RESET max_parallel_workers_per_gather;
RESET min_parallel_table_scan_size;
RESET parallel_tuple_cost;
RESET parallel_setup_cost;

-- many groups are hashed where they fit
SET max_parallel_workers_per_gather = 0;
SET work_mem = '64MB';
EXPLAIN (COSTS OFF) SELECT x, hpsort_agg(g) FROM plan_data GROUP BY x;
RESET work_mem;
SELECT pg_temp.nodes('SELECT hpsort_agg(x) OVER (PARTITION BY g) FROM plan_data');

-- row estimates: as many as the array has elements
CREATE FUNCTION pg_temp.planned_rows(query text) RETURNS int8 LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END $$;
SELECT pg_temp.planned_rows($$SELECT * FROM hpsort_set('{1,2,3,4,5}')$$) AS set,
       pg_temp.planned_rows($$SELECT * FROM hpsort_set('{1,2,3,4,5}', true, false)$$) AS set_args,
       pg_temp.planned_rows($$SELECT * FROM hpsort_set(nulls_first => true, keys => '{1,2,3}')$$) AS set_named,
       pg_temp.planned_rows($$SELECT * FROM hpsort_set(ARRAY[1, 2, random()::int])$$) AS set_expression,
       pg_temp.planned_rows($$SELECT hpsort_set('{1,2,3,4,5}')$$) AS set_target,
       pg_temp.planned_rows($$SELECT * FROM hpsort_runs('{1,2,3,4}')$$) AS runs,
       pg_temp.planned_rows($$SELECT * FROM hpsort_query('SELECT 1')$$) AS query;
-- the same as unnest's, whatever PostgreSQL makes of an array it knows nothing of
SELECT pg_temp.planned_rows($$SELECT * FROM hpsort_set((SELECT array_agg(x) FROM plan_data))$$) =
       pg_temp.planned_rows($$SELECT * FROM unnest((SELECT array_agg(x) FROM plan_data))$$) AS same;

-- groups of an expression: no more than the range of its column allows, or what it can be
CREATE TABLE plan_times (id int, at timestamp, zoned timestamptz, label text, x float8);
INSERT INTO plan_times SELECT i, t, t, 'label ' || i % 3, i / 60.0 FROM generate_series(1, 60000) i, LATERAL (SELECT timestamp '2023-01-01' + i * 7919 % 60000 * interval '1009 s') s(t);
VACUUM ANALYZE plan_times;
SET work_mem = '1MB';
SET hpsort.enable_aggregate = on;
SET hpsort.enable_sort = on;
SELECT pg_temp.nodes('SELECT ' || e || ', count(*) FROM plan_times GROUP BY 1') AS plan, pg_temp.planned_rows('SELECT ' || e || ', count(*) FROM plan_times GROUP BY 1') <= most AS few, e
FROM (VALUES ('at::date', 800), ('zoned::date', 800), ('date_trunc(''day'', at)', 800), ('date_trunc(''month'', zoned)', 30), ('extract(hour FROM at)', 24), ('extract(dow FROM zoned)', 7),
	('date_bin(''1 day'', at, ''2000-01-01'')', 710), ('id / 1000', 62), ('id % 50', 99), ('extract(hour FROM at)::int * 100', 24), ('to_char(date_trunc(''month'', at), ''YYYY-MM'')', 30)) v(e, most);
-- but what says nothing of neighbours is PostgreSQL's own estimate
SELECT pg_temp.planned_rows('SELECT at + interval ''1 day'', count(*) FROM plan_times GROUP BY 1') AS shifted,
       pg_temp.planned_rows('SELECT to_char(at, ''YYYY''), count(*) FROM plan_times GROUP BY 1') AS text;
-- no sort instead of a hash table that seems to be too large for memory, but of one that is
SET hpsort.enable_aggregate = off;
SELECT pg_temp.nodes('SELECT ' || e || ', corr(x, x) FROM plan_times GROUP BY 1') AS plan, e
FROM unnest(ARRAY['at::date', 'date_trunc(''day'', zoned)', 'extract(hour FROM at)', 'date_bin(''1 day'', at, ''2000-01-01'')', 'id / 1000', 'floor(x)', 'at']) e;
RESET hpsort.enable_aggregate;
SELECT pg_temp.nodes('SELECT at::date, label, sum(x * random()) FROM plan_times GROUP BY 1, 2') AS two, pg_temp.nodes('SELECT at::date, label, corr(x, x) FROM plan_times GROUP BY 1, 2') AS known, pg_temp.nodes('SELECT DISTINCT at::date, label FROM plan_times') AS different;
-- but a sort on disk of what is nearly equal by its first key, as the key's values are numbered and not compared
SELECT pg_temp.nodes('SELECT extract(year FROM at) AS y, label, id FROM plan_times ORDER BY y, label, id') AS years,
       pg_temp.nodes('SELECT at, label, id FROM plan_times ORDER BY at, label, id') AS times;
RESET work_mem;
SET hpsort.enable_sort = off;
SET hpsort.enable_aggregate = off;
DROP TABLE plan_times;

-- constants are folded: nothing is left to do at run time
EXPLAIN (COSTS OFF, VERBOSE) SELECT hpsort('{3,1,2}'), hpsort_order('{3,1,2}', true);
-- LIMIT does not need all of a set
EXPLAIN (COSTS OFF, VERBOSE) SELECT hpsort_set('{3,1,2}') LIMIT 1;

DROP TABLE plan_data;
