#!/bin/sh
# papersbench.sh: the papers' figures measured again on this host's GPU.
#
# usage: papersbench.sh [hp] [zhang] [free] [chen] [gpus]
#
# Builds the program for this host's GPU unless it is there already, and writes
# papers-<gpu>-<date>.csv to bench/results (OUT: to that folder instead), papers-<gpu>-x2-...
# where there are two GPUs, with -2, -3 and so on where there is one of that day; tables.py and
# plots.sh take the newest.  All groups take two minutes on an H100; a run that is cut short
# leaves what it has measured.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${CUDA_BUILD:-$root/build/cuda}

for group in "$@"; do
	case $group in
		hp | zhang | free | chen | gpus) ;;
		*)
			echo "usage: papersbench.sh [hp] [zhang] [free] [chen] [gpus]" >&2
			[ "$group" = --help ] && exit 0
			exit 2
			;;
	esac
done
if ! command -v nvidia-smi >/dev/null 2>&1; then
	echo "papersbench: no NVIDIA driver on this host" >&2
	exit 1
fi
if [ ! -x "$build/papersbench" ]; then
	${MAKE:-make} -f "$root/cuda/cuda.mk" -C "$root" CUDA_ARCHS=native \
		CUDA_BUILD="$build" "$build/papersbench"
fi

gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader |
	sed 's/^NVIDIA //; s/ .*//' | tr 'A-Z' 'a-z' | uniq -c | awk '{ print $2 ($1 > 1 ? "-x" $1 : ""); exit }')
out=${OUT:-$root/bench/results}
today=$out/papers-$gpu-$(date +%Y-%m-%d)
csv=$today.csv
number=2
while [ -e "$csv" ]; do
	csv=$today-$number.csv
	number=$((number + 1))
done
mkdir -p "$out"
. "$root/bench/machine.sh"
load=$(cut -d' ' -f1 /proc/loadavg)
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader -i 0)
status=0
"$build/papersbench" "$csv.part" "$@" || status=$?
[ -e "$csv.part" ] || exit $status
# behind the program's own lines, what it does not know
{
	sed -n '1,2p' "$csv.part"
	echo "# $(date -u +%Y-%m-%dT%H:%MZ), driver $driver, $(nproc) processors of $cpu, load $load"
	sed '1,2d' "$csv.part"
} >"$csv"
rm "$csv.part"
echo "written to $csv"
exit $status
