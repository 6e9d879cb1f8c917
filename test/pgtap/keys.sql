-- ORDER BY keys that are no integers, by Custom Scan (HpSort): floats, intervals, and
-- what sort support abbreviates.  Equal to core's, and stable, over types, collations, directions,
-- NULLs, LIMIT, memory and workers; data of which abbreviations say little.
\set test keys
\ir setup.psql

LOAD 'hpsort';
SET hpsort.enable_scan = off;
SET hpsort.enable_sort = on;
SET LOCAL synchronize_seqscans = off;
SET LOCAL max_parallel_workers_per_gather = 0;
SET LOCAL jit = off;
SET LOCAL client_min_messages = warning;

-- An operator class of a user's, with core's sort support; one that compares backward, without.
CREATE FUNCTION pg_temp.backward(a uuid, b uuid) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT uuid_cmp(b, a)';
CREATE FUNCTION pg_temp.backward_lt(a uuid, b uuid) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT a > b';
CREATE FUNCTION pg_temp.backward_gt(a uuid, b uuid) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT a < b';
CREATE SCHEMA keys_test;
CREATE OPERATOR keys_test.<<< (LEFTARG = uuid, RIGHTARG = uuid, FUNCTION = uuid_lt, COMMUTATOR = OPERATOR(keys_test.>>>));
CREATE OPERATOR keys_test.>>> (LEFTARG = uuid, RIGHTARG = uuid, FUNCTION = uuid_gt);
CREATE OPERATOR keys_test.<<| (LEFTARG = uuid, RIGHTARG = uuid, FUNCTION = pg_temp.backward_lt);
CREATE OPERATOR keys_test.|>> (LEFTARG = uuid, RIGHTARG = uuid, FUNCTION = pg_temp.backward_gt);
CREATE OPERATOR CLASS keys_test.own_ops FOR TYPE uuid USING btree AS
	OPERATOR 1 keys_test.<<<, OPERATOR 3 =, OPERATOR 5 keys_test.>>>,
	FUNCTION 1 uuid_cmp(uuid, uuid), FUNCTION 2 uuid_sortsupport(internal);
CREATE OPERATOR CLASS keys_test.backward_ops FOR TYPE uuid USING btree AS
	OPERATOR 1 keys_test.<<|, OPERATOR 3 =, OPERATOR 5 keys_test.|>>, FUNCTION 1 pg_temp.backward(uuid, uuid);

-- Every type, with the ends of its range, with equal values that look different, and NULLs.
CREATE TEMP TABLE source AS
SELECT i AS id,
	floor(random() * 20)::int AS few,
	CASE WHEN random() < 0.05 THEN (ARRAY['NaN', '-0', '0', 'Infinity', '-Infinity', NULL, '1e-45', '-3.4e38'])[1 + floor(random() * 8)]::float4
		ELSE ((random() - 0.5) * 1000)::float4 END AS f4,
	CASE WHEN random() < 0.05 THEN (ARRAY['NaN', '-0', '0', 'Infinity', '-Infinity', NULL, '5e-324', '-1.7e308'])[1 + floor(random() * 8)]::float8
		ELSE (random() - 0.5) * 10 ^ (random() * 20 - 10) END AS f8,
	round((random() * 100)::numeric, 1)::float8 AS price,
	CASE WHEN random() < 0.05 THEN (ARRAY['178000000 years', '-178000000 years', '2147483647 days', '1 mon', '30 days', '720:00:00', NULL, '0'])[1 + floor(random() * 8)]::interval
		ELSE make_interval(months => floor(random() * 3)::int, days => floor(random() * 90)::int - 40, hours => floor(random() * 30)::int) END AS span,
	CASE WHEN random() < 0.02 THEN (ARRAY['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', NULL])[1 + floor(random() * 3)]::uuid
		ELSE md5(i::text)::uuid END AS u,
	md5((i % 7)::text)::uuid AS ufew,
	CASE WHEN random() < 0.05 THEN (ARRAY['NaN', 'Infinity', '-Infinity', '0', '0.00', '-0.000', NULL, '1e-300', '-1e-300', '1e300', '-1e300', '1', '1.0', '1e-16383', '9.99e130000'])[1 + floor(random() * 15)]::numeric
		ELSE ((random() - 0.5) * 10 ^ (random() * 30 - 15))::numeric END AS n,
	round((random() * 100)::numeric, (random() * 2)::int) AS nfew,
	CASE WHEN random() > 0.02 THEN md5(random()::text) END AS t,
	repeat('long common prefix ', 5) || floor(random() * 3000) AS prefixed,
	CASE WHEN random() > 0.5 THEN 'status ' || floor(random() * 5) ELSE '' END AS status,
	CASE WHEN random() > 0.1 THEN 'the one' ELSE md5(random()::text) END AS dominant,
	-- few values, some of which have the same abbreviation
	(ARRAY['begins alike ', 'alike'])[1 + floor(random() * 2)] || floor(random() * 9) AS alike,
	(ARRAY[1e40, 1])[1 + floor(random() * 2)] + floor(random() * 9)::int AS nalike,
	('a0eebc99-9c0b-4ef8-bb6d-00000000000' || floor(random() * 9))::uuid AS ualike,
	-- as many abbreviations as are watched, nearly; every second one of several values
	lpad(k::text, 8, '0') || CASE WHEN k % 2 = 1 THEN floor(random() * 3)::text ELSE '' END AS watched,
	-- some out of line
	CASE WHEN i % 900 = 1 THEN (SELECT string_agg(md5((i + k)::text), '') FROM generate_series(1, 300) k) ELSE 'row ' || i END AS label,
	(ARRAY['a', 'A', 'ä', 'Ä', 'b', 'ß', 'ss', 'z', 'Z', 'é', 'e', '-', ' ', ''])[1 + floor(random() * 14)] ||
		(ARRAY['a', 'A', 'ä', 'Ä', 'b', 'ß', 'ss', 'z', 'Z', 'é', 'e', '-', ' ', ''])[1 + floor(random() * 14)] || floor(random() * 30) AS word,
	((ARRAY['a', 'b  ', 'c', 'd '])[1 + floor(random() * 4)] || floor(random() * 100))::char(12) AS padded,
	CASE WHEN random() > 0.02 THEN decode(repeat(chr(48 + floor(random() * 4)::int), (2 * floor(random() * 12))::int), 'hex') END AS bytes,
	CASE WHEN random() < 0.1 THEN '::1'::inet + floor(random() * 5000)::int WHEN random() < 0.02 THEN NULL
		ELSE set_masklen('10.0.0.0'::inet + floor(random() * 16000000)::int, 8 + floor(random() * 25)::int) END AS ip,
	('08:00:2b:01:' || lpad(to_hex(floor(random() * 256)::int), 2, '0') || ':' || lpad(to_hex(floor(random() * 256)::int), 2, '0'))::macaddr AS mac
FROM generate_series(1, 3000) i CROSS JOIN LATERAL (SELECT floor(random() * 300)::int + 0 * i AS k) pick;
-- in a table without room between rows, so that they lie in the order of id
CREATE TEMP TABLE data AS SELECT * FROM source UNION ALL SELECT 3000 + id, few, f4, f8, price, span, u, ufew, n, nfew, t, prefixed, status, dominant, alike, nalike, ualike, watched, label, word, padded, bytes, ip, mac
FROM source WHERE id <= 600;
ALTER TABLE data ADD later text COLLATE "C" DEFAULT 'later';
ANALYZE data;

-- Keys, and whether HpSort sorts them.
CREATE TEMP TABLE keys (key text, sorted bool);
INSERT INTO keys VALUES ('f4', true), ('f8', true), ('price', true), ('span', true), ('u', true), ('ufew', true), ('n', true), ('nfew', true), ('nalike', true), ('ualike', true),
	('bytes', true), ('ip', true), ('ip::cidr', true), ('mac', true), ('later', true), ('u USING OPERATOR(keys_test.<<<)', true),
	('u USING OPERATOR(keys_test.>>>)', true), ('u USING OPERATOR(keys_test.<<|)', false), ('few::int8::money', false),
	('t USING ~<~', true), ('t USING ~>~', true);
INSERT INTO keys SELECT column_name || ' COLLATE "C"', true
FROM information_schema.columns WHERE table_name = 'data' AND column_name IN ('t', 'prefixed', 'status', 'dominant', 'alike', 'watched', 'label', 'word', 'padded');
INSERT INTO keys VALUES ('word::varchar COLLATE "POSIX"', true);
-- ICU, and what a libc locale sorts, which sort support does not abbreviate
CREATE FUNCTION pg_temp.collations() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	BEGIN
		CREATE COLLATION keys_test.icu (provider = icu, locale = 'de');
		CREATE COLLATION keys_test.nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
		PERFORM 'a' < 'b' COLLATE keys_test.nocase;
		INSERT INTO keys SELECT format('%s COLLATE keys_test.%s', k, c), true
		FROM unnest('{word,t,status,prefixed,padded}'::text[]) k, unnest('{icu,nocase}'::text[]) c;
	EXCEPTION WHEN feature_not_supported OR undefined_object OR syntax_error THEN
		RAISE LOG 'no ICU: %', SQLERRM;
	END;
	BEGIN
		CREATE COLLATION keys_test.english (provider = libc, locale = 'en_US.UTF-8');
		INSERT INTO keys VALUES ('word COLLATE keys_test.english', false);
	EXCEPTION WHEN undefined_object OR invalid_parameter_value OR invalid_object_definition OR system_error THEN
		RAISE LOG 'no en_US: %', SQLERRM;
	END;
END $$;
SELECT pg_temp.collations();

-- One ORDER BY: rows in core's order, made unique by id, and in HpSort's.
CREATE FUNCTION pg_temp.check_order(ordering text, sorted bool, tail text DEFAULT '') RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
	ours text := format('SELECT id, few, n, padded FROM data ORDER BY %s %s', ordering, tail);
	core text := format('SELECT id, few, n, padded FROM data ORDER BY %s, id %s', ordering, tail);
	want text;
	got text;
BEGIN
	PERFORM set_config('hpsort.debug_sort', 'force', true);
	IF sorted <> (pg_temp.plan_of(ours) LIKE '%HpSort%') THEN
		RETURN NEXT fail(format('sorted by hpsort should be %s: %s', sorted, ours));
	END IF;
	-- core's own sort leaves equal rows in any order
	IF sorted THEN
		PERFORM set_config('hpsort.debug_sort', 'forbid', true);
		EXECUTE format('SELECT md5(string_agg(q::text, '';'')) FROM (%s) q', core) INTO want;
		PERFORM set_config('hpsort.debug_sort', 'force', true);
		EXECUTE format('SELECT md5(string_agg(q::text, '';'')) FROM (%s) q', ours) INTO got;
		RETURN NEXT is(got, want, format('%s %s, work_mem %s', ordering, tail, current_setting('work_mem')));
	ELSE
		RETURN NEXT pass(format('core sorts: %s', ordering));
	END IF;
END $$;

CREATE FUNCTION pg_temp.check_orders() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	options text[] := '{"", " DESC", " NULLS FIRST", " DESC NULLS LAST"}';
	tails text[] := '{"", "", "LIMIT 1", "LIMIT 10", "LIMIT 700 OFFSET 5", "LIMIT 100000"}';
	fits boolean;
	one record;
	option text;
	ordering text;
BEGIN
	FOREACH fits IN ARRAY '{false,true}'::boolean[] LOOP
		FOR one IN SELECT * FROM keys LOOP
			PERFORM pg_temp.set_memory(fits);
			FOREACH option IN ARRAY options LOOP
				CONTINUE WHEN one.key LIKE '%USING%' AND option LIKE '%DESC%';
				RETURN QUERY SELECT pg_temp.check_order(one.key || option, one.sorted);
			END LOOP;
			RETURN QUERY SELECT pg_temp.check_order(one.key, one.sorted, 'LIMIT ' || floor(random() * 1500));
		END LOOP;
		-- several keys, the first of which is one that HpSort maps
		FOR i IN 1 .. 60 LOOP
			PERFORM pg_temp.set_memory(fits);
			SELECT string_agg(key || CASE WHEN key LIKE '%USING%' THEN '' ELSE options[1 + floor(random() * 4)] END, ', ' ORDER BY first DESC)
			INTO ordering
			FROM (SELECT key, false AS first FROM (SELECT key FROM keys ORDER BY random() LIMIT 1 + floor(random() * 3)) k
				UNION ALL SELECT (ARRAY['few', 'ufew', 'f4', 'price', 'nfew', 'status COLLATE "C"', 'word COLLATE "C"', 'span'])[1 + floor(random() * 8)], true) k;
			RETURN QUERY SELECT pg_temp.check_order(ordering, true, tails[1 + floor(random() * 6)]);
		END LOOP;
	END LOOP;
END $$;
SELECT pg_temp.check_orders();

-- Floats without rows: 0 and -0 are equal, in whichever order they come, and all values come out as they were.
CREATE FUNCTION pg_temp.check_keys() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	memory text;
	key text;
	option text;
	core text;
	ours text;
	want text;
	got text;
BEGIN
	FOREACH memory IN ARRAY '{64kB,64MB}'::text[] LOOP
		PERFORM set_config('work_mem', memory, true);
		FOREACH key IN ARRAY '{f4,f8,price,price::float4}'::text[] LOOP
			FOREACH option IN ARRAY '{"", " DESC", " NULLS FIRST", " DESC NULLS LAST", " LIMIT 37"}'::text[] LOOP
				core := format('SELECT string_agg(coalesce(abs(k)::text, ''null''), '';''), array_agg(k::text ORDER BY k::text) FROM (SELECT %s AS k FROM data ORDER BY 1 %s) q', key, option);
				PERFORM set_config('hpsort.debug_sort', 'forbid', true);
				EXECUTE 'SELECT q::text FROM (' || core || ') q' INTO want;
				PERFORM set_config('hpsort.debug_sort', 'force', true);
				EXECUTE 'SELECT q::text FROM (' || core || ') q' INTO got;
				RETURN NEXT ok(got = want, format('SELECT %s ORDER BY 1 %s, work_mem %s', key, option, memory));
			END LOOP;
		END LOOP;
	END LOOP;
END $$;
SELECT pg_temp.check_keys();
-- NaNs of other bits than core's own are equal to it
CREATE TEMP TABLE nans AS SELECT i, CASE i % 4 WHEN 0 THEN 'NaN'::float8 WHEN 1 THEN -('NaN'::float8) WHEN 2 THEN 'Infinity' ELSE i END AS f FROM generate_series(1, 2000) i;
SET LOCAL hpsort.debug_sort = force;
SELECT results_eq('SELECT i FROM nans ORDER BY f, i', 'SELECT i FROM nans ORDER BY f <> ''NaN'' DESC, f <> ''Infinity'' DESC, CASE WHEN i % 4 = 3 THEN f END, i', 'NaNs of any bits come last, and are equal');
SELECT results_eq('SELECT f FROM nans ORDER BY f DESC', 'SELECT f FROM nans ORDER BY f = ''NaN'' DESC, f = ''Infinity'' DESC, f DESC', 'the same of keys alone');
RESET hpsort.debug_sort;

-- Keys that fill 64 bits to the last, or nearly, and one behind them.
CREATE TEMP TABLE wide AS SELECT i, (ARRAY[-2147483648, 2147483647, i])[1 + i % 3] AS a, (ARRAY[2147483647, -i, -2147483648])[1 + i / 3 % 3] AS b,
	CASE WHEN i % 7 > 0 THEN (i - 1000) * 9000000000000000::int8 END AS c, i % 2 = 0 AS d
FROM generate_series(1, 2000) i;
INSERT INTO wide VALUES (2001, 0, 0, -9223372036854775808, true), (2002, 0, 0, 9223372036854775807, false), (2003, 0, 0, NULL, true);
CREATE FUNCTION pg_temp.sorted(keys text, mode text) RETURNS SETOF int LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('hpsort.debug_sort', mode, true);
	RETURN QUERY EXECUTE 'SELECT i FROM wide ORDER BY ' || keys;
END $$;
SELECT is((SELECT string_agg(i::text, ',') FROM (SELECT i FROM pg_temp.sorted(keys, 'force') i) f),
	(SELECT string_agg(i::text, ',') FROM (SELECT i FROM pg_temp.sorted(keys || ', i', 'forbid') i) f), 'wide keys: ' || keys)
FROM unnest('{"a, b, c","a DESC, c","d, a, c DESC","d, a DESC, b, c","a, d, b, c NULLS FIRST","c, a","c DESC, b"}'::text[]) keys;

-- Merge joins, windows, DISTINCT, cursors and rescans over such keys.
CREATE FUNCTION pg_temp.check_query(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	want text;
	got text;
BEGIN
	PERFORM set_config('hpsort.debug_sort', 'forbid', true);
	EXECUTE format('SELECT md5(string_agg(q::text, '';'' ORDER BY q::text)) FROM (%s) q', query) INTO want;
	PERFORM set_config('hpsort.debug_sort', 'force', true);
	EXECUTE format('SELECT md5(string_agg(q::text, '';'' ORDER BY q::text)) FROM (%s) q', query) INTO got;
	RETURN NEXT matches(pg_temp.plan_of(query), 'HpSort', 'sorted by hpsort: ' || query);
	RETURN NEXT is(got, want, query);
END $$;
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_nestloop = off;
SET LOCAL enable_hashagg = off;
SELECT pg_temp.check_query(query) FROM unnest(ARRAY[
	'SELECT a.id, b.id FROM data a JOIN data b ON a.u = b.u',
	'SELECT a.id, b.id FROM data a LEFT JOIN data b ON a.n = b.n WHERE a.few < 5',
	'SELECT a.id, b.id FROM data a JOIN data b ON a.t = b.t COLLATE "C"',
	'SELECT a.id, b.id FROM data a JOIN data b ON a.f8 = b.f8',
	'SELECT id, rank() OVER (PARTITION BY ufew ORDER BY f4) FROM data',
	'SELECT id, dense_rank() OVER (ORDER BY status COLLATE "C") FROM data',
	'SELECT DISTINCT u FROM data', 'SELECT DISTINCT ON (word COLLATE "C") word, few FROM data ORDER BY word COLLATE "C", few',
	'SELECT bytes, count(*) FROM data GROUP BY bytes',
	'SELECT v.x, s.* FROM generate_series(1, 3) v (x), LATERAL (SELECT id, u FROM data WHERE few > v.x * 5 ORDER BY u OFFSET 0) s']) query;

-- Workers below Gather Merge: the keys in core's order, and all rows.  What is equal and looks
-- different, 0 and -0 or 1 and 1.0, is shown alike.
RESET enable_hashjoin;
RESET enable_nestloop;
RESET enable_hashagg;
CREATE TABLE keys_test.shared AS SELECT id, u, ufew, CASE WHEN id % 11 > 0 THEN few END AS few, n, f8, span, t, status FROM data;
ALTER TABLE keys_test.shared SET (parallel_workers = 2);
ANALYZE keys_test.shared;
CREATE FUNCTION pg_temp.check_parallel(shown text, keys text, memory text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	query text := format('SELECT id, %s AS shown FROM keys_test.shared ORDER BY %s', shown, keys);
	results text := format('SELECT string_agg(shown, '';''), md5(string_agg(id || shown, '';'' ORDER BY id)), count(*) FROM (SELECT id, shown::text FROM (%s OFFSET 0) q) r', query);
	want record;
	got record;
BEGIN
	PERFORM set_config('work_mem', memory, true);
	PERFORM set_config('hpsort.debug_sort', 'forbid', true);
	PERFORM set_config('max_parallel_workers_per_gather', '0', true);
	EXECUTE results INTO want;
	PERFORM set_config('hpsort.debug_sort', 'force', true);
	PERFORM set_config('max_parallel_workers_per_gather', '2', true);
	EXECUTE results INTO got;
	RETURN NEXT matches(pg_temp.plan_of(results), 'Gather Merge.*HpSort', 'HpSort below Gather Merge: ' || keys);
	RETURN NEXT is(got, want, format('workers sort by %s, work_mem %s', keys, memory));
	PERFORM set_config('max_parallel_workers_per_gather', '0', true);
END $$;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL cpu_tuple_cost = 1;
SELECT pg_temp.check_parallel(shown, keys, memory)
FROM (VALUES ('u', 'u'), ('u', 'u DESC NULLS LAST'), ('ROW(ufew, t)', 'ufew, t COLLATE "C"'), ('trim_scale(n)', 'n'),
	('ROW(few, trim_scale(n))', 'few NULLS FIRST, n DESC'), ('f8 + 0', 'f8'), ('ROW(f8 + 0, status)', 'f8 DESC, status COLLATE "C"'),
	('t', 't COLLATE "C"'), ('t', 't COLLATE "C" DESC'), ('ROW(status, few)', 'status COLLATE "C", few'),
	('justify_interval(span)', 'span')) k (shown, keys),
	unnest('{64kB,64MB}'::text[]) memory;
RESET cpu_tuple_cost;

-- A cursor that goes backward.
SET LOCAL hpsort.debug_sort = force;
DECLARE c SCROLL CURSOR FOR SELECT id, nfew FROM data ORDER BY nfew, u;
MOVE FORWARD ALL FROM c;
CREATE TEMP TABLE backward (i serial, id int);
CREATE FUNCTION pg_temp.read_backward() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	c CONSTANT refcursor := 'c';
	r record;
BEGIN
	LOOP
		FETCH PRIOR FROM c INTO r;
		EXIT WHEN NOT FOUND;
		INSERT INTO backward (id) VALUES (r.id);
	END LOOP;
END $$;
SELECT pg_temp.read_backward();
SELECT results_eq('SELECT id FROM backward ORDER BY i DESC', 'SELECT id FROM data ORDER BY nfew, u, id', 'a cursor that goes backward');
CLOSE c;
RESET hpsort.debug_sort;
SELECT * FROM finish();
ROLLBACK;
