// SPDX-License-Identifier: MIT
// The part of `agent-sandbox mcp` inside the jail, which the stage starts as a command of the session. It
// opens paths as any process of the jail does, so every cover and rule holds without a second implementation.
//
//   hold                     the session's own command: prints the path of the program, waits for the end of
//                            its input, which is the end of the server
//   read PATH OFFSET LENGTH  prints a line of JSON, then the bytes of a file; of a directory its entries
//   write MODE PATH          writes its input to a file
//   keep                     writes its input to a new file and prints its path
//
// A failure is one line on standard error and exit status 1.
#pragma once

#include <string_view>

namespace cli {

inline constexpr std::string_view kMcpInsideRole = "mcp-inside";

int run_mcp_inside(int argc, char** argv);

}  // namespace cli
