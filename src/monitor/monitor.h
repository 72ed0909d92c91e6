// SPDX-License-Identifier: MIT
// The live screen: the list of sessions on top, the details of the selected one below, keys to answer and to
// end.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace monitor {

struct Setup {
    std::vector<std::string> places;  // of session/directories.h
    std::string home;
    bool is_coloured = false;
};

// Runs until a key or a signal ends it; returns the exit code. Standard input and output are a terminal.
base::Result<int> run(const Setup& setup);

// The screen as lines, once, with or without a terminal.
std::string print_once(const Setup& setup, size_t width, size_t height);
// The same as JSON.
std::string print_json(const Setup& setup);

}  // namespace monitor
