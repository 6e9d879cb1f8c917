# hpsort: make && make install, as every PostgreSQL extension.  See README.md.
#
# PG_CONFIG=/path/to/pg_config	the PostgreSQL to build for
# COPT=-Werror			further compiler flags, for C and C++
# WITH_CUDA=auto|yes|no		the targets of cuda/cuda.mk: where nvcc is, always, never
# with_llvm=no			no bitcode for JIT inlining (where clang is missing)

EXTENSION = hpsort
# Other files that name a version are checked by packaging/meta.pl.
HPSORT_VERSION := $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" hpsort.control)
MODULE_big = hpsort
# The script of each version, and those that update from one to another.
DATA = $(sort $(wildcard sql/hpsort--*.sql))
PGFILEDESC = "hpsort - fast percentiles, value counts and sorting of integer columns"

SORT_OBJS = $(patsubst %.c,%.o,$(sort $(wildcard src/sort/*.c src/sort/*/*.c)))
# The client of the GPU service; the service itself is a program, see src/gpud/gpud.mk.
GPU_CLIENT_OBJS = $(patsubst %.c,%.o,$(sort $(wildcard src/gpu/*.c)))
PG_ROOMS = src/pg src/pg/* src/pg/*/* src/pg/*/*/*
OBJS = $(SORT_OBJS) $(GPU_CLIENT_OBJS) $(patsubst %.c,%.o,$(sort $(wildcard $(PG_ROOMS:%=%/*.c))))
ALL_HEADERS = $(wildcard src/sort/*.h src/sort/*/*.h src/gpu/*.h src/gpud/*.h $(PG_ROOMS:%=%/*.h))

# C++ is kept out of OBJS: PGXS wants clang bitcode of whatever is in there.
CXX_OBJS = $(patsubst %.cpp,%.o,$(sort $(wildcard src/sort/*/*.cpp)))
# -fmerge-all-constants: without it gcc 12 copies Highway's tables for Compress, 2 KiB, to
# the stack at each use; kernel_partition_pairs of 1e7 took 86 ms instead of 4.5 (Zen 4)
HPSORT_CXXFLAGS = -fmerge-all-constants -std=c++17 -fPIC -fno-exceptions -fno-rtti -fvisibility=hidden -fvisibility-inlines-hidden
CXX_LIBS = -lhwy_contrib -lhwy -lstdc++ -lpthread

# Every #include names its room: "sort/sorter/sorter.h".
# gcc vectorises hardly any loop at -O2 by itself: rows of kept columns with a condition, counted and
# summed by 1,000 groups, take 11 ms of 4e6 without, and 7.7 with it (Intel Xeon, PostgreSQL 17)
PG_CFLAGS = $(CFLAGS_VECTORIZE)
PG_CPPFLAGS = -I$(srcdir)/src -DHPSORT_VERSION='"$(HPSORT_VERSION)"' $(GPU_CPPFLAGS) $(if $(GPUD_CUDA),-DHPSORT_WITH_CUDA)
# Symbolic: PostgreSQL loads modules globally, and before 16 shows all their symbols to each other.
SHLIB_LINK = $(CXX_OBJS) $(CXX_LIBS) -Wl,-Bsymbolic
EXTRA_CLEAN = $(CXX_OBJS) build

REGRESS = $(basename $(notdir $(sort $(wildcard test/sql/*.sql))))
REGRESS_OPTS = --inputdir=test
ISOLATION = $(basename $(notdir $(sort $(wildcard test/specs/*.spec))))
# The expected results of both are in expected/, where PostgreSQL 15 looks from the output's directory.
ISOLATION_OPTS = --inputdir=test --outputdir=. --load-extension=hpsort
PROVE_TESTS = $(sort $(wildcard test/t/*.pl))
PGTAP_TESTS = $(sort $(wildcard test/pgtap/*.sql))
PGTAP_DB = hpsort_pgtap
# More at a time would compete for the server's parallel workers, which some demand.
PGTAP_JOBS = 2

.PHONY: all unit test test-all coreregress stress resident-mutants demo docs-test packages-test bench publicbench pgtap prove_installcheck dist deb
all:

test:
	@test/run.sh

test-all:
	@test/run.sh --all

coreregress:
	@test/coreregress.sh

stress:
	@test/stress.sh

resident-mutants:
	@test/resident_mutants.sh

demo:
	@test/demo.sh

docs-test:
	@test/docs.sh

bench:
	@bench/run.sh

publicbench:
	@bench/public_bench.sh $(PUBLICBENCH_ARGS)

# What PGXN takes: the last commit, once meta.pl has found nothing wrong with it.
dist:
	@version=$$(packaging/meta.pl) && set -x && \
	git archive --format zip --prefix=hpsort-$$version/ -o hpsort-$$version.zip HEAD

deb:
	@packaging/deb.sh

packages-test:
	@test/packages.sh

# Everything below src/pg is built and tested without PostgreSQL: the CUDA
# library, which is no part of hpsort.so ...

WITH_CUDA ?= auto
NVCC ?= $(firstword $(shell command -v nvcc) $(wildcard /usr/local/cuda/bin/nvcc))
ifeq ($(WITH_CUDA)$(NVCC),yes)
$(error WITH_CUDA=yes, but there is no nvcc: install the CUDA toolkit or give NVCC=/path/to/nvcc)
endif
ifneq ($(wildcard cuda/cuda.mk),)
ifneq ($(WITH_CUDA),no)
.PHONY: cuda cuda-test-host cuda-clean gputest gpubench
include cuda/cuda.mk
endif
ifneq ($(filter all,$(or $(MAKECMDGOALS),all)),)
$(info hpsort: CUDA library: $(if $(filter no,$(WITH_CUDA)),not built (WITH_CUDA=no),$(if $(NVCC),"make cuda" builds it with $(NVCC),not built (no nvcc))))
endif
endif

# ... the GPU service, a program of its own, and the unit tests.

include src/gpud/gpud.mk
include test/gpu_stub/stub.mk
include test/unit.mk
include test/fuzz/fuzz.mk

# The rest needs PostgreSQL, headers included: Debian has pgxs.mk without them.

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs 2>/dev/null)

ifneq ($(wildcard $(shell $(PG_CONFIG) --includedir-server 2>/dev/null)/postgres.h),)
include $(PGXS)

$(OBJS) $(OBJS:.o=.bc) $(CXX_OBJS): $(ALL_HEADERS) Makefile hpsort.control
$(shlib): $(CXX_OBJS)

# -O2 first: PostgreSQL may be built without, but Highway is hopeless then.
$(CXX_OBJS): %.o: %.cpp
	@$(find_highway)
	$(CXX) -O2 $(CXXFLAGS) $(if $(findstring sanitize,$(CXX)),$(SANITIZED_CXXFLAGS),$(HPSORT_CXXFLAGS)) -I$(srcdir)/src -c -o $@ $<

# A server that should load what is no longer there refuses every connection.
.PHONY: uninstall_warning
uninstall: uninstall_warning
uninstall_warning:
	@echo "warning: a server that hpsort is preloaded into will refuse all connections, or not start, without it:" >&2
	@echo "take it out of shared_preload_libraries and session_preload_libraries first, as README.md says under Uninstall" >&2

# Perl tests start their own servers; not as root.  Some have a GPU service, with the stub of a GPU.
prove_installcheck: $(GPU_STUB)
	@test -n "$(PROVE_TESTS)" || { echo "no tests in test/t" >&2; exit 1; }
	$(prove_installcheck)

# pgTAP tests run on the server that psql finds, as installcheck does.
pgtap:
	@test -n "$(PGTAP_TESTS)" || { echo "no tests in test/pgtap" >&2; exit 1; }
	@command -v pg_prove >/dev/null || { echo "pg_prove not found: install libtap-parser-sourcehandler-pgtap-perl" >&2; exit 1; }
	'$(bindir)/dropdb' --if-exists $(PGTAP_DB)
	'$(bindir)/createdb' $(PGTAP_DB)
	'$(bindir)/psql' -qX -v ON_ERROR_STOP=1 -d $(PGTAP_DB) -c 'CREATE EXTENSION pgtap' -c 'CREATE EXTENSION hpsort'
	pg_prove --timer --jobs $(PGTAP_JOBS) --psql-bin '$(bindir)/psql' -d $(PGTAP_DB) $(PGTAP_TESTS)
else
all install uninstall installcheck prove_installcheck pgtap:
	@echo "PostgreSQL's server headers not found with PG_CONFIG=$(PG_CONFIG): install postgresql-server-dev-NN" >&2; exit 1

# make gpu-stub needs no PostgreSQL: where there is none, these objects have no rules of PGXS.
$(SORT_OBJS): %.o: %.c
	$(CC) $(GPUD_CFLAGS) -fPIC -c -o $@ $<

$(CXX_OBJS): %.o: %.cpp
	@$(find_highway)
	$(CXX) -O2 $(CXXFLAGS) $(HPSORT_CXXFLAGS) -Isrc -c -o $@ $<

clean:
	rm -rf $(OBJS) $(OBJS:.o=.bc) hpsort.so $(EXTRA_CLEAN)
endif
