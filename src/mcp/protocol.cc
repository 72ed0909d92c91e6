// SPDX-License-Identifier: MIT
#include "mcp/protocol.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"

namespace mcp {

using base::Json;

namespace {

// The first version with results as data.
constexpr std::string_view kFirstWithContent = "2025-06-18";

constexpr std::string_view kInstructions =
    "Commands and files are those of a jail that the Linux kernel enforces. What the jail refuses is in "
    "'refused' of a result and in 'why'; only the user can allow it, outside of the jail.";

std::string_view agreed_version(std::string_view wanted) {
    const auto* known = std::ranges::find(kVersions, wanted);
    return known == std::end(kVersions) ? *std::rbegin(kVersions) : *known;
}

Json text_content(std::string_view text) {
    return Json::array().push(Json::object().set("type", "text").set("text", text));
}

}  // namespace

const Protocol::Method Protocol::kMethods[] = {
    {"initialize", &Protocol::initialize, true},
    {"ping", &Protocol::ping, true},
    {"tools/list", &Protocol::list_tools, false},
    {"tools/call", &Protocol::call_tool, false},
};

void Protocol::take(Framing::Line line) {
    const Message message = read_message(line);
    switch (message.kind) {
        case Message::Kind::request:
            return take_request(message, line.text.size());
        case Message::Kind::notification:
            return take_notification(message);
        case Message::Kind::answer:  // this server asks nothing
            return;
        case Message::Kind::wrong:
            return effects_.send(error_line(message.id, message.failure));
    }
}

void Protocol::fail(const Message& message, ErrorCode code, std::string text) const {
    effects_.send(error_line(message.id, {code, std::move(text)}));
}

void Protocol::take_request(const Message& message, size_t bytes) {
    const Method* method = std::ranges::find(kMethods, message.method, &Method::name);
    if (version_.empty() && (method == std::end(kMethods) || !method->is_early))
        return fail(message, ErrorCode::invalid_request, "the first request must be 'initialize'");
    if (method == std::end(kMethods))
        return fail(message, ErrorCode::unknown_method,
                    base::format("the method '{}' is unknown", base::printable(message.method)));
    (this->*method->answer)(message, bytes);
}

void Protocol::take_notification(const Message& message) {
    if (message.method != "notifications/cancelled") return;
    const Json* id = message.parameters.find("requestId");
    if (is_name(id)) cancel(*id);
}

void Protocol::initialize(const Message& message, size_t /*bytes*/) {
    if (!version_.empty()) return fail(message, ErrorCode::invalid_request, "already initialized");
    version_ = agreed_version(message.parameters.text("protocolVersion"));
    Json server = Json::object().set("name", "agent-sandbox").set("version", program_version_);
    Json result = Json::object()
                      .set("protocolVersion", version_)
                      .set("capabilities", Json::object().set("tools", Json::object()))
                      .set("serverInfo", std::move(server))
                      .set("instructions", kInstructions);
    effects_.send(result_line(message.id, std::move(result)));
}

void Protocol::ping(const Message& message, size_t /*bytes*/) {
    effects_.send(result_line(message.id, Json::object()));
}

void Protocol::list_tools(const Message& message, size_t /*bytes*/) {
    effects_.send(result_line(message.id, tool_list(offer_, version_ >= kFirstWithContent)));
}

bool Protocol::is_in_use(const Json& id) const {
    const std::string name = name_text(id);
    auto has_id = [&](const Call& call) { return name_text(call.id) == name; };
    return std::ranges::any_of(running_, [&](const auto& entry) { return has_id(entry.second); }) ||
           std::ranges::any_of(waiting_, [&](const Waiting& one) { return has_id(one.call); });
}

void Protocol::call_tool(const Message& message, size_t bytes) {
    if (is_in_use(message.id))
        return fail(message, ErrorCode::invalid_request, "a request with this id is still running");
    const Json* name = message.parameters.find("name");
    if (name == nullptr || name->as_text() == nullptr)
        return fail(message, ErrorCode::wrong_parameters, "the parameter 'name' must be a text");
    const Json* arguments = message.parameters.find("arguments");
    base::Result<ToolCall> call =
        read_call(offer_, *name->as_text(), arguments ? *arguments : Json::object());
    if (!call) return fail(message, ErrorCode::wrong_parameters, call.error().what);
    const Json* about = message.parameters.find("_meta");
    const Json* token = about ? about->find("progressToken") : nullptr;
    waiting_.push_back({.call = {.id = message.id, .progress_token = is_name(token) ? *token : Json()},
                        .tool = *std::move(call),
                        .bytes = bytes});
    waiting_bytes_ += bytes;
    start_waiting();
}

void Protocol::start_waiting() {
    while (!waiting_.empty() && running_.size() < kMostCalls) {
        Waiting next = std::move(waiting_.front());
        waiting_.pop_front();
        waiting_bytes_ -= next.bytes;
        running_.emplace(++last_, std::move(next.call));
        effects_.start(last_, std::move(next.tool));
    }
}

// A cancelled request gets no answer. An unknown id is one that was answered meanwhile.
void Protocol::cancel(const Json& id) {
    const std::string name = name_text(id);
    auto waiting =
        std::ranges::find_if(waiting_, [&](const Waiting& one) { return name_text(one.call.id) == name; });
    if (waiting != waiting_.end()) {
        waiting_bytes_ -= waiting->bytes;
        waiting_.erase(waiting);
        return;
    }
    auto running =
        std::ranges::find_if(running_, [&](const auto& entry) { return name_text(entry.second.id) == name; });
    if (running == running_.end()) return;
    const CallNumber number = running->first;
    running_.erase(running);
    effects_.cancel(number);
    start_waiting();
}

void Protocol::finish(CallNumber number, const CallResult& result) {
    auto call = running_.find(number);
    if (call == running_.end()) return;
    const bool is_error = !result.problem.empty();
    Json answer = Json::object();
    answer.set("content", text_content(is_error ? result.problem : result.content.dump(-1)));
    if (!is_error && version_ >= kFirstWithContent) answer.set("structuredContent", result.content);
    answer.set("isError", is_error);
    std::string line = result_line(call->second.id, std::move(answer));
    running_.erase(call);
    effects_.send(std::move(line));
    start_waiting();
}

// The protocol demands that the number increases, which the number of bytes does not: so it is the seconds.
void Protocol::report_progress(CallNumber number, int64_t seconds, uint64_t bytes) {
    auto call = running_.find(number);
    if (call == running_.end() || call->second.progress_token.is_null()) return;
    effects_.send(notification_line("notifications/progress",
                                    Json::object()
                                        .set("progressToken", call->second.progress_token)
                                        .set("progress", seconds)
                                        .set("message", base::format("{} bytes of output so far", bytes))));
}

}  // namespace mcp
