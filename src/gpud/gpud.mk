# gpud.mk: hpsort-gpud, the GPU service; included by the root Makefile.
#
# The service is built where the CUDA library is.  It shares src/sort's objects with
# hpsort.so.  test/gpu_stub has another program of the same objects, for tests.

# The service measures itself through the client (costs.c).
GPUD_OBJS = $(GPU_CLIENT_OBJS) $(patsubst %.c,%.o,$(sort $(wildcard src/gpud/*.c)))

# Both ends compare this: the version, and a checksum of the sources that say what
# goes over the socket.
HPSORT_BUILD := $(HPSORT_VERSION)-$(shell \
	cat src/gpu/protocol.h src/gpu/protocol.c src/gpu/gpu_types.h src/sort/extents/extent.h src/sort/extents/rows_layout.h src/sort/device/device.h src/sort/plan.h src/sort/sort_types.h | cksum | cut -d' ' -f1)
GPU_CPPFLAGS = -DHPSORT_BUILD='"$(HPSORT_BUILD)"'

GPUD_CUDA =
ifneq ($(CUDA_LIB),)
ifneq ($(NVCC),)
GPUD_CUDA = $(CUDA_LIB)
endif
endif

GPUD = build/hpsort-gpud
GPUD_CFLAGS = -std=gnu11 -O2 -g -Wall -Wextra -Wdeclaration-after-statement $(COPT) \
	-Isrc -Icuda $(GPU_CPPFLAGS)
GPUD_HEADERS = $(ALL_HEADERS) $(wildcard cuda/*.h cuda/published/*.h test/gpu_stub/*.h)

build/gpud/%.o: %.c $(GPUD_HEADERS) src/gpud/gpud.mk
	@mkdir -p $(@D)
	$(CC) $(GPUD_CFLAGS) -c -o $@ $<

$(GPUD): $(addprefix build/gpud/,$(GPUD_OBJS)) $(SORT_OBJS) $(CXX_OBJS) $(GPUD_CUDA)
	$(CXX) -o $@ $^ $(CXX_LIBS) $(CUDA_LIBS)

# service_is_installed() depends on WITH_CUDA, and is compiled anew when it has changed.  A file that is
# always there says which it was: PGXS has .SECONDARY, by which a prerequisite that is missing is as good
# as an old one.
build/gpud/with-cuda: with-cuda-is-looked-at
	@mkdir -p $(@D)
	@echo $(if $(GPUD_CUDA),yes,no) | cmp -s - $@ || echo $(if $(GPUD_CUDA),yes,no) >$@
src/pg/gpu/service_process.o src/pg/gpu/service_process.bc: build/gpud/with-cuda

.PHONY: install-gpud uninstall-gpud with-cuda-is-looked-at
ifneq ($(GPUD_CUDA),)
all: $(GPUD)
install: install-gpud
endif
uninstall: uninstall-gpud

install-gpud: $(GPUD)
	$(MKDIR_P) '$(DESTDIR)$(pkglibdir)'
	$(INSTALL_PROGRAM) $(GPUD) '$(DESTDIR)$(pkglibdir)/hpsort-gpud'

uninstall-gpud:
	rm -f '$(DESTDIR)$(pkglibdir)/hpsort-gpud'

# bench/gpu/service_bench SOCKET ...: the service as a client sees it.
build/service_bench: bench/gpu/service_bench.c $(GPU_CLIENT_OBJS:%=build/gpud/%) $(SORT_OBJS) $(CXX_OBJS)
	$(CC) $(GPUD_CFLAGS) -o $@ $^ $(CXX_LIBS) -lm

# On a host with a GPU, with hpsort installed into the PostgreSQL of PG_CONFIG:
# the SQL suite before the engine's own tests, the SQL grid before its benchmark.
.PHONY: gputest-sql gpubench-sql
gputest: gputest-sql
gputest-sql:
	test/gpu_sql.sh
	test/gpu_resident.sh
gpubench: gpubench-sql
gpubench-sql:
	bench/gpu/sql_grid.sh
	bench/gpu/plot.sh "$${OUT:-build/bench}/gpu_sql.csv"
	bench/gpu/order_grid.sh
