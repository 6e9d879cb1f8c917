#!/bin/bash
#
# order_cancel.sh: how soon a sort that is cancelled has ended, beside core's own.
#
#	order_cancel.sh [--rows N] [--tries N] [--only PATTERN] [--installed] [--out DIR]
#
# Writes order_cancel.csv to DIR (build/bench).  Every kind of sort is cancelled at
# random times of its run, by statement_timeout.  The time is what its client waits
# after that for the next prompt: files removed and memory given back.
#
# --installed: with the hpsort that is installed, instead of this working tree's.

set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

rows=6000000
tries=100
only=.
take_options "rows= tries= only= installed out=" "$@"

begin_bench
start_server shared_buffers=4GB maintenance_work_mem=512MB max_wal_size=8GB checkpoint_timeout=1h jit=off hpsort.enable_scan=off \
	max_parallel_workers_per_gather=0 session_preload_libraries=hpsort

run_psql()
{
	"$bindir/psql" -qXAt "$@"
}

run_psql -v ON_ERROR_STOP=1 <<SQL
CREATE EXTENSION pg_prewarm;
CREATE TABLE t AS
SELECT i AS id, (hashint8(i) & 2147483647) % 1000 AS few, hashint8(i + 1000000000) AS many,
	hashint8extended(i, 0) AS big, md5(i::text) AS v
FROM generate_series(1, $rows) i;
CREATE TABLE typed AS
SELECT i AS id, md5(i::text)::uuid AS u, hashint8extended(i, 0) / 1000.0 AS n, hashint8extended(i, 1)::float8 / 7 AS f,
	md5(i::text) COLLATE "C" AS t
FROM generate_series(1, $rows) i;
VACUUM (ANALYZE, FREEZE) t;
VACUUM (ANALYZE, FREEZE) typed;
SELECT pg_prewarm('t'), pg_prewarm('typed');
SQL
echo "$version" >"$out/postgres_version"
csv=$out/order_cancel.csv
echo "sort,by,run_ms,tries,p50_ms,p99_ms,max_ms" >"$csv"

# cancels NAME WORK_MEM QUERY
cancels()
{
	local mode full at i

	[[ $1 =~ $only ]] || return 0
	for mode in force forbid; do
		{
			echo "SET work_mem = '$2'; SET hpsort.debug_sort = $mode;"
			echo '\timing on'
			echo "EXPLAIN (ANALYZE, TIMING OFF) $3;"
		} >"$work/full.sql"
		full=$(run_psql -f "$work/full.sql" | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' | tail -1)
		{
			echo "SET work_mem = '$2'; SET hpsort.debug_sort = $mode;"
			for ((i = 0; i < tries; i++)); do
				at=$(awk -v full="$full" -v i="$i" -v n="$tries" -v seed="$RANDOM" \
					'BEGIN { srand(seed); printf "%d", 1 + full * 0.97 * (i + rand()) / n }')
				echo "SET statement_timeout = $at;"
				echo "\\echo at $at"
				echo '\timing on'
				echo "EXPLAIN (ANALYZE, TIMING OFF) $3;"
				echo '\timing off'
			done
		} >"$work/cancel.sql"
		run_psql -f "$work/cancel.sql" >"$work/cancel.out" 2>"$work/cancel.err"
		! grep -v 'canceling statement due to statement timeout' "$work/cancel.err" || die "failed: $3"
		# Those that ended before their time say nothing.
		awk '/^at / { at = $2 } /^Time: / { if ($2 >= at) print $2 - at }' "$work/cancel.out" | sort -g |
			awk -v name="$1" -v mode=$mode -v full="$full" '
				{ v[NR] = $1 }
				END { printf "%s,%s,%.0f,%d,%.1f,%.1f,%.1f\n", name, mode == "force" ? "hpsort" : "core", full, NR,
					v[int((NR + 1) / 2)], v[int(NR * 0.99 + 0.999)], v[NR] }' | tee -a "$csv" >&2
	done
}

cancels "rows; counting" 2GB "SELECT * FROM t ORDER BY few"
cancels "rows; sorting" 2GB "SELECT * FROM t ORDER BY many DESC"
cancels "rows; two keys" 2GB "SELECT * FROM t ORDER BY big DESC, many"
cancels "rows; comparison in groups" 2GB "SELECT * FROM t ORDER BY few, v"
cancels "rows; comparison in one group" 2GB "SELECT id, v FROM t ORDER BY id IS NULL, v"
cancels "rows; comparison in small groups" 2GB "SELECT * FROM t ORDER BY id / 2, v"
cancels "keys" 2GB "SELECT many FROM t ORDER BY many"
cancels "keys from rows" 2GB "SELECT many + 0 AS k FROM t ORDER BY k"
cancels "keys; eight bytes" 2GB "SELECT big FROM t ORDER BY big"
cancels "LIMIT" 2GB "SELECT * FROM t ORDER BY many LIMIT $((rows / 10))"
cancels "rows; uuid" 2GB "SELECT * FROM typed ORDER BY u"
cancels "rows; numeric" 2GB "SELECT * FROM typed ORDER BY n"
cancels "rows; float8" 2GB "SELECT * FROM typed ORDER BY f"
cancels "rows; text" 2GB "SELECT * FROM typed ORDER BY t"
cancels "rows; text, LIMIT" 2GB "SELECT * FROM typed ORDER BY t LIMIT $((rows / 10))"
cancels "first of each group" 2GB "SELECT * FROM (SELECT *, rank() OVER (PARTITION BY few ORDER BY many) AS r FROM t) s WHERE r <= 3"
cancels "first of each group; many groups" 2GB "SELECT DISTINCT ON (many) * FROM t ORDER BY many, big"
cancels "rows; disk; text" 4MB "SELECT * FROM typed ORDER BY t"
cancels "rows; disk" 4MB "SELECT * FROM t ORDER BY many"
cancels "rows; disk; two keys" 4MB "SELECT * FROM t ORDER BY few, many"
cancels "rows; disk; large memory" 256MB "SELECT * FROM t ORDER BY few, many"
cancels "rows; disk; comparison" 4MB "SELECT id, v FROM t ORDER BY few, v"
cancels "rows; disk; comparison of all" 4MB "SELECT id, v FROM t ORDER BY id IS NULL, v"
cancels "keys; disk" 4MB "SELECT many FROM t ORDER BY many"
