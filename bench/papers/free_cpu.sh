#!/bin/bash
#
# free_cpu.sh [threads]: the comparison-free sort on this host's CPU.  Needs no
# GPU, but idle cores; writes papers-free-cpu-<cores>-cores-<date>.csv to bench/results
# (OUT: to that folder instead).  FREE_CPU names a program that was built elsewhere.
set -euo pipefail

cd "$(dirname "$0")/../.."
command="bench/papers/free_cpu.sh $*"
. bench/machine.sh
out=${OUT:-bench/results}
program=${FREE_CPU:-build/bench/free_cpu}
[ -n "${FREE_CPU:-}" ] || make -s -C bench ../build/bench/free_cpu
mkdir -p "$out"
csv=$out/papers-free-cpu-$(nproc)-cores-$(date -u +%Y-%m-%d).csv
trap 'rm -f "$csv.part"' EXIT
{
	echo "# $command"
	machine
	echo "# $(gcc --version 2>/dev/null | head -1)"
	"$program" "$@"
	echo "# load at the end: $(cut -d' ' -f1 /proc/loadavg)"
} >"$csv.part"
mv "$csv.part" "$csv"
echo "written to $csv"
