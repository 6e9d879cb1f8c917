--
-- What hpsort tells of keys, and to whom: nothing that a user could not read
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS hpsort;
RESET client_min_messages;

CREATE ROLE regress_hpsort_owner;
CREATE ROLE regress_hpsort_user;
CREATE SCHEMA hpsort_rights AUTHORIZATION regress_hpsort_owner;
GRANT USAGE ON SCHEMA hpsort_rights TO regress_hpsort_user;
SET search_path = hpsort_rights, public;
CREATE TABLE salaries (person name, salary int);
INSERT INTO salaries SELECT CASE WHEN i % 2 = 0 THEN 'regress_hpsort_user' ELSE 'somebody' END, 1000 + i * 37 % 5000
FROM generate_series(1, 10000) i;
ALTER TABLE salaries OWNER TO regress_hpsort_owner;
VACUUM ANALYZE salaries;

-- views that tell how many salaries there are, and sort what they do not show
SET ROLE regress_hpsort_owner;
CREATE FUNCTION sorted(int[]) RETURNS int[] LANGUAGE plpgsql AS 'BEGIN RETURN hpsort($1); END';
CREATE FUNCTION aggregated(int[]) RETURNS int[] LANGUAGE sql AS 'SELECT hpsort_agg(x) FROM unnest($1) x';
CREATE VIEW by_agg AS SELECT cardinality(hpsort_agg(salary)) FROM salaries;
CREATE VIEW by_runs_agg AS SELECT cardinality(hpsort_runs_agg(salary)) > 1 FROM salaries;
CREATE VIEW by_array AS SELECT cardinality(hpsort(array_agg(salary))) FROM salaries;
CREATE VIEW by_order AS SELECT cardinality(hpsort_order(array_agg(salary))) FROM salaries;
CREATE VIEW by_set AS SELECT count(*) FROM hpsort_set((SELECT array_agg(salary) FROM salaries));
CREATE VIEW by_function AS SELECT cardinality(sorted(array_agg(salary))) FROM salaries;
CREATE VIEW by_aggregate_in_function AS SELECT cardinality(aggregated(array_agg(salary))) FROM salaries;
RESET ROLE;

-- The user counts keys as EXPLAIN ANALYZE counts rows; values are for those who see everybody's statistics.
CREATE FUNCTION pg_temp.told(view text) RETURNS TABLE (result text, function text, n int8, told text[], of_reason bool) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('SELECT * FROM %s', view) INTO result;
	RETURN QUERY SELECT result, l.function, l.n,
		array_remove(ARRAY[CASE WHEN l.lo IS NOT NULL THEN 'lo' END, CASE WHEN l.hi IS NOT NULL THEN 'hi' END,
			CASE WHEN l."distinct" IS NOT NULL THEN 'distinct' END, CASE WHEN l.delta IS NOT NULL THEN 'delta' END,
			CASE WHEN l.sigma IS NOT NULL THEN 'sigma' END, CASE WHEN l.bytes_moved IS NOT NULL THEN 'bytes_moved' END], NULL),
		l.reason ~ 'range|expected'
	FROM hpsort_last() l;
END $$;
GRANT SELECT ON by_agg, by_runs_agg, by_array, by_order, by_set, by_function, by_aggregate_in_function TO regress_hpsort_user;
SET ROLE regress_hpsort_user;
SELECT salary FROM salaries;
SELECT v, t.* FROM unnest('{agg,runs_agg,array,order,set,function,aggregate_in_function}'::text[]) v, pg_temp.told('by_' || v) t;
SELECT lo, hi FROM hpsort_last();
RESET ROLE;
SELECT v, t.* FROM unnest('{agg,array}'::text[]) v, pg_temp.told('by_' || v) t;
GRANT pg_read_all_stats TO regress_hpsort_user;
SET ROLE regress_hpsort_user;
SELECT v, t.* FROM unnest('{agg,array}'::text[]) v, pg_temp.told('by_' || v) t;
RESET ROLE;
REVOKE pg_read_all_stats FROM regress_hpsort_user;

-- ORDER BY: EXPLAIN ANALYZE
CREATE FUNCTION pg_temp.explained(query text) RETURNS TABLE (node text, keys text, range text, "distinct" text, in_text bool, of_reason bool, workers bool) LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
	node jsonb;
	line text;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) ' || query INTO plan;
	node := jsonb_path_query_first(plan, '$.**{0 to last} ? (@."Custom Plan Provider" == "HpSort")');
	in_text := false;
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE) ' || query LOOP
		in_text := in_text OR line ~ 'Range:|Distinct:|range of';
	END LOOP;
	RETURN QUERY SELECT node ->> 'Custom Plan Provider', node ->> 'Keys', node ->> 'Range', node ->> 'Distinct', in_text, plan::text ~ 'in a range|expected, ',
		plan::text ~ 'Sort Workers';
END $$;
SET hpsort.debug_sort = force;
SET max_parallel_workers_per_gather = 0;
SET ROLE regress_hpsort_owner;
CREATE VIEW ranks AS SELECT rank() OVER (ORDER BY salary) FROM salaries;
CREATE VIEW invoked WITH (security_invoker) AS SELECT rank() OVER (ORDER BY salary) FROM salaries;
CREATE FUNCTION costly(int) RETURNS bool LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 100000 AS 'BEGIN RETURN true; END';
CREATE VIEW costly_ranks AS SELECT rank() OVER (ORDER BY salary) FROM salaries WHERE costly(salary);
GRANT SELECT ON ranks, invoked, costly_ranks TO regress_hpsort_user;
SELECT * FROM pg_temp.explained('SELECT * FROM ranks');
SET ROLE regress_hpsort_user;
SELECT * FROM pg_temp.explained('SELECT * FROM ranks');
\set VERBOSITY terse
SELECT * FROM pg_temp.explained('SELECT * FROM invoked');
\set VERBOSITY default
RESET ROLE;
SELECT * FROM pg_temp.explained('SELECT * FROM ranks');
-- in parallel workers
SET parallel_leader_participation = off;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET ROLE regress_hpsort_user;
SELECT keys AS of_leader, in_text, of_reason, workers FROM pg_temp.explained('SELECT * FROM costly_ranks');
SET ROLE regress_hpsort_owner;
SELECT keys AS of_leader, in_text, of_reason, workers FROM pg_temp.explained('SELECT * FROM costly_ranks');
RESET ROLE;
RESET parallel_leader_participation;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
SET max_parallel_workers_per_gather = 0;
-- with rights of their own: on the table, or the owner's
GRANT SELECT ON salaries TO regress_hpsort_user;
SET ROLE regress_hpsort_user;
SELECT * FROM pg_temp.explained('SELECT * FROM ranks');
SELECT * FROM pg_temp.explained('SELECT * FROM invoked');
SELECT * FROM pg_temp.explained('SELECT salary FROM salaries ORDER BY salary');
RESET ROLE;
GRANT regress_hpsort_owner TO regress_hpsort_user;
SET ROLE regress_hpsort_user;
SELECT * FROM pg_temp.explained('SELECT * FROM ranks');
RESET ROLE;
REVOKE regress_hpsort_owner FROM regress_hpsort_user;

-- row security: hpsort gets the rows of its user, and tells of no others
ALTER TABLE salaries ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON salaries USING (person = current_user);
UPDATE salaries SET salary = salary + 100000 WHERE person <> 'regress_hpsort_user';
SELECT max(salary) - min(salary) + 1 AS range, count(DISTINCT salary) AS "distinct" FROM salaries WHERE person = 'regress_hpsort_user';
SET ROLE regress_hpsort_user;
SELECT * FROM pg_temp.explained('SELECT salary FROM salaries ORDER BY salary');
SET hpsort.debug_sort = allow;
SELECT (hpsort_agg(salary))[1] AS lowest, cardinality(hpsort_column_array('salaries', 'salary')) AS n FROM salaries;
SELECT n FROM hpsort_last();
RESET ROLE;
SELECT lo, hi FROM hpsort_last();

RESET hpsort.debug_sort;
RESET max_parallel_workers_per_gather;
SET client_min_messages = warning;
DROP OWNED BY regress_hpsort_owner, regress_hpsort_user CASCADE;
DROP ROLE regress_hpsort_owner, regress_hpsort_user;
RESET client_min_messages;
RESET search_path;
