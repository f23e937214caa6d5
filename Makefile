# posenc: `make help` lists the targets. Testing is in tests/tests.mk.

MAKEFLAGS += --no-builtin-rules

# building uses every core; tests run one after the other
BUILDING = $(MAKE) $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

# What is read below asks the compiler and others that `deps…` installs. So where one of these is not the only
# goal, each goal is made in its turn by a make of its own, which reads everything anew.
ifneq ($(and $(filter deps%,$(MAKECMDGOALS)),$(word 2,$(MAKECMDGOALS))),)
.PHONY: in-turn $(MAKECMDGOALS)
$(MAKECMDGOALS): in-turn ; @:
define in_turn # $(1): a goal; Ctrl-C is how `run` ends
	+@$(if $(filter run,$(1)),trap : INT; )$(BUILDING) --no-print-directory $(1)$(if $(filter run,$(1)), || test $$? = 130)

endef
in-turn:
	$(foreach goal,$(filter deps%,$(MAKECMDGOALS)) $(filter-out deps%,$(MAKECMDGOALS)),$(call in_turn,$(goal)))
else

# two commands that install packages wait for each other in vain: the second finds the first's lock, and fails
ifneq ($(filter deps%,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif

BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
PYTHON  ?= /usr/bin/python3

CFLAGS        ?= -O2 -g
CXXFLAGS      ?= -O2 -g
# what gcc notes of variables in inlined loops takes two fifths of the time to compile them
KERNEL_CFLAGS ?= -O3 -fno-var-tracking
# `make V=1` shows whole commands
Q := $(if $(V),,@)
say = $(if $(V),,@echo "  $(1)")

# ---- what the compiler builds for ----

# such as x86_64-linux-gnu. Libraries of another machine are in a root that `make deps-arm64` has made.
TARGET  := $(shell $(CC) -dumpmachine 2>/dev/null)
SYSROOT ?= $(abspath $(wildcard build/root-$(TARGET)))
ifneq ($(SYSROOT),)
POSENC_CC  = $(CC) --sysroot=$(SYSROOT)
PKG_CONFIG ?= PKG_CONFIG_SYSROOT_DIR=$(SYSROOT) PKG_CONFIG_LIBDIR=$(SYSROOT)/usr/lib/$(TARGET)/pkgconfig pkg-config
else
POSENC_CC  = $(CC)
PKG_CONFIG ?= pkg-config
endif
# `make STATIC=1` links a program that needs no shared library
PKG_CONFIG_LIBS = $(PKG_CONFIG) --libs $(if $(STATIC),--static)
ifeq ($(origin AR),default)
AR := $(shell $(CC) -print-prog-name=ar 2>/dev/null)
endif

# ---- sources ----

sources_in = $(sort $(shell find $(1) -name node_modules -prune -o -name '*.[ch]' -print))
LIB_FILES      := $(call sources_in,lib)
API_FILES      := $(call sources_in,api)
SERVER_FILES   := $(filter-out server/visualiser/%,$(call sources_in,server))
LIB_SOURCES    := $(filter %.c,$(LIB_FILES))
API_SOURCES    := $(filter %.c,$(API_FILES))
# `make POSTGRES=1` builds a server that can keep sets in PostgreSQL, through libpq
POSTGRES_SOURCES := $(filter server/store/postgres_%.c,$(SERVER_FILES))
NO_POSTGRES      := server/store/no_postgres.c
# the command `posenc`, which answers without a server
COMMAND_SOURCES  := server/posenc.c $(filter server/command/%.c,$(SERVER_FILES))
# what is compiled for WebAssembly alone
MODULE_SOURCES   := $(filter server/module/%.c,$(SERVER_FILES))
SERVER_SOURCES   := $(filter-out $(POSTGRES_SOURCES) $(NO_POSTGRES) $(COMMAND_SOURCES) $(MODULE_SOURCES),\
                    $(filter %.c,$(SERVER_FILES)))
objects = $(patsubst %.c,$(BUILD)/%.o,$(1))

# The kernels are compiled once more for each instruction set that is chosen at run time, but for what calls them.
KERNEL_CALLERS := $(patsubst %,lib/kernels/%.c,copier intervals kernel_select print)
KERNEL_SOURCES := $(filter-out $(KERNEL_CALLERS),$(filter lib/kernels/%.c,$(LIB_SOURCES)))
ifneq ($(filter x86_64-%,$(TARGET)),)
INSTRUCTION_SETS := v3 v4
endif
KERNEL_OBJECTS := $(foreach set,$(INSTRUCTION_SETS),$(KERNEL_SOURCES:%.c=$(BUILD)/%-$(set).o))

# ---- flags ----

CXX_WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror
WARNINGS     := $(CXX_WARNINGS) -Wmissing-prototypes
# -ffp-contract=off: a fused multiply-add would change bits between instruction sets
POSENC_CFLAGS := -std=c11 -D_GNU_SOURCE -pthread -ffp-contract=off $(WARNINGS) -MMD -MP \
                 $(if $(INSTRUCTION_SETS),-DPE_KERNEL_X86)
# A layer sees those below it. Includes name the room: #include "numerics/wide.h".
INCLUDES = -Ilib
$(BUILD)/api/%.o: INCLUDES = -Iapi -Ilib $(PACKAGE_CFLAGS)
$(BUILD)/server/%.o $(BUILD)/visualiser/%.o: INCLUDES = -Iserver -Iapi -Ilib $(PACKAGE_CFLAGS)
$(BUILD)/tests/%.o: INCLUDES = -Itests/unit -Ilib -Iapi -Iserver $(PACKAGE_CFLAGS)

# Hardening comes before CPPFLAGS, CFLAGS and LDFLAGS, so that a distribution's flags win. A file
# holds those that the compiler knows; HARDENING= and HARDENING_LINK= leave all of them out.
HARDENING      ?= @$(BUILD)/hardening.flags
HARDENING_LINK ?= $(if $(STATIC),-static-pie,-pie) -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack
HARDENING_FLAGS := -fPIE -fstack-protector-strong -Wformat=2 \
                   -fstack-clash-protection -fcf-protection
# Checked C library functions need an optimiser. A sanitizer checks by itself, and the caller may
# have chosen a level. Of the levels that the compiler knows the last one counts.
optimises := $(filter-out -O0,$(lastword $(filter -O%,$(CFLAGS))))
checks_itself := $(findstring -fsanitize,$(CFLAGS))$(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS))
ifneq ($(optimises),)
FORTIFY_FLAGS := $(if $(checks_itself),,$(foreach level,2 3,-Wp,-U_FORTIFY_SOURCE,-D_FORTIFY_SOURCE=$(level)))
endif
# The kernels leave them out: checked copies make printing a third slower, and what the kernels
# read and write is memory of our own. A square root that may set errno is not vectorised.
KERNEL_BUILDS := $(KERNEL_SOURCES:%.c=$(BUILD)/%.o) $(KERNEL_OBJECTS)
$(KERNEL_BUILDS): KERNEL_FLAGS = $(KERNEL_CFLAGS) -fno-math-errno -Wp,-U_FORTIFY_SOURCE

COMPILE = $(POSENC_CC) $(POSENC_CFLAGS) $(INCLUDES) $(HARDENING) $(CPPFLAGS) $(CFLAGS) $(KERNEL_FLAGS)
LINK = $(POSENC_CC) $(CFLAGS) $(HARDENING_LINK) $(LDFLAGS) -pthread

API_PACKAGES   := jansson libpng nettle sqlite3 zlib
API_LIBS       = $(shell $(PKG_CONFIG_LIBS) $(API_PACKAGES)) -lm
SERVER_LIBS    = $(shell $(PKG_CONFIG_LIBS) libmicrohttpd) $(API_LIBS)
PACKAGE_CFLAGS = $(shell $(PKG_CONFIG) --cflags libmicrohttpd $(API_PACKAGES))
POSTGRES_LIBS  = $(shell $(PKG_CONFIG_LIBS) libpq)

DEPS := gcc libc6-dev make pkg-config libmicrohttpd-dev libjansson-dev libpng-dev libsqlite3-dev \
        nettle-dev zlib1g-dev
DEPS_POSTGRES := libpq-dev

.PHONY: all run page install install-program deps deps-page deps-postgres deps-arm64 clean help FORCE

all: $(BUILD)/posenc-server $(BUILD)/posenc ## build the server and the command (the default)

run: all ## build and serve on http://127.0.0.1:8080 (PORT=8081: there)
	@exec $(BUILD)/posenc-server $(if $(PORT),--port $(PORT))

# ---- what is installed ----

# A file for each target that installs something is there once that has been found. Without it nothing is compiled;
# a line says which command brings what is missing.
BROUGHT_BY ?= $(if $(SYSROOT)$(filter aarch64-%,$(CC)),deps-arm64,deps)
$(BUILD)/found/deps: MODULES = libmicrohttpd $(API_PACKAGES)
$(BUILD)/found/deps-postgres: MODULES = libpq
$(BUILD)/found/deps-postgres: | $(BUILD)/found/deps
$(BUILD)/found/deps-postgres: BROUGHT_BY = deps-postgres
$(BUILD)/found/%:
	@missing=; \
	echo '#include <string.h>' | $(POSENC_CC) -E -x c -o /dev/null - 2>/dev/null || missing=' a C compiler ($(CC)),'; \
	for module in $(MODULES); do \
		$(PKG_CONFIG) --exists $$module 2>/dev/null || missing="$$missing $$module,"; \
	done; \
	test -z "$$missing" || { \
		echo "posenc: \`make $(BROUGHT_BY)\` installs what is missing:$${missing%,}" >&2; exit 1; \
	}
	@mkdir -p $(@D) && touch $@

# ---- building ----

$(BUILD)/libposenc.a: $(call objects,$(LIB_SOURCES)) $(KERNEL_OBJECTS)
$(BUILD)/libposenc-api.a: $(call objects,$(API_SOURCES)) $(BUILD)/api/openapi/fixed.o
$(BUILD)/%.a:
	$(call say,AR    $@)
	@mkdir -p $(@D)
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $^

# the visualiser's pages as C
$(BUILD)/visualiser/assets.c: FORCE
	@sh server/visualiser/build.sh $@
FORCE:
page: ## bundle the visualiser's pages anew, as `make` does after a change of their sources (deps-page)
	sh server/visualiser/bundle.sh server/visualiser/bundle

# the fixed part of the OpenAPI document as C
$(BUILD)/api/openapi/fixed.c: api/openapi/fixed.json api/literal.sh
	@mkdir -p $(@D)
	@{ printf '#include "openapi/fixed.h"\n#pragma GCC diagnostic ignored "-Woverlength-strings"\n'; \
		sh api/literal.sh api_openapi_fixed $<; } > $@.new && mv $@.new $@

$(BUILD)/visualiser/assets.o $(BUILD)/api/openapi/fixed.o: %.o: %.c $(BUILD)/hardening.flags
	$(call say,CC    $<)
	$(Q)$(COMPILE) -c -o $@ $<

SERVER_PROGRAM := $(call objects,$(SERVER_SOURCES)) $(BUILD)/visualiser/assets.o $(BUILD)/libposenc-api.a $(BUILD)/libposenc.a
POSTGRES_OBJECTS    := $(call objects,$(POSTGRES_SOURCES))
NO_POSTGRES_OBJECTS := $(call objects,$(NO_POSTGRES))
$(POSTGRES_OBJECTS): | $(BUILD)/found/deps-postgres
$(POSTGRES_OBJECTS): PACKAGE_CFLAGS += $(shell $(PKG_CONFIG) --cflags libpq)
$(BUILD)/posenc-server: $(SERVER_PROGRAM) $(if $(POSTGRES),$(POSTGRES_OBJECTS),$(NO_POSTGRES_OBJECTS)) $(BUILD)/engines
	$(call say,LINK  $@)
	$(Q)$(LINK) -o $@ $(filter %.o %.a,$^) $(SERVER_LIBS) $(if $(POSTGRES),$(POSTGRES_LIBS))

# From an archive the linker takes what the command needs of the server: its store, its settings.
SERVER_PARTS := $(call objects,$(filter-out $(wildcard server/*.c),$(SERVER_SOURCES)))
$(BUILD)/libposenc-server.a: $(SERVER_PARTS) $(NO_POSTGRES_OBJECTS)
$(BUILD)/posenc: $(call objects,$(COMMAND_SOURCES)) $(BUILD)/libposenc-server.a $(BUILD)/libposenc-api.a $(BUILD)/libposenc.a
	$(call say,LINK  $@)
	$(Q)$(LINK) -o $@ $^ $(API_LIBS)

# newer than the server when it was linked with other engines
$(BUILD)/engines: FORCE
	@mkdir -p $(@D)
	@echo "$(if $(POSTGRES),postgres)" | cmp -s - $@ || echo "$(if $(POSTGRES),postgres)" > $@

$(BUILD)/%.o: %.c | $(BUILD)/hardening.flags
	$(call say,CC    $<)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -c -o $@ $<

define compile_for_set # $(1): v3 or v4
$(BUILD)/lib/kernels/%-$(1).o: lib/kernels/%.c | $(BUILD)/hardening.flags
	$$(call say,CC    $$< ($(1)))
	@mkdir -p $$(@D)
	$$(Q)$$(COMPILE) $$(SET_CFLAGS) -march=x86-64-$(1) \
		$(if $(filter v4,$(1)),-mprefer-vector-width=512) -DPE_INSTRUCTION_SET=$(1) -c -o $$@ $$<
endef
$(foreach set,$(INSTRUCTION_SETS),$(eval $(call compile_for_set,$(set))))

$(BUILD)/hardening.flags: | $(BUILD)/found/deps
	@mkdir -p $(@D)
	@for flag in $(HARDENING_FLAGS) $(FORTIFY_FLAGS); do \
		$(POSENC_CC) -O1 -Werror $$flag -include string.h -x c -c -o /dev/null /dev/null 2>/dev/null && \
			echo "$$flag"; \
	done > $@; test -s $@

-include $(KERNEL_OBJECTS:.o=.d) $(patsubst %.c,$(BUILD)/%.d,$(LIB_SOURCES) $(API_SOURCES) $(SERVER_SOURCES) $(COMMAND_SOURCES) $(POSTGRES_SOURCES) $(NO_POSTGRES)) $(BUILD)/visualiser/assets.d $(BUILD)/api/openapi/fixed.d

# ---- installing ----

install: install-program ## install under PREFIX (default /usr/local), below DESTDIR
install-program: all
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(BUILD)/posenc-server $(BUILD)/posenc $(DESTDIR)$(PREFIX)/bin

deps: ## install what building needs, as far as it is missing
	@sh tests/support/deps.sh $(DEPS)

deps-page: ## install what `make page` needs, as far as it is missing
	@sh tests/support/npm.sh server/visualiser

deps-postgres: deps ## install what `make POSTGRES=1` needs, as far as it is missing
	@sh tests/support/deps.sh $(DEPS_POSTGRES)

deps-arm64: ## install what `make CC=aarch64-linux-gnu-gcc BUILD=build/arm64` and `make check-arm64` need
	@sh tests/support/deps.sh gcc-aarch64-linux-gnu qemu-user
	@sh tests/support/foreign_root.sh arm64 $(CURDIR)/build/root-aarch64-linux-gnu $(filter %-dev,$(DEPS)) check

clean: ## remove everything built
	rm -rf $(BUILD)

help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' Makefile server/module/module.mk docker/package.mk tests/tests.mk | expand -t 16

# absent where only the server is built
-include server/module/module.mk docker/package.mk tests/tests.mk

endif # a goal alone
