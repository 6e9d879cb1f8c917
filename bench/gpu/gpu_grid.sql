-- gpu_grid.sql: the grid of bench/gpu/sql_grid.sh; psql variables sizes, ranges,
-- rounds, wants and devices.
--
-- Each case is timed inside one PL/pgSQL function, so that what is measured is
-- the call, its argument and its result, and no client.

CREATE EXTENSION IF NOT EXISTS hpsort;

CREATE OR REPLACE FUNCTION gpu_grid(sizes int8[], ranges int8[], wants text[], devices text[], rounds int)
RETURNS TABLE (want text, n int8, range int8, device text, used text, ms float8, inside_ms float8)
LANGUAGE plpgsql AS $$
DECLARE
	keys int4[];
	start timestamptz;
	times float8[];
	insides float8[];
	count int8;
BEGIN
	FOREACH n IN ARRAY sizes LOOP
		FOREACH range IN ARRAY ranges LOOP
			-- hashint4 is uniform over int4; array_agg ends at 2^26 elements
			keys := '{}';
			FOR part IN 0 .. (n - 1) / 25000000 LOOP
				SELECT keys || array_agg(CASE WHEN range = 4294967296 THEN h ELSE (((h::int8 + 2147483648) * range) >> 32)::int4 END)
					INTO keys
					FROM (SELECT hashint4(generate_series((part * 25000000 + 1)::int, least(n, (part + 1) * 25000000)::int)) AS h) AS s;
			END LOOP;
			FOREACH want IN ARRAY wants LOOP
				FOREACH device IN ARRAY devices LOOP
					PERFORM set_config('hpsort.device', device, false);
					times := '{}';
					insides := '{}';
					FOR round IN 0 .. rounds LOOP
						start := clock_timestamp();
						IF want = 'array' THEN
							count := cardinality(hpsort(keys));
						ELSIF want = 'order' THEN
							count := cardinality(hpsort_order(keys));
						ELSE
							-- how many there are matters little: the first ends it
							SELECT 1 INTO count FROM (SELECT hpsort_runs(keys) LIMIT 1) AS r;
						END IF;
						-- the first round is for nothing
						IF round > 0 OR rounds = 0 THEN
							times := times || extract(epoch FROM clock_timestamp() - start)::float8 * 1000;
							insides := insides || (SELECT (sort_us + read_us) / 1000.0::float8 FROM hpsort_last());
						END IF;
					END LOOP;
					SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY t) INTO ms FROM unnest(times) AS t;
					SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY t) INTO inside_ms FROM unnest(insides) AS t;
					SELECT l.device INTO used FROM hpsort_last() AS l;
					RETURN NEXT;
				END LOOP;
			END LOOP;
		END LOOP;
	END LOOP;
END
$$;
