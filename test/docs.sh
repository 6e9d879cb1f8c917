#!/bin/bash
# docs.sh: runs the SQL of the documentation and compares the results that it
# shows (make docs-test).
#
#	PG_CONFIG=/path/to/pg_config	this PostgreSQL, not the newest found
#	test/docs.sh PAGE...			these pages, not all that are marked
#
# A page is run if it has the line "<!-- test/docs.sh runs this page -->".
# Each page has a new database, mydb, and one psql session in it, as a superuser;
# the server has a role alice.
#
#	```sql					run; must succeed
#	```text					directly after a ```sql block: the result that psql prints for
#							that block, compared.  A block whose result has a line that
#							begins with ERROR: must fail with that result.
#	<!-- not run: WHY -->	on the line before a ```sql block: the block is not run
#
# Before comparison, what differs from run to run or between versions of
# PostgreSQL is made equal in both results: times in ns, us and ms, "actual time",
# memory and disk in kB, "rows=1.00" (which PostgreSQL 18 prints for "rows=1"), the
# length of rules, the padding of the heading QUERY PLAN, "(3 rows)" below a result,
# blank lines, and spaces at the ends of lines.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

marker='<!-- test/docs.sh runs this page -->'

# split_page PAGE DIR: DIR/N.sql for the Nth block that is run, DIR/N.text for
# the result shown beneath, if there is one, DIR/N.line for its place.
split_page()
{
	awk -v page="$1" -v dir="$2" '
		fence == "" && /^```/ {
			fence = substr($0, 4); opened = NR; file = ""
			if (fence == "sql" && !skip) {
				n++
				file = dir "/" n ".sql"
				printf "%s:%d\n", page, NR > (dir "/" n ".line")
				printf "" > file
			} else if (fence == "text" && last == "sql")
				file = dir "/" n ".text"
			else if (fence == "text") {
				printf "%s:%d: a text block without an SQL block that is run before it\n", page, NR
				failed = 1
			}
			if (fence == "")
				fence = "none"
			next
		}
		fence != "" && /^```$/ {
			last = fence == "sql" && !skip ? "sql" : ""
			fence = ""; skip = 0; close(file)
			next
		}
		fence != "" { if (file != "") print > file; next }
		/^<!-- not run: .* -->$/ { skip = 1; last = ""; next }
		/^[ \t]*$/ { next }
		{ skip = 0; last = "" }
		END {
			if (fence != "") { printf "%s:%d: a block without an end\n", page, opened; failed = 1 }
			exit failed
		}' "$1" >&2
}

normalise()
{
	sed -E -e 's/actual time=[0-9.]+/actual time=T/g' \
		-e 's/[0-9][0-9.,]* (ns|us|ms)\b/T \1/g' \
		-e 's/[0-9]+kB/NkB/g' \
		-e 's/rows=([0-9]+)\.00/rows=\1/g' \
		-e 's/^ *QUERY PLAN *$/QUERY PLAN/' \
		-e 's/-{2,}/--/g' \
		-e '/^\([0-9]+ rows?\)$/d' \
		-e 's/[ \t]+$//' -e '/^$/d' "$1"
}

# The blocks of DIR as one script for psql, each with a line before its output.
session()
{
	local n

	for ((n = 1; n <= $2; n++)); do
		printf '\\echo @block %d@\n' "$n"
		if grep -q '^ERROR:' "$1/$n.text" 2>/dev/null; then
			echo '\set ON_ERROR_STOP off'
			cat "$1/$n.sql"
			echo '\set ON_ERROR_STOP on'
		else
			cat "$1/$n.sql"
		fi
	done
}

# run_page PAGE: 0 if all its blocks run, and their results are those shown.
run_page()
{
	local dir blocks n rc=0 compared=0 failed=0

	dir=$work/page
	rm -rf "$dir"
	mkdir "$dir"
	split_page "$1" "$dir" || return 1
	blocks=$(find "$dir" -name '*.sql' | wc -l)

	as_user "$bindir/psql" -Xq -v ON_ERROR_STOP=1 \
		-c 'DROP DATABASE IF EXISTS mydb' -c 'CREATE DATABASE mydb' \
		-c 'ALTER SYSTEM RESET ALL' -c 'SELECT pg_reload_conf()' >/dev/null 2>&1
	session "$dir" "$blocks" >"$dir/session"
	as_user env PGDATABASE=mydb "$bindir/psql" -Xq -v ON_ERROR_STOP=1 \
		<"$dir/session" >"$dir/out" 2>&1 || rc=$?
	awk -v dir="$dir" '
		/^@block [0-9]+@$/ { n = substr($2, 1, length($2) - 1); next }
		{ print > (dir "/" n ".out") }' "$dir/out"

	if [ "$rc" != 0 ]; then
		n=$(sed -n 's/^@block \([0-9]*\)@$/\1/p' "$dir/out" | tail -1)
		echo "$(cat "$dir/${n:-1}.line"): fails" >&2
		cat "$dir/${n:-1}.out" >&2
		return 1
	fi
	for ((n = 1; n <= blocks; n++)); do
		[ -e "$dir/$n.text" ] || continue
		compared=$((compared + 1))
		touch "$dir/$n.out"
		diff -u --label "$(cat "$dir/$n.line") as shown" --label 'as run' \
			<(normalise "$dir/$n.text") <(normalise "$dir/$n.out") >&2 || failed=1
	done
	if [ "$compared" = 0 ]; then
		echo "$1: marked to be run, but shows no result" >&2
		return 1
	fi
	[ "$failed" = 0 ] || return 1
	echo "ok: $1, $blocks blocks, $compared results"
}

cd "$root"
pages=("$@")
if [ $# = 0 ]; then
	mapfile -t pages < <(grep -lFx "$marker" README.md docs/*.md)
fi
[[ " ${pages[*]} " == *.md* ]] || die "no page is marked: $marker"

use_working_tree
start_server
as_user "$bindir/psql" -Xq -c 'CREATE ROLE alice'

failures=0
for page in "${pages[@]}"; do
	run_page "$page" || failures=$((failures + 1))
done
[ "$failures" = 0 ] || { echo "$failures pages fail" >&2; exit 1; }
