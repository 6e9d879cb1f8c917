-- int4multiset: every function, operator, cast and aggregate, equal to PostgreSQL's own over the
-- rows that a multiset is made of; algebra; text, arrays and bytes there and back, and hostile ones.
\set test multiset
\ir setup.psql
LOAD 'hpsort';
SET hpsort.enable_scan = off;
-- PostgreSQL's own nodes are to call the functions.
SET hpsort.enable_aggregate = off;
SET LOCAL jit = off;
SET LOCAL max_parallel_workers_per_gather = 0;

-- --- Multisets of all shapes, in their table

INSERT INTO shapes (n, range, spread, nulls, a) VALUES (0, 0, 'none', 0, '{}'), (1, 1, 'null', 1, '{NULL}'),
	(1, 1, 'first', 0, '{-2147483648}'), (1, 1, 'last', 0, '{2147483647}'), (5, 0, 'ends', 0.2, '{2147483647,-2147483648,NULL,0,2147483647}');
SELECT pg_temp.make_shapes('{1,2,3,127,128,129}', '{1,5,256,1000000,4294967296}', '{uniform,zipf,few,outliers}', '{0,0.2}');
SELECT pg_temp.make_shapes('{300,2500}', '{2,2049,70000,4294967296}', '{uniform,zipf,ascending,outliers}', '{0.01}');
-- runs of more than one part of the index
SELECT pg_temp.make_shapes('{17000}', '{17000,4294967296}', '{ascending}', '{0}');
SELECT pg_temp.make_shapes('{30000}', '{60000}', '{uniform}', '{0.01}');

ALTER TABLE shapes ADD keys int4[], ADD key_runs hpsort_run[], ADD probes int4[], ADD m int4multiset;
ALTER TABLE shapes ALTER keys SET STORAGE EXTERNAL, ALTER key_runs SET STORAGE EXTERNAL;
-- Values that are in a shape, beside one, and anywhere.
CREATE FUNCTION pg_temp.probes(keys int4[]) RETURNS int4[] LANGUAGE sql AS $$
SELECT array_agg(DISTINCT least(greatest(p, -2147483648), 2147483647)::int4)
FROM (SELECT unnest('{-2147483648,0,2147483647}'::int8[])
	UNION ALL SELECT keys[1 + floor(random() * cardinality(keys))] + floor(random() * 3) - 1 FROM generate_series(1, 3)
	UNION ALL SELECT keys[1]::int8 - 1 UNION ALL SELECT keys[cardinality(keys)]::int8 + 1
	UNION ALL SELECT floor(random() * 4294967296) - 2147483648) s (p);
$$;
UPDATE shapes SET keys = ARRAY(SELECT x FROM unnest(a) x WHERE x IS NOT NULL ORDER BY x),
	key_runs = ARRAY(SELECT ROW(key, count)::hpsort_run FROM unnest(runs) WHERE key IS NOT NULL ORDER BY key);
UPDATE shapes SET probes = pg_temp.probes(keys), m = coalesce((SELECT int4multiset_agg(x) FROM unnest(a) x), '{}');
SELECT cmp_ok((SELECT max(pg_column_size(m)) FROM shapes), '>', 65536, 'large values');
SELECT cmp_ok((SELECT pg_relation_size(reltoastrelid) FROM pg_class WHERE oid = 'shapes'::regclass), '>', 1000000::int8, 'out of line');

-- --- What is asked of a multiset, by itself and read from its table

CREATE FUNCTION pg_temp.check_answers(m text, subset text, how text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	fractions text := (SELECT format('''%s''::float8[]', array_agg(f ORDER BY random())::text)
		FROM (SELECT unnest('{0,1e-9,0.001,0.25,0.5,0.75,0.9,0.99,0.999999,1,NULL,0.3333333333333333}'::float8[])
			UNION ALL SELECT random() FROM generate_series(1, 5)) s (f));
	one record;
BEGIN
	FOR one IN SELECT * FROM (VALUES
		('to int4[]', '@m::int4[] = keys'),
		('to hpsort_run[]', '@m::hpsort_run[] = key_runs'),
		('runs', 'ARRAY(SELECT r FROM runs(@m) r) = key_runs'),
		('to text', $q$@m::text = (SELECT '{' || coalesce(string_agg(key || CASE WHEN count > 1 THEN ':' || count ELSE '' END, ', ' ORDER BY key), '') || '}' FROM unnest(key_runs))$q$),
		('numbers and extremes', $q$ROW(cardinality(@m), distinct_count(@m), min(@m), max(@m), sum(@m))::text = (SELECT ROW(count(*), count(DISTINCT x), min(x), max(x), sum(x))::text FROM unnest(keys) x)$q$),
		('avg, variance, stddev', $q$ROW(avg(@m), variance(@m), stddev(@m))::text = (SELECT ROW(avg(x), variance(x), stddev(x))::text FROM unnest(keys) x)$q$),
		('mode, median', $q$ROW(mode(@m), median(@m))::text = (SELECT ROW(mode() WITHIN GROUP (ORDER BY x), percentile_cont(0.5) WITHIN GROUP (ORDER BY x))::text FROM unnest(keys) x)$q$),
		('percentile_disc', $q$ARRAY(SELECT percentile_disc(@m, f) FROM unnest(@f) f) = coalesce((SELECT percentile_disc(@f) WITHIN GROUP (ORDER BY x) FROM unnest(keys) x), array_fill(NULL::int4, ARRAY[17]))$q$),
		('percentile_cont', $q$ARRAY(SELECT percentile_cont(@m, f) FROM unnest(@f) f)::text = coalesce((SELECT percentile_cont(@f) WITHIN GROUP (ORDER BY x) FROM unnest(keys) x), array_fill(NULL::float8, ARRAY[17]))::text$q$),
		('percentile_disc of an array', $q$percentile_disc(@m, @f) IS NOT DISTINCT FROM (SELECT percentile_disc(@f) WITHIN GROUP (ORDER BY x) FROM unnest(keys) x)$q$),
		('percentile_cont of an array', $q$percentile_cont(@m, @f)::text IS NOT DISTINCT FROM (SELECT percentile_cont(@f) WITHIN GROUP (ORDER BY x) FROM unnest(keys) x)::text$q$),
		('percentile_disc of arrays', $q$percentile_disc(@m, '{{0.1,0.7},{NULL,0.5}}'::float8[]) IS NOT DISTINCT FROM (SELECT percentile_disc('{{0.1,0.7},{NULL,0.5}}'::float8[]) WITHIN GROUP (ORDER BY x) FROM unnest(keys) x)$q$),
		('percentile_cont of arrays', $q$percentile_cont(@m, '[0:1][5:5]={{0.7},{0.2}}'::float8[])::text IS NOT DISTINCT FROM (SELECT percentile_cont('[0:1][5:5]={{0.7},{0.2}}'::float8[]) WITHIN GROUP (ORDER BY x) FROM unnest(keys) x)::text$q$),
		('percentile_disc of no fractions', $q$percentile_disc(@m, '{}'::float8[]) IS NOT DISTINCT FROM (SELECT percentile_disc('{}'::float8[]) WITHIN GROUP (ORDER BY x) FROM unnest(keys) x)$q$),
		('percentile_cont of no fractions', $q$percentile_cont(@m, '{}'::float8[]) IS NOT DISTINCT FROM (SELECT percentile_cont('{}'::float8[]) WITHIN GROUP (ORDER BY x) FROM unnest(keys) x)$q$),
		('nth', $q$(SELECT bool_and(nth(@m, p) IS NOT DISTINCT FROM CASE WHEN p BETWEEN 1 AND cardinality(keys) THEN keys[p::int] END)
			FROM (SELECT unnest(ARRAY[-9223372036854775808, -1, 0, 1, 2, 128, 129, 16384, 16385, cardinality(keys), cardinality(keys) + 1, 9223372036854775807])
				UNION ALL SELECT ceil(random() * cardinality(keys))::int8 FROM generate_series(1, 3)) s (p))$q$),
		('rank, cume_dist', $q$(SELECT bool_and(ROW(rank(@m, p), cume_dist(@m, p))::text = (SELECT ROW(rank(p) WITHIN GROUP (ORDER BY x), cume_dist(p) WITHIN GROUP (ORDER BY x))::text FROM unnest(keys) x)) FROM unnest(probes) p)$q$),
		('count_of, @>', $q$(SELECT bool_and((count_of(@m, p), @m @> p) = (SELECT count(*), count(*) > 0 FROM unnest(keys) x WHERE x = p)) FROM unnest(probes) p)$q$),
		('count_between', $q$(SELECT bool_and(count_between(@m, p, q) = (SELECT count(*) FROM unnest(keys) x WHERE x BETWEEN p AND q)) FROM unnest(probes) p, unnest(probes[1:3] || probes[cardinality(probes):]) q)$q$),
		('most_frequent', $q$(SELECT bool_and(ARRAY(SELECT f FROM most_frequent(@m, n) f) = ARRAY(SELECT ROW(key, count)::hpsort_run FROM unnest(key_runs) ORDER BY count DESC, key LIMIT n)) FROM unnest('{0,1,2,10,200,2147483647}'::int4[]) n)$q$),
		('buckets', $q$(SELECT bool_and(CASE WHEN floor(keys[1]::numeric / w) * w >= -2147483648 OR keys = '{}' THEN
				ARRAY(SELECT b FROM buckets(@m, w) b) = ARRAY(SELECT ROW(b, sum(count))::hpsort_run FROM (SELECT (key - (key::int8 % w + w) % w)::int4 AS b, count FROM unnest(key_runs)) s GROUP BY b ORDER BY b)
				ELSE true END) FROM unnest(ARRAY[1, 2, 3, 10, 128, 100000, 2147483647, 1 + floor(random() * 5000)::int]) w)$q$),
		('restrict', $q$(SELECT bool_and(restrict(@m, r)::int4[] = ARRAY(SELECT x FROM unnest(keys) x WHERE x <@ r ORDER BY x))
			FROM (SELECT int4range(least(p, q), greatest(p, q), (ARRAY['[)', '()', '(]', '[]'])[CASE WHEN greatest(p, q) = 2147483647 OR least(p, q) = 2147483647 THEN 1 ELSE 1 + floor(random() * 4) END])
					FROM unnest(probes[1:4]) p, unnest(probes) q
				UNION ALL SELECT int4range(p, NULL, '[]') FROM unnest(probes) p UNION ALL SELECT int4range(NULL, p, '()') FROM unnest(probes) p
				UNION ALL VALUES (int4range 'empty'), (int4range '(,)')) s (r))$q$)) v (name, condition)
	LOOP
		RETURN NEXT pg_temp.holds(replace(replace(one.condition, '@m', m), '@f', fractions), subset, one.name || how);
	END LOOP;
END $$;
SELECT pg_temp.check_answers('m', 'true', ', stored');
SELECT pg_temp.check_answers('keys::int4multiset', 'n < 1000', ', of int4[]');

-- --- Made in other ways, and there and back: equal values have equal bytes

-- what is sent is what is stored
SELECT format('CREATE FUNCTION pg_temp.bytes(int4multiset) RETURNS bytea LANGUAGE sql RETURN %s($1)', typsend::regproc) FROM pg_type WHERE oid = 'int4multiset'::regtype \gexec
CREATE TYPE pg_temp.pair AS (m int4multiset, id int);
SELECT pg_temp.holds(replace('@m = m AND pg_temp.bytes(@m) = pg_temp.bytes(m)', '@m', m), 'true', 'the same of ' || m)
FROM (VALUES ('key_runs::int4multiset'), ('m::text::int4multiset'),
	('ARRAY(SELECT r FROM runs(m) r ORDER BY random())::int4multiset'), ('ARRAY(SELECT x FROM unnest(keys) x ORDER BY random())::int4multiset'),
	('coalesce((SELECT int4multiset_agg(key, count) FROM unnest(runs)), ''{}'')'),
	('coalesce((SELECT int4multiset_agg(x, 1) FROM unnest(a) x), ''{}'')'),
	('coalesce((SELECT int4multiset_sum(ARRAY[x]::int4multiset) FROM unnest(keys[1:500]) x), ''{}'') + keys[501:]::int4multiset'),
	('(SELECT (''{'' || coalesce(string_agg(format(E'' %s\t:\n%s '', key, count), '','' ORDER BY random()), '''') || '' } '')::int4multiset FROM unnest(key_runs))'),
	-- equal keys add up
	('(SELECT (''{'' || coalesce(string_agg(x::text, '', '' ORDER BY random()), '''') || ''}'')::int4multiset FROM unnest(keys) x)'),
	('ARRAY(SELECT ROW(x, 1)::hpsort_run FROM unnest(keys) x ORDER BY random())::int4multiset'),
	('(m + ''{}'')'), ('(m * 1)'), ('(1 * m)'), ('(m * 3 - m - m)'), ('restrict(m, ''(,)'')'), ('(ARRAY[m, ''{1}'', m])[3]'),
	('(ARRAY[m, ''{1:7,5}'']::text::int4multiset[])[1]'), ('(ROW(m, id)::pg_temp.pair::text::pg_temp.pair).m')) v (m);
SELECT is('{{3,1},{1,-2147483648}}'::int4[]::int4multiset::text, '{-2147483648, 1:2, 3}', 'all elements of an array');
SELECT is('[7:8]={3,1}'::int4[]::int4multiset::text, '{1, 3}', 'whatever its bounds');
SELECT is('{}'::int4multiset::int4[]::text || '{}'::int4multiset::hpsort_run[]::text || '{}'::int4[]::int4multiset::text || '{}'::hpsort_run[]::int4multiset::text, '{}{}{}{}', 'nothing');
SELECT is_empty('SELECT castsource::regtype, casttarget::regtype FROM pg_cast WHERE ''int4multiset''::regtype IN (castsource, casttarget) AND castcontext <> ''e''', 'casts are explicit');

-- bytes, by COPY
SELECT current_setting('data_directory') || '/hpsort_multiset_test' AS file \gset
CREATE TABLE copied (id int, m int4multiset, ms int4multiset[]);
SELECT format('COPY (SELECT id, m, ARRAY[m, NULL, ''{5}''] FROM shapes) TO %L (FORMAT binary)', :'file') \gexec
SELECT format('COPY copied FROM %L (FORMAT binary)', :'file') \gexec
SELECT format('COPY (SELECT 1) TO PROGRAM %L', 'cat >/dev/null; rm -f ' || quote_literal(:'file')) \gexec
SELECT is_empty('SELECT s.id FROM shapes s LEFT JOIN copied c USING (id)
	WHERE (pg_temp.bytes(c.m) = pg_temp.bytes(s.m) AND c.ms = ARRAY[s.m, NULL, ''{5}'']) IS NOT TRUE', 'COPY BINARY there and back');

-- What a query returns as text, or its error.
CREATE FUNCTION pg_temp.outcome(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE 'SELECT string_agg(q::text, '';'') FROM (' || query || ') q' INTO result;
	RETURN coalesce(result, 'no rows');
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;

-- Hostile bytes: refused, or a value like any other.
CREATE TABLE received (m int4multiset);
CREATE FUNCTION pg_temp.receive(bytes bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	-- the header and the end of a COPY, and a row of one field
	file bytea := '\x5047434f50590aff0d0a00' || int4send(0) || int4send(0) || int2send(1::int2) || int4send(length(bytes)) || bytes || int2send((-1)::int2);
	octal text := (SELECT string_agg('\' || lpad(((get_byte(file, i) / 64) * 100 + (get_byte(file, i) / 8 % 8) * 10 + get_byte(file, i) % 8)::text, 3, '0'), '' ORDER BY i)
		FROM generate_series(0, length(file) - 1) i);
BEGIN
	TRUNCATE received;
	EXECUTE format('COPY received FROM PROGRAM %L (FORMAT binary)', format('printf ''%s''', octal));
	RETURN (SELECT CASE WHEN pg_temp.bytes(m) = bytes AND m::text::int4multiset = m AND m::int4[]::int4multiset = m THEN 'equal' ELSE 'different: ' || m::text END FROM received);
EXCEPTION WHEN invalid_binary_representation THEN
	RETURN 'refused';
WHEN program_limit_exceeded THEN
	-- a count that makes an array too large
	RETURN 'equal';
END $$;
CREATE TEMP TABLE honest AS
SELECT i, m, pg_temp.bytes(m) AS bytes FROM (VALUES (1, '{}'::int4multiset), (2, '{5}'), (3, '{-2147483648:3, 2147483647:70000}'), (4, '{1, 2, 3:2, 300:255, 301:256, 70000:257}'),
	(5, ARRAY(SELECT generate_series(1, 150))::int4multiset), (6, ARRAY(SELECT g * g * 7919 % 1000003 FROM generate_series(1, 300) g)::int4multiset * 3)) v (i, m);
SELECT is(pg_temp.receive(bytes), 'equal', 'bytes that were sent: ' || left(m::text, 20)) FROM honest;
SELECT is(pg_temp.receive(hostile), 'refused', format('hostile bytes: %s of %s', what, left(m::text, 20)))
FROM honest, LATERAL (VALUES ('without the last byte', substr(bytes, 1, length(bytes) - 1)), ('with a byte more', bytes || '\x00'), ('nothing', ''),
	('half', substr(bytes, 1, length(bytes) / 2)), ('another format', set_byte(bytes, 0, 2)), ('all bits', decode(repeat('ff', length(bytes)), 'hex')), ('more runs', set_byte(bytes, 4, (get_byte(bytes, 4) + 1) % 256)),
	('2^31 runs more', set_bit(bytes, 63, 1)), ('a larger total', set_byte(bytes, 8, (get_byte(bytes, 8) + 1) % 256)), ('a negative total', set_bit(bytes, 127, 1))) h (what, hostile);
-- any byte, to any value: refused, or a value in its only form
CREATE TEMP TABLE hostile AS
SELECT left(m::text, 20) AS m, at, value, pg_temp.receive(set_byte(bytes, at, value)) AS outcome
FROM (SELECT m, bytes, floor(random() * length(bytes))::int AS at, floor(random() * 256)::int AS value FROM honest, generate_series(1, 50) g WHERE i > 1 OFFSET 0) s;
SELECT is_empty('SELECT * FROM hostile WHERE outcome NOT IN (''equal'', ''refused'')', 'bytes with one of them changed');
SELECT cmp_ok((SELECT count(*) FROM hostile WHERE outcome = 'refused'), '>', 50::int8, 'most of them are refused');

-- --- Errors

CREATE FUNCTION pg_temp.refuses(query text, code text, message text) RETURNS text LANGUAGE sql AS $$
SELECT matches(pg_temp.outcome(query), '^' || code || ' ' || message, 'error of ' || query);
$$;
SELECT pg_temp.refuses(format('SELECT %L::int4multiset', t), '22P02', 'malformed multiset literal: "')
FROM unnest(ARRAY['', ' ', '{', '}', '1', '{1', '1}', '{1:}', '{:1}', '{:}', '{1::2}', '{1:2:3}', '{,}', '{1,}', '{,1}', '{1,,2}', '{1 2}', '{1:2 3}', '{1}}', '{{1}}', '{1} x', 'x {1}',
	'{1.5}', '{a}', '{1a}', '{1:a}', '{--1}', '{- 1}', '{1:-}', '{-}', '{1:1.0}', '{"1"}', '{NULL}', '{1;2}', '{1=2}', '(1)', '{1e3}', '{1:' || repeat(' ', 1000), '{' || repeat('1,', 5000)]) t;
SELECT pg_temp.refuses(format('SELECT %L::int4multiset', t), '22003', message)
FROM (VALUES ('{2147483648}', 'value "2147483648" is out of range for type integer'), ('{1, -2147483649:2}', 'value "-2147483649" is out of range for type integer'),
	('{99999999999999999999999999}', 'value "9{26}" is out of range for type integer'), ('{1:9223372036854775808}', 'value "9223372036854775808" is out of range for type bigint'),
	('{1:9223372036854775807,2}', 'bigint out of range'), ('{1:9223372036854775807,1}', 'bigint out of range')) v (t, message);
SELECT pg_temp.refuses(query, code, message)
FROM (VALUES ('SELECT ''{1:0}''::int4multiset', '22...', ''), ('SELECT ''{1:-1}''::int4multiset', '22...', ''), ('SELECT ''{1:2, 1:-1}''::int4multiset', '22...', ''),
	('SELECT ''{1,NULL}''::int4[]::int4multiset', '22004', 'array must not contain nulls'), ('SELECT ARRAY[ROW(1, 2), NULL]::hpsort_run[]::int4multiset', '22...', ''),
	('SELECT ARRAY[ROW(NULL, 2)]::hpsort_run[]::int4multiset', '22...', ''), ('SELECT ARRAY[ROW(2, NULL)]::hpsort_run[]::int4multiset', '22...', ''),
	('SELECT ARRAY[ROW(2, 0)]::hpsort_run[]::int4multiset', '22...', ''), ('SELECT ARRAY[ROW(2, -3)]::hpsort_run[]::int4multiset', '22...', ''),
	('SELECT ARRAY[ROW(2, 9223372036854775807), ROW(3, 1)]::hpsort_run[]::int4multiset', '22003', 'bigint out of range'),
	('SELECT ''{1:2}''::int4multiset - ''{1:3}''', '22003', 'multiset has fewer than 3 of key 1$'), ('SELECT ''{1:2}''::int4multiset - ''{-1}''', '22003', 'multiset has fewer than 1 of key -1$'),
	('SELECT ''{}''::int4multiset - ''{2147483647:5}''', '22003', 'multiset has fewer than 5 of key 2147483647$'),
	('SELECT ''{1:2}''::int4multiset * -1', '22...', ''), ('SELECT -5 * ''{1:2}''::int4multiset', '22...', ''), ('SELECT ''{1:2}''::int4multiset * 4611686018427387904', '22003', 'bigint out of range'),
	('SELECT ''{1:4611686018427387904}''::int4multiset + ''{1:4611686018427387904}''', '22003', 'bigint out of range'),
	('SELECT ''{1:4611686018427387904}''::int4multiset + ''{2:4611686018427387904}''', '22003', 'bigint out of range'), ('SELECT ''{1,2}''::int4multiset * 4611686018427387904', '22003', 'bigint out of range'),
	('SELECT sum(''{2147483647:9223372036854775807}''::int4multiset)', '22003', 'bigint out of range'), ('SELECT sum(''{-2:9223372036854775807}''::int4multiset)', '22003', 'bigint out of range'),
	('SELECT int4multiset_agg(1, -1)', '22...', 'weight must not be negative'), ('SELECT int4multiset_agg(1, w) FROM (VALUES (9223372036854775807), (1)) v (w)', '22003', 'bigint out of range'),
	('SELECT int4multiset_sum(m::int4multiset) FROM (VALUES (''{1:9223372036854775807}''), (''{-1}'')) v (m)', '22003', 'bigint out of range'),
	('SELECT most_frequent(''{1}''::int4multiset, -1)', '22...', ''), ('SELECT buckets(''{1}''::int4multiset, 0)', '22...', ''), ('SELECT buckets(''{1}''::int4multiset, -5)', '22...', ''),
	('SELECT buckets(''{-2147483648}''::int4multiset, 3)', '22003', 'integer out of range'), ('SELECT buckets(''{-1}''::int4multiset, 2147483647) UNION ALL SELECT buckets(''{-2147483648, 5}''::int4multiset, 2147483647)', '22003', 'integer out of range'),
	('SELECT ''{1:200000000}''::int4multiset::int4[]', '54000', '')) v (query, code, message);
-- fractions as core
SELECT is(pg_temp.outcome(format('SELECT percentile_%s(%L::int4multiset, %L::%s)', kind, m, f, type)),
	pg_temp.outcome(format('SELECT percentile_%s(%L::%s) WITHIN GROUP (ORDER BY x) FROM unnest(%L::int4multiset::int4[]) x', kind, f, type, m)), format('percentile_%s(%s, %s)', kind, m, f))
FROM unnest('{disc,cont}'::text[]) kind, unnest('{"{}","{5}","{1,2:3}"}'::text[]) m,
	(VALUES ('-0.1', 'float8'), ('1.0000001', 'float8'), ('NaN', 'float8'), ('Infinity', 'float8'), ('-1e-300', 'float8'), ('-0', 'float8'), ('{0.5,2}', 'float8[]'), ('{0.5,-1e-9,7}', 'float8[]'), ('{NaN,0.5}', 'float8[]'), ('{{NULL},{NULL}}', 'float8[]')) v (f, type);
-- an input function that reports its errors
SELECT current_setting('server_version_num')::int >= 160000 AS soft \gset
\if :soft
SELECT is((SELECT (sql_error_code, message LIKE '%' || says || '%')::text FROM pg_input_error_info(t, 'int4multiset')), format('(%s,t)', code), format('soft error of %s', t))
FROM (VALUES ('{1:', '22P02', 'malformed multiset literal: "{1:"'), ('{3000000000}', '22003', 'value "3000000000" is out of range for type integer'),
	('{1:9223372036854775808}', '22003', 'out of range for type bigint'), ('{1:9223372036854775807,2}', '22003', 'bigint out of range')) v (t, code, says);
SELECT ok(NOT pg_input_is_valid('{1:0}', 'int4multiset') AND pg_input_is_valid(' {5:2 , 3 } ', 'int4multiset') AND NOT pg_input_is_valid('{"{1:3}","{1"}', 'int4multiset[]'), 'whether input is valid');
\endif

-- --- Counts above 2^31, by weights

CREATE TEMP TABLE weights AS
SELECT id, CASE WHEN random() > 0.05 THEN (CASE WHEN id % 2 = 0 THEN floor(random() * 1000) - 500 ELSE floor(random() * 4294967296) - 2147483648 END)::int4 END AS key,
	CASE WHEN random() < 0.05 THEN NULL WHEN random() < 0.1 THEN 0 ELSE floor(2 ^ (random() * 40))::int8 END AS weight
FROM generate_series(1, 60) id, generate_series(1, CASE WHEN id < 10 THEN 2 WHEN id < 50 THEN 130 ELSE 1000 END) g;
INSERT INTO weights VALUES (-1, NULL, 5), (-2, 5, NULL), (-3, 7, 0), (-4, -2147483648, 9223372036854775807), (-5, 2147483647, 4294967296), (-5, -2147483648, 4294967296), (-5, 0, 1);
CREATE TEMP TABLE weighted AS SELECT id, int4multiset_agg(key, weight) AS m FROM weights GROUP BY id;
-- of each id the runs and how many keys there are up to them, of all
CREATE TEMP TABLE cumulated AS
SELECT id, key, count, (sum(count) OVER w)::int8 AS upto, (sum(count) OVER (PARTITION BY id))::int8 AS n
FROM (SELECT id, key, sum(weight) AS count FROM weights WHERE key IS NOT NULL AND weight > 0 GROUP BY id, key) s WINDOW w AS (PARTITION BY id ORDER BY key);
CREATE INDEX ON cumulated (id, upto);
ANALYZE cumulated;
SELECT cmp_ok((SELECT max(count) FROM cumulated WHERE id > 0), '>', 2147483648::numeric, 'counts above 2^31');
SELECT pg_temp.same_rows('SELECT id, key, count FROM weighted, runs(m)', 'SELECT id, key, count::int8 FROM cumulated', 'weights');
SELECT is((SELECT string_agg(m::text, ' ') FROM weighted WHERE id BETWEEN -3 AND -1), '{} {} {}', 'rows without a key or a weight');
SELECT is((SELECT int4multiset_agg(x) FROM unnest('{}'::int4[]) x), NULL, 'no rows');
SELECT is((SELECT int4multiset_agg(x, 5) FROM unnest('{}'::int4[]) x), NULL, 'no rows, weighted');
SELECT is((SELECT int4multiset_agg(x) FROM unnest('{NULL}'::int4[]) x), '{}', 'no rows but NULLs');
SELECT pg_temp.same_rows('SELECT id, cardinality(m), distinct_count(m), min(m), max(m), mode(m), variance(m)::text FROM weighted WHERE m <> ''{}''',
	'SELECT id, n, count(*), min(key), max(key), (array_agg(key ORDER BY count DESC, key))[1],
		CASE WHEN n > 1 THEN CASE WHEN count(*) = 1 THEN ''0'' ELSE ((n::numeric * sum(count * key::numeric * key) - sum(count * key::numeric) * sum(count * key::numeric)) / (n::numeric * (n::numeric - 1)))::text END END
	FROM cumulated GROUP BY id, n', 'of large counts');
SELECT pg_temp.same_rows('SELECT id, sum(m), avg(m)::text FROM weighted WHERE id > 0 AND id % 2 = 0 AND m <> ''{}''', 'SELECT id, sum(key * count)::int8, (sum(key * count) / sum(count))::text FROM cumulated WHERE id > 0 AND id % 2 = 0 GROUP BY id', 'sums of large counts');
SELECT is_empty('SELECT id FROM weighted WHERE abs(stddev(m) - sqrt(variance(m))) > 1e-6 * variance(m)', 'stddev of large counts');
CREATE TEMP TABLE fractions AS SELECT unnest('{0,1e-12,0.01,0.3333333333333333,0.5,0.9,0.999,0.999999999,1}'::float8[]) AS f UNION ALL SELECT random() FROM generate_series(1, 3);
SELECT pg_temp.same_rows('SELECT id, f, percentile_disc(m, f), percentile_cont(m, f) FROM weighted, fractions WHERE id > 0 AND m <> ''{}''',
	'SELECT id, f, (SELECT key FROM cumulated c WHERE c.id = s.id AND upto >= greatest(1, ceil(f * n)) ORDER BY upto LIMIT 1),
		below + (f * (n - 1)::float8 - floor(f * (n - 1)::float8)) * (above - below)
	FROM (SELECT DISTINCT id, n FROM cumulated WHERE id > 0) s, fractions,
		LATERAL (SELECT key::float8 AS below FROM cumulated c WHERE c.id = s.id AND upto >= floor(f * (n - 1)::float8)::int8 + 1 ORDER BY upto LIMIT 1) b,
		LATERAL (SELECT key::float8 AS above FROM cumulated c WHERE c.id = s.id AND upto >= ceil(f * (n - 1)::float8)::int8 + 1 ORDER BY upto LIMIT 1) a', 'percentiles of large counts');
SELECT pg_temp.same_rows('SELECT id, g, nth(m, g), nth(m, n + 1), nth(m, g - count + 1) FROM (SELECT id, n, upto AS g, count::int8 FROM cumulated WHERE id > 0) s JOIN weighted USING (id)',
	'SELECT id, upto, key, NULL::int, key FROM cumulated WHERE id > 0', 'nth of large counts');
SELECT pg_temp.same_rows('SELECT id, k, rank(m, k), cume_dist(m, k), count_of(m, k), count_between(m, k, 100) FROM weighted, unnest(''{-2147483648,-3,0,17,500,2147483647}''::int4[]) k WHERE id > 0 AND m <> ''{}''',
	'SELECT id, k, 1 + coalesce(sum(count) FILTER (WHERE key < k), 0)::int8, (coalesce(sum(count) FILTER (WHERE key <= k), 0) + 1)::float8 / (n + 1)::float8,
		coalesce(sum(count) FILTER (WHERE key = k), 0)::int8, coalesce(sum(count) FILTER (WHERE key BETWEEN k AND 100), 0)::int8
	FROM cumulated, unnest(''{-2147483648,-3,0,17,500,2147483647}''::int4[]) k WHERE id > 0 GROUP BY id, n, k', 'ranks of large counts');

-- --- Algebra

CREATE TEMP TABLE pairs AS
SELECT i, a.m AS a, b.m AS b, c.m AS c, floor(random() * 5)::int8 AS k, floor(random() * 5)::int8 AS l, a.keys AS a_keys, b.keys AS b_keys
FROM generate_series(1, 300) i, LATERAL (SELECT m, keys FROM shapes WHERE n < 2000 AND i > 0 ORDER BY random() LIMIT 1) a,
	LATERAL (SELECT m, keys FROM shapes WHERE n < 2000 AND i > 0 ORDER BY random() LIMIT 1) b, LATERAL (SELECT m FROM shapes WHERE n < 2000 AND i > 0 ORDER BY random() LIMIT 1) c;
-- large ones; ones that share most of their keys
INSERT INTO pairs SELECT 1000 + a.id, a.m, b.m, '{5}', 2, 3, a.keys, b.keys FROM shapes a, shapes b WHERE a.n = 17000 AND b.n > 17000 AND random() < 0.3;
INSERT INTO pairs SELECT 2000 + id, m, restrict(m, int4range(lo, hi)), ARRAY[lo, lo, hi]::int4multiset, 1, 2, keys, ARRAY(SELECT x FROM unnest(keys) x WHERE x < hi ORDER BY x) FROM shapes WHERE n BETWEEN 100 AND 1000 AND lo < hi;
CREATE FUNCTION pg_temp.law(condition text) RETURNS text LANGUAGE sql AS $$
SELECT is_empty(format('SELECT i FROM pairs WHERE (%s) IS NOT TRUE', condition), condition);
$$;
SELECT pg_temp.law(law) FROM unnest(ARRAY['(a + b) - b = a', '(a + b) - a = b', 'a + b = b + a', 'pg_temp.bytes(a + b) = pg_temp.bytes(b + a)', '(a + b) + c = a + (b + c)', 'a - a = ''{}''',
	'(a + b + c) - (b + c) = a', 'a + ''{}'' = a AND ''{}'' + a = a AND a - ''{}'' = a', 'a * 0 = ''{}''', 'a * 2 = a + a', '(a + b) * k = a * k + b * k', 'a * (k + l) = k * a + l * a', '(a * k) * l = a * (k * l)', 'a * k = k * a',
	'(a + b)::int4[] = ARRAY(SELECT x FROM unnest(a_keys || b_keys) x ORDER BY x)', 'a + b = (a_keys || b_keys)::int4multiset', 'cardinality(a + b) = cardinality(a) + cardinality(b)', 'distinct_count(a * (k + 1)) = distinct_count(a)',
	'restrict(a, ''(,5)'') + restrict(a, ''[5,)'') = a', 'restrict(a + b, int4range(-100, 5000)) = restrict(a, int4range(-100, 5000)) + restrict(b, int4range(-100, 5000))',
	'coalesce((SELECT int4multiset_sum(x) FROM unnest(ARRAY[a, b, NULL, c, b]) x), ''{}'') = a + 2 * b + c', 'a + b + b - 2 * b = a', 'a + (SELECT b) = b + a', '(a + b) * 1000000000 - b * 1000000000 = 1000000000 * a']) law;
-- the first key that a difference lacks, found where it is
CREATE FUNCTION pg_temp.lack(m int4multiset, key int4) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM (m - ARRAY[key]::int4multiset) - m;
	RETURN 'no error';
EXCEPTION WHEN numeric_value_out_of_range THEN
	RETURN SQLERRM;
END $$;
SELECT is_empty('SELECT i FROM (SELECT i, a, nth(a, 1 + floor(random() * cardinality(a))::int8) AS key FROM pairs WHERE a <> ''{}'') s
	WHERE pg_temp.lack(a, key) <> format(''multiset has fewer than %s of key %s'', count_of(a, key), key)', 'what a difference lacks');
SELECT is((SELECT int4multiset_sum(m ORDER BY random()) FROM shapes), (SELECT int4multiset_agg(x) FROM shapes, unnest(a) x), 'a sum in any order');
SELECT is((SELECT int4multiset_sum(m ORDER BY id DESC) FROM shapes), (SELECT int4multiset_sum(m) FROM shapes), 'a sum in another order');
SELECT pg_temp.same_rows('SELECT n, spread, int4multiset_sum(m), int4multiset_sum(m) FILTER (WHERE range > 256) FROM shapes GROUP BY GROUPING SETS ((n, spread), (spread), ())',
	'SELECT n, spread, coalesce(int4multiset_agg(x), ''{}''), CASE WHEN bool_or(range > 256) THEN coalesce(int4multiset_agg(x) FILTER (WHERE range > 256), ''{}'') END FROM shapes LEFT JOIN unnest(keys) x ON true GROUP BY GROUPING SETS ((n, spread), (spread), ())', 'sums by group');
SELECT is((SELECT int4multiset_sum(m) FROM (VALUES (NULL::int4multiset), (NULL)) v (m)), NULL, 'a sum of NULLs');
SELECT is((SELECT int4multiset_sum(m) FROM shapes WHERE false), NULL, 'a sum of nothing');
SELECT is((SELECT int4multiset_sum(m) FROM (VALUES (NULL), ('{}'::int4multiset)) v (m)), '{}', 'a sum of NULL and an empty one');
-- whoever has a value keeps it when another one is made of it
CREATE FUNCTION pg_temp.kept(OUT grown int4multiset, OUT before int4multiset, OUT added int4multiset) LANGUAGE plpgsql AS $$
BEGIN
	grown := '{}';
	FOR i IN 1 .. 1000 LOOP
		grown := grown + ARRAY[i % 300]::int4multiset;
		IF i = 500 THEN
			before := grown;
		END IF;
		added := grown - before;
	END LOOP;
	grown := grown + grown;
END $$;
SELECT is((SELECT (grown, before, added)::text FROM pg_temp.kept()), (SELECT (2 * int4multiset_agg(i % 300), int4multiset_agg(i % 300) FILTER (WHERE i <= 500), int4multiset_agg(i % 300) FILTER (WHERE i > 500))::text FROM generate_series(1, 1000) i), 'variables');

-- --- Order, equality and hashes are those of int4[]

SELECT pg_temp.law(format('(a %1$s b) = (a::int4[] %1$s b::int4[]) AND (a %1$s a) = (a::int4[] %1$s a::int4[]) AND (a + b %1$s a) = ((a + b)::int4[] %1$s a::int4[])', op)) FROM unnest('{=,<>,<,<=,>,>=}'::text[]) op;
-- close ones: one key more, less, or another
CREATE TEMP TABLE close AS
SELECT m::int4[] AS keys, m FROM (SELECT ARRAY(SELECT (floor(random() * 3) - 1)::int4 FROM generate_series(1, floor(random() * 5 + g * 0)::int))::int4multiset AS m FROM generate_series(1, 200) g) s
UNION ALL SELECT m::int4[], m FROM (SELECT (SELECT m FROM shapes WHERE spread = 'ascending' AND n = 300 LIMIT 1) + ARRAY[floor(random() * 100)::int]::int4multiset FROM generate_series(1, 10)) s (m)
UNION ALL SELECT '{0,0}', '{0,0}';
SELECT is_empty(format('SELECT x.m, y.m FROM close x, close y WHERE (x.m %1$s y.m) <> (x.keys %1$s y.keys)', op), 'close ones ' || op) FROM unnest('{=,<>,<,<=,>,>=}'::text[]) op;
SELECT results_eq('SELECT m::int4[] FROM close ORDER BY m DESC', 'SELECT keys FROM close ORDER BY keys DESC', 'ORDER BY');
SELECT pg_temp.same_rows('SELECT DISTINCT m::int4[] FROM close', 'SELECT DISTINCT keys FROM close', 'DISTINCT');
SET enable_hashagg = off;
SELECT pg_temp.same_rows('SELECT m::int4[], count(*) FROM close GROUP BY m', 'SELECT keys, count(*) FROM close GROUP BY keys', 'GROUP BY, sorted');
RESET enable_hashagg;
SET enable_sort = off;
SELECT pg_temp.same_rows('SELECT m::int4[], count(*) FROM close GROUP BY m', 'SELECT keys, count(*) FROM close GROUP BY keys', 'GROUP BY, hashed');
RESET enable_sort;
SELECT pg_temp.same_rows('SELECT m FROM close EXCEPT SELECT m FROM close WHERE cardinality(m) > 2', 'SELECT DISTINCT m FROM close WHERE cardinality(keys) <= 2', 'EXCEPT');
CREATE TABLE indexed (i int, m int4multiset, keys int4[]);
INSERT INTO indexed SELECT row_number() OVER (), m, keys FROM close WHERE cardinality(keys) < 100;
CREATE INDEX indexed_btree ON indexed (m);
CREATE INDEX indexed_hash ON indexed USING hash (m);
CREATE INDEX indexed_array ON indexed ((ARRAY[m, '{1}']));
ANALYZE indexed;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT matches(pg_temp.plan_of('SELECT i FROM indexed WHERE m > ''{0}'' AND m <= ''{0,0,1}'''), 'indexed_btree', 'a btree index');
SELECT pg_temp.same_rows('SELECT i FROM indexed WHERE m > ''{0}'' AND m <= ''{0,0,1}''', 'SELECT i FROM indexed WHERE keys > ''{0}'' AND keys <= ''{0,0,1}''', 'rows of a btree index');
SELECT pg_temp.same_rows('SELECT i FROM indexed WHERE ARRAY[m, ''{1}''] < ARRAY[''{0,0}''::int4multiset]', 'SELECT i FROM indexed WHERE keys < ''{0,0}''', 'an index of arrays');
DROP INDEX indexed_btree, indexed_array;
SELECT matches(pg_temp.plan_of('SELECT i FROM indexed WHERE m = ''{0:2}'''), 'indexed_hash', 'a hash index');
SELECT pg_temp.same_rows('SELECT i FROM indexed WHERE m = ''{0, 0}''', 'SELECT i FROM indexed WHERE keys = ''{0,0}''', 'rows of a hash index');
RESET enable_seqscan;
RESET enable_bitmapscan;
SET enable_nestloop = off;
SET enable_mergejoin = off;
SELECT matches(pg_temp.plan_of('SELECT a.i, b.i FROM indexed a JOIN indexed b USING (m)'), 'Hash Join', 'hashed');
SELECT pg_temp.same_rows('SELECT a.i, b.i FROM indexed a JOIN indexed b USING (m)', 'SELECT a.i, b.i FROM indexed a JOIN indexed b USING (keys)', 'a hash join');
RESET enable_mergejoin;
SET enable_hashjoin = off;
SELECT matches(pg_temp.plan_of('SELECT a.i, b.i FROM indexed a JOIN indexed b USING (m)'), 'Merge Join', 'merged');
SELECT pg_temp.same_rows('SELECT a.i, b.i FROM indexed a JOIN indexed b USING (m)', 'SELECT a.i, b.i FROM indexed a JOIN indexed b USING (keys)', 'a merge join');
RESET enable_hashjoin;
RESET enable_nestloop;
-- the extended hash
CREATE TABLE parts (m int4multiset) PARTITION BY HASH (m);
CREATE TABLE part0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE part1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parts SELECT m FROM close;
SELECT pg_temp.same_rows('SELECT m FROM parts', 'SELECT m FROM close', 'hash partitions');
SELECT is_empty('SELECT m FROM part0 INTERSECT SELECT m FROM part1', 'equal values in one partition');
SELECT ok((SELECT count(*) FROM part0) > 0 AND (SELECT count(*) FROM part1) > 0, 'both are used');

-- --- Aggregates wherever they can stand

-- What core makes of the rows: the keys in order, without NULLs.
CREATE FUNCTION pg_temp.sorted(a int4[]) RETURNS int4[] LANGUAGE sql IMMUTABLE AS $$
SELECT CASE WHEN a IS NOT NULL THEN ARRAY(SELECT x FROM unnest(a) x WHERE x IS NOT NULL ORDER BY x) END;
$$;
-- The same query with int4multiset_agg and with array_agg for MULTISET(...) [FILTER (...)] [OVER w].
CREATE FUNCTION pg_temp.same(query text, description text) RETURNS text LANGUAGE sql AS $$
SELECT pg_temp.same_rows(regexp_replace(query, 'MULTISET(\([^()]*\)( FILTER \([^()]*\))?( OVER w)?)', '(int4multiset_agg\1)::int4[]', 'g'),
	regexp_replace(query, 'MULTISET(\([^()]*\)( FILTER \([^()]*\))?( OVER w)?)', 'pg_temp.sorted(array_agg\1)', 'g'), description);
$$;
CREATE TABLE data AS
SELECT i, i % 3 AS h, (abs(i % 97) * random())::int AS g,
	CASE WHEN random() > 0.02 THEN (floor(random() * (CASE i % 3 WHEN 0 THEN 10 WHEN 1 THEN 3000 ELSE 4000000000 END)) - 2000000000)::int END AS x
FROM generate_series(1, 20000) i;
INSERT INTO data VALUES (0, 1, 1002, NULL), (0, 2, 1003, NULL), (1, 2, 1003, 5), (0, NULL, NULL, 1), (0, NULL, NULL, NULL);
ANALYZE data;
CREATE FUNCTION pg_temp.check_aggregates(how text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN NEXT pg_temp.same('SELECT MULTISET(x) FROM data', 'all rows' || how);
	RETURN NEXT pg_temp.same('SELECT g, MULTISET(x) FROM data GROUP BY g', 'GROUP BY' || how);
	RETURN NEXT pg_temp.same('SELECT i, MULTISET(x) FROM data GROUP BY i', 'many small groups' || how);
	RETURN NEXT pg_temp.same('SELECT g, MULTISET(x) FILTER (WHERE x > 0), MULTISET(x) FILTER (WHERE false), MULTISET(DISTINCT x) FROM data GROUP BY g', 'FILTER, DISTINCT' || how);
	RETURN NEXT pg_temp.same('SELECT g, h, MULTISET(x) FROM data GROUP BY GROUPING SETS ((g, h), (h), ())', 'GROUPING SETS' || how);
	RETURN NEXT pg_temp.same('SELECT MULTISET(x) FROM data WHERE i < 0', 'no rows' || how);
	RETURN NEXT pg_temp.same_rows('SELECT g, percentile_disc(m, 0.5), n, a, m::hpsort_run[] FROM (SELECT g, int4multiset_agg(x) AS m, cardinality(int4multiset_agg(x)) AS n, hpsort_agg(x) FILTER (WHERE x IS NOT NULL) AS a FROM data WHERE h = 0 GROUP BY g) s',
		'SELECT g, percentile_disc(0.5) WITHIN GROUP (ORDER BY x), count(x), array_agg(x ORDER BY x) FILTER (WHERE x IS NOT NULL), coalesce(hpsort_runs_agg(x) FILTER (WHERE x IS NOT NULL), ''{}'') FROM data WHERE h = 0 GROUP BY g', 'several of one state' || how);
	RETURN NEXT pg_temp.same_rows('SELECT g, int4multiset_agg(x, i) FROM data WHERE g < 20 GROUP BY g',
		'SELECT g, ARRAY(SELECT ROW(x, sum(i))::hpsort_run FROM data d WHERE d.g = o.g AND x IS NOT NULL AND i > 0 GROUP BY x)::int4multiset FROM (SELECT DISTINCT g FROM data WHERE g < 20) o', 'weights by group' || how);
END $$;
SELECT pg_temp.check_aggregates('');
SET enable_hashagg = off;
SELECT pg_temp.check_aggregates(', sorted');
RESET enable_hashagg;
SET enable_sort = off;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT pg_temp.check_aggregates(', hashed and spilled');
RESET hash_mem_multiplier;
RESET work_mem;
RESET enable_sort;
SET hpsort.enable_aggregate = on;
SET hpsort.debug_aggregate = force;
SELECT matches(pg_temp.plan_of('SELECT g, int4multiset_agg(x) FROM data GROUP BY g'), 'HpSort Aggregate', 'by HpSort Aggregate');
SELECT pg_temp.check_aggregates(', by HpSort Aggregate');
RESET hpsort.debug_aggregate;
SELECT is((SELECT hpsort_column_multiset('data', 'x')), (SELECT int4multiset_agg(x) FROM data), 'hpsort_column_multiset');
SELECT is((SELECT hpsort_column_multiset('data', 'i', 0, 30000)), (SELECT int4multiset_agg(i) FROM data), 'within bounds');
SELECT pg_temp.refuses('SELECT hpsort_column_multiset(''data'', ''i'', 0, 19999)', '22003', 'key is out of bounds');
SELECT is((SELECT hpsort_column_multiset(NULL, 'x')), NULL, 'of no table');
CREATE TABLE few (x int);
SELECT is((SELECT hpsort_column_multiset('few', 'x')), NULL, 'of no rows');
INSERT INTO few VALUES (NULL);
SELECT is((SELECT hpsort_column_multiset('few', 'x')), '{}', 'of a NULL');
CREATE VIEW odd AS SELECT x FROM data WHERE i % 2 = 1;
SELECT is((SELECT hpsort_column_multiset('odd', 'x')), (SELECT int4multiset_agg(x) FROM odd), 'of a view');
SET hpsort.enable_aggregate = off;

-- windows: frames that grow and shrink, at both ends
CREATE TABLE days AS SELECT d AS day, CASE WHEN random() > 0.1 THEN coalesce((SELECT int4multiset_agg((random() * 20 + g * 0)::int) FROM generate_series(1, floor(random() * 30 + d * 0)::int) g), '{}') END AS m FROM generate_series(1, 200) d;
CREATE FUNCTION pg_temp.check_window(frame text) RETURNS text LANGUAGE sql AS $$
-- array_agg has no inverse: each frame is added up anew
SELECT pg_temp.same_rows(format('SELECT day, sum::text, percentile_disc(sum, 0.5), n FROM (SELECT day, int4multiset_sum(m) OVER w AS sum, count(m) OVER w AS n FROM days WINDOW w AS (%s)) s', frame),
	format('SELECT day, CASE WHEN n > 0 THEN coalesce(sum, ''{}'') END::text, percentile_disc(sum, 0.5), n
		FROM (SELECT day, (SELECT int4multiset_agg(x) FROM unnest(a) m, unnest(m::int4[]) x) AS sum, n FROM (SELECT day, array_agg(m) OVER w AS a, count(m) OVER w AS n FROM days WINDOW w AS (%s)) f) s', frame), 'OVER (' || frame || ')');
$$;
SELECT pg_temp.check_window(frame) FROM unnest(ARRAY['ORDER BY day', 'ORDER BY day ROWS BETWEEN 27 PRECEDING AND CURRENT ROW', 'ORDER BY day ROWS BETWEEN 5 PRECEDING AND 3 PRECEDING',
	'ORDER BY day ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING', 'ORDER BY day ROWS BETWEEN 3 FOLLOWING AND 10 FOLLOWING', 'ORDER BY day DESC RANGE BETWEEN 7 PRECEDING AND 2 FOLLOWING', 'ORDER BY day / 10 GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING',
	'ORDER BY day ROWS BETWEEN 3 PRECEDING AND 3 FOLLOWING EXCLUDE CURRENT ROW', 'PARTITION BY day % 7 ORDER BY day ROWS 4 PRECEDING', 'ORDER BY day ROWS BETWEEN CURRENT ROW AND CURRENT ROW', 'ORDER BY day / 50 RANGE CURRENT ROW']) frame;
SELECT pg_temp.same('SELECT i, MULTISET(x) OVER w, MULTISET(x) FILTER (WHERE h = 0) OVER w FROM data WHERE i BETWEEN 1 AND 300 WINDOW w AS (ORDER BY i ROWS BETWEEN 20 PRECEDING AND 5 FOLLOWING)', 'int4multiset_agg over a window');

-- parallel workers
CREATE TABLE shared AS SELECT i, i % 10 AS g, ARRAY(SELECT (random() * i)::int FROM generate_series(1, 20))::int4multiset AS m, CASE WHEN i % 7 > 0 THEN (random() * 1000)::int END AS x FROM generate_series(1, 5000) i;
INSERT INTO shared SELECT -i, i % 10, (SELECT m FROM shapes WHERE n = 2500 AND spread = 'uniform' AND range = 70000), i FROM generate_series(1, 30) i;
ALTER TABLE shared SET (parallel_workers = 2);
ANALYZE shared;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
CREATE FUNCTION pg_temp.check_parallel(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	want text;
	got text;
BEGIN
	PERFORM set_config('max_parallel_workers_per_gather', '0', true);
	EXECUTE format('SELECT string_agg(q::text, '';'' ORDER BY q::text) FROM (%s) q', query) INTO want;
	PERFORM set_config('max_parallel_workers_per_gather', '2', true);
	RETURN NEXT matches(pg_temp.plan_of(query), 'Finalize.*Gather.*Partial', 'with workers: ' || query);
	EXECUTE format('SELECT string_agg(q::text, '';'' ORDER BY q::text) FROM (%s) q', query) INTO got;
	RETURN NEXT is(got, want, 'workers: ' || query);
	PERFORM set_config('max_parallel_workers_per_gather', '0', true);
END $$;
SELECT pg_temp.check_parallel(query) FROM unnest(ARRAY['SELECT int4multiset_sum(m) FROM shared', 'SELECT g, int4multiset_sum(m) FROM shared GROUP BY g', 'SELECT int4multiset_agg(x), int4multiset_agg(x, 3) FROM shared',
	'SELECT g, int4multiset_agg(x), int4multiset_agg(i, x) FILTER (WHERE x > 0), count(*) FROM shared GROUP BY g', 'SELECT int4multiset_sum(m), int4multiset_agg(x) FROM shared WHERE -i > 1000000',
	'SELECT int4multiset_sum(m) FILTER (WHERE i < 0), int4multiset_agg(x) FILTER (WHERE x IS NULL) FROM shared']) query;

-- a materialized view, refreshed
CREATE MATERIALIZED VIEW daily AS SELECT g, int4multiset_sum(m) AS m FROM shared WHERE i BETWEEN 1 AND 100 GROUP BY g;
CREATE UNIQUE INDEX ON daily (g);
SELECT pg_temp.same_rows('SELECT g, m FROM daily', 'SELECT g, int4multiset_agg(key) FROM shared, unnest(m::int4[]) key WHERE i BETWEEN 1 AND 100 GROUP BY g', 'a materialized view');
UPDATE shared SET m = m + '{1000000:3}' WHERE i = 5;
DELETE FROM shared WHERE g = 6;
REFRESH MATERIALIZED VIEW CONCURRENTLY daily;
SELECT pg_temp.same_rows('SELECT g, m FROM daily', 'SELECT g, int4multiset_agg(key) FROM shared, unnest(m::int4[]) key WHERE i BETWEEN 1 AND 100 GROUP BY g', 'refreshed concurrently');
SELECT is((SELECT count_of(m, 1000000) FROM daily WHERE g = 5), 3::int8, 'with what was added');

-- --- States on their way between nodes, as Citus sends them

-- Aggregates over the transition functions, whose results are states, and over the combine functions.
SELECT format('CREATE AGGREGATE pg_temp.partial_%s(%s) (SFUNC = %s, STYPE = int4multiset%s)', p.proname, pg_get_function_identity_arguments(p.oid), a.aggtransfn::regproc, ', INITCOND = ' || quote_literal(a.agginitval)),
	format('CREATE AGGREGATE pg_temp.combined_%s_%s(int4multiset) (SFUNC = %s, STYPE = int4multiset%s%s)', p.proname, p.pronargs, a.aggcombinefn::regproc, ', FINALFUNC = ' || nullif(a.aggfinalfn, 0)::regproc, ', INITCOND = ' || quote_literal(a.agginitval))
FROM pg_aggregate a JOIN pg_proc p ON p.oid = a.aggfnoid WHERE p.proname IN ('int4multiset_agg', 'int4multiset_sum') \gexec
SELECT is((SELECT string_agg(format('%s %s %s', a.aggfnoid::regprocedure, a.aggtranstype::regtype, a.aggcombinefn <> 0), '; ' ORDER BY a.aggfnoid::regprocedure::text) FROM pg_aggregate a JOIN pg_proc p ON p.oid = a.aggfnoid WHERE p.proname IN ('int4multiset_agg', 'int4multiset_sum')),
	'int4multiset_agg(integer) int4multiset t; int4multiset_agg(integer,bigint) int4multiset t; int4multiset_sum(int4multiset) int4multiset t', 'what Citus asks of an aggregate that is pushed down');
CREATE FUNCTION pg_temp.check_nodes(call text, combined text, rows text) RETURNS text LANGUAGE sql AS $$
-- a node has no rows of some groups, and its state is NULL then
SELECT pg_temp.same_rows(format('SELECT g, pg_temp.combined_%s(state::int4multiset) FROM (SELECT node, g, (SELECT pg_temp.partial_%s FROM %s r WHERE r.g = s.g AND r.i %% 5 = node)::text AS state FROM generate_series(0, 5) node, (SELECT DISTINCT g FROM %s q WHERE g IS NOT NULL) s) n GROUP BY g', combined, call, rows, rows),
	format('SELECT g, %s FROM %s q WHERE g IS NOT NULL GROUP BY g', call, rows), 'through nodes: ' || call);
$$;
SELECT pg_temp.check_nodes('int4multiset_agg(x)', 'int4multiset_agg_1', '(SELECT i, x, g FROM data WHERE g % 10 = 2)');
SELECT pg_temp.check_nodes('int4multiset_agg(x, i % 4)', 'int4multiset_agg_2', '(SELECT i, x, g FROM data WHERE g % 10 = 3)');
SELECT pg_temp.check_nodes('int4multiset_sum(m)', 'int4multiset_sum_1', '(SELECT i, g, CASE WHEN i % 3 > 0 THEN m END AS m FROM shared WHERE i < 300)');

-- --- What all functions have

SELECT is_empty($$SELECT oid::regprocedure, provolatile, proparallel, proisstrict FROM pg_proc p WHERE 'int4multiset'::regtype = ANY (proargtypes::oid[]) AND prokind = 'f' AND proname !~ '^hpsort_support_' AND pronamespace <> pg_my_temp_schema() AND NOT (provolatile = 'i' AND proparallel = 's' AND proisstrict)$$, 'immutable, strict, and parallel safe');
SELECT is_empty($$SELECT oid::regprocedure FROM pg_proc p WHERE ('int4multiset'::regtype = ANY (proargtypes::oid[]) OR prorettype = 'int4multiset'::regtype) AND obj_description(oid, 'pg_proc') IS NULL AND pronamespace <> pg_my_temp_schema()$$, 'each has a comment');
SELECT is_empty($$SELECT oid::regoperator FROM pg_operator WHERE 'int4multiset'::regtype IN (oprleft, oprright) AND obj_description(oid, 'pg_operator') IS NULL$$, 'and so have operators');
SELECT is((SELECT string_agg(opcmethod::text || ' ' || opcdefault, ', ' ORDER BY amname) FROM (SELECT amname, amname AS opcmethod, opcdefault FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod WHERE opcintype = 'int4multiset'::regtype) s), 'btree true, hash true', 'operator classes');
SELECT ok(amvalidate, format('%s is complete', name)) FROM (SELECT opcname AS name, amvalidate(oid) FROM pg_opclass WHERE opcintype = 'int4multiset'::regtype) s;
SELECT * FROM finish();
ROLLBACK;
