// SPDX-License-Identifier: MIT
// Reads a sandbox.conf of the bash predecessor. The file is a shell script, so bash evaluates it in a jail
// that the caller provides: without a network, without a writable path, and with a time limit. Our script
// sets the variables up, sources the file and prints them; this library turns the values into settings.
//
// A file may test _PROJECT_DIR. Then bash evaluates it once for a directory that no test names and once for a
// directory of each test. A value that all runs share is unconditional. A file that sets something in only
// one of the runs becomes a file with [match].
#pragma once

#include <string_view>

#include "import/import.h"

namespace config {

// Returns an error if bash can't read the file to its end.
base::Result<Imported> import_bash(std::string_view text, const ImportOptions& options);

}  // namespace config
