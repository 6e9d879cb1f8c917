#!/bin/sh
# papersbench.sh: the papers' figures measured again on this host's GPU.
#
# usage: papersbench.sh [hp] [zhang] [free] [chen] [gpus]
#
# Builds the program for this host's GPU unless it is there already, and writes
# bench/results/papers-<gpu>-<date>.csv, with -2, -3 and so on where there is one of
# that day; tables.py and plots.sh take the newest.
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
today=$root/bench/results/papers-$gpu-$(date +%Y-%m-%d)
csv=$today.csv
number=2
while [ -e "$csv" ]; do
	csv=$today-$number.csv
	number=$((number + 1))
done
mkdir -p "$root/bench/results"
"$build/papersbench" "$csv" "$@"
echo "written to $csv"
