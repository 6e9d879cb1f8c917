#!/bin/bash
# docs.sh: runs the commands of the documentation, SQL and shell, and compares the
# results that it shows (make docs-test).
#
#	PG_CONFIG=/path/to/pg_config	this PostgreSQL, not the newest found
#	test/docs.sh PAGE...			these pages, not all that have commands
#
# A page with commands must have the line "<!-- test/docs.sh runs this page -->".
# Each page has a new database, mydb, and one psql session in it, as a superuser;
# the server has a role alice.
#
#	```sql		run; must succeed
#	```text		directly after a ```sql block: the result that psql prints for that block,
#				compared.  A block whose result has a line that begins with ERROR: must
#				fail with that result.
#	```sh		run by bash -eu, the page's first shell blocks before its session, those after
#				an SQL block when it has ended; must succeed
#	```			what is none of these: a message of the server's log, for instance
#
#	<!-- not run: WHY -->		on the line before a ```sql or ```sh block: it is not run
#	<!-- first: SQL -->			run in the session at this place, unseen by the reader
#
# A shell block begins in a tree that has been built, one with "git clone" in an empty
# directory.  Some of what it needs is replaced, so that it changes nothing on this
# machine but hpsort's files in the PostgreSQL tested:
#
#	URL			a repository of the working tree
#	sudo		as root only where that PostgreSQL belongs to root
#	apt-get		only says whether it could install these packages
#
# Before comparison, what differs from run to run or between versions of
# PostgreSQL is made equal in both results: times in ns, us and ms, "actual time",
# memory and disk in kB, "rows=1.00" (which PostgreSQL 18 prints for "rows=1"), the
# length of rules, the padding of the heading QUERY PLAN, "(3 rows)" below a result,
# blank lines, and spaces at the ends of lines.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

marker='<!-- test/docs.sh runs this page -->'

# split_page PAGE DIR: DIR/N.sql or DIR/N.sh for the Nth block that is run, DIR/N.text
# for the result shown beneath, if there is one, DIR/N.line for its place.
split_page()
{
	awk -v page="$1" -v dir="$2" '
		function wrong(what)
		{
			printf "%s:%d: %s\n", page, NR, what
			failed = 1
		}
		function block(suffix)
		{
			n++
			printf "%s:%d\n", page, NR > (dir "/" n ".line")
			close(dir "/" n ".line")
			return dir "/" n "." suffix
		}
		# A block may be part of a list, and is indented then.
		!inside && match($0, /^ *```/) {
			indent = RLENGTH - 3
			fence = substr($0, RLENGTH + 1); opened = NR; inside = 1; file = ""
			if (fence ~ /^(sql|sh)$/ && !skip) {
				file = block(fence)
				printf "" > file
			} else if (fence == "text" && last == "sql")
				file = dir "/" n ".text"
			else if (fence == "text")
				wrong("a text block without an SQL block that is run before it")
			else if (fence !~ /^(sql|sh|)$/)
				wrong("a block of an unknown kind, " fence)
			next
		}
		inside && /^ *```$/ {
			last = fence == "sql" && !skip ? "sql" : ""
			inside = skip = 0
			if (file != "")
				close(file)
			next
		}
		inside { if (file != "") print substr($0, indent + 1) > file; next }
		/^ *<!-- not run: .* -->$/ { skip = 1; last = ""; next }
		/^ *<!-- first: .* -->$/ {
			file = block("sql")
			sub(/^ *<!-- first: /, ""); sub(/ -->$/, "")
			print > file
			close(file)
			next
		}
		/^[ \t]*$/ { next }
		{ skip = 0; last = "" }
		END {
			if (inside) { NR = opened; wrong("a block without an end") }
			if (!opened) { NR = 1; wrong("marked to be run, but has no block") }
			exit failed
		}' "$1" >&2
}

normalise()
{
	sed -E -e 's/actual time=[0-9.]+/actual time=T/g' \
		-e 's/[0-9][0-9.,]* (ns|us|ms)\b/T \1/g' \
		-e 's/[0-9]+ ?kB/NkB/g' \
		-e 's/rows=([0-9]+)\.00/rows=\1/g' \
		-e 's/^ *QUERY PLAN *$/QUERY PLAN/' \
		-e 's/-{2,}/--/g' \
		-e '/^\([0-9]+ rows?\)$/d' \
		-e 's/[ \t]+$//' -e '/^$/d' "$1"
}

# --- SQL

# The SQL blocks of DIR, of N in all, as one script for psql, each with a line before its output.
session()
{
	local n

	for ((n = 1; n <= $2; n++)); do
		[ -e "$1/$n.sql" ] || continue
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

# run_sql DIR N: the session of a page; its results are left in DIR/N.out.
run_sql()
{
	local dir=$1 n rc=0

	as_user "$bindir/psql" -Xq -v ON_ERROR_STOP=1 \
		-c 'DROP DATABASE IF EXISTS mydb' -c 'CREATE DATABASE mydb' \
		-c 'ALTER SYSTEM RESET ALL' -c 'SELECT pg_reload_conf()' >/dev/null 2>&1
	session "$dir" "$2" >"$dir/session"
	as_user env PGDATABASE=mydb "$bindir/psql" -Xq -v ON_ERROR_STOP=1 \
		<"$dir/session" >"$dir/out" 2>&1 || rc=$?
	awk -v dir="$dir" '
		/^@block [0-9]+@$/ { n = substr($2, 1, length($2) - 1); next }
		{ print > (dir "/" n ".out") }' "$dir/out"
	[ "$rc" != 0 ] || return 0
	n=$(sed -n 's/^@block \([0-9]*\)@$/\1/p' "$dir/out" | tail -1)
	echo "$(cat "$dir/${n:-1}.line"): fails" >&2
	cat "$dir/${n:-1}.out" >&2
	return 1
}

# --- shell

# What shell blocks find in the place of what would change this machine.
make_stand_ins()
{
	local root_command=()

	# sudo would keep neither.
	[ -w "$("$pg_config" --pkglibdir)" ] || root_command=(sudo -n env 'PATH="$PATH"' 'PG_CONFIG="$PG_CONFIG"' 'MAKEFLAGS="$MAKEFLAGS"')
	mkdir "$work/stand-ins"
	cat >"$work/stand-ins/sudo" <<-END
		#!/bin/bash
		PATH=\${PATH#*:}
		[ "\$1" != apt-get ] || exec "$work/stand-ins/apt-get" "\${@:2}"
		exec ${root_command[*]} "\$@"
	END
	# Names are looked up where apt has lists of packages.
	cat >"$work/stand-ins/apt-get" <<-END
		#!/bin/bash
		apt-cache show libc6 >/dev/null 2>&1 || exit 0
		exec /usr/bin/apt-get -qq --simulate "\$@"
	END
	chmod 755 "$work/stand-ins" "$work/stand-ins"/*
	commit_tree "$work/repository"
}

# run_sh DIR N: a block of the shell's
run_sh()
{
	local from=$work/src

	if grep -q 'git clone' "$1/$2.sh"; then
		from=$work/empty
		rm -rf "$from"
		mkdir "$from"
	fi
	sed "s|\<URL\>|$work/repository|" "$1/$2.sh" >"$1/$2.script"
	(
		cd "$from"
		PATH=$work/stand-ins:$bindir:$PATH PG_CONFIG=$pg_config MAKEFLAGS="${make_flags[*]} -j$(nproc)" \
			bash -eu "$1/$2.script"
	) >"$1/$2.out" 2>&1 </dev/null || {
		echo "$(cat "$1/$2.line"): fails" >&2
		tail -n 50 "$1/$2.out" >&2
		return 1
	}
}

# --- pages

# run_page PAGE: 0 if all its blocks run, and their results are those shown.
run_page()
{
	local dir blocks n shell=0 compared=0 failed=0 session= start=$SECONDS

	dir=$work/page
	rm -rf "$dir"
	mkdir "$dir"
	split_page "$1" "$dir" || return 1
	blocks=$(find "$dir" -name '*.line' | wc -l)

	for ((n = 1; n <= blocks; n++)); do
		if [ -e "$dir/$n.sh" ]; then
			shell=$((shell + 1))
			run_sh "$dir" "$n" || failed=1
		elif [ -z "$session" ]; then
			session=yes
			run_sql "$dir" "$blocks" || return 1
		fi
	done
	# One may have removed hpsort.
	[ "$shell" = 0 ] || install_built "$work/src" >"$work/build.log" 2>&1

	for ((n = 1; n <= blocks; n++)); do
		[ -e "$dir/$n.text" ] || continue
		compared=$((compared + 1))
		touch "$dir/$n.out"
		diff -u --label "$(cat "$dir/$n.line") as shown" --label 'as run' \
			<(normalise "$dir/$n.text") <(normalise "$dir/$n.out") >&2 || failed=1
	done
	[ "$failed" = 0 ] || return 1
	echo "ok: $1, $((blocks - shell)) blocks of SQL, $shell of the shell, $compared results ($((SECONDS - start)) s)"
}

# Every page with a block of commands must be marked.
marked_pages()
{
	local page pages

	mapfile -t pages < <(cd "$work/src" && find . -name '*.md' -printf '%P\n' | sort)
	for page in "${pages[@]}"; do
		if grep -qFx "$marker" "$page"; then
			echo "$page"
		elif grep -qE '^ *```(sql|sh)$' "$page"; then
			die "$page has commands, but not the line $marker"
		fi
	done
}

cd "$root"
command -v git >/dev/null || need_packages git
use_working_tree
pages=("$@")
if [ $# = 0 ]; then
	marked=$(marked_pages)
	mapfile -t pages <<<"$marked"
fi
[[ " ${pages[*]} " == *.md* ]] || die "no page is marked: $marker"

make_stand_ins
start_server
as_user "$bindir/psql" -Xq -c 'CREATE ROLE alice'

failures=0
for page in "${pages[@]}"; do
	run_page "$page" || failures=$((failures + 1))
done
[ "$failures" = 0 ] || { echo "$failures pages fail" >&2; exit 1; }
