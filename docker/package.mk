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
# how a program for another processor is asked: make HELP="qemu-aarch64 build/posenc-server --help"
HELP        ?= $(BUILD)/posenc-server --help

DEPS_DEB := $(DEPS) build-essential curl debhelper dpkg-dev fakeroot lintian man-db systemd zsh

.PHONY: version install-library install-manual install-service dist deb deps-deb

version: ## print the number of the release
	@echo $(VERSION)

# ---- installing ----

install: install-library install-manual install-service

install-library: $(BUILD)/libposenc.a
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(PREFIX)/include
	install -m 644 $(BUILD)/libposenc.a $(DESTDIR)$(LIBDIR)/libposenc.a
	install -m 644 lib/posenc.h $(DESTDIR)$(PREFIX)/include/posenc.h
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|' docker/posenc.pc.in \
		> $(DESTDIR)$(LIBDIR)/pkgconfig/posenc.pc
	chmod 644 $(DESTDIR)$(LIBDIR)/pkgconfig/posenc.pc

# the manual page and the completion of shells, from --help
$(BUILD)/manual/help: $(BUILD)/posenc-server
	@mkdir -p $(@D)
	$(Q)$(HELP) > $@.new && mv $@.new $@
$(BUILD)/manual/%: docker/manual.awk CHANGELOG.md $(BUILD)/manual/help
	$(call say,WRITE $@)
	$(Q)awk -v form=$* -v version=$(VERSION) -v date=$(RELEASED) -f docker/manual.awk \
		$(BUILD)/manual/help > $@.new && mv $@.new $@

install-manual: $(BUILD)/manual/man $(BUILD)/manual/bash $(BUILD)/manual/zsh
	install -d $(DESTDIR)$(MANDIR)/man1 $(DESTDIR)$(BASHDIR) $(DESTDIR)$(ZSHDIR)
	install -m 644 $(BUILD)/manual/man $(DESTDIR)$(MANDIR)/man1/posenc-server.1
	install -m 644 $(BUILD)/manual/bash $(DESTDIR)$(BASHDIR)/posenc-server
	install -m 644 $(BUILD)/manual/zsh $(DESTDIR)$(ZSHDIR)/_posenc-server

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

deps-deb: ## install what the Debian packages need, as far as it is missing
	@sh tests/support/deps.sh $(DEPS_DEB)
