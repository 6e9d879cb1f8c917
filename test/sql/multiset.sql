--
-- int4multiset: runs as a value
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS hpsort;
RESET client_min_messages;

SELECT typlen, typalign, typstorage, typcategory, typarray::regtype FROM pg_type WHERE oid = 'int4multiset'::regtype;

-- text
SELECT '{1:3, 5, 9:2}'::int4multiset, '{}'::int4multiset, E' { \t} '::int4multiset, '{7}'::int4multiset;
SELECT '{9,-3:2,9 : 4 ,+5,-2147483648,2147483647:9223372036854775000}'::int4multiset;
SELECT '{00012:0003, -0}'::int4multiset;
SELECT ARRAY['{1, 2:2}', '{}']::int4multiset[];
CREATE FUNCTION input_error(value text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE message text; detail text;
BEGIN
	-- from 16 on without a subtransaction
	IF current_setting('server_version_num')::int >= 160000 THEN
		EXECUTE 'SELECT message, detail FROM pg_input_error_info($1, ''int4multiset'')' INTO message, detail USING value;
	ELSE
		PERFORM value::int4multiset;
	END IF;
	RETURN concat_ws(E'\n', message, detail);
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
	RETURN concat_ws(E'\n', message, nullif(detail, ''));
END $$;
SELECT value, input_error(value) FROM unnest(ARRAY[
	'', '   ', '1', '{', '{1', '{1:', '{1:}', '{1:2', '{,}', '{1,}', '{,1}', '{1 2}', '{1:2:3}', '{1;2}', '{a}', '{1.5}', '{- 1}', '{--1}', '{1:x}',
	'{1}2', '{1}}', '{{1}}', '{1:0}', '{1:-2}', '{0x10}', '{null}', '{2147483648}', '{-2147483649}', '{99999999999999999999}', '{1:9223372036854775808}',
	'{1:-9223372036854775809}', '{1:9223372036854775807, 2}', '{1:9223372036854775807, 1}', '{1}']) AS value;
SELECT '{1:2,}'::int4multiset;
\set VERBOSITY sqlstate
SELECT '{1:2,}'::int4multiset;
SELECT '{2147483648}'::int4multiset;
SELECT '{1:9223372036854775807, 1}'::int4multiset;
\set VERBOSITY default

-- binary: the bytes of a value, on every machine; what is received is checked
SELECT hpsort_support_multiset_send('{}'), hpsort_support_multiset_send('{1:3, 5, 9:2}');
SELECT hpsort_support_multiset_send('{-2147483648, 2147483647:9223372036854775806}');

SELECT file AS bytes_file, format('cat >/dev/null; rm ''%s''', file) AS remove_file
FROM (SELECT current_setting('data_directory') || '/multiset_bytes' AS file) f \gset
CREATE TABLE received (m int4multiset);
COPY (SELECT '{1:3, 5, 9:2}'::int4multiset UNION ALL SELECT '{}') TO :'bytes_file' (FORMAT binary);
COPY received FROM :'bytes_file' (FORMAT binary);
COPY (SELECT int4multiset_agg(x * x, x) FROM generate_series(1, 40000) x) TO :'bytes_file' (FORMAT binary);
COPY received FROM :'bytes_file' (FORMAT binary);
SELECT left(m::text, 30), cardinality(m) FROM received;
SELECT count(*) FROM received WHERE m = (SELECT int4multiset_agg(x * x, x) FROM generate_series(1, 40000) x);
-- a bytea is sent as its bytes
\set VERBOSITY terse
COPY (SELECT ''::bytea) TO :'bytes_file' (FORMAT binary);
COPY received FROM :'bytes_file' (FORMAT binary);
COPY (SELECT '\x02000000000000000000000000000000'::bytea) TO :'bytes_file' (FORMAT binary);
COPY received FROM :'bytes_file' (FORMAT binary);
COPY (SELECT substr(hpsort_support_multiset_send('{1:3, 5, 9:2}'), 1, 38)) TO :'bytes_file' (FORMAT binary);
COPY received FROM :'bytes_file' (FORMAT binary);
COPY (SELECT set_byte(hpsort_support_multiset_send('{1:3, 5, 9:2}'), 8, 7)) TO :'bytes_file' (FORMAT binary);
COPY received FROM :'bytes_file' (FORMAT binary);
\set VERBOSITY default
COPY (SELECT 1) TO PROGRAM :'remove_file';
DROP TABLE received;

-- equality, order and hashes are by content
SELECT a, b, a = b AS eq, a <> b AS ne, a < b AS lt, a <= b AS le, a > b AS gt, a >= b AS ge,
	sign(hpsort_support_multiset_cmp(a, b)) = sign(btarraycmp(a::int4[], b::int4[])) AS as_arrays,
	hpsort_support_multiset_hash(a) = hpsort_support_multiset_hash(b) AS hash
FROM (VALUES ('{}', '{}'), ('{}', '{1}'), ('{1}', '{1:2}'), ('{1:2}', '{1, 2}'), ('{1:2, 3}', '{1:3}'), ('{1, 3}', '{3, 1}'), ('{-1}', '{0}'), ('{1:5}', '{1:5, 7}')) v (x, y),
	LATERAL (SELECT x::int4multiset AS a, y::int4multiset AS b) m;
SELECT m, count(*) FROM unnest(ARRAY['{2}', '{1:2}', '{}', '{2:1}', '{1,1}', '{1}']::int4multiset[]) m GROUP BY m ORDER BY m;
SELECT array_agg(DISTINCT m ORDER BY m DESC) FROM unnest(ARRAY['{2}', '{1:2}', '{}', '{2:1}', '{1,1}', '{1}']::int4multiset[]) m;
CREATE TABLE keyed (m int4multiset PRIMARY KEY, n int);
CREATE INDEX ON keyed USING hash (m);
INSERT INTO keyed SELECT format('{%s:%s}', x, x % 5 + 1)::int4multiset, x FROM generate_series(1, 100) x;
INSERT INTO keyed VALUES ('{7, 7, 7}', 0);
SELECT n FROM keyed WHERE m = '{7:3}';
SELECT count(*) FROM keyed a JOIN keyed b USING (m);
DROP TABLE keyed;

-- arrays and runs
SELECT '{3,1,3,-2147483648}'::int4[]::int4multiset, '{{2,1},{1,1}}'::int4[]::int4multiset, '{}'::int4[]::int4multiset, '[5:6]={1,2}'::int4[]::int4multiset;
SELECT '{1:3, 2}'::int4multiset::int4[], '{}'::int4multiset::int4[];
SELECT '{1,null}'::int4[]::int4multiset;
SELECT '{1:999999999999}'::int4multiset::int4[];
SELECT '{1:3, 2}'::int4multiset::hpsort_run[], '{}'::int4multiset::hpsort_run[];
SELECT ARRAY[(5,2),(1,1),(5,3)]::hpsort_run[]::int4multiset, '{}'::hpsort_run[]::int4multiset;
SELECT ARRAY[(5,2),null]::hpsort_run[]::int4multiset;
SELECT ARRAY[(5,null)]::hpsort_run[]::int4multiset;
SELECT ARRAY[(null,5)]::hpsort_run[]::int4multiset;
SELECT ARRAY[(5,0)]::hpsort_run[]::int4multiset;
SELECT ARRAY[(5,9223372036854775807),(5,1)]::hpsort_run[]::int4multiset;
-- no cast is implicit
\set VERBOSITY terse
SELECT '{1}'::int4multiset = '{1}'::int4[];
\set VERBOSITY default

-- combining
SELECT '{1, 2:2}'::int4multiset + '{2, 7:5}', '{}'::int4multiset + '{}', '{1, 2:2}'::int4multiset - '{2}', '{1, 2:2}'::int4multiset - '{1, 2:2}';
SELECT '{1, 2:2}'::int4multiset * 3, 2::bigint * '{1, 2:2}'::int4multiset, '{1, 2:2}'::int4multiset * 0;
SELECT '{1, 2:2}'::int4multiset - '{2:3}';
SELECT '{1, 2:2}'::int4multiset - '{0}';
SELECT '{1}'::int4multiset * -1;
SELECT '{1:9223372036854775807}'::int4multiset + '{2}';
SELECT '{1:4611686018427387904}'::int4multiset * 2;
SELECT restrict(m, '[2,5]'), restrict(m, '(2,5)'), restrict(m, '(,5]'), restrict(m, '[5,)'), restrict(m, '(,)'), restrict(m, 'empty'), restrict(m, '[3,5)')
FROM (SELECT '{-1, 2:2, 5:3, 9}'::int4multiset) v (m);

-- questions
SELECT m, cardinality(m), distinct_count(m), min(m), max(m), sum(m), avg(m), variance(m), stddev(m), median(m), mode(m)
FROM (VALUES ('{}'::int4multiset), ('{7}'), ('{7:2}'), ('{1:3, 5, 9:2}'), ('{-2147483648:3, 2147483647:2147483648}')) v (m);
SELECT n, nth('{1:3, 5, 9:2}', n) FROM generate_series(0, 7) n;
SELECT x, rank(m, x), cume_dist(m, x), count_of(m, x), m @> x AS contains, count_between(m, x, 5), count_between(m, 5, x)
FROM (SELECT '{1:3, 5, 9:2}'::int4multiset) v (m), unnest('{0,1,2,5,9,10}'::int4[]) x;
SELECT rank('{}'::int4multiset, 1), cume_dist('{}'::int4multiset, 1), count_of('{}', 1), count_between('{}', 1, 2), nth('{}', 1), '{}'::int4multiset @> 1 AS contains;
SELECT rank(m, 1), cume_dist(m, 2) FROM (SELECT '{1:9223372036854775807}'::int4multiset) v (m);
SELECT rank('{1:9223372036854775807}'::int4multiset, 2);
SELECT p, percentile_disc(m, p), percentile_cont(m, p) FROM (SELECT '{1:3, 5, 9:2}'::int4multiset) v (m), unnest('{0,0.5,0.51,0.6,0.7,1,null}'::float8[]) p;
SELECT percentile_disc(m, '{{0.5,null},{1,0}}'::float8[]), percentile_cont(m, '[3:4]={0.5,0.7}'::float8[]), percentile_disc(m, '{}'::float8[]), percentile_cont(m, NULL::float8[])
FROM (SELECT '{1:3, 5, 9:2}'::int4multiset) v (m);
SELECT percentile_disc('{}'::int4multiset, 0.5), percentile_cont('{}'::int4multiset, 0.5), percentile_disc('{}'::int4multiset, '{2}'::float8[]), median('{}');
SELECT percentile_disc('{}'::int4multiset, 1.5);
SELECT percentile_cont('{1}'::int4multiset, '{0.5,-0.1}'::float8[]);
SELECT percentile_cont('{1}'::int4multiset, 'NaN'::float8);
SELECT sum('{2147483647:9223372036854775807}'::int4multiset);

-- the names are those of core's aggregates, whose arguments may be untyped as before
CREATE TABLE core_names AS SELECT x, x::int8 AS big, x::float8 AS f, x::int2 AS small, x::numeric AS n, x::text AS t, make_interval(secs => x) AS i FROM generate_series(1, 5) x;
SELECT rank('3') WITHIN GROUP (ORDER BY x), rank(NULL) WITHIN GROUP (ORDER BY x), rank('3') WITHIN GROUP (ORDER BY big), rank('3') WITHIN GROUP (ORDER BY f), rank('3') WITHIN GROUP (ORDER BY small),
	rank('3') WITHIN GROUP (ORDER BY n), rank('3') WITHIN GROUP (ORDER BY t), rank('3 s') WITHIN GROUP (ORDER BY i), rank('3', '1') WITHIN GROUP (ORDER BY x, big),
	cume_dist('3') WITHIN GROUP (ORDER BY x), cume_dist(NULL) WITHIN GROUP (ORDER BY f) FROM core_names;
SELECT percentile_disc('0.5') WITHIN GROUP (ORDER BY x), percentile_disc('0.5') WITHIN GROUP (ORDER BY big), percentile_disc('0.5') WITHIN GROUP (ORDER BY f), percentile_disc('0.5') WITHIN GROUP (ORDER BY small),
	percentile_disc('0.5') WITHIN GROUP (ORDER BY n), percentile_cont('0.5') WITHIN GROUP (ORDER BY x), percentile_cont('0.5') WITHIN GROUP (ORDER BY f), percentile_cont('0.5') WITHIN GROUP (ORDER BY n) FROM core_names;
SELECT variance('1'), stddev(NULL), min('b'), max(NULL), mode() WITHIN GROUP (ORDER BY x), min(x), sum(x), avg(x), variance(x), stddev(x), cardinality(array_agg(x)) FROM core_names;
SELECT pg_typeof(variance('1')), pg_typeof(stddev(NULL)), pg_typeof(min('b')), pg_typeof(max(NULL)) FROM core_names;
DROP TABLE core_names;

-- taken apart
SELECT * FROM runs('{-1, 2:2, 5:3, 9}');
SELECT (runs('{5:3, 9}')).*, runs('{}');
SELECT * FROM buckets('{-7:2, -5, -1, 0, 4, 5:3, 9}', 5);
SELECT * FROM buckets('{-2147483648, 2147483647}', 2147483647);
SELECT * FROM buckets('{-2147483648, 2147483647}', 8);
SELECT * FROM buckets('{1}', 0);
SELECT * FROM most_frequent('{-1:2, 2:2, 5:3, 9}', 2);
SELECT * FROM most_frequent('{-1:2, 2:2, 5:3, 9}', 9);
SELECT * FROM most_frequent('{1}', 0);
SELECT * FROM most_frequent('{1}', -1);

-- aggregates
SELECT int4multiset_agg(x), int4multiset_agg(x, 2), int4multiset_agg(x) FILTER (WHERE x > 5), int4multiset_agg(DISTINCT x) FROM unnest('{3,null,1,3}'::int4[]) x;
SELECT int4multiset_agg(x), int4multiset_agg(x, 1) FROM unnest('{null,null}'::int4[]) x;
SELECT int4multiset_agg(x), int4multiset_agg(x, 1) FROM unnest('{}'::int4[]) x;
SELECT int4multiset_agg(x, w) FROM (VALUES (1, 5::bigint), (2, 0), (3, NULL), (NULL, 4), (1, 1), (7, 5000000000)) v (x, w);
SELECT int4multiset_agg(1, -1);
SELECT int4multiset_agg(1, 9223372036854775807) FROM generate_series(1, 2);
SELECT int4multiset_sum(m), int4multiset_sum(m) FILTER (WHERE m IS NULL) FROM (VALUES ('{1, 2}'::int4multiset), (NULL), ('{2:7}'), ('{}')) v (m);
SELECT int4multiset_sum(m) FROM (VALUES ('{1:9223372036854775807}'::int4multiset), ('{2}')) v (m);
SELECT x % 3 AS a, x % 2 AS b, int4multiset_agg(x) FROM generate_series(1, 12) x GROUP BY CUBE (1, 2) ORDER BY 1, 2;

-- HpSort Aggregate
CREATE TABLE grouped AS SELECT i % 7 AS g, CASE WHEN i % 5 > 0 THEN i % 11 - 3 END AS x, (i % 11)::int2 AS small FROM generate_series(1, 1000) i;
INSERT INTO grouped SELECT 9, NULL, NULL FROM generate_series(1, 3);
ANALYZE grouped;
SET hpsort.debug_aggregate = force;
EXPLAIN (COSTS OFF) SELECT int4multiset_agg(x), percentile_disc(int4multiset_agg(small), 0.5) FROM grouped;
SELECT int4multiset_agg(x), percentile_disc(int4multiset_agg(small), 0.5) FROM grouped;
SELECT int4multiset_agg(x), hpsort_runs_agg(x) FROM grouped WHERE x IS NULL;
SELECT int4multiset_agg(x) FROM grouped WHERE x > 100;
EXPLAIN (COSTS OFF) SELECT g, int4multiset_agg(x), int4multiset_agg(x) FILTER (WHERE x > 3), count(*), median(int4multiset_agg(small)) FROM grouped GROUP BY g ORDER BY g;
CREATE TEMP TABLE by_node AS SELECT g, int4multiset_agg(x) AS a, int4multiset_agg(x) FILTER (WHERE x > 3) AS b, count(*), median(int4multiset_agg(small)) AS c FROM grouped GROUP BY g ORDER BY g;
SET hpsort.enable_aggregate = off;
SET hpsort.debug_aggregate = allow;
SELECT * FROM by_node ORDER BY g;
SELECT * FROM by_node EXCEPT SELECT g, int4multiset_agg(x), int4multiset_agg(x) FILTER (WHERE x > 3), count(*), median(int4multiset_agg(small)) FROM grouped GROUP BY g;
RESET hpsort.enable_aggregate;
RESET hpsort.debug_aggregate;
DROP TABLE grouped, by_node;

-- windows: frames that grow, and that move
SELECT i, int4multiset_agg(i) OVER (ORDER BY i), int4multiset_sum(m) OVER (ORDER BY i), int4multiset_sum(m) OVER (ORDER BY i ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS moving
FROM (VALUES (1, '{1, 2}'::int4multiset), (2, '{2:7}'), (3, NULL), (4, '{-1}'), (5, NULL), (6, NULL), (7, NULL), (8, '{4}')) v (i, m);

-- states as other callers keep them: flat, as text, without an aggregate
SELECT hpsort_support_multiset_transfn(NULL, 5), hpsort_support_multiset_transfn('{1:3}', 5), hpsort_support_multiset_transfn('{1:3}', NULL), hpsort_support_multiset_transfn(NULL::int4multiset, NULL::int4);
SELECT hpsort_support_multiset_transfn(hpsort_support_multiset_transfn(hpsort_support_multiset_transfn(NULL, 5), 6, 7), 5);
SELECT hpsort_support_multiset_sum_transfn('{1}', '{1, 2}'), hpsort_support_multiset_finalfn('{1}');
SELECT hpsort_support_multiset_moving_invtransfn(hpsort_support_multiset_moving_transfn(hpsort_support_multiset_transfn('{1}', 1), '{2:3}'), '{1, 2}');
SELECT hpsort_support_multiset_moving_invtransfn('{1}', '{1:2}');
CREATE FUNCTION added(state text, x int4) RETURNS text LANGUAGE sql AS $$SELECT hpsort_support_multiset_transfn(state::int4multiset, x)::text$$;
CREATE AGGREGATE agg_as_text(int4) (SFUNC = added, STYPE = text);
SELECT agg_as_text(x % 3) FROM generate_series(1, 10) x;
DROP AGGREGATE agg_as_text(int4);
DROP FUNCTION added(text, int4);

-- a value that grows in PL/pgSQL
DO $$
DECLARE m int4multiset := '{}';
BEGIN
	FOR i IN 1 .. 1000 LOOP
		m := hpsort_support_multiset_transfn(m, i % 7);
	END LOOP;
	RAISE NOTICE '% of %', m, cardinality(m);
END $$;

-- values of all sizes, stored in a row, and out of line whole, compressed and in slices
CREATE TABLE stored (kind text, n int, m int4multiset);
INSERT INTO stored SELECT 'external', n, coalesce((SELECT int4multiset_agg(x * 7 - n, x % 3 + 1) FROM generate_series(1, n) x), '{}') FROM unnest('{0,1,16,17,127,128,129,1000,20000,300000}'::int4[]) n;
ALTER TABLE stored ALTER m SET STORAGE extended;
INSERT INTO stored SELECT 'extended', n, m + '{}' FROM stored;
SELECT kind, n, cardinality(m) = coalesce((SELECT sum(x % 3 + 1) FROM generate_series(1, n) x), 0) AND distinct_count(m) = n AS counts,
	min(m) IS NOT DISTINCT FROM CASE WHEN n > 0 THEN 7 - n END AND max(m) IS NOT DISTINCT FROM CASE WHEN n > 0 THEN n * 7 - n END AS ends,
	(SELECT bool_and(nth(m, p) = all_keys[p] AND percentile_disc(m, (p - 0.5) / nullif(c, 0)) = all_keys[p] AND rank(m, all_keys[p]) = 1 + (SELECT count(*) FROM unnest(all_keys) k WHERE k < all_keys[p])
		AND m @> all_keys[p] AND NOT m @> (all_keys[p] + 3) AND count_of(m, all_keys[p]) = (SELECT count(*) FROM unnest(all_keys) k WHERE k = all_keys[p])
		AND percentile_cont(m, (p - 1) / greatest(c - 1.0, 1)) BETWEEN all_keys[p] - 0.001 AND all_keys[p] + 0.001)
	 FROM unnest(ARRAY[1, c / 3, c / 2, c]) p WHERE p > 0) AS questions
FROM stored, LATERAL (SELECT m::int4[] AS all_keys, cardinality(m)::int AS c OFFSET 0) a ORDER BY kind, n;
SELECT count(*) FROM stored a JOIN stored b USING (m) WHERE a.kind < b.kind;
SELECT n, kind, m::text::int4multiset = m AND m::int4[]::int4multiset = m AND m::hpsort_run[]::int4multiset = m AS round_trips FROM stored WHERE n <= 20000 AND (m::text::int4multiset = m AND m::int4[]::int4multiset = m AND m::hpsort_run[]::int4multiset = m) IS NOT TRUE;
SELECT restrict(m, '[699000,699050)') FROM stored WHERE n = 300000 AND kind = 'external';
DROP TABLE stored;

-- a column by pages
CREATE TABLE delays (delay int);
SELECT hpsort_column_multiset('delays', 'delay');
INSERT INTO delays VALUES (NULL);
SELECT hpsort_column_multiset('delays', 'delay');
INSERT INTO delays VALUES (3), (-2), (3);
SELECT hpsort_column_multiset('delays', 'delay'), hpsort_column_multiset('delays', 'delay', -5, 5), hpsort_column_multiset('delays', NULL);
SELECT hpsort_column_multiset('delays', 'delay', 0);
SELECT function, n, nulls, lo, hi FROM hpsort_last();
DROP TABLE delays;
DROP FUNCTION input_error(text);
