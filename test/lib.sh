# lib.sh: what run.sh, demo.sh and other scripts that need a PostgreSQL of
# their own share.  Sourced by bash scripts with "set -euo pipefail".
#
#	need TOOLS...				installs what is missing, or says what to install
#	find_postgres				fills postgres_list with pg_config paths, by version
#	use_postgres PG_CONFIG		sets bindir, major and name (pg17; pg17-assert if it was built with
#								assertions, pg17-asan with AddressSanitizer) for the functions below
#	copy_tree DIR				the working tree, uncommitted work included
#	commit_tree DIR				the same as a repository of one commit
#	build DIR / install_built DIR
#	use_newest_postgres			need build, find_postgres and use_postgres
#	use_working_tree [FLAG...]	all of the above with these make flags; what has been built and installed
#								already, in BUILT=DIR, is copied instead
#	use_installed				the newest one as it is, hpsort installed in it already
#	as_installer COMMAND		as a user who may install into the PostgreSQL in use
#	start_server / stop_server	a throw-away one, on a socket only
#	as_user COMMAND				as the user who owns it: PostgreSQL refuses root
#	find_systems				fills system_list with the root directories of other systems that
#								have a PostgreSQL which find_postgres has not found
#	start_system DIR TMP COMMAND	in the background, in a copy of the working tree inside such a
#								directory, whose /tmp is TMP meanwhile; adds to system_pids; needs root

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# The make that called us has no say in the makes that we call.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

# For a PostgreSQL that was built with AddressSanitizer: its programs leave memory to exit(), its
# check of the stack's depth takes a frame elsewhere for an endless recursion, and a report
# must be a crash, which an exit with status 1 is not to the postmaster.
export ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0:abort_on_error=1

work=$(mktemp -d "${TMPDIR:-/tmp}/hpsort.XXXXXX")
chmod 755 "$work"
server_bindir=
system_pids=()
parts_pid=

finish()
{
	stop_server
	# A process that leads a group of its own: what it has started ends, and it cleans up.
	if [ -n "$parts_pid" ] && kill -TERM -- "-$parts_pid"; then
		wait "$parts_pid" || true
	fi 2>/dev/null
	if [ ${#system_pids[@]} -gt 0 ] && kill -KILL "${system_pids[@]}"; then
		# The kernel ends whatever runs in the systems, but only after these processes.
		wait "${system_pids[@]}" || true
		sleep 1
	fi 2>/dev/null
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

die()
{
	echo "$*" >&2
	exit 2
}

# --- who we are, and who runs the server

test_user=
if [ "$(id -u)" = 0 ]; then
	for user in postgres nobody; do
		if id -u "$user" >/dev/null 2>&1; then
			test_user=$user
			break
		fi
	done
	[ -n "$test_user" ] || die "PostgreSQL does not run as root, and there is neither a user postgres nor nobody"
fi

as_root()
{
	if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

may_be_root()
{
	[ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null
}

# From a directory that this user may enter, which the tree need not be in.
as_user()
(
	cd "$work"
	if [ -n "$test_user" ]; then
		runuser -u "$test_user" -- env HOME="$work" "$@"
	else
		env HOME="$work" "$@"
	fi
)

# --- what has to be there

# need_packages PACKAGE...: installs them with apt, or says that it cannot.
need_packages()
{
	[ $# -gt 0 ] || return 0
	if ! command -v apt-get >/dev/null; then
		die "missing; install what your system calls these Debian packages: $*"
	elif ! may_be_root; then
		die "missing packages; run: sudo apt-get install $*"
	fi
	echo "installing $*"
	as_root apt-get -qq update
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@" >"$work/apt.log" 2>&1 ||
		{ tail -20 "$work/apt.log" >&2; die "apt-get could not install: $*"; }
}

# Debian's clients have pg_config, and pgxs.mk, without a server's headers.
has_headers()
{
	[ -e "$("$1" --includedir-server)/postgres.h" ]
}

# need TOOL...: installs what these lack (build, unit, pgtap, perl), and what
# Debian's PostgreSQLs do; one of those if there is none.  PG_CONFIGS says that
# the caller has chosen a PostgreSQL and sees to it.
need()
{
	local tool dir missing=()

	if [ -z "${PG_CONFIGS:-${PG_CONFIG:-}}" ]; then
		find_postgres
		if [ ${#postgres_list[@]} -eq 0 ] && ! compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null; then
			if may_be_root; then
				need_packages postgresql
			else
				# All at once, by names that say no version.
				missing+=(postgresql postgresql-server-dev-all)
				[[ " $* " != *" pgtap "* ]] || missing+=(pgtap)
			fi
		fi
		for dir in /usr/lib/postgresql/*; do
			[ -x "$dir/bin/postgres" ] || continue
			[ -x "$dir/bin/pg_config" ] && has_headers "$dir/bin/pg_config" ||
				missing+=("postgresql-server-dev-${dir##*/}")
			[[ " $* " != *" pgtap "* ]] || [ -e "/usr/share/postgresql/${dir##*/}/extension/pgtap.control" ] ||
				missing+=("postgresql-${dir##*/}-pgtap")
		done
	fi
	for tool; do
		case $tool in
			build)
				[ ! -e "$root/.git" ] || command -v git >/dev/null || missing+=(git)
				command -v make >/dev/null || missing+=(make)
				command -v gcc >/dev/null || missing+=(gcc libc6-dev)
				command -v g++ >/dev/null || missing+=(g++)
				[ -e /usr/include/hwy/contrib/sort/vqsort.h ] || missing+=(libhwy-dev)
				;;
			unit)
				[ -e /usr/include/cmocka.h ] || missing+=(libcmocka-dev)
				;;
			fuzz)
				# a plain clang package brings libFuzzer only as a suggestion
				echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d && !n && 0; }' |
					clang -fsanitize=fuzzer,address -x c - -o /dev/null 2>/dev/null || missing+=(clang libclang-rt-14-dev)
				;;
			pgtap)
				command -v pg_prove >/dev/null || missing+=(libtap-parser-sourcehandler-pgtap-perl)
				;;
			perl)
				perl -MIPC::Run -e 1 2>/dev/null || missing+=(libipc-run-perl)
				;;
		esac
	done
	need_packages "${missing[@]}"
}

# --- the PostgreSQLs

# Oldest first.  PG_CONFIGS (or PG_CONFIG) in the environment replaces the search.
find_postgres()
{
	local config bindir major found=

	for config in ${PG_CONFIGS:-${PG_CONFIG:-/usr/lib/postgresql/*/bin/pg_config /opt/pg*/bin/pg_config \
		/usr/local/pgsql/bin/pg_config $(command -v pg_config)}}; do
		config=$(command -v "$config") || continue
		bindir=$("$config" --bindir)
		[ -x "$bindir/postgres" ] && has_headers "$config" || continue
		[[ "$found" != *" $bindir"$'\n'* ]] || continue
		major=$("$bindir/postgres" --version | sed 's/^[^0-9]*\([0-9]*\).*/\1/')
		if [ "$major" -lt 15 ]; then
			echo "PostgreSQL $major in $bindir is too old for hpsort, skipped"
			continue
		fi
		found+="$major $config $bindir"$'\n'
	done
	mapfile -t postgres_list < <(printf %s "$found" | sort -n -s -k1,1 | cut -d' ' -f2)
}

use_postgres()
{
	local global

	pg_config=$1
	bindir=$("$pg_config" --bindir)
	version=$("$bindir/postgres" --version | sed 's/^[^0-9]*//')
	major=${version%%[!0-9]*}
	name=pg$major
	# PostgreSQL's own pg_config knows --enable-cassert and flags given to its configure.
	case "$("$pg_config" --cc) $("$pg_config" --configure) $("$pg_config" --cppflags)" in
		*-fsanitize=address*) name+=-asan ;;
		*--enable-cassert* | *USE_ASSERT_CHECKING*) name+=-assert ;;
	esac

	# A PostgreSQL that was moved or copied after it was built would take the
	# system's libpq, which may be older than its psql.
	export LD_LIBRARY_PATH
	LD_LIBRARY_PATH=$("$pg_config" --libdir)

	# A PostgreSQL with JIT wants clang, the very one that it was built with.
	global=$(dirname "$("$pg_config" --pgxs)")/../Makefile.global
	make_flags=(-s PG_CONFIG="$pg_config" WITH_CUDA=no)
	if grep -q '^with_llvm[[:space:]]*= yes' "$global" &&
		! command -v "$(sed -n 's/^CLANG = //p' "$global")" >/dev/null; then
		make_flags+=(with_llvm=no)
	fi
}

# --- building

# Tracked and new files as they are now, not as they were committed.
copy_tree()
{
	local file

	mkdir -p "$1"
	if git -c safe.directory='*' -C "$root" rev-parse --git-dir >/dev/null 2>&1; then
		git -c safe.directory='*' -C "$root" ls-files -z --cached --others --exclude-standard |
			while IFS= read -r -d '' file; do
				[ ! -e "$root/$file" ] || printf '%s\0' "$file"
			done | tar -C "$root" --null -T - -cf - | tar -C "$1" -xf -
	else
		cp -R "$root/." "$1"
	fi
	[ -z "$test_user" ] || chown -R "$test_user": "$1"
}

# A repository that the caller owns: git clones no one else's.
commit_tree()
{
	local git=(git -C "$1" -c user.name=hpsort -c user.email=hpsort@example.org)

	copy_tree "$1"
	chown -R "$(id -u):$(id -g)" "$1"
	git init -q -b main "$1"
	"${git[@]}" add -A
	"${git[@]}" commit -q -m 'the working tree'
}

# build DIR [FLAG...]
build()
{
	as_user make -C "$1" -j"$(nproc)" "${make_flags[@]}" "${@:2}" all
}

# build_aloud DIR: what is being compiled, by tenths of the files; all else to build.log.
build_aloud()
{
	local command total files=0

	total=$(build "$1" -n 2>/dev/null | grep -c -- ' -c ') || true
	[ "$total" -gt 0 ] || total=1
	build "$1" --no-silent 2>&1 | tee "$work/build.log" | while read -r command; do
		[[ "$command" == *" -c "* && "$command " =~ ([^ ]+\.(c|cpp|cu))\  ]] || continue
		files=$((files + 1))
		[ $((files * 10 / total)) = $(((files - 1) * 10 / total)) ] || echo "  $files of $total files: ${BASH_REMATCH[1]}"
	done
}

# as_installer COMMAND: as somebody who may write into the PostgreSQL chosen.
as_installer()
{
	local libdir

	libdir=$("$pg_config" --pkglibdir)
	if [ -w "$libdir" ]; then
		"$@"
	elif may_be_root; then
		as_root "$@"
	else
		echo "no right to install into $libdir: run as root, after sudo -v, or set PG_CONFIG to a PostgreSQL of your own" >&2
		return 1
	fi
}

install_built()
{
	as_installer make -C "$1" "${make_flags[@]}" install
}

# Installs what is missing, and chooses the newest PostgreSQL found, if hpsort
# may be installed into it.
use_newest_postgres()
{
	need build
	find_postgres
	[ ${#postgres_list[@]} -gt 0 ] || die "no PostgreSQL with server headers found (PG_CONFIG=${PG_CONFIG:-})"
	use_postgres "${postgres_list[-1]}"
	as_installer true || exit 2
}

# The newest PostgreSQL found, into which hpsort has been installed already.
use_installed()
{
	find_postgres
	[ ${#postgres_list[@]} -gt 0 ] || die "no PostgreSQL found (PG_CONFIG=${PG_CONFIG:-})"
	use_postgres "${postgres_list[-1]}"
}

# The working tree, built for and installed into the newest PostgreSQL found.
use_working_tree()
{
	use_newest_postgres
	make_flags+=("$@")
	if [ -n "${BUILT:-}" ]; then
		cp -a "$BUILT" "$work/src"
		return
	fi
	echo "building hpsort for PostgreSQL $version in $bindir"
	copy_tree "$work/src"
	if ! { build_aloud "$work/src" && install_built "$work/src" >>"$work/build.log" 2>&1; }; then
		tail -n 50 "$work/build.log" >&2
		exit 1
	fi
}

# --- PostgreSQLs in root directories of other systems

# What a newer Debian has already, and this system's has not, can be unpacked below
# /opt with the libraries and the compiler that belong to it, and used by chroot.
find_systems()
{
	local file dir config system have=" "

	system_list=()
	[ -z "${PG_CONFIGS:-${PG_CONFIG:-}}" ] || return 0
	for config in "${postgres_list[@]}"; do
		have+="$("$config" --version | sed 's/^[^0-9]*\([0-9]*\).*/\1/') "
	done
	for file in /opt/*/usr/lib/postgresql/*/bin/pg_config; do
		dir=${file%/bin/pg_config}
		system=${dir%/usr/lib/postgresql/*}
		[ -x "$dir/bin/postgres" ] && [ -e "$system/usr/include/postgresql/${dir##*/}/server/postgres.h" ] || continue
		[[ "$have" != *" ${dir##*/} "* && " ${system_list[*]} " != *" $system "* ]] || continue
		if [ "$(id -u)" = 0 ]; then
			system_list+=("$system")
		else
			echo "PostgreSQL ${dir##*/} in $system is skipped: only root can use it"
		fi
	done
}

# The mounts and the processes are in namespaces of their own: both are gone when the
# command has ended, however it ends.
start_system()
{
	local system=$1 tmp=$2

	shift 2
	mkdir -m 1777 "$tmp"
	copy_tree "$tmp/hpsort"
	unshare --mount --pid --fork --kill-child bash -ec '
		mount -t proc proc "$0/proc"
		mount --rbind /dev "$0/dev"
		mount -t tmpfs -o mode=1777 tmpfs "$0/dev/shm"
		mount --bind "$1" "$0/tmp"
		exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
			sh -c "cd /tmp/hpsort && exec \"\$@\"" - "${@:2}"
	' "$system" "$tmp" "$@" </dev/null &
	system_pids+=($!)
}

# --- the server

# start_server [SETTING=VALUE...]: a new cluster; psql and friends find it.
start_server()
{
	local setting

	# A short path: a socket's may have about 100 bytes.
	data=$work/data
	export PGHOST=$work PGPORT=5432 PGUSER=postgres PGDATABASE=postgres
	unset PGSERVICE PGOPTIONS PGPASSWORD PGHOSTADDR
	[ -z "$test_user" ] || chown "$test_user": "$work"

	as_user "$bindir/initdb" -D "$data" -U postgres -A trust -E UTF8 --locale=C --no-sync >"$work/initdb.log" 2>&1 ||
		{ cat "$work/initdb.log" >&2; return 1; }
	for setting in listen_addresses= "unix_socket_directories=$work" fsync=off autovacuum=off "$@"; do
		echo "${setting%%=*} = '${setting#*=}'"
	done | as_user tee -a "$data/postgresql.conf" >/dev/null
	server_bindir=$bindir
	as_user "$bindir/pg_ctl" -D "$data" -l "$work/server.log" -w -s start ||
		{ tail -20 "$work/server.log" >&2; return 1; }
}

stop_server()
{
	[ -n "$server_bindir" ] || return 0
	as_user "$server_bindir/pg_ctl" -D "$data" -m immediate -s stop >/dev/null 2>&1 || true
	server_bindir=
	rm -rf "$data"
}
