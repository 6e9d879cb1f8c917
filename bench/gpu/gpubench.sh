#!/bin/sh
# gpubench.sh: the engine beside CUB on this host's GPU.
#
# usage: gpubench.sh [arguments of gpubench, such as --only text]
#
# Builds the program for this host's GPU unless it is there already, prints the
# table and writes it to bench/results/gpu-<gpu>-<date>.csv.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${CUDA_BUILD:-$root/build/cuda}

if ! command -v nvidia-smi >/dev/null 2>&1; then
	echo "gpubench: no NVIDIA driver on this host" >&2
	exit 1
fi
if [ ! -x "$build/gpubench" ]; then
	${MAKE:-make} -f "$root/cuda/cuda.mk" -C "$root" CUDA_ARCHS=native \
		CUDA_BUILD="$build" "$build/gpubench"
fi

gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader -i 0 |
	sed 's/^NVIDIA //; s/ .*//' | tr 'A-Z' 'a-z')
csv=$root/bench/results/gpu-$gpu-$(date +%Y-%m-%d).csv
mkdir -p "$root/bench/results"
"$build/gpubench" "$csv" "$@"
echo "written to $csv"
