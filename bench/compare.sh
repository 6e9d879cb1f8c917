# compare.sh: what benches share that run a query with hpsort's nodes and without them in turns, in one session, by processor
# time.  Sourced after lib.sh; sql/measure.sql has been run in the server.

say() { printf '%4d s  %s\n' "$SECONDS" "$*" >&2; }

below() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }'; }

# node_of PLAN: what of hpsort a plan has
node_of()
{
	local nodes=

	[[ $1 != *"(HpSort Aggregate)"* ]] || nodes=aggregate
	[[ $1 != *"(HpSort)"* ]] || nodes=${nodes:+$nodes and }sort
	[[ $1 != *"First of Group"* ]] || nodes="$nodes, first of group"
	echo "${nodes:-none}"
}

# workers_of PLAN: how many workers it has
workers_of() { sed -n 's/.*Workers Planned: //p' <<<"$1" | paste -sd+; }

# same_rows FILE FILE: in whatever order
same_rows()
{
	cmp -s "$1" "$2" || cmp -s <(LC_ALL=C sort "$1") <(LC_ALL=C sort "$2")
}

# rounded_rows SET QUERY FILE FILE: in whatever order, but for the last digits of columns of floats, to 1e-12 of them
rounded_rows()
{
	local query=$2 floats

	[[ ! $query =~ ^FETCH\ [0-9]+\ OF\ (.*)$ ]] || query=${BASH_REMATCH[1]}
	floats=$(run_psql -c "$1" -f - <<<"$query \gdesc" | awk -F'|' '$NF ~ /^(real|double precision)$/ { printf "%s ", NR }')
	awk -F '\t' -v floats="$floats" '
		BEGIN { for (n = split(floats, column, " "); n > 0; n--) is_float[column[n]] = 1 }
		function near(a, b, d) { d = a - b; return (d < 0 ? -d : d) <= 1e-12 * ((a < 0 ? -a : a) + (b < 0 ? -b : b)) }
		NR == FNR { row[FNR] = $0; rows = FNR; next }
		split(row[FNR], other) != NF { exit bad = 1 }
		{ for (i = 1; i <= NF; i++) if ($i "" != other[i] "" && !(i in is_float && near($i, other[i]))) exit bad = 1 }
		END { exit bad || FNR != rows }' <(LC_ALL=C sort "$3") <(LC_ALL=C sort "$4")
}

# measure SET QUERY REPS LEAST: sets the times of both plans, in ms, and their ratio.  Each execution is repeated for LEAST ms.
measure()
{
	IFS='|' read -r hpsort_ms core_ms times_faster hpsort_clock_ms core_clock_ms <<<"$(run_psql -c "$1" -v q="$2" -f - <<SQL
SELECT round(hpsort_ms::numeric, 3), round(core_ms::numeric, 3), round((core_ms / hpsort_ms)::numeric, 3), round(hpsort_clock_ms::numeric, 3),
	round(core_clock_ms::numeric, 3) FROM measure(:'q', $3, $4);
SQL
)"
	[ -n "$core_clock_ms" ] || die "failed: $2"
}

# judge: the verdict on the times of two plans.  Where one of them has more workers, which buy time by the clock with processor time, a query
# is slower if it is so in both times.
judge()
{
	local clock=

	verdict=ok
	! below "$times_faster" 0.95 || verdict=slower
	if [ "$(workers_of "$with")" != "$(workers_of "$without")" ]; then
		! below "$core_clock_ms" "$(awk -v t="$hpsort_clock_ms" 'BEGIN { print 0.95 * t }')" || clock=slower
		case $verdict/$clock in
			slower/) verdict="slower in processor time" ;;
			ok/slower) verdict="slower by the clock" ;;
		esac
	fi
}

# compare_plans SET QUERY REPS LEAST [COMPARED]: sets with and without, the plans under the settings of SET, and verdict; where the
# plans differ, the times as well, and rows: whether both return the same rows, "equal" or "other"; "rounded" if floats differ in
# their last digits, where the plans add them up in another order.  COMPARED: the query whose rows are compared, if QUERY may return any of them.
compare_plans()
{
	local plans

	verdict="same plan" rows_are=equal hpsort_ms='' core_ms='' times_faster=1.000 hpsort_clock_ms='' core_clock_ms=''
	plans=$(run_psql -c "$1" -v q="$2" -f - <<<"SELECT use_hpsort(true) \g /dev/null
SELECT plan_of(:'q');
\echo ------
SELECT use_hpsort(false) \g /dev/null
SELECT plan_of(:'q');") || die "failed: $2"
	with=${plans%%$'\n'------*}
	without=${plans#*------$'\n'}
	[[ $without != *HpSort* ]] || die "hpsort's nodes are off, and in the plan: $2"
	[ "${with%$'\n'}" != "${without%$'\n'}" ] || return 0

	run_psql -c "$1" -v q="${5:-$2}" -v hpsort="$work/hpsort.rows" -v core="$work/core.rows" -f - <<<"SELECT write_results(:'q', :'hpsort', :'core')" >/dev/null ||
		die "failed: $2"
	if ! same_rows "$work/hpsort.rows" "$work/core.rows"; then
		rows_are=rounded
		rounded_rows "$1" "${5:-$2}" "$work/hpsort.rows" "$work/core.rows" || rows_are=other
	fi
	rm -f "$work/hpsort.rows" "$work/core.rows"
	measure "$1" "$2" "$3" "$4"
	! below "$times_faster" 0.97 || measure "$1" "$2" $((3 * $3)) $((2 * $4))
	judge
	[ $rows_are != other ] || verdict="other rows"
}

# report FILE NAME SET QUERY: adds both plans and times to FILE
report()
{
	say "$verdict: $2: $hpsort_ms ms, core $core_ms ms ($times_faster)"
	printf '%s\n' "== $verdict: $2" "$4;" "$3" "hpsort $hpsort_ms ms, core $core_ms ms of processor time ($times_faster); $hpsort_clock_ms and $core_clock_ms by the clock" \
		"-- with hpsort" "$with" "-- without" "$without" "" >>"$1"
}
