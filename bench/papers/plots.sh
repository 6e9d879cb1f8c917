#!/bin/sh
# plots.sh: the plots of docs/internals/papers.md, from the newest runs in bench/results/.
#
# usage: plots.sh
#
# Needs gnuplot, awk and python3; writes docs/internals/papers-*.svg.  Each names its run,
# by which tables.py --check knows whether there is a newer one.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
then=$root/bench/papers/kozakai-2021.csv
theirs=$root/bench/papers/abdel-hafeez-2018.csv
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# The run that a group is of, as tables.py has it.
for group in hp zhang free chen gpus threads; do
	eval "run_$group=\$(python3 '$root/bench/papers/tables.py' --source $group)"
done

# Of "70 % repeated", runs by threads without a column "ran" had the other reading (points.py).
# shellcheck disable=SC2154
threads_data=$run_threads
seventy='70 % repeated'
if ! grep -q ',ran$' "$run_threads"; then
	threads_data=$tmp/threads.csv
	seventy='70 % one value'
	sed "s/^70 % repeated,/$seventy,/" "$run_threads" > "$threads_data"
fi

# series GROUP FIGURE DATA SERIES: "n ms" lines, into a file whose name it prints
series() {
	eval "csv=\$run_$1"
	paper=$1
	[ "$1" != gpus ] || paper=chen
	file=$tmp/$(printf '%s_' "$@" | tr -c 'A-Za-z0-9\n' '_')
	awk -F, -v p="$paper" -v f="$2" -v d="$3" -v s="$4" \
		'$1 == p && $2 == f && (d == "" || $3 == d) && $5 == s { print $4, $6 }' \
		"$csv" | sort -n > "$file"
	echo "$file"
}

# over_cub FIGURE SERIES: "n ratio" of a 2021 figure now
over_cub() {
	file=$tmp/over_$1_$2
	awk -F, -v f="2021-$1" -v s="$2" \
		'$1 == "hp" && $2 == f { t[$4, $5] = $6; n[$4] = 1 }
		END { for (i in n) if ((i, s) in t) print i, t[i, "cub"] / t[i, s] }' \
		"$run_hp" | sort -n > "$file"
	echo "$file"
}

# over_cub_then FIGURE COLUMN: the same from the authors' tables
over_cub_then() {
	file=$tmp/then_$1_$2
	awk -F, -v f="$1" -v c="$2" \
		'NR > 1 && $1 == f && $c != "" { print $2, $4 / $c }' "$then" > "$file"
	echo "$file"
}

# by_threads DATA RANGE THREADS: "n ms" of free_cpu; RANGE n: as many values as keys
by_threads() {
	file=$tmp/$(printf 'threads_%s_' "$@" | tr -c 'A-Za-z0-9\n' '_')
	awk -F, -v d="$1" -v r="$2" -v t="$3" \
		'$1 == d && $3 == (r == "n" ? $2 : r) && $4 == t { print $2, $5 }' \
		"$threads_data" | sort -n > "$file"
	echo "$file"
}

# theirs COLUMN: "n ms" of the authors' tables
theirs() {
	awk -F, -v c="$1" 'NR > 1 { print $1, $c }' "$theirs" > "$tmp/theirs_$1"
	echo "$tmp/theirs_$1"
}

# gains DATA RANGE: "threads ratio" at 2^24 keys
gains() {
	file=$tmp/$(printf 'gains_%s_' "$@" | tr -c 'A-Za-z0-9\n' '_')
	awk -F, -v d="$1" -v r="$2" \
		'$1 == d && $2 == 16777216 && $3 == (r == "n" ? $2 : r) {
			if ($4 == 1) one = $5; print $4, one / $5 }' "$threads_data" > "$file"
	echo "$file"
}

# of GROUP...: what a plot's title says about where its points are from
of() {
	for group; do
		eval "basename \"\$run_$group\""
	done | sort -u | tr '\n' ' '
}

head='set style data linespoints; set pointsize 0.4; set grid lw 0.3; set key font ",9"
set format x "%.0s%c"'

{
	echo "set terminal svg size 1100,1100 font 'sans,10' background '#ffffff'"
	echo "set output '$root/docs/internals/papers-hp-2021.svg'"
	echo "$head"
	echo "set multiplot layout 4,4 title 'Kozakai, Fujimoto, Wada 2021: times faster than CUB (32 bits), against n; then: Tesla K40c; now: $(of hp)'"
	echo "set logscale y; set yrange [0.02:6]; set key off; set xtics font ',8'"
	for f in 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23; do
		[ $f -le 10 ] && echo "set xtics 300000" || echo "set xtics 3000000"
		[ $f = 8 ] && echo "set key bottom left samplen 1 font ',7'" || echo "set key off"
		echo "set title 'Fig. $f'"
		printf "plot 1 lc 'gray' notitle, '%s' title 'H-P then' lc 1 dt 3, '%s' title 'H-P now' lc 1, '%s' title '0-comp then' lc 2 dt 3, '%s' title '0-comp now' lc 2, '%s' title 'hpsort now' lc 7 lw 2" \
			"$(over_cub_then $f 5)" "$(over_cub $f hp)" "$(over_cub_then $f 6)" \
			"$(over_cub $f zero_compressed_published)" "$(over_cub $f hpsort)"
		if [ $f -le 10 ]; then
			printf ", '%s' title '1-H-P then' lc 4 dt 3, '%s' title '1-H-P now' lc 4" \
				"$(over_cub_then $f 7)" "$(over_cub $f one_hp)"
		fi
		echo
	done
	echo "unset multiplot; set autoscale y; set xtics autofreq; set key on top left; unset logscale"

	echo "set terminal svg size 900,700 font 'sans,10' background '#ffffff'"
	echo "set output '$root/docs/internals/papers-hp-2022.svg'"
	echo "set multiplot layout 2,2 title 'Kozakai 2022: ms against n; $(of hp)'"
	echo "set logscale xy"
	for f in 6 7 8 9; do
		case $f in
			6) echo "set title 'Fig. 6: distinct, delta 1'" ;;
			7) echo "set title 'Fig. 7: delta 50, sigma 50'" ;;
			8) echo "set title 'Fig. 8: delta 1, len 100'" ;;
			9) echo "set title 'Fig. 9: range 100'" ;;
		esac
		printf "plot '%s' title 'CUB', '%s' title 'CUB, bits cut', '%s' title 'H-P', '%s' title '0-comp', '%s' title 'hpsort' lc 7 lw 2" \
			"$(series hp 2022-$f '' cub)" "$(series hp 2022-$f '' cub_bits)" \
			"$(series hp 2022-$f '' hp)" \
			"$(series hp 2022-$f '' zero_compressed_published)" \
			"$(series hp 2022-$f '' hpsort)"
		[ $f = 6 ] && printf ", '%s' title '1-H-P'" "$(series hp 2022-6 '' one_hp)"
		echo
	done
	echo "unset multiplot"

	echo "set terminal svg size 900,400 font 'sans,10' background '#ffffff'"
	echo "set output '$root/docs/internals/papers-zhang-wu.svg'"
	echo "set multiplot layout 1,2 title 'Zhang, Wu: ms against n; $(of zhang)'; set logscale x 2; set format x '2^{%L}'"
	for d in '16 bits' '32 bits'; do
		echo "set title '$d'"
		printf "plot '%s' title 'std::sort', '%s' title 'VQSort, 1 thread', '%s' title 'bucket radix', '%s' title 'its partition' dt 3, '%s' title 'CUB', '%s' title 'hpsort' lc 7 lw 2\n" \
			"$(series zhang 6 "$d" std_sort)" "$(series zhang 6 "$d" vqsort_1)" \
			"$(series zhang 6 "$d" bucket_radix)" \
			"$(series zhang 7 "$d" 'phase bucket partition')" \
			"$(series zhang 6 "$d" cub)" "$(series zhang 6 "$d" hpsort)"
	done
	echo "unset multiplot"

	echo "set terminal svg size 900,700 font 'sans,10' background '#ffffff'"
	echo "set output '$root/docs/internals/papers-comparison-free.svg'"
	echo "set multiplot layout 2,2 title 'Abdel-hafeez, Gordon-Ross, Abubaker: ms against n; $(of free)'"
	echo "set title 'GPU method 2, by distribution (Fig. 12)'"
	sep='plot '
	for d in 'random' 'gaussian' 'reversed' 'nearly sorted' '70 % repeated' '70 % one value' '100 % repeated'; do
		printf "%s'%s' title '%s'" "$sep" "$(series free 8-13 "$d" gpu)" "$d"
		sep=', '
	done
	echo
	echo "set title 'Gaussian (Figs. 8, 9, 13)'"
	printf "plot '%s' title 'CPU, 1 thread', '%s' title '8 threads', '%s' title 'VQSort, 1 thread', '%s' title 'GPU with transfers', '%s' title 'GPU', '%s' title 'CUB', '%s' title 'hpsort' lc 7 lw 2, '%s' with points pt 7 lc 'black' title 'theirs, GPU with copies'\n" \
		"$(series free 8-13 gaussian cpu_1)" "$(series free 8-13 gaussian cpu_8)" \
		"$(series free 8-13 gaussian vqsort_1)" "$(series free 8-13 gaussian 'gpu with transfers')" \
		"$(series free 8-13 gaussian gpu)" "$(series free 8-13 gaussian cub)" \
		"$(series free 8-13 gaussian hpsort)" "$(theirs 2)"
	echo "set title 'Gaussian, values up to 1000 N (Fig. 16)'"
	printf "plot '%s' title 'CPU, 1 thread', '%s' title 'GPU', '%s' title 'CUB', '%s' title 'hpsort' lc 7 lw 2\n" \
		"$(series free 16 'gaussian 1000 N' cpu_1)" "$(series free 16 'gaussian 1000 N' gpu)" \
		"$(series free 16 'gaussian 1000 N' cub)" "$(series free 16 'gaussian 1000 N' hpsort)"
	echo "set title 'Method 1 (one-hot)'"
	printf "plot '%s' title 'method 1, eq. 11', '%s' title 'method 2', '%s' title 'CUB'\n" \
		"$(series free 'method 1' random onehot)" "$(series free 'method 1' random gpu)" \
		"$(series free 'method 1' random cub)"
	echo "unset multiplot"

	echo "set terminal svg size 900,700 font 'sans,10' background '#ffffff'"
	echo "set output '$root/docs/internals/papers-chen.svg'"
	echo "unset logscale; set format x '%.0s%c'; set yrange [0:*]"
	echo "set multiplot layout 2,2 title 'Chen, Qin, Xie, Zhao, Heng: ms against n; $(of chen gpus)'"
	for t in int float; do
		[ $t = int ] && f=2 || f=3
		echo "set title '$t, device to device (Fig. $f)'"
		printf "plot '%s' title 'uniform', '%s' title 'gaussian', '%s' title 'nearly sorted', '%s' title 'CUB, uniform'\n" \
			"$(series chen $f "$t uniform" bucket_bitonic)" \
			"$(series chen $f "$t gaussian" bucket_bitonic)" \
			"$(series chen $f "$t nearly sorted" bucket_bitonic)" \
			"$(series chen $f "$t uniform" cub)"
	done
	echo "set title 'key and payload'"
	printf "plot '%s' title 'uniform', '%s' title 'gaussian', '%s' title 'nearly sorted', '%s' title 'CUB, uniform'\n" \
		"$(series chen payload 'int uniform' bucket_bitonic)" \
		"$(series chen payload 'int gaussian' bucket_bitonic)" \
		"$(series chen payload 'int nearly sorted' bucket_bitonic)" \
		"$(series chen payload 'int uniform' cub)"
	echo "set title 'host to host (Fig. 5)'"
	printf "plot '%s' title 'one H100', '%s' title 'the same twice', '%s' title 'two H100', '%s' title 'CUB, one H100'\n" \
		"$(series gpus 5 'int uniform' 'one gpu')" \
		"$(series gpus 5 'int uniform' 'the same gpu twice')" \
		"$(series gpus 5 'int uniform' 'two gpus')" \
		"$(series gpus 5 'int uniform' 'cub with transfers')"
	echo "unset multiplot"

	echo "set terminal svg size 900,700 font 'sans,10' background '#ffffff'"
	echo "set output '$root/docs/internals/papers-comparison-free-threads.svg'"
	echo "set autoscale y; set logscale x 2; set logscale y; set format x '2^{%L}'; set key top left"
	echo "set multiplot layout 2,2 title 'Abdel-hafeez, Gordon-Ross, Abubaker on 16 CPU cores, by threads allowed; $(of threads)'"
	for d in gaussian random; do
		[ $d = gaussian ] && range=n || range=1000
		[ $d = gaussian ] && figure=' (Fig. 9)' || figure=
		echo "set title '$d, $range values: ms against n$figure'"
		sep='plot '
		for t in 1 2 4 8 16; do
			printf "%s'%s' title '%s'" "$sep" "$(by_threads $d $range $t)" "$t"
			sep=', '
		done
		[ $d = random ] || printf ", '%s' with points pt 7 lc 'black' title 'theirs, 8'" "$(theirs 3)"
		echo
	done
	echo "unset logscale; set logscale x 2; set format x '%g'; set yrange [0:*]"
	for range in 1000 n; do
		echo "set title '16,777,216 keys, $range values: times faster than one thread, against threads'"
		sep='plot '
		for d in 'random' 'gaussian' 'reversed' 'nearly sorted' "$seventy" '100 % repeated'; do
			printf "%s'%s' title '%s'" "$sep" "$(gains "$d" $range)" "$d"
			sep=', '
		done
		echo
	done
	echo "unset multiplot"
} > "$tmp/plot"
gnuplot "$tmp/plot"
