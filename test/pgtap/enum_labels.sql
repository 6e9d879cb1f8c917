-- Labels that are added to an enum while a query runs, by a function that it calls: no error, and PostgreSQL's order.
\set test enum_labels
\ir setup.psql
LOAD 'hpsort';

-- The type is this transaction's own, so that from PostgreSQL 17 on new labels can be used at once.
SELECT current_setting('server_version_num')::int >= 170000 AS usable \gset
\if :usable
CREATE TYPE mood AS ENUM ('a', 'm', 'z');
CREATE TABLE moods AS SELECT i, (ARRAY['a', 'm', 'z'])[1 + i % 3]::mood AS mood FROM generate_series(1, 3000) i;

-- A label in front of another one or behind it; added when the query is running already.
CREATE FUNCTION pg_temp.added(label text, place text) RETURNS mood LANGUAGE plpgsql VOLATILE AS $$
BEGIN
	EXECUTE format('ALTER TYPE mood ADD VALUE IF NOT EXISTS %L %s', label, place);
	RETURN label::mood;
END $$;

-- Many, each in front of the last one.
CREATE FUNCTION pg_temp.added_many(label text, n int, place text) RETURNS mood LANGUAGE plpgsql VOLATILE AS $$
BEGIN
	FOR j IN 1 .. n LOOP
		PERFORM pg_temp.added(label || j, CASE WHEN j = 1 THEN place ELSE format('BEFORE %L', label || j - 1) END);
	END LOOP;
	RETURN (label || n)::mood;
END $$;

SET LOCAL hpsort.debug_aggregate = force;

-- Expressions of rows, sorted by HpSort: the labels come one by one, each in front of the last one.
SET LOCAL hpsort.enable_sort = on;
SET LOCAL hpsort.debug_sort = force;
CREATE TEMP TABLE sorted AS
SELECT row_number() OVER () AS n, mood FROM (
	SELECT CASE WHEN i % 100 = 0 THEN pg_temp.added('x' || i, CASE WHEN i = 100 THEN $$BEFORE 'm'$$ ELSE $$BEFORE 'x$$ || i - 100 || $$'$$ END) ELSE mood END AS mood
	FROM moods WHERE i <= 1500 ORDER BY 1 OFFSET 0) s;
SELECT is((SELECT count(*) FROM pg_enum WHERE enumtypid = 'mood'::regtype), 18::bigint, 'labels were added');
SELECT is_empty('SELECT 1 FROM sorted l JOIN sorted r ON r.n = l.n + 1 WHERE l.mood > r.mood', 'added by ORDER BY, in order');
SELECT is((SELECT count(*) FROM sorted WHERE mood::text LIKE 'x%'), 15::bigint, 'all of them');

-- Rows that few labels are far from: PostgreSQL gives all labels new numbers, and keeps their order.
CREATE TEMP TABLE renumbered AS
SELECT row_number() OVER () AS n, mood FROM (
	SELECT CASE WHEN i = 1500 THEN pg_temp.added_many('y', 60, $$AFTER 'm'$$) ELSE mood END AS mood
	FROM moods WHERE i <= 3000 ORDER BY 1 OFFSET 0) s;
SELECT isnt((SELECT enumsortorder FROM pg_enum WHERE enumtypid = 'mood'::regtype AND enumlabel = 'm'), 2::real, 'labels were renumbered');
SELECT is_empty('SELECT 1 FROM renumbered l JOIN renumbered r ON r.n = l.n + 1 WHERE l.mood > r.mood', 'renumbered during ORDER BY, in order');
SELECT is((SELECT count(*) FROM renumbered WHERE mood::text LIKE 'y%'), 1::bigint, 'one is returned');

-- The argument of rank() is evaluated when the rows' labels are known.  Of no row it can be a peer.
SET LOCAL hpsort.enable_sort = off;
SELECT is((SELECT ARRAY[rank(pg_temp.added('r1', $$BEFORE 'm'$$)) WITHIN GROUP (ORDER BY mood), dense_rank(pg_temp.added('r2', $$BEFORE 'r1'$$)) WITHIN GROUP (ORDER BY mood)] FROM moods),
	ARRAY[1001, 2]::bigint[], 'rank and dense_rank of added labels');
SELECT is((SELECT cume_dist(pg_temp.added('r3', $$BEFORE 'a'$$)) WITHIN GROUP (ORDER BY mood) FROM moods), (1 / 3001.0)::float8, 'cume_dist of one in front of all');
SELECT is((SELECT rank(pg_temp.added('r4', $$AFTER 'z'$$)) WITHIN GROUP (ORDER BY mood) FROM moods), 3001::bigint, 'rank of one behind all');
SELECT is((SELECT rank(pg_temp.added('r5', $$BEFORE 'z'$$)) WITHIN GROUP (ORDER BY mood DESC) FROM moods), 1001::bigint, 'in descending order');
SELECT bag_eq($q$SELECT mood::text, count(*), max(mood)::text, rank(pg_temp.added('r6', $$BEFORE 'm'$$)) WITHIN GROUP (ORDER BY mood) FROM moods GROUP BY mood$q$,
	$q$VALUES ('a', 1000::bigint, 'a', 1001::bigint), ('m', 1000, 'm', 1), ('z', 1000, 'z', 1)$q$, 'by group');
SELECT is((SELECT count(*) FROM pg_enum WHERE enumtypid = 'mood'::regtype AND enumlabel ~ '^r'), 6::bigint, 'these were added');

\else
SELECT skip('new labels cannot be used before they are committed', 1);
\endif
SELECT * FROM finish();
ROLLBACK;
