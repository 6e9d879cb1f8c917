--
-- Settings, and the functions that tell what there is and what was done
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS hpsort;
RESET client_min_messages;

-- in a session that has not yet sorted
\c -
SELECT count(*) FROM hpsort_last();

SELECT name, setting, boot_val, vartype, context, enumvals, min_val, max_val
FROM pg_settings WHERE name LIKE 'hpsort.%' ORDER BY name;
SELECT name, short_desc, extra_desc FROM pg_settings WHERE name LIKE 'hpsort.%' ORDER BY name;

-- set, shown, reset; local to a transaction or a function
SET hpsort.algorithm = radix;
SET hpsort.cost_factor = 3;
SHOW hpsort.algorithm;
BEGIN;
SET LOCAL hpsort.algorithm = 'zero_compressed';
SHOW hpsort.algorithm;
COMMIT;
SHOW hpsort.algorithm;
CREATE FUNCTION pg_temp.counted() RETURNS text LANGUAGE sql SET hpsort.algorithm = zero_compressed
AS $$SELECT hpsort('{3,1,2}')::text || ' by ' || (SELECT algorithm FROM hpsort_last())$$;
SELECT pg_temp.counted();
SHOW hpsort.algorithm;

-- EXPLAIN (SETTINGS) shows those that differ from the default
CREATE FUNCTION pg_temp.explain_settings() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (SETTINGS, COSTS OFF, FORMAT JSON) SELECT 1' INTO plan;
	RETURN QUERY SELECT format('%s = %s', key, value) FROM json_each_text(plan -> 0 -> 'Settings')
		WHERE key LIKE 'hpsort.%' ORDER BY 1;
END $$;
SELECT pg_temp.explain_settings();
SET hpsort.device = cpu;
SELECT pg_temp.explain_settings();
RESET hpsort.algorithm;
RESET hpsort.cost_factor;
RESET hpsort.device;
SELECT pg_temp.explain_settings();

-- the prefix is reserved
SET hpsort.colour = 'red';

-- what exists
SELECT algorithm, devices, automatic, stable FROM hpsort_algorithms();
SELECT algorithm, paper FROM hpsort_algorithms();
SELECT algorithm, limits FROM hpsort_algorithms();
SELECT algorithm, memory FROM hpsort_algorithms();
-- every one of them is a value of the setting, and the other way round
SELECT (SELECT array_agg(algorithm ORDER BY algorithm) FROM hpsort_algorithms()) =
       (SELECT array_agg(v ORDER BY v) FROM pg_settings, unnest(enumvals) v
        WHERE name = 'hpsort.algorithm' AND v <> 'auto') AS same;
SELECT device, regexp_replace(name, '^[0-9]+ processors, .+$', 'N processors, ...') AS name, usable, state, reason
FROM hpsort_devices() WHERE device = 'cpu';
-- whatever there is, the GPU has a row: what can be used, or why not
SELECT count(*) > 0 AS has_row, bool_and(usable OR reason <> '') AS with_reason,
	bool_and(state IN ('off', 'stopped', 'starting', 'running', 'restarting', 'no device', 'failed', 'ready')) AS state
FROM hpsort_devices() WHERE device = 'gpu';
SELECT count(*), min(state) <> '' AS state, min(fallbacks) >= 0 AS counted, min(stats_reset) <= clock_timestamp() AS since
FROM hpsort_stat_gpu;

-- hpsort.cost_factor multiplies what a node of hpsort's costs beyond its input, and so decides
-- between hpsort and PostgreSQL
CREATE TABLE weighed AS SELECT i % 1000 AS x, i * 7919 % 100000 AS y FROM generate_series(0, 99999) i;
ANALYZE weighed;
CREATE FUNCTION pg_temp.plan_of(query text, factor float8, OUT node text, OUT cost numeric) LANGUAGE plpgsql AS $$
DECLARE
	plan json;
	input float8;
BEGIN
	PERFORM set_config('hpsort.cost_factor', factor::text, true);
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	plan := plan -> 0 -> 'Plan';
	node := coalesce(plan ->> 'Custom Plan Provider', plan ->> 'Node Type');
	input := plan -> 'Plans' -> 0 ->> 'Total Cost';
	cost := (plan ->> 'Total Cost')::float8 - coalesce(input, 0);
END $$;
BEGIN;
SET LOCAL max_parallel_workers_per_gather = 0;
SELECT factor, node FROM unnest('{1,100}'::float8[]) factor, pg_temp.plan_of('SELECT * FROM weighed ORDER BY y', factor);
SELECT factor, node FROM unnest('{1,100}'::float8[]) factor,
	pg_temp.plan_of('SELECT x, percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM weighed GROUP BY x', factor);
SET LOCAL hpsort.debug_aggregate = force;
-- a half and a quarter; what HpSort Aggregate costs has a part that does not change, for pages
WITH plans AS (SELECT query, factor, cost FROM (VALUES ('SELECT * FROM weighed ORDER BY y'), ('SELECT * FROM weighed ORDER BY y, x')) q(query),
	unnest('{0.25,0.5,1}'::float8[]) factor, pg_temp.plan_of(query, factor))
SELECT query, factor, round(cost / max(cost) OVER (PARTITION BY query), 2) AS part FROM plans ORDER BY 1, 2;
WITH plans AS (SELECT factor, node, cost FROM unnest('{1,2,3}'::float8[]) factor,
	pg_temp.plan_of('SELECT x, sum(y) FROM weighed GROUP BY x', factor))
SELECT factor, node, abs((cost - lag(cost) OVER w) / (lead(cost) OVER w - cost) - 1) < 0.01 AS linear FROM plans WINDOW w AS (ORDER BY factor);
ROLLBACK;
DROP TABLE weighed;

-- what was done: everything but times, and the algorithm where it is a close call
CREATE FUNCTION pg_temp.last() RETURNS TABLE (function text, device text, n int8, nulls int8,
	lo int4, hi int4, "distinct" int8, delta float8, sigma float8) LANGUAGE sql AS
$$SELECT function, device, n, nulls, lo, hi, "distinct", delta, sigma FROM hpsort_last()$$;

SELECT hpsort('{5,3,NULL,5,-2}');
SELECT * FROM pg_temp.last();
SELECT hpsort('{4,3,4,-3}', -10, 10, true);
SELECT * FROM pg_temp.last();
SELECT hpsort_order('{5,3,NULL,5,-2}');
SELECT * FROM pg_temp.last();
SELECT count(*) FROM hpsort_set('{5,3,NULL,5,-2}');
SELECT * FROM pg_temp.last();
SELECT count(*) FROM hpsort_runs('{5,3,NULL,5,-2}');
SELECT * FROM pg_temp.last();
SELECT hpsort_agg(x) FROM (VALUES (5), (3), (NULL), (5), (-2)) v(x);
SELECT * FROM pg_temp.last();
SELECT hpsort_runs_agg(x) FROM (VALUES (5), (3), (NULL), (5), (-2)) v(x);
SELECT * FROM pg_temp.last();
SELECT count(*) FROM hpsort_query('VALUES (5), (3), (NULL), (5), (-2)');
SELECT * FROM pg_temp.last();
-- without keys there are no bounds
SELECT hpsort('{NULL,NULL}');
SELECT * FROM pg_temp.last();
-- narrow keys are counted, wide ones sorted, and counted if they are to be
CREATE TEMP TABLE narrow AS SELECT x % 1000 AS x FROM generate_series(1, 100000) x;
CREATE TEMP TABLE wide AS SELECT CASE x WHEN 1 THEN -2147483648 WHEN 2 THEN 2147483647 ELSE (x * 2654435761 % 4294967296 - 2147483648)::int4 END AS x
FROM generate_series(1, 20000) x(x);
CREATE FUNCTION pg_temp.last_algorithm() RETURNS TABLE (function text, algorithm text, n int8, lo int4, hi int4) LANGUAGE sql AS
$$SELECT function, algorithm, n, lo, hi FROM hpsort_last()$$;
SELECT cardinality(hpsort_agg(x)) FROM narrow;
SELECT * FROM pg_temp.last_algorithm();
SELECT cardinality(hpsort(array_agg(x))) FROM narrow;
SELECT * FROM pg_temp.last_algorithm();
SELECT cardinality(hpsort_agg(x)) FROM wide;
SELECT * FROM pg_temp.last_algorithm();
SELECT cardinality(hpsort(array_agg(x))) FROM wide;
SELECT * FROM pg_temp.last_algorithm();
SET hpsort.algorithm = radix;
SELECT cardinality(hpsort_agg(x)) FROM narrow;
SELECT * FROM pg_temp.last_algorithm();
SELECT cardinality(hpsort(array_agg(x))) FROM narrow;
SELECT * FROM pg_temp.last_algorithm();
SET hpsort.algorithm = comparison_free;
SELECT cardinality(hpsort_agg(x)) FROM narrow;
SELECT * FROM pg_temp.last_algorithm();
SELECT cardinality(hpsort(array_agg(x))) FROM narrow;
SELECT * FROM pg_temp.last_algorithm();
SET hpsort.algorithm = zero_compressed;
SELECT hpsort('{5,3,2000000}');
SELECT * FROM pg_temp.last_algorithm();
RESET hpsort.algorithm;
-- a failed sort is not one that was done
SELECT hpsort('{1,2,3}', 1, 2);
SELECT * FROM pg_temp.last_algorithm();

-- the reasons, less what is measured
CREATE FUNCTION pg_temp.reason() RETURNS text LANGUAGE sql AS
$$SELECT regexp_replace(reason, '[0-9.]+(e[+-][0-9]+)? (ns|us|ms|s)\M', 'T', 'g') FROM hpsort_last()$$;
SELECT hpsort_agg(x) FROM generate_series(1, 5) x;
SELECT pg_temp.reason();
SELECT cardinality(hpsort_agg(x)) FROM narrow;
SELECT pg_temp.reason();
SELECT cardinality(hpsort(array_agg(x))) FROM wide;
SELECT pg_temp.reason();
SET hpsort.algorithm = comparison_free;
SELECT hpsort('{3,1,2}');
SELECT pg_temp.reason();
RESET hpsort.algorithm;
SELECT hpsort_agg(NULL::int4) FROM generate_series(1, 2);
SELECT pg_temp.reason();

-- times and bytes: there, and plausible
SELECT cardinality(hpsort(array_agg(x))) FROM wide;
SELECT fill_us BETWEEN 0 AND 60000000 AS fill, sort_us BETWEEN 1 AND 60000000 AS sort,
       read_us BETWEEN 0 AND 60000000 AS read, bytes_moved >= 2 * 4 * n AS bytes_moved
FROM hpsort_last();

-- of a session that is given to somebody else nothing is left
SELECT count(*) FROM hpsort_last();
DISCARD PLANS;
SELECT count(*) FROM hpsort_last();
DISCARD ALL;
SELECT count(*) FROM hpsort_last();
SELECT hpsort('{2,1}');
SELECT count(*) FROM hpsort_last();
