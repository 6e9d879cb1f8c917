-- The tables of sql_bench.sh; :rows is given.  Pseudo-random, the same always.

CREATE EXTENSION hpsort;

-- x in 0..999, y in 0..999999, z anywhere: 575 MB for 10,000,000 rows.
CREATE TABLE t AS
SELECT (hashint8(i) & 2147483647) % 1000 AS x,
	(hashint8(i + 1000000000) & 2147483647) % 1000000 AS y,
	hashint8(i + 2000000000) AS z,
	'row ' || i AS label
FROM generate_series(1, :rows) i;

-- Groups of ten rows, a group's rows far apart.
CREATE TABLE grouped AS
SELECT (i % (:rows / 10))::int4 AS g, (hashint8(i) & 2147483647) % 1000 AS x
FROM generate_series(1, :rows) i;

-- The columns as arrays, not compressed: that would be most of the time.
CREATE TABLE arrays (name text, a int4[]);
ALTER TABLE arrays ALTER a SET STORAGE EXTERNAL;
INSERT INTO arrays SELECT 'x', array_agg(x) FROM t;
INSERT INTO arrays SELECT 'y', array_agg(y) FROM t;
INSERT INTO arrays SELECT 'z', array_agg(z) FROM t;

-- All-visible and hint bits set, as a table that has been there for a while.
VACUUM (ANALYZE, FREEZE) t;
VACUUM (ANALYZE, FREEZE) grouped;
VACUUM (ANALYZE, FREEZE) arrays;

-- In shared buffers, which a scan of so large a table would not fill.
CREATE EXTENSION pg_prewarm;
SELECT pg_prewarm('t'), pg_prewarm('grouped'), pg_prewarm(reltoastrelid::regclass)
FROM pg_class WHERE relname = 'arrays';
