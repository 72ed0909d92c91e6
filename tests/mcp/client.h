// SPDX-License-Identifier: MIT
// A client for tests of the protocol: sends lines, and collects what the server sends, starts and cancels.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding/json.h"
#include "mcp/protocol.h"

namespace mcp {

class Client {
  public:
    explicit Client(Offer offer = {})
        : protocol_(
              "1.2.3", offer,
              {.send = [this](std::string line) { sent.push_back(std::move(line)); },
               .start = [this](auto number, ToolCall call) { started.emplace_back(number, std::move(call)); },
               .cancel = [this](auto number) { cancelled.push_back(number); }}) {}

    void put(std::string_view text) {
        framing_.add(std::string(text) + "\n", [this](Framing::Line line) { protocol_.take(line); });
    }
    // The answer to this message, which must be the only one.
    base::Json ask(std::string_view text) {
        const size_t before = sent.size();
        put(text);
        return sent.size() == before + 1 ? base::Json::parse(sent.back()).value() : base::Json();
    }
    int64_t code_of(std::string_view text) {
        const base::Json answer = ask(text);
        const base::Json* error = answer.find("error");
        return error ? error->number("code") : 0;
    }
    base::Json begin(std::string_view version = "2025-11-25") {
        return ask(R"({"jsonrpc":"2.0","id":"first","method":"initialize","params":{"protocolVersion":")" +
                   std::string(version) + R"("}})");
    }
    void call(int id, std::string_view tool = "run", std::string_view arguments = R"({"command":"x"})") {
        put(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
            R"(,"method":"tools/call","params":{"name":")" + std::string(tool) + R"(","arguments":)" +
            std::string(arguments) + R"(,"_meta":{"progressToken":"p)" + std::to_string(id) + R"("}}})");
    }
    void cancel(int id) {
        put(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" +
            std::to_string(id) + "}}");
    }
    Protocol& protocol() { return protocol_; }

    std::vector<std::string> sent;
    std::vector<std::pair<Protocol::CallNumber, ToolCall>> started;
    std::vector<Protocol::CallNumber> cancelled;

  private:
    Framing framing_;
    Protocol protocol_;
};

}  // namespace mcp
