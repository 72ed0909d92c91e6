# SPDX-License-Identifier: MIT
# Two commands matter: `make run` and `make test`. Both install missing tools, build the changed files, and do their job.

PREFIX ?= /usr/local
export CMD

PARTS = structure format unit release jail egress slurm runner sanitize coverage fuzz thread cppcheck tidy
.PHONY: help run check site test test-all install uninstall packages bench promises build setup fix clean soak $(PARTS)

help:
	@echo "make run               build, then a short tour in a real jail and a shell in it"
	@echo "make run CMD='ls ~'    build, then this command in the jail"
	@echo "make check             before a commit: structure, format, fast unit tests, 40 tests of the jail; WHAT=plan for one folder"
	@echo "make test              build, then what every change must pass: checks, unit tests, jail, network, Slurm, the commands of the pages"
	@echo "make test-all          the same with every case, and sanitizers, fuzzing, packages, the site, real agents (1.4 GB, fetched once)"
	@echo "make install PREFIX=   install the program (default $(PREFIX))"
	@echo "make packages          .deb, .rpm and .tar.gz for aarch64 and x86_64, in build/packages"
	@echo "make bench             what a launch, work inside, the network and many sessions cost, beside other tools; in build/figures"
	@echo "make promises          the same, kept in docs/figures, and docs/performance.md and docs/promises.md made anew from it"
	@echo "make soak              an hour of mixed work, and whether anything grows by it"
	@echo "make site              the documentation as static pages, in build/site"
	@echo "make fix               format the sources in place"
	@echo "make clean             remove every build folder"

run: build
	@scripts/run-in-jail

build:
	@scripts/setup build
	@scripts/build program
	@test build/manual/agent-sandbox.1 -nt build/agent-sandbox || scripts/manual

check:
	@scripts/setup build test
	@scripts/check $(WHAT)

test:
	@scripts/test

test-all:
	@scripts/test --all

# One part alone: make sanitize, make jail …, and those of which the name has another meaning here: make test-packages, test-docs, test-site,
# test-agents. The counters of `coverage` are those of `sanitize`.
$(filter-out coverage,$(PARTS)):
	@scripts/test $@

coverage:
	@scripts/test sanitize coverage

test-%:
	@scripts/test $*

# Nothing is set-user-ID: the program has only the rights of its caller. Only this file defines the installed paths: scripts/package
# makes the packages from the files that this target puts below DESTDIR. It builds only what is missing, so that `sudo make install`
# after `make build` writes nothing into the build folder.
PROGRAM ?= build/agent-sandbox
MADE ?= build/manual
PROGRAM_PATH ?= $(PREFIX)/bin/agent-sandbox
SHARED = $(PREFIX)/share/agent-sandbox
DOCUMENTS = $(PREFIX)/share/doc/agent-sandbox
MANUAL = $(PREFIX)/share/man
BASH_COMPLETIONS = $(PREFIX)/share/bash-completion/completions
ZSH_FUNCTIONS ?= $(PREFIX)/share/zsh/site-functions
FISH_COMPLETIONS = $(PREFIX)/share/fish/vendor_completions.d
INSTALL = install -D -m 0644

SAMPLES = $(patsubst share/%,%,$(wildcard share/admin/*.toml share/apparmor/* share/modulefiles/*))
# Only pages for users: no sources of the manual, of the site or of other pages.
PAGES = $(shell find docs -path docs/man -prune -o -path docs/site -prune -o -type f ! -name '*.in' ! -name '*.tsv' -print | LC_ALL=C sort)
# docs/configuration.md links them; the program has them compiled in.
LISTS = $(shell find share -name '*.list' | LC_ALL=C sort)

install:
	@test -x $(PROGRAM) || { scripts/setup build && scripts/build program; }
	@test $(MADE)/agent-sandbox.1 -nt build/agent-sandbox || scripts/manual build/agent-sandbox $(MADE)
	install -D -m 0755 $(PROGRAM) "$(DESTDIR)$(PREFIX)/bin/agent-sandbox"
	$(INSTALL) $(MADE)/agent-sandbox.1 "$(DESTDIR)$(MANUAL)/man1/agent-sandbox.1"
	$(INSTALL) $(MADE)/agent-sandbox.toml.5 "$(DESTDIR)$(MANUAL)/man5/agent-sandbox.toml.5"
	$(INSTALL) $(MADE)/agent-sandbox-audit.5 "$(DESTDIR)$(MANUAL)/man5/agent-sandbox-audit.5"
	$(INSTALL) $(MADE)/completions/bash "$(DESTDIR)$(BASH_COMPLETIONS)/agent-sandbox"
	$(INSTALL) $(MADE)/completions/zsh "$(DESTDIR)$(ZSH_FUNCTIONS)/_agent-sandbox"
	$(INSTALL) $(MADE)/completions/fish "$(DESTDIR)$(FISH_COMPLETIONS)/agent-sandbox.fish"
	for file in $(SAMPLES); do $(INSTALL) share/$$file "$(DESTDIR)$(SHARED)/$$file"; done
	sed -i 's|/usr/local/bin/agent-sandbox|$(PROGRAM_PATH)|' "$(DESTDIR)$(SHARED)/apparmor/agent-sandbox"
	$(INSTALL) -t "$(DESTDIR)$(DOCUMENTS)" LICENSE README.md CHANGELOG.md SECURITY.md CONTRIBUTING.md
	for page in $(PAGES) $(LISTS); do $(INSTALL) $$page "$(DESTDIR)$(DOCUMENTS)/$$page"; done

# The administrator's files in /etc/agent-sandbox stay, and so do the users' files.
uninstall:
	rm -f "$(DESTDIR)$(PREFIX)/bin/agent-sandbox" "$(DESTDIR)$(MANUAL)/man1/agent-sandbox.1" "$(DESTDIR)$(MANUAL)/man5/agent-sandbox.toml.5" \
		"$(DESTDIR)$(MANUAL)/man5/agent-sandbox-audit.5" "$(DESTDIR)$(BASH_COMPLETIONS)/agent-sandbox" \
		"$(DESTDIR)$(ZSH_FUNCTIONS)/_agent-sandbox" "$(DESTDIR)$(FISH_COMPLETIONS)/agent-sandbox.fish"
	rm -rf "$(DESTDIR)$(SHARED)/admin" "$(DESTDIR)$(SHARED)/apparmor" "$(DESTDIR)$(SHARED)/modulefiles" "$(DESTDIR)$(DOCUMENTS)"
	-rmdir "$(DESTDIR)$(SHARED)"

packages:
	@scripts/setup build packages
	@scripts/package

# The figures of a trial go to build/figures, and so do the pages made from them.
bench: build
	@scripts/setup egress slurm bench peers
	@FIGURES=$(CURDIR)/build/figures bench/all
	@-FIGURES=$(CURDIR)/build/figures scripts/promises

promises: build
	@scripts/setup egress slurm bench peers
	@bench/all
	@scripts/promises

# An hour of mixed work: shows what grows.
soak: build
	@scripts/setup egress slurm
	@scripts/soak

# The documentation as static pages, in build/site.
site:
	@scripts/setup site
	@scripts/site

setup:
	@scripts/setup build test egress slurm packages docs site bench

fix:
	@scripts/sources | xargs clang-format -i

clean:
	rm -rf build
