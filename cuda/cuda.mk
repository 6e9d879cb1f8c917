# cuda.mk: builds, tests and measures the CUDA engine.  Self-contained; the root Makefile includes
# it.
#
#   make -f cuda/cuda.mk cuda              build/cuda/libhpsort_cuda.a
#   make -f cuda/cuda.mk cuda-test-host    tests that need neither GPU nor driver
#   make -f cuda/cuda.mk cuda-test-link    the library from C, with or without a GPU
#   make -f cuda/cuda.mk gputest           tests on a GPU (GPUTEST_ARGS=--huge ...)
#   make -f cuda/cuda.mk gpubench          benchmark on a GPU, CSV in bench/results/
#                                          (GPUBENCH_ARGS="--algorithms hp": one by name)
#   make -f cuda/cuda.mk publishedtest     tests of the papers' algorithms (cuda/published)
#   make -f cuda/cuda.mk papersbench       the papers' figures, CSV in bench/results/
#   make -f cuda/cuda.mk cuda-clean
#
# CUDA_ARCHS lists the compute capabilities to compile for; the newest one is
# also kept as PTX, so that later GPUs work.  CUDA_ARCHS=native is quick to build
# and enough for gputest and gpubench.

CUDA_ROOT := $(patsubst %/,%,$(dir $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))))
ifeq ($(CUDA_ROOT),)
CUDA_ROOT := .
endif

NVCC ?= $(firstword $(shell command -v nvcc 2>/dev/null) $(wildcard /usr/local/cuda/bin/nvcc))
CUDA_CC ?= cc
CUDA_BUILD ?= $(CUDA_ROOT)/build/cuda
ifndef CUDA_ARCHS
CUDA_ARCHS := 75 80 86 89 90 100 120
# the architectures that this nvcc knows: the last two came with CUDA 12.8
ifneq ($(NVCC),)
CUDA_ARCHS := $(or $(filter $(patsubst compute_%,%,\
	$(shell $(NVCC) --list-gpu-arch 2>/dev/null)),$(CUDA_ARCHS)),$(CUDA_ARCHS))
endif
endif

# architectures compiled at the same time within one file
CUDA_THREADS ?= 2

ifeq ($(CUDA_ARCHS),native)
CUDA_GENCODE := -arch=native
else
CUDA_GENCODE := $(foreach arch,$(CUDA_ARCHS),-gencode arch=compute_$(arch),code=sm_$(arch)) \
	-gencode arch=compute_$(lastword $(CUDA_ARCHS)),code=compute_$(lastword $(CUDA_ARCHS))
endif

CUDA_CFLAGS := -std=c11 -O2 -Wall -Wextra -fPIC
NVCC_FLAGS := -std=c++17 -O3 --extended-lambda $(CUDA_GENCODE) -t $(CUDA_THREADS) -cudart static \
	-Xcompiler -Wall,-Wextra,-fPIC -I$(CUDA_ROOT)/cuda $(NVCC_EXTRA)

CUDA_LIB := $(CUDA_BUILD)/libhpsort_cuda.a

# What a C program links after $(CUDA_LIB).  The runtime is static, so that a host needs nothing but
# the driver.
CUDA_HOME ?= $(patsubst %/bin/,%,$(dir $(realpath $(NVCC))))
CUDA_LIBS := -L$(CUDA_HOME)/lib64 -lcudart_static -lstdc++ -lpthread -ldl -lrt
CUDA_HEADERS := $(foreach dir,cuda cuda/*,$(wildcard $(CUDA_ROOT)/$(dir)/*.h $(CUDA_ROOT)/$(dir)/*.cuh))
CUDA_SOURCES := $(wildcard $(CUDA_ROOT)/cuda/*.cu $(CUDA_ROOT)/cuda/*/*.cu)
REGIME_OBJECTS := $(CUDA_BUILD)/regime.o $(CUDA_BUILD)/regime_memory.o
CUDA_OBJECTS := $(patsubst $(CUDA_ROOT)/cuda/%.cu,$(CUDA_BUILD)/%.o,$(CUDA_SOURCES)) \
	$(REGIME_OBJECTS)
CUDA_TEST_HEADERS := $(wildcard $(CUDA_ROOT)/test/cuda/*.cuh)
CUDA_TEST_OBJECTS := $(patsubst $(CUDA_ROOT)/test/cuda/%.cu,$(CUDA_BUILD)/test/%.o,\
	$(filter-out $(CUDA_ROOT)/test/cuda/test_published%,$(wildcard $(CUDA_ROOT)/test/cuda/*.cu)))

.PHONY: cuda cuda-tools cuda-test-host cuda-test-link gputest gpubench cuda-clean cuda-nvcc

cuda: $(CUDA_LIB)

# test and benchmark programs, for a host that has a GPU but no nvcc
cuda-tools: $(CUDA_BUILD)/gputest $(CUDA_BUILD)/gpubench $(CUDA_BUILD)/published_bench

cuda-nvcc:
	@test -n "$(NVCC)" || { echo "nvcc not found: set NVCC" >&2; exit 1; }

$(CUDA_BUILD)/%.o: $(CUDA_ROOT)/cuda/%.cu $(CUDA_HEADERS) | cuda-nvcc
	@mkdir -p $(@D)
	$(NVCC) $(NVCC_FLAGS) -c $< -o $@

$(REGIME_OBJECTS): $(CUDA_BUILD)/%.o: $(CUDA_ROOT)/cuda/%.c $(CUDA_HEADERS)
	@mkdir -p $(@D)
	$(CUDA_CC) $(CUDA_CFLAGS) -I$(CUDA_ROOT)/cuda -c $< -o $@

$(CUDA_LIB): $(CUDA_OBJECTS)
	rm -f $@
	$(AR) rcs $@ $^

$(CUDA_BUILD)/test/%.o: $(CUDA_ROOT)/test/cuda/%.cu $(CUDA_HEADERS) $(CUDA_TEST_HEADERS) | cuda-nvcc
	@mkdir -p $(@D)
	$(NVCC) $(NVCC_FLAGS) -I$(CUDA_ROOT)/test/cuda -c $< -o $@

$(CUDA_BUILD)/gputest: $(CUDA_TEST_OBJECTS) $(CUDA_LIB)
	$(NVCC) $(NVCC_FLAGS) $^ -o $@

$(CUDA_BUILD)/bench/%.o: $(CUDA_ROOT)/bench/gpu/%.cu $(wildcard $(CUDA_ROOT)/bench/gpu/*.cuh) $(CUDA_HEADERS) $(CUDA_TEST_HEADERS) | cuda-nvcc
	@mkdir -p $(@D)
	$(NVCC) $(NVCC_FLAGS) -I$(CUDA_ROOT)/test/cuda -c $< -o $@

$(CUDA_BUILD)/gpubench: $(patsubst %,$(CUDA_BUILD)/bench/%.o,gpubench gpubench_grid gpubench_packed) $(CUDA_LIB)
	$(NVCC) $(NVCC_FLAGS) $^ -o $@

$(CUDA_BUILD)/test_regime: $(CUDA_ROOT)/test/cuda/test_regime.c $(REGIME_OBJECTS)
	@mkdir -p $(@D)
	$(CUDA_CC) $(CUDA_CFLAGS) -I$(CUDA_ROOT)/cuda $^ -lcmocka -o $@

$(CUDA_BUILD)/test_arguments: $(CUDA_ROOT)/test/cuda/test_arguments.cpp $(CUDA_ROOT)/bench/gpu/arguments.h $(CUDA_HEADERS)
	@mkdir -p $(@D)
	$(CXX) -std=c++17 -O1 -Wall -Wextra -I$(CUDA_ROOT)/bench -I$(CUDA_ROOT)/cuda $< -o $@

cuda-test-host: $(CUDA_BUILD)/test_regime $(CUDA_BUILD)/test_arguments
	$(CUDA_BUILD)/test_regime
	$(CUDA_BUILD)/test_arguments

$(CUDA_BUILD)/test_link: $(CUDA_ROOT)/test/cuda/test_link.c $(CUDA_LIB)
	@mkdir -p $(@D)
	$(CUDA_CC) $(CUDA_CFLAGS) -I$(CUDA_ROOT)/cuda $< $(CUDA_LIB) $(CUDA_LIBS) -o $@

cuda-test-link: $(CUDA_BUILD)/test_link
	$(CUDA_BUILD)/test_link

# With programs built elsewhere (same names, in CUDA_BUILD), nvcc is not needed:
# the scripts build only what is missing.
gputest:
	MAKE="$(MAKE)" CUDA_BUILD="$(CUDA_BUILD)" $(CUDA_ROOT)/test/cuda/gputest.sh $(GPUTEST_ARGS)

gpubench:
	MAKE="$(MAKE)" CUDA_BUILD="$(CUDA_BUILD)" $(CUDA_ROOT)/bench/gpu/gpubench.sh $(GPUBENCH_ARGS)

# The papers' algorithms are in the same library.  They have a test and a benchmark program of their
# own.  The benchmark compares with src/sort on the CPU, and therefore needs Highway (libhwy-dev).

PUBLISHED_TEST_OBJECTS := $(patsubst $(CUDA_ROOT)/test/cuda/%.cu,$(CUDA_BUILD)/test/%.o,\
	$(wildcard $(CUDA_ROOT)/test/cuda/test_published*.cu))
PAPERS_OBJECTS := $(patsubst $(CUDA_ROOT)/bench/papers/%.cu,$(CUDA_BUILD)/papers/%.o,\
	$(wildcard $(CUDA_ROOT)/bench/papers/*.cu))
PAPERS_CPU_OBJECTS := $(patsubst %,$(CUDA_BUILD)/papers/sort_%.o,\
	algorithms error kernels/kernels kernels/partition kernels/vqsort kernels/wide \
	$(patsubst $(CUDA_ROOT)/src/sort/%.c,%,$(wildcard $(CUDA_ROOT)/src/sort/published/*.c)))

.PHONY: publishedtest papersbench published-tools

published-tools: $(CUDA_BUILD)/publishedtest $(CUDA_BUILD)/published_bench $(CUDA_BUILD)/papersbench

$(PUBLISHED_TEST_OBJECTS): $(CUDA_ROOT)/test/cuda/test_published.cuh

$(CUDA_BUILD)/publishedtest: $(PUBLISHED_TEST_OBJECTS) $(CUDA_LIB)
	$(NVCC) $(NVCC_FLAGS) $^ -o $@

$(CUDA_BUILD)/published_bench: $(CUDA_ROOT)/bench/gpu/published_bench.cu $(CUDA_ROOT)/bench/gpu/calls.cuh $(CUDA_ROOT)/bench/gpu/arguments.h $(CUDA_LIB) $(CUDA_HEADERS) $(CUDA_TEST_HEADERS) | cuda-nvcc
	@mkdir -p $(@D)
	$(NVCC) $(NVCC_FLAGS) -I$(CUDA_ROOT)/test/cuda $< $(CUDA_LIB) -o $@

$(CUDA_BUILD)/papers/%.o: $(CUDA_ROOT)/bench/papers/%.cu $(wildcard $(CUDA_ROOT)/bench/papers/*.cuh $(CUDA_ROOT)/bench/papers/*.h) $(CUDA_ROOT)/bench/gpu/calls.cuh \
		$(CUDA_HEADERS) $(CUDA_TEST_HEADERS) | cuda-nvcc
	@mkdir -p $(@D)
	$(NVCC) $(NVCC_FLAGS) -I$(CUDA_ROOT)/test/cuda \
		-I$(CUDA_ROOT)/src -c $< -o $@

$(CUDA_BUILD)/papers/sort_%.o: $(CUDA_ROOT)/src/sort/%.c
	@mkdir -p $(@D)
	$(CUDA_CC) -std=gnu11 -O2 -Wall -Wextra -I$(CUDA_ROOT)/src -c $< -o $@

$(CUDA_BUILD)/papers/sort_%.o: $(CUDA_ROOT)/src/sort/%.cpp
	@mkdir -p $(@D)
	$(CXX) -std=c++17 -O2 -fmerge-all-constants -fno-exceptions -fno-rtti -I$(CUDA_ROOT)/src -c $< -o $@

$(CUDA_BUILD)/papersbench: $(PAPERS_OBJECTS) $(PAPERS_CPU_OBJECTS) $(CUDA_LIB)
	$(NVCC) $(NVCC_FLAGS) $^ -lhwy_contrib -lhwy -o $@

publishedtest:
	MAKE="$(MAKE)" CUDA_BUILD="$(CUDA_BUILD)" $(CUDA_ROOT)/test/cuda/publishedtest.sh $(GPUTEST_ARGS)

papersbench:
	MAKE="$(MAKE)" CUDA_BUILD="$(CUDA_BUILD)" $(CUDA_ROOT)/bench/papers/papersbench.sh $(PAPERSBENCH_ARGS)

cuda-clean:
	rm -rf $(CUDA_BUILD)
