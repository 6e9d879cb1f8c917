# make unit: the cmocka tests of src/sort and src/gpu, without PostgreSQL, twice:
# as compiled for use, and under the address and undefined-behaviour sanitizers.
# One program for each test/unit/*_test.c; what it needs besides src/sort and
# the GPU's client is in test/unit/*.c without _test.  Each variant has a
# hpsort-gpud of its own, with the stub of a GPU (test/gpu_stub).

CXX ?= g++
UNIT_FLAGS = -g -Wall -Wextra $(COPT) -Isrc -Icuda -Itest/unit $(GPU_STUB_FLAGS) $(GPU_CPPFLAGS)
UNIT_SANITIZE = -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
UNIT_TSAN = -O1 -fno-omit-frame-pointer -fsanitize=thread
UNIT_SRCS = $(sort $(wildcard test/unit/*.c))
UNIT_MAIN = $(filter %_test.c,$(UNIT_SRCS))
UNIT_HELP = $(filter-out %_test.c,$(UNIT_SRCS))
# of the one test that has the service in its own process
UNIT_GPUD_OBJS = $(filter-out src/gpud/main.o $(GPU_CLIENT_OBJS),$(GPUD_OBJS))
UNIT_OBJS = $(SORT_OBJS) $(CXX_OBJS) $(GPU_CLIENT_OBJS) $(UNIT_HELP:.c=.o)

# gcc's address sanitizer takes a constant that was made static for one that is out of scope.
SANITIZED_CXXFLAGS = $(filter-out -fmerge-all-constants,$(HPSORT_CXXFLAGS))

# A recipe's first line: fails with advice where Highway is missing.
find_highway = echo '\#include <hwy/contrib/sort/vqsort.h>' | $(CXX) -std=c++17 -E -x c++ - >/dev/null 2>&1 || \
	{ echo "Highway's headers not found: install libhwy-dev (Debian, Ubuntu) or highway-devel (Fedora)" >&2; exit 1; }

# $(1) directory under build/, $(2) flags
define unit_variant
build/$(1)/%.o: %.c $$(GPUD_HEADERS) $$(wildcard test/unit/*.h)
	@mkdir -p $$(@D)
	$$(CC) -std=gnu11 $(2) $$(UNIT_FLAGS) -c -o $$@ $$<

build/$(1)/%.o: %.cpp $$(ALL_HEADERS)
	@$$(find_highway)
	@mkdir -p $$(@D)
	$$(CXX) $(2) $$(UNIT_FLAGS) $$(if $(findstring sanitize,$(2)),$$(SANITIZED_CXXFLAGS),$$(HPSORT_CXXFLAGS)) -c -o $$@ $$<

build/$(1)/%_test: build/$(1)/test/unit/%_test.o $$(addprefix build/$(1)/,$$(UNIT_OBJS))
	$$(CXX) $(2) -o $$@ $$^ $$(CXX_LIBS) -lcmocka

build/$(1)/gpu_inside_test: $$(addprefix build/$(1)/,$$(UNIT_GPUD_OBJS) $$(GPU_STUB_ENGINE))

build/$(1)/hpsort-gpud: $$(addprefix build/$(1)/,$$(SORT_OBJS) $$(CXX_OBJS) $$(GPUD_OBJS) $$(GPU_STUB_OBJS))
	$$(CXX) $(2) $$(GPU_STUB_LINK) -o $$@ $$^ $$(CXX_LIBS)

.PHONY: run-$(1)
run-$(1): build/$(1)/hpsort-gpud
run-$(1): $$(patsubst test/unit/%.c,build/$(1)/%,$$(UNIT_MAIN))
	@test -n "$$(UNIT_MAIN)" || { echo "no tests in test/unit" >&2; exit 1; }
	@failed=; for t in $$(filter %_test,$$^); do echo "# $$$$t"; result=ok; began=$$$$(date +%s%3N); \
	HPSORT_GPUD=build/$(1)/hpsort-gpud $$$$t || { result=FAILED; failed="$$$$failed $$$$t"; }; \
	echo "test $$$${t##*/} ... $$$$result $$$$(($$$$(date +%s%3N) - began)) ms"; done; \
	test -z "$$$$failed" || { echo "failed:$$$$failed" >&2; exit 1; }
endef

$(eval $(call unit_variant,unit,-O2))
$(eval $(call unit_variant,unit-asan,$(UNIT_SANITIZE)))
$(eval $(call unit_variant,unit-tsan,$(UNIT_TSAN)))

.SECONDARY:
unit: run-unit run-unit-asan
