# posenc: `make help` lists the targets.

MAKEFLAGS += --no-builtin-rules

ifneq ($(filter deps%,$(MAKECMDGOALS)),) # installing comes before building, whatever -j says
.NOTPARALLEL:
endif

BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
PYTHON  ?= /usr/bin/python3

CFLAGS   ?= -O2 -g
CXXFLAGS ?= -O2 -g
# building uses every core; tests run one after the other
BUILDING = $(MAKE) $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))
# `make V=1` shows whole commands
Q := $(if $(V),,@)
say = $(if $(V),,@echo "  $(1)")

CXX_WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror
WARNINGS := $(CXX_WARNINGS) -Wmissing-prototypes
# -ffp-contract=off: a fused multiply-add would change bits between instruction sets
POSENC_CFLAGS := -std=c11 -D_GNU_SOURCE -pthread -ffp-contract=off $(WARNINGS) -MMD -MP -Ilib -Iapi

# Hardening. It stands before CPPFLAGS, CFLAGS and LDFLAGS, so that a distribution's flags win;
# HARDENING= and HARDENING_LINK= are for replacing all of it. Asked of the compiler once, when used.
if_known = $(foreach flag,$(1),$(shell $(CC) -O1 -Werror $(flag) -include string.h -x c -c -o /dev/null \
    /dev/null 2>/dev/null && echo " $(flag)"))
HARDENING ?= $(eval HARDENING := -fPIE -fstack-protector-strong -Wformat=2 -Wformat-security \
    $(call if_known,-fstack-clash-protection -fcf-protection))$(HARDENING)
HARDENING_LINK ?= -pie -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack
# needs an optimiser, takes the place of sanitizers' own checks, and may be the distribution's
FORTIFY_LEVEL = $(eval FORTIFY_LEVEL := $(or $(subst -D_FORTIFY_SOURCE=,,$(call \
    if_known,-D_FORTIFY_SOURCE=3)),2))$(FORTIFY_LEVEL)
optimises = $(filter-out -O0,$(lastword $(filter -O%,$(CFLAGS))))
FORTIFY = $(if $(HARDENING),$(if $(optimises),$(if $(findstring -fsanitize,$(CFLAGS))$(findstring \
    _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$(FORTIFY_LEVEL))))
COMPILE = $(CC) $(POSENC_CFLAGS) $(HARDENING) $(FORTIFY) $(CPPFLAGS) $(CFLAGS)
LINK = $(CC) $(CFLAGS) $(HARDENING_LINK) $(LDFLAGS) -pthread

# evaluated when used, so that `make deps run` works in one go
SERVER_LIBS = $(shell pkg-config --libs libmicrohttpd jansson libpng nettle sqlite3 zlib) -lm
CHECK_LIBS  = $(shell pkg-config --libs check jansson libpng nettle sqlite3 zlib) -lm

LIB_SOURCES    := $(wildcard lib/*.c lib/schemes/*.c)
# these are compiled once more for each instruction set that is chosen at run time
KERNEL_PARTS   := kernel print_batch matrix pairs
KERNEL_CFLAGS  ?= -O3
ifeq ($(shell uname -m),x86_64)
KERNEL_OBJECTS := $(foreach set,v3 v4,$(KERNEL_PARTS:%=$(BUILD)/lib/%-$(set).o))
POSENC_CFLAGS  += -DPE_KERNEL_X86
endif
API_SOURCES    := $(wildcard api/*.c api/*/*.c)
SERVER_SOURCES := $(wildcard server/*.c)
UNIT_SOURCES   := $(wildcard tests/unit/*.c tests/unit/*/*.c)
BENCH_SOURCES  := $(wildcard tests/bench/*.c)
HARNESSES      := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c))
FUZZ_SOURCES   := $(wildcard tests/fuzz/*.c tests/fuzz/support/*.c)
objects = $(patsubst %.c,$(BUILD)/%.o,$(1))
HEADERS   := $(wildcard lib/*.h api/*.h server/*.h tests/unit/*.h tests/fuzz/support/*.h)
FORMATTED := $(LIB_SOURCES) $(API_SOURCES) $(SERVER_SOURCES) $(UNIT_SOURCES) $(BENCH_SOURCES) \
             $(FUZZ_SOURCES) tests/digits/main.cc tests/buckets/main.c tests/faults/faults.c $(HEADERS)

DEPS      := gcc libc6-dev make pkg-config libmicrohttpd-dev libjansson-dev libpng-dev libsqlite3-dev \
             nettle-dev zlib1g-dev
DEPS_BENCH := $(DEPS) python3 python3-numpy python3-torch python3-fastapi python3-uvicorn python3-httptools \
              python3-uvloop nginx-light lighttpd wrk
# prometheus: for its promtool
DEPS_TEST := $(DEPS) binutils check chromium clang clang-format clang-tidy cppcheck curl g++ \
             libclang-rt-dev prometheus python3 python3-mpmath python3-numpy python3-scipy python3-torch \
             util-linux valgrind

.PHONY: all run test unit fuzz fuzz-corpus digits buckets http browser interop contract golden check check-builds \
        hardening sanitize tsan valgrind analyze analyze-quick format install slow bench deps deps-test \
        deps-bench clean help soak FORCE

all: $(BUILD)/posenc-server ## build the server (the default)

run: all ## build and serve on http://127.0.0.1:8080
	$(BUILD)/posenc-server

# ---- building ----

$(BUILD)/libposenc.a: $(call objects,$(LIB_SOURCES)) $(KERNEL_OBJECTS)
$(BUILD)/libposenc-api.a: $(call objects,$(API_SOURCES))
$(BUILD)/%.a:
	$(call say,AR    $@)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $^

# the visualiser's page as C, newer than its sources; without its packages a line that says so
$(BUILD)/visualiser/assets.c: FORCE
	@sh server/visualiser/build.sh $@
FORCE:
$(BUILD)/visualiser/assets.o: $(BUILD)/visualiser/assets.c
	$(call say,CC    $<)
	$(Q)$(COMPILE) -Iserver -c -o $@ $<

$(BUILD)/posenc-server: $(call objects,$(SERVER_SOURCES)) $(BUILD)/visualiser/assets.o $(BUILD)/libposenc-api.a $(BUILD)/libposenc.a
	$(call say,LINK  $@)
	$(Q)$(LINK) -o $@ $^ $(SERVER_LIBS)

# every allocation of the code under test passes through the test's hands
UNIT_WRAPS := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=strdup,--wrap=mmap
SERVER_PARTS := $(filter-out $(BUILD)/server/main.o $(BUILD)/server/http%.o,$(call objects,$(SERVER_SOURCES)))
$(BUILD)/unit-tests: $(call objects,$(UNIT_SOURCES)) $(SERVER_PARTS) $(BUILD)/libposenc-api.a $(BUILD)/libposenc.a
	$(call say,LINK  $@)
	$(Q)$(LINK) $(UNIT_WRAPS) -o $@ $^ $(CHECK_LIBS)

# all harnesses in one program, each under a name of its own
FUZZ_SUPPORT := $(BUILD)/tests/fuzz/support/fuzz.o $(BUILD)/tests/fuzz/support/service.o
FUZZ_LIBS     = $(shell pkg-config --libs jansson libpng nettle sqlite3 zlib) -lm
$(HARNESSES:%=$(BUILD)/tests/fuzz/replay/%.o): $(BUILD)/tests/fuzz/replay/%.o: tests/fuzz/%.c
	$(call say,CC    $<)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -DLLVMFuzzerTestOneInput=harness_$* -c -o $@ $<
$(BUILD)/fuzz-replay: tests/fuzz/support/replay.c $(BUILD)/tests/fuzz/support/mutate.o $(FUZZ_SUPPORT) \
                      $(HARNESSES:%=$(BUILD)/tests/fuzz/replay/%.o) $(SERVER_PARTS) \
                      $(BUILD)/libposenc-api.a $(BUILD)/libposenc.a
	$(call say,LINK  $@)
	$(Q)$(COMPILE) -DHARNESSES='$(patsubst %,HARNESS(%),$(HARNESSES))' $(HARDENING_LINK) $(LDFLAGS) -o $@ $(filter-out %.h,$^) $(FUZZ_LIBS)

# loaded before a server, whose allocations it makes fail; without the sanitizers' CFLAGS
$(BUILD)/faults.so: tests/faults/faults.c
	$(call say,CC    $<)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -pthread $(WARNINGS) -O1 -g -fPIC -shared -o $@ $< -ldl

$(BUILD)/digits-tests: tests/digits/main.cc $(BUILD)/libposenc.a
	$(call say,CXX   $<)
	$(Q)$(CXX) -std=c++17 -pthread $(CXX_WARNINGS) -MMD -MP -Ilib $(CPPFLAGS) $(CXXFLAGS) $(LDFLAGS) -o $@ $^

$(BUILD)/bucket-runs: $(BUILD)/tests/buckets/main.o $(BUILD)/libposenc.a
	$(call say,LINK  $@)
	$(Q)$(LINK) -o $@ $^ -lm

$(BUILD)/%.o: %.c
	$(call say,CC    $<)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -c -o $@ $<

$(KERNEL_PARTS:%=$(BUILD)/lib/%.o): CFLAGS += $(KERNEL_CFLAGS)
# the checked copies make printing a third slower; what the kernels read and write is of our own making
$(KERNEL_PARTS:%=$(BUILD)/lib/%.o) $(KERNEL_OBJECTS): FORTIFY =
define compile_for_set # $(1): v3 or v4
	$(call say,CC    $< ($(1)))
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(KERNEL_CFLAGS) -march=x86-64-$(1) \
		$(if $(filter v4,$(1)),-mprefer-vector-width=512) -DPE_KERNEL_SYMBOL=pe_kernel_$(1) \
		-DPE_KERNEL_NAME='"x86-64-$(1)"' -DPE_PRINT_SYMBOL=pe_print_batches_$(1) \
		-DPE_MATRIX_SYMBOL=pe_matrix_multiply_$(1) -DPE_PAIRS_SYMBOL=pe_pairs_$(1) -c -o $@ $<
endef
$(BUILD)/lib/%-v3.o: lib/%.c
	$(call compile_for_set,v3)
$(BUILD)/lib/%-v4.o: lib/%.c
	$(call compile_for_set,v4)

-include $(BUILD)/digits-tests.d $(KERNEL_OBJECTS:.o=.d) $(patsubst %.c,$(BUILD)/%.d,$(LIB_SOURCES) $(API_SOURCES) $(SERVER_SOURCES) $(UNIT_SOURCES) $(BENCH_SOURCES) $(FUZZ_SOURCES) tests/buckets/main.c) $(BUILD)/visualiser/assets.d
-include $(BUILD)/fuzz-replay.d $(HARNESSES:%=$(BUILD)/tests/fuzz/replay/%.d)

# ---- testing ----

# tests of the server wait for time to pass: what only computes is done beside them
test: ## run every test
	+$(BUILDING) all $(BUILD)/unit-tests $(BUILD)/fuzz-replay $(BUILD)/digits-tests $(BUILD)/bucket-runs
	$(MAKE) -j1 check hardening unit fuzz-corpus digits buckets golden interop browser contract
	+$(BUILDING) $(SANITIZED) all $(BUILD)/sanitize/unit-tests $(BUILD)/sanitize/fuzz-replay
	+sh tests/support/beside.sh "$(MAKE) -j1 http" "$(MAKE) check-builds analyze-quick" $(BUILD)/beside-1.log
	+sh tests/support/beside.sh "$(MAKE) -j1 sanitize" "$(MAKE) tsan valgrind" $(BUILD)/beside-2.log
	@echo "all tests passed"

unit: $(BUILD)/unit-tests ## unit tests, with the golden files
	$(BUILD)/unit-tests $(SUITE)

digits: $(BUILD)/digits-tests ## printed numbers against those of std::to_chars
	$(BUILD)/digits-tests $(or $(NUMBERS),4000000)

buckets: $(BUILD)/bucket-runs ## buckets of distances against thresholds in big integers
	$(PYTHON) -B tests/buckets/check.py $(BUILD)/bucket-runs

fuzz-corpus: $(BUILD)/fuzz-replay ## every harness over its corpus, and mutations of it (MUTATIONS=3000)
	$(BUILD)/fuzz-replay --mutations $(or $(MUTATIONS),3000) $(FUZZ)

# what this finds stays under $(BUILD)/fuzz: new inputs in found/, crashes in crashes/
FUZZ_FLAGS := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all \
              -fno-omit-frame-pointer
fuzz: ## libFuzzer with clang on every harness, FUZZ_SECONDS=300 each (FUZZ="query json": these)
	$(MAKE) -k -j$(shell nproc) BUILD=$(BUILD)/fuzz CC=clang CFLAGS="$(FUZZ_FLAGS)" \
		$(patsubst %,fuzz-run-%,$(or $(FUZZ),$(HARNESSES)))

$(BUILD)/fuzz-with-%: $(BUILD)/tests/fuzz/%.o $(FUZZ_SUPPORT) $(SERVER_PARTS) \
                      $(BUILD)/libposenc-api.a $(BUILD)/libposenc.a
	$(call say,LINK  $@)
	$(Q)$(LINK) -fsanitize=fuzzer -o $@ $^ $(FUZZ_LIBS)

$(BUILD)/fuzz.dict: $(BUILD)/fuzz-replay
	$(Q)$(BUILD)/fuzz-replay --dictionary > $@

fuzz-run-%: $(BUILD)/fuzz-with-% $(BUILD)/fuzz.dict
	sh tests/fuzz/support/run.sh $* $(BUILD) $(or $(FUZZ_SECONDS),300)

golden: ## recompute the golden files with mpmath and compare
	PYTHONDONTWRITEBYTECODE=1 $(PYTHON) tests/golden/write_golden.py --check

http: all $(BUILD)/faults.so ## black-box tests of the server over real sockets
	PYTHONDONTWRITEBYTECODE=1 TEST_SERVER=$(BUILD)/posenc-server $(PYTHON) -m unittest discover -s tests/http -p 'test_*.py'

browser: all ## the visualiser in a real browser (VIEW=heatmap: one file); screenshots go to build/screenshots
	PYTHON=$(PYTHON) TEST_SERVER=$(BUILD)/posenc-server SCREENSHOTS=$(BUILD)/screenshots node tests/browser/main.js $(VIEW)

interop: all ## real clients: curl, numpy; exactness against mpmath
	PYTHONDONTWRITEBYTECODE=1 TEST_SERVER=$(BUILD)/posenc-server $(PYTHON) -m unittest discover -s tests/interop -p 'test_*.py'

contract: all ## /openapi.json for two linters, and the HTTP tests through a validating proxy
	TEST_SERVER=$(BUILD)/posenc-server $(PYTHON) -B tests/contract/lint.py
	TEST_SERVER=$(BUILD)/posenc-server $(PYTHON) -B tests/contract/suite.py

check: ## architecture, registration, headers, formatting
	CC="$(CC)" BUILD="$(BUILD)" sh tests/support/check.sh
	clang-format --dry-run --Werror $(FORMATTED)

hardening: all ## what the built program says of its protection
	sh tests/support/hardening.sh $(BUILD)/posenc-server

check-builds: ## gcc and clang build without a warning, and give the same bits; `sanitize` is gcc at -O1
	+$(BUILDING) BUILD=$(BUILD)/gcc CC=gcc CFLAGS="-O3" all unit hardening
	+$(BUILDING) BUILD=$(BUILD)/clang CC=clang CFLAGS="-O1" KERNEL_CFLAGS= all unit hardening

soak: all ## ten minutes of random traffic, and the bound on memory (SOAK_SECONDS, SOAK_SEED)
	TEST_SERVER=$(BUILD)/posenc-server $(PYTHON) -B tests/http/soak.py

BENCH_TOOLS := $(patsubst tests/bench/%.c,$(BUILD)/bench-%,$(BENCH_SOURCES))
bench: all $(BENCH_TOOLS) ## ratios against the peers that are installed (BENCH="--quick", --help)
	BENCH_BUILD=$(BUILD) $(PYTHON) -B tests/bench/bench.py $(BENCH)

$(BUILD)/bench-%: $(BUILD)/tests/bench/%.o $(BUILD)/libposenc.a
	$(call say,LINK  $@)
	$(Q)$(LINK) -o $@ $^ $(shell pkg-config --libs jansson) -lm

slow: $(BUILD)/unit-tests $(BUILD)/digits-tests $(BUILD)/bucket-runs ## the long forms of tests: 10^8 entries, all f32 printed, all buckets, whole analysis
	$(PYTHON) -B tests/buckets/check.py $(BUILD)/bucket-runs all
	ROUNDING_ENTRIES=100000000 $(BUILD)/unit-tests rounding
	$(BUILD)/digits-tests 50000000 all
	+$(BUILDING) BUILD=$(BUILD)/gcc-1 CC=gcc CFLAGS="-O1" KERNEL_CFLAGS= SUITE=kernel unit
	+$(BUILDING) BUILD=$(BUILD)/clang-3 CC=clang CFLAGS="-O3" SUITE=kernel unit
	$(MAKE) analyze
	$(MAKE) VALGRIND_SUITES="$(VALGRIND_SLOW)" valgrind
	MIXED_REQUESTS=2000 $(MAKE) tsan

SANITIZE := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
SANITIZED := BUILD=$(BUILD)/sanitize CFLAGS="$(SANITIZE)" KERNEL_CFLAGS=
sanitize: ## the suite under AddressSanitizer and UndefinedBehaviorSanitizer
	+$(BUILDING) $(SANITIZED) all $(BUILD)/sanitize/unit-tests $(BUILD)/sanitize/fuzz-replay
	$(MAKE) -j1 $(SANITIZED) unit fuzz-corpus http

TSAN := -O1 -g -fsanitize=thread
TSAN_SUITES := cache flight attachments names buffer runner workers preparations store
tsan: ## concurrent suites and a mixed load under ThreadSanitizer
	+$(BUILDING) BUILD=$(BUILD)/tsan CFLAGS="$(TSAN)" $(BUILD)/tsan/posenc-server $(BUILD)/tsan/unit-tests
	PYTHON=$(PYTHON) sh tests/support/tsan.sh $(BUILD)/tsan $(TSAN_SUITES)

# the quick ones; `make slow` takes more. flight, attachments and store need a process for each test
VALGRIND_SUITES := arguments negotiate etag access key error plan ranges names parameters settings preparations workers
VALGRIND_SLOW   := $(VALGRIND_SUITES) cache set coding guard request
valgrind: all $(BUILD)/unit-tests ## some suites and a server under valgrind's memcheck
	PYTHON=$(PYTHON) sh tests/support/valgrind.sh $(BUILD) $(VALGRIND_SUITES)

analyze: ## gcc -fanalyzer, clang-tidy and cppcheck over lib, api and server
	$(PYTHON) -B tests/analysis/analyze.py full

analyze-quick: ## the same without clang-tidy's path analysis, which takes most of the time
	$(PYTHON) -B tests/analysis/analyze.py quick

format: ## format the sources in place
	clang-format -i $(FORMATTED)

# ---- installing ----

install: all ## install under PREFIX (default /usr/local), below DESTDIR
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(BUILD)/posenc-server $(DESTDIR)$(PREFIX)/bin/posenc-server

deps: ## install what building needs, as far as it is missing
	@sh tests/support/deps.sh $(DEPS)
	@sh tests/support/npm.sh server/visualiser || echo "posenc: the server will be built without its visualiser"

deps-test: ## install what the tests need, as far as it is missing
	@sh tests/support/deps.sh $(DEPS_TEST)
	@sh tests/support/npm.sh server/visualiser tests/browser tests/contract

deps-bench: ## install the peers of the benchmark, as far as they are missing
	@sh tests/support/deps.sh $(DEPS_BENCH)

clean: ## remove everything built
	rm -rf $(BUILD)

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 16
