#!/bin/bash
# gpu_proof.sh: all that is proved on a GPU, in one call (a host with a GPU).
#
# usage: gpu_proof.sh [PART ...]		each with arguments of its own, as in 'engine --only rows'
#
#	engine			gputest: the kernels beside the host's results
#	memcheck		... a reduced set of it under this tool of compute-sanitizer
#	initcheck
#	racecheck
#	resident		gpu_resident.sh: queries of resident columns beside core's
#	sql				gpu_sql.sh: the SQL suite, and faults of the service
#	published		publishedtest: the papers' algorithms
#	bench			gpubench: how fast the kernels are
#
# Without parts: engine for all rows and packed values, resident, memcheck, racecheck, in this order.
#
#	OUT=DIR			where results go (build/gpu_proof): NUMBER-PART.txt for each part, and summary.txt
#	PART_SECONDS=N	a part that takes longer has failed (3600)
#	CUDA_BUILD=DIR	programs that were built before (make cuda-tools); others are built for this host's GPU
#	COMMIT=...		of the working tree, where git does not know it
#
# and the variables of gpu_resident.sh and gpu_sql.sh, which need PG_CONFIG, hpsort installed (WITH_CUDA=yes).
# A part that cannot be run here has failed.  The last line is "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/.."

out=${OUT:-build/gpu_proof}
build=${CUDA_BUILD:-build/cuda}
if [ $# = 0 ]; then
	set -- 'engine --only rows' 'engine --only packed' resident memcheck racecheck
fi

# Runs a part, with its arguments.
run()
{
	local part=$1

	shift
	case $part in
		engine) test/cuda/gputest.sh "$@" ;;
		memcheck | initcheck | racecheck) test/cuda/gputest.sh --tool "$part" "$@" ;;
		resident) test/gpu_resident.sh "$@" ;;
		sql) test/gpu_sql.sh "$@" ;;
		published) test/cuda/publishedtest.sh "$@" ;;
		bench) bench/gpu/gpubench.sh "$@" ;;
	esac
}

# This script has called itself to run a part, so that the part can be stopped in time.
if [ "$1" = --run ]; then
	shift
	run "$@"
	exit
fi

for part in "$@"; do
	case ${part%% *} in
		engine | memcheck | initcheck | racecheck | resident | sql | published | bench) ;;
		*)
			echo "gpu_proof.sh: there is no part ${part%% *}" >&2
			exit 2
			;;
	esac
done
mkdir -p "$out"
export CUDA_BUILD=$build
host=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | sort | uniq -c | xargs || true)
head="# ${host:-no GPU}, commit ${COMMIT:-$(git rev-parse --short HEAD 2>/dev/null || echo unknown)}, $(date +%Y-%m-%d)"
echo "$head" | tee "$out/summary.txt"
passed=0
failed=0
number=0
for part in "$@"; do
	number=$((number + 1))
	file=$out/$number-${part%% *}.txt
	printf '%s\n# %s\n' "$head" "$part" >"$file"
	start=$SECONDS
	rc=0
	# shellcheck disable=SC2086	# a part's arguments are words
	timeout -k 10 "${PART_SECONDS:-3600}" test/gpu_proof.sh --run $part >>"$file" 2>&1 || rc=$?
	if [ $rc = 0 ]; then
		passed=$((passed + 1))
		word=PASS
	else
		failed=$((failed + 1))
		word="FAIL (status $rc)"
	fi
	echo "$word $part: $((SECONDS - start)) s; $(tail -n 1 "$file")" | tee -a "$out/summary.txt"
done
echo "$passed passed, $failed failed" | tee -a "$out/summary.txt"
[ $failed = 0 ]
