#!/bin/bash
# packages.sh: the packages, built, installed, used and removed on a bare Debian
# (make packages-test).
#
#	test/packages.sh --quick	what .ci/run has room for: META.json, PGXN's zip, the Debian
#							package built from it, lintian, apt install, a query, apt
#							purge.  Not PGXN's own steps, autopkgtest and the Dockerfile's.
#
#	SUITE=bookworm			Debian's release
#	MORE_SUITES="..."		further ones that apt takes packages from: SUITE=sid
#							MORE_SUITES=experimental MAJORS=19 is the PostgreSQL to come
#	MAJORS="..."			PostgreSQLs to build for besides those of postgresql-server-dev-all
#	MIRROR=http://...		its repository
#	BASE=/path				a debootstrapped root of SUITE, copied instead of making one
#
# Needs root, a network, debootstrap, git, and 5 GB in TMPDIR.  Takes a quarter of an hour,
# --quick some four minutes: everything runs in roots below TMPDIR, nothing is installed
# on the host, and what is mounted there is unmounted with the process that needs it.
set -euo pipefail
cd "$(dirname "$0")/.."
source test/lib.sh

quick=
case "$*" in
	'') ;;
	--quick) quick=yes ;;
	*) die "usage: test/packages.sh [--quick]" ;;
esac
SUITE=${SUITE:-bookworm}
MIRROR=${MIRROR:-http://deb.debian.org/debian}
MAJORS=${MAJORS:-}

step()
{
	echo "--- $*"
}

# in_root ROOT COMMAND...: what it mounts and starts ends with it.
in_root()
{
	unshare --mount --pid --fork --kill-child bash -c '
		mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && cd / &&
		exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
			PG_MAJOR="$0" chroot "$@"' "${pg_major:-}" "$@"
}

# make_root ROOT FROM [PACKAGE...]
make_root()
{
	local to=$1 from=$2

	shift 2
	cp -a "$from" "$to"
	[ $# = 0 ] || in_root "$to" apt-get -qq -o Dpkg::Options::=--force-unsafe-io install -y --no-install-recommends "$@" >"$work/apt.log" 2>&1 ||
		{ tail -20 "$work/apt.log" >&2; return 1; }
}

# --- META.json and the versions: right as they are, and refused when they are not

# refuse FILE SED-SCRIPT: meta.pl must not accept this change.
refuse()
{
	rm -rf "$work/meta"
	mkdir -p "$work/meta/debian"
	cp -r META.json hpsort.control README.md CHANGELOG.md sql "$work/meta"
	cp debian/changelog "$work/meta/debian"
	packaging/meta.pl "$work/meta" >/dev/null
	sed -i "$2" "$work/meta/$1"
	! cmp -s "$1" "$work/meta/$1" || die "sed changes nothing: $1 $2"
	! packaging/meta.pl "$work/meta" >/dev/null 2>&1 || die "meta.pl accepts $1 after $2"
}

step "META.json"
version=$(packaging/meta.pl)
refuse hpsort.control "s/^default_version.*/default_version = '99.0'/"
refuse debian/changelog '1s/([0-9.]*/(99.0.0/'
refuse CHANGELOG.md 's/^## [0-9.]* (/## 99.0.0 (/'
refuse META.json 's/^\t"version": ".*"/\t"version": "99.0.0"/'
refuse META.json 's/^\t\t\t"version": ".*"/\t\t\t"version": "99.0.0"/'
refuse META.json '/"maintainer"/d'
refuse META.json 's/"license": "postgresql"/"license": "beerware"/'
refuse META.json 's/"runtime"/"always"/'
refuse META.json 's/"PostgreSQL": "15.0.0"/"PostgreSQL": "15"/'
refuse META.json 's/"tags": \[.*\]/"tags": ["a\/b"]/'
refuse META.json 's/"generated_by"/"made_by"/'
refuse META.json 's/README.md/MISSING.md/'
refuse META.json 's/"name": "hpsort",/"name": "hpsort"/'

# --- the root to build in

[ "$(id -u)" = 0 ] || die "needs root: chroot, mount"
if [ -z "${BASE:-}" ]; then
	step "debootstrap $SUITE"
	need_packages $(command -v debootstrap >/dev/null || echo debootstrap)
	BASE=$work/base
	debootstrap --variant=minbase --include=ca-certificates "$SUITE" "$BASE" "$MIRROR" >"$work/debootstrap.log" 2>&1 ||
		{ tail -5 "$work/debootstrap.log" >&2; exit 1; }
fi
make_root "$work/bare" "$BASE"
cp /etc/hosts /etc/resolv.conf "$work/bare/etc/"
# How this system reaches a mirror, and whether it believes one that has grown old.
apt-config dump | grep -E '^Acquire::(Check-Valid-Until|Retries|https?::Proxy) ' >"$work/bare/etc/apt/apt.conf.d/80host" || true
for suite in ${MORE_SUITES:-}; do
	echo "deb $MIRROR $suite main" >>"$work/bare/etc/apt/sources.list"
done
# Experimental's packages are not taken unless somebody says so.
for major in $MAJORS; do
	printf 'Package: src:postgresql-%s\nPin: version *\nPin-Priority: 500\n\n' "$major" >>"$work/bare/etc/apt/preferences.d/postgresql"
done
in_root "$work/bare" apt-get -qq update

step "what the build needs, and PGXN's zip"
tree=/home/builder/hpsort
# logged NAME COMMAND...: the end of its output, if it fails
logged()
{
	local log=$work/$1.log

	shift
	"$@" >"$log" 2>&1 </dev/null || { tail -n 60 "$log" >&2; return 1; }
}

# The zip is the tree that everything is built from: a file that it lacks is missed.
commit_tree "$work/committed"
logged dist make -s -C "$work/committed" dist
home=/home/builder
tree=$home/hpsort-$version
make_root "$work/build" "$work/bare" dpkg-dev lintian unzip
in_root "$work/build" useradd -m -s /bin/bash builder
cp "$work/committed/hpsort-$version.zip" "$work/build$home"
in_root "$work/build" runuser -u builder -- unzip -q "$home/hpsort-$version.zip" -d "$home"
# The quick form has no use for the many packages that "make installcheck" needs.
in_root "$work/build" apt-get -qq -o Dpkg::Options::=--force-unsafe-io build-dep -y --no-install-recommends \
	${quick:+--build-profiles nocheck} "$tree" >"$work/apt.log" 2>&1 || { tail -20 "$work/apt.log" >&2; exit 1; }
for major in $MAJORS; do
	packages=("postgresql-server-dev-$major")
	[ -n "$quick" ] || packages+=("postgresql-$major")
	logged apt in_root "$work/build" apt-get -qq -o Dpkg::Options::=--force-unsafe-io install -y --no-install-recommends "${packages[@]}"
done

# as_builder SCRIPT
as_builder()
{
	in_root "$work/build" runuser -u builder -- env HOME=$home bash -euc "cd $tree && $1"
}

# nothing_left ROOT: no file has hpsort's name.
nothing_left()
{
	local left

	left=$(find "$1" -xdev \( -path "$1/home" -o -path "$1/proc" -o -path "$1/dev" \) -prune -o -iname '*hpsort*' -print)
	[ -z "$left" ] || { echo "left behind:"$'\n'"$left" >&2; return 1; }
}

# --- PGXN: the zip, unpacked where there is no git, by the steps of "pgxn install"

if [ -z "$quick" ]; then
	step "PGXN: make, make install, make installcheck, make uninstall"
	logged pgxn as_builder 'make -s'
	logged install in_root "$work/build" make -s -C "$tree" install
	logged pgxn_check as_builder 'pg_virtualenv make -s installcheck'
	logged uninstall in_root "$work/build" make -s -C "$tree" uninstall
	nothing_left "$work/build"
	logged clean as_builder 'make -s clean'
fi

# --- Debian

step "Debian: make deb"
logged deb as_builder "${quick:+DEB_BUILD_PROFILES=nocheck DEB_BUILD_OPTIONS=nocheck }make deb"
sed -n '/^build\/deb\/.*\.deb$/p' "$work/deb.log"
step "Debian: lintian"
as_builder 'lintian --fail-on error build/deb/*.changes'
mkdir "$work/debs"
cp "$work/build$tree"/build/deb/*hpsort_*.deb "$work/debs"
if [ -z "$quick" ]; then
	step "Debian: autopkgtest's installcheck"
	cp -r "$work/debs" "$work/build/tmp/debs"
	logged install in_root "$work/build" bash -c 'apt-get -qq install -y /tmp/debs/*.deb && rm -r /tmp/debs'
	logged autopkgtest as_builder 'rm -rf build && debian/tests/installcheck'
	grep -oE 'All [0-9]+ tests passed' "$work/autopkgtest.log"
fi

# What a user does: apt install, CREATE EXTENSION, a query; apt purge.
use_it()
{
	in_root "$1" bash -euo pipefail -s <<'SCRIPT'
apt-get -qq install -y --no-install-recommends /tmp/debs/*.deb >/tmp/apt.log 2>&1 </dev/null || { tail /tmp/apt.log >&2; exit 1; }
rm -r /tmp/debs /tmp/apt.log
for package in $(dpkg-query -W -f '${Package}\n' 'postgresql-*-hpsort'); do
	major=${package//[!0-9]/}
	# Of several versions installed at once only the newest gets a cluster.
	[ -e "/etc/postgresql/$major/main" ] || pg_createcluster "$major" main >/dev/null
	pg_lsclusters -h "$major" main | grep -q online || pg_ctlcluster "$major" main start
	runuser -u postgres -- psql -XAtq --cluster "$major/main" -v ON_ERROR_STOP=1 <<'SQL'
CREATE EXTENSION hpsort;
CREATE TABLE t AS SELECT (i * 7919) % 1000 AS x FROM generate_series(1, 100000) i;
SELECT version();
SELECT hpsort_agg(x) = array_agg(x ORDER BY x) AS same FROM t \gset
\if :same
\else
	\warn hpsort_agg is wrong
	SELECT 1 / 0;
\endif
DROP TABLE t;
DROP EXTENSION hpsort;
SQL
	files=$(dpkg -L "$package")
	apt-get -qq purge -y "$package" 2>&1 </dev/null | grep -i 'preloaded into' ||
		{ echo "no warning of servers that hpsort is preloaded into" >&2; exit 1; }
	for file in $files; do
		[ -d "$file" ] || [ ! -e "$file" ] || { echo "left behind: $file" >&2; exit 1; }
	done
	pg_ctlcluster "$major" main restart
	runuser -u postgres -- psql -XAtq --cluster "$major/main" -c "SELECT 'still there'"
done
! dpkg-query -W -f '${db:Status-Status} ${Package}\n' '*hpsort*' 2>/dev/null | grep -v '^not-installed '
SCRIPT
}

step "Debian: apt install on a bare root, a query, apt purge"
make_root "$work/user" "$work/bare"
cp -r "$work/debs" "$work/user/tmp/debs"
use_it "$work/user"
nothing_left "$work/user"

if [ -n "$quick" ]; then
	echo "packages: passed"
	exit
fi

# --- Docker: its file's steps, on a root with PostgreSQL in place of the image

step "Docker"
pg_major=$(ls "$work/build/usr/lib/postgresql" | tail -1)
make_root "$work/postgres" "$work/bare" "postgresql-$pg_major"
while read -r instruction arguments; do
	case $instruction in
		FROM)
			stage=$work/docker-${arguments##* }
			stage=${stage/postgres:\$PG_MAJOR/final}
			make_root "$stage" "$work/postgres"
			;;
		RUN)
			echo "$arguments"
			logged docker in_root "$stage" bash -euc "$arguments"
			;;
		COPY)
			read -r from to <<<"${arguments#--from=build }"
			if [ "$from" = . ]; then
				copy_tree "$stage$to"
			else
				cp -a "$work/docker-build$from." "$stage$to"
			fi
			;;
		'' | '#'* | ARG) ;;
		*) die "unknown instruction $instruction" ;;
	esac
done <packaging/docker/Dockerfile
in_root "$work/docker-final" bash -euo pipefail -c '
	pg_lsclusters -h "$PG_MAJOR" main | grep -q online || pg_ctlcluster "$PG_MAJOR" main start
	runuser -u postgres -- psql -XAtq -v ON_ERROR_STOP=1 -c "CREATE EXTENSION hpsort" -c "SELECT hpsort(ARRAY[3, 1, 2])"' | grep -Fx '{1,2,3}'

echo "packages: passed"
