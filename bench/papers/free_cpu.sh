#!/bin/bash
#
# free_cpu.sh [threads]: the comparison-free sort on this host's CPU.  Needs no
# GPU, but idle cores; writes bench/results/papers-free-cpu-<cores>-cores-<date>.csv.
set -euo pipefail

cd "$(dirname "$0")/../.."
command="bench/papers/free_cpu.sh $*"
make -s -C bench ../build/bench/free_cpu
cpu=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -1)
csv=bench/results/papers-free-cpu-$(nproc)-cores-$(date -u +%Y-%m-%d).csv
{
	echo "# $command"
	echo "# $(date -u +%Y-%m-%dT%H:%MZ), $(uname -srm), ${cpu:-$(uname -m)}, $(nproc) cores," \
		"$(awk '/^MemTotal/ { printf "%.0f GB", $2 / 1e6 }' /proc/meminfo), load $(cut -d' ' -f1 /proc/loadavg)"
	echo "# $(gcc --version | head -1)"
	build/bench/free_cpu "$@"
	echo "# load at the end: $(cut -d' ' -f1 /proc/loadavg)"
} >build/bench/free_cpu.csv
mv build/bench/free_cpu.csv "$csv"
echo "written to $csv"
