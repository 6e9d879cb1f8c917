# stub.mk: hpsort-gpud with a stub in place of the CUDA library, for tests without a GPU; included
# by the root Makefile.
#
#   make gpu-stub       build/gpu_stub/hpsort-gpud; a server whose environment has its path as
#                       HPSORT_GPUD starts it as its GPU service
#
# The stub commits faults on purpose, see faults.c.  It is not installed.

# What takes the place of the CUDA library, and what else the service is given.
GPU_STUB_ENGINE = test/gpu_stub/engine.o test/gpu_stub/faults.o
GPU_STUB_OBJS = $(GPU_STUB_ENGINE) test/gpu_stub/messages.o
GPU_STUB_LINK = -Wl,--wrap=getsockopt,--wrap=sendmsg,--wrap=chunks_take,--wrap=job_add_rows

# The CPU takes longer than a GPU for what costs.c measures.
GPU_STUB_FLAGS = -D'MEDIUM_KEYS=((size_t) 1 << 17)'

GPU_STUB = build/gpu_stub/hpsort-gpud

build/gpu_stub/%.o: %.c $(GPUD_HEADERS) test/gpu_stub/stub.mk
	@mkdir -p $(@D)
	$(CC) $(GPUD_CFLAGS) $(GPU_STUB_FLAGS) -c -o $@ $<

$(GPU_STUB): $(addprefix build/gpu_stub/,$(GPUD_OBJS) $(GPU_STUB_OBJS)) $(SORT_OBJS) $(CXX_OBJS)
	$(CXX) $(GPU_STUB_LINK) -o $@ $^ $(CXX_LIBS)

.PHONY: gpu-stub
gpu-stub: $(GPU_STUB)
