# lib.sh: what the scripts of bench/ that start a server share.  Sourced by bash scripts with "set -euo pipefail".
#
#	take_options "FORMS" "$@"	sets variables by a script's options.  The form NAME= takes a value, NAME=VARIABLE
#								for another variable, NAME+ARRAY appends it; NAME is yes; NAME:VARIABLE=VALUE,...
#								assigns these.  What has no form prints the header of the script, and is an error.
#	begin_bench					makes the directory of --out (build/bench); uses this working tree or, with
#								--installed, what is installed
#	run_psql ARGUMENTS

. "$(dirname "${BASH_SOURCE[0]}")/../test/lib.sh"
. "$root/bench/machine.sh"

out=
installed=

usage()
{
	sed -n '/^#	/,/^#$/s/^#	//p' "$0" >&2
	exit 2
}

take_options()
{
	local forms=$1 form name
	local -a assignments

	shift
	while [ $# -gt 0 ]; do
		name=${1#--}
		for form in $forms -; do
			[ "$1" = "--${form%%[=:+]*}" ] && break
		done
		case $form in
			-) usage ;;
			*:*) IFS=, read -ra assignments <<<"${form#*:}"
				declare -g "${assignments[@]}" ;;
			*[=+]*) [ $# -ge 2 ] || usage
				case $form in
					*+*) eval "${form#*+}+=(\"\$2\")" ;;
					*=) declare -g "$name=$2" ;;
					*) declare -g "${form#*=}=$2" ;;
				esac
				shift ;;
			*) declare -g "$name=yes" ;;
		esac
		shift
	done
}

begin_bench()
{
	out=${out:-$root/build/bench}
	mkdir -p "$out"
	if [ -n "$installed" ]; then
		use_installed
	else
		use_working_tree
	fi
}

run_psql()
{
	"$bindir/psql" -qXAt -v ON_ERROR_STOP=1 "$@"
}
