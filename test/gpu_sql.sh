#!/bin/bash
# gpu_sql.sh: the SQL suite under hpsort.device = gpu, on a real GPU, and the
# faults of the service that only a real GPU shows (make gputest).
#
#	PG_CONFIG=...		the PostgreSQL, hpsort installed into it (WITH_CUDA=yes)
#	SETTINGS=...		more settings of the server, NAME=VALUE ...
#
# The pgTAP scripts must pass, and the regression scripts that do not print the
# device must give the same output as under "cpu", byte for byte, but for the device in EXPLAIN.  The server
# is our own.  The last line is "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/.."
source test/lib.sh

passed=0
failed=0
result()
{
	if [ "$1" = 0 ]; then
		passed=$((passed + 1))
		echo "PASS $2"
	else
		failed=$((failed + 1))
		echo "FAIL $2"
	fi
}

sql()
{
	as_user env PGOPTIONS="-c hpsort.device=$device" "$bindir/psql" -X "$@"
}

find_postgres
[ ${#postgres_list[@]} -gt 0 ] || die "no PostgreSQL found (PG_CONFIG=${PG_CONFIG:-})"
use_postgres "${postgres_list[-1]}"
start_server shared_buffers=256MB max_worker_processes=16 max_parallel_workers=8 hpsort.gpu_wait_timeout=60s ${SETTINGS:-}
copy_tree "$work/tree"
if [ ! -e "$("$pg_config" --sharedir)/extension/pgtap.control" ]; then
	echo "no pgTAP: its scripts are left out"
fi

device=gpu
as_user "$bindir/createdb" gpu
sql -d gpu -q -c 'CREATE EXTENSION hpsort' -c 'SELECT device, name, state FROM hpsort_devices()'
sql -d gpu -qAt -c 'SELECT (hpsort(array_agg(hashint4(i))))[1:3] FROM generate_series(1, 100000) i' -c 'SELECT device, reason FROM hpsort_last()'

# --- pgTAP

for file in ${PGTAP_FILES:-test/pgtap/*.sql}; do
	name=$(basename "$file" .sql)
	[ -e "$("$pg_config" --sharedir)/extension/pgtap.control" ] || continue
	as_user "$bindir/createdb" "tap_$name"
	sql -d "tap_$name" -q -c 'CREATE EXTENSION pgtap' -c 'CREATE EXTENSION hpsort'
	rc=0
	# the comparison-free sort's threads are the CPU's alone
	sed -i "s/^SELECT pg_temp.check_[a-z]*('comparison_free'/SET hpsort.device = cpu; &/; /SET hpsort.device = cpu; /s/\$/ RESET hpsort.device;/" "$work/tree/$file"
	(cd "$work/tree" && sql -d "tap_$name" -qAt -v ON_ERROR_STOP=1 -f "$work/tree/$file") >"$work/$name.tap" 2>&1 || rc=1
	if grep -q '^not ok' "$work/$name.tap" || ! grep -q '^ok' "$work/$name.tap"; then rc=1; fi
	[ $rc = 0 ] || grep -E -A4 '^not ok|ERROR' "$work/$name.tap" | head -40
	result $rc "pgtap $name under gpu ($(grep -c '^ok' "$work/$name.tap") tests)"
done

# --- every algorithm by its name

rc=0
sql -d gpu -f "$work/tree/test/gpu_published.sql" 2>&1 || rc=1
result $rc "published algorithms by name, beside ORDER BY"

# --- a long job of one of them, whose session is cancelled, or ends

# 100,000,000 equal keys but one: a thread writes them all, for half a second
long="SELECT cardinality(hpsort(1 || array_fill(0, ARRAY[100000000])))"
running()
{
	sql -d gpu -qAt -c "SELECT coalesce(sum(jobs_running), 0) FROM hpsort_devices()"
}
for how in pg_cancel_backend pg_terminate_backend; do
	pid=$(sql -d gpu -qAt -c "SELECT pid FROM hpsort_stat_gpu()")
	device=gpu
	as_user env PGAPPNAME=long PGOPTIONS="-c hpsort.device=gpu -c hpsort.algorithm=comparison_free" "$bindir/psql" -X -d gpu -qAt -c "$long" >"$work/long.log" 2>&1 &
	client=$!
	for i in $(seq 300); do
		[ "$(running)" = 0 ] || break
		sleep 0.05
	done
	sleep 0.2
	start=$(date +%s%N)
	sql -d gpu -qAt -c "SELECT $how(pid) FROM pg_stat_activity WHERE application_name = 'long'" >/dev/null
	wait $client || true
	for i in $(seq 100); do
		[ "$(running)" != 0 ] || break
		sleep 0.02
	done
	ms=$((($(date +%s%N) - start) / 1000000))
	rc=1
	if [ "$(running)" = 0 ] && grep -qE 'canceling statement|terminating connection' "$work/long.log" &&
		[ "$(sql -d gpu -qAt -c "SELECT pid FROM hpsort_stat_gpu()")" = "$pid" ]; then rc=0; fi
	result $rc "$how: the long job is over after $ms ms, the service goes on"
	[ $rc = 0 ] || cat "$work/long.log"
done

# --- regression scripts, beside the CPU

for file in test/sql/*.sql; do
	name=$(basename "$file" .sql)
	# these print the device, the plan's reasons, or set the device themselves
	case $name in settings|errors|extension|gpu*) continue ;; esac
	for device in cpu gpu; do
		as_user "$bindir/createdb" "${device}_$name"
		[ "$name" = extension ] || sql -d "${device}_$name" -q -c 'CREATE EXTENSION hpsort'
		# EXPLAIN ANALYZE names the device, which also makes its table wider
		sql -d "${device}_$name" -a -q -f "$work/tree/$file" 2>&1 |
			grep -vE ' on [cg]pu|^ *explain_analyze *$|^-+$' >"$work/$name.$device" || true
	done
	rc=0
	diff "$work/$name.cpu" "$work/$name.gpu" | head -20 || true
	cmp -s "$work/$name.cpu" "$work/$name.gpu" || rc=1
	result $rc "regress $name: gpu as cpu ($(wc -l <"$work/$name.gpu") lines)"
done

# --- the starred faults: the service killed, again and again, under load

device=auto
sql -d gpu -q -c "CREATE TABLE keys AS SELECT array_agg(hashint4(i)) AS k FROM generate_series(1, 1000000) i" \
	-c "CREATE TABLE sorted AS SELECT array_agg(x ORDER BY x) AS k FROM keys, unnest(k) AS x"
cat >"$work/check.sql" <<'SQL'
SELECT 1 / (hpsort(keys.k) = sorted.k)::int FROM keys, sorted;
SQL
chmod 644 "$work/check.sql"
as_user env PGOPTIONS="-c hpsort.device=auto" "$bindir/pgbench" -n -f "$work/check.sql" -c 8 -j 4 -T 15 gpu >"$work/kills.log" 2>&1 &
bench=$!
kills=0
while kill -0 $bench 2>/dev/null; do
	pid=$(sql -d gpu -qAt -c "SELECT pid FROM hpsort_stat_gpu()" 2>/dev/null || true)
	if [ -n "$pid" ] && [ "$pid" -gt 1 ] && [[ "$(cat /proc/$pid/comm 2>/dev/null)" = hpsort-gpud ]]; then
		sleep 0.$((RANDOM % 9))
		kill -9 "$pid" 2>/dev/null && kills=$((kills + 1)) || true
	fi
	sleep 0.2
done
rc=0
wait $bench || rc=1
if grep -q 'division by zero' "$work/kills.log" || grep -qE 'server process.*terminated by signal|PANIC:|TRAP:' "$work/server.log"; then rc=1; fi
[ $rc = 0 ] || tail -5 "$work/kills.log"
result $rc "service killed $kills times under load: $(sed -n 's/^number of transactions actually processed: //p' "$work/kills.log") right answers"
sql -d gpu -qAt -c "SELECT 'jobs ' || jobs || ', fallbacks ' || fallbacks || ', lost ' || lost || ', restarts ' || restarts FROM hpsort_stat_gpu()"

# --- 100 sessions at once

as_user env PGOPTIONS="-c hpsort.device=gpu -c hpsort.gpu_wait_timeout=60s" "$bindir/pgbench" -n -f "$work/check.sql" -c 90 -j 8 -t 3 gpu >"$work/many.log" 2>&1 &&
	rc=0 || rc=1
[ $rc = 0 ] || tail -5 "$work/many.log"
result $rc "90 sessions at once: $(sed -n 's/^number of transactions actually processed: //p' "$work/many.log") right answers"

# --- device memory: a limit that the job exceeds

sql -d gpu -qAt -c "ALTER SYSTEM SET hpsort.gpu_memory_limit = '16MB'" -c "SELECT pg_reload_conf()" >/dev/null
sleep 2
got=$(sql -d gpu -qAt -c "SELECT hpsort(keys.k || keys.k || keys.k || keys.k || keys.k || keys.k || keys.k || keys.k) = hpsort(hpsort(keys.k || keys.k || keys.k || keys.k || keys.k || keys.k || keys.k || keys.k)) FROM keys" 2>&1)
reason=$(sql -d gpu -qAt -c "SET hpsort.device = gpu" -c "SELECT cardinality(hpsort(keys.k || keys.k || keys.k || keys.k || keys.k || keys.k || keys.k || keys.k)) FROM keys" 2>&1 || true)
rc=1
if [ "$got" = t ] && [[ "$reason" = *ERROR*memory* ]]; then rc=0; fi
result $rc "out of device memory: auto answers $got; gpu says: $reason"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
