// SPDX-License-Identifier: MIT
// Properties of the reader of a source's answer, for any bytes.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "secrets/answer.h"

namespace secrets {

// Whether one of these answers gets the same message. Then the message holds nothing of another answer.
inline bool is_fixed_message(const std::string& message) {
    static const std::vector<std::string> lines = [] {
        std::vector<std::string> made;
        for (const std::string& answer :
             {std::string("{"), std::string("{}"), std::string(R"({"token": "\n"})"),
              std::string(R"({"token": "0123456789", "expires_at": "never"})"),
              std::string(R"({"token": "0123456789", "expires_on": "never"})"),
              std::string(R"({"token": "0123456789", "token_expiry": "never"})"),
              std::string(R"({"token": "0123456789", "Expiration": "never"})"), std::string("short"),
              std::string("two\nlines of text"), std::string(base::SecretValue::kMaximum + 1, 'a')}) {
            for (AnswerKind kind : {AnswerKind::token, AnswerKind::aws_key}) {
                base::Result<Fetched> fetched = read_answer(std::string(answer), kind);
                if (!fetched) made.push_back(fetched.error().line());
            }
        }
        for (const char* answer : {"[default]\naws_secret_access_key = a", R"({"AccessKeyId": "a"})", "a"})
            made.push_back(read_answer(std::string(answer), AnswerKind::aws_key).error().line());
        return made;
    }();
    return std::ranges::find(lines, message) != lines.end();
}

inline const char* broken_for_answer(std::string_view text, AnswerKind kind) {
    std::string copy(text);
    base::Result<Fetched> fetched = read_answer(std::move(copy), kind);
    if (!copy.empty()) return "the answer is not overwritten";  // NOLINT(bugprone-use-after-move)
    if (!fetched) {
        std::string line = fetched.error().line();
        if (line.find('\n') != std::string::npos) return "a message spans lines";
        return is_fixed_message(line) ? nullptr : "a message may contain a part of the answer";
    }
    if (fetched->value.size() < base::SecretValue::kMinimum) return "a value is too short";
    if (fetched->value.size() > text.size()) return "a value is longer than the answer";
    if (fetched->expires_at < 0) return "a value ended before 1970";
    return nullptr;
}

inline const char* broken_for_answer(std::string_view text) {
    const char* broken = broken_for_answer(text, AnswerKind::token);
    return broken != nullptr ? broken : broken_for_answer(text, AnswerKind::aws_key);
}

}  // namespace secrets
