// SPDX-License-Identifier: MIT
#include "secrets/answer.h"

#include <algorithm>
#include <ctime>
#include <initializer_list>
#include <utility>
#include <vector>

#include "base/parse.h"
#include "base/text.h"

namespace secrets {
namespace {

using base::Error;
using base::Result;

constexpr int kMaximumDepth = 16;

// Reads one JSON object without copies of its texts: a general reader would leave copies of the token in
// memory.
class ObjectReader {
  public:
    explicit ObjectReader(std::string_view text) : text_(text) {}

    // Values of other kinds than text are as they were written.
    struct Member {
        std::string_view name, value;
        bool is_text = false;
    };
    struct Members {
        std::vector<Member> all;

        const Member* find(std::initializer_list<std::string_view> names) const {
            for (std::string_view name : names) {
                auto found = std::ranges::find(all, name, &Member::name);
                if (found != all.end()) return &*found;
            }
            return nullptr;
        }
    };

    std::optional<Members> read() {
        Members members;
        skip_blanks();
        if (!take('{')) return std::nullopt;
        skip_blanks();
        if (!take('}')) {
            do {
                skip_blanks();
                std::optional<std::string_view> key = read_text();
                skip_blanks();
                if (!key || !take(':')) return std::nullopt;
                skip_blanks();
                bool is_text = at_ < text_.size() && text_[at_] == '"';
                std::optional<std::string_view> value = is_text ? read_text() : read_other(0);
                if (!value) return std::nullopt;
                members.all.push_back({*key, *value, is_text});
                skip_blanks();
            } while (take(','));
            if (!take('}')) return std::nullopt;
        }
        skip_blanks();
        return at_ == text_.size() ? std::optional(std::move(members)) : std::nullopt;
    }

  private:
    bool take(char letter) {
        if (at_ >= text_.size() || text_[at_] != letter) return false;
        ++at_;
        return true;
    }
    void skip_blanks() {
        while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
            ++at_;
    }
    // The text between the quotes, with its escapes as they are.
    std::optional<std::string_view> read_text() {
        if (!take('"')) return std::nullopt;
        size_t begin = at_;
        for (; at_ < text_.size(); ++at_) {
            if (text_[at_] == '\\') {
                ++at_;
            } else if (text_[at_] == '"') {
                return text_.substr(begin, at_++ - begin);
            }
        }
        return std::nullopt;
    }
    // A number, a word, a list or an object.
    std::optional<std::string_view> read_other(int depth) {
        size_t begin = at_;
        if (depth > kMaximumDepth) return std::nullopt;
        if (at_ < text_.size() && (text_[at_] == '{' || text_[at_] == '[')) {
            char end = text_[at_] == '{' ? '}' : ']';
            for (++at_; at_ < text_.size() && text_[at_] != end;) {
                char letter = text_[at_];
                if (letter == '"') {
                    if (!read_text()) return std::nullopt;
                } else if (letter == '{' || letter == '[') {
                    if (!read_other(depth + 1)) return std::nullopt;
                } else if (letter == '}' || letter == ']') {
                    return std::nullopt;
                } else {
                    ++at_;
                }
            }
            if (!take(end)) return std::nullopt;
            return text_.substr(begin, at_ - begin);
        }
        while (at_ < text_.size() && (base::is_name_character(text_[at_]) || text_[at_] == '.' ||
                                      text_[at_] == '-' || text_[at_] == '+'))
            ++at_;
        if (at_ == begin) return std::nullopt;
        return text_.substr(begin, at_ - begin);
    }

    std::string_view text_;
    size_t at_ = 0;
};

Error not_understood(std::string what) {
    return Error{
        .what = std::move(what),
        .advice = "print the value alone, or {\"token\": \"…\", \"expires_at\": \"2026-01-31T12:00:00Z\"}"};
}

std::optional<int> number_at(std::string_view text, size_t at, size_t digits) {
    if (at + digits > text.size()) return std::nullopt;
    std::string_view part = text.substr(at, digits);
    for (char letter : part) {
        if (!base::is_digit(letter)) return std::nullopt;
    }
    return base::parse_number<int>(part);
}

}  // namespace

std::optional<int64_t> parse_time(std::string_view text) {
    if (std::optional<int64_t> seconds = base::parse_number<int64_t>(text)) {
        return *seconds > 0 ? seconds : std::nullopt;
    }
    constexpr size_t kDate = 19;  // "2026-11-18T06:30:00"
    bool has_form = text.size() > kDate && text[4] == '-' && text[7] == '-' &&
                    (text[10] == 'T' || text[10] == 't' || text[10] == ' ') && text[13] == ':' &&
                    text[16] == ':';
    if (!has_form) return std::nullopt;
    auto year = number_at(text, 0, 4), month = number_at(text, 5, 2), day = number_at(text, 8, 2);
    auto hour = number_at(text, 11, 2), minute = number_at(text, 14, 2), second = number_at(text, 17, 2);
    if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
    bool is_date = *year >= 1970 && *month >= 1 && *month <= 12 && *day >= 1 && *day <= 31 && *hour <= 23 &&
                   *minute <= 59 && *second <= 60;
    if (!is_date) return std::nullopt;
    size_t at = kDate;
    if (text[at] == '.') {
        for (++at; at < text.size() && base::is_digit(text[at]);) ++at;
    }
    int64_t offset = 0;
    std::string_view zone = text.substr(at);
    if (zone != "Z" && zone != "z") {
        auto hours = number_at(zone, 1, 2), minutes = number_at(zone, 4, 2);
        bool is_offset =
            zone.size() == 6 && (zone[0] == '+' || zone[0] == '-') && zone[3] == ':' && hours && minutes;
        if (!is_offset) return std::nullopt;
        offset = int64_t{*hours} * 3600 + int64_t{*minutes} * 60;
        if (zone[0] == '-') offset = -offset;
    }
    struct tm time = {};
    time.tm_year = *year - 1900;
    time.tm_mon = *month - 1;
    time.tm_mday = *day;
    time.tm_hour = *hour;
    time.tm_min = *minute;
    time.tm_sec = *second;
    int64_t seconds = static_cast<int64_t>(::timegm(&time)) - offset;
    return seconds > 0 ? std::optional(seconds) : std::nullopt;
}

namespace {

using Members = ObjectReader::Members;

// The end of a value, or 0. An error names no part of the answer.
Result<int64_t> end_of(const Members& members) {
    const ObjectReader::Member* end =
        members.find({"expires_at", "expires_on", "token_expiry", "Expiration"});
    if (end == nullptr || end->value.empty() || end->value == "null") return int64_t{0};
    if (std::optional<int64_t> time = parse_time(end->value)) return *time;
    return not_understood(base::format("{} in its answer is not a time", end->name));
}

Result<Fetched> made_of(std::string&& text, int64_t expires_at) {
    Result<base::SecretValue> value = base::SecretValue::make(std::move(text));
    if (!value) return value.error();
    return Fetched{.value = *std::move(value), .expires_at = expires_at};
}

Result<Fetched> read_token(std::string_view text) {
    std::optional<Members> members = ObjectReader(text).read();
    if (!members) return not_understood("its answer begins like JSON and is not an object");
    if (const ObjectReader::Member* inner = members->find({"credential"});
        inner != nullptr && !inner->is_text)
        members = ObjectReader(inner->value).read();
    const ObjectReader::Member* token =
        members ? members->find({"token", "access_token", "accessToken"}) : nullptr;
    if (token == nullptr || !token->is_text)
        return not_understood("its answer is JSON without a text named token");
    if (token->value.find('\\') != std::string_view::npos)
        return not_understood("the token in its answer has an escaped character");
    Result<int64_t> end = end_of(*members);
    if (!end) return end.error();
    return made_of(std::string(token->value), *end);
}

Error not_a_key(std::string what) {
    return Error{.what = std::move(what),
                 .advice =
                     "use 'aws configure export-credentials', or print the key's ID, the secret key and, "
                     "if there is one, the session token with blanks between"};
}

struct KeyParts {
    std::string_view id, secret, token;
};

Result<Fetched> made_of(const KeyParts& parts, int64_t expires_at) {
    auto is_word = [](std::string_view part) {
        return std::ranges::all_of(part, [](char letter) {
            return base::is_letter(letter) || base::is_digit(letter) ||
                   std::string_view("+/=-_.~").find(letter) != std::string_view::npos;
        });
    };
    bool is_whole = !parts.id.empty() && !parts.secret.empty() && is_word(parts.id) &&
                    is_word(parts.secret) && is_word(parts.token);
    if (!is_whole) return not_a_key("it is not a key of AWS");
    std::string text;
    text.reserve(parts.id.size() + parts.secret.size() + parts.token.size() + 2);
    text.append(parts.id).append(" ").append(parts.secret);
    if (!parts.token.empty()) text.append(" ").append(parts.token);
    return made_of(std::move(text), expires_at);
}

Result<Fetched> read_key_object(std::string_view text) {
    std::optional<Members> members = ObjectReader(text).read();
    if (!members) return not_a_key("its answer begins like JSON and is not an object");
    auto text_of = [&](std::string_view name) {
        const ObjectReader::Member* member = members->find({name});
        return member != nullptr && member->is_text ? member->value : std::string_view();
    };
    Result<int64_t> end = end_of(*members);
    if (!end) return end.error();
    return made_of(KeyParts{text_of("AccessKeyId"), text_of("SecretAccessKey"), text_of("SessionToken")},
                   *end);
}

// ~/.aws/credentials: the section [default].
Result<Fetched> read_key_file(std::string_view text) {
    KeyParts parts;
    bool is_default = false;
    for (std::string_view line : base::split(text, '\n')) {
        line = base::trim(line);
        if (line.starts_with('[')) is_default = line == "[default]";
        size_t equals = line.find('=');
        if (!is_default || equals == std::string_view::npos) continue;
        std::string_view name = base::trim(line.substr(0, equals)),
                         value = base::trim(line.substr(equals + 1));
        if (name == "aws_access_key_id") parts.id = value;
        if (name == "aws_secret_access_key") parts.secret = value;
        if (name == "aws_session_token") parts.token = value;
    }
    if (parts.id.empty() || parts.secret.empty()) return not_a_key("it has no key in the section [default]");
    return made_of(parts, 0);
}

Result<Fetched> read_key(std::string_view text) {
    if (base::trim(text).starts_with('{')) return read_key_object(text);
    if (text.find("aws_secret_access_key") != std::string_view::npos) return read_key_file(text);
    constexpr std::string_view kBlanks = " \t\r\n";
    std::vector<std::string_view> words;
    for (size_t at = text.find_first_not_of(kBlanks); at != std::string_view::npos;) {
        size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
        words.push_back(text.substr(at, end - at));
        at = text.find_first_not_of(kBlanks, end);
    }
    if (words.size() < 2 || words.size() > 3) return not_a_key("it is not a key of AWS");
    return made_of(KeyParts{words[0], words[1], words.size() == 3 ? words[2] : std::string_view()}, 0);
}

}  // namespace

Result<Fetched> read_answer(std::string&& text, AnswerKind kind) {
    bool is_object = base::trim(text).starts_with('{');
    if (kind == AnswerKind::token && !is_object) return made_of(std::move(text), 0);
    Result<Fetched> fetched = kind == AnswerKind::aws_key ? read_key(text) : read_token(text);
    base::wipe(text);
    return fetched;
}

}  // namespace secrets
