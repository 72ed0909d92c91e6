// SPDX-License-Identifier: MIT
// This program under the name of a program that fails in the jail for a reason that its messages do not name
// (plan/system/explaining_stubs.h). It runs the real program, which is further along in PATH, and adds one
// line after a failure. Everything else is as without it: descriptors, terminal, signals and exit status.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cli {

// The name of the program that this one runs as; nothing under any other name.
std::optional<std::string> explaining_stub_name(std::string_view executed, std::string_view first_word);

int run_explaining_stub(const std::string& name, char** arguments);

}  // namespace cli
