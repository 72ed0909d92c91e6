// SPDX-License-Identifier: MIT
// The tool `changes`: what a session with --cow has changed in its project.
#pragma once

#include <functional>
#include <memory>

#include "cli/mcp/work.h"

namespace cli {

// In a process of its own, because a large project takes long to compare.
std::unique_ptr<McpWork> start_changes(const McpSession& session, std::function<void()> done);

}  // namespace cli
