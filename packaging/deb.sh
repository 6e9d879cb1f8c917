#!/bin/bash
# deb.sh: Debian packages of the working tree, in build/deb (make deb).
#
# One for each PostgreSQL with server headers, and hpsort-gpud where nvcc is.  What
# the build needs: apt-get build-dep ./
set -euo pipefail
cd "$(dirname "$0")/.."

# The make that called has no say in the package's makes.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

version=$(packaging/meta.pl)
source=build/deb/hpsort-$version
rm -rf build/deb
mkdir -p "$source"
# dpkg-buildpackage writes beside the sources, and rewrites debian/control.
tar --exclude=./.git --exclude=./build --exclude='*.o' --exclude='*.bc' --exclude='*.so' -cf - . | tar -C "$source" -xf -

if [ "${WITH_CUDA:-auto}" != no ] && { command -v nvcc || [ -x /usr/local/cuda/bin/nvcc ]; } >/dev/null; then
	export DEB_BUILD_PROFILES="${DEB_BUILD_PROFILES:-} pkg.hpsort.cuda"
fi
cd "$source"
dpkg-buildpackage -b -us -uc
cd ../../..
rm -rf "$source"
ls build/deb/*.deb
