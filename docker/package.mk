# What belongs to the installed program beside itself, archives and packages; included by the Makefile.

# A release has one number, in lib/posenc.h, and one date, in CHANGELOG.md. Both go wherever they are named.
VERSION  := $(shell sed -n 's/^.define PE_VERSION "\(.*\)"$$/\1/p' lib/posenc.h)
RELEASED := $(shell sed -n 's/^.. $(VERSION) (\(.*\))$$/\1/p' CHANGELOG.md)
SOURCE_DATE_EPOCH ?= $(shell date -u -d "$(RELEASED)" +%s)
export SOURCE_DATE_EPOCH

LIBDIR      ?= $(PREFIX)/lib
UNITDIR     ?= $(PREFIX)/lib/systemd/system
SYSUSERSDIR ?= $(PREFIX)/lib/sysusers.d
MANDIR      ?= $(PREFIX)/share/man
BASHDIR     ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR      ?= $(PREFIX)/share/zsh/site-functions
DOCDIR      ?= $(PREFIX)/share/doc/posenc
# where Python looks for modules, on Debian: below /usr one folder for all versions
PYTHONDIR   ?= $(PREFIX)/lib/python3$(if $(filter-out /usr,$(PREFIX)),$(shell $(PYTHON) -c 'import sys; print(f".{sys.version_info[1]}")' 2>/dev/null))/dist-packages
# how a program for another processor is asked for --help: make EMULATOR=qemu-aarch64
EMULATOR    ?=

DEPS_DEB := $(DEPS) build-essential curl debhelper dpkg-dev fakeroot lintian man-db systemd zsh

DEPS_PYTHON := python3 python3-build python3-hatchling

.PHONY: release deps-release python deps-python version install-library install-manual install-documents install-python install-service dist deb deps-deb

version: ## print the number of the release
	@echo $(VERSION)

# ---- installing ----

install: install-library install-manual install-documents install-python install-service

install-library: $(BUILD)/libposenc.a
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(PREFIX)/include
	install -m 644 $(BUILD)/libposenc.a $(DESTDIR)$(LIBDIR)/libposenc.a
	install -m 644 lib/posenc.h $(DESTDIR)$(PREFIX)/include/posenc.h
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|' docker/posenc.pc.in \
		> $(DESTDIR)$(LIBDIR)/pkgconfig/posenc.pc
	chmod 644 $(DESTDIR)$(LIBDIR)/pkgconfig/posenc.pc

# the manual pages and the completion of shells, from --help
PROGRAMS := posenc posenc-server
$(PROGRAMS:%=$(BUILD)/manual/%.help): $(BUILD)/manual/%.help: $(BUILD)/%
	@mkdir -p $(@D)
	$(Q)$(EMULATOR) $< --help > $@.new && mv $@.new $@
define write_manual # $(1): man, bash or zsh
$(PROGRAMS:%=$(BUILD)/manual/%.$(1)): $(BUILD)/manual/%.$(1): $(BUILD)/manual/%.help docker/%.1 docker/manual.awk CHANGELOG.md
	$$(call say,WRITE $$@)
	$$(Q)awk -v program=$$* -v page=docker/$$*.1 -v form=$(1) -v version=$(VERSION) -v date=$(RELEASED) \
		-f docker/manual.awk $$< > $$@.new && mv $$@.new $$@
endef
$(foreach form,man bash zsh,$(eval $(call write_manual,$(form))))

install-manual: $(foreach form,man bash zsh,$(PROGRAMS:%=$(BUILD)/manual/%.$(form)))
	install -d $(DESTDIR)$(MANDIR)/man1 $(DESTDIR)$(BASHDIR) $(DESTDIR)$(ZSHDIR)
	for program in $(PROGRAMS); do \
		install -m 644 $(BUILD)/manual/$$program.man $(DESTDIR)$(MANDIR)/man1/$$program.1 && \
		install -m 644 $(BUILD)/manual/$$program.bash $(DESTDIR)$(BASHDIR)/$$program && \
		install -m 644 $(BUILD)/manual/$$program.zsh $(DESTDIR)$(ZSHDIR)/_$$program || exit 1; \
	done

install-documents:
	install -d $(DESTDIR)$(DOCDIR)
	sh server/visualiser/documents.sh > $(DESTDIR)$(DOCDIR)/documents.html
	chmod 644 $(DESTDIR)$(DOCDIR)/documents.html

# what a checkout calls 0 is the release's number
write_version = sed 's/^\(__version__\|version\) = "0".*/\1 = "$(VERSION)"/'

install-python: api/python/posenc.py
	install -d $(DESTDIR)$(PYTHONDIR)
	$(write_version) api/python/posenc.py > $(DESTDIR)$(PYTHONDIR)/posenc.py
	chmod 644 $(DESTDIR)$(PYTHONDIR)/posenc.py

install-service:
	install -d $(DESTDIR)$(UNITDIR) $(DESTDIR)$(SYSUSERSDIR)
	sed 's|/usr/local/bin/|$(PREFIX)/bin/|' docker/posenc.service > $(DESTDIR)$(UNITDIR)/posenc.service
	chmod 644 $(DESTDIR)$(UNITDIR)/posenc.service
	install -m 644 docker/posenc.socket $(DESTDIR)$(UNITDIR)/posenc.socket
	install -m 644 docker/posenc.sysusers $(DESTDIR)$(SYSUSERSDIR)/posenc.conf

# ---- archives and packages ----

ARCHIVE := $(BUILD)/posenc-$(VERSION).tar.gz

# once the bundled page is that of its sources
dist: $(BUILD)/visualiser/assets.c ## the source archive: what git tracks
	sh docker/dist.sh $(ARCHIVE)

deb: dist ## Debian packages of the program and the library, in $(BUILD)/deb
	sh docker/deb.sh $(ARCHIVE) $(BUILD)/deb

python: ## the client as packages for Python, a wheel and its source, in build/python/dist (deps-python)
	@rm -rf $(BUILD)/python && mkdir -p $(BUILD)/python/posenc
	@cp LICENSE api/python/README.md $(BUILD)/python
	@cp api/python/py.typed $(BUILD)/python/posenc
	@$(write_version) api/python/pyproject.toml > $(BUILD)/python/pyproject.toml
	@$(write_version) api/python/posenc.py > $(BUILD)/python/posenc/__init__.py
	$(Q)$(PYTHON) -m build --no-isolation --skip-dependency-check $(BUILD)/python >$(BUILD)/python.log || { cat $(BUILD)/python.log; exit 1; }
	@ls $(BUILD)/python/dist/*

release: ## everything of a release, built twice from clean checkouts, in build/release (deps-release; PARTS="source python": these)
	@PYTHON=$(PYTHON) sh docker/release.sh $(BUILD)/release

deps-release: deps-deb deps-python deps-wasm deps-bare deps-image ## install what `make release` needs, as far as it is missing

deps-python: ## install what `make python` needs, as far as it is missing
	@sh tests/support/deps.sh $(DEPS_PYTHON)

deps-deb: ## install what the Debian packages need, as far as it is missing
	@sh tests/support/deps.sh $(DEPS_DEB)
