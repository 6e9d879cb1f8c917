#!/bin/bash
# in_system.sh: a command in a copy of the working tree, inside the root directory of
# another system, where there is a PostgreSQL that this system has not got.
#
#	test/in_system.sh DIR COMMAND [ARGUMENT...]		for example
#	test/in_system.sh /opt/sid19 test/coreregress.sh
#	test/in_system.sh /opt/sid19 env PG_SOURCES=/usr/src/postgresql-19 test/coreregress.sh
#	test/in_system.sh /opt/sid19 bench/order_bench.sh --targets
#
# Paths given to the command are those of the system, and so is all that it finds.
# What it leaves in build/bench is copied to this tree's.  Needs root.
set -euo pipefail
cd "$(dirname "$0")/.."
source test/lib.sh

[ $# -ge 2 ] || die "usage: in_system.sh DIR COMMAND [ARGUMENT...]"
[ "$(id -u)" = 0 ] || die "only root can use another system's root directory"
[ -x "$1/usr/bin/env" ] || die "no system in $1"

status=0
in_system "$@" || status=$?
if [ -d "$work/system/hpsort/build/bench" ]; then
	mkdir -p build/bench
	cp -R "$work/system/hpsort/build/bench/." build/bench
fi
exit $status
