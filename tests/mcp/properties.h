// SPDX-License-Identifier: MIT
// Properties of the server's side of the protocol for arbitrary bytes. The unit tests check them with the
// seeds and with damaged seeds, the fuzzer with its mutations of the seeds.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/encoding/json.h"
#include "base/text.h"
#include "mcp/client.h"
#include "mcp/results.h"

namespace mcp {

inline bool is_one_line(std::string_view line) {
    return line.ends_with('\n') && line.find('\n') == line.size() - 1 && base::is_valid_utf8(line);
}

// What the client sends.
inline const char* broken_for_lines(std::string_view bytes) {
    Client client({.has_network = true, .has_layer = true}), again({.has_network = true, .has_layer = true});
    client.put(bytes);
    for (std::string_view line : base::split(bytes, '\n')) again.put(line);
    if (client.sent != again.sent) return "the answers depend on how the bytes arrive";
    if (client.started.size() > kMostCalls) return "too many calls run at once";
    for (const std::string& line : client.sent) {
        if (!is_one_line(line)) return "an answer is not one line";
        auto answer = base::Json::parse(line);
        if (!answer || answer->text("jsonrpc") != "2.0") return "an answer is not JSON-RPC";
        if (!answer->find("result") == !answer->find("error")) return "an answer has no result, or two";
    }
    const size_t before = client.sent.size(), running = client.protocol().running();
    for (size_t at = 0; at < client.started.size(); ++at)
        client.protocol().finish(client.started[at].first, {.content = base::Json::object()});
    if (client.sent.size() < before + running) return "a call has no answer";
    if (client.protocol().running() != 0) return "a call runs on";
    return nullptr;
}

// What a process of the jail writes.
inline const char* broken_for_answers(std::string_view bytes) {
    const int status = bytes.empty() ? 0 : static_cast<unsigned char>(bytes.front()) % 3;
    const FromInside answer{.output = bytes, .errors = bytes, .exit_status = status};
    for (const CallResult& result : {read_result({}, answer), write_result({}, answer), why_result(answer)}) {
        if (result.problem.empty() != result.content.is_object()) return "a result is neither, or both";
        if (result.problem.find('\n') != std::string::npos) return "a problem has several lines";
        if (result.problem != base::printable(result.problem) &&
            result.problem.find('\\') == std::string::npos)
            return "a problem is not printable";
    }
    return kept_path(answer).size() > 4096 ? "a path is too long" : nullptr;
}

}  // namespace mcp
