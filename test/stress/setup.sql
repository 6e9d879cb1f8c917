-- The tables of the stress test of resident columns, and what its clients call.  Each client is pgbench,
-- which picks one of the scripts here for each transaction.
CREATE EXTENSION IF NOT EXISTS hpsort;
CREATE SEQUENCE ids;
CREATE FUNCTION stress_at(i int) RETURNS timestamp LANGUAGE sql AS $$ SELECT timestamp '2026-01-01' + i % 9000 * interval '7 min' $$;
CREATE FUNCTION stress_price(i int) RETURNS numeric LANGUAGE sql AS $$ SELECT i % 5000 / 100.0 $$;
-- sums of them are exact, in any order of the rows
CREATE FUNCTION stress_ratio(i int) RETURNS float8 LANGUAGE sql AS $$ SELECT i % 700 / 8.0 $$;
-- one that mostly grows, one that is changed all over
CREATE TABLE stress_1 (id int, x int, y int, big int8, flag bool, at timestamp, price numeric(9, 2), ratio float8, filler text) WITH (fillfactor = 90);
CREATE TABLE stress_2 (LIKE stress_1);
INSERT INTO stress_1 SELECT nextval('ids'), i % 500, CASE WHEN i % 7 > 0 THEN i END, i % 100000, i % 3 = 0, stress_at(i), stress_price(i), stress_ratio(i), 'filler ' || i % 300 FROM generate_series(1, 120000) i;
INSERT INTO stress_2 SELECT nextval('ids'), i % 500, CASE WHEN i % 7 > 0 THEN i END, i % 100000, i % 3 = 0, stress_at(i), stress_price(i), stress_ratio(i), 'filler ' || i % 300 FROM generate_series(1, 20000) i;
CREATE INDEX ON stress_1 (id);
CREATE INDEX ON stress_2 (id);
SELECT hpsort_keep('stress_1', 'x', 'y', 'big', 'flag', 'at', 'price', 'ratio', 'filler'), hpsort_keep('stress_2');

CREATE FUNCTION stress_query(tab int, which int) RETURNS text LANGUAGE sql AS $$
SELECT format((ARRAY[
	'SELECT x AS k, count(*) AS n FROM stress_%1$s GROUP BY x',
	'SELECT y AS k, count(*) AS n FROM stress_%1$s GROUP BY y',
	'SELECT big AS k, count(*) AS n, sum(x) FROM stress_%1$s GROUP BY big',
	'SELECT flag AS k, count(*) AS n, sum(y), percentile_disc(0.5) WITHIN GROUP (ORDER BY x) FROM stress_%1$s GROUP BY flag',
	'SELECT count(DISTINCT y), percentile_disc(ARRAY[0.1, 0.9]) WITHIN GROUP (ORDER BY big), max(x) FROM stress_%1$s',
	'SELECT DISTINCT x FROM stress_%1$s',
	'SELECT x AS k, count(*) FROM stress_%1$s WHERE y > 1000 GROUP BY x',
	'SELECT count(*), sum(y), count(*) FILTER (WHERE x IN (77, 78) AND NOT flag), count(*) FILTER (WHERE x <> 77) FROM stress_%1$s WHERE big < 50000 AND flag IS NOT FALSE',
	'SELECT flag AS k, count(*) FILTER (WHERE x BETWEEN 70 AND 300 AND y IS NULL), percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM stress_%1$s WHERE x NOT IN (3, 77) GROUP BY flag',
	'SELECT *, ctid FROM stress_%1$s ORDER BY big DESC, id, ctid LIMIT 20',
	'SELECT *, ctid FROM stress_%1$s WHERE x > 100 ORDER BY y, id, ctid LIMIT 5',
	'SELECT DISTINCT ON (x) *, ctid FROM stress_%1$s WHERE y IS NOT NULL ORDER BY x, y, id, ctid',
	'SELECT x AS k FROM stress_%1$s ORDER BY x DESC LIMIT 40',
	'SELECT y AS k FROM stress_%1$s WHERE x < 400 ORDER BY y DESC NULLS LAST LIMIT 10',
	'SELECT x AS k, sum(ratio), avg(price), max(at) FROM stress_%1$s WHERE x < 100 GROUP BY x',
	'SELECT price AS k, count(*), min(ratio) FROM stress_%1$s WHERE at > ''2026-01-09'' AND ratio < 80.5 GROUP BY price',
	'SELECT *, ctid FROM stress_%1$s WHERE price > 3 ORDER BY at DESC, id, ctid LIMIT 7',
	'SELECT filler AS k, count(*), max(x) FROM stress_%1$s WHERE filler LIKE ''%%1%%'' GROUP BY filler'])[which], tab)
$$;

-- The answers of hpsort and of core.  Both are stable: of one statement they see the same snapshot.
CREATE FUNCTION stress_answer(query text) RETURNS text LANGUAGE plpgsql STABLE SET hpsort.debug_aggregate = force SET hpsort.debug_sort = force AS $$
DECLARE
	answer text;
BEGIN
	EXECUTE 'SELECT md5(string_agg(q::text, '' '' ORDER BY q::text)) FROM (' || query || ' OFFSET 0) q' INTO answer;
	RETURN answer;
END $$;
CREATE FUNCTION stress_answer_of_core(query text) RETURNS text LANGUAGE plpgsql STABLE
	SET hpsort.enable_aggregate = off SET hpsort.debug_scan = forbid SET hpsort.debug_aggregate = forbid SET hpsort.debug_sort = forbid SET hpsort.enable_resident = off SET enable_sort = off AS $$
DECLARE
	answer text;
BEGIN
	EXECUTE 'SELECT md5(string_agg(q::text, '' '' ORDER BY q::text)) FROM (' || query || ' OFFSET 0) q' INTO answer;
	RETURN answer;
END $$;

-- Reads by resident columns and by core, and sometimes compares all that is in memory of a table.
CREATE FUNCTION stress_read(tab int, which int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	ours text;
	core text;
	checked record;
BEGIN
	SELECT stress_answer(query), stress_answer_of_core(query) INTO ours, core FROM stress_query(tab, which) query;
	IF ours IS DISTINCT FROM core THEN
		RAISE 'resident columns are wrong: % of stress_%: % instead of %', stress_query(tab, which), tab, ours, core;
	END IF;
	IF random() < 0.3 THEN
		SELECT * INTO checked FROM hpsort_resident_check(('stress_' || tab)::regclass) WHERE differing > 0;
		IF FOUND THEN
			RAISE 'resident columns differ from their table: %', checked;
		END IF;
	END IF;
END $$;

-- Statements that take the table for themselves, or change what is kept.  Two of them at a time may fail.
CREATE FUNCTION stress_alter(tab int, which int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	name text := 'stress_' || tab;
BEGIN
	SET LOCAL lock_timeout = '2s';
	BEGIN
		CASE which
			WHEN 1 THEN EXECUTE format('ALTER TABLE %s ADD added int DEFAULT %s', name, which); EXECUTE format('ALTER TABLE %s DROP added', name);
			WHEN 2 THEN EXECUTE format('CLUSTER %1$s USING %1$s_id_idx', name);
			WHEN 3 THEN EXECUTE format('SELECT hpsort_forget(%1$L), hpsort_keep(%1$L, ''x'', ''y'', ''big'', ''flag'', ''at'', ''price'', ''ratio'', ''filler'')', name);
			WHEN 4 THEN EXECUTE format('DELETE FROM %1$s WHERE id > (SELECT max(id) - 3000 FROM %1$s)', name);
			WHEN 5 THEN EXECUTE format('CREATE TEMP TABLE saved ON COMMIT DROP AS SELECT * FROM %1$s', name); EXECUTE format('TRUNCATE %1$s', name);
				EXECUTE format('INSERT INTO %1$s SELECT * FROM saved', name); EXECUTE 'DROP TABLE saved';
			WHEN 6 THEN EXECUTE format('TRUNCATE %1$s', name); RAISE division_by_zero;
		END CASE;
	EXCEPTION WHEN lock_not_available OR deadlock_detected OR division_by_zero OR object_in_use OR serialization_failure THEN
		NULL;
	END;
END $$;
