#!/bin/bash
# sql_fuzz.sh: random tables and queries, each query without hpsort, with it
# allowed, and with it forced, under the same random settings and costs
# (make fuzz-sql).
#
#	FUZZ_SECONDS=3600		how long, a minute by default
#	FUZZ_SEED=N				the same tables and queries as that run, or as the round that failed
#	FUZZ_QUERY=N			of the first round only this query
#	FUZZ_QUERIES=N			how many queries each round has, 60 by default
#	PG_CONFIG=...			the PostgreSQL to install hpsort into; the newest found by default
#	SETTINGS="work_mem=..."	more server settings
#
# What the query determines has to be the same: the rows, their order as far as
# ORDER BY gives one, the SQLSTATE of an error.  A lost connection, an internal
# error and a crash in the server's log are failures.  Each failure is printed
# with its seed, settings, query and tables, and left as a script in build/fuzz.
set -euo pipefail
cd "$(dirname "$0")/../.."
source test/lib.sh

use_working_tree
start_server session_preload_libraries=hpsort shared_buffers=128MB max_worker_processes=16 max_parallel_workers=8 \
	synchronize_seqscans=off jit=off max_prepared_transactions=0 ${SETTINGS:-}
echo "PostgreSQL $version in $bindir"
mkdir -p "$work/found"
[ -z "$test_user" ] || chown "$test_user": "$work/found"
rc=0
as_user perl "$work/src/test/fuzz/sql_fuzz.pl" --log "$work/server.log" --output "$work/found" || rc=$?
if compgen -G "$work/found/*.sql" >/dev/null; then
	mkdir -p build/fuzz
	cp "$work"/found/*.sql build/fuzz
	grep -E 'terminated by signal|PANIC:|TRAP:' "$work/server.log" | head -20 || true
fi
exit $rc
