// SPDX-License-Identifier: MIT
// The results of the tools, from what a process of the jail has written. Every byte of it is untrusted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bounded_text.h"
#include "base/encoding/json.h"
#include "mcp/protocol.h"
#include "mcp/tools.h"

namespace mcp {

// What the part of the server inside the jail writes may have this many bytes.
inline constexpr size_t kMostFromInside = 2u << 20;

struct StreamOutput {
    const base::BoundedText& text;
    std::string file;     // inside, with the whole output; empty: none
    std::string problem;  // why the file is missing, although the output is longer
};
struct RunOutcome {
    StreamOutput out, err;
    int exit_status = 0;
    bool has_timed_out = false;
    base::Json refused;  // null: the session has no record
};
base::Json run_result(const RunOutcome& outcome);

// One answer of the part inside: its standard output, and its standard error where it has failed.
struct FromInside {
    std::string_view output, errors;
    int exit_status = 0;
};
CallResult read_result(const ReadCall& call, const FromInside& answer);
CallResult write_result(const WriteCall& call, const FromInside& answer);
CallResult why_result(const FromInside& answer);

// The path of a file that holds a whole output; empty: it could not be written.
std::string kept_path(const FromInside& answer);

// The reason of a failure, in one printable line.
std::string problem_in(const FromInside& answer);

}  // namespace mcp
