#!/bin/sh
# publishedtest.sh: tests of the papers' algorithms on this host's GPU.
#
# usage: publishedtest.sh [--sanitize] [arguments of publishedtest, such as --large]
#
# Builds the test program for this host's GPU unless it is there already, runs
# it, and with --sanitize also runs reduced sets under compute-sanitizer.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${CUDA_BUILD:-$root/build/cuda}
sanitize=no
if [ "${1:-}" = --sanitize ]; then
	sanitize=yes
	shift
fi

if ! command -v nvidia-smi >/dev/null 2>&1; then
	echo "publishedtest: no NVIDIA driver on this host" >&2
	exit 1
fi
if [ ! -x "$build/publishedtest" ]; then
	${MAKE:-make} -f "$root/cuda/cuda.mk" -C "$root" CUDA_ARCHS=native \
		CUDA_BUILD="$build" "$build/publishedtest"
fi

nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
"$build/publishedtest" "$@"

if [ $sanitize = yes ]; then
	sanitizer=$(command -v compute-sanitizer ||
		ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null ||
		ls /usr/local/cuda/compute-sanitizer/compute-sanitizer)
	for tool in memcheck initcheck racecheck; do
		case $tool in
			racecheck) set="--tiny --shapes 0" ;;
			*) set="--quick --shapes 20" ;;
		esac
		echo "== compute-sanitizer --tool $tool publishedtest $set"
		# shellcheck disable=SC2086
		"$sanitizer" --tool "$tool" --error-exitcode 9 "$build/publishedtest" $set --seed 1
	done
fi
