# SPDX-License-Identifier: MIT
# Two commands matter: `make run` and `make test`. Both install what is missing, build what has changed, and do their job.

PREFIX ?= /usr/local
SHARED = $(PREFIX)/share/agent-sandbox
export CMD

.PHONY: help run test install uninstall bench build setup unit structure format fuzz sanitize tidy jail egress slurm test-agents fix clean

help:
	@echo "make run               build, then a short tour in a real jail and a shell in it"
	@echo "make run CMD='ls ~'    build, then this command in the jail"
	@echo "make test              build, then every check and every test"
	@echo "make test-agents       the real agents, fetched once (1.4 GB), in the jail"
	@echo "make install PREFIX=   install the program (default $(PREFIX))"
	@echo "make bench             what a launch costs, against bare bubblewrap and unshare, the gateway against other proxies, and a question to Slurm"
	@echo "make fix               format the sources in place"
	@echo "make clean             remove every build folder"

run: build
	@scripts/run-in-jail

build:
	@scripts/setup build
	@scripts/build program

test:
	@scripts/setup build test egress slurm
	@scripts/test

# One part of `make test` alone: make unit, make jail …
unit structure format fuzz sanitize tidy jail:
	@scripts/setup build test
	@scripts/test $@

egress:
	@scripts/setup build egress
	@scripts/test egress

slurm:
	@scripts/setup build slurm
	@scripts/test slurm

# Apart from `make test`, for the size of what it fetches.
test-agents: build
	@scripts/setup test egress
	@scripts/test-agents

# Nothing is set-user-ID: the program has no more rights than whoever calls it.
# Builds only what is missing, so that `sudo make install` after `make build` writes nothing into the build folder.
install:
	@test -x build/agent-sandbox || { scripts/setup build && scripts/build program; }
	install -D -m 0755 build/agent-sandbox "$(DESTDIR)$(PREFIX)/bin/agent-sandbox"
	install -d -m 0755 "$(DESTDIR)$(SHARED)/admin" "$(DESTDIR)$(SHARED)/apparmor"
	install -m 0644 share/admin/*.toml "$(DESTDIR)$(SHARED)/admin/"
	install -m 0644 share/apparmor/bwrap "$(DESTDIR)$(SHARED)/apparmor/bwrap"
	sed 's|/usr/local/bin/agent-sandbox|$(PREFIX)/bin/agent-sandbox|' share/apparmor/agent-sandbox \
		>"$(DESTDIR)$(SHARED)/apparmor/agent-sandbox"
	chmod 0644 "$(DESTDIR)$(SHARED)/apparmor/agent-sandbox"

# What the administrator wrote in /etc/agent-sandbox stays.
uninstall:
	rm -f "$(DESTDIR)$(PREFIX)/bin/agent-sandbox"
	rm -rf "$(DESTDIR)$(SHARED)/admin" "$(DESTDIR)$(SHARED)/apparmor"
	-rmdir "$(DESTDIR)$(SHARED)"

bench: build
	@scripts/setup egress slurm bench
	@bench/launch
	@bench/egress
	@bench/slurm

setup:
	@scripts/setup build test egress slurm bench

fix:
	@scripts/sources | xargs clang-format -i

clean:
	rm -rf build
