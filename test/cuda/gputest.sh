#!/bin/sh
# gputest.sh: the engine's tests on this host's GPU.
#
# usage: gputest.sh [--sanitize | --tool NAME] [arguments of gputest, such as --huge]
#
# Builds the test program for this host's GPU unless it is there already, runs
# it, and with --sanitize also runs reduced sets under compute-sanitizer's
# memcheck, initcheck and racecheck; with --tool, the reduced set under this one
# of them alone, with the arguments added to those of the set.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${CUDA_BUILD:-$root/build/cuda}
tools=
plain=yes
case ${1:-} in
	--sanitize)
		tools="memcheck initcheck racecheck"
		shift
		;;
	--tool)
		tools=$2
		plain=no
		shift 2
		;;
esac

if ! command -v nvidia-smi >/dev/null 2>&1; then
	echo "gputest: no NVIDIA driver on this host" >&2
	exit 1
fi
if [ ! -x "$build/gputest" ]; then
	${MAKE:-make} -f "$root/cuda/cuda.mk" -C "$root" CUDA_ARCHS=native \
		CUDA_BUILD="$build" "$build/gputest"
fi

nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
[ $plain = no ] || "$build/gputest" "$@"

if [ -n "$tools" ]; then
	sanitizer=$(command -v compute-sanitizer ||
		ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null ||
		ls /usr/local/cuda/compute-sanitizer/compute-sanitizer)
	[ $plain = no ] || set --
	for tool in $tools; do
		case $tool in
			racecheck) set="--tiny --shapes 0" ;;	# a hundred times slower
			*) set="--quick --shapes 40 --seed 1" ;;
		esac
		echo "== compute-sanitizer --tool $tool gputest $set $*"
		# shellcheck disable=SC2086
		"$sanitizer" --tool "$tool" --error-exitcode 9 "$build/gputest" $set "$@"
	done
fi
