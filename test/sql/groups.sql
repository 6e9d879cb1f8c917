--
-- PostgreSQL's own aggregates, GROUP BY and DISTINCT over one table, answered by
-- Custom Scan (HpSort Aggregate): results and errors first, plans at the end
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS hpsort;
RESET client_min_messages;
LOAD 'hpsort';
SET max_parallel_workers_per_gather = 0;
SET jit = off;
SET hpsort.device = cpu;
SET timezone = 'UTC';
SET datestyle = 'ISO';
SET intervalstyle = 'postgres';
SET hpsort.debug_aggregate = force;

CREATE TYPE groups_mood AS ENUM ('sad', 'ok', 'happy');
CREATE TABLE groups_data (id int, x int, y int, small int2, big int8, day date, flag bool, letter "char", who oid,
	mood groups_mood, at time, ts timestamp, tz timestamptz, label text);
INSERT INTO groups_data
SELECT i, i % 4, i * 7 % 100, (i % 7 - 3)::int2, i * 1000000007::int8, date '2024-01-01' + i % 40, i % 3 = 0, chr(97 + i % 3)::"char", (i % 5)::oid,
	(ARRAY['sad', 'ok', 'happy'])[i % 3 + 1]::groups_mood, time '08:00' + i % 6 * interval '30 min',
	timestamp '2024-01-31 22:00' + i * interval '1 hour', timestamptz '2024-01-31 22:00 UTC' + i * interval '1 hour', 'row ' || i % 5
FROM generate_series(1, 120) i;
UPDATE groups_data SET y = NULL, x = NULL WHERE id % 20 = 0;
UPDATE groups_data SET y = NULL WHERE x = 3;
DELETE FROM groups_data WHERE id % 31 = 0;
VACUUM ANALYZE groups_data;

-- one group of all rows
SELECT count(*), count(x), count(y), min(y), max(y), sum(y), avg(y) FROM groups_data;
SELECT count(DISTINCT x), count(DISTINCT y), sum(DISTINCT x), avg(DISTINCT x) FROM groups_data;
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY y), percentile_disc(0.1) WITHIN GROUP (ORDER BY y DESC),
	percentile_cont(0.33) WITHIN GROUP (ORDER BY y), percentile_cont(0.33) WITHIN GROUP (ORDER BY y DESC) FROM groups_data;
SELECT percentile_disc('{0,0.25,NULL,0.5,1}'::float8[]) WITHIN GROUP (ORDER BY y),
	percentile_cont('{{0.25,0.5},{0.75,0.99}}'::float8[]) WITHIN GROUP (ORDER BY y DESC) FROM groups_data;
SELECT mode() WITHIN GROUP (ORDER BY small), mode() WITHIN GROUP (ORDER BY small DESC), mode() WITHIN GROUP (ORDER BY x) FROM groups_data;
SELECT rank(50) WITHIN GROUP (ORDER BY y), dense_rank(50) WITHIN GROUP (ORDER BY y), percent_rank(50) WITHIN GROUP (ORDER BY y DESC),
	cume_dist(NULL) WITHIN GROUP (ORDER BY y NULLS FIRST) FROM groups_data;
SELECT array_agg(x ORDER BY x) FILTER (WHERE id < 20), array_agg(DISTINCT x), array_agg(DISTINCT x ORDER BY x DESC),
	array_agg(DISTINCT x ORDER BY x NULLS FIRST) FROM groups_data;
SELECT hpsort_agg(x) FILTER (WHERE id < 20), hpsort_runs_agg(x) FROM groups_data;
SELECT sum(small), avg(small), sum(big), avg(big), min(big), max(small) FROM groups_data;
SELECT min(day), max(day), min(who), max(who), min(mood), max(mood), min(at), max(at), min(ts), max(tz) FROM groups_data;
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY day) AS day, percentile_disc(0.5) WITHIN GROUP (ORDER BY mood) AS mood,
	percentile_disc(0.5) WITHIN GROUP (ORDER BY ts) AS ts, percentile_cont(0.5) WITHIN GROUP (ORDER BY at) AS at,
	mode() WITHIN GROUP (ORDER BY letter) AS letter, count(DISTINCT flag) AS flags FROM groups_data;
-- rows, but none that are wanted; NULLs only; no rows
SELECT count(*), count(y), sum(y), avg(y), min(y), percentile_disc(0.5) WITHIN GROUP (ORDER BY y), array_agg(y ORDER BY y), rank(3) WITHIN GROUP (ORDER BY y),
	cume_dist(3) WITHIN GROUP (ORDER BY y) FROM groups_data WHERE id < 0;
SELECT count(*), count(y), sum(y), mode() WITHIN GROUP (ORDER BY y), array_agg(DISTINCT y), percentile_cont(0.5) WITHIN GROUP (ORDER BY y) FROM groups_data WHERE x = 3;
SELECT x, count(*) FROM groups_data WHERE id < 0 GROUP BY x;

-- groups; NULL is one
SELECT x, count(*), count(y), sum(y), avg(y), min(y), max(y) FROM groups_data GROUP BY x ORDER BY x;
SELECT x, count(*) FROM groups_data GROUP BY x ORDER BY x DESC;
SELECT x, count(*) FROM groups_data GROUP BY x ORDER BY x NULLS FIRST LIMIT 2;
SELECT x, percentile_disc(0.5) WITHIN GROUP (ORDER BY y), percentile_cont(0.5) WITHIN GROUP (ORDER BY y), mode() WITHIN GROUP (ORDER BY small)
FROM groups_data GROUP BY x ORDER BY x;
SELECT x, count(DISTINCT day), array_agg(DISTINCT small ORDER BY small DESC), hpsort_agg(small) FILTER (WHERE id <= 20) FROM groups_data GROUP BY x ORDER BY x;
SELECT flag, mood, count(*) FROM groups_data GROUP BY flag, mood ORDER BY mood DESC, flag;
SELECT small, letter, who, sum(y) FROM groups_data GROUP BY small, letter, who ORDER BY small, letter DESC, who LIMIT 8;
SELECT count(*) AS groups, sum(n) FROM (SELECT count(*) AS n FROM groups_data GROUP BY big) q;
-- groups of expressions
SELECT y / 10 AS tens, count(*), max(y) FROM groups_data GROUP BY y / 10 ORDER BY tens;
SELECT date_trunc('day', ts), count(*) FROM groups_data GROUP BY 1 ORDER BY 1;
SELECT ts::date, avg(y) FROM groups_data GROUP BY ts::date ORDER BY 1 DESC LIMIT 3;
SELECT extract(hour FROM ts) AS hour, count(*) FROM groups_data GROUP BY hour HAVING count(*) > 4 ORDER BY hour;
-- arguments and groups that are expressions, of one column or of several; an error shows where core evaluates them
SELECT x, sum(y + 1), count(DISTINCT y / 10), min(abs(small)), percentile_disc(0.5) WITHIN GROUP (ORDER BY y % 7), max(ts + interval '1 day') FROM groups_data
	GROUP BY x ORDER BY x;
SELECT x > small, count(small / 2.5), sum(x * y), array_agg(DISTINCT x - small ORDER BY x - small DESC), percentile_cont(0.5) WITHIN GROUP (ORDER BY y - x)
	FROM groups_data GROUP BY 1 ORDER BY 1;
SELECT x || ':' || flag AS pair, count(*) FROM groups_data GROUP BY 1 ORDER BY 1;
SELECT sum(10 / small) FILTER (WHERE small <> 0), sum(CASE WHEN y <> 7 THEN 1 / (y - 7) ELSE x END) FROM groups_data;
SELECT sum(10 / small) FILTER (WHERE y > 5) FROM groups_data;
SELECT x, sum(small + 32767::int2) FROM groups_data GROUP BY x;
SELECT max(small + 2147483647) FROM groups_data WHERE small < 2;
-- a part of an expression raises its error also where another part is NULL
SELECT x, max(y + id * 300000000) FROM groups_data WHERE y IS NULL OR id < 7 GROUP BY x;
SELECT max(y + id * 300000000) FILTER (WHERE id < 7) FROM groups_data WHERE id < 8 OR y IS NULL;
-- sums of a column and a constant are its sum and its count, unless one is out of range
SELECT sum(small + 7), sum(small - 9) FILTER (WHERE x = 1), sum(y + 3), sum(y - 100), sum(y + 5) FILTER (WHERE id < 0) FROM groups_data;
SELECT x, sum(small + 7), sum(small - 9), sum(y - 3) FROM groups_data GROUP BY x ORDER BY x;
SELECT sum(y + 2147483548) FROM groups_data;
SELECT sum(y + 2147483600) FROM groups_data;
SELECT sum(y - 2147483647) FROM groups_data WHERE y > 50;
SELECT sum(-y - 2147483647), sum(small - 2147483647) FROM groups_data;
EXPLAIN (COSTS OFF) SELECT sum(small + 7), sum(y - 3) FROM groups_data;
EXPLAIN (COSTS OFF) SELECT x, sum(small + 7), sum(y - 3) FROM groups_data GROUP BY x;
-- a constant divides no groups; constants alone are one group where there are rows
SELECT 7 AS seven, x, 'a' AS a, count(*) FROM groups_data GROUP BY seven, x, a ORDER BY x;
SELECT x, count(*) FROM groups_data GROUP BY ROLLUP (x, 7::int) ORDER BY x, count(*);
SELECT 7 AS seven, count(*) FROM groups_data WHERE id < 0 GROUP BY seven;
EXPLAIN (COSTS OFF) SELECT 7 AS seven, x, count(*) FROM groups_data GROUP BY seven, x;
-- of what is computed of groups and aggregates
SELECT x + 1 AS next, sum(y) * 2 + count(*) AS a, max(y) - min(y) AS range, round(avg(y), 1) AS mean,
	(percentile_disc('{0.1,0.9}'::float8[]) WITHIN GROUP (ORDER BY y))[2] AS high FROM groups_data GROUP BY x ORDER BY x;
SELECT x FROM groups_data GROUP BY x HAVING count(y) > 0 AND min(y) < 5 ORDER BY x;
SELECT x, count(*) FROM groups_data GROUP BY x ORDER BY count(*) DESC, x;
SELECT x, count(*) FILTER (WHERE flag), sum(y) FILTER (WHERE label = 'row 3') FROM groups_data GROUP BY x ORDER BY x;
SELECT x, percentile_disc(CASE x WHEN 1 THEN 0.1 ELSE 0.9 END) WITHIN GROUP (ORDER BY y) FROM groups_data GROUP BY x ORDER BY x;
-- what is left to core, as a whole
SELECT x, count(*), string_agg(DISTINCT label, ',') FROM groups_data GROUP BY x ORDER BY x;
SELECT label, count(*) FROM groups_data GROUP BY label ORDER BY label;
SELECT x, flag, count(*) FROM groups_data WHERE id < 60 GROUP BY ROLLUP (x, flag) ORDER BY x, flag, 3;

-- SELECT DISTINCT
SELECT DISTINCT x FROM groups_data ORDER BY x;
SELECT DISTINCT mood, flag FROM groups_data ORDER BY mood DESC, flag;
SELECT count(*) FROM (SELECT DISTINCT y FROM groups_data) q;
SELECT DISTINCT x FROM groups_data WHERE small > 1 ORDER BY x DESC NULLS LAST LIMIT 3;
SELECT DISTINCT count(*) FROM groups_data GROUP BY who ORDER BY 1;

-- errors
SELECT percentile_disc(1.5) WITHIN GROUP (ORDER BY y) FROM groups_data;
SELECT x, percentile_cont(-0.1) WITHIN GROUP (ORDER BY y) FROM groups_data GROUP BY x;
SELECT percentile_disc('{0.5,2}'::float8[]) WITHIN GROUP (ORDER BY y) FROM groups_data;
SELECT percentile_disc('NaN') WITHIN GROUP (ORDER BY y) FROM groups_data;
SELECT percentile_disc(1.5) WITHIN GROUP (ORDER BY y) FROM groups_data WHERE id < 0;
SELECT x FROM groups_data GROUP BY x HAVING 1 / (count(*) - count(*)) > 0;
SELECT 10 / (x - 2), count(*) FROM groups_data GROUP BY 1;
SELECT x, (sum(y) * 1000)::int2 FROM groups_data GROUP BY x;
SELECT x, sum(y) FROM groups_data WHERE 1 / (x - 1) >= 0 GROUP BY x;
SELECT hpsort_agg(x, 0, 2) FROM groups_data;
SELECT x, y, count(*) FROM groups_data GROUP BY x;

-- cursors
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT x, count(*), sum(y) FROM groups_data GROUP BY x ORDER BY x;
FETCH 2 FROM c;
FETCH ALL FROM c;
FETCH BACKWARD 2 FROM c;
FETCH FIRST FROM c;
CLOSE c;
DECLARE h CURSOR WITH HOLD FOR SELECT DISTINCT x FROM groups_data ORDER BY x DESC;
COMMIT;
FETCH 2 FROM h;
CLOSE h;
BEGIN;
DECLARE a CURSOR FOR SELECT DISTINCT x FROM groups_data ORDER BY x;
FETCH 2 FROM a;
DELETE FROM groups_data WHERE CURRENT OF a;
ROLLBACK;

-- prepared, with parameters in every place
PREPARE q(int, float8) AS SELECT x, count(*), percentile_disc($2) WITHIN GROUP (ORDER BY y) FROM groups_data WHERE id <= $1 GROUP BY x HAVING count(*) >= $1 / 100 ORDER BY x;
EXECUTE q(40, 0.5);
EXECUTE q(3, 0);
EXECUTE q(NULL, 0.5);
SET plan_cache_mode = force_generic_plan;
EXECUTE q(40, 0.5);
EXECUTE q(40, 1);
EXECUTE q(40, 7);
EXECUTE q(0, 0.5);
RESET plan_cache_mode;
DEALLOCATE q;
PREPARE q(int) AS SELECT DISTINCT x / $1 FROM groups_data ORDER BY 1;
EXECUTE q(2);
EXECUTE q(0);
EXECUTE q(-1);
DEALLOCATE q;

-- rescans, with a parameter that changes and without
SELECT g, q.* FROM generate_series(0, 3) g CROSS JOIN LATERAL (SELECT count(*), min(y), percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM groups_data WHERE x = g) q ORDER BY g;
SELECT g, q.* FROM generate_series(1, 2) g CROSS JOIN LATERAL (SELECT flag, sum(y) FROM groups_data WHERE small = g GROUP BY flag) q ORDER BY g, flag;
SELECT g, (SELECT array_agg(DISTINCT small ORDER BY small) FROM groups_data WHERE who = g::oid) FROM generate_series(0, 6) g ORDER BY g;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SELECT g, q.n FROM generate_series(0, 2) g LEFT JOIN (SELECT x, count(*) AS n FROM groups_data GROUP BY x) q ON q.x > g ORDER BY g, n;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;
SELECT x, n FROM (SELECT x, count(*) AS n FROM groups_data GROUP BY x) q WHERE x IN (SELECT DISTINCT small FROM groups_data) ORDER BY x;
WITH w AS MATERIALIZED (SELECT x, max(y) AS m FROM groups_data GROUP BY x) SELECT a.x, b.m FROM w a JOIN w b ON a.x = b.x + 1 ORDER BY 1;

-- all that a statement's snapshot sees, and nothing else
BEGIN;
INSERT INTO groups_data (id, x, y) VALUES (1000, 9, 1), (1001, 9, 2);
SELECT x, sum(y) FROM groups_data WHERE x > 2 GROUP BY x ORDER BY x;
SAVEPOINT s;
DELETE FROM groups_data WHERE x = 9 AND y = 1;
SELECT x, sum(y) FROM groups_data WHERE x > 2 GROUP BY x ORDER BY x;
ROLLBACK TO s;
DECLARE before CURSOR FOR SELECT x, count(*) FROM groups_data WHERE x > 2 GROUP BY x ORDER BY x;
DELETE FROM groups_data WHERE x = 3;
FETCH ALL FROM before;
SELECT x, count(*) FROM groups_data WHERE x > 2 GROUP BY x ORDER BY x;
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT x, count(*) FROM groups_data GROUP BY x ORDER BY x;
-- what was read is locked, as by a scan of core
SELECT locktype, mode FROM pg_locks WHERE relation = 'groups_data'::regclass AND mode = 'SIReadLock';
COMMIT;

-- trees of tables
CREATE TABLE groups_part (k int, v int8) PARTITION BY LIST (k);
CREATE TABLE groups_part_1 PARTITION OF groups_part FOR VALUES IN (1, 2);
CREATE TABLE groups_part_2 (gone text, v int8, k int);
ALTER TABLE groups_part_2 DROP COLUMN gone;
ALTER TABLE groups_part ATTACH PARTITION groups_part_2 DEFAULT;
INSERT INTO groups_part SELECT i % 5, i FROM generate_series(1, 50) i;
ANALYZE groups_part;
SELECT k, count(*), sum(v), percentile_disc(0.5) WITHIN GROUP (ORDER BY v) FROM groups_part GROUP BY k ORDER BY k;
SELECT count(DISTINCT v), sum(v) FROM groups_part WHERE k = 1;
SELECT DISTINCT k FROM groups_part ORDER BY k;
CREATE TABLE groups_child () INHERITS (groups_data);
INSERT INTO groups_child (id, x, y) VALUES (2000, 0, 5000), (2001, 8, NULL);
SELECT x, count(*), max(y) FROM groups_data GROUP BY x ORDER BY x;
SELECT x, count(*), max(y) FROM ONLY groups_data GROUP BY x ORDER BY x;
DROP TABLE groups_child;
-- or plans would still be those of a tree
ANALYZE groups_data;
-- a column that rows are older than
ALTER TABLE groups_part ADD late int DEFAULT 7;
INSERT INTO groups_part VALUES (1, 51, 8), (4, 52, NULL);
SELECT late, count(*), sum(v) FROM groups_part GROUP BY late ORDER BY late;

-- views, rights, row security
CREATE ROLE regress_groups_user;
CREATE VIEW groups_view AS SELECT x, count(*) AS n, max(y) AS most FROM groups_data WHERE flag GROUP BY x;
SELECT * FROM groups_view ORDER BY x;
SELECT sum(n), max(most) FROM groups_view WHERE x > 0;
GRANT SELECT (x, flag) ON groups_data TO regress_groups_user;
GRANT SELECT ON groups_part TO regress_groups_user;
SET ROLE regress_groups_user;
SELECT x, count(*) FROM groups_data GROUP BY x ORDER BY x;
SELECT x, count(y) FROM groups_data GROUP BY x ORDER BY x;
SELECT x, count(*) FROM groups_data GROUP BY x HAVING max(y) > 3;
SELECT x, count(*) FILTER (WHERE y > 3) FROM groups_data GROUP BY x;
SELECT DISTINCT y FROM groups_data;
SELECT x, count(*) FROM groups_data WHERE id > 3 GROUP BY x;
SELECT * FROM groups_view;
RESET ROLE;
ALTER TABLE groups_part ENABLE ROW LEVEL SECURITY;
CREATE POLICY groups_odd ON groups_part TO regress_groups_user USING (v % 2 = 1 AND k < 3);
SET ROLE regress_groups_user;
SELECT k, count(*), percentile_disc(0.5) WITHIN GROUP (ORDER BY v) FROM groups_part GROUP BY k ORDER BY k;
SELECT DISTINCT k FROM groups_part ORDER BY k;
SELECT count(DISTINCT v), max(v) FROM groups_part;
-- a function of the user's would see rows before the policy does
CREATE FUNCTION pg_temp.told(int8) RETURNS bool COST 0.0000001 LANGUAGE plpgsql AS 'BEGIN RAISE NOTICE ''saw %'', $1; RETURN true; END';
SELECT count(*) FILTER (WHERE pg_temp.told(v)) FROM groups_part WHERE v > 48;
SELECT count(*) FROM groups_part WHERE v > 48 AND pg_temp.told(v);
DROP FUNCTION pg_temp.told(int8);
RESET ROLE;
-- aggregates that others may not execute
CREATE AGGREGATE groups_sum(int) (SFUNC = int4_sum, STYPE = int8);
REVOKE EXECUTE ON FUNCTION groups_sum(int) FROM PUBLIC;
SET ROLE regress_groups_user;
SELECT x, count(*), groups_sum(x) FROM groups_data GROUP BY x;
RESET ROLE;
BEGIN;
REVOKE EXECUTE ON FUNCTION pg_catalog.sum(int) FROM PUBLIC;
SET ROLE regress_groups_user;
SELECT flag, sum(x) FROM groups_data GROUP BY flag;
ROLLBACK;
BEGIN;
REVOKE EXECUTE ON FUNCTION percentile_disc(float8, anyelement) FROM PUBLIC;
SET ROLE regress_groups_user;
SELECT flag, percentile_disc(0.5) WITHIN GROUP (ORDER BY x) FROM groups_data GROUP BY flag;
ROLLBACK;
BEGIN;
REVOKE EXECUTE ON FUNCTION hpsort_agg(int) FROM PUBLIC;
SET ROLE regress_groups_user;
SELECT flag, hpsort_agg(x) FROM groups_data GROUP BY flag;
ROLLBACK;
-- and functions that PostgreSQL's nodes would have called
BEGIN;
REVOKE EXECUTE ON FUNCTION int4eq(int, int) FROM PUBLIC;
SET ROLE regress_groups_user;
SELECT x, count(*) FROM groups_data GROUP BY x;
ROLLBACK;
BEGIN;
REVOKE EXECUTE ON FUNCTION int4eq(int, int) FROM PUBLIC;
SET ROLE regress_groups_user;
SELECT dense_rank(5) WITHIN GROUP (ORDER BY x) FROM groups_data WHERE x IS NULL AND x > 0;
SELECT dense_rank(5) WITHIN GROUP (ORDER BY x) FROM groups_data;
ROLLBACK;
BEGIN;
REVOKE EXECUTE ON FUNCTION float8(int) FROM PUBLIC;
SET ROLE regress_groups_user;
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x) FROM groups_data;
ROLLBACK;
-- an aggregate of the user's own that has a known name
CREATE SCHEMA groups_schema;
CREATE AGGREGATE groups_schema.sum(int) (SFUNC = int4larger, STYPE = int);
SELECT x, groups_schema.sum(y), pg_catalog.sum(y) FROM groups_data GROUP BY x ORDER BY x;

-- the same with the node forbidden: every difference would be a row
CREATE FUNCTION pg_temp.differences(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	mode text;
	got text;
	want text;
BEGIN
	FOREACH mode IN ARRAY ARRAY['forbid', 'force'] LOOP
		PERFORM set_config('hpsort.debug_aggregate', mode, true);
		EXECUTE format('SELECT string_agg(q::text, chr(10) ORDER BY q::text) FROM (%s OFFSET 0) q', query) INTO got;
		IF mode = 'forbid' THEN
			want := got;
		ELSIF got IS DISTINCT FROM want THEN
			RETURN NEXT format(E'%s\ngave\n%s\ninstead of\n%s', query, got, want);
		END IF;
	END LOOP;
END $$;
SELECT pg_temp.differences(format('SELECT %s AS g, %s FROM groups_data%s GROUP BY 1', g, a, w))
FROM unnest(ARRAY['x', 'small', 'big', 'day', 'flag', 'letter', 'who', 'mood', 'at', 'ts', 'tz', 'y / 3', 'extract(hour FROM ts)']) g,
	unnest(ARRAY['count(*), sum(y), avg(big)', 'percentile_disc(0.3) WITHIN GROUP (ORDER BY y DESC)', 'array_agg(DISTINCT day ORDER BY day DESC)',
		'mode() WITHIN GROUP (ORDER BY at), min(mood), count(DISTINCT letter)']) a,
	unnest(ARRAY['', ' WHERE small <> 1']) w;

-- more values of expressions without an order than there is memory for: the rest of the rows is left to further passes
CREATE TABLE groups_values AS
SELECT i AS id, i % 7 AS x, hashint4(i) % 3000 AS y, CASE WHEN i % 11 > 0 THEN i % 3001 END AS z, i::int8 * 1000000007 AS big,
	timestamp '2020-01-01' + i % 5000 * interval '1 minute' AS ts, (enum_range(NULL::groups_mood))[1 + i % 3] AS mood
FROM generate_series(1, 15000) i;
ANALYZE groups_values;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT pg_temp.differences(format('SELECT %s AS g, %s FROM groups_values%s GROUP BY %s', g, a, w, g))
FROM unnest(ARRAY['z::text', 'x, to_char(ts, ''DD HH24:MI'')', 'z::text, y::text', 'repeat(big::text, 3), mood', '(y + 0.5)', 'z::text, z', 'coalesce(z::text, ''none'')']) g,
	unnest(ARRAY['count(*), sum(y), avg(big)', 'percentile_disc(0.3) WITHIN GROUP (ORDER BY y DESC), count(*) FILTER (WHERE x > 2)',
		'max(mood), array_agg(mood ORDER BY mood)']) a,
	unnest(ARRAY['', ' WHERE x <> 1']) w;
SELECT pg_temp.differences('SELECT DISTINCT z::text, x FROM groups_values');
SELECT pg_temp.differences('SELECT y::text, count(*) FROM groups_values GROUP BY 1 HAVING count(*) > 5');
-- in the order of another group, again and again, not to the end, and none of a value that is large
SELECT pg_temp.differences('SELECT row_number() OVER (), * FROM (SELECT x, y::text AS t, count(*) FROM groups_values GROUP BY x, t ORDER BY x, t) q');
SELECT pg_temp.differences('SELECT v, (SELECT sum(n) || ''/'' || count(*) FROM (SELECT z::text, count(*) AS n FROM groups_values WHERE x >= v GROUP BY 1 OFFSET 0) q) FROM generate_series(0, 7) v');
SELECT pg_temp.differences('SELECT count(*) FROM (SELECT big::text FROM groups_values GROUP BY 1 LIMIT 7000) q');
SELECT pg_temp.differences('SELECT md5(repeat(x::text, 100000)), count(*) FROM groups_values WHERE id <= 100 GROUP BY repeat(x::text, 100000)');
SELECT (y || 'x') COLLATE "C" AS t FROM groups_values GROUP BY t ORDER BY t DESC LIMIT 1;
SELECT 1000 / z || 'x' AS t FROM groups_values GROUP BY t;
-- groups that a column among them determines
SELECT pg_temp.differences('SELECT z, z / 2 AS a, z::text AS t, count(*), sum(y) FROM groups_values GROUP BY z, a, t');
SELECT pg_temp.differences('SELECT row_number() OVER (), * FROM (SELECT y, y / 3 AS a, -y AS m, count(DISTINCT x) FROM groups_values GROUP BY y, a, m ORDER BY a DESC, m, y) q');
SELECT pg_temp.differences('SELECT row_number() OVER (), * FROM (SELECT DISTINCT x, x / 2 AS a, x::text AS t FROM groups_values ORDER BY x, a) q');
SELECT pg_temp.differences('SELECT count(*) FROM groups_values GROUP BY y, y::text HAVING y::text > ''5'' AND max(x) > 1');
SELECT pg_temp.differences('SELECT v, (SELECT sum(n) || ''/'' || count(*) FROM (SELECT y / v, count(*) AS n FROM groups_values GROUP BY y, y / v OFFSET 0) q) FROM generate_series(1, 7) v');
CREATE FUNCTION pg_temp.writes(query text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) ' || query INTO plan;
	RETURN (plan -> 0 -> 'Plan' ->> 'Disk')::int > 0;
END $$;
SELECT pg_temp.writes('SELECT y::text, count(*) FROM groups_values GROUP BY 1') AS writes, pg_temp.writes('SELECT x::text, count(*) FROM groups_values GROUP BY 1') AS writes_none;
RESET hash_mem_multiplier;
RESET work_mem;
DROP TABLE groups_values;

-- columns behind a text, which a filter takes apart as far as them, nearly or not at all; with NULLs, and in rows older than the last column
CREATE TABLE groups_late AS
SELECT 'row ' || i AS label, i AS id, CASE WHEN i % 5 > 0 THEN i % 7 END AS x, i * 1000000007::int8 AS big, i / 1000.0 AS ratio, (i % 3)::int2 AS small
FROM generate_series(1, 3000) i;
ALTER TABLE groups_late ADD COLUMN added int DEFAULT 4;
INSERT INTO groups_late SELECT repeat('late ', i % 9), i, i % 3, -i, NULL, NULL, nullif(i % 6, 2) FROM generate_series(3001, 5000) i;
ANALYZE groups_late;
SELECT pg_temp.differences(format('SELECT %s AS g, count(*), sum(big), max(id), count(DISTINCT small) FILTER (WHERE %s) FROM groups_late WHERE %s GROUP BY 1', g, f, w))
FROM unnest(ARRAY['x', 'small', 'added', 'big / 100000000000']) g, unnest(ARRAY['added > 3', 'label > ''row 5''', 'x < 5']) f,
	unnest(ARRAY['added > 2', 'label <> ''row 7''', 'small = 1 AND big > 5', 'x IS NULL OR added IS NULL', 'ratio > 1.5']) w;
DROP TABLE groups_late;

-- plans
CREATE FUNCTION pg_temp.plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	-- without the Sorts that PostgreSQL 16 and later put below aggregates
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		CONTINUE WHEN line ~ 'Sort($|  )|Sort Key';
		RETURN NEXT regexp_replace(line, '^ *(-> *)?', '');
	END LOOP;
END $$;
SELECT pg_temp.plan('SELECT count(DISTINCT y) FROM groups_data');
SELECT pg_temp.plan('SELECT array_agg(y ORDER BY y) FROM groups_data');
SELECT pg_temp.plan('SELECT x, array_agg(y ORDER BY y), count(*) FROM groups_data GROUP BY x');
SELECT pg_temp.plan('SELECT x, percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM groups_data GROUP BY x');
SELECT pg_temp.plan('SELECT DISTINCT x FROM groups_data ORDER BY x');
EXPLAIN (COSTS OFF) SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM groups_data;
EXPLAIN (COSTS OFF) SELECT x, count(*) FROM groups_data GROUP BY x;
EXPLAIN (COSTS OFF) SELECT x, sum(y), avg(y) FILTER (WHERE flag), min(y), max(y), count(*) FROM groups_data WHERE id > 3 GROUP BY x HAVING count(*) > 2;
EXPLAIN (COSTS OFF) SELECT date_trunc('day', ts), mood, count(*) FROM groups_data GROUP BY date_trunc('day', ts), mood;
EXPLAIN (COSTS OFF) SELECT DISTINCT x FROM groups_data;
EXPLAIN (COSTS OFF) SELECT y, y - 1 AS a, y::text AS t, count(*) FROM groups_data GROUP BY a, y, t HAVING y::text > '5' ORDER BY y, a;
EXPLAIN (COSTS OFF) SELECT y, y - 1 AS a, count(*) FROM groups_data GROUP BY y, a ORDER BY a;
-- workers of its own, which a worker of another Gather could not have
CREATE FUNCTION pg_temp.nested(query text) RETURNS TABLE (gathers bigint, within bigint) LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN QUERY SELECT count(*), count(*) FILTER (WHERE jsonb_path_exists(g, '$.Plans.** ? (@."Node Type" == "Gather")'))
		FROM jsonb_path_query(plan::jsonb, 'strict $.** ? (@."Node Type" == "Gather")') g;
END $$;
BEGIN;
SET LOCAL max_parallel_workers_per_gather = 2;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SELECT within FROM pg_temp.nested('SELECT x, count(*) FROM groups_data GROUP BY x UNION ALL SELECT y, count(*) FROM groups_data GROUP BY y');
SELECT within FROM pg_temp.nested('SELECT count(*), sum(n) FROM groups_data d JOIN (SELECT x, count(*) AS n FROM groups_data GROUP BY x) q USING (x)');
SELECT count(*), sum(n) FROM groups_data d JOIN (SELECT x, count(*) AS n FROM groups_data GROUP BY x) q USING (x);
SELECT pg_temp.differences('SELECT x, x::text AS t, count(*), sum(y), max(id) FROM groups_data GROUP BY x, t');
SET LOCAL enable_material = off;
SELECT g, q.n FROM (VALUES (1), (2), (3)) v(g) LEFT JOIN (SELECT count(x) AS n FROM groups_data WHERE x > 1) q ON true ORDER BY g;
ROLLBACK;
-- expressions
EXPLAIN (COSTS OFF) SELECT x > small, sum(x * y), count(x::text) FILTER (WHERE y > 3) FROM groups_data GROUP BY 1;
-- of any type
EXPLAIN (COSTS OFF) SELECT label, count(*) FROM groups_data GROUP BY label;
-- grouping sets: of no rows, too; sets that are there twice, and all columns together that are no set
SET hpsort.debug_aggregate = force;
EXPLAIN (COSTS OFF) SELECT x, y, count(*), GROUPING(x, y) FROM groups_data GROUP BY ROLLUP (x, y) HAVING GROUPING(y) = 1;
SELECT x, count(*), sum(y), percentile_disc(0.5) WITHIN GROUP (ORDER BY y), GROUPING(x) FROM groups_data WHERE x > 1000000 GROUP BY ROLLUP (x);
SELECT x, count(*) FROM groups_data WHERE x > 1000000 GROUP BY GROUPING SETS ((x), (x));
SELECT pg_temp.differences('SELECT x, y, count(*), stddev(id), max(y), GROUPING(y, x) FROM groups_data GROUP BY CUBE (x, y), GROUPING SETS ((x), ())');
SELECT pg_temp.differences('SELECT x / 2, y, count(DISTINCT y), bit_xor(id), mode() WITHIN GROUP (ORDER BY y) FROM groups_data GROUP BY GROUPING SETS ((x / 2), (y), (y))');
SELECT pg_temp.differences('SELECT x, y, min(id), GROUPING(x) FROM groups_data GROUP BY DISTINCT ROLLUP (x, y), ROLLUP (x)');
-- of texts, and of sums of floats in the order of the rows
SET enable_sort = off;
SELECT pg_temp.differences('SELECT x, label, sum(y / 7.0::float8), avg(small / 3.0::float4), GROUPING(label) FROM groups_data GROUP BY CUBE (x, label)');
SELECT pg_temp.differences('SELECT x, sum(y / 7.0::float8) FROM groups_data WHERE x > 1000000 GROUP BY GROUPING SETS ((x), ())');
RESET enable_sort;
RESET hpsort.debug_aggregate;
-- core's
EXPLAIN (COSTS OFF) SELECT x, sum((random() * y)::int) FROM groups_data GROUP BY x;
-- by core's functions
EXPLAIN (COSTS OFF) SELECT x, count(*), corr(y, y), groups_schema.sum(y) FROM groups_data GROUP BY x;
SET hpsort.debug_aggregate = force;
SELECT x, round(corr(y, id)::numeric, 6) AS corr, groups_schema.sum(y) FILTER (WHERE flag), array_agg(small), max(label || y), percentile_disc(0.5) WITHIN GROUP (ORDER BY y)
	FROM groups_data WHERE id < 40 GROUP BY x ORDER BY x;
RESET hpsort.debug_aggregate;
-- core's
SET hpsort.enable_aggregate = off;
EXPLAIN (COSTS OFF) SELECT x, count(*) FROM groups_data GROUP BY x;
RESET hpsort.enable_aggregate;
SET hpsort.debug_aggregate = forbid;
EXPLAIN (COSTS OFF) SELECT x, count(*) FROM groups_data GROUP BY x;
DROP AGGREGATE groups_schema.sum(int);
DROP SCHEMA groups_schema;
DROP AGGREGATE groups_sum(int);
DROP VIEW groups_view;
DROP TABLE groups_data, groups_part;
DROP TYPE groups_mood;
DROP ROLE regress_groups_user;
