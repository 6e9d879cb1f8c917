#!/bin/sh
# papersbench.sh: the papers' figures measured again on this host's GPU.
#
# usage: papersbench.sh [hp] [zhang] [free] [chen]
#
# Builds the program for this host's GPU unless it is there already, and writes
# bench/results/papers-<gpu>-<date>.csv; plots.sh and tables.py read that.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${CUDA_BUILD:-$root/build/cuda}

if ! command -v nvidia-smi >/dev/null 2>&1; then
	echo "papersbench: no NVIDIA driver on this host" >&2
	exit 1
fi
if [ ! -x "$build/papersbench" ]; then
	${MAKE:-make} -f "$root/cuda/cuda.mk" -C "$root" CUDA_ARCHS=native \
		CUDA_BUILD="$build" "$build/papersbench"
fi

gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader -i 0 |
	sed 's/^NVIDIA //; s/ .*//' | tr 'A-Z' 'a-z')
csv=$root/bench/results/papers-$gpu-$(date +%Y-%m-%d).csv
mkdir -p "$root/bench/results"
"$build/papersbench" "$csv" "$@"
echo "written to $csv"
