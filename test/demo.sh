#!/bin/bash
# demo.sh: hpsort at work on real data, beside PostgreSQL's own (make demo).
#
#	PG_CONFIG=/path/to/pg_config	this PostgreSQL, not the newest found
#
# Says what it is going to do, installs the packages that are missing, builds and
# installs hpsort, starts a server of its own, runs demo.sql there, stops the
# server, and puts the files of hpsort back as they were, none where there were
# none.  Fails if any result differs from PostgreSQL's.
set -euo pipefail
cd "$(dirname "$0")/.."
source test/lib.sh

cat <<'END'
This demo
- installs the Debian packages that hpsort needs and that are missing here; they stay
- builds hpsort in a temporary directory, and installs it into the newest PostgreSQL
- starts a server of its own there, on a socket only; your servers and databases are not touched
- at the end stops that server, and puts hpsort's files in that PostgreSQL back as they were before

END

# hpsort_files: the files of hpsort in the PostgreSQL chosen.
hpsort_files()
{
	local libdir sharedir

	libdir=$("$pg_config" --pkglibdir)
	sharedir=$("$pg_config" --sharedir)
	find "$libdir" "$sharedir/extension" \( -path "$libdir/hpsort*" -o -path "$libdir/bitcode/hpsort*" -o \
		-path "$sharedir/extension/hpsort*" \) ! -type d
}

# The archive of those files as they were; empty while nothing has been changed.
saved=
restore()
{
	local files

	[ -n "$saved" ] || return 0
	mapfile -t files < <(hpsort_files)
	[ ${#files[@]} = 0 ] || as_installer rm -f -- "${files[@]}"
	as_installer tar -xPf "$saved"
	# The directories of bitcode, which a PostgreSQL without JIT has not.
	as_installer find "$("$pg_config" --pkglibdir)/bitcode" -path '*/bitcode/hpsort*' -type d -empty -delete 2>/dev/null || true
	saved=
	echo "hpsort's files in $("$pg_config" --pkglibdir) are as they were before"
}
trap 'stop_server; restore; finish' EXIT

use_newest_postgres
hpsort_files | tar -cPf "$work/before.tar" --files-from=-
saved=$work/before.tar

# Without JIT, which is of no use to queries this short, no bitcode is needed.  Where
# there is a GPU, it is to be seen at work.
flags=(with_llvm=no)
if command -v nvidia-smi >/dev/null && { command -v nvcc || [ -x /usr/local/cuda/bin/nvcc ]; } >/dev/null; then
	flags+=(WITH_CUDA=yes CUDA_ARCHS=native)
fi
use_working_tree "${flags[@]}"

# Memory enough for PostgreSQL to sort all rows without a file.
start_server shared_buffers=256MB work_mem=256MB jit=off session_preload_libraries=hpsort hpsort.resident_memory=64MB
gunzip -c test/data/flights-sample.csv.gz >"$work/flights.csv"
echo "running test/demo.sql"
as_user "$bindir/psql" -X -q -v ON_ERROR_STOP=1 -v flights="$work/flights.csv" -f "$work/src/test/demo.sql" 2>&1
