-- resident_queries.sql: random statements over resident columns, answered by hpsort and by core under one snapshot.
-- Loaded by test/t/027_resident_gpu.pl, on the service's CPU, and by test/gpu_resident.sh, on a GPU.

-- A table, partitioned if parts > 0, whose columns have all types that can be kept, NULLs, and narrow and wide ranges.
CREATE TYPE resident_colour AS ENUM ('red', 'green', 'blue', 'grey');
CREATE FUNCTION resident_rows(first int, last int) RETURNS TABLE (id int, x int, y int, s smallint, b bigint, d date, n int, f boolean,
	c "char", o oid, e resident_colour, u int, w int8, ts timestamp, p numeric, g float8, k int8, t text, l text, v uuid, z numeric, filler text) LANGUAGE sql AS $$
SELECT i, (h % 1000)::int - 500, (h / 7 % 1000000)::int, (h / 11 % 200)::smallint, h / 13 % 70000 - 2147483648, date '2026-01-01' + (h / 17 % 400)::int,
	CASE WHEN h % 3 > 0 THEN (h / 19 % 50)::int END, h % 5 = 0, chr((h / 23 % 100)::int + 20)::"char", (3000000000 + h / 29 % 300)::oid,
	(enum_range(NULL::resident_colour))[h / 31 % 4 + 1], CASE WHEN h % 100 > 0 THEN (h * 7919 % 3200000000 - 1600000000)::int END,
	-- within int4 but for some extents
	CASE WHEN i / 9000 % 2 = 1 THEN h * 1000000007 ELSE h % 3000 END, timestamp '2026-01-01' + h % 5000 * interval '1 min', CASE WHEN h % 999 = 0 THEN 'NaN' ELSE h / 37 % 9000 / 100.0 END,
	CASE WHEN h % 97 = 0 THEN 'NaN' WHEN h % 89 = 0 THEN '-inf' WHEN h % 83 > 0 THEN h / 41 % 800 / 8.0 - 20 END,
	-- beyond int4, and not far from each other
	CASE WHEN h % 50 > 0 THEN 5000000000 + h / 43 % 2000 END,
	-- of these values are in memory: few, NULLs among them; many; few of the last rows alone; in a scale of their own
	CASE WHEN h % 7 > 0 THEN 'text ' || h / 47 % 60 END, md5((h / 53 % 3000)::text), md5((h / 59 % 40 + i / 5000 * 40)::text)::uuid, (h / 61 % 90)::numeric / 8 + 9999999999999999,
	repeat('f', 20)
FROM generate_series(first, last) i, LATERAL (SELECT hashint8(i)::int8 + 2147483648 AS h) q $$;
-- Partitions of such a table, by id up to some rows: as their parent, with its columns in reverse order behind one that is gone, partitioned
-- again, all others, and an empty one.
CREATE FUNCTION resident_parts(rel text, rows int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (0) TO (%s)', rel || '_1', rel, rows * 3 / 10);
	EXECUTE (SELECT format('CREATE TABLE %I (gone int, %s)', rel || '_2', string_agg(format('%I %s', attname, format_type(atttypid, atttypmod)), ', ' ORDER BY attnum DESC))
		FROM pg_attribute WHERE attrelid = rel::regclass AND attnum > 0);
	EXECUTE format('ALTER TABLE %I DROP COLUMN gone', rel || '_2');
	EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', rel, rel || '_2', rows * 3 / 10, rows * 6 / 10);
	EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%s) TO (%s) PARTITION BY HASH (y)', rel || '_3', rel, rows * 6 / 10, rows * 9 / 10);
	FOR i IN 0 .. 1 LOOP
		EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS 2, REMAINDER %s)', rel || '_3' || i, rel || '_3', i);
	END LOOP;
	EXECUTE format('CREATE TABLE %I PARTITION OF %I DEFAULT', rel || '_4', rel);
	EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (-1000) TO (0)', rel || '_5', rel);
END $$;
CREATE FUNCTION resident_make(rel text, rows int, parts int DEFAULT 0) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE %I (id int, x int, y int, s smallint, b bigint, d date, n int, f boolean, c "char", o oid, e resident_colour, u int, w int8, ts timestamp, p numeric(9, 2), g float8, k int8, t text, l text, v uuid, z numeric(24, 3), filler text) %s', rel, CASE WHEN parts > 0 THEN 'PARTITION BY RANGE (id)' ELSE '' END);
	IF parts > 0 THEN
		PERFORM resident_parts(rel, parts);
	END IF;
	EXECUTE format('INSERT INTO %I SELECT * FROM resident_rows(1, %s)', rel, rows);
	PERFORM hpsort_keep(rel::regclass);
END $$;

-- Dimensions of x, k and d: of integers near each other, beyond int4, and dates, of which some are missing.
CREATE TABLE resident_one (one_id int PRIMARY KEY, one_text text, one_big int8, one_day date, one_colour resident_colour, one_number numeric(24, 3), one_small smallint);
INSERT INTO resident_one SELECT i, CASE WHEN i % 9 > 0 THEN 'one ' || i % 70 END, (i % 11)::int8 << 40, CASE WHEN i % 5 > 0 THEN date '2026-01-01' + i % 30 END,
	(enum_range(NULL::resident_colour))[1 + abs(i % 4)], i % 90 / 8.0 + 9999999999999999, i % 20 FROM generate_series(-480, 470) i WHERE i % 17 <> 0;
CREATE TABLE resident_two (two_id int8 PRIMARY KEY, two_text text, two_number int);
INSERT INTO resident_two SELECT 5000000000 + i, 'two ' || i % 13, CASE WHEN i % 3 > 0 THEN i % 1000 * 1000 END FROM generate_series(100, 2100) i;
CREATE TABLE resident_day (day date PRIMARY KEY, holiday bool);
INSERT INTO resident_day SELECT date '2026-01-01' + i, i % 7 = 0 FROM generate_series(0, 380) i;
ANALYZE resident_one; ANALYZE resident_two; ANALYZE resident_day;

-- All columns in memory, after three reads.
CREATE FUNCTION resident_warm(rel text) RETURNS void LANGUAGE plpgsql SET hpsort.debug_aggregate = force SET max_parallel_workers_per_gather = 0 AS $$
DECLARE col text;
BEGIN
	FOREACH col IN ARRAY array['id', 'x', 'y', 's', 'b', 'd', 'n', 'f', 'c', 'o', 'e', 'u', 'w', 'ts', 'p', 'g', 'k', 't', 'l', 'v', 'z'] LOOP
		FOR i IN 1 .. 3 LOOP
			EXECUTE format('SELECT count(*) FROM (SELECT DISTINCT %I FROM %I OFFSET 0) q', col, rel);
		END LOOP;
	END LOOP;
END $$;

CREATE FUNCTION below(n int) RETURNS int LANGUAGE sql VOLATILE AS $$ SELECT floor(random() * n)::int $$;
CREATE FUNCTION pick(VARIADIC list text[]) RETURNS text LANGUAGE sql VOLATILE AS $$ SELECT list[1 + below(cardinality(list))] $$;

-- A value of a column, as a literal.
CREATE FUNCTION resident_literal(col text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE result text;
BEGIN
	EXECUTE format('SELECT quote_nullable(%I::text) || ''::'' || pg_typeof(%I) FROM resident_rows($1, $1)', col, col) INTO result USING CASE WHEN col = 'id' THEN 1 + below(25000) ELSE 1 + below(100000) END;
	RETURN coalesce(result, '0');
END $$;

CREATE FUNCTION resident_condition() RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE col text := pick('id', 'x', 'y', 's', 'b', 'd', 'n', 'o', 'c', 'u', 'id', 'n', 'y', 'n', 'f', 'e', 'w', 'ts', 'p', 'g', 'k', 't', 'l', 't', 'l', 'v', 'z');
	kind int := below(7);
BEGIN
	IF col = 'f' THEN
		RETURN pick('f', 'NOT f', 'f IS NOT TRUE', 'f IS NULL');
	ELSIF col = 'e' THEN
		RETURN format('e %s %s', pick('=', '<>'), resident_literal('e'));
	END IF;
	IF col IN ('t', 'l') AND below(2) = 0 THEN
		RETURN format(pick('%I LIKE %L', '%I NOT LIKE %L', '%I ~ %L OR %1$I IS NULL'), col, pick('%1%', '%a5%', 'text 2%', '%9', '[02468]'));
	END IF;
	IF col IN ('n', 'u', 't') AND below(2) = 0 THEN
		kind := 0;
	END IF;
	CASE kind
		WHEN 0 THEN RETURN format('%I IS %s NULL', col, pick('', 'NOT'));
		WHEN 1 THEN RETURN format('%I BETWEEN least(%2$s, %3$s) AND greatest(%2$s, %3$s)', col, resident_literal(col), resident_literal(col));
		WHEN 2 THEN RETURN format('%I %s (%s)', col, pick('IN', 'NOT IN'), (SELECT string_agg(resident_literal(col), ', ') FROM generate_series(1, 1 + below(40))));
		ELSE RETURN format('%I %s %s', col, pick('<', '<=', '>', '>=', '=', '<>', '<', '>'), resident_literal(col));
	END CASE;
END $$;

CREATE FUNCTION resident_aggregate(v text, grouped boolean) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE fraction text := pick('0', '0.5', '1', '0.25', round(random()::numeric, 3)::text, '0.999');
BEGIN
	CASE below(10)
		WHEN 0 THEN RETURN 'count(*)';
		WHEN 1 THEN RETURN format('count(%I)', v);
		WHEN 2 THEN RETURN CASE WHEN v IN ('f', 'c', 'v') THEN 'count(*)' ELSE format('%s(%I)', pick('min', 'max'), v) END;
		WHEN 3 THEN RETURN CASE WHEN v IN ('x', 'y', 's', 'b', 'n', 'u', 'w', 'p', 'g', 'k', 'z') THEN
			format('percentile_cont(%s) WITHIN GROUP (ORDER BY %I %s)', fraction, v, pick('', 'DESC')) ELSE format('count(%I)', v) END;
		WHEN 4 THEN RETURN format('percentile_disc(array[0, %s, NULL, 0.75, 1]) WITHIN GROUP (ORDER BY %I %s)', fraction, v, pick('', 'DESC'));
		WHEN 5 THEN RETURN CASE WHEN grouped OR below(3) = 0 THEN format('max(%I)', CASE WHEN v IN ('f', 'c', 'v') THEN 'x' ELSE v END) ELSE format('count(DISTINCT %I)', v) END;
		WHEN 6, 7 THEN RETURN CASE WHEN v IN ('x', 'y', 's', 'b', 'n', 'u', 'w', 'p', 'k', 'z') THEN format('%s(%I)', pick('sum', 'avg'), v) ELSE format('count(%I)', v) END;
		ELSE RETURN format('percentile_disc(%s) WITHIN GROUP (ORDER BY %I %s)', fraction, v, pick('', 'DESC'));
	END CASE;
END $$;

CREATE FUNCTION resident_filter() RETURNS text LANGUAGE sql VOLATILE AS $$ SELECT CASE WHEN below(4) = 0 THEN format(' FILTER (WHERE %s)', resident_condition()) ELSE '' END $$;

-- A column, an expression of it, or both, to group by.
CREATE FUNCTION resident_grouping(col text) RETURNS text[] LANGUAGE plpgsql VOLATILE AS $$
DECLARE expression text := CASE
	WHEN col IN ('x', 'y', 's', 'n', 'u', 'w', 'k', 'b', 'one_big', 'one_small', 'two_number') THEN pick('%I / 10', '%I % 7', '-%I', '100 / nullif(%I % 30, 0)', 'coalesce(%I, 7)', '%I::text',
		'CASE WHEN %I > 20 THEN ''many'' WHEN %I IS NULL THEN ''none'' END', '%I IS NULL', 'greatest(%I, 40) - 3', '%I > 30', '10 / (%I - 1000000)')
	WHEN col IN ('d', 'one_day', 'day') THEN pick('date_trunc(''month'', %I)', 'extract(month FROM %I)', 'extract(dow FROM %I)::int', '%I - date ''2026-01-01''', 'to_char(%I, ''YYYY-MM'')', '%I + interval ''1 hour''')
	WHEN col IN ('t', 'l', 'v', 'one_text', 'two_text') THEN pick('lower(%I::text)', 'substr(%I::text, 1, 6)', 'length(%I::text)', '%I::text || ''.''', 'left(%I::text, 2) = ''te''', 'md5(%I::text)')
	WHEN col = 'ts' THEN pick('ts::date', 'extract(hour FROM ts)::int')
	WHEN col IN ('p', 'z', 'one_number', 'g') THEN pick('%I > 7', '%I::text', '%I IS NULL')
	WHEN col = 'o' THEN 'o::int8 % 10' ELSE '%I::text' END;
BEGIN
	expression := replace(expression, '%I', col);
	RETURN CASE below(5) WHEN 0 THEN array[expression] WHEN 1 THEN array[expression, pick(expression, col)] ELSE array[col] END;
END $$;

-- Adds a star join with a dimension to joined: its columns in front of columns, without the fact's key; and perhaps a condition.
CREATE FUNCTION resident_join(INOUT columns text[], INOUT conditions text, INOUT joined text) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	dimension text := pick('one', 'one', 'two', 'day');
	own text[] := CASE dimension WHEN 'one' THEN array['one_text', 'one_big', 'one_day', 'one_colour', 'one_number', 'one_small', 'one_id']
		WHEN 'two' THEN array['two_text', 'two_number', 'two_id'] ELSE array['holiday', 'day'] END;
	key text := CASE dimension WHEN 'one' THEN 'x' WHEN 'two' THEN 'k' ELSE 'd' END;
	equality text := format('%I = %I', CASE dimension WHEN 'day' THEN 'day' ELSE dimension || '_id' END, key);
	condition text := CASE dimension WHEN 'one' THEN pick('one_small < 5', 'one_text LIKE ''%3%''', 'one_big > 0', 'one_day IS NULL', 'one_colour <> ''red''')
		WHEN 'two' THEN pick('two_number > 200000', 'two_text < ''two 2''') ELSE pick('holiday', 'day < ''2026-06-01''') END;
	exist text := pick('', '', '', '', 'EXISTS', 'NOT EXISTS');
BEGIN
	IF NOT key = ANY (columns) THEN
		RETURN;
	END IF;
	columns := array_remove(columns, key);
	IF exist <> '' THEN
		conditions := concat_ws(' AND ', conditions, format('%s (SELECT FROM resident_%s WHERE %s AND %s)', exist, dimension, equality, condition));
		RETURN;
	END IF;
	joined := joined || format(' %s JOIN resident_%s ON %s', pick('', '', 'LEFT'), dimension, equality);
	IF below(3) = 0 THEN
		conditions := concat_ws(' AND ', conditions, condition);
	ELSIF below(3) = 0 THEN
		conditions := concat_ws(' AND ', conditions, format('%I %s %s', key, pick('<', '>', '<>'), resident_literal(key)));
	END IF;
	columns := array(SELECT col FROM unnest(own) col ORDER BY random() LIMIT 1 + below(2)) || columns;
END $$;

CREATE FUNCTION resident_query(rel text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	columns text[] := (SELECT array_agg(col ORDER BY random()) FROM unnest(array['x', 'y', 's', 'b', 'd', 'n', 'f', 'c', 'o', 'e', 'u', 'w', 'ts', 'p', 'g', 'k', 't', 'l', 'v', 'z']) col);
	ngroups int := pick('0', '0', '1', '1', '1', '2', '2', '3')::int;
	grouping text[];
	v text;
	joined text := '';
	-- of several columns, and of rows that pass filters
	several boolean := below(3) = 0;
	conditions text := (SELECT string_agg(resident_condition(), ' AND ') FROM generate_series(1, pick('0', '0', '1', '1', '2', '3')::int));
	stmt text := 'SELECT ';
BEGIN
	IF below(4) = 0 THEN
		FOR i IN 1 .. 1 + below(2) LOOP
			SELECT * INTO columns, conditions, joined FROM resident_join(columns, conditions, joined);
		END LOOP;
	END IF;
	grouping := array(SELECT unnest(resident_grouping(col)) FROM unnest(columns[1:ngroups]) col);
	-- values are the fact's
	columns := columns[1:ngroups] || array(SELECT col FROM unnest(columns[ngroups + 1:]) WITH ORDINALITY u(col, i) WHERE length(col) <= 2 ORDER BY i);
	v := columns[ngroups + 1];
	-- runs of a single column
	IF below(10) = 0 THEN
		v := pick('x', 'y', 's', 'b', 'd', 'n', 'f', 'c', 'o', 'u', 'w', 'ts', 'p', 'g', 'k', 't', 'l', 'v', 'z');
		RETURN format(pick('SELECT %1$I, count(*) FROM %2$I GROUP BY %1$I', 'SELECT DISTINCT %1$I FROM %2$I', 'SELECT count(DISTINCT %1$I) FROM %2$I', 'SELECT mode() WITHIN GROUP (ORDER BY %1$I), count(%1$I) FROM %2$I'), v, rel);
	END IF;
	IF ngroups > 0 THEN
		stmt := stmt || array_to_string(grouping, ', ') || ', ';
	END IF;
	stmt := stmt || CASE WHEN below(12) = 0 THEN 'count(*)' ELSE
		(SELECT string_agg(resident_aggregate(CASE WHEN several AND i > 1 THEN columns[ngroups + 1 + below(2)] ELSE v END, ngroups > 0) || CASE WHEN several THEN resident_filter() ELSE '' END, ', ')
			FROM generate_series(1, 1 + below(4)) i) END;
	stmt := stmt || format(' FROM %I', rel) || joined || coalesce(' WHERE ' || conditions, '');
	IF ngroups > 0 THEN
		stmt := stmt || ' GROUP BY ' || (SELECT string_agg(g::text, ', ') FROM generate_subscripts(grouping, 1) g);
		IF below(4) = 0 THEN
			stmt := stmt || format(' HAVING count(*) > %s', below(20));
		END IF;
		IF below(2) = 0 THEN
			stmt := stmt || ' ORDER BY ' || (SELECT string_agg(g || pick('', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST'), ', ') FROM generate_subscripts(grouping, 1) g);
		END IF;
	END IF;
	RETURN stmt;
END $$;

-- The answer of a statement, under settings NAME=VALUE.
CREATE FUNCTION resident_answer(query text, settings text[]) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE result text; setting text;
BEGIN
	FOREACH setting IN ARRAY settings LOOP
		PERFORM set_config(split_part(setting, '=', 1), split_part(setting, '=', 2), true);
	END LOOP;
	IF query ~ ' ORDER BY [^()]*$' THEN
		EXECUTE format('SELECT md5(string_agg(q::text, '' '')) || count(*) FROM (%s OFFSET 0) q', query) INTO result;
	ELSE
		EXECUTE format('SELECT md5(string_agg(q::text, '' '' ORDER BY q::text)) || count(*) FROM (%s OFFSET 0) q', query) INTO result;
	END IF;
	RETURN result;
END $$;

-- Compares n statements, in a REPEATABLE READ transaction; those that differ are returned, and one row with how many were right.
CREATE FUNCTION resident_compare(rel text, seed int, n int, mine text[]) RETURNS TABLE (result text, query text) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	core text[] := array['hpsort.enable_aggregate=off', 'hpsort.debug_scan=forbid', 'hpsort.debug_aggregate=forbid', 'hpsort.debug_sort=forbid', 'hpsort.enable_resident=off'];
	back text[] := (SELECT array_agg(s || '=' || current_setting(s)) FROM unnest(array['hpsort.enable_aggregate', 'hpsort.debug_aggregate', 'hpsort.debug_sort', 'hpsort.enable_resident']) s);
	queries text[];
	right_ones int := 0;
	a text;
	b text;
BEGIN
	PERFORM setseed((seed % 1000000) / 1000000.0);
	queries := (SELECT array_agg(resident_query(rel)) FROM generate_series(1, n));
	FOREACH query IN ARRAY queries LOOP
		a := resident_answer(query, back || mine);
		b := resident_answer(query, core);
		IF a IS DISTINCT FROM b THEN
			result := 'WRONG ' || coalesce(a, 'NULL') || ' ' || coalesce(b, 'NULL');
			RETURN NEXT;
		ELSE
			right_ones := right_ones + 1;
		END IF;
	END LOOP;
	PERFORM resident_answer('SELECT 1', back);
	result := right_ones || ' right';
	query := NULL;
	RETURN NEXT;
END $$;
