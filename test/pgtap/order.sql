-- ORDER BY by Custom Scan (HpSort): equal to core's, and stable, over keys,
-- directions, NULLs, LIMIT, memory and workers; cursors; rescans.
\set test order
SET temp_buffers = '64MB';	-- a quarter may be pinned: rows stay in place
\ir setup.psql

LOAD 'hpsort';
SET hpsort.enable_scan = off;
SET hpsort.enable_sort = on;
SET LOCAL synchronize_seqscans = off;
SET LOCAL max_parallel_workers_per_gather = 0;
SET LOCAL jit = off;

CREATE TYPE pg_temp.mood AS ENUM ('zero', 'b', 'a');
ALTER TYPE pg_temp.mood ADD VALUE 'between' BEFORE 'b';
COMMIT;		-- a new label cannot be used before
BEGIN;
SET LOCAL search_path = public, pg_temp;
SET LOCAL client_min_messages = warning;
SET LOCAL synchronize_seqscans = off;
SET LOCAL max_parallel_workers_per_gather = 0;

-- Every type there is, with few and many values, the ends of their ranges, NULLs and rows of any length.
CREATE TEMP TABLE data AS
SELECT i AS id,
	CASE WHEN random() > 0.05 THEN floor(random() * 50)::int END AS few,
	CASE WHEN random() > 0.01 THEN floor(random() * 4294967296 - 2147483648)::int END AS wide,
	(CASE WHEN random() < 0.001 THEN -32768 WHEN random() < 0.001 THEN 32767 ELSE random() * 300 END)::int2 AS small,
	CASE WHEN random() > 0.01 THEN (random() * 1000)::int8 + 5000000000 END AS big,
	CASE WHEN random() < 0.002 THEN -9223372036854775808 WHEN random() < 0.002 THEN 9223372036854775807 WHEN random() < 0.002 THEN NULL
		ELSE (random() * 2e18)::int8 - 1000000000000000000 END AS huge,
	CASE WHEN random() < 0.01 THEN 'infinity' WHEN random() < 0.01 THEN '-infinity' ELSE date '2000-01-01' + (random() * 1000)::int END AS day,
	timestamptz '2000-01-01' + random() * interval '10 years' AS moment,
	CASE WHEN random() > 0.1 THEN random() > 0.5 END AS flag,
	chr(1 + (random() * 126)::int)::"char" AS letter,
	(random() * 4294967295)::int8::oid AS o,
	(ARRAY['zero', 'b', 'a', 'between', NULL])[1 + floor(random() * 5)]::pg_temp.mood AS mood,
	CASE WHEN random() > 0.1 THEN repeat(chr(97 + (random() * 3)::int), (random() * random() * 80)::int) END AS label
FROM generate_series(1, 12000) i;
INSERT INTO data SELECT 12000 + i, 7, 7, 7, 7, 7, '2000-01-07', '2000-01-07', true, 'x', 7, 'b', 'same' FROM generate_series(1, 4000) i;
ALTER TABLE data ADD later int DEFAULT 5;
ANALYZE data;

-- One ORDER BY: rows in core's order, made unique by id, and in HpSort's.
CREATE FUNCTION pg_temp.check_order(ordering text, tail text DEFAULT '') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	ours text := format('SELECT * FROM data ORDER BY %s %s', ordering, tail);
	core text := format('SELECT * FROM data ORDER BY %s, id %s', ordering, tail);
	want text;
	got text;
BEGIN
	PERFORM set_config('hpsort.debug_sort', 'forbid', true);
	EXECUTE format('SELECT md5(string_agg(q::text, '';'')) FROM (%s) q', core) INTO want;
	PERFORM set_config('hpsort.debug_sort', 'force', true);
	EXECUTE format('SELECT md5(string_agg(q::text, '';'')) FROM (%s) q', ours) INTO got;
	IF pg_temp.plan_of(ours) NOT LIKE '%HpSort%' THEN
		RETURN NEXT fail('not sorted by hpsort: ' || ours);
	END IF;
	RETURN NEXT is(got, want, format('%s %s, work_mem %s', ordering, tail, current_setting('work_mem')));
END $$;

CREATE FUNCTION pg_temp.check_orders() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	columns text[] := '{few,wide,small,big,huge,day,moment,flag,letter,o,mood}';
	options text[] := '{"", " DESC", " NULLS FIRST", " DESC NULLS LAST"}';
	fits boolean;
	a text;
	b text;
	c text;
	tail text;
BEGIN
	FOREACH fits IN ARRAY '{false,true}'::boolean[] LOOP
		FOREACH a IN ARRAY columns LOOP
			PERFORM pg_temp.set_memory(fits);
			FOREACH b IN ARRAY options LOOP
				RETURN QUERY SELECT pg_temp.check_order(a || b);
			END LOOP;
		END LOOP;
		-- several keys, of which some do not fit, and limits
		FOR i IN 1 .. 40 LOOP
			PERFORM pg_temp.set_memory(fits);
			a := columns[1 + floor(random() * 11)] || options[1 + floor(random() * 4)];
			FOR k IN 1 .. 1 + floor(random() * 4) LOOP
				a := a || ', ' || (columns || '{label,label,later}')[1 + floor(random() * 14)] || options[1 + floor(random() * 4)];
			END LOOP;
			tail := (ARRAY['', 'LIMIT 1', 'LIMIT 10', 'LIMIT 1000 OFFSET 5', 'LIMIT 100000', 'LIMIT 0', 'OFFSET 3', 'LIMIT NULL'])[1 + floor(random() * 8)];
			-- what core sorts of equal keys on disk is in no particular order
			CONTINUE WHEN NOT fits AND a LIKE '%label%';
			RETURN QUERY SELECT pg_temp.check_order(a, tail);
		END LOOP;
		FOREACH a IN ARRAY columns LOOP
			PERFORM pg_temp.set_memory(fits);
			RETURN QUERY SELECT pg_temp.check_order(a || options[1 + floor(random() * 4)], 'LIMIT ' || floor(random() * 3000) || ' OFFSET ' || floor(random() * 10));
		END LOOP;
	END LOOP;
END $$;
SELECT pg_temp.check_orders();
SELECT matches(pg_temp.plan_of('SELECT * FROM data ORDER BY few', 'ANALYZE, COSTS OFF'), 'Rows: in place', 'rows of these orders stay where they are');
SET LOCAL work_mem = '64kB';
SELECT matches(pg_temp.plan_of('SELECT * FROM data ORDER BY ' || orders, 'ANALYZE, COSTS OFF'), 'Disk: .*Rows: in place', 'and when their keys go to disk: ' || orders)
FROM unnest('{few,huge,"few, wide, small"}'::text[]) orders;
SET LOCAL work_mem = '64MB';

-- Keys without rows: from runs, too wide for them, beyond memory.
CREATE FUNCTION pg_temp.check_keys() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	memory text;
	key text;
	option text;
	tail text;
	want text;
	got text;
BEGIN
	FOREACH memory IN ARRAY '{64kB,64MB}'::text[] LOOP
		PERFORM set_config('work_mem', memory, true);
		FOREACH key IN ARRAY '{few,wide,small,big,huge,day,moment,flag,letter,o,mood,wide/100000}'::text[] LOOP
			FOREACH option IN ARRAY '{"", " DESC", " NULLS FIRST", " DESC NULLS LAST"}'::text[] LOOP
				FOREACH tail IN ARRAY '{"", "LIMIT 37"}'::text[] LOOP
					PERFORM set_config('hpsort.debug_sort', 'forbid', true);
					EXECUTE format('SELECT string_agg(coalesce(q::text, ''null''), '';'') FROM (SELECT %s FROM data ORDER BY 1 %s %s) q', key, option, tail) INTO want;
					PERFORM set_config('hpsort.debug_sort', 'force', true);
					EXECUTE format('SELECT string_agg(coalesce(q::text, ''null''), '';'') FROM (SELECT %s FROM data ORDER BY 1 %s %s) q', key, option, tail) INTO got;
					RETURN NEXT ok(got = want, format('SELECT %s ORDER BY 1 %s %s, work_mem %s', key, option, tail, memory));
				END LOOP;
			END LOOP;
		END LOOP;
	END LOOP;
END $$;
SELECT pg_temp.check_keys();

-- Keys of a plain table are read by pages; of a sample they are in the rows of the scan below HpSort.  What comes out is the same.
CREATE FUNCTION pg_temp.check_reader(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	options CONSTANT text := 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF';
	scan text;
	read text;
	one text;
	result text;
	results text[];
BEGIN
	FOR scan, read, one IN VALUES ('Seq Scan', 'column', query), ('Sample Scan', 'rows', replace(query, 'FROM data', 'FROM data TABLESAMPLE system (100)')) LOOP
		RETURN NEXT matches(pg_temp.plan_of(one, options), format('HpSort.*Keys: [1-9].*%s on data .*rows=[1-9]', scan), 'plan: ' || one);
		RETURN NEXT is(pg_temp.plan_of(one, options) LIKE '%  Read: column%', read = 'column', 'what EXPLAIN says: ' || one);
		RETURN NEXT matches(pg_temp.plan_of(one, options || ', FORMAT JSON'), format('"Read": "%s"', read), 'what EXPLAIN says in JSON: ' || one);
		EXECUTE format('SELECT string_agg(coalesce(q::text, ''null''), '';'') FROM (%s) q', one) INTO result;
		results := results || result;
	END LOOP;
	RETURN NEXT ok(results[1] = results[2], 'by pages and from a sample, rows: ' || query);
END $$;
SET LOCAL hpsort.debug_sort = force;
SET LOCAL work_mem = '64MB';
SELECT pg_temp.check_reader(q) FROM unnest(ARRAY[
	'SELECT few FROM data ORDER BY few',
	'SELECT day FROM data WHERE id > 500 ORDER BY day DESC NULLS LAST',
	'SELECT small FROM data ORDER BY small DESC LIMIT 5000']) q;

-- Queries that want sorted rows elsewhere, with core's sort and with HpSort.
CREATE FUNCTION pg_temp.check_query(query text, wanted boolean DEFAULT true) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	want text;
	got text;
	memory text;
BEGIN
	FOREACH memory IN ARRAY '{64kB,64MB}'::text[] LOOP
		PERFORM set_config('work_mem', memory, true);
		PERFORM set_config('hpsort.debug_sort', 'forbid', true);
		EXECUTE format('SELECT md5(string_agg(q::text, '';'' ORDER BY q::text)) FROM (%s) q', query) INTO want;
		PERFORM set_config('hpsort.debug_sort', coalesce(current_setting('test.mode', true), 'force'), true);
		-- few rows and little memory: core's choice unless forced
		IF wanted AND (memory <> '64kB' OR current_setting('hpsort.debug_sort') = 'force') AND pg_temp.plan_of(query) NOT LIKE '%HpSort%' THEN
			RETURN NEXT fail('not sorted by hpsort: ' || pg_temp.plan_of(query));
		END IF;
		EXECUTE format('SELECT md5(string_agg(q::text, '';'' ORDER BY q::text)) FROM (%s) q', query) INTO got;
		RETURN NEXT is(got, want, query || ', work_mem ' || memory);
	END LOOP;
END $$;
SET LOCAL enable_hashagg = off;
SET LOCAL enable_hashjoin = off;
SELECT pg_temp.check_query(q) FROM unnest(ARRAY[
	'SELECT id, rank() OVER (ORDER BY few), sum(few) OVER (ORDER BY few) FROM data',
	'SELECT DISTINCT day FROM data',
	'SELECT few, count(*), min(label) FROM data GROUP BY few',
	'SELECT small, mood, count(*) FROM data GROUP BY small, mood',
	'SELECT a.id, b.id FROM data a JOIN data b ON a.wide = b.wide AND a.id <= b.id WHERE a.id < 12050',
	'SELECT a.id, b.id FROM data a LEFT JOIN (SELECT * FROM data WHERE id % 3 = 0) b ON a.huge = b.huge WHERE a.id < 12050',
	'SELECT a.id, b.id FROM data a FULL JOIN (SELECT * FROM data WHERE id % 5 = 0 AND id < 12050) b USING (wide)',
	'SELECT 1, few FROM data UNION ALL SELECT 2, id FROM data ORDER BY 2',
	'SELECT few, count(*) AS n FROM data GROUP BY few ORDER BY n DESC, few',
	'SELECT g, (SELECT array_agg(s.id) FROM (SELECT id FROM data WHERE few = g ORDER BY wide LIMIT 3) s) FROM generate_series(0, 5) g']) q;
SELECT pg_temp.check_query('SELECT g, s.* FROM generate_series(1, 9) g, LATERAL (SELECT few, id FROM data WHERE few <> g ORDER BY few, id LIMIT g) s');
SELECT pg_temp.check_query('SELECT g, s.* FROM generate_series(1, 9) g, LATERAL (SELECT few FROM data WHERE few % g = 0 ORDER BY few OFFSET g LIMIT 9) s');

-- A prepared statement with parameters for LIMIT, as custom and as generic plan.
SET LOCAL hpsort.debug_sort = force;
PREPARE some_rows(int8, int8) AS SELECT array_agg(id) FROM (SELECT id FROM data ORDER BY small, id LIMIT $1 OFFSET $2) s;
CREATE FUNCTION pg_temp.check_prepared() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	mode text;
	l int;
	o int;
	got int[];
	want int[];
BEGIN
	FOREACH mode IN ARRAY '{force_custom_plan,force_generic_plan}'::text[] LOOP
		PERFORM set_config('plan_cache_mode', mode, true);
		FOREACH l IN ARRAY '{0,1,100,9000,NULL}'::int[] LOOP
			FOREACH o IN ARRAY '{0,5,NULL}'::int[] LOOP
				EXECUTE format('EXECUTE some_rows(%s, %s)', coalesce(l::text, 'NULL'), coalesce(o::text, 'NULL')) INTO got;
				PERFORM set_config('hpsort.debug_sort', 'forbid', true);
				EXECUTE format('SELECT array_agg(id) FROM (SELECT id FROM data ORDER BY small, id LIMIT %s OFFSET %s) s',
					coalesce(l::text, 'NULL'), coalesce(o::text, 'NULL')) INTO want;
				PERFORM set_config('hpsort.debug_sort', 'force', true);
				RETURN NEXT ok(got IS NOT DISTINCT FROM want, format('%s: LIMIT %s OFFSET %s', mode, l, o));
			END LOOP;
		END LOOP;
	END LOOP;
END $$;
SELECT pg_temp.check_prepared();

-- Below joins, whose rows are wanted in the order of one table up to a LIMIT.
CREATE TEMP TABLE dim AS SELECT i AS id, 'name ' || i AS name, i % 7 AS parent FROM generate_series(0, 40) i;
ALTER TABLE dim ADD PRIMARY KEY (id);
CREATE TEMP TABLE part AS SELECT i % 30 AS id, i AS n FROM generate_series(1, 70) i;
CREATE INDEX ON part (id);
ANALYZE dim, part;
RESET enable_hashjoin;
CREATE FUNCTION pg_temp.check_below_join(query text, below bool DEFAULT true) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	-- HpSort sorts the table, and nothing sorts all rows of the join
	RETURN NEXT is(pg_temp.plan_of(query) ~ '(Join|Loop).*HpSort.* on data', below, format('HpSort is below the join: %s %s', query, pg_temp.plan_of(query)));
	RETURN QUERY SELECT pg_temp.check_query(query);
END $$;
SELECT pg_temp.check_below_join(q) FROM unnest(ARRAY[
	'SELECT d.id, d.few, m.name FROM data d LEFT JOIN dim m ON m.id = d.few ORDER BY d.huge, d.id LIMIT 100',
	'SELECT d.id, m.name, p.name FROM data d LEFT JOIN dim m ON m.id = d.few LEFT JOIN dim p ON p.id = m.parent ORDER BY d.wide DESC, d.id LIMIT 50 OFFSET 7',
	'SELECT d.id, m.n FROM data d LEFT JOIN (SELECT id, max(n) AS n FROM part GROUP BY id) m ON m.id = d.few ORDER BY d.few, d.id LIMIT 300',
	'SELECT d.id, m.name FROM data d LEFT JOIN dim m ON m.id = d.few AND d.flag AND m.parent > 2 ORDER BY d.few DESC NULLS LAST, d.id LIMIT 200',
	'SELECT d.id, m.name FROM dim m RIGHT JOIN data d ON m.id = d.few WHERE d.small > 100 ORDER BY d.big, d.id LIMIT 10',
	'SELECT d.id, m.name FROM data d JOIN dim m ON m.id = d.few ORDER BY d.huge, d.id LIMIT 100',
	'SELECT count(*), sum(id) FROM (SELECT d.id, p.n FROM data d LEFT JOIN part p ON p.id = d.few ORDER BY d.huge NULLS FIRST, d.id LIMIT 100) s',
	'SELECT g, s.* FROM generate_series(1, 4) g, LATERAL (SELECT d.id, m.name FROM data d LEFT JOIN dim m ON m.id = d.few WHERE d.few > g ORDER BY d.few, d.id LIMIT g) s']) q;
SELECT pg_temp.check_query('SELECT d.id, m.name, p.name FROM data d JOIN dim m ON m.id = d.few LEFT JOIN dim p ON p.id = d.small WHERE m.parent <> 3 ORDER BY d.huge, d.id LIMIT 3');
-- Conditions that take rows from a left join; an order of more than one table; errors for rows that are not wanted.
SELECT pg_temp.check_below_join(q, false) FROM unnest(ARRAY[
	'SELECT d.id, m.name FROM data d LEFT JOIN dim m ON m.id = d.few WHERE m.id IS NULL ORDER BY d.huge, d.id LIMIT 100',
	'SELECT d.id, m.name FROM data d LEFT JOIN dim m ON m.id = d.few WHERE m.parent > 3 OR d.flag ORDER BY d.huge, d.id LIMIT 100',
	'SELECT d.id, m.name FROM data d LEFT JOIN dim m ON m.id = d.few ORDER BY d.huge, m.name, d.id LIMIT 100',
	'SELECT d.id, m.name FROM data d FULL JOIN dim m ON m.id = d.few ORDER BY d.huge, d.id LIMIT 100',
	'SELECT d.id, m.name FROM data d LEFT JOIN dim m ON m.id = d.few AND 100 / (d.id + 1) >= 0 ORDER BY d.huge, d.id LIMIT 100']) q;
-- Core makes rows unique for IN; it can make the plan of a subquery once, and EXPLAIN shows its partitions; paths of two tables have join clauses of theirs.
CREATE TEMP TABLE pieces (id int, n int, low int, high int) PARTITION BY LIST (low);
CREATE TEMP TABLE piece PARTITION OF pieces DEFAULT;
INSERT INTO pieces SELECT i / 2, i, hashint4(i) % 20, i % 3 FROM generate_series(1, 10000) i;
CREATE INDEX ON piece (id, low);
CREATE TEMP TABLE single AS SELECT i AS n, i % 20 AS low, i % 3 AS high FROM generate_series(0, 9999) i;
ALTER TABLE single ADD PRIMARY KEY (n);
CREATE TEMP TABLE whole AS SELECT i AS id, i % 300 AS n, hashint4(i) % 100000 AS x FROM generate_series(1, 12000) i;
CREATE INDEX ON whole (id);
ANALYZE pieces, single, whole;
SELECT pg_temp.check_below_join('SELECT d.id, m.n FROM data d JOIN (SELECT id, max(n) AS n FROM pieces GROUP BY id) m ON m.id = d.few ORDER BY d.huge, d.id LIMIT 100', false);
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off;
SELECT pg_temp.check_query('SELECT w.id FROM whole w WHERE w.id IN (SELECT id FROM piece) ORDER BY w.x, w.id LIMIT 100');
SELECT pg_temp.check_below_join('SELECT d.id, m.name FROM data d LEFT JOIN (SELECT * FROM dim WHERE 100 / (id + 1) >= 0) m ON m.id = d.few ORDER BY d.huge, d.id LIMIT 100', false);
CREATE FUNCTION pg_temp.same(int, int) RETURNS bool LANGUAGE plpgsql IMMUTABLE LEAKPROOF COST 1000 AS 'BEGIN RETURN $1 = $2; END';
SELECT pg_temp.check_query('SELECT w.id, t.n FROM whole w JOIN single s ON s.n = w.n LEFT JOIN (piece p JOIN single t ON t.n = p.n) ON p.id = w.id AND p.low = s.low AND pg_temp.same(s.high, p.high) ORDER BY w.x, w.id LIMIT 100');
RESET enable_hashjoin;
RESET enable_mergejoin;
PREPARE joined_rows(int8, int8) AS SELECT array_agg(id), array_agg(name) FROM (SELECT d.id, m.name FROM data d LEFT JOIN dim m ON m.id = d.few ORDER BY d.small, d.id LIMIT $1 OFFSET $2) s;
CREATE FUNCTION pg_temp.check_joined() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	l int;
	got record;
	want record;
BEGIN
	PERFORM set_config('plan_cache_mode', 'force_generic_plan', true);
	FOREACH l IN ARRAY '{0,1,700,NULL}'::int[] LOOP
		PERFORM set_config('hpsort.debug_sort', 'force', true);
		EXECUTE format('EXECUTE joined_rows(%s, 3)', coalesce(l::text, 'NULL')) INTO got;
		PERFORM set_config('hpsort.debug_sort', 'forbid', true);
		EXECUTE format('SELECT array_agg(id), array_agg(name) FROM (SELECT d.id, m.name FROM data d LEFT JOIN dim m ON m.id = d.few ORDER BY d.small, d.id LIMIT %s OFFSET 3) s',
			coalesce(l::text, 'NULL')) INTO want;
		RETURN NEXT ok(got IS NOT DISTINCT FROM want, format('below a join: LIMIT %s', l));
	END LOOP;
	PERFORM set_config('hpsort.debug_sort', 'force', true);
END $$;
SELECT pg_temp.check_joined();

-- Below joins by foreign keys whose check is pending, and by keys of which some have no row, unknown to statistics: rows that are first have no
-- partner, so that more are wanted than the bound.  A query that might notice that rows are read again has its joins below.
CREATE TEMP TABLE town (id int PRIMARY KEY, name text);
CREATE TEMP TABLE shop (id int PRIMARY KEY, name text, town int NOT NULL REFERENCES town);
CREATE TEMP TABLE sale (id int, shop int NOT NULL REFERENCES shop DEFERRABLE INITIALLY DEFERRED, g int, x int, y float8);
INSERT INTO town SELECT i, 'town ' || i FROM generate_series(1, 20) i;
INSERT INTO shop SELECT i, 'shop ' || i, 1 + i % 20 FROM generate_series(1, 200) i;
INSERT INTO sale SELECT i, 1 + random() * 199, random() * 30, CASE WHEN random() < 0.95 THEN random() * 100 END, random() FROM generate_series(1, 6000) i;
ANALYZE town, shop, sale;
INSERT INTO sale SELECT -i, -1, i % 15, x, CASE WHEN i % 3 = 0 THEN -1 ELSE 2 END FROM generate_series(1, 150) i, unnest('{-1,200,NULL}'::int[]) x;
CREATE TEMP TABLE seen (joins text, below boolean);
CREATE FUNCTION pg_temp.check_pending(many int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	joins text;
	keys text;
	query text;
	digest text;
	want text;
	got text;
BEGIN
	FOR i IN 1 .. many LOOP
		PERFORM set_config('work_mem', (ARRAY['64kB', '64MB'])[1 + floor(random() * 2)], true);
		PERFORM set_config('enable_hashjoin', (random() < 0.7)::text, true);
		joins := (ARRAY['JOIN shop p ON p.id = s.shop', 'JOIN shop p ON p.id = s.shop JOIN town t ON t.id = p.town', 'LEFT JOIN shop p ON p.id = s.shop LEFT JOIN town t ON t.id = p.town',
			'LEFT JOIN shop p ON p.id = s.shop', 'JOIN shop p ON p.id = s.shop LEFT JOIN town t ON t.id = s.g', 'LEFT JOIN town t ON t.id = s.g JOIN shop p ON p.id = s.shop',
			'LEFT JOIN (shop p JOIN town t ON t.id = p.town) ON p.id = s.shop AND p.town < s.g', 'LEFT JOIN LATERAL (SELECT max(name) AS name FROM shop WHERE town = s.g) p ON true', 'JOIN shop p ON p.id = s.shop AND p.town IN (SELECT g + 1 FROM sale)',
			'JOIN shop p ON p.id = s.shop JOIN (SELECT id FROM town UNION ALL SELECT -1) t ON t.id = p.town', 'JOIN (SELECT id, max(n) || '''' AS name FROM pieces GROUP BY id) p ON p.id = s.shop'])[1 + floor(random() * 11)];
		keys := (ARRAY['s.x', 's.y', 's.y DESC', 's.x DESC', 's.x NULLS FIRST', 's.x DESC NULLS LAST', 's.g, s.y'])[1 + floor(random() * 7)];
		query := (ARRAY[
			format('SELECT s.id, p.name FROM sale s %s ORDER BY %s, s.id LIMIT %s OFFSET %s', joins, keys, (ARRAY[0, 1, 20, 700])[1 + floor(random() * 4)], floor(random() * random() * 400)),
			format('SELECT %s FROM sale s %s ORDER BY %s LIMIT %s', regexp_replace(keys, ' (DESC|NULLS FIRST|NULLS LAST)', '', 'g'), joins, keys, 1 + floor(random() * 100)),
			format('SELECT s.id, p.name FROM sale s %s ORDER BY %s FETCH FIRST 30 ROWS WITH TIES', joins, keys),
			format('SELECT * FROM (SELECT s.id, s.g, p.name, %s() OVER (PARTITION BY s.g ORDER BY %s, s.id) AS r FROM sale s %s) q WHERE r <= %s', (ARRAY['row_number', 'rank', 'dense_rank'])[1 + floor(random() * 3)], keys, joins, 1 + floor(random() * 4)),
			format('SELECT * FROM (SELECT s.id, p.name, rank() OVER (PARTITION BY s.g ORDER BY %s) AS r FROM sale s %s) q WHERE r <= 3', keys, joins),
			format('SELECT DISTINCT ON (s.g) s.g, s.id, p.name FROM sale s %s ORDER BY s.g, %s, s.id', joins, keys)])[1 + floor(random() * 6)];
		digest := format('SELECT count(*) || '' '' || coalesce(md5(string_agg(s, '';'')), '''') FROM (SELECT q::text AS s FROM (%s) q ORDER BY 1) q', query);
		PERFORM set_config('hpsort.debug_sort', 'forbid', true);
		EXECUTE digest INTO want;
		PERFORM set_config('hpsort.debug_sort', 'force', true);
		EXECUTE digest INTO got;
		RETURN NEXT is(got, want, format('%s, work_mem %s', query, current_setting('work_mem')));
		INSERT INTO seen VALUES (joins, pg_temp.plan_of(query) ~ '(Join|Loop).*HpSort.* on sale');
	END LOOP;
	PERFORM set_config('enable_hashjoin', 'on', true);
END $$;
SELECT pg_temp.check_pending(200);
SELECT cmp_ok(count(*) FILTER (WHERE below), '>', 10::int8, 'HpSort was below joins, inner ones: ' || inner_ones) FROM (SELECT below, joins LIKE 'JOIN%' AS inner_ones FROM seen) s GROUP BY inner_ones;
SELECT is(pg_temp.plan_of(q) ~ '(Join|Loop).*First of Group.* on sale', below, q) FROM (VALUES
	('SELECT * FROM (SELECT s.id, p.name, rank() OVER (PARTITION BY s.g ORDER BY s.x) AS r FROM sale s JOIN shop p ON p.id = s.shop) q WHERE r <= 3', true),
	('SELECT * FROM (SELECT s.id, p.name, rank() OVER (PARTITION BY s.g ORDER BY s.x) AS r FROM sale s LEFT JOIN shop p ON p.id = s.shop) q WHERE r <= 3', true),
	('SELECT * FROM (SELECT s.id, p.name, rank() OVER (PARTITION BY s.g ORDER BY s.x, p.name) AS r FROM sale s JOIN shop p ON p.id = s.shop) q WHERE r <= 3', false),
	('SELECT * FROM (SELECT s.id, p.name, rank() OVER (PARTITION BY s.g ORDER BY s.x) AS r FROM sale s JOIN shop p ON p.id = s.shop WHERE p.town = 3) q WHERE r <= 3', false),
	('SELECT * FROM (SELECT s.id, p.town, rank() OVER (PARTITION BY s.g ORDER BY s.x) AS r FROM sale s JOIN shop p ON p.town = s.g) q WHERE r <= 3', false),
	('SELECT * FROM (SELECT s.id, p.name, rank() OVER (PARTITION BY s.g ORDER BY s.x) AS r FROM sale s JOIN shop p ON p.id = s.shop WHERE random() >= 0) q WHERE r <= 3', false)) q(q, below);
SELECT is(pg_temp.fetched(q, 'force'), pg_temp.fetched(q, 'forbid'), 'a cursor goes backward over joined rows that were too few at first') FROM (VALUES ('SELECT s.id, p.name FROM sale s JOIN shop p ON p.id = s.shop ORDER BY s.x, s.id LIMIT 60 OFFSET 3')) v(q);
SELECT pg_temp.check_query('SELECT i, q.* FROM generate_series(1, 5) i, LATERAL (SELECT s.id, p.name FROM sale s JOIN shop p ON p.id = s.shop WHERE s.g <> i ORDER BY s.x, s.id LIMIT i * 20) q');
SET LOCAL enable_hashjoin = off;

-- Cursors in all directions, in memory and on disk, of rows and of keys: moves
-- by chance, the same on both.
CREATE FUNCTION pg_temp.check_cursor(columns text, ordering text, memory text, hold text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	moves text[] := ARRAY['NEXT', 'PRIOR', 'FIRST', 'LAST', 'FORWARD 10', 'BACKWARD 7', 'ABSOLUTE 100', 'RELATIVE -3', 'ABSOLUTE -5', 'FORWARD ALL', 'BACKWARD ALL', 'RELATIVE 0'];
	move text;
	said text := '';
	want text;
	got text;
	row record;
BEGIN
	PERFORM set_config('work_mem', memory, true);
	PERFORM set_config('hpsort.debug_sort', 'forbid', true);
	EXECUTE format('DECLARE core SCROLL CURSOR %s FOR SELECT %s FROM data ORDER BY %s', hold, columns, ordering);
	PERFORM set_config('hpsort.debug_sort', 'force', true);
	EXECUTE format('DECLARE ours SCROLL CURSOR %s FOR SELECT %s FROM data ORDER BY %s', hold, columns, ordering);
	FOR i IN 1 .. 40 LOOP
		move := moves[1 + floor(random() * array_length(moves, 1))];
		said := said || ' ' || move;
		want := '';
		FOR row IN EXECUTE 'FETCH ' || move || ' FROM core' LOOP want := md5(want || row::text); END LOOP;
		got := '';
		FOR row IN EXECUTE 'FETCH ' || move || ' FROM ours' LOOP got := md5(got || row::text); END LOOP;
		EXIT WHEN got <> want;
	END LOOP;
	RETURN NEXT is(got, want, format('cursor %s on %s by %s, work_mem %s:%s', hold, columns, ordering, memory, right(said, 60)));
	EXECUTE 'CLOSE core';
	EXECUTE 'CLOSE ours';
END $$;
SELECT pg_temp.check_cursor(c, o, m, h)
FROM (VALUES ('*', 'few, id'), ('*', 'huge DESC, id'), ('*', 'mood NULLS FIRST, label, id'), ('wide', 'wide'), ('day', 'day DESC'), ('huge', 'huge')) AS q(c, o),
	unnest('{64kB,64MB}'::text[]) m, unnest(ARRAY['', 'WITH HOLD']) h;

-- Fields of a record have their names where the record was made; EXPLAIN looks for them below HpSort.
SELECT matches(pg_temp.plan_of($$WITH c AS MATERIALIZED (SELECT s.id AS x, s AS r FROM (SELECT id, few AS other FROM data OFFSET 0) s)
	SELECT (r).other, row_number() OVER (ORDER BY x) FROM c$$, 'VERBOSE, COSTS OFF'), '[(](c[.])?r[)][.]other.*HpSort', 'fields of records in EXPLAIN');

-- An operator class that finds any number larger than any other: rows in some order, but all of them, whatever the memory.
CREATE OPERATOR <~ (FUNCTION = int4lt, LEFTARG = int4, RIGHTARG = int4);
CREATE OPERATOR <=~ (FUNCTION = int4le, LEFTARG = int4, RIGHTARG = int4);
CREATE OPERATOR =~ (FUNCTION = int4eq, LEFTARG = int4, RIGHTARG = int4);
CREATE OPERATOR >=~ (FUNCTION = int4ge, LEFTARG = int4, RIGHTARG = int4);
CREATE OPERATOR >~ (FUNCTION = int4gt, LEFTARG = int4, RIGHTARG = int4);
CREATE OPERATOR CLASS order_faulty_ops FOR TYPE int4 USING btree AS
	OPERATOR 1 <~, OPERATOR 2 <=~, OPERATOR 3 =~, OPERATOR 4 >=~, OPERATOR 5 >~, FUNCTION 1 int4pl(int4, int4);
SET LOCAL hpsort.debug_sort = force;
SET LOCAL work_mem = '64kB';
CREATE FUNCTION pg_temp.check_faulty(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN NEXT matches(pg_temp.plan_of(query), 'HpSort', 'by a faulty operator class: ' || query);
	RETURN NEXT pg_temp.same_rows(format('SELECT count(*), sum(id) FROM (%s OFFSET 0) s', query), 'SELECT count(*), sum(id) FROM data', 'all rows of ' || query);
END $$;
SELECT pg_temp.check_faulty(query) FROM unnest(ARRAY['SELECT id FROM data ORDER BY day < ''2000-01-01'', id USING <~', 'SELECT id, label FROM data ORDER BY (later > 5), id USING >~']) query;

-- Workers: the same keys in order, and the same rows.
SET LOCAL work_mem = '4MB';
CREATE TABLE order_parallel AS SELECT id, few, wide, huge, label FROM data;
ANALYZE order_parallel;
SET LOCAL max_parallel_workers_per_gather = 2;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL test.mode = 'allow';
SET LOCAL hpsort.debug_sort = allow;
SELECT matches(pg_temp.plan_of('SELECT * FROM order_parallel ORDER BY few'), 'Gather Merge.*HpSort', 'HpSort below Gather Merge');
SELECT pg_temp.check_query('SELECT row_number() OVER (), few FROM (SELECT * FROM order_parallel ORDER BY few OFFSET 0) s');
SELECT pg_temp.check_query('SELECT row_number() OVER (), few, huge FROM (SELECT * FROM order_parallel ORDER BY few DESC, huge LIMIT 3000) s');
SELECT pg_temp.check_query('SELECT row_number() OVER (), wide FROM (SELECT wide FROM order_parallel ORDER BY wide OFFSET 0) s');
DROP TABLE order_parallel;

SELECT * FROM finish();
ROLLBACK;
