#!/bin/bash
# demo.sh: hpsort at work on real data, beside PostgreSQL's own (make demo).
#
#	PG_CONFIG=/path/to/pg_config	this PostgreSQL, not the newest found
#
# Installs what is missing where it may, builds and installs hpsort, starts a
# server of its own, runs demo.sql there, and stops the server.  Fails if any
# result differs from PostgreSQL's.
set -euo pipefail
cd "$(dirname "$0")/.."
source test/lib.sh

# Where there is a GPU, it is to be seen at work.
cuda=()
if command -v nvidia-smi >/dev/null && { command -v nvcc || [ -x /usr/local/cuda/bin/nvcc ]; } >/dev/null; then
	cuda=(WITH_CUDA=yes CUDA_ARCHS=native)
fi
use_working_tree "${cuda[@]}"

# Memory enough for PostgreSQL to sort all rows without a file.
start_server shared_buffers=256MB work_mem=256MB
gunzip -c test/data/flights-sample.csv.gz >"$work/flights.csv"
echo
as_user "$bindir/psql" -X -q -v ON_ERROR_STOP=1 -v flights="$work/flights.csv" -f "$work/src/test/demo.sql" 2>&1
