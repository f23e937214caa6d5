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
# `make V=1` shows whole commands
Q := $(if $(V),,@)
say = $(if $(V),,@echo "  $(1)")

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wmissing-prototypes -Werror
# -ffp-contract=off: a fused multiply-add would change bits between instruction sets
POSENC_CFLAGS := -std=c11 -D_GNU_SOURCE -pthread -ffp-contract=off $(WARNINGS) -MMD -MP -Ilib -Iapi

# evaluated when used, so that `make deps run` works in one go
SERVER_LIBS = $(shell pkg-config --libs libmicrohttpd jansson nettle sqlite3) -lm
CHECK_LIBS  = $(shell pkg-config --libs check jansson nettle sqlite3) -lm

LIB_SOURCES    := $(wildcard lib/*.c lib/schemes/*.c)
# lib/kernel.c is compiled once more for each instruction set that is chosen at run time
KERNEL_CFLAGS  ?= -O3
ifeq ($(shell uname -m),x86_64)
KERNEL_OBJECTS := $(BUILD)/lib/kernel-v3.o $(BUILD)/lib/kernel-v4.o
POSENC_CFLAGS  += -DPE_KERNEL_X86
endif
API_SOURCES    := $(wildcard api/*.c api/*/*.c)
SERVER_SOURCES := $(wildcard server/*.c)
UNIT_SOURCES   := $(wildcard tests/unit/*.c tests/unit/*/*.c)
objects = $(patsubst %.c,$(BUILD)/%.o,$(1))
HEADERS   := $(wildcard lib/*.h api/*.h server/*.h tests/unit/*.h)
FORMATTED := $(LIB_SOURCES) $(API_SOURCES) $(SERVER_SOURCES) $(UNIT_SOURCES) tests/bench/tables.c $(HEADERS)

DEPS      := gcc libc6-dev make pkg-config libmicrohttpd-dev libjansson-dev libsqlite3-dev nettle-dev
DEPS_BENCH := $(DEPS) python3 python3-numpy python3-torch nginx-light wrk
DEPS_TEST := $(DEPS) check clang clang-format curl python3 python3-mpmath python3-numpy

.PHONY: all run test unit http interop golden check check-builds sanitize format install \
        slow bench deps deps-test deps-bench clean help

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

$(BUILD)/posenc-server: $(call objects,$(SERVER_SOURCES)) $(BUILD)/libposenc-api.a $(BUILD)/libposenc.a
	$(call say,LINK  $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -pthread -o $@ $^ $(SERVER_LIBS)

# every allocation of the code under test passes through the test's hands
UNIT_WRAPS := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc
SERVER_PARTS := $(filter-out $(BUILD)/server/main.o $(BUILD)/server/http%.o,$(call objects,$(SERVER_SOURCES)))
$(BUILD)/unit-tests: $(call objects,$(UNIT_SOURCES)) $(SERVER_PARTS) $(BUILD)/libposenc-api.a $(BUILD)/libposenc.a
	$(call say,LINK  $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -pthread $(UNIT_WRAPS) -o $@ $^ $(CHECK_LIBS)

$(BUILD)/%.o: %.c
	$(call say,CC    $<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(POSENC_CFLAGS) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

$(BUILD)/lib/kernel.o: CFLAGS += $(KERNEL_CFLAGS)
$(BUILD)/lib/kernel-%.o: lib/kernel.c
	$(call say,CC    $< ($*))
	@mkdir -p $(@D)
	$(Q)$(CC) $(POSENC_CFLAGS) $(CPPFLAGS) $(CFLAGS) $(KERNEL_CFLAGS) -march=x86-64-$* \
		$(if $(filter v4,$*),-mprefer-vector-width=512) -DPE_KERNEL_SYMBOL=pe_kernel_$* \
		-DPE_KERNEL_NAME='"x86-64-$*"' -c -o $@ $<

-include $(KERNEL_OBJECTS:.o=.d) $(patsubst %.c,$(BUILD)/%.d,$(LIB_SOURCES) $(API_SOURCES) $(SERVER_SOURCES) $(UNIT_SOURCES) tests/bench/tables.c)

# ---- testing ----

test: check unit golden http interop check-builds sanitize ## run every test
	@echo "all tests passed"

unit: $(BUILD)/unit-tests ## unit tests, with the golden files
	$(BUILD)/unit-tests $(SUITE)

golden: ## recompute the golden files with mpmath and compare
	PYTHONDONTWRITEBYTECODE=1 $(PYTHON) tests/golden/write_golden.py --check

http: all ## black-box tests of the server over real sockets
	PYTHONDONTWRITEBYTECODE=1 TEST_SERVER=$(BUILD)/posenc-server $(PYTHON) -m unittest discover -s tests/http -p 'test_*.py'

interop: all ## real clients: curl, numpy; exactness against mpmath
	PYTHONDONTWRITEBYTECODE=1 TEST_SERVER=$(BUILD)/posenc-server $(PYTHON) -m unittest discover -s tests/interop -p 'test_*.py'

check: ## architecture, registration, headers, formatting
	CC="$(CC)" BUILD="$(BUILD)" sh tests/support/check.sh
	clang-format --dry-run --Werror $(FORMATTED)

check-builds: ## gcc and clang build without a warning, and give the same bits at every level
	$(MAKE) BUILD=$(BUILD)/gcc CC=gcc CFLAGS="-O3" all unit
	$(MAKE) BUILD=$(BUILD)/gcc-1 CC=gcc CFLAGS="-O1" KERNEL_CFLAGS= SUITE=kernel unit
	$(MAKE) BUILD=$(BUILD)/clang CC=clang CFLAGS="-O1" KERNEL_CFLAGS= all unit
	$(MAKE) BUILD=$(BUILD)/clang-3 CC=clang CFLAGS="-O3" SUITE=kernel unit

bench: all $(BUILD)/bench-tables ## ratios against numpy, torch, jansson, json and nginx (BENCH=--quick)
	TEST_SERVER=$(BUILD)/posenc-server BENCH_TABLES=$(BUILD)/bench-tables $(PYTHON) -B tests/bench/bench.py $(BENCH)

$(BUILD)/bench-tables: $(BUILD)/tests/bench/tables.o $(BUILD)/libposenc.a
	$(call say,LINK  $@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -pthread -o $@ $^ $(shell pkg-config --libs jansson) -lm

slow: $(BUILD)/unit-tests ## the long forms of tests: 100 million entries against double-double
	ROUNDING_ENTRIES=100000000 $(BUILD)/unit-tests rounding

SANITIZE := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
sanitize: ## the suite under AddressSanitizer and UndefinedBehaviorSanitizer
	$(MAKE) BUILD=$(BUILD)/sanitize CFLAGS="$(SANITIZE)" unit http

format: ## format the sources in place
	clang-format -i $(FORMATTED)

# ---- installing ----

install: all ## install under PREFIX (default /usr/local), below DESTDIR
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(BUILD)/posenc-server $(DESTDIR)$(PREFIX)/bin/posenc-server

deps: ## install what building needs, as far as it is missing
	@sh tests/support/deps.sh $(DEPS)

deps-test: ## install what the tests need, as far as it is missing
	@sh tests/support/deps.sh $(DEPS_TEST)

deps-bench: ## install the peers of the benchmark, as far as they are missing
	@sh tests/support/deps.sh $(DEPS_BENCH)

clean: ## remove everything built
	rm -rf $(BUILD)

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 16
