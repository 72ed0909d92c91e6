// SPDX-License-Identifier: MIT
// Settings of other programs as ours. What can't be carried over is listed with its reason, on standard error
// and as comments at the end of the file, so that nothing is lost where only one of them is kept. Whatever
// a file holds, the TOML that is made passes parse_layer.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/settings.h"
#include "config/value.h"

namespace config {

struct LeftOut {
    int line;          // 0 where the format has none: then the text says which key it was
    std::string text;  // printable
    std::string reason;

    // "line 5: /scratch/$USER: $USER gets its value outside this file"
    std::string describe() const;
};

struct Imported {
    std::string toml;
    size_t carried = 0;  // settings that the file sets
    std::vector<LeftOut> left_out;
    size_t more_left_out = 0;  // beyond those that are listed
    std::string obstacle;      // why no run starts with the file, where no single value is the reason

    // "carried over 12 settings, left out 3"
    std::string summary() const;
};

// What this library can't judge: whether an entry of network.allow is one.
using EntryCheck = std::function<base::Status(const Setting& setting, const std::string& entry)>;

// Runs 'bash -c SCRIPT agent-sandbox FILE ARGUMENTS…' (bash_values.h) in a jail, with `text` as FILE, and
// returns its output.
using RunBash = std::function<base::Result<std::string>(std::string_view text,
                                                        const std::vector<std::string>& arguments)>;

// Whether a run starts with these values. An error names the origin of the value that prevents it.
using StartCheck = std::function<base::Status(const Values& values)>;

struct ImportOptions {
    bool for_administrator = false;  // the result becomes a ceiling, and not a file of a user
    EntryCheck check;
    std::string home;  // the home directory, for paths that name it in full; empty where it is not known
    RunBash run_bash;  // for a sandbox.conf
    StartCheck starts;
};

// A sandbox.conf of the bash predecessor, or the JSON of sandbox-runtime or Claude Code: told apart by how it
// begins. An error is a file that is none of these.
base::Result<Imported> import_file(std::string_view text, const ImportOptions& options = {});

}  // namespace config
