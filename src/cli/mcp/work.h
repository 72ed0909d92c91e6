// SPDX-License-Identifier: MIT
// A call of a tool while it runs: it starts what the tool needs, and makes the result.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "audit/proposal.h"
#include "base/process/event_loop.h"
#include "cli/verbs.h"
#include "mcp/protocol.h"
#include "session/control/known_sessions.h"

namespace cli {

class McpWork {
  public:
    virtual ~McpWork() = default;
    // Bytes of output so far.
    virtual uint64_t bytes() const = 0;
    // Once, when `done` was called.
    virtual mcp::CallResult result() = 0;
};

struct McpSession {
    const Invocation& call;
    base::EventLoop& loop;
    const session::Known& known;
    std::string inside;  // the path of this program in the jail
    audit::UserDirectories directories;
};

// `done` is called in a later turn of the loop. When the object is destroyed, its command is ended.
std::unique_ptr<McpWork> start_work(const McpSession& session, mcp::ToolCall call,
                                    std::function<void()> done);

}  // namespace cli
