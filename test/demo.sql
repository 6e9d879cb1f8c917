-- demo.sql: what hpsort does to queries on real flights, each result compared with
-- PostgreSQL's own answer and timed beside it.  Run by demo.sh, in a server that
-- loads hpsort with each session; psql variable flights is the CSV file.

\pset footer off
\pset pager off
SET client_min_messages = warning;

CREATE EXTENSION hpsort;

CREATE TABLE flights (
	id int GENERATED ALWAYS AS IDENTITY,
	delay int, distance int, minute_of_day int, day_of_year int);

COPY flights (delay, distance, minute_of_day, day_of_year) FROM :'flights' (FORMAT csv, HEADER);
VACUUM ANALYZE flights;

-- What the comparison at the end shows.
CREATE TEMP TABLE demo (
	step int GENERATED ALWAYS AS IDENTITY, query text, hpsort_ms numeric, postgresql_ms numeric, equal bool);

-- It is an error if the query's plan has one of hpsort's nodes and none is wanted,
-- or has none and one is; NULL: either.
CREATE PROCEDURE pg_temp.look_at_plan(query text, wanted bool) LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	IF (plan::text LIKE '%"Custom Plan Provider": "HpSort%') <> wanted THEN
		RAISE EXCEPTION 'HpSort % in the plan of: %', CASE WHEN wanted THEN 'must be' ELSE 'must not be' END, query
			USING DETAIL = plan::text;
	END IF;
END $$;

-- The rows of a query in their order, as one value.
CREATE FUNCTION pg_temp.answer(query text, wanted bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows text;
BEGIN
	query := format('SELECT md5(string_agg(q::text, '' '')) FROM (%s) q', query);
	CALL pg_temp.look_at_plan(query, wanted);
	EXECUTE query INTO rows;
	RETURN rows;
END $$;

-- Milliseconds to plan and run a query as it is, its rows collected: the median of five.
CREATE FUNCTION pg_temp.median_ms(query text, wanted bool) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	started timestamptz;
	times float8[];
BEGIN
	CALL pg_temp.look_at_plan(query, wanted);
	FOR i IN 1 .. 5 LOOP
		started := clock_timestamp();
		EXECUTE query;
		times := times || extract(epoch FROM clock_timestamp() - started)::float8 * 1000;
	END LOOP;
	RETURN (SELECT round(percentile_cont(0.5) WITHIN GROUP (ORDER BY t)::numeric, 1) FROM unnest(times) t);
END $$;

-- The same result, and how long does each take?  Without another query for
-- PostgreSQL, it is the same one, and hpsort's nodes must be what answers it.
CREATE PROCEDURE pg_temp.compare(what text, hpsort text, postgresql text DEFAULT NULL) LANGUAGE plpgsql AS $$
DECLARE
	wanted bool := CASE WHEN postgresql IS NULL THEN true END;
	ours text;
	theirs text;
	ours_ms numeric;
	theirs_ms numeric;
BEGIN
	ours := pg_temp.answer(hpsort, wanted);
	ours_ms := pg_temp.median_ms(hpsort, wanted);
	SET LOCAL hpsort.enable_sort = off;
	SET LOCAL hpsort.enable_scan = off; SET LOCAL hpsort.enable_aggregate = off;
	theirs := pg_temp.answer(coalesce(postgresql, hpsort), false);
	theirs_ms := pg_temp.median_ms(coalesce(postgresql, hpsort), false);
	SET LOCAL hpsort.enable_sort = on;
	SET LOCAL hpsort.enable_aggregate = on;
	INSERT INTO demo (query, hpsort_ms, postgresql_ms, equal)
		VALUES (what, ours_ms, theirs_ms, ours IS NOT DISTINCT FROM theirs);
END $$;

-- Queries that read kept columns bring them into memory, which a worker of the server allocates.
CREATE PROCEDURE pg_temp.run_until_kept(query text) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. 50 LOOP
		PERFORM pg_temp.answer(query, true);
		EXIT WHEN (SELECT bool_and(blocks_valid > 0.9 * blocks) FROM hpsort_resident);
		PERFORM pg_sleep(0.05);
	END LOOP;
END $$;

\echo
\echo 'The data: flights inside the United States, January to June 2001'
\echo
\set ECHO queries
SELECT count(*) AS flights, min(delay) AS earliest, max(delay) AS latest,
	min(distance) AS shortest, max(distance) AS longest FROM flights;
\set ECHO none

\echo 'Steps 1 to 5 are queries as anybody writes them. hpsort is loaded; nothing else is to be done.'
\echo
\echo '1. A percentile by group: the worst days'
\echo
\set percentiles 'SELECT day_of_year, count(*), percentile_disc(0.9) WITHIN GROUP (ORDER BY delay) AS one_in_ten_later\nFROM flights GROUP BY day_of_year HAVING count(*) >= 100\nORDER BY one_in_ten_later DESC, day_of_year LIMIT 3'
\set ECHO queries
:percentiles;
\set ECHO none
\echo '   What EXPLAIN says of it:'
\echo
EXPLAIN (COSTS OFF) :percentiles;
CALL pg_temp.compare('percentile_disc ... GROUP BY day_of_year', :'percentiles');

\echo '2. Groups: delays by distance'
\echo
\set groups 'SELECT distance / 1000 * 1000 AS miles, count(*), min(delay), round(avg(delay), 1) AS avg, max(delay)\nFROM flights GROUP BY miles ORDER BY miles'
\set ECHO queries
:groups;
\set ECHO none
CALL pg_temp.compare('count, min, avg, max ... GROUP BY miles', :'groups');

\echo '3. How many different values?'
\echo
\set different 'SELECT count(DISTINCT delay) AS delays, count(DISTINCT distance) AS distances FROM flights'
\set ECHO queries
:different;
\set ECHO none
CALL pg_temp.compare('count(DISTINCT delay), count(DISTINCT distance)', :'different');

\echo '4. The first of each group: the three longest delays of each day, here of two days'
\echo
\set first 'SELECT * FROM (\n\tSELECT *, rank() OVER (PARTITION BY day_of_year ORDER BY delay DESC) AS place FROM flights) f\nWHERE place <= 3 ORDER BY day_of_year, place, id'
\set ECHO queries
:first LIMIT 6;
\set ECHO none
CALL pg_temp.compare('rank() OVER (PARTITION BY day_of_year ...) <= 3', :'first');

\echo '5. All rows in order, here the first of them'
\echo
\set ordered 'SELECT * FROM flights ORDER BY delay DESC, id'
\set ECHO queries
:ordered LIMIT 3;
\set ECHO none
\echo '   What EXPLAIN says of all of them:'
\echo
EXPLAIN (COSTS OFF) :ordered;
CALL pg_temp.compare('SELECT * ... ORDER BY delay DESC, id', :'ordered');

\echo 'Steps 6 to 8 are functions of hpsort. PostgreSQL is asked the same in its own words.'
\echo
\echo '6. Every value with its count, in order: the commonest delays'
\echo
\set ECHO queries
SELECT r.key AS delay, r.count AS flights
FROM (SELECT hpsort_runs_agg(delay) AS runs FROM flights) a, unnest(a.runs) r
ORDER BY r.count DESC, r.key LIMIT 3;
\set ECHO none
CALL pg_temp.compare('hpsort_runs_agg(distance)',
	'SELECT key, count FROM unnest((SELECT hpsort_runs_agg(distance) FROM flights))',
	'SELECT distance, count(*) FROM flights GROUP BY distance ORDER BY distance');

\echo '7. A column in order, as an array: its ends'
\echo
\set ECHO queries
SELECT d[1:5] AS first_delays, d[cardinality(d) - 4:] AS last_delays
FROM (SELECT hpsort_column_array('flights', 'delay') AS d) a;
\set ECHO none
CALL pg_temp.compare('hpsort_column_array(''flights'', ''delay'')',
	'SELECT hpsort_column_array(''flights'', ''delay'')',
	'SELECT array_agg(delay ORDER BY delay) FROM flights');

\echo '8. An array in order, and the subscripts of its elements in order'
\echo
\set ECHO queries
SELECT hpsort(ARRAY[30, 10, NULL, 20, 10]) AS ascending, hpsort_order(ARRAY[30, 10, 20, 10]) AS subscripts;
\set ECHO none
CREATE TEMP TABLE delays AS SELECT array_agg(delay ORDER BY id) AS keys FROM flights;
CALL pg_temp.compare('hpsort(array)',
	'SELECT hpsort(keys) FROM delays',
	'SELECT array_agg(x ORDER BY x) FROM delays, unnest(keys) x');

\echo '9. Query 1 again, of columns that are kept in memory beside the table, up to date without triggers'
\echo
\set ECHO queries
SELECT hpsort_keep('flights', 'day_of_year', 'delay');
\set ECHO none
CALL pg_temp.run_until_kept(:'percentiles');
\set ECHO queries
SELECT attribute, rows, pg_size_pretty(bytes) AS memory, reason FROM hpsort_resident ORDER BY attribute;
\set ECHO none
CALL pg_temp.compare('query 1, columns kept in memory', :'percentiles');

-- With the GPU's answer and time, or the reason why there is none.
CREATE FUNCTION pg_temp.on_gpu(wide int[], OUT device text, OUT hpsort_ms numeric, OUT equal_to_cpu bool, OUT reason text)
LANGUAGE plpgsql AS $$
DECLARE
	sorted int[];
	started timestamptz;
BEGIN
	BEGIN
		SET LOCAL hpsort.device = gpu;
		sorted := hpsort(wide);		-- also starts the service
		started := clock_timestamp();
		sorted := hpsort(wide);
		hpsort_ms := round((extract(epoch FROM clock_timestamp() - started) * 1000)::numeric, 1);
		SELECT l.device, l.reason INTO on_gpu.device, on_gpu.reason FROM hpsort_last() l;
		SET LOCAL hpsort.device = cpu;
		equal_to_cpu := sorted = hpsort(wide);
	EXCEPTION WHEN feature_not_supported THEN
		GET STACKED DIAGNOSTICS reason = PG_EXCEPTION_DETAIL;
	END;
END $$;

\echo '10. A GPU, if there is one and hpsort was built for it: a key of 32 bits for each flight'
\echo
\set ECHO queries
SELECT g.* FROM pg_temp.on_gpu((SELECT array_agg(hashint4(id)) FROM flights)) g;
\set ECHO none

\echo 'Results beside PostgreSQL''s own, times in milliseconds (medians of five):'
\echo
SELECT step, query, hpsort_ms, postgresql_ms, round(postgresql_ms / nullif(hpsort_ms, 0), 1) AS times_faster, equal
FROM demo ORDER BY step;

-- Ends psql with an error.
DO $$
BEGIN
	IF EXISTS (SELECT FROM demo WHERE equal IS NOT TRUE) THEN
		RAISE EXCEPTION 'some results differ from those of PostgreSQL';
	END IF;
END $$;

\echo 'All results are equal to those of PostgreSQL, whose plans had no part of hpsort.'
