#!/bin/bash
# coreregress.sh: PostgreSQL's own regression suite with hpsort loaded and
# sorting wherever it can (make coreregress).
#
#	PG_CONFIGS="/path/to/pg_config ..."		only these
#	PG_SOURCES="/path/to/source ..."		their source trees, in the same order; else fetched
#	SETTINGS="work_mem=64kB ..."			more server settings, for both runs
#	KEEP=/path/to/directory					keeps all results there
#
# The suite runs twice on a throw-away server, without hpsort and with it
# forced.  The results must be the same but for
#
#	query plans		(tables headed QUERY PLAN, and functions that return plans)
#	order of rows	where the query has no ORDER BY that determines it
#
# Rows that come in another order are still compared as a set, and allowed in
# the tests of test/coreregress.txt only, which gives the reason for each; so
# are results that depend on an order that the query leaves open.  Of a query
# that ends in ORDER BY the order must be the same, but for as many results as
# that file says have rows that are equal.
set -euo pipefail
cd "$(dirname "$0")/.."
source test/lib.sh

# fetch_source VERSION DIR: Debian's source package of that major version, its
# directory in source.
fetch_source()
{
	local suite

	case ${1%%.*} in
		15) suite=bookworm ;;
		17) suite=trixie ;;
		18) suite=sid ;;
		*) die "give PG_SOURCES: no source package known of PostgreSQL $1" ;;
	esac
	command -v apt-get >/dev/null || die "give PG_SOURCES: a source tree of PostgreSQL $1"
	mkdir -p "$2/lists/partial"
	echo "deb-src [trusted=yes] http://deb.debian.org/debian $suite main" >"$2/sources.list"
	(
		cd "$2"
		options=(-o "Dir::Etc::sourcelist=$2/sources.list" -o Dir::Etc::sourceparts=/dev/null
			-o "Dir::State::Lists=$2/lists" -o APT::Sandbox::User=root)
		as_root apt-get -qq "${options[@]}" update
		apt-get -qq "${options[@]}" source --download-only "postgresql-${1%%.*}" >/dev/null
		tar xjf postgresql-*.orig.tar.bz2
	)
	source=$(echo "$2"/postgresql-*/)
}

# suite_library: what the suite's C functions are in, and where.
suite_library()
{
	mkdir "$work/library"
	cp "$source/src/test/regress/regress.c" "$work/library"
	printf 'MODULES = regress\nPG_CPPFLAGS = -w\nPG_CONFIG = %s\nPGXS := $(shell $(PG_CONFIG) --pgxs)\ninclude $(PGXS)\n' "$pg_config" >"$work/library/Makefile"
	chown -R "${test_user:-$(id -un)}" "$work/library"
	as_user make -s -C "$work/library" with_llvm=no >"$work/library.log" 2>&1 || { cat "$work/library.log" >&2; return 1; }
	cp "$("$pg_config" --pkglibdir)"/{autoinc,refint}.so "$work/library"
}

# run_suite NAME: its output is in $work/NAME.
run_suite()
{
	local driver

	driver=$("$pg_config" --pkglibdir)/pgxs/src/test/regress/pg_regress
	mkdir -p "$work/$1"
	chown "${test_user:-$(id -un)}" "$work/$1"
	# What differs is found out later.
	as_user "$driver" --bindir="$bindir" --inputdir="$work/suite" --outputdir="$work/$1" --dlpath="$work/library" \
		--host="$PGHOST" --port="$PGPORT" --user="$PGUSER" --max-connections=8 --max-concurrent-tests=20 \
		--schedule="$work/suite/parallel_schedule" >"$work/$1.log" 2>&1 || true
	! grep -E 'terminated by signal|PANIC:|TRAP:' "$work/server.log"
}

need build
find_postgres
sources=(${PG_SOURCES:-})
failed=0
at=0
for pg_config in "${postgres_list[@]}"; do
	use_postgres "$pg_config"
	source=${sources[$at]:-}
	at=$((at + 1))
	[ -n "$source" ] || fetch_source "$version" "$work/source$major"
	rm -rf "$work"/{suite,library,plain,forced,src}
	cp -R "$source/src/test/regress" "$work/suite"
	suite_library
	copy_tree "$work/src"
	make_flags+=(COPT=-Werror)
	build "$work/src" >"$work/build.log" 2>&1 || { tail -20 "$work/build.log" >&2; exit 1; }
	install_built "$work/src" >>"$work/build.log" 2>&1
	chmod -R a+rX "$work/suite"

	for run in plain forced; do
		settings=(shared_buffers=128MB max_prepared_transactions=4 max_worker_processes=16 ${SETTINGS:-})
		if [ $run = forced ]; then
			settings+=(session_preload_libraries=hpsort hpsort.debug_sort=force)
		fi
		start_server "${settings[@]}"
		run_suite $run || failed=1
		stop_server
		mv "$work/server.log" "$work/$run-server.log"
	done
	echo "PostgreSQL $version: $(grep -cE '^(not )?ok |\.\.\. (ok|FAILED)' "$work/forced.log" || true) tests run"
	perl test/coreregress.pl "$work/plain/results" "$work/forced/results" test/coreregress.txt || failed=1
	if [ -n "${KEEP:-}" ]; then
		mkdir -p "$KEEP/$major"
		cp -R "$work"/{plain,forced,plain.log,forced.log,forced-server.log} "$KEEP/$major"
	fi
done
exit $failed
