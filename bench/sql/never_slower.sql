-- The tables of never_slower.sh.  psql sets rows.

\ir measure.sql

-- Events of a shop: at is nearly distinct over 712 days and in no order, seen comes in order but for an hour; day, order_id
-- and id come in order; user_id is a hash of 350,000 numbers, of which the small ones occur more often.
CREATE TABLE events AS
SELECT i::int AS id, timestamp '2024-01-01' + h(i, 1) % (712::int8 * 86400000) * interval '1 ms' AS at,
	timestamptz '2024-01-01 00:00+00' + (i * (712::int8 * 86400000) / :rows + h(i, 2) % 3600000) * interval '1 ms' AS seen,
	date '2024-01-01' + (i * 712 / (:rows + 1))::int AS day,
	h(((h(i, 3) % 350000) * (h(i, 4) % 350000)) / 350000, 5) AS user_id,
	(i / 2 - h(i, 6) % 2)::int AS order_id,
	(h(i, 7) % 2)::int AS x2, (h(i, 8) % 100)::int AS x100, (h(i, 9) % 10000)::int AS x10k, (h(i, 10) % 1000000)::int AS x1m,
	(h(i, 8) % 100 / 10)::int AS tens, (h(i, 11) % 500)::int2 AS s, h(i, 12) % 3 = 0 AS flag,
	(h(i, 13) % 1000000 / 4.0)::float8 AS f8, (h(i, 14) % 100000 / 100.0)::numeric(10,2) AS price, h(i, 15) / 1000.0 AS num,
	md5(i::text)::uuid AS u, (ARRAY['new', 'paid', 'packed', 'sent', 'returned'])[1 + least(h(i, 16) % 9, 4)] AS status,
	'city ' || h(i, 17) % 1000 AS city, substr(md5((h(i, 18) % 1000000)::text), 1, 16) AS label,
	CASE WHEN h(i, 19) % 10 > 2 THEN (h(i, 20) % 5000)::int END AS gaps,
	CASE WHEN h(i, 21) % 100 < 97 THEN 7 ELSE (h(i, 22) % 100000)::int END AS skew
FROM generate_series(1, :rows::int8) i;

-- Columns in memory, and three that are not.
CREATE TABLE kept AS SELECT id, at, seen, day, user_id, order_id, x2, x100, x10k, x1m, s, flag, gaps, skew, status FROM events;
SELECT hpsort_keep('kept', 'id', 'day', 'user_id', 'order_id', 'x2', 'x100', 'x10k', 'x1m', 's', 'flag', 'gaps', 'skew');

-- Rows of 520 bytes and 105 columns, texts before most of them; the search phrase is often empty.
SELECT string_agg(format('(h(i, %s) %% %s)::%s AS c%s', 40 + c, (ARRAY[2, 10, 300, 30000])[1 + c % 4], (ARRAY['int2', 'int4'])[1 + c % 2], c), ', ') AS fillers
FROM generate_series(1, 86) c \gset
CREATE TABLE wide AS
SELECT h(i, 1) AS watch_id, (h(i, 2) % 2)::int2 AS java, 'title of page ' || h(i, 3) % 50000 AS title,
	timestamp '2024-07-01' + (i * (31::int8 * 86400) / :rows + h(i, 4) % 3600) * interval '1 s' AS event_time,
	date '2024-07-01' + (i * 31 / (:rows + 1))::int AS event_date, (h(i, 5) % 3000)::int AS counter,
	(h(h(i, 6) % (:rows / 3), 7) % 4294967296 - 2147483648)::int AS client_ip, (h(i, 8) % 230)::int AS region,
	h(h(i, 9) % (:rows / 5), 10) AS user_id, (h(i, 11) % 7)::int2 AS class,
	'http://example.com/' || h(i, 12) % 1000 || '/' || h(i, 13) % 100 || repeat('p', (h(i, 14) % 40)::int) AS url,
	CASE WHEN h(i, 15) % 3 > 0 THEN 'http://ref.example.org/' || h(i, 16) % 5000 ELSE '' END AS referer,
	CASE WHEN h(i, 17) % 8 = 0 THEN 'phrase ' || h(i, 18) % 20000 ELSE '' END AS phrase,
	CASE WHEN h(i, 19) % 40 = 0 THEN (h(i, 20) % 20)::int2 ELSE 0::int2 END AS adv_id, (h(i, 21) % 2000)::int2 AS resolution,
	h(i, 22) % 1000000007 AS hash, (h(i, 23) % 5)::int2 AS phone, 'model ' || h(i, 24) % 200 AS model, :fillers, (h(i, 25) % 100)::int AS last_one
FROM generate_series(1, :rows::int8 / 2) i;

-- Tables of a size that costs nothing, and of a thousandth and a hundredth of the rows.
CREATE TABLE tiny AS SELECT * FROM events LIMIT 100;
CREATE TABLE small AS SELECT * FROM events LIMIT 1000;
CREATE TABLE middle AS SELECT * FROM events LIMIT :rows / 50;

CREATE TABLE parts (LIKE events) PARTITION BY RANGE (at);
SELECT format('CREATE TABLE parts_%s PARTITION OF parts FOR VALUES FROM (%L) TO (%L)', n,
	date '2024-01-01' + n * 60, date '2024-01-01' + (n + 1) * 60) FROM generate_series(0, 11) n \gexec
INSERT INTO parts SELECT * FROM events LIMIT :rows / 2;

-- Dimensions.
CREATE TABLE users AS SELECT DISTINCT user_id, (user_id % 40)::int AS country, 'segment ' || user_id % 7 AS segment FROM events;
ALTER TABLE users ADD PRIMARY KEY (user_id);
CREATE TABLE products AS SELECT p AS x10k, 'category ' || p % 25 AS category, (p % 777 / 4.0)::float8 AS weight FROM generate_series(0, 9999) p;
ALTER TABLE products ADD PRIMARY KEY (x10k);
CREATE TABLE items AS SELECT order_id, (h(id, 30) % 10000)::int AS x10k, (1 + h(id, 31) % 5)::int AS quantity FROM events;

-- Statistics of another time, and rows that no VACUUM has seen.
CREATE TABLE stale (LIKE events);
INSERT INTO stale SELECT * FROM events LIMIT 1000;
UPDATE stale SET x100 = 1, x1m = 1, user_id = 1, status = 'new', city = 'city 1';

VACUUM (ANALYZE, FREEZE);
INSERT INTO stale SELECT * FROM events LIMIT :rows / 2;
CREATE TABLE fresh AS SELECT * FROM events LIMIT :rows / 2;
ANALYZE fresh;
CREATE FUNCTION odd(i int) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN i % 2 = 1; END $$;

-- What is read is kept from the second time on.
SET hpsort.debug_aggregate = force;
SELECT format('SELECT count(*) FROM (SELECT %I, count(*) FROM kept GROUP BY 1 OFFSET 0) q', attname)
FROM pg_attribute, generate_series(1, 3) WHERE attrelid = 'kept'::regclass AND attnum > 0 AND attname NOT IN ('at', 'seen', 'status') \gexec
RESET hpsort.debug_aggregate;
SELECT pg_prewarm(oid) FROM pg_class WHERE relkind IN ('r', 'i') AND relnamespace = 'public'::regnamespace;
