// SPDX-License-Identifier: MIT
// A question about the rules in the user's syntax: HOST, HOST:PORT, [ADDRESS]:PORT, udp:HOST:PORT or
// raw:HOST:PORT. The default port is 443.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "rules/engine.h"

namespace network {

base::Result<Question> parse_question(std::string_view text);
std::string to_text(const Question& question);

}  // namespace network
