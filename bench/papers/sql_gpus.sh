#!/bin/bash
#
# sql_gpus.sh: bucket_bitonic from SQL on one GPU and on several, of which each gets its part of every sort.
#
#	sql_gpus.sh [--devices "LIST ..."] [--sizes "N ..."] [--rounds N] [--installed] [--out DIR]
#
# LIST: a value of hpsort.gpu_devices ("0 0,1").  Sorts arrays of N keys (4, 16, 64 and 128 million) that are
# uniform over int4, or numbers from 0 to 1: hpsort(), hpsort_order() and hpsort_float4(), where the number of
# keys is known, and hpsort_agg() of 64 million rows at most, where it is not.  The lists take turns, by a
# server that is restarted for each.  The first of N + 1 rounds (3) is compared with what the CPU returns and
# not timed; in the others the second call is.  Writes papers-sql-gpus-DATE.csv to DIR (build/bench): on how
# many GPUs it was, and medians, in ms, of the call and, by hpsort_last(), of filling, sorting and reading.
# --installed: with the hpsort that is installed, instead of this working tree's.

set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

devices="0 0,1"
sizes="4000000 16000000 64000000 128000000"
rounds=3

take_options "devices= sizes= rounds= installed out=" "$@"
case $rounds:$sizes in *[!0-9:\ ]* | :* | *: | 0:*) usage ;; esac

command="bench/papers/sql_gpus.sh --devices \"$devices\" --sizes \"$sizes\" --rounds $rounds"

begin_bench
start_server shared_buffers=1GB max_wal_size=8GB wal_level=minimal max_wal_senders=0 jit=off work_mem=8GB \
	session_preload_libraries=hpsort hpsort.gpu_wait_timeout=10min

run_psql <<'SQL'
CREATE EXTENSION hpsort;
CREATE UNLOGGED TABLE lists (n int8, keys int4[], numbers float4[]);
ALTER TABLE lists ALTER keys SET STORAGE EXTERNAL, ALTER numbers SET STORAGE EXTERNAL;
CREATE UNLOGGED TABLE times (function text, n int8, devices text, gpus int, ms float8, fill_ms float8, sort_ms float8,
	read_ms float8, reason text);

-- hashint4 is uniform over int4; array_agg ends at 2^26 elements.
CREATE FUNCTION make_lists(wanted int8) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	keys int4[] := '{}';
	numbers float4[] := '{}';
BEGIN
	FOR part IN 0 .. (wanted - 1) / 32000000 LOOP
		SELECT keys || array_agg(h), numbers || array_agg(((h + 2147483648::float8) / 4294967296)::float4) INTO keys, numbers
		FROM (SELECT hashint4(generate_series((part * 32000000 + 1)::int, least(wanted, (part + 1) * 32000000)::int)) AS h) s;
	END LOOP;
	INSERT INTO lists VALUES (wanted, keys, numbers);
END
$$;

-- Sorts a list by every function: compared with the CPU's result, or timed into times.
CREATE FUNCTION one_round(wanted int8, devices text, timed bool) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	function text;
	list lists;
	query text;
	start timestamptz;
	took interval;
	sorted int4[];
	expected int4[];
	sorted_numbers float4[];
	expected_numbers float4[];
	last record;
BEGIN
	SELECT * INTO list FROM lists WHERE n = wanted;
	FOREACH function IN ARRAY '{hpsort,hpsort_order,hpsort_float4,hpsort_agg}'::text[] LOOP
		CONTINUE WHEN function = 'hpsort_agg' AND wanted > 64000000;
		PERFORM set_config('hpsort.device', 'gpu', true), set_config('hpsort.algorithm', 'bucket_bitonic', true);
		-- The service that has just started has no memory of the GPU yet; rows find what the functions have left.
		FOR attempt IN 1 .. CASE WHEN timed AND function <> 'hpsort_agg' THEN 2 ELSE 1 END LOOP
			start := clock_timestamp();
			CASE function
				WHEN 'hpsort' THEN sorted := hpsort(list.keys);
				WHEN 'hpsort_order' THEN sorted := hpsort_order(list.keys);
				WHEN 'hpsort_agg' THEN sorted := (SELECT hpsort_agg(x) FROM (SELECT unnest(list.keys) AS x) s);
				ELSE sorted_numbers := hpsort_float4(list.numbers);
			END CASE;
			took := clock_timestamp() - start;
		END LOOP;
		SELECT * INTO last FROM hpsort_last();
		IF last.device <> 'gpu' OR last.algorithm <> 'bucket_bitonic' OR last.n <> wanted THEN
			RAISE '% of % keys: %', function, wanted, last;
		END IF;
		IF timed THEN
			INSERT INTO times VALUES (function, wanted, devices, coalesce(substring(last.reason FROM 'on (\d+) gpus')::int, 1),
				extract(epoch FROM took) * 1000, last.fill_us / 1e3, last.sort_us / 1e3, last.read_us / 1e3, last.reason);
			CONTINUE;
		END IF;
		PERFORM set_config('hpsort.device', 'cpu', true), set_config('hpsort.algorithm', 'auto', true);
		CASE function
			WHEN 'hpsort_float4' THEN expected_numbers := hpsort_float4(list.numbers);
			WHEN 'hpsort_order' THEN expected := hpsort_order(list.keys);
			ELSE expected := hpsort(list.keys);
		END CASE;
		IF function = 'hpsort_float4' AND sorted_numbers <> expected_numbers OR function <> 'hpsort_float4' AND sorted <> expected THEN
			RAISE '% of % keys: wrong result', function, wanted;
		END IF;
	END LOOP;
END
$$;
SQL

# for_sizes COMMAND...: for each size beside the others
for_sizes()
{
	local n pid pids=()

	for n in $sizes; do
		"$@" "$n" >/dev/null &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || die "failed"
	done
}

make_lists()
{
	run_psql -c "SELECT make_lists($1)"
}

# one_round TIMED N: with $list
one_round()
{
	run_psql -c "SELECT one_round($2, '$list', $1)"
}

# What has been measured so far.
write_csv()
{
	{
		echo "# $command"
		machine
		echo "# PostgreSQL $version"
		printf %s "$names"
		run_psql <<'SQL'
COPY (SELECT function, n, devices, gpus, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms)::numeric, 3) AS ms,
		round(percentile_cont(0.5) WITHIN GROUP (ORDER BY fill_ms)::numeric, 3) AS fill_ms,
		round(percentile_cont(0.5) WITHIN GROUP (ORDER BY sort_ms)::numeric, 3) AS sort_ms,
		round(percentile_cont(0.5) WITHIN GROUP (ORDER BY read_ms)::numeric, 3) AS read_ms, min(reason) AS reason
	FROM times GROUP BY function, n, devices, gpus ORDER BY function, n, devices) TO STDOUT CSV HEADER
SQL
	} >"$csv"
}

for_sizes make_lists
echo "lists after $SECONDS s" >&2
csv=$out/papers-sql-gpus-$(date -u +%Y-%m-%d).csv
names=
for ((round = 0; round <= rounds; round++)); do
	for list in $devices; do
		echo "hpsort.gpu_devices = '$list'" | as_user tee -a "$data/postgresql.conf" >/dev/null
		as_user "$bindir/pg_ctl" -D "$data" -l "$work/server.log" -w -s -m fast restart
		if [ "$round" = 0 ]; then
			for_sizes one_round false
			names+=$(run_psql -F ', ' -c "SELECT '# $list', name FROM hpsort_devices() WHERE device = 'gpu'")$'\n'
		else
			for n in $sizes; do
				one_round true "$n" >/dev/null
			done
		fi
	done
	[ "$round" = 0 ] || write_csv
	echo "round $round after $SECONDS s" >&2
done
echo "written to $csv" >&2
