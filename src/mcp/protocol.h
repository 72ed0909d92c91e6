// SPDX-License-Identifier: MIT
// The server's side of the Model Context Protocol: messages in; answers, calls to start and calls to end out.
// No sockets, no clock and no processes: the caller has them.
//
// At most kMostCalls run at once; further calls wait in their order. While is_full(), the caller reads no
// more, so a client that does not wait for answers is slowed down, and memory stays bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/encoding/json.h"
#include "mcp/framing.h"
#include "mcp/message.h"
#include "mcp/tools.h"

namespace mcp {

inline constexpr size_t kMostCalls = 8;
inline constexpr size_t kMostWaiting = 64;
inline constexpr size_t kMostWaitingBytes = 8u << 20;

// Newest last.
inline constexpr std::string_view kVersions[] = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"};

// How a call ended.
struct CallResult {
    base::Json content;   // an object
    std::string problem;  // not empty: what the server could not do, and `content` is not used
};

class Protocol {
  public:
    using CallNumber = uint64_t;
    struct Effects {
        std::function<void(std::string line)> send;
        std::function<void(CallNumber, ToolCall)> start;
        std::function<void(CallNumber)> cancel;  // of one that was started
    };

    Protocol(std::string program_version, Offer offer, Effects effects)
        : program_version_(std::move(program_version)), offer_(offer), effects_(std::move(effects)) {}

    void take(Framing::Line line);

    // A started call that was not cancelled has ended.
    void finish(CallNumber number, const CallResult& result);
    // `seconds` since its start must increase. Nothing is sent if the client wants no progress.
    void report_progress(CallNumber number, int64_t seconds, uint64_t bytes);

    bool is_full() const { return waiting_.size() >= kMostWaiting || waiting_bytes_ >= kMostWaitingBytes; }
    size_t running() const { return running_.size(); }

  private:
    struct Call {
        base::Json id, progress_token;
    };
    struct Waiting {
        Call call;
        ToolCall tool;
        size_t bytes = 0;
    };
    struct Method {
        std::string_view name;
        void (Protocol::*answer)(const Message&, size_t bytes);
        bool is_early;  // may come before initialize
    };
    static const Method kMethods[];

    void take_request(const Message& message, size_t bytes);
    void take_notification(const Message& message);
    void initialize(const Message& message, size_t bytes);
    void ping(const Message& message, size_t bytes);
    void list_tools(const Message& message, size_t bytes);
    void call_tool(const Message& message, size_t bytes);
    void cancel(const base::Json& id);
    bool is_in_use(const base::Json& id) const;
    void start_waiting();
    void fail(const Message& message, ErrorCode code, std::string text) const;

    std::string program_version_;
    Offer offer_;
    Effects effects_;
    std::string version_;  // empty: not initialized
    std::map<CallNumber, Call> running_;
    std::deque<Waiting> waiting_;
    size_t waiting_bytes_ = 0;
    CallNumber last_ = 0;
};

}  // namespace mcp
