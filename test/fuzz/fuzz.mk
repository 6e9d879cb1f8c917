# fuzz.mk: coverage-guided fuzzing with libFuzzer (clang), included by the root
# Makefile.
#
#   make fuzz                       each target for FUZZ_SECONDS=60 in all
#   make fuzz FUZZ_SECONDS=1800     longer
#   make fuzz FUZZ_TARGETS=client   one of messages client service serialized multiset
#   make fuzz-seeds                 the seeds of messages, client and service anew,
#                                   after a change of the protocol
#
#   make fuzz-sql                   random SQL beside PostgreSQL's own results, see sql_fuzz.sh
#
# New inputs that reach new code go to build/fuzz/corpus; the seeds in
# test/fuzz/corpus are small and checked in.  A finding fails the run and leaves
# its input in build/fuzz.

FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?= messages client service serialized multiset
FUZZ_CC ?= clang
FUZZ_CXX ?= clang++
FUZZ_FLAGS = -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all \
	-Isrc -Icuda $(GPU_CPPFLAGS)
FUZZ_OBJS = $(SORT_OBJS) $(CXX_OBJS) $(filter-out src/gpud/main.o,$(GPUD_OBJS)) $(GPU_STUB_ENGINE)

build/fuzz/%.o: %.c $(GPUD_HEADERS)
	@mkdir -p $(@D)
	$(FUZZ_CC) -std=gnu11 -Wall -Wextra $(COPT) $(FUZZ_FLAGS) -c -o $@ $<

# Highway's own code is not the target: without coverage, and quickly.
build/fuzz/%.o: %.cpp $(ALL_HEADERS)
	@$(find_highway)
	@mkdir -p $(@D)
	$(FUZZ_CXX) -O2 -g $(HPSORT_CXXFLAGS) -Isrc -c -o $@ $<

# An archive, so that each target links what it needs.
build/fuzz/libhpsort.a: $(addprefix build/fuzz/,$(FUZZ_OBJS))
	rm -f $@ && $(AR) rcs $@ $^

build/fuzz/%_fuzz: build/fuzz/test/fuzz/%_fuzz.o build/fuzz/libhpsort.a
	$(FUZZ_CXX) -fsanitize=fuzzer,address,undefined -o $@ $^ $(CXX_LIBS)

.PHONY: fuzz
fuzz: $(FUZZ_TARGETS:%=build/fuzz/%_fuzz)
	@for t in $(FUZZ_TARGETS); do \
		mkdir -p build/fuzz/corpus/$$t; \
		echo "# fuzzing $$t"; \
		build/fuzz/$${t}_fuzz -max_total_time=$$(( $(FUZZ_SECONDS) / $(words $(FUZZ_TARGETS)) )) -timeout=20 -rss_limit_mb=4096 \
			-max_len=4096 -print_final_stats=1 -verbosity=0 -artifact_prefix=build/fuzz/$$t- \
			build/fuzz/corpus/$$t $$(ls -d test/fuzz/corpus/$$t 2>/dev/null) >build/fuzz/$$t.log 2>&1 || \
			{ tail -40 build/fuzz/$$t.log; exit 1; }; \
		grep -E 'number_of_executed_units|new_units_added' build/fuzz/$$t.log; \
	done

build/fuzz/seeds: build/fuzz/test/fuzz/seeds.o build/fuzz/libhpsort.a
	$(FUZZ_CXX) -fsanitize=address,undefined -o $@ $^ $(CXX_LIBS)

.PHONY: fuzz-seeds
fuzz-seeds: build/fuzz/seeds
	@for t in messages client service; do \
		mkdir -p test/fuzz/corpus/$$t && rm -f test/fuzz/corpus/$$t/*; \
	done
	@build/fuzz/seeds test/fuzz/corpus

# Queries with and without hpsort, on a server of its own: see the script.
.PHONY: fuzz-sql
fuzz-sql:
	@test/fuzz/sql_fuzz.sh
