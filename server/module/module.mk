# posenc as a WebAssembly module; included by the Makefile. The sources are those of the server
# but for sockets, threads and disks; what WebAssembly lacks is in server/module.

WASM := $(BUILD)/wasm
WASM_PACKAGES ?= build/wasm-packages
WASM_LIBRARIES := jansson zlib nettle libpng1.6
DEPS_WASM := clang lld wasi-libc libclang-rt-dev-wasm32 binaryen dpkg-dev

WASM_SOURCES := $(LIB_SOURCES) $(API_SOURCES) $(MODULE_SOURCES) $(NO_POSTGRES) \
    $(patsubst %,server/%.c,http/guard observe/histogram observe/log observe/metrics observe/trace \
    settings/database_url settings/host_settings settings/memory_shares settings/origins settings/setting_table settings/settings \
    store/memory_engine store/set_rows store/set_store store/store_index work/preparations)
WASM_EXPORTS := start allocate ask status fields read part_size is_complete end

WASM_CC     ?= clang --target=wasm32-wasi
# Sizes in memory have 32 bits here, and the budget of memory keeps them below 2^31; those of tables,
# of which a stream holds a part, have 64.
WASM_WARNINGS := $(WARNINGS) -Wno-shorten-64-to-32
# What computes entries and waves is fast, the rest is small.
WASM_OPTIMISE := -O2
$(foreach room,api server packages/libpng1.6 packages/jansson lib/apply lib/foreign lib/identify lib/positions lib/recognise lib/requests lib/tables,$(WASM)/$(room)/%.o): WASM_OPTIMISE := -Os
WASM_CFLAGS = $(WASM_OPTIMISE) -ffp-contract=off -D_GNU_SOURCE -D_WASI_EMULATED_MMAN -DPE_ONE_THREAD
WASM_LINK   := -mexec-model=reactor -Wl,-z,stack-size=1048576 -Wl,--gc-sections -Wl,--strip-all \
               -Wl,--allow-undefined-file=server/module/imports.txt $(WASM_EXPORTS:%=-Wl,--export=posenc_%)

# ---- the libraries, without their configure scripts ----

wasm_library = $(wildcard $(patsubst %,$(WASM_PACKAGES)/%.c,$(1)))
WASM_JANSSON := $(wildcard $(WASM_PACKAGES)/jansson/src/*.c)
WASM_ZLIB    := $(call wasm_library,$(patsubst %,zlib/%,adler32 crc32 deflate trees zutil compress))
WASM_NETTLE  := $(call wasm_library,$(patsubst %,nettle/%,base64-decode memeql-sec sha256 sha256-compress write-be32))
WASM_PNG     := $(call wasm_library,$(patsubst %,libpng1.6/%,png pngerror pngget pngmem pngset pngtrans pngwio pngwrite pngwtran pngwutil))
WASM_LIBRARY_SOURCES := $(WASM_JANSSON) $(WASM_ZLIB) $(WASM_NETTLE) $(WASM_PNG)
WASM_INCLUDES := -Iserver/module/include -I$(WASM)/include
WASM_OBJECTS := $(WASM_SOURCES:%.c=$(WASM)/%.o) $(WASM)/api/openapi/fixed.o \
                $(patsubst $(WASM_PACKAGES)/%.c,$(WASM)/packages/%.o,$(WASM_LIBRARY_SOURCES))

$(WASM)/include/ready: server/module/module.mk | $(BUILD)/found/deps-wasm
	@mkdir -p $(@D)
	@sed 's/@json_inline@/inline/; s/@json_have_[a-z_]*@/1/; s/@initial_hashtable_order@/3/; s/@[a-z_]*@/0/' \
		$(WASM_PACKAGES)/jansson/src/jansson_config.h.in > $(@D)/jansson_config.h
	@printf '#define %s 1\n' HAVE_STDINT_H HAVE_STRTOLL HAVE_STRTOULL HAVE_SNPRINTF HAVE_UNISTD_H \
		> $(@D)/jansson_private_config.h
	@echo '#define INITIAL_HASHTABLE_ORDER 3' >> $(@D)/jansson_private_config.h
	@echo '/* nettle needs none of its configure script */' > $(@D)/config.h
	@cp $(WASM_PACKAGES)/libpng1.6/scripts/pnglibconf.h.prebuilt $(@D)/pnglibconf.h
	@cp $(WASM_PACKAGES)/jansson/src/jansson.h $(WASM_PACKAGES)/zlib/zlib.h $(WASM_PACKAGES)/zlib/zconf.h \
		$(WASM_PACKAGES)/libpng1.6/png.h $(WASM_PACKAGES)/libpng1.6/pngconf.h $(@D)
	@ln -sfn $(abspath $(WASM_PACKAGES))/nettle $(@D)/nettle
	@touch $@

$(WASM)/packages/%.o: $(WASM_PACKAGES)/%.c $(WASM)/include/ready
	$(call say,WASM  $<)
	@mkdir -p $(@D)
	$(Q)$(WASM_CC) $(WASM_CFLAGS) -w -DHAVE_CONFIG_H -DPNG_NO_SETJMP_SUPPORT $(WASM_INCLUDES) -I$(dir $<) -c -o $@ $<

# ---- the module ----

$(WASM)/%.o: %.c $(WASM)/include/ready
	$(call say,WASM  $<)
	@mkdir -p $(@D)
	$(Q)$(WASM_CC) $(WASM_CFLAGS) -std=c11 $(WASM_WARNINGS) -MMD -MP $(WASM_INCLUDES) \
		-Iserver -Iapi -Ilib -c -o $@ $<
$(WASM)/api/openapi/fixed.o: $(BUILD)/api/openapi/fixed.c $(WASM)/include/ready
	@mkdir -p $(@D)
	$(Q)$(WASM_CC) $(WASM_CFLAGS) -std=c11 -Iapi -Ilib -c -o $@ $<

$(WASM)/posenc.wasm: $(WASM_OBJECTS) server/module/imports.txt
	$(call say,LINK  $@)
	$(Q)$(WASM_CC) $(WASM_LINK) -o $(WASM)/linked.wasm $(WASM_OBJECTS) -lm
	$(Q)wasm-opt -O2 --enable-bulk-memory -o $@ $(WASM)/linked.wasm

# the sums of `make bits` as a program for WebAssembly
$(WASM)/bits.wasm: $(patsubst %.c,$(WASM)/%.o,tests/bench/bits.c server/module/stubs.c server/module/memory.c $(LIB_SOURCES))
	$(call say,LINK  $@)
	$(Q)$(WASM_CC) -Wl,-z,stack-size=1048576 -o $@ $^ -lm

-include $(patsubst %.c,$(WASM)/%.d,$(WASM_SOURCES) tests/bench/bits.c)

$(BUILD)/found/deps-wasm: | $(BUILD)/found/deps
	@missing=; \
	command -v wasm-opt >/dev/null && echo 'int f(void);' | $(WASM_CC) -c -x c -o /dev/null - 2>/dev/null || missing=' a compiler for WebAssembly,'; \
	test -e $(WASM_PACKAGES)/packages.txt || missing="$$missing sources of $(WASM_LIBRARIES),"; \
	test -z "$$missing" || { \
		echo "posenc: \`make deps-wasm\` installs what is missing:$${missing%,}" >&2; exit 1; \
	}
	@mkdir -p $(@D) && touch $@

.PHONY: wasm deps-wasm
MODULE_SCRIPTS := posenc.js engine.js worker.js
wasm: $(WASM)/posenc.wasm $(MODULE_SCRIPTS:%=$(WASM)/%) ## build the WebAssembly module: the same service without a server (deps-wasm)
$(MODULE_SCRIPTS:%=$(WASM)/%): $(WASM)/%: server/module/%
	@mkdir -p $(@D)
	$(Q)cp $< $@

deps-wasm: deps ## install what `make wasm` needs, as far as it is missing
	@sh tests/support/deps.sh $(DEPS_WASM)
	@sh server/module/packages.sh $(WASM_PACKAGES) $(WASM_LIBRARIES)

# ---- the site ----

.PHONY: site npm
site: wasm ## the pages as a folder of static files, build/site, that needs no server (deps-wasm, node)
	$(Q)node --no-warnings server/module/site/build.mjs $(WASM) $(BUILD)/site

# ---- the package for npm ----

NPM := $(BUILD)/npm

npm: wasm ## the module as a package for npm, build/posenc-VERSION.tgz (deps-wasm, node)
	@rm -rf $(NPM) && mkdir -p $(NPM)
	@cp $(WASM)/posenc.wasm $(MODULE_SCRIPTS:%=$(WASM)/%) server/module/package/README.md LICENSE $(NPM)
	@for library in $(WASM_LIBRARIES); do \
		echo "==== $$library"; cat $(WASM_PACKAGES)/$$library/debian/copyright; \
	done > $(NPM)/licences.txt
	@sed 's/"version": ".*"/"version": "'`$(MAKE) -s --no-print-directory version`'"/' server/module/package/package.json > $(NPM)/package.json
	$(Q)node --no-warnings server/module/package/types.mjs $(WASM) > $(NPM)/posenc.d.ts
	$(Q)cd $(BUILD) && npm pack --silent ./npm
