-- What benches of SQL share: a hash for making rows, and measuring with hpsort's nodes and without them by processor time.

-- h: from 0 on, one function for each salt.
CREATE FUNCTION h(i int8, salt int8) RETURNS int8 LANGUAGE sql IMMUTABLE
	RETURN hashint8extended(i, salt) & 9223372036854775807;

-- processor_ns: nanoseconds of processor time of this session, and of all processes of the server that have ended.  A parallel worker has,
-- and the postmaster knows its time, when its leader's query has ended.  The kernel books a process's time when it leaves the processor: hence
-- the sleep.  Other processes must not end meanwhile.
CREATE FUNCTION processor_ns() RETURNS int8 LANGUAGE plpgsql AS $$
DECLARE
	me text[];
	parent text[];
BEGIN
	PERFORM pg_sleep(0.0002);
	me := string_to_array(regexp_replace(pg_read_file('/proc/self/stat'), '^.*\) ', ''), ' ');
	parent := string_to_array(regexp_replace(pg_read_file('/proc/' || me[2] || '/stat'), '^.*\) ', ''), ' ');
	-- Times of /proc/.../stat are hundredths of a second.
	RETURN coalesce(split_part(pg_read_file('/proc/self/schedstat', true), ' ', 1)::int8, (me[12]::int8 + me[13]::int8) * 10000000)
		+ (parent[14]::int8 + parent[15]::int8) * 10000000;
END $$;

CREATE FUNCTION use_hpsort(yes bool) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('hpsort.enable_sort', yes::text, false), set_config('hpsort.enable_aggregate', yes::text, false),
		set_config('hpsort.enable_scan', yes::text, false);
END $$;

-- A statement is a query, or FETCH n OF a query, by a cursor.
CREATE FUNCTION run_statement(statement text, times int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	cursor_of text[] := regexp_match(statement, '^FETCH (\d+) OF (.*)$');
BEGIN
	FOR i IN 1 .. times LOOP
		IF cursor_of IS NULL THEN
			EXECUTE 'COPY (' || statement || ') TO ''/dev/null'' (FORMAT binary)';
		ELSE
			DECLARE
				c refcursor := 'c';
			BEGIN
				EXECUTE 'DECLARE c NO SCROLL CURSOR FOR ' || cursor_of[2];
				EXECUTE 'MOVE FORWARD ' || cursor_of[1] || ' FROM c';
				EXECUTE 'CLOSE c';
			END;
		END IF;
	END LOOP;
END $$;

CREATE FUNCTION plan_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	plan text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || regexp_replace(statement, '^FETCH \d+ OF', 'DECLARE c NO SCROLL CURSOR FOR') LOOP
		plan := plan || line || E'\n';
	END LOOP;
	RETURN plan;
END $$;

-- write_results: what either plan returns, as text in two files.
CREATE FUNCTION write_results(statement text, hpsort_file text, core_file text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	query text := regexp_replace(statement, '^FETCH (\d+) OF (.*)$', 'SELECT * FROM (\2) q LIMIT \1');
BEGIN
	PERFORM use_hpsort(true);
	EXECUTE format('COPY (%s) TO %L', query, hpsort_file);
	PERFORM use_hpsort(false);
	EXECUTE format('COPY (%s) TO %L', query, core_file);
END $$;

-- measure: the least time of several executions in turns, in ms, by the processor and by the clock; each execution is as many as
-- take least_ms.  Fewer rounds are enough where all of them show hpsort well ahead.
CREATE FUNCTION measure(statement text, rounds int, least_ms float8, OUT times_hpsort int, OUT times_core int, OUT hpsort_ms float8, OUT core_ms float8,
	OUT hpsort_clock_ms float8, OUT core_clock_ms float8) LANGUAGE plpgsql AS $$
DECLARE
	from_ns int8;
	from_time timestamptz;
	ms float8;
	clock_ms float8;
	times int;
	worst float8;
	last float8;
BEGIN
	times_hpsort := 1;
	times_core := 1;
	FOR round IN 0 .. rounds LOOP
		FOR with_hpsort IN REVERSE 1 .. 0 LOOP
			PERFORM use_hpsort(with_hpsort = 1);
			times := CASE WHEN with_hpsort = 1 THEN times_hpsort ELSE times_core END;
			from_ns := processor_ns();
			from_time := clock_timestamp();
			PERFORM run_statement(statement, times);
			clock_ms := extract(epoch FROM clock_timestamp() - from_time) * 1000 / times;
			ms := (processor_ns() - from_ns) / 1e6 / times;
			-- Round 0 finds out how often, and is one of the measured where that is once.
			IF round = 0 THEN
				times := least(1000, greatest(1, ceil(least_ms / greatest(ms, 0.01))));
				times_hpsort := CASE WHEN with_hpsort = 1 THEN times ELSE times_hpsort END;
				times_core := CASE WHEN with_hpsort = 0 THEN times ELSE times_core END;
				CONTINUE WHEN times > 1;
			END IF;
			IF with_hpsort = 1 THEN
				hpsort_ms := least(hpsort_ms, ms);
				hpsort_clock_ms := least(hpsort_clock_ms, clock_ms);
				last := ms;
			ELSE
				core_ms := least(core_ms, ms);
				core_clock_ms := least(core_clock_ms, clock_ms);
				worst := least(worst, ms / last);
			END IF;
		END LOOP;
		EXIT WHEN hpsort_ms IS NOT NULL AND core_ms IS NOT NULL AND (worst > 1.5 OR (round >= 2 AND worst > 1.15));
	END LOOP;
END $$;
