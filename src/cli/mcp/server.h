// SPDX-License-Identifier: MIT
// The loop of `agent-sandbox mcp`: lines from the client, calls in the jail, lines to the client. What the
// client has not read yet is bounded, because no message is read meanwhile.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/process/event_loop.h"
#include "cli/mcp/work.h"
#include "mcp/framing.h"
#include "mcp/protocol.h"

namespace cli {

class McpServer {
  public:
    // Readable when the session has ended.
    struct Ends {
        int session;
    };

    McpServer(base::EventLoop& loop, McpSession session, mcp::Offer offer, Ends ends);

    // Until the client closes standard input or goes away, or the session ends.
    void serve();
    void stop() { is_over_ = true; }
    bool has_lost_session() const { return has_lost_session_; }

  private:
    struct Running {
        std::unique_ptr<McpWork> work;
        base::EventLoop::TimerId timer = 0;
        int64_t seconds = 0;
    };

    bool may_read() const;
    void read_input(short events);
    void write_output(short events);
    void send(std::string_view line);
    void start(mcp::Protocol::CallNumber number, mcp::ToolCall call);
    void cancel(mcp::Protocol::CallNumber number);
    void take_result(mcp::Protocol::CallNumber number);
    void wait_a_second(mcp::Protocol::CallNumber number);
    void flush();

    base::EventLoop& loop_;
    McpSession session_;
    Ends ends_;
    mcp::Framing framing_;
    mcp::Protocol protocol_;
    std::map<mcp::Protocol::CallNumber, Running> running_;
    std::string output_;
    size_t written_ = 0;
    bool is_over_ = false;
    bool has_lost_session_ = false;
    bool has_lost_client_ = false;
};

}  // namespace cli
