// SPDX-License-Identifier: MIT
// Reads a sandbox.conf of the bash predecessor. The file is shell, so bash evaluates it, in a jail that the
// caller provides: without a network, with nothing writable, and with a limit of time. A script of ours sets
// the variables up, sources the file and prints them; this library turns the values into settings.
//
// A file may test _PROJECT_DIR. It is then evaluated once for a directory that no test names and once for a
// directory that each test names. What all of them set alike is unconditional, and a file that sets something
// in one of them alone becomes a file with [match].
#pragma once

#include <string_view>

#include "import/import.h"

namespace config {

// An error is a file that bash can't read to its end.
base::Result<Imported> import_bash(std::string_view text, const ImportOptions& options);

}  // namespace config
