// SPDX-License-Identifier: MIT
#include "credentials/file_copy.h"

#include <regex.h>

#include <algorithm>

#include "base/encoding/base64.h"
#include "base/encoding/json.h"
#include "base/parse.h"
#include "base/text.h"
#include "config/secrets.h"
#include "credentials/json_place.h"

namespace credentials {
namespace {

using base::Json;

constexpr size_t kLongestLine = 4096;
constexpr size_t kDeepest = 32;

// Parts of names that belong to secrets, or to programs that read them. In lower case.
constexpr std::string_view kSecretWords[] = {"pass",   "token",  "secret",  "auth",    "key", "cred",
                                             "cookie", "bearer", "private", "session", "otp", "login"};

bool names_secret(std::string_view text) {
    // A user's name that says that the password is a token.
    constexpr std::string_view kTokenUser = "__token__";
    std::string lower = base::lower(text);
    if (size_t user = lower.find(kTokenUser); user != lower.npos) lower.erase(user, kTokenUser.size());
    return std::ranges::any_of(kSecretWords,
                               [&](std::string_view word) { return lower.find(word) != lower.npos; });
}

// Tokens are long, or mix letters with digits. Names and addresses are words.
bool looks_random(std::string_view part) {
    constexpr size_t kLongestWord = 40, kLongestMixed = 20;
    bool has_digit = std::ranges::any_of(part, base::is_digit);
    bool has_letter = std::ranges::any_of(part, base::is_letter);
    return part.size() > kLongestWord || (part.size() > kLongestMixed && has_digit && has_letter);
}

// A name, a number, an address without a user: nothing that could be a secret.
bool is_plain(std::string_view text) {
    constexpr size_t kLongest = 200;
    constexpr std::string_view kOthers = " \t._:/@+,-=\"'[]*";
    if (text.size() > kLongest || !config::secret_in(text).empty()) return false;
    bool is_address = text.find("://") != text.npos;
    if (is_address && text.find('@') != text.npos) return false;
    size_t start = 0;
    for (size_t at = 0; at <= text.size(); ++at) {
        bool is_part = at < text.size() && (base::is_letter(text[at]) || base::is_digit(text[at]) ||
                                            text[at] == '-' || text[at] == '_' || text[at] == '.');
        if (is_part) continue;
        if (at < text.size() && kOthers.find(text[at]) == kOthers.npos) return false;
        if (looks_random(text.substr(start, at - start))) return false;
        start = at + 1;
    }
    return true;
}

// ---- Fields

// "a.b.\"c.d\"" as keys; nothing if a quote does not end.
std::vector<std::string> json_keys(std::string_view text) {
    std::vector<std::string> keys;
    while (!text.empty()) {
        bool is_quoted = text.front() == '"';
        size_t end = is_quoted ? text.find('"', 1) : std::min(text.find('.'), text.size());
        if (end == text.npos) return {};
        keys.emplace_back(is_quoted ? text.substr(1, end - 1) : text.substr(0, end));
        text.remove_prefix(std::min(end + (is_quoted ? 1 : 0), text.size()));
        if (text.empty()) break;
        if (text.front() != '.' || text.size() == 1) return {};
        text.remove_prefix(1);
    }
    bool has_empty = std::ranges::any_of(keys, &std::string::empty);
    return has_empty ? std::vector<std::string>() : keys;
}

// An extended regular expression of POSIX.
class Pattern {
  public:
    explicit Pattern(const std::string& text)
        : is_compiled_(::regcomp(&compiled_, text.c_str(), REG_EXTENDED) == 0) {}
    ~Pattern() {
        if (is_compiled_) ::regfree(&compiled_);
    }
    Pattern(const Pattern&) = delete;
    Pattern& operator=(const Pattern&) = delete;

    // Whether it has a group, which marks the secret.
    bool is_good() const { return is_compiled_ && compiled_.re_nsub > 0; }
    // The places of the match and of its first group.
    bool find(const std::string& line, regmatch_t (&places)[2]) const {
        return is_good() && ::regexec(&compiled_, line.c_str(), 2, places, 0) == 0 && places[1].rm_so >= 0;
    }

  private:
    regex_t compiled_ = {};
    bool is_compiled_;
};

// The text of the field; nothing if it can't hold the value.
std::optional<std::string> filled(const FilledField& field, std::string_view original) {
    if (field.is_shown) return std::string(original);
    if (!field.field.is_basic) return field.placeholder;
    std::optional<std::string> decoded = base::from_base64(base::trim(original));
    size_t colon = decoded ? decoded->find(':') : std::string::npos;
    if (colon == std::string::npos || !is_plain(decoded->substr(0, colon))) return std::nullopt;
    return base::to_base64(base::format("{}:{}", decoded->substr(0, colon), field.placeholder));
}

// ---- JSON

class JsonCopy {
  public:
    // Fields whose keys, from `depth` on, lead to this value.
    using Fields = std::vector<const FilledField*>;

    std::optional<Json> copy(std::string_view key, const Json& value, const Fields& fields, size_t depth) {
        if (depth > kDeepest) return std::nullopt;
        for (const FilledField* field : fields) {
            if (field->field.keys.size() != depth) continue;
            std::optional<std::string> text =
                value.as_text() == nullptr ? std::nullopt : filled(*field, *value.as_text());
            if (text && !field->is_shown) ++found_;
            return text ? std::optional<Json>(*std::move(text)) : std::nullopt;
        }
        if (value.is_object()) return copy_object(value, fields, depth);
        if (names_secret(key)) return std::nullopt;
        if (const std::string* text = value.as_text())
            return is_plain(*text) ? std::optional<Json>(value) : std::nullopt;
        if (!value.is_array()) return value;
        Json array = Json::array();
        for (const Json& item : value.items()) {
            bool is_kept = !item.is_object() && !item.is_array() &&
                           (item.as_text() == nullptr || is_plain(*item.as_text()));
            if (is_kept) array.push(item);
        }
        return array;
    }

    size_t found() const { return found_; }

  private:
    std::optional<Json> copy_object(const Json& value, const Fields& fields, size_t depth) {
        Json object = Json::object();
        for (const auto& [key, member] : value.members()) {
            Fields inner;
            for (const FilledField* field : fields) {
                const std::vector<std::string>& keys = field->field.keys;
                if (keys.size() > depth && (keys[depth] == key || keys[depth] == "*")) inner.push_back(field);
            }
            // The name itself may be a secret, unless a field names it.
            if (inner.empty() && !is_plain(key)) continue;
            std::optional<Json> copied = copy(key, member, inner, depth + 1);
            bool is_left = copied && !(copied->is_object() && copied->members().empty() && inner.empty());
            if (is_left) object.set(key, *std::move(copied));
        }
        return object;
    }

    size_t found_ = 0;
};

std::optional<FileCopy> copy_json(std::string_view content, std::span<const FilledField> fields) {
    base::Result<Json> json = Json::parse(content);
    if (!json || !json->is_object()) return std::nullopt;
    JsonCopy::Fields all;
    for (const FilledField& field : fields) {
        if (!field.field.keys.empty()) all.push_back(&field);
    }
    JsonCopy copier;
    std::optional<Json> copied = copier.copy("", *json, all, 0);
    if (!copied || copier.found() == 0) return std::nullopt;
    return FileCopy{copied->dump() + "\n", {}};
}

// ---- Lines

size_t indent_of(std::string_view line) {
    return std::min(line.find_first_not_of(" \t"), line.size());
}

class LineCopy {
  public:
    explicit LineCopy(std::span<const FilledField> fields) : fields_(fields), is_found_(fields.size()) {}

    std::optional<FileCopy> copy(std::string_view content) {
        for (std::string_view line : base::split(content, '\n')) {
            if (line.ends_with('\r')) line.remove_suffix(1);
            take(line);
        }
        add_missing();
        bool has_any = std::ranges::find(is_found_, true) != is_found_.end();
        return has_any ? std::optional(std::move(copy_)) : std::nullopt;
    }

  private:
    void take(std::string_view line) {
        std::string_view text = base::trim(line);
        if (text.empty() || line.size() > kLongestLine) return;
        // What is further to the right belongs to a line that is not shown as it was.
        if (left_out_ && indent_of(line) > *left_out_) return;
        left_out_.reset();
        if (text.starts_with('#') || text.starts_with(';')) return;
        if (text.starts_with('[') && text.ends_with(']')) {
            section_ = text.substr(1, text.size() - 2);
            if (is_plain(text)) copy_.text += std::string(text) + "\n";
            return;
        }
        if (std::optional<std::string> changed = with_field(line)) {
            copy_.text += *changed + "\n";
            copy_.fields_alone += *changed + "\n";
        } else if (is_plain(text) && !names_secret(text)) {
            copy_.text += std::string(line) + "\n";
            return;
        }
        left_out_ = indent_of(line);
    }

    std::optional<std::string> with_field(std::string_view line) {
        for (size_t i = 0; i < fields_.size(); ++i) {
            std::optional<std::string> changed = fields_[i].field.kind == FileField::Kind::key
                                                     ? with_key(line, fields_[i])
                                                     : with_pattern(line, fields_[i]);
            if (!changed) continue;
            is_found_[i] = true;
            return changed;
        }
        return std::nullopt;
    }

    std::optional<std::string> with_key(std::string_view line, const FilledField& field) const {
        if (field.field.section != section_) return std::nullopt;
        size_t sign = line.find('=');
        if (sign == line.npos) sign = line.find(':');
        if (sign == line.npos || base::trim(line.substr(0, sign)) != field.field.key) return std::nullopt;
        size_t start = std::min(line.find_first_not_of(" \t", sign + 1), line.size());
        std::optional<std::string> value = filled(field, line.substr(start));
        return value ? std::optional(std::string(line.substr(0, start)) + *value) : std::nullopt;
    }

    // The text around the match may hold another log-in.
    static std::optional<std::string> with_pattern(std::string_view text, const FilledField& field) {
        const std::string line(text.substr(0, text.find('\0')));
        regmatch_t places[2];
        if (!Pattern(field.field.pattern).find(line, places)) return std::nullopt;
        auto between = [&](regoff_t from, regoff_t to) {
            return line.substr(static_cast<size_t>(from), static_cast<size_t>(to - from));
        };
        std::optional<std::string> value = filled(field, between(places[1].rm_so, places[1].rm_eo));
        if (!value) return std::nullopt;
        auto kept = [](const std::string& around) {
            return is_plain(around) && !names_secret(around) ? around : std::string();
        };
        return kept(between(0, places[0].rm_so)) + between(places[0].rm_so, places[1].rm_so) + *value +
               between(places[1].rm_eo, places[0].rm_eo) +
               kept(between(places[0].rm_eo, static_cast<regoff_t>(line.size())));
    }

    void add_missing() {
        std::string lines;
        for (size_t i = 0; i < fields_.size(); ++i) {
            const FileField& field = fields_[i].field;
            bool can_be_added =
                field.kind == FileField::Kind::key && field.section.empty() && !field.is_basic;
            if (is_found_[i] || !can_be_added) continue;
            is_found_[i] = true;
            lines += base::format("{}={}\n", field.key, fields_[i].placeholder);
        }
        copy_.text = lines + copy_.text;
        copy_.fields_alone += lines;
    }

    std::span<const FilledField> fields_;
    std::vector<bool> is_found_;
    FileCopy copy_;
    std::string section_;
    std::optional<size_t> left_out_;  // the indent of the last line that is not shown as it was
};

}  // namespace

base::Result<FileField> parse_file_field(std::string_view text) {
    constexpr std::string_view kBasic = "basic ", kPattern = "pattern ";
    FileField field;
    field.is_basic = text.starts_with(kBasic);
    if (field.is_basic) text.remove_prefix(kBasic.size());
    if (text.starts_with(kPattern)) {
        field.kind = FileField::Kind::pattern;
        field.pattern = text.substr(kPattern.size());
        if (Pattern(field.pattern).is_good()) return field;
        return base::Error{.what = "it is not a regular expression with a group",
                           .advice = "put the part that is the value in parentheses"};
    }
    if (text.starts_with('[')) {
        size_t end = text.find(']');
        if (end == text.npos) return base::Error{.what = "']' is missing", .advice = "write [SECTION] KEY"};
        field.section = text.substr(1, end - 1);
        text = base::trim(text.substr(end + 1));
    } else {
        field.keys = json_keys(text);
    }
    field.key = text;
    if (text.empty() || text.find_first_of("\n\r=") != text.npos)
        return base::Error{.what = "it names no field",
                           .advice = "write a key, [SECTION] KEY or pattern REGEX"};
    return field;
}

std::optional<std::string> text_of_field(std::string_view name, const std::string& content,
                                         const FileField& field) {
    if (name.ends_with(".json")) {
        std::optional<JsonPlace> place = find_in_json(content, field.keys);
        return place ? place->text : std::nullopt;
    }
    if (field.kind != FileField::Kind::pattern) return std::nullopt;
    const Pattern pattern(field.pattern);
    for (std::string_view line : base::split(content, '\n')) {
        regmatch_t places[2];
        const std::string text(line);
        if (!pattern.find(text, places)) continue;
        return text.substr(static_cast<size_t>(places[1].rm_so),
                           static_cast<size_t>(places[1].rm_eo - places[1].rm_so));
    }
    return std::nullopt;
}

std::optional<FileCopy> copy_with_placeholders(std::string_view name, std::string_view content,
                                               std::span<const FilledField> fields) {
    if (name.ends_with(".json")) return copy_json(content, fields);
    return LineCopy(fields).copy(content);
}

}  // namespace credentials
