#!/bin/sh
# gpubench.sh: the engine beside CUB on this host's GPU, and the papers'
# algorithms by name beside both.
#
# usage: gpubench.sh [arguments of gpubench, such as --only text]
#        gpubench.sh --algorithms [name ...] [option=number ...]
#                                           the second half, or a part of it
#
# Builds the programs for this host's GPU unless they are there already, prints
# the tables and writes them to bench/results/gpu-<gpu>-<date>.csv and
# gpu-<gpu>-by-name-<date>.csv.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${CUDA_BUILD:-$root/build/cuda}

if ! command -v nvidia-smi >/dev/null 2>&1; then
	echo "gpubench: no NVIDIA driver on this host" >&2
	exit 1
fi
built()
{
	[ -x "$build/$1" ] || ${MAKE:-make} -f "$root/cuda/cuda.mk" -C "$root" \
		CUDA_ARCHS=native CUDA_BUILD="$build" "$build/$1"
}

gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader -i 0 |
	sed 's/^NVIDIA //; s/ .*//' | tr 'A-Z' 'a-z')
mkdir -p "$root/bench/results"
if [ "${1:-}" != --algorithms ]; then
	built gpubench
	csv=$root/bench/results/gpu-$gpu-$(date +%Y-%m-%d).csv
	status=0
	"$build/gpubench" "$csv" "$@" || status=$?
	echo "written to $csv"
	# not all rows of the grid are as fast as they should be, or worse
	[ $status = 0 ] || exit $status
fi
if [ $# = 0 ] || [ "$1" = --algorithms ]; then
	[ $# = 0 ] || shift
	built published_bench
	csv=$root/bench/results/gpu-$gpu-by-name-$(date +%Y-%m-%d).csv
	"$build/published_bench" "$csv" "$@"
	echo "written to $csv"
fi
