#!/bin/bash
#
# never_slower.sh: that no query takes longer with hpsort than without it.
#
#	never_slower.sh [--rows N] [--reps N] [--least MS] [--only REGEX] [--part I/N] [--memory M]... [--workers N]...
#		[--installed] [--out DIR] [--list]
#
# Each of the shapes of never_slower_shapes.sh, with 4 MB and 256 MB of work_mem (--memory) and with no parallel worker and with
# two (--workers), where hpsort changes its plan: with hpsort's nodes and without them in turns, in one session, by the processor time
# of the session and its workers.  Both return the same rows, or the script fails.  A shape is slower if core takes less than 0.95 of
# hpsort's time in the best of --reps (3) executions, each repeated for --least (100) ms, three times that with workers, whose time is known in
# hundredths of a second, and again in the best of three times as many, repeated for twice as long.
# Then the script ends with status 1.  Workers buy time by the clock with processor time: where one of the two plans has more of them, a shape is
# slower if it is so in both times, and what is slower in one of them is told and counted apart.
# Writes never_slower.csv to DIR (build/bench), and never_slower.txt with the plans of what is slower.
# --rows: of the largest table, 500000 if it is not said.  --only: shapes whose names match.  --part: every N-th shape from the I-th on, to have
# the whole in pieces; all pieces together are the whole.  --installed: with the hpsort that is installed, instead of this
# working tree's.  --list: prints names and queries, and does nothing.

set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

command="bench/never_slower.sh $*"
rows=500000
reps=3
least=100
only=
part=1/1
memories=()
workers=()
list=
take_options "rows= reps= least= only= part= memory+memories workers+workers installed out= list" "$@"
[ ${#memories[@]} -gt 0 ] || memories=(4MB 256MB)
[ ${#workers[@]} -gt 0 ] || workers=(0 2)

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/never_slower_shapes.sh"

names=()
queries=()
settings=()
count=0
shape()
{
	local number=$((count++))

	[ $((number % ${part#*/})) = $((${part%/*} - 1)) ] && [[ $1 =~ $only ]] || return 0
	names+=("$1")
	queries+=("$2")
	settings+=("${*:3}")
}
all_shapes
[ ${#names[@]} -gt 0 ] || { echo "no shape is called $only" >&2; exit 2; }
if [ -n "$list" ]; then
	for i in "${!names[@]}"; do
		printf '%s\t%s\t%s\n' "${names[$i]}" "${queries[$i]}" "${settings[$i]}"
	done
	exit 0
fi

. "$here/compare.sh"

begin_bench
start_server shared_buffers=$((rows / 1000 + 256))MB maintenance_work_mem=256MB max_wal_size=8GB wal_level=minimal max_wal_senders=0 checkpoint_timeout=1h \
	jit=off timezone=UTC shared_preload_libraries=hpsort hpsort.gpu=off hpsort.resident_fill=on_use hpsort.resident_memory=$((rows / 10000 + 64))MB

say "making tables of $rows rows"
run_psql -c "CREATE EXTENSION hpsort" -c "CREATE EXTENSION pg_prewarm"
run_psql -v rows="$rows" -f "$here/sql/never_slower.sql" >"$work/load.log"

csv=$out/never_slower.csv
{
	echo "# $command"
	machine
	echo "# PostgreSQL $version; hpsort $(run_psql -c "SELECT extversion FROM pg_extension WHERE extname = 'hpsort'"); $rows rows"
	echo "shape,work_mem,workers,node,hpsort_ms,core_ms,times_faster,hpsort_clock_ms,core_clock_ms,verdict,query"
} >"$csv"
report=$out/never_slower.txt
: >"$report"

slower=0
in_one=0
wrong=0
measured=0
# compare NAME QUERY SETTINGS WORK_MEM WORKERS: a line of the CSV
compare()
{
	local name=$1 query=$2 memory=$4 workers=$5 set setting long=$least

	set="SET work_mem = '$memory'; SET max_parallel_workers_per_gather = $workers;"
	for setting in $3; do
		set+=" SET ${setting%%=*} = '${setting#*=}';"
	done
	[ "$workers" = 0 ] || long=$((3 * least))
	compare_plans "$set" "$query" "$reps" "$long"
	case $verdict in
		"other rows") wrong=$((wrong + 1)) ;;
		slower) slower=$((slower + 1)) ;;
		slower*) in_one=$((in_one + 1)) ;;
	esac
	[ "$verdict" = "same plan" ] || measured=$((measured + 1))
	printf '%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,"%s"\n' "${name//,/}" "$memory" "$workers" "$(node_of "$with" | tr -d ,)" "$hpsort_ms" "$core_ms" "$times_faster" \
		"$hpsort_clock_ms" "$core_clock_ms" "$verdict" "${query//\"/\"\"}" >>"$csv"
	case $verdict in
		slower* | other*) report "$report" "$name, $memory, $workers workers" "$set" "$query" ;;
	esac
}

for i in "${!names[@]}"; do
	[ $((i % 20)) != 0 ] || say "shape $((i + 1)) of ${#names[@]}: ${names[$i]}"
	for memory in "${memories[@]}"; do
		for n in "${workers[@]}"; do
			compare "${names[$i]}" "${queries[$i]}" "${settings[$i]}" "$memory" "$n"
		done
	done
done
say "${#names[@]} shapes, $measured with another plan than core's: $slower slower, $in_one slower in one time and with other workers, $wrong with other rows"
[ $((slower + wrong)) = 0 ]
