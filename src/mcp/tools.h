// SPDX-License-Identifier: MIT
// The tools of the server: their descriptions for the client, and the meaning of a call's arguments. Nothing
// that changes the session is a tool: what the jail permits is decided outside of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/encoding/json.h"
#include "base/result.h"

namespace mcp {

inline constexpr int64_t kMostOfOutput = 256 << 10;  // bytes of a stream, or of a file that is read
inline constexpr int64_t kUsualTimeout = 120, kLongestTimeout = 86'400;

struct RunCall {
    std::vector<std::string> command;
    std::string directory;  // empty: the session's
    std::string input;
    int64_t timeout_s = kUsualTimeout;
};
struct ReadCall {
    std::string path;
    int64_t offset = 0;
    int64_t length = kMostOfOutput;
};
struct WriteCall {
    std::string path;
    std::string content;
    std::string mode = "replace";
};
struct WhyCall {
    std::string subject;  // "path", "host", "env" or "syscall"
    std::string name;
    bool is_write = false;
};
struct ChangesCall {};

using ToolCall = std::variant<RunCall, ReadCall, WriteCall, WhyCall, ChangesCall>;

// What the session offers.
struct Offer {
    bool has_network = true;
    bool has_layer = false;
};

// The result of tools/list. Later versions of the protocol have schemas of results.
base::Json tool_list(const Offer& offer, bool has_result_schemas);

// An error names what is wrong with the arguments.
base::Result<ToolCall> read_call(const Offer& offer, std::string_view name, const base::Json& arguments);

}  // namespace mcp
