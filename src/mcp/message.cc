// SPDX-License-Identifier: MIT
#include "mcp/message.h"

#include <utility>

#include "base/text.h"

namespace mcp {
namespace {

using base::Json;

constexpr std::string_view kVersion = "2.0";

Message wrong(ErrorCode code, std::string text, Json id = {}) {
    return {.kind = Message::Kind::wrong, .id = std::move(id), .failure = {code, std::move(text)}};
}

std::string line_of(const Json& message) {
    return message.dump(-1) + "\n";
}

Json envelope() {
    return Json::object().set("jsonrpc", kVersion);
}

}  // namespace

bool is_name(const Json* value) {
    return value != nullptr && (value->as_text() != nullptr || value->as_number() != nullptr);
}

std::string name_text(const Json& name) {
    return name.dump(-1);
}

Message read_message(Framing::Line line) {
    using enum ErrorCode;
    if (line.is_too_long)
        return wrong(invalid_request, base::format("a message has at most {} MiB", kLongestLine >> 20));
    if (!base::is_valid_utf8(line.text)) return wrong(parse_error, "the message is not UTF-8");
    if (depth_of(line.text) > kDeepest)
        return wrong(invalid_request, base::format("a message nests at most {} deep", kDeepest));
    base::Result<Json> parsed = Json::parse(line.text);
    if (!parsed) return wrong(parse_error, "the message is not JSON");
    if (parsed->is_array())
        return wrong(invalid_request, "a batch is not supported: send one message a line");
    if (!parsed->is_object()) return wrong(invalid_request, "a message is an object");

    const Json* id = parsed->find("id");
    Json name = is_name(id) ? *id : Json();
    if (parsed->text("jsonrpc") != kVersion)
        return wrong(invalid_request, "the member 'jsonrpc' must be \"2.0\"", std::move(name));
    const Json* method = parsed->find("method");
    bool is_answer = method == nullptr && (parsed->find("result") || parsed->find("error"));
    if (is_answer) return {.kind = Message::Kind::answer, .id = std::move(name)};
    if (method == nullptr || method->as_text() == nullptr)
        return wrong(invalid_request, "the member 'method' must be a text", std::move(name));
    if (id != nullptr && !is_name(id))
        return wrong(invalid_request, "the member 'id' must be a text or a whole number");
    const Json* parameters = parsed->find("params");
    if (parameters != nullptr && !parameters->is_object())
        return wrong(wrong_parameters, "the member 'params' must be an object", std::move(name));
    return {.kind = id == nullptr ? Message::Kind::notification : Message::Kind::request,
            .id = std::move(name),
            .method = *method->as_text(),
            .parameters = parameters ? *parameters : Json::object()};
}

std::string result_line(const Json& id, Json result) {
    return line_of(envelope().set("id", id).set("result", std::move(result)));
}

std::string error_line(const Json& id, const Failure& failure) {
    Json error = Json::object().set("code", static_cast<int>(failure.code)).set("message", failure.text);
    return line_of(envelope().set("id", id).set("error", std::move(error)));
}

std::string notification_line(std::string_view method, Json parameters) {
    return line_of(envelope().set("method", method).set("params", std::move(parameters)));
}

}  // namespace mcp
