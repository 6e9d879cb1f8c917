#!/bin/bash
#
# run.sh: make bench.  Everything measured, as CSV in build/bench.
#
#	run.sh [--quick | --full] [--memory | --sql | --columns] [--save]
#
#	--quick		a small grid and a tenth of the rows: minutes
#	--full		1e8 rows as well
#	--memory	only sorting in memory; --sql: only PostgreSQL; --columns: only
#				what reads columns of tables there
#	--save		copies the CSV to bench/results/DATE-CPU-*.csv

set -euo pipefail

cd "$(dirname "$0")/.."
command="bench/run.sh $*"
out=build/bench
quick=()
sql_options=()
memory=1
sql=1
save=
part=
for option; do
	case $option in
		--quick) quick=(--quick) sql_options+=(--quick) ;;
		--full) sql_options+=(--full) ;;
		--memory) sql= ;;
		--sql) memory= ;;
		--columns) memory= sql_options+=(--columns) part=columns- ;;
		--save) save=1 ;;
		*) sed -n 's/^#\( \|\t\|$\)//p' "$0" >&2; exit 2 ;;
	esac
done

# The make that called us has no say in the one that we call.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
make -s -C bench

source bench/machine.sh

# header FILE: what a number is worth nothing without.
header()
{
	{
		echo "# $command"
		machine
		echo "# $(gcc --version | head -1); $($out/sort_bench --version)${postgres:+; PostgreSQL $postgres}"
		cat "$1"
	} >"$1.tmp"
	mv "$1.tmp" "$1"
}

show()
{
	grep -v '^#' "$1" | column -s, -t
	echo
}

written=()
if [ -n "$memory" ]; then
	echo "sorting in memory: targets"
	$out/sort_bench --targets "${quick[@]}" >$out/sort_targets.csv
	show $out/sort_targets.csv
	echo "the plan: auto beside the better of the two algorithms it chooses from"
	$out/sort_bench --plan "${quick[@]}" >$out/plan.csv
	$out/sort_bench --plan-order "${quick[@]}" >$out/plan_order.csv
	echo "sorting in memory: all cases, to $out/sort.csv"
	$out/sort_bench "${quick[@]}" >$out/sort.csv
	written+=(sort_targets plan plan_order sort)
	for file in "${written[@]}"; do
		header $out/$file.csv
	done
fi
if [ -n "$sql" ]; then
	echo "in PostgreSQL"
	bench/sql_bench.sh "${sql_options[@]}" --out $out
	postgres=$(cat $out/postgres_version)
	header $out/sql.csv
	header $out/sql_targets.csv
	show $out/sql_targets.csv
	written+=(sql sql_targets)
	for python in build/duckdb/bin/python python3; do
		if $python -c 'import duckdb' 2>/dev/null; then
			echo "in DuckDB"
			if [ ${#quick[@]} -gt 0 ]; then
				$python bench/duckdb_bench.py 1000000 3 >$out/duckdb.csv
			else
				$python bench/duckdb_bench.py 10000000 5 >$out/duckdb.csv
			fi
			header $out/duckdb.csv
			show $out/duckdb.csv
			written+=(duckdb)
			break
		fi
	done
fi
if [ -n "$save" ]; then
	mkdir -p bench/results
	name=$(date -u +%Y-%m-%d)-$(cpu_name)
	for file in "${written[@]}"; do
		cp $out/$file.csv "bench/results/$name-$part$file.csv"
	done
	echo "saved to bench/results/$name-*.csv"
fi
