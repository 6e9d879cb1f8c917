#!/bin/bash
# plot.sh CSV [SVG]: the grid of sql_grid.sh as a Markdown table on stdout, and
# as a plot of CPU time over GPU time with the crossover at 1 (needs gnuplot).
set -euo pipefail
csv=${1:?CSV}
svg=${2:-${csv%.csv}.svg}

awk -F, 'NR > 1 { k = $1 "," $2 "," $3; if (!(k in seen)) { seen[k] = 1; order[++n] = k } t[k "," $4] = $6; u[k "," $4] = $5 }
END {
	print "| result | n | range | cpu ms | gpu ms | auto ms | auto took | cpu / gpu |"
	print "|---|---|---|---|---|---|---|---|"
	for (i = 1; i <= n; i++) {
		split(order[i], p, ",")
		c = t[order[i] ",cpu"]; g = t[order[i] ",gpu"]
		printf "| %s | %s | %s | %.3f | %.3f | %.3f | %s | %.2f |\n", p[1], p[2], p[3], c, g, t[order[i] ",auto"], u[order[i] ",auto"], c / g
	}
}' "$csv"

command -v gnuplot >/dev/null || { echo "no gnuplot, no plot" >&2; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for want in array runs order; do
	for range in 100 10000 1000000 100000000 4294967296; do
		awk -F, -v w=$want -v r=$range '$1 == w && $3 == r { t[$4 "," $2] = $6; n[$2] = $2 }
		END { for (k in n) print k, t["cpu," k] / t["gpu," k] }' "$csv" | sort -n >"$work/$want.$range"
	done
done
cd "$work"
gnuplot >"$work/plot.svg" <<'G'
set terminal svg size 1200,420 font "sans,12" background "white"
set multiplot layout 1,3
set logscale xy
set format x "10^{%L}"
set xlabel "keys"
set yrange [0.05:20]
set grid
set key top left
do for [want in "array runs order"] {
	set title want.": CPU time / GPU time (above 1 the GPU is faster)"
	plot 1 with lines lc "black" lw 2 title "crossover", \
		want.".100" with linespoints title "range 100", want.".10000" with linespoints title "10^4", \
		want.".1000000" with linespoints title "10^6", want.".100000000" with linespoints title "10^8", \
		want.".4294967296" with linespoints title "2^{32}"
}
G
cd - >/dev/null
cp "$work/plot.svg" "$svg"
