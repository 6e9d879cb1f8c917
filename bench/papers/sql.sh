#!/bin/bash
#
# sql.sh: the papers' algorithms from SQL, over more keys than an array holds.
#
#	sql.sh [--bits N] [--device cpu|gpu|both] [--algorithms "NAME ..."] [--keys] [--computed]
#	       [--jobs N] [--beside N] [--installed] [--out DIR]
#
# A table of 2^N rows (2^30) has a column y, with each of 0 to 2^N - 1 once, and x = y / 1024; the view few
# has x % 4.  hpsort_column_runs sorts x by each algorithm (y by one_hp, which wants distinct keys; few by
# comparison_free_onehot, which takes a byte for each key and value), and every run has to be the one that
# the data have.  One_hp's result, and with --keys all others' as well, is returned by hpsort_column, where
# every key has to be the one of its place.  For each device it writes papers-sql-DEVICE-DATE.csv to DIR
# (build/bench): seconds of the whole query, those of filling and sorting by hpsort_last(), and the session's
# peak memory.
#
# --device both: the two at the same time, of the same rows.  --computed: rows are computed by each query, and
# not stored.  Stored ones take 36 bytes of disk each, which the system's cache should hold: 2^30 of them 39 GB,
# beside 4 to 18 GB for a sort.  --jobs: sessions that load them (one a core).  --beside: as many algorithms at
# a time on each device (1), which then share caches and memory.  --installed: with the hpsort that is
# installed, instead of this working tree's.  SETTINGS, of the environment: more settings of the server,
# NAME=VALUE ...

set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

bits=30
device=cpu
algorithms="hp one_hp zero_compressed_published bucket_radix comparison_free comparison_free_onehot bucket_bitonic zero_compressed radix"
keys=
computed=
jobs=$(nproc)
beside=1

take_options "bits= device= algorithms= keys computed jobs= beside= installed out=" "$@"
case $bits:$jobs:$beside in *[!0-9:]* | :* | *:: | *:) usage ;; esac
[ "$bits" -ge 12 ] && [ "$bits" -le 30 ] && [ "$jobs" -ge 1 ] && [ "$beside" -ge 1 ] || usage
case $device in cpu | gpu) devices=$device ;; both) devices="cpu gpu" ;; *) usage ;; esac

command="bench/papers/sql.sh --bits $bits --device $device --algorithms \"$algorithms\"${keys:+ --keys}${computed:+ --computed} --beside $beside"

begin_bench
start_server shared_buffers=1GB max_wal_size=8GB wal_level=minimal max_wal_senders=0 checkpoint_timeout=1h jit=off \
	max_parallel_workers_per_gather=0 session_preload_libraries=hpsort hpsort.gpu_wait_timeout=10min ${SETTINGS:-}

n=$((1 << bits))
mask=$((n - 1))
half=$((bits / 2))

# columns_of NUMBERS: of each number i, another one below 2^bits: an odd factor keeps them apart, and so does
# turning bits of the lower half by those of the upper one.  A subquery computes each step once.
columns_of()
{
	cat <<SQL
SELECT (y >> 10)::int4 AS x, y::int4 FROM (
	SELECT ((m # (m >> $half)) * 374761393) & $mask AS y FROM (
		SELECT (i * 668265263) & $mask AS m FROM ($1 OFFSET 0) i OFFSET 0) a OFFSET 0) b
SQL
}

run_psql -c 'CREATE EXTENSION hpsort'
started=$SECONDS
if [ -n "$computed" ]; then
	run_psql -c "CREATE VIEW big AS $(columns_of "SELECT (high << $half) + generate_series(0::int8, $(((1 << half) - 1))) AS i
		FROM generate_series(0::int8, $(((1 << (bits - half)) - 1))) high")"
else
	run_psql -c 'CREATE UNLOGGED TABLE big (x int4, y int4)'
	# A table for each session.  Frozen rows are read without a look at their transaction.
	pids=()
	for ((part = 0; part < jobs; part++)); do
		run_psql -c "CREATE UNLOGGED TABLE big$part AS
			$(columns_of "SELECT generate_series($((n * part / jobs))::int8, $((n * (part + 1) / jobs - 1))) AS i")" -c "VACUUM (FREEZE) big$part" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || die "no rows"
	done
	for ((part = 0; part < jobs; part++)); do
		run_psql -c "ALTER TABLE big$part INHERIT big"
	done
fi
run_psql -c 'CREATE VIEW few AS SELECT x & 3 AS z FROM big'
echo "2^$bits rows after $((SECONDS - started)) s" >&2

# start_csv: of $device
start_csv()
{
	csv=$out/papers-sql-$device-$(date -u +%Y-%m-%d).csv
	{
		echo "# $command"
		machine
		echo "# PostgreSQL $version"
		# the service starts with the first sort, and names its GPUs then
		[ "$device" = cpu ] || run_psql -c "SET hpsort.device = gpu" -c "DO 'BEGIN PERFORM hpsort(ARRAY[2, 1]); END'" \
			-c "SELECT '# ' || name FROM hpsort_devices() WHERE device = 'gpu'"
		echo "algorithm,device,n,values,returned,seconds,fill_s,sort_s,peak_gb,reason"
	} >"$csv"
}

# one_query ALGORITHM RETURNED VALUES QUERY: QUERY says whether all was right.
one_query()
{
	local algorithm=$1 returned=$2 values=$3 query=$4 before line fill sort peak reason

	before=$(date +%s.%N)
	line=$(run_psql -F , -c "SET work_mem = '64GB'; SET hpsort.algorithm = $algorithm; SET hpsort.device = $device" -c "$query" \
		-c "SELECT device, n, round(fill_us / 1e6, 3), round(sort_us / 1e6, 3),
			round(substring(pg_read_file('/proc/self/status') FROM 'VmHWM:[[:space:]]*([0-9]+)')::numeric / 1e6, 2), replace(reason, ',', ';')
			FROM hpsort_last()" | paste -sd,) || die "$algorithm: failed"
	[[ $line == "t,$device,$n,"* ]] || die "$algorithm: wrong result: $line"
	IFS=, read -r _ _ _ fill sort peak reason <<<"$line"
	printf '%s,%s,%s,%s,%s,%.2f,%s,%s,%s,%s\n' "$algorithm" "$device" "$n" "$values" "$returned" \
		"$(awk "BEGIN { print $(date +%s.%N) - $before }")" "$fill" "$sort" "$peak" "$reason" | tee -a "$csv" >&2
}

# by_runs ALGORITHM TABLE COLUMN VALUES: as many keys of each value
by_runs()
{
	one_query "$1" runs "$4" "SELECT count(*) = $4 AND sum(r.count) = $n AND bool_and(r.key = place - 1 AND r.count = $((n / $4)))
		FROM hpsort_column_runs('$2', '$3') WITH ORDINALITY r(key, count, place)"
}

# by_keys ALGORITHM TABLE COLUMN VALUES: each key beside its place
by_keys()
{
	one_query "$1" keys "$4" "SELECT count(*) = $n AND count(*) FILTER (WHERE key IS DISTINCT FROM place / $((n / $4))) = 0
		FROM (SELECT hpsort_column('$2', '$3') AS key, generate_series(0, $mask) AS place) r"
}

measure()
{
	case $1 in
		one_hp) by_keys "$1" big y "$n" ;;
		comparison_free_onehot)
			by_runs "$1" few z 4
			[ -z "$keys" ] || by_keys "$1" few z 4
			;;
		*)
			by_runs "$1" big x $((n >> 10))
			[ -z "$keys" ] || by_keys "$1" big x $((n >> 10))
			;;
	esac
}

# measure_all: by $device, so many algorithms at a time; false if one has failed
measure_all()
{
	local algorithm running=0 failed=0

	for algorithm in $algorithms; do
		if [ "$running" -ge "$beside" ]; then
			wait -n || failed=1
			running=$((running - 1))
		fi
		(trap - EXIT; measure "$algorithm") &
		running=$((running + 1))
	done
	for ((; running > 0; running--)); do
		wait -n || failed=1
	done
	return $failed
}

status=0
pids=()
for device in $devices; do
	start_csv
	(trap - EXIT; measure_all) &
	pids+=($!)
done
for pid in "${pids[@]}"; do
	wait "$pid" || status=1
done
echo "written to $out" >&2
exit $status
