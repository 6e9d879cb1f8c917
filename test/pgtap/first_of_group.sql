-- The first rows of each group, below WindowAgg and Unique: the same rows as core's, over
-- keys, directions, NULLs, ties, numbers of rows wanted, memory and workers.
\set test first_of_group
\ir setup.psql

LOAD 'hpsort';
SET hpsort.enable_scan = off;
SET hpsort.enable_sort = on;
SET LOCAL max_parallel_workers_per_gather = 0;
SET LOCAL jit = off;

CREATE TYPE pg_temp.mood AS ENUM ('zero', 'b', 'a');
CREATE TEMP TABLE data AS
SELECT i AS id,
	CASE WHEN random() > 0.05 THEN floor(random() * 20)::int END AS few,
	CASE WHEN random() > 0.01 THEN floor(random() * 4294967296 - 2147483648)::int END AS wide,
	(CASE WHEN random() < 0.001 THEN -32768 WHEN random() < 0.001 THEN 32767 ELSE random() * 300 END)::int2 AS small,
	CASE WHEN random() > 0.01 THEN (random() * 1000)::int8 + 5000000000 END AS big,
	CASE WHEN random() < 0.002 THEN -9223372036854775808 WHEN random() < 0.002 THEN 9223372036854775807 WHEN random() < 0.002 THEN NULL
		ELSE (random() * 2e18)::int8 - 1000000000000000000 END AS huge,
	CASE floor(random() * 3) WHEN 0 THEN -9223372036854775808 WHEN 1 THEN 9223372036854775807 END AS ends,
	date '2000-01-01' + (random() * 1000)::int AS day,
	CASE WHEN random() > 0.1 THEN random() > 0.5 END AS flag,
	(ARRAY['zero', 'b', 'a', NULL])[1 + floor(random() * 4)]::pg_temp.mood AS mood,
	i AS up, -i AS down,
	CASE WHEN random() < 0.9 THEN 7 ELSE floor(random() * 100)::int END AS dominant,
	CASE WHEN random() > 0.1 THEN repeat(chr(97 + (random() * 3)::int), (random() * random() * 40)::int) END COLLATE "C" AS label,
	round((random() * 30)::numeric, 1) AS amount,
	floor(random() * 1500)::int AS many, floor(random() * 1000)::int8 * 1000000007 AS sparse, i / 13 AS later,
	CASE WHEN random() < 0.3 THEN (ARRAY['NaN', '-NaN', '0', '-0', 'Infinity', NULL])[1 + floor(random() * 6)]::float8 ELSE random() END AS ratio
FROM generate_series(1, 20000) i;
ANALYZE data;

-- Rows of a query without and with the node, in their order within groups and as a set.
CREATE FUNCTION pg_temp.check_query(query text, node text DEFAULT 'force') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	digest CONSTANT text := 'SELECT count(*) || '' '' || coalesce(md5(string_agg(s, '';'')), '''') FROM (SELECT q::text AS s FROM (%s) q ORDER BY 1) q';
	want text;
	got text;
BEGIN
	PERFORM set_config('hpsort.debug_sort', 'forbid', true);
	EXECUTE format(digest, query) INTO want;
	PERFORM set_config('hpsort.debug_sort', node, true);
	EXECUTE format(digest, query) INTO got;
	RETURN NEXT is(got, want, format('%s, work_mem %s', query, current_setting('work_mem')));
END $$;

CREATE TEMP TABLE seen (query text, bounded boolean);

CREATE FUNCTION pg_temp.random_keys(columns text[], many int) RETURNS text LANGUAGE sql AS $$
SELECT coalesce(string_agg(columns[1 + floor(random() * array_length(columns, 1))::int + i * 0]
	|| (ARRAY['', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST'])[1 + floor(random() * 4 + i * 0)::int], ', '), '')
FROM generate_series(1, many) i
$$;

CREATE FUNCTION pg_temp.check_random(many int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	mapped CONSTANT text[] := '{few,wide,small,big,huge,ends,day,flag,mood,dominant,id,up,down,many,sparse}';
	groups text;
	keys text;
	target text;
	function text;
	wanted text;
	condition text;
	query text;
BEGIN
	FOR i IN 1 .. many LOOP
		PERFORM set_config('work_mem', (ARRAY['64kB', '256kB', '64MB'])[1 + floor(random() * 3)], true);
		groups := replace(replace(replace(pg_temp.random_keys(mapped || '{few,few,dominant,mood,flag,small}', floor(random() * 4)::int),
			' DESC', ''), ' NULLS FIRST', ''), ' NULLS LAST', '');
		keys := pg_temp.random_keys(mapped || '{label,amount}', floor(random() * 4)::int);
		function := (ARRAY['row_number', 'rank', 'dense_rank'])[1 + floor(random() * 3)];
		wanted := (ARRAY['-1', '0', '1', '1', '2', '3', '10', '1000', '100000', 'NULL', '3::int2', '2::int8', '9223372036854775807'])[1 + floor(random() * 13)];
		condition := (ARRAY['r <= %s', 'r < %s', 'r = %s', '%s >= r', '%s > r', 'r <= %s AND r >= 2', 'r <= %s AND few > 2'])[1 + floor(random() * 7)];
		target := '*';

		-- which of several peers have a number is not said
		IF function = 'row_number' THEN
			target := concat_ws(', ', '1 AS one', nullif(groups, ''), nullif(regexp_replace(keys, ' (DESC|NULLS FIRST|NULLS LAST)', '', 'g'), ''));
			SELECT string_agg(DISTINCT c, ', ') INTO target FROM unnest(string_to_array(target, ', ')) c;
			condition := replace(condition, ' AND few > 2', '');
		END IF;
		query := format('SELECT * FROM (SELECT %s, %s() OVER (%s %s) AS r FROM data%s%s) q WHERE ' || condition, target, function,
			'PARTITION BY ' || nullif(groups, ''), 'ORDER BY ' || nullif(keys, ''),
			(ARRAY['', '', ' TABLESAMPLE system (100)'])[1 + floor(random() * 3)], (ARRAY['', '', ' WHERE small % 3 > 0', ' WHERE id > 19990'])[1 + floor(random() * 4)], wanted);
		RETURN QUERY SELECT pg_temp.check_query(query);
		INSERT INTO seen VALUES (query, pg_temp.plan_of(query) LIKE '%First of Group%');
	END LOOP;
END $$;
SELECT pg_temp.check_random(150);
SELECT cmp_ok((SELECT count(*) FROM seen WHERE bounded), '>', 50::int8, 'a good part had the bound');

-- DISTINCT ON: the first row by all keys, of which those that are equal cannot be told apart.
CREATE FUNCTION pg_temp.check_distinct(many int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	groups text;
	keys text;
	ordering text;
	target text;
BEGIN
	FOR i IN 1 .. many LOOP
		PERFORM set_config('work_mem', (ARRAY['64kB', '256kB', '64MB'])[1 + floor(random() * 3)], true);
		groups := pg_temp.random_keys('{few,small,mood,flag,dominant,day,big,ends}', 1 + floor(random() * 3)::int);
		keys := pg_temp.random_keys('{wide,huge,up,down,label,amount,ends}', floor(random() * 3)::int);
		ordering := concat_ws(', ', groups, nullif(keys, ''));
		target := regexp_replace(ordering, ' (DESC|NULLS FIRST|NULLS LAST)', '', 'g');
		RETURN QUERY SELECT pg_temp.check_query(format('SELECT DISTINCT ON (%s) 1 AS one, %s FROM data%s ORDER BY %s',
			regexp_replace(groups, ' (DESC|NULLS FIRST|NULLS LAST)', '', 'g'), target, (ARRAY['', '', ' TABLESAMPLE system (100)'])[1 + floor(random() * 3)], ordering));
	END LOOP;
END $$;
SELECT pg_temp.check_distinct(40);

-- More groups than there is memory for their rows: later rows are refused by what came before them.
SET LOCAL work_mem = '128kB';
SELECT pg_temp.check_query(format('SELECT * FROM (SELECT %1$s, %2$s, %3$s, %4$s() OVER (PARTITION BY %1$s ORDER BY %2$s%5$s%6$s) AS r FROM data) q WHERE r <= %7$s',
	groups, keys, CASE WHEN fails THEN '1 / (id + 1)' ELSE '1' END, function, direction, CASE WHEN fails THEN ' ROWS UNBOUNDED PRECEDING' END, wanted))
FROM unnest('{many,sparse,later}'::text[], '{1,2,1}'::int[]) g(groups, wanted), unnest('{small,"mood,small",huge,ratio,up,down}'::text[]) k(keys),
	unnest('{row_number,rank,dense_rank}'::text[]) f(function), unnest(ARRAY[false, true], ARRAY['', ' DESC NULLS LAST']) e(fails, direction)
WHERE keys <> 'ratio' OR function <> 'row_number';

-- Windows whose functions look at later rows, or at rows that another window would have seen.
SELECT pg_temp.check_query(q) FROM unnest(ARRAY[
	'SELECT * FROM (SELECT id, few, rank() OVER w AS r, count(*) OVER w AS c FROM data WINDOW w AS (PARTITION BY few ORDER BY wide)) q WHERE r <= 3',
	'SELECT * FROM (SELECT few, rank() OVER (PARTITION BY few ORDER BY wide) AS r, count(*) OVER (PARTITION BY few) AS c, sum(id) OVER (PARTITION BY small) AS s FROM data) q WHERE r <= 3',
	'SELECT * FROM (SELECT id, few, rank() OVER (PARTITION BY few ORDER BY wide) AS r, rank() OVER (PARTITION BY small ORDER BY huge) AS s FROM data) q WHERE r <= 3',
	'SELECT * FROM (SELECT id, few, rank() OVER (PARTITION BY few ORDER BY wide) AS r, rank() OVER (PARTITION BY small ORDER BY huge) AS s FROM data) q WHERE s <= 3',
	'SELECT * FROM (SELECT id, few, rank() OVER (PARTITION BY few ORDER BY wide) AS r, rank() OVER (PARTITION BY small ORDER BY huge) AS s FROM data) q WHERE r <= 3 AND s <= 30',
	'SELECT * FROM (SELECT id, few, rank() OVER w AS r, lead(id) OVER w AS l FROM data WINDOW w AS (PARTITION BY few ORDER BY id)) q WHERE r <= 3',
	'SELECT * FROM (SELECT id, few, rank() OVER w AS r, ntile(7) OVER w AS l FROM data WINDOW w AS (PARTITION BY few ORDER BY id)) q WHERE r <= 3',
	'SELECT * FROM (SELECT id, few, rank() OVER w + 0 * max(id) OVER w AS r, row_number() OVER w AS n FROM data WINDOW w AS (PARTITION BY few ORDER BY id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)) q WHERE n <= 3',
	'SELECT * FROM (SELECT few, small, count(*), rank() OVER (PARTITION BY few ORDER BY count(*) DESC) AS r FROM data GROUP BY few, small) q WHERE r <= 2',
	'SELECT * FROM (SELECT id, few, dense_rank() OVER w AS d, rank() OVER w AS r, row_number() OVER (PARTITION BY few ORDER BY small, id) AS n FROM data WINDOW w AS (PARTITION BY few ORDER BY small)) q WHERE d <= 2 AND r <= 20',
	'SELECT * FROM (SELECT a.id, a.few, rank() OVER (PARTITION BY a.few ORDER BY b.wide) AS r FROM data a JOIN data b USING (id)) q WHERE r <= 2',
	'SELECT n, (SELECT count(*) FROM (SELECT rank() OVER (PARTITION BY few ORDER BY wide) AS r FROM data) q WHERE r <= n) FROM unnest(ARRAY[1, 0, 5, NULL, 2]) n',
	'SELECT n, (SELECT sum(id) FROM (SELECT id, rank() OVER (PARTITION BY few ORDER BY wide) AS r FROM data WHERE small > n) q WHERE r <= 3) FROM unnest(ARRAY[1, 0, 5, 2]) n'
	]) q;

-- A parameter, of plans for any value.
CREATE FUNCTION pg_temp.check_prepared() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	type text;
	n text;
	counts text[];
	node text;
BEGIN
	FOREACH type IN ARRAY '{int2,int4,int8}'::text[] LOOP
		FOREACH n IN ARRAY '{1,3,0,NULL,-5,30000,2}'::text[] LOOP
			counts := '{}';
			FOREACH node IN ARRAY '{forbid,force}'::text[] LOOP
				PERFORM set_config('hpsort.debug_sort', node, true);
				PERFORM set_config('plan_cache_mode', 'force_generic_plan', true);
				EXECUTE format('PREPARE s(%s) AS SELECT count(*)::text || sum(id) FROM (SELECT id, rank() OVER (PARTITION BY few ORDER BY small) AS r FROM data) q WHERE r < $1', type);
				EXECUTE format('CREATE TEMP TABLE result ON COMMIT DROP AS EXECUTE s(%s)', coalesce(n, 'NULL'));
				counts := counts || ARRAY(SELECT r::text FROM result r);
				DROP TABLE result;
				DEALLOCATE s;
			END LOOP;
			RETURN NEXT is(counts[2], counts[1], format('r < $1, %s %s', type, n));
		END LOOP;
	END LOOP;
END $$;
SELECT pg_temp.check_prepared();

-- Cursors go backward as over core's sort.
SELECT is(pg_temp.fetched(q, 'force'), pg_temp.fetched(q, 'forbid'), 'a cursor that goes backward') FROM (VALUES ('SELECT DISTINCT ON (few) few, wide, huge FROM data ORDER BY few, wide, huge')) v(q);

-- Workers keep the first of their shares.
SET LOCAL hpsort.debug_sort = allow;
SET LOCAL work_mem = '64MB';
CREATE TABLE shared_data AS SELECT * FROM data;
ANALYZE shared_data;
SET LOCAL max_parallel_workers_per_gather = 2;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SELECT matches(pg_temp.plan_of('SELECT * FROM (SELECT id, few, rank() OVER (PARTITION BY few ORDER BY wide) AS r FROM shared_data) q WHERE r <= 3'),
	'Gather Merge.*First of Group.*Parallel Seq Scan', 'the node is below Gather Merge');
SELECT pg_temp.check_query(q, 'allow') FROM unnest(ARRAY[
	'SELECT * FROM (SELECT id, few, rank() OVER (PARTITION BY few ORDER BY wide) AS r FROM shared_data) q WHERE r <= 3',
	'SELECT * FROM (SELECT id, few, dense_rank() OVER (PARTITION BY few, mood ORDER BY small DESC) AS r FROM shared_data) q WHERE r < 3',
	'SELECT DISTINCT ON (small) small, huge FROM shared_data ORDER BY small, huge DESC'
	]) q;

SELECT * FROM finish();
ROLLBACK;
