-- Groups of expressions that are the same for neighbouring values, which HpSort Aggregate remembers by blocks of
-- values: equal to PostgreSQL's own groups in time zones with summer time and other transitions, at infinite times, before
-- Christ, at the ends of what a type holds, and of negative numbers.
\set test expressions
\ir setup.psql
LOAD 'hpsort';
SET hpsort.enable_scan = off;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;

-- Times around transitions of a zone, at its midnights, and anywhere; now and then one that is special.
CREATE TABLE times (i int, at timestamp, atz timestamptz);
CREATE FUNCTION pg_temp.fill_times(zone text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	around timestamptz[];
BEGIN
	PERFORM set_config('TimeZone', zone, true);
	around := ARRAY(
		SELECT t FROM (
			SELECT t, t::timestamp - lag(t::timestamp) OVER (ORDER BY t) AS step
			FROM generate_series(timestamptz '1880-01-01 00:00+00', timestamptz '2040-01-01 00:00+00', interval '24 hours') t) s
		WHERE step <> interval '1 day') || ARRAY(
		SELECT (date '1990-01-01' + floor(random() * 15000)::int)::timestamptz FROM generate_series(1, 20));
	TRUNCATE times;
	INSERT INTO times
	SELECT i, t::timestamp, t FROM (
		SELECT i, CASE WHEN random() < 0.7
			THEN around[1 + floor(random() * cardinality(around))] + (random() * 40 - 32) * interval '1 hour'
			ELSE timestamptz '1850-01-01' + random() * 250 * interval '365 days' END AS t
		FROM generate_series(1, 12000) i OFFSET 0) s;
	-- some of them on the second
	UPDATE times SET at = date_trunc('second', at), atz = date_trunc('second', atz) WHERE i % 5 = 0;
	UPDATE times SET at = date_trunc('hour', at), atz = date_trunc('hour', atz) WHERE i % 50 = 0;
	INSERT INTO times SELECT i, t, t FROM generate_series(1, 3) i, unnest(ARRAY[NULL, 'infinity', '-infinity', 'infinity', '0001-01-01 00:00:00 BC',
		'0044-03-15 12:34:56.789 BC', '4700-01-01 BC', '0001-12-31 23:59:59.999999 BC', '99999-12-31 23:59:59', '290000-02-29 00:00:00']::timestamp[]) t;
	ANALYZE times;
END $$;

CREATE FUNCTION pg_temp.digest(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT count(*) || '' '' || md5(string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C")) FROM (%s OFFSET 0) q', query) INTO result;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLERRM;
END $$;
CREATE FUNCTION pg_temp.has_node(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN plan::text LIKE '%HpSort%';
END $$;
CREATE FUNCTION pg_temp.turn(hpsort boolean) RETURNS void LANGUAGE sql AS $$
	SELECT set_config('hpsort.debug_aggregate', CASE WHEN hpsort THEN 'force' ELSE 'forbid' END, true);
$$;

-- Each expression grouped by the node and by PostgreSQL: what is different.
CREATE FUNCTION pg_temp.check_expressions(relation text, expressions text[], description text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	expression text;
	query text;
	core text;
	wrong text := '';
	memory text;
	workers text;
BEGIN
	FOREACH expression IN ARRAY expressions LOOP
		query := format('SELECT %s AS e, count(*), min(i), max(i) FROM %s GROUP BY 1', expression, relation);
		PERFORM pg_temp.turn(false), set_config('work_mem', '64MB', true), set_config('max_parallel_workers_per_gather', '0', true);
		IF pg_temp.has_node(query) THEN
			wrong := wrong || ' not PostgreSQL''s own: ' || expression;
		END IF;
		core := pg_temp.digest(query);
		PERFORM pg_temp.turn(true);
		FOREACH memory IN ARRAY ARRAY['64kB', '64MB'] LOOP
			-- chance decides, and every run has another seed
			workers := CASE WHEN random() < 0.5 THEN '0' ELSE '2' END;
			PERFORM set_config('work_mem', memory, true), set_config('max_parallel_workers_per_gather', workers, true);
			IF NOT pg_temp.has_node(query) THEN
				wrong := wrong || ' not the node: ' || expression;
			END IF;
			IF pg_temp.digest(query) IS DISTINCT FROM core THEN
				wrong := wrong || format(' %s (%s, %s)', expression, memory, workers);
			END IF;
		END LOOP;
	END LOOP;
	RETURN NEXT is(wrong, '', description);
END $$;

SELECT array_agg(format(kind, field)) AS of_times
FROM unnest('{minute,hour,Day,week,MONTH,quarter,year,decade,century,millennium}'::text[]) field,
	unnest(ARRAY['date_trunc(%L, at)', 'date_trunc(%L, atz)', 'extract(%s FROM at)', 'extract(%s FROM atz)', 'date_part(%L, atz)']) kind \gset
SELECT array_agg(format(kind, field)) AS of_days
FROM unnest('{dow,isodow,doy,isoyear}'::text[]) field, unnest(ARRAY['extract(%s FROM at)', 'extract(%s FROM atz)']) kind \gset
SELECT ARRAY['at::date', 'atz::date', 'date_trunc(''day'', at)::date', 'date_trunc(''month'', atz)::date', '(extract(hour FROM atz) * 60 + extract(minute FROM atz))::int',
	'to_char(date_trunc(''week'', atz), ''IYYY-IW'')', 'date_trunc(''day'', atz, ''Asia/Kathmandu'')', '(atz AT TIME ZONE ''America/New_York'')::date',
	'date_bin(''5 minutes'', at, ''2000-01-01'')', 'date_bin(''7 hours 3 seconds'', atz, ''1999-12-31 23:59:59.5+00'')',
	'date_bin(''11 days'', at, ''1970-01-01'')', 'extract(timezone FROM atz)', 'extract(hour FROM at) + extract(second FROM at)',
	'date_trunc(''hour'', at) - date_trunc(''day'', at)', 'coalesce(date_trunc(''day'', at), ''2000-01-01'')', 'at IS NULL OR date_trunc(''year'', at) > ''2000-01-01'''] AS of_both \gset

-- Every zone of this list, and some of all that there are.  One of them changes its time at no quarter of an hour.
CREATE FUNCTION pg_temp.check_zones(expressions text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	zone text;
BEGIN
	FOR zone IN
		SELECT * FROM unnest('{UTC,Europe/Berlin,America/New_York,Asia/Kathmandu,Australia/Lord_Howe,Africa/Monrovia,Pacific/Apia,Antarctica/Troll,<X>-03:20,<Y>2:40<Z>,"AAA0BBB-1,M3.2.0/2:07:30,M10.5.0/3:11:15"}'::text[])
		UNION ALL
		(SELECT name FROM pg_timezone_names WHERE name !~ '^(posix|right)' ORDER BY md5(name || random()) LIMIT 4)
	LOOP
		PERFORM pg_temp.fill_times(zone);
		RETURN QUERY SELECT pg_temp.check_expressions('times', (SELECT array_agg(e) FROM (SELECT e FROM unnest(expressions) e ORDER BY random() LIMIT 12) s) ||
			ARRAY['date_trunc(''hour'', atz)', 'extract(hour FROM atz)', 'atz::date', 'date_trunc(''minute'', atz)'], 'times of ' || zone);
	END LOOP;
END $$;
SELECT pg_temp.check_zones(:'of_times'::text[] || :'of_days'::text[] || :'of_both'::text[]);

-- All of them in one zone whose summer time is half an hour.
SELECT pg_temp.fill_times('Australia/Lord_Howe') IS NULL AS ignored \gset
SELECT pg_temp.check_expressions('times', :'of_times'::text[] || :'of_days'::text[] || :'of_both'::text[], 'all expressions of times');

-- At the ends of timestamps, where some expressions fail: so do PostgreSQL's.
TRUNCATE times;
INSERT INTO times SELECT i, t, t AT TIME ZONE 'UTC' FROM (
	SELECT i, CASE i % 2 WHEN 0 THEN timestamp '4713-11-24 00:00 BC' + i * interval '7 minutes' ELSE timestamp '294276-12-31 23:59:59.999999' - i * interval '7 minutes' END AS t
	FROM generate_series(0, 4000) i OFFSET 0) s;
INSERT INTO times SELECT i, t, t FROM generate_series(1, 3) i, unnest('{infinity,-infinity}'::timestamp[]) t;
SELECT set_config('TimeZone', 'UTC', true) IS NULL AS ignored \gset
SELECT pg_temp.check_expressions('times', ARRAY['date_trunc(''hour'', at)', 'date_trunc(''hour'', atz)', 'date_trunc(''century'', at)', 'extract(hour FROM atz)', 'at::date',
	'date_bin(''5 minutes'', at, ''2000-01-01'')', 'date_bin(''1 day'', at, ''0001-01-01'')', 'date_bin(''1 day'', atz, ''4000-01-01 BC'')',
	'date_bin(''3 days'', at, ''2001-01-01'')', 'date_bin(''30 days'', at, ''2001-01-01'')', 'date_bin(''30 days'', atz, ''1900-01-01'')', 'date_bin(''1000 days'', at, ''2010-01-01'')'], 'at the ends of timestamps');

-- Numbers on both sides of 0, and at the ends of their types.
CREATE TABLE numbers AS
SELECT i, CASE WHEN random() > 0.02 THEN (random() * 60000 - 30000)::int2 END AS s, (random() * 200000 - 100000)::int AS n,
	(random() * 1e12 - 5e11)::int8 AS b, (random() * 9.2e18)::int8 * (1 - 2 * (i % 2)) AS wide,
	(random() * 4294967295)::int8::oid AS o FROM generate_series(1, 20000) i;
INSERT INTO numbers SELECT i, 32767, 2147483647, 9223372036854775807, 9223372036854775807, 4294967295 FROM generate_series(1, 3) i;
INSERT INTO numbers SELECT i, -32768, -2147483648, -9223372036854775808, -9223372036854775808, 0 FROM generate_series(1, 3) i;
ANALYZE numbers;
SELECT pg_temp.check_expressions('numbers', ARRAY['s / 7::int2', 's / 1000', 'n / 10', 'n / 1000', 'n / 100000::int8', 'n / -10', 'n / 1', 'b / 1000000007', 'b / 60', 'wide / 9223372036854775807',
	'wide / 4611686018427387904', 'wide / 3', 'n % 100', 'b % 1000', 'mod(n, 17)', 'n / 10 * 10 + n / 100', 'n / 10 + n', '(n / 100)::text', '100000 / (n / 1000)',
	'o::int4 / 7', 'o::int4 / 1000000', 'o::int4 % 10', 'wide % 10', 'wide > 0', 'b % 5 = ANY (ARRAY[1, 2])',
	'CASE WHEN wide % 3 = 0 THEN NULL ELSE wide % 5 END', '100 / (wide % 5)', 'wide::float8 > 1e17', 'greatest(b % 7, 3)', '(b % 2 = 0) IS NOT TRUE', 'hashint8(wide) % 10'], 'numbers');

-- Arithmetic takes no longer than a look-up: there is nothing to remember.
CREATE FUNCTION pg_temp.memory_of(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ' || query LOOP
		IF line ~ 'Memory: \d+ kB' AND line !~ 'Buckets' THEN
			RETURN substring(line FROM 'Memory: (\d+) kB');
		END IF;
	END LOOP;
END $$;
SELECT count(*) AS ignored FROM (SELECT pg_temp.turn(true), set_config('max_parallel_workers_per_gather', '0', true), set_config('work_mem', '64MB', true)) s \gset
SELECT cmp_ok(pg_temp.memory_of('SELECT wide % 10, count(*) FROM numbers GROUP BY 1'), '<', 700, 'arithmetic of a wide range has no memo');
SELECT cmp_ok(pg_temp.memory_of('SELECT md5(wide::text) < ''8'', count(*) FROM numbers GROUP BY 1'), '>', 700, 'what takes longer has one');

-- Of blocks of which nothing is known, below 0 or before the origin, it is values that are remembered.
CREATE SEQUENCE calls;
CREATE FUNCTION pg_temp.counted(n int) RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN PERFORM nextval(''calls''); RETURN n; END';
CREATE TABLE repeating AS SELECT i, -(i % 50) AS n FROM generate_series(1, 40000) i;
ANALYZE repeating;
SELECT pg_temp.check_expressions('repeating', ARRAY['pg_temp.counted(n / 10)'], 'a function of numbers below 0');
SELECT count(*) AS ignored FROM (SELECT setval('calls', 1), pg_temp.turn(true), set_config('max_parallel_workers_per_gather', '0', true)) s \gset
SELECT count(*) AS ignored FROM (SELECT pg_temp.counted(n / 10), count(*) FROM repeating GROUP BY 1 OFFSET 0) q \gset
SELECT cmp_ok((SELECT last_value FROM calls), '<', 20000::bigint, 'is not called for each row');

-- A volatile expression, one of not only numbers, and an aggregate of what has few values are not taken to have few values: rows are
-- sorted that a hash table would put on disk.
CREATE TABLE estimated AS SELECT i, i % 5000 AS x, CASE WHEN i % 50 = 0 THEN 0 WHEN i = 17 THEN 'NaN' ELSE i + 0.5 END::float8 AS f FROM generate_series(1, 30000) i;
ANALYZE estimated;
SET LOCAL hpsort.debug_aggregate = allow;
SET LOCAL hpsort.enable_aggregate = off;
SET LOCAL hpsort.enable_sort = on;
SET LOCAL work_mem = '512kB';
SELECT ok(pg_temp.has_node(query), query) FROM unnest(ARRAY['SELECT random(), count(*) FROM estimated GROUP BY 1', 'SELECT DISTINCT floor(f) FROM estimated']) query;
CREATE FUNCTION pg_temp.first_node(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN coalesce(plan -> 0 -> 'Plan' ->> 'Custom Plan Provider', plan -> 0 -> 'Plan' ->> 'Node Type');
END $$;
SELECT is(pg_temp.first_node('SELECT x, string_agg((i / 30000)::text, '''') FROM estimated GROUP BY x ORDER BY 2'), 'HpSort', 'an aggregate of what has few values');
SELECT * FROM finish();
ROLLBACK;
