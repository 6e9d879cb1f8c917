-- demo.sql: the main job of hpsort on real flights, each result compared with
-- PostgreSQL's own answer and timed beside it.  Run by demo.sh; psql variable
-- flights is the CSV file.

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
	step int GENERATED ALWAYS AS IDENTITY, what text, hpsort_ms numeric, postgresql_ms numeric, equal bool);

-- Median time of a query in milliseconds.
CREATE FUNCTION pg_temp.median_ms(query text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	started timestamptz;
	times float8[];
BEGIN
	FOR i IN 1 .. 5 LOOP
		started := clock_timestamp();
		EXECUTE query;
		times := times || extract(epoch FROM clock_timestamp() - started)::float8 * 1000;
	END LOOP;
	RETURN (SELECT round(percentile_cont(0.5) WITHIN GROUP (ORDER BY t)::numeric, 1) FROM unnest(times) t);
END $$;

-- Same result, and how long does each take?  Queries of several rows come with
-- one that makes a value of their result, to compare, and one that reads it, to
-- be timed; %s is where the query goes.  What PostgreSQL sorts it sorts itself.
CREATE PROCEDURE pg_temp.compare(what text, hpsort text, postgresql text,
	comparing text DEFAULT '%s', timing text DEFAULT '%s') LANGUAGE plpgsql AS $$
DECLARE
	ours text;
	theirs text;
	ours_ms numeric;
	theirs_ms numeric;
BEGIN
	EXECUTE format('SELECT (%s)::text', format(comparing, hpsort)) INTO ours;
	ours_ms := pg_temp.median_ms(format(timing, hpsort));
	SET LOCAL hpsort.enable_sort = off;
	EXECUTE format('SELECT (%s)::text', format(comparing, postgresql)) INTO theirs;
	theirs_ms := pg_temp.median_ms(format(timing, postgresql));
	SET LOCAL hpsort.enable_sort = on;
	INSERT INTO demo (what, hpsort_ms, postgresql_ms, equal)
		VALUES (what, ours_ms, theirs_ms, ours IS NOT DISTINCT FROM theirs);
END $$;

\echo
\echo 'The data: flights inside the United States, January to June 2001'
\echo
\set ECHO queries
SELECT count(*) AS flights, min(delay) AS earliest, max(delay) AS latest, count(DISTINCT delay) AS delays,
	min(distance) AS shortest, max(distance) AS longest, count(DISTINCT distance) AS distances FROM flights;

\echo '1. All delays and all distances in order, as arrays: first and last five'
\echo
\set ECHO queries
SELECT a.delays[1:5] AS first_delays, a.delays[cardinality(a.delays) - 4:] AS last_delays,
	a.distances[1:5] AS first_distances, a.distances[cardinality(a.distances) - 4:] AS last_distances
FROM (SELECT hpsort_agg(delay) AS delays, hpsort_agg(distance) AS distances FROM flights) a;

\set ECHO none
CALL pg_temp.compare('hpsort_agg(delay)',
	'SELECT hpsort_agg(delay) FROM flights',
	'SELECT array_agg(delay ORDER BY delay) FROM flights');
CALL pg_temp.compare('hpsort_agg(distance)',
	'SELECT hpsort_agg(distance) FROM flights',
	'SELECT array_agg(distance ORDER BY distance) FROM flights');

\echo '2. With promised bounds: the minute of departure, 0 to 1439, from the last to the first'
\echo
\set ECHO queries
SELECT (hpsort_agg(minute_of_day, 0, 1439, true))[1:10] AS latest_departures FROM flights;

\set ECHO none
CALL pg_temp.compare('hpsort_agg(minute_of_day, 0, 1439, true)',
	'SELECT hpsort_agg(minute_of_day, 0, 1439, true) FROM flights',
	'SELECT array_agg(minute_of_day ORDER BY minute_of_day DESC) FROM flights');

\echo '   A key outside the bounds is an error, never a wrong result:'
\echo
\set ON_ERROR_STOP off
\set ECHO queries
SELECT hpsort_agg(delay, 0, 1000) FROM flights;
\set ECHO none
SELECT :'SQLSTATE' = '22003' AS refused \gset
\set ON_ERROR_STOP on
INSERT INTO demo (what, equal) VALUES ('bounds broken: an error', :'refused');

\echo
\echo '3. By group: the delays of each day in order; the worst days with 100 flights and more'
\echo
\set ECHO queries
SELECT day_of_year, cardinality(delays) AS flights, delays[1] AS first, delays[(cardinality(delays) + 1) / 2] AS median,
	delays[cardinality(delays)] AS last
FROM (SELECT day_of_year, hpsort_agg(delay) AS delays FROM flights GROUP BY day_of_year) d
WHERE cardinality(delays) >= 100
ORDER BY median DESC, day_of_year LIMIT 3;

\set ECHO none
CALL pg_temp.compare('hpsort_agg(delay) ... GROUP BY day_of_year',
	'SELECT day_of_year, hpsort_agg(delay) AS delays FROM flights GROUP BY day_of_year',
	'SELECT day_of_year, array_agg(delay ORDER BY delay) AS delays FROM flights GROUP BY day_of_year',
	comparing => 'SELECT array_agg(q::text ORDER BY q) FROM (%s) q',
	timing => 'SELECT sum(cardinality(delays)) FROM (%s) q');

\echo '4. Runs, every delay with its count: all of the column in this little'
\echo
\set ECHO queries
SELECT cardinality(runs) AS runs, pg_size_pretty(pg_column_size(runs)::bigint) AS as_runs,
	pg_size_pretty(pg_column_size(keys)::bigint) AS as_keys
FROM (SELECT hpsort_runs_agg(delay) AS runs, hpsort_agg(delay) AS keys FROM flights) a;

SELECT r.key AS delay, r.count AS flights
FROM (SELECT hpsort_runs_agg(delay) AS runs FROM flights) a, unnest(a.runs) r
ORDER BY r.count DESC, r.key LIMIT 5;

\set ECHO none
CALL pg_temp.compare('hpsort_runs_agg(distance)',
	'SELECT hpsort_runs_agg(distance) FROM flights',
	'SELECT array_agg((distance, count)::hpsort_run ORDER BY distance)
	FROM (SELECT distance, count(*) FROM flights GROUP BY distance) runs');

\echo '5. A percentile is a walk over the runs: nine of ten flights are late by at most'
\echo
\set ECHO queries
SELECT min(key) AS minutes
FROM (SELECT r.key, sum(r.count) OVER (ORDER BY r.key) AS upto, sum(r.count) OVER () AS n
	FROM (SELECT hpsort_runs_agg(delay) AS runs FROM flights) a, unnest(a.runs) r) w
WHERE upto >= 0.9 * n;

\set ECHO none
CALL pg_temp.compare('90th percentile of delay, from runs',
	'SELECT min(key)
	FROM (SELECT r.key, sum(r.count) OVER (ORDER BY r.key) AS upto, sum(r.count) OVER () AS n
		FROM (SELECT hpsort_runs_agg(delay) AS runs FROM flights) a, unnest(a.runs) r) w
	WHERE upto >= 0.9 * n',
	'SELECT percentile_disc(0.9) WITHIN GROUP (ORDER BY delay) FROM flights');

\echo '6. The sorting permutation: the ten longest delays with their rows, equal ones in order of the table'
\echo
\set ECHO queries
CREATE TEMP TABLE delays AS SELECT array_agg(delay ORDER BY id) AS keys FROM flights;

SELECT f.*
FROM (SELECT hpsort_order(keys, descending => true) AS ids FROM delays) o,
	unnest(o.ids[1:10]) WITH ORDINALITY AS place(id, number) JOIN flights f USING (id)
ORDER BY place.number;

\set ECHO none
-- From the table: an array that is there already would make hpsort look better.
CALL pg_temp.compare('hpsort_order(array_agg(delay ORDER BY id), true)',
	'SELECT hpsort_order((SELECT array_agg(delay ORDER BY id) FROM flights), descending => true)',
	'SELECT array_agg(id ORDER BY delay DESC, id) FROM flights');

\echo '7. An array in order'
\echo
\set ECHO queries
SELECT hpsort(ARRAY[3, NULL, 1, 2, 1]) AS ascending, hpsort(ARRAY[3, NULL, 1, 2, 1], descending => true) AS descending;

\set ECHO none
CALL pg_temp.compare('hpsort(array), not from the table',
	'SELECT hpsort(keys) FROM delays',
	'SELECT array_agg(x ORDER BY x) FROM delays, unnest(keys) x');

\echo '8. Any query in order, as a set without an array''s limit: the five shortest flights'
\echo
\set ECHO queries
SELECT hpsort_query('SELECT distance FROM flights') AS distance LIMIT 5;

\set ECHO none
CALL pg_temp.compare('hpsort_query(''SELECT distance FROM flights'')',
	'SELECT hpsort_query(''SELECT distance FROM flights'') AS x',
	'SELECT distance AS x FROM flights ORDER BY distance',
	comparing => 'SELECT array_agg(x) FROM (%s) q',
	timing => 'SELECT count(x) FROM (%s) q');

\echo '   What it did:'
\echo
\set ECHO queries
\pset expanded on
SELECT * FROM hpsort_last();
\pset expanded off
\set ECHO none

\echo '9. Plain ORDER BY: hpsort sorts where it is cheaper than PostgreSQL''s own sort'
\echo
\set ECHO queries
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT * FROM flights ORDER BY delay DESC;

\set ECHO none
CALL pg_temp.compare('SELECT * ... ORDER BY delay DESC, id',
	'SELECT * FROM flights ORDER BY delay DESC, id',
	'SELECT * FROM flights ORDER BY delay DESC, id',
	comparing => 'SELECT md5(string_agg(q::text, '' '')) FROM (%s) q',
	timing => 'SELECT count(*) FROM (%s OFFSET 0) q');

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

\echo '10. The GPU, if there is one: a key of 32 bits for each flight'
\echo
\set ECHO queries
SELECT g.* FROM pg_temp.on_gpu((SELECT array_agg(hashint4(id)) FROM flights)) g;
SELECT device, name, state FROM hpsort_devices();
\set ECHO none

\echo 'Results beside PostgreSQL''s own, times in milliseconds (medians of five):'
\echo
SELECT step, what, hpsort_ms, postgresql_ms, round(postgresql_ms / nullif(hpsort_ms, 0), 1) AS times_faster, equal
FROM demo ORDER BY step;

-- Ends psql with an error.
DO $$
BEGIN
	IF EXISTS (SELECT FROM demo WHERE equal IS NOT TRUE) THEN
		RAISE EXCEPTION 'some results differ from those of PostgreSQL';
	END IF;
END $$;

\echo 'All results are equal to those of PostgreSQL.'
