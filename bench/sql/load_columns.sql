-- More of t for the column reader: the same rows, stored otherwise.

-- Fresh: not all-visible, as after a load; count(*) sets the hint bits.
CREATE TABLE fresh AS SELECT * FROM t;
SELECT count(*) FROM fresh;
ANALYZE fresh;

-- A text of varying length before the keys, and NULLs.
CREATE TABLE text_first AS SELECT label, x, y, z FROM t;
CREATE TABLE nulls_first AS SELECT CASE WHEN y % 10 > 0 THEN y END AS y, x, z, label FROM t;
VACUUM (ANALYZE, FREEZE) text_first;
VACUUM (ANALYZE, FREEZE) nulls_first;
SELECT pg_prewarm('fresh'), pg_prewarm('text_first'), pg_prewarm('nulls_first');
