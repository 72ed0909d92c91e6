// SPDX-License-Identifier: MIT
// Properties of every answer of a module command, and so of every modulefile of a site. Returns the claim
// that these bytes break, or null.
#pragma once

#include <string>
#include <string_view>

#include "base/text.h"
#include "modules/answer.h"

namespace modules {

// Quotes a text as Environment Modules does.
inline std::string in_quotes(std::string_view text) {
    std::string result = "\"";
    for (char letter : text) {
        if (letter == '"' || letter == '\\' || letter == '\n') result += '\\';
        result += letter == '\n' ? 'n' : letter;
    }
    return result + '"';
}

inline const char* broken_for_answer(std::string_view bytes) {
    base::Result<Answer> answer = parse_answer(bytes);
    if (!answer) {
        std::string line = answer.error().line();
        return base::printable(line) == line ? nullptr : "an error is one printable line";
    }
    std::string text = answer->has_failed ? "_mlstatus = False\n" : "";
    for (const Change& change : answer->changes) {
        if (change.name.empty() || change.name.find('=') != change.name.npos ||
            change.name.find('\0') != change.name.npos)
            return "a name can be one of a variable";
        if (change.value && change.value->find('\0') != std::string::npos) return "a value has no NUL byte";
        text += change.value
                    ? "os.environ[" + in_quotes(change.name) + "] = " + in_quotes(*change.value) + ";\n"
                    : "del os.environ[" + in_quotes(change.name) + "]\n";
    }
    base::Result<Answer> again = parse_answer(text);
    if (!again || again->changes.size() != answer->changes.size() || again->has_failed != answer->has_failed)
        return "what was read can be written down and read";
    for (size_t at = 0; at < again->changes.size(); ++at) {
        const Change &one = answer->changes[at], &other = again->changes[at];
        if (one.name != other.name || one.value != other.value) return "what was written down says the same";
    }
    return nullptr;
}

}  // namespace modules
