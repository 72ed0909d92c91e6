// SPDX-License-Identifier: MIT
// One message of JSON-RPC 2.0: what a line contains, and the lines that answer it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/encoding/json.h"
#include "mcp/framing.h"

namespace mcp {

// The codes of JSON-RPC 2.0.
enum class ErrorCode {
    parse_error = -32700,
    invalid_request = -32600,
    unknown_method = -32601,
    wrong_parameters = -32602,
};

struct Failure {
    ErrorCode code;
    std::string text;
};

struct Message {
    enum class Kind { request, notification, answer, wrong };
    Kind kind = Kind::wrong;
    base::Json id;  // a text or a whole number; null: the message has none that is valid
    std::string method;
    base::Json parameters;  // an object; empty where the message has none
    Failure failure{};      // of a wrong one
};

Message read_message(Framing::Line line);

// Whether this value may be the id of a request or the token of its progress.
bool is_name(const base::Json* value);
// A text for comparison: the number 1 and the text "1" differ.
std::string name_text(const base::Json& name);

// Lines to send, with their line break.
std::string result_line(const base::Json& id, base::Json result);
std::string error_line(const base::Json& id, const Failure& failure);
std::string notification_line(std::string_view method, base::Json parameters);

}  // namespace mcp
