#!/bin/sh
# gputest.sh: the engine's tests on this host's GPU.
#
# usage: gputest.sh [--sanitize] [arguments of gputest, such as --huge]
#
# Builds the test program for this host's GPU unless it is there already, runs
# it, and with --sanitize also runs reduced sets under compute-sanitizer's
# memcheck, initcheck and racecheck.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${CUDA_BUILD:-$root/build/cuda}
sanitize=no
if [ "${1:-}" = --sanitize ]; then
	sanitize=yes
	shift
fi

if ! command -v nvidia-smi >/dev/null 2>&1; then
	echo "gputest: no NVIDIA driver on this host" >&2
	exit 1
fi
if [ ! -x "$build/gputest" ]; then
	${MAKE:-make} -f "$root/cuda/cuda.mk" -C "$root" CUDA_ARCHS=native \
		CUDA_BUILD="$build" "$build/gputest"
fi

nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
"$build/gputest" "$@"

if [ $sanitize = yes ]; then
	sanitizer=$(command -v compute-sanitizer ||
		ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null ||
		ls /usr/local/cuda/compute-sanitizer/compute-sanitizer)
	for tool in memcheck initcheck racecheck; do
		case $tool in
			racecheck) set="--tiny --shapes 0" ;;	# a hundred times slower
			*) set="--quick --shapes 40 --seed 1" ;;
		esac
		echo "== compute-sanitizer --tool $tool gputest $set"
		# shellcheck disable=SC2086
		"$sanitizer" --tool "$tool" --error-exitcode 9 "$build/gputest" $set
	done
fi
