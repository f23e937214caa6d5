# Tests, checks and measurements; included by the Makefile.

UNIT_SOURCES   := $(sort $(shell find tests/unit -name '*.c'))
# the files of suites, and what suites share: memory.c holds the allocations of all
sources_of      = $(shell grep -lE '^Suite \*($(subst $(empty) ,|,$(strip $(1))))_suite\(void\)' $(UNIT_SOURCES))
UNIT_SHARED    := tests/unit/lib/tables/memory.c $(shell grep -LE '^Suite \*[a-z0-9_]+_suite\(void\)' $(UNIT_SOURCES))
# `make SUITES="cache flight"` builds unit tests of these alone
UNIT_CHOSEN    := $(if $(SUITES),$(sort $(UNIT_SHARED) $(call sources_of,$(SUITES))),$(UNIT_SOURCES))
BENCH_SOURCES  := $(wildcard tests/bench/*.c)
HARNESSES      := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c))
FUZZ_SOURCES   := $(wildcard tests/fuzz/*.c tests/fuzz/support/*.c)
TABLES := $(shell find lib api server tests/unit -name '*.def')
FORMATTED := $(LIB_FILES) $(API_FILES) $(SERVER_FILES) $(sort $(shell find tests/unit tests/fuzz/support tests/bench -name '*.h')) \
             $(UNIT_SOURCES) $(BENCH_SOURCES) $(FUZZ_SOURCES) tests/digits/main.cc tests/buckets/main.c \
             tests/faults/faults.c $(TABLES)

DEPS_BENCH := $(DEPS) python3 python3-numpy python3-torch python3-fastapi python3-uvicorn python3-httptools \
              python3-uvloop nginx-light lighttpd wrk
DEPS_TEST := $(DEPS) check curl g++ python3 python3-mpmath python3-numpy python3-pytest python3-pytest-xdist
# prometheus: for its promtool
# postgresql: the server that tests start
DEPS_CI := $(DEPS_TEST) $(DEPS_POSTGRES) $(DEPS_PYTHON) python3-venv postgresql binutils chromium chromium-headless-shell clang clang-format clang-tidy \
           cppcheck git haproxy libclang-rt-dev nginx-light prometheus python3-torch util-linux valgrind wrk zsh

.PHONY: test test-programs ci ci-programs rest bits bits-wasm test-wasm wasm-programs apply-proof apply-cost rotary-loss unit fuzz fuzz-corpus digits buckets \
        http browser interop installed fleet kubernetes postgres readme screenshot contract golden check check-builds clang-warnings hardening \
        sanitize sanitize-programs sanitize-build tsan valgrind analyze analyze-quick format slow bench soak memory-experiment same-answers digests confusion strangers cost \
        check-arm64 check-image check-dist check-deb check-page check-bare check-bare-all peers peers-dialects peers-conversions deps-test deps-ci deps-image \
        deps-bench deps-bare deps-peers

# ---- programs ----

# tests are compiled quickly; what they test keeps its flags
$(BUILD)/tests/unit/%.o $(BUILD)/tests/fuzz/%.o: KERNEL_FLAGS = -O1
# another build's objects of unit tests and kernels, where compiler and flags are the same
SAME_BUILD ?= $(BUILD)

CHECK_LIBS = $(shell $(PKG_CONFIG_LIBS) check) $(SERVER_LIBS)

# every allocation of the code under test passes through the test's hands
UNIT_WRAPS := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=strdup,--wrap=mmap
UNIT_PROGRAM := $(UNIT_CHOSEN:%.c=$(SAME_BUILD)/%.o) $(SERVER_PARTS) $(BUILD)/libposenc-api.a $(BUILD)/libposenc.a
$(BUILD)/unit-tests: $(UNIT_PROGRAM) $(NO_POSTGRES_OBJECTS)
	$(call say,LINK  $@)
	$(Q)$(LINK) $(UNIT_WRAPS) -o $@ $^ $(CHECK_LIBS)

# the same with PostgreSQL, whatever build this is
$(BUILD)/postgres/unit-tests: $(UNIT_PROGRAM) $(POSTGRES_OBJECTS)
	$(call say,LINK  $@)
	@mkdir -p $(@D)
	$(Q)$(LINK) $(UNIT_WRAPS) -o $@ $^ $(CHECK_LIBS) $(POSTGRES_LIBS)
$(BUILD)/postgres/posenc-server: $(SERVER_PROGRAM) $(POSTGRES_OBJECTS)
	$(call say,LINK  $@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ $(SERVER_LIBS) $(POSTGRES_LIBS)

# all harnesses in one program, each under a name of its own
FUZZ_SUPPORT := $(BUILD)/tests/fuzz/support/fuzz.o $(BUILD)/tests/fuzz/support/service.o
$(HARNESSES:%=$(BUILD)/tests/fuzz/replay/%.o): $(BUILD)/tests/fuzz/replay/%.o: tests/fuzz/%.c | $(BUILD)/hardening.flags
	$(call say,CC    $<)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -DLLVMFuzzerTestOneInput=harness_$* -c -o $@ $<
$(BUILD)/tests/fuzz/support/replay.o: CPPFLAGS += -DHARNESSES='$(patsubst %,HARNESS(%),$(HARNESSES))'
$(BUILD)/fuzz-replay: $(BUILD)/tests/fuzz/support/replay.o $(BUILD)/tests/fuzz/support/mutate.o $(FUZZ_SUPPORT) \
                      $(HARNESSES:%=$(BUILD)/tests/fuzz/replay/%.o) $(SERVER_PARTS) $(NO_POSTGRES_OBJECTS) \
                      $(BUILD)/libposenc-api.a $(BUILD)/libposenc.a
	$(call say,LINK  $@)
	$(Q)$(LINK) -o $@ $^ $(SERVER_LIBS)

# loaded before a server, whose allocations it makes fail; without the sanitizers' CFLAGS
$(BUILD)/faults.so: tests/faults/faults.c
	$(call say,CC    $<)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -pthread $(WARNINGS) -O1 -g -fPIC -shared -o $@ $< -ldl

# headers of the library are C: C++ by the letter has no compound literals
$(BUILD)/digits-tests: tests/digits/main.cc $(BUILD)/libposenc.a
	$(call say,CXX   $<)
	$(Q)$(CXX) -std=c++17 -pthread $(filter-out -Wpedantic,$(CXX_WARNINGS)) -MMD -MP -Ilib $(CPPFLAGS) $(CXXFLAGS) $(LDFLAGS) -o $@ $(filter %.cc %.a,$^)

$(BUILD)/bucket-runs: $(BUILD)/tests/buckets/main.o $(BUILD)/libposenc.a
	$(call say,LINK  $@)
	$(Q)$(LINK) -o $@ $^ -lm

-include $(BUILD)/digits-tests.d $(HARNESSES:%=$(BUILD)/tests/fuzz/replay/%.d)
-include $(patsubst %.c,$(BUILD)/%.d,$(UNIT_SOURCES) $(BENCH_SOURCES) $(FUZZ_SOURCES) tests/buckets/main.c)

# ---- running them ----

# what runs the tests of a build; TEST=tests/http/test_csv.py is a file, a folder or one test
pytest = PYTHONDONTWRITEBYTECODE=1 $(if $(SEED),TEST_SEED=$(SEED)) TEST_SERVER=$(1)/posenc-server $(PYTHON) -m pytest
PYTEST = $(call pytest,$(BUILD))
WORKERS  = $(shell nproc)
PARALLEL = --dist loadscope -n $(if $(TEST),0,$(WORKERS))
# HTTP tests whose exchanges are asked of the module as well, as far as it has what the server has
REPLAYED := $(patsubst %,tests/http/test_%.py,batch compare convert csv errors model_dialects models negotiation pictures post \
    ranges refusals representations routing rules schemes service sets streams trained write_rules)
COMPUTING := tests/unit tests/fuzz tests/digits tests/buckets tests/golden tests/support/hardening.sh

test-programs: all $(BUILD)/unit-tests $(BUILD)/fuzz-replay $(BUILD)/digits-tests $(BUILD)/bucket-runs $(BUILD)/faults.so

test rest sanitize: WORKERS = $(shell expr $$(nproc) + 1) # some tests wait, for clocks and for processes that end
test: ## the tests to run after every change (SEED= draws the same samples again)
	+$(BUILDING) test-programs
	@$(PYTEST) $(PARALLEL) --part test --name test --leaves-out "not run: browser, other compilers, sanitizers, analysers, \
	contract, PostgreSQL, fleets, packages, torch, growth of work, most tables to identify and failing allocations. make deps-ci ci runs them" $(COMPUTING) tests/http tests/interop

ci-programs: all $(BUILD)/unit-tests $(BUILD)/postgres/unit-tests $(BUILD)/postgres/posenc-server $(BUILD)/faults.so

ci: ## what `make test` leaves out; each part has a log in build/ci
	+$(BUILDING) ci-programs
	@$(PYTHON) -B tests/runner/ci.py $(BUILD)/ci

rest: all $(BUILD)/faults.so $(BUILD)/digits-tests ## tests that `make test` leaves out: torch, all tables to identify
	@$(PYTEST) $(PARALLEL) --part ci --name rest tests/digits tests/http tests/interop

unit: $(BUILD)/unit-tests ## unit tests, with the golden values
	$(if $(SUITE),$(BUILD)/unit-tests $(SUITE),@$(PYTEST) $(PARALLEL) --name unit tests/unit)

digits: $(BUILD)/digits-tests ## printed numbers against those of std::to_chars
	$(BUILD)/digits-tests $(or $(NUMBERS),4000000)

buckets: $(BUILD)/bucket-runs ## buckets of distances against thresholds in big integers
	$(PYTHON) -B tests/buckets/check.py $(BUILD)/bucket-runs

fuzz-corpus: $(BUILD)/fuzz-replay ## every harness over its corpus, and mutations of it (MUTATIONS=3000)
	$(BUILD)/fuzz-replay --mutations $(or $(MUTATIONS),3000) $(FUZZ)

# what this finds stays under $(BUILD)/fuzz: new inputs in found/, crashes in crashes/
FUZZ_FLAGS := -O1 -g -fsanitize=fuzzer-no-link,address,undefined,float-cast-overflow -fno-sanitize-recover=all \
              -fno-omit-frame-pointer
fuzz: ## libFuzzer with clang on every harness, FUZZ_SECONDS=300 each (FUZZ="query json": these)
	$(MAKE) -k -j$(shell nproc) BUILD=$(BUILD)/fuzz CC=clang CFLAGS="$(FUZZ_FLAGS)" \
		$(patsubst %,fuzz-run-%,$(or $(FUZZ),$(HARNESSES)))

$(BUILD)/fuzz-with-%: $(BUILD)/tests/fuzz/%.o $(FUZZ_SUPPORT) $(SERVER_PARTS) $(NO_POSTGRES_OBJECTS) \
                      $(BUILD)/libposenc-api.a $(BUILD)/libposenc.a
	$(call say,LINK  $@)
	$(Q)$(LINK) -fsanitize=fuzzer -o $@ $^ $(SERVER_LIBS)

$(BUILD)/fuzz.dict: $(BUILD)/fuzz-replay
	$(Q)$(BUILD)/fuzz-replay --dictionary > $@

fuzz-run-%: $(BUILD)/fuzz-with-% $(BUILD)/fuzz.dict
	sh tests/fuzz/support/run.sh $* $(BUILD) $(or $(FUZZ_SECONDS),300)

golden: ## recompute the golden values with mpmath and compare
	PYTHONDONTWRITEBYTECODE=1 $(PYTHON) tests/golden/write_golden.py --check

http: all $(BUILD)/faults.so ## black-box tests of the server over real sockets (TEST=tests/http/test_csv.py)
	@$(PYTEST) $(PARALLEL) --name http $(or $(TEST),tests/http)

browser: all ## the visualiser in a real browser (VIEW=heatmap: one file; LATE=200: answers and timers up to 200 ms late); screenshots go to build/screenshots
	PYTHON=$(PYTHON) PROMPT_SERVER=$(abspath $(BUILD)/posenc-server) \
	    TEST_SERVER=$(if $(LATE),tests/browser/late.js,$(BUILD)/posenc-server) \
	    SCREENSHOTS=$(BUILD)/screenshots node tests/browser/main.js $(VIEW)

fleet: all ## three nodes behind HAProxy and nginx, which die under load (FLEET_REQUESTS=200000: the long form)
	@$(PYTEST) --name fleet $(or $(TEST),tests/fleet)

postgres: $(BUILD)/postgres/unit-tests $(BUILD)/postgres/posenc-server ## sets in a PostgreSQL of its own: the store's suite, servers that share it, outages
	$(PYTHON) -B tests/postgres/suite.py $(BUILD)/postgres/unit-tests
	@$(call pytest,$(BUILD)/postgres) --name postgres $(or $(TEST),tests/postgres)

kubernetes: all ## the manifests of docker/kubernetes against the schemas of Kubernetes
	node tests/kubernetes/check.mjs $(BUILD)/posenc-server docker/kubernetes
	@sh tests/kubernetes/render.sh docker/kubernetes

interop: all ## real clients: curl, numpy; exactness against mpmath
	@$(PYTEST) $(PARALLEL) --name interop $(or $(TEST),tests/interop)

installed: all python ## what `make install` installs: the library's program, the manual, completion, one version; pip
	$(MAKE) -s install DESTDIR= PREFIX=$(abspath $(BUILD))/installed
	@INSTALLED=$(BUILD)/installed $(PYTEST) --name installed $(or $(TEST),tests/install)

readme: all ## write anew what the documents take from the server: the table of schemes, outputs
	TEST_SERVER=$(BUILD)/posenc-server $(PYTHON) -B tests/docs/write.py

.PHONY: drawing
drawing: ## draw the rooms of ARCHITECTURE.md anew, from the rules that make check holds
	$(PYTHON) -B tests/support/drawing.py

screenshot: all ## draw the pictures of the page in README.md anew
	TEST_SERVER=$(BUILD)/posenc-server node tests/browser/screenshot.js server/visualiser

contract: all $(BUILD)/faults.so ## HTTP tests through a validating proxy, by /openapi.json, and two linters for that
	@$(PYTEST) $(PARALLEL) --part sanitized --contract --name contract $(or $(TEST),tests/contract tests/http)

check: all ## architecture, registration, headers, formatting
	@CC="$(CC)" BUILD="$(BUILD)" PYTHON="$(PYTHON)" sh tests/support/check.sh
	@clang-format --dry-run --Werror $(FORMATTED)

hardening: all ## what the built programs say of their protection
	@for program in posenc-server posenc; do sh tests/support/hardening.sh $(BUILD)/$$program || exit 1; done

# what other flags could change: numbers and the bits of entries
BITS_SUITES := number print print_rows dd limbs wide fixed phase angle correct rng exact elementary blend bits lines applying sum \
               kernel wave window rounding golden
HOLD_BITS := $(BITS_SUITES:%=tests/unit/suites.def::%)
# these suites alone, which need neither api nor server, nor what looks at tables from elsewhere
BITS_SOURCES := tests/unit/unit.c tests/unit/near.c tests/unit/golden_lines.c $(call sources_of,$(BITS_SUITES))
BITS_LIBRARY := $(filter-out lib/foreign/% lib/identify/% lib/recognise/%,$(LIB_SOURCES))
$(BUILD)/bits/libposenc.a: $(filter-out $(KERNEL_BUILDS),$(call objects,$(BITS_LIBRARY))) $(KERNEL_BUILDS:$(BUILD)/%=$(SAME_BUILD)/%)
$(BUILD)/bits/unit-tests: $(BITS_SOURCES:%.c=$(SAME_BUILD)/%.o) $(BUILD)/bits/libposenc.a
	$(call say,LINK  $@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ $(shell $(PKG_CONFIG_LIBS) check jansson) -lm

# What clang warns of does not depend on the code that it makes, so for what holds no bits it makes none.
NO_BITS = $(filter-out $(BITS_LIBRARY) $(BITS_SOURCES),$(LIB_SOURCES) $(API_SOURCES) $(SERVER_SOURCES) $(POSTGRES_SOURCES) \
          $(NO_POSTGRES) $(COMMAND_SOURCES) $(UNIT_SOURCES)) $(BUILD)/visualiser/assets.c $(BUILD)/api/openapi/fixed.c
clang-warnings: $(BUILD)/visualiser/assets.c $(BUILD)/api/openapi/fixed.c | $(BUILD)/hardening.flags
	$(call say,CHECK what holds no bits)
	$(Q)printf '%s\n' $(NO_BITS) | xargs -n 24 -P $(shell nproc) $(filter-out -MMD -MP,$(COMPILE)) -fsyntax-only -Itests/unit -Iapi -Iserver \
		$(PACKAGE_CFLAGS) $(shell $(PKG_CONFIG) --cflags libpq)

check-builds: $(BITS_SOURCES:%.c=$(BUILD)/%.o) $(KERNEL_BUILDS) ## clang finds nothing to warn of; gcc -O3 and clang give the same bits. `sanitize` is gcc at -O1
	+$(BUILDING) BUILD=$(BUILD)/gcc SAME_BUILD=$(BUILD) CC=gcc CFLAGS="-O3" $(BUILD)/gcc/bits/unit-tests
	+$(BUILDING) BUILD=$(BUILD)/clang CC=clang CFLAGS="-O1" KERNEL_CFLAGS= $(BUILD)/clang/bits/unit-tests clang-warnings
	@$(call pytest,$(BUILD)/gcc/bits) $(PARALLEL) --name gcc $(HOLD_BITS)
	@$(call pytest,$(BUILD)/clang/bits) $(PARALLEL) --name clang $(HOLD_BITS)
	@sh tests/support/hardening.sh $(BUILD)/clang/bits/unit-tests

check-dist: dist ## packing the archive again gives the same bytes; check-bare builds it
	sh tests/support/check_dist.sh $(ARCHIVE) $(BUILD)

check-deb: ## the packages: built twice, lintian, installed, tried, upgraded and purged in a copy of this system
	sh tests/support/check_deb.sh $(ARCHIVE) $(BUILD)

soak: all ## ten minutes of random traffic, and the bound on memory (SOAK_SECONDS, SOAK_SEED)
	TEST_SERVER=$(BUILD)/posenc-server $(PYTHON) -B tests/http/soak.py

memory-experiment: all ## resident memory under the worst mix of requests and limits of 64, 256, 1536 MiB (MINUTES=10)
	TEST_SERVER=$(BUILD)/posenc-server $(PYTHON) -B tests/http/memory_mix.py $(or $(MINUTES),10)

same-answers: all ## whether this build answers as that of OLD=path/to/posenc-server (SAME="--texts", --help)
	$(PYTHON) -B tests/http/same_answers.py $(OLD) $(BUILD)/posenc-server $(SAME)

digests: all ## write tests/golden/digests.txt for schemes that are new or whose revision has risen
	$(PYTHON) -B tests/http/digests.py $(BUILD)/posenc-server

PEERS = $(TRANSFORMERS:%=--transformers %) $(DIFFUSERS:%=--diffusers %) $(TIMM:%=--timm %) $(TYPES:%=--types %) $(SEED:%=--seed %)
peers: all ## model types against a library's code, TRANSFORMERS=CHECKOUT, DIFFUSERS= or TIMM= (deps-peers; TYPES=llama,bert VARIATIONS=3 RECORD=1 AGAIN=1)
	@PYTHONPATH=tests/http TEST_SERVER=$(BUILD)/posenc-server $(PYTHON) -B tests/peers/run.py $(PEERS) \
		--python "sh tests/peers/python.sh $(PEERS_ROOT)" --variations $(or $(VARIATIONS),3) $(if $(RECORD),--record) $(if $(AGAIN),--again)

peers-dialects: ## keys of other libraries that no row of dialects.def has (DIALECTS="megatron=CHECKOUT litgpt=CHECKOUT …")
	$(PYTHON) -B tests/peers/dialects.py $(DIALECTS)

peers-conversions: all ## /v1/convert against converters (CONVERTERS="torchtune=CHECKOUT llama.cpp=CHECKOUT transformers=FILE" DRAWS=20 SEED=1)
	TEST_SERVER=$(BUILD)/posenc-server $(PYTHON) -B tests/peers/conversions.py $(CONVERTERS)

confusion: all ## what /v1/identify says of random, spoilt and transformed tables (REQUESTS=2040, CORRUPTIONS=540, SEED=1)
	TEST_SERVER=$(BUILD)/posenc-server $(PYTHON) -B tests/http/confusion.py $(BUILD)/posenc-server $(or $(REQUESTS),2040) $(or $(CORRUPTIONS),540) $(or $(SEED),1)

strangers: all ## what /v1/identify says of public code's tables, judged by making them again (COUNT=2000, SEED=1, ONLY=7,12)
	$(PYTHON) -B tests/http/strangers.py --server $(BUILD)/posenc-server --count $(or $(COUNT),2000) --seed $(or $(SEED),1) $(ONLY:%=--only %)

cost: all ## what identifying costs: seconds, shares of stages, memory (GIB=8: also of comparing so large a table)
	TEST_SERVER=$(BUILD)/posenc-server $(PYTHON) -B tests/bench/identify.py $(BUILD)/posenc-server $(GIB)

prices: $(BUILD)/bench-prices ## what a multiply-add of prices takes, for each scheme: nanoseconds (SCHEME=rope)
	$(BUILD)/bench-prices $(SCHEME)

BENCH_TOOLS := $(patsubst tests/bench/%.c,$(BUILD)/bench-%,$(BENCH_SOURCES))
bench: all $(BENCH_TOOLS) ## ratios against the peers that are installed (BENCH="--quick", --help)
	BENCH_BUILD=$(BUILD) $(PYTHON) -B tests/bench/bench.py $(BENCH)

rotary-loss: all ## what rotary recipes in float32 and bfloat16 lose: the table of api/guides/questions.md
	$(PYTHON) -B tests/bench/rotary_loss.py $(BUILD)/posenc-server

apply-cost: all ## what exactness costs: GB/s of /v1/apply beside torch in float32
	TEST_SERVER=$(BUILD)/posenc-server $(PYTHON) -B tests/bench/apply_cost.py $(BUILD)/posenc-server

apply-proof: all ## 10^6 results of /v1/apply over all schemes against exact arithmetic (ELEMENTS=1000000)
	@APPLY_ELEMENTS=$(or $(ELEMENTS),1000000) $(PYTEST) --name apply-proof tests/http/test_apply.py::AllSchemes

bits: $(BUILD)/bench-bits ## sums of the bits of 10^9 words of tables of all schemes, to compare between commits
	$(BUILD)/bench-bits $(SCHEME)

bits-wasm: wasm-programs ## the same of the WebAssembly module's library
	node --no-warnings tests/wasm/run.mjs $(BUILD)/wasm/bits.wasm $(or $(SCHEME),all)

wasm-programs: site npm $(BUILD)/wasm/bits.wasm
test-wasm: all $(BUILD)/bench-bits wasm-programs ## the WebAssembly module: same answers as the server's, the site, the package (deps-wasm)
	@$(PYTEST) $(PARALLEL) --module --name wasm $(or $(TEST),tests/wasm $(REPLAYED))

$(BUILD)/bench-%: $(BUILD)/tests/bench/%.o $(BUILD)/libposenc.a
	$(call say,LINK  $@)
	$(Q)$(LINK) -o $@ $^ $(shell $(PKG_CONFIG_LIBS) jansson) -lm

slow: $(BUILD)/unit-tests $(BUILD)/digits-tests $(BUILD)/bucket-runs ## the long forms of tests: 10^8 entries, all f32 printed, all buckets, whole analysis, packages
	$(MAKE) golden
	$(PYTHON) -B tests/buckets/check.py $(BUILD)/bucket-runs all
	ROUNDING_ENTRIES=100000000 $(BUILD)/unit-tests rounding
	THOROUGH=1 $(BUILD)/unit-tests price
	THOROUGH=1 $(BUILD)/unit-tests starved
	$(BUILD)/digits-tests 50000000 all
	+$(BUILDING) BUILD=$(BUILD)/gcc-3 CC=gcc CFLAGS="-O3" all
	+$(BUILDING) BUILD=$(BUILD)/gcc-1 CC=gcc CFLAGS="-O1" KERNEL_CFLAGS= SUITE=kernel unit
	+$(BUILDING) BUILD=$(BUILD)/clang-3 CC=clang CFLAGS="-O3" SUITE=kernel unit
	FLEET_REQUESTS=200000 $(MAKE) fleet
	LATE=200 $(MAKE) browser
	$(MAKE) analyze
	$(MAKE) VALGRIND_SUITES="$(VALGRIND_SLOW)" valgrind
	MIXED_REQUESTS=2000 $(MAKE) tsan
	$(MAKE) check-deb
	$(MAKE) deps-arm64 check-arm64
	$(MAKE) check-image

check-arm64: all ## the arm64 build under qemu: unit suites, and 2,000 answers as those of this machine (deps-arm64)
	+$(BUILDING) BUILD=$(BUILD)/arm64 CC=aarch64-linux-gnu-gcc all $(BUILD)/arm64/unit-tests
	PYTHON=$(PYTHON) sh tests/support/arm64.sh $(BUILD)

check-image: ## build the container image twice and run it as docker/sidecar.md says (deps-image)
	TEST_SERVER=$(BUILD)/posenc-server $(PYTHON) -B tests/support/image.py $(BUILD)

# -g1: reports name files and lines, which is all that they need. What is undefined in a kernel is so in the build for
# every processor; overruns are looked for in the builds for each instruction set, too.
SANITIZE := -O1 -g1 -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all -fno-omit-frame-pointer
SANITIZED := BUILD=$(BUILD)/sanitize CFLAGS="$(SANITIZE)" KERNEL_CFLAGS= SET_CFLAGS=-fno-sanitize=undefined,float-cast-overflow
sanitize-programs: $(BUILD)/unit-tests $(BUILD)/fuzz-replay all
sanitize-build:
	+$(BUILDING) $(SANITIZED) sanitize-programs
# a validating proxy stands between HTTP tests and servers: no answer is but as /openapi.json describes it
sanitize: sanitize-build ## unit and HTTP tests and corpora under AddressSanitizer and UndefinedBehaviorSanitizer, and the contract
	@$(call pytest,$(BUILD)/sanitize) $(PARALLEL) --part sanitized --contract --contract-share 0.05 --name sanitize tests/unit tests/fuzz tests/contract tests/http

TSAN := -O1 -g1 -fsanitize=thread
TSAN_SUITES := cache flight fixed_documents attachments shortcuts buffer runner workers job_list disconnects preparations deadlines store changes
# with the kernels that every processor has: which set is chosen changes nothing between threads
tsan: ## concurrent suites and a mixed load under ThreadSanitizer
	+$(BUILDING) BUILD=$(BUILD)/tsan CFLAGS="$(TSAN)" KERNEL_CFLAGS= INSTRUCTION_SETS= SUITES="$(TSAN_SUITES)" \
		$(BUILD)/tsan/posenc-server $(BUILD)/tsan/unit-tests
	PYTHON=$(PYTHON) sh tests/support/tsan.sh $(BUILD)/tsan $(TSAN_SUITES)

# the quick ones; `make slow` takes more. flight, attachments and store need a process for each test
VALGRIND_SUITES := error shortcuts preparations workers job_list deadlines load_shedding
VALGRIND_SLOW   := $(VALGRIND_SUITES) cache coding
valgrind: all $(BUILD)/unit-tests ## some suites and a server under valgrind's memcheck
	PYTHON=$(PYTHON) sh tests/support/valgrind.sh $(BUILD) $(VALGRIND_SUITES)

analyze: ## gcc -fanalyzer, clang-tidy and cppcheck over lib, api and server
	$(PYTHON) -B tests/analysis/analyze.py full

analyze-quick: ## the same without clang-tidy, which takes most of the time
	$(PYTHON) -B tests/analysis/analyze.py quick

# at once, since most of it waits for the network
npm = printf '%s\n' $(1) | xargs -n 1 -P 4 sh tests/support/npm.sh

# part of `check`, which asks clang-format
DEPS_LINT := black mypy pyflakes3 python3 python3-numpy shellcheck
.PHONY: lint deps-lint
check: lint
lint: ## Python, JavaScript, style sheets, shell scripts: formatting, long lines, plain mistakes
	@PYTHON="$(PYTHON)" sh tests/support/lint.sh

deps-ci: deps-lint deps-bare deps-wasm
deps-lint: ## install what `make lint` needs, as far as it is missing
	@sh tests/support/deps.sh $(DEPS_LINT)
	@$(call npm,server/visualiser tests/lint)

format: ## format C, Python, JavaScript and style sheets in place
	clang-format -i $(FORMATTED)
	@sh tests/support/lint.sh --format

# ---- installing ----

deps-test: ## install what `make test` needs, as far as it is missing
	@sh tests/support/deps.sh $(DEPS_TEST)

deps-ci: ## install what `make ci` needs, as far as it is missing
	@sh tests/support/deps.sh $(DEPS_CI)
	@$(call npm,tests/contract tests/browser tests/kubernetes tests/wasm)

deps-image: ## install what `make check-image` needs, as far as it is missing
	@sh tests/support/deps.sh debootstrap podman runc binutils

deps-bench: ## install the peers of the benchmark, as far as they are missing
	@sh tests/support/deps.sh $(DEPS_BENCH)

# ---- the first commands of a new user, and the page without node ----

check-page: ## the bundle that git tracks is what the pages' sources give
	@rm -rf $(BUILD)/bundle
	@sh server/visualiser/bundle.sh $(BUILD)/bundle
	diff -r $(BUILD)/bundle server/visualiser/bundle

# Debian's release after that of this machine
NEXT_DEBIAN := trixie
check-bare: check-dist ## README.md's first commands, in the archive, on a bare Debian 13 (BARE_ONLY=run: the first of them)
	BARE_RELEASE=$(NEXT_DEBIAN) $(PYTHON) -B tests/support/bare.py $(BUILD) $(ARCHIVE)

check-bare-all: ## both commands, with all tests, in clones on this machine's Debian and on Debian 13
	BARE_SHARE=1 $(PYTHON) -B tests/support/bare.py $(BUILD)
	BARE_RELEASE=$(NEXT_DEBIAN) BARE_SHARE=1 $(PYTHON) -B tests/support/bare.py $(BUILD)

DEPS_BARE := mmdebstrap git curl python3
# transformers 5 wants torch 2, which Debian 13 has
PEERS_ROOT ?= build/root-peers
deps-peers: ## unpack what `make peers` needs: Python and torch of Debian 13, in a folder of their own
	@RELEASE=trixie sh tests/support/foreign_root.sh $(shell dpkg --print-architecture) $(abspath $(PEERS_ROOT)) base-files \
		python3 python3-torch python3-numpy python3-packaging python3-regex python3-yaml python3-filelock python3-tqdm

deps-bare: ## install what `make check-bare` needs, as far as it is missing
	@sh tests/support/deps.sh $(DEPS_BARE)

# what is found before the first file is compiled, and the command that brings it
$(BUILD)/found/deps-test: MODULES = check
$(BUILD)/found/deps-test: | $(BUILD)/found/deps
$(call objects,$(UNIT_SOURCES)): | $(BUILD)/found/deps-test
test unit http fuzz-corpus digits buckets interop contract check: export BROUGHT_BY = deps-test
