# SPDX-License-Identifier: MIT
# For tests that fail on purpose, which tests/runner/runner.bats runs through scripts/test. Sourced, not run.

# Whether this is the first call with this name in a run of scripts/test. Not below /tmp: each world has its own.
is_first() { mkdir "/var/tmp/agent-sandbox-luck.$SBX_SEED.$1" 2>/dev/null; }
