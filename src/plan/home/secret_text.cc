// SPDX-License-Identifier: MIT
// What counts as a secret in the text of a start-up file.
#include <algorithm>
#include <array>

#include "base/glob.h"
#include "base/parse.h"
#include "config/secrets.h"
#include "plan/home/secret_lines.h"

namespace plan {
namespace {

// Words before a secret, in lower case: headers, options, commands. A word of the text starts with one of
// them.
constexpr std::string_view kCarriers[] = {
    "bearer",  "x-api-key", "private-token", "x-auth-token", "apikey:",         "sshpass",   "--password",
    "--token", "--api-key", "--passphrase",  "--secret",     "--client-secret", "identified"};
constexpr std::string_view kHeader = "authorization:";
constexpr std::string_view kKeyStart = "-----begin";
// Commands that assign by words: `setenv NAME value`, `set -gx NAME value`, `set-environment -g NAME value`.
constexpr std::string_view kSetters[] = {"set", "setenv", "set-environment", "setw", "env", "putenv"};

constexpr size_t kShortestToken = 16;
// Longer than any ordinary word with this many digits in it.
constexpr size_t kRandomLength = 32, kRandomDigits = 4, kRandomLetters = 8;

// Tables instead of the C library's functions: a launch looks up every byte of a file.
using ByteClass = std::array<bool, 256>;
constexpr ByteClass kNamePart = [] {
    ByteClass table{};
    for (unsigned char c :
         std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789"))
        table[c] = true;
    return table;
}();
bool is_name_part(char c) {
    return kNamePart[static_cast<unsigned char>(c)];
}
bool is_name_start(char c) {
    return is_name_part(c) && !base::is_digit(c);
}
bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

// Walks over the names in a text. `$NAME` and `${NAME}` are uses, not assignments.
class Names {
  public:
    Names(std::string_view text, const SecretNames& names) : text_(text), names_(names) {}

    bool assign_secret() {
        for (size_t at = 0; at < text_.size();) {
            char c = text_[at];
            if (!is_name_part(c)) {
                bool ends_command = c == ';' || (c == '\n' && (at == 0 || text_[at - 1] != '\\'));
                if (ends_command) after_setter_ = false;
                ++at;
                continue;
            }
            size_t end = at + 1;
            while (end < text_.size() && is_name_part(text_[end])) ++end;
            if (is_name_start(c) && is_secret(at, end)) return true;
            at = end;
        }
        return false;
    }

  private:
    bool is_secret(size_t at, size_t end) {
        std::string_view name = text_.substr(at, end - at);
        if ((name[0] == 's' || name[0] == 'e' || name[0] == 'p') &&
            std::ranges::find(kSetters, name) != std::end(kSetters))
            after_setter_ = true;
        bool is_use = (at > 0 && text_[at - 1] == '$') || (at > 1 && text_.substr(at - 2, 2) == "${");
        return !is_use && is_assigned(end) && names_.has(name);
    }

    bool is_assigned(size_t end) const {
        std::string_view rest = text_.substr(end);
        if (rest.starts_with('[')) rest.remove_prefix(std::min(rest.find(']'), rest.size() - 1) + 1);
        bool has_blank = !rest.empty() && is_blank(rest.front());
        while (!rest.empty() && (is_blank(rest.front()) || rest.front() == '"' || rest.front() == '\''))
            rest.remove_prefix(1);
        if (rest.starts_with("+=") || rest.starts_with('=') || rest.starts_with(':')) return true;
        return after_setter_ && has_blank && !rest.empty() && rest.front() != '\n' && rest.front() != ';';
    }

    std::string_view text_;
    const SecretNames& names_;
    bool after_setter_ = false;
};

bool looks_random(std::string_view word) {
    if (word.size() < kRandomLength) return false;
    size_t digits = 0, letters = 0;
    for (char c : word) {
        if (base::is_digit(c)) {
            ++digits;
        } else if (base::is_letter(c)) {
            ++letters;
        } else if (c != '_' && c != '-' && c != '+' && c != '.') {
            return false;
        }
    }
    return digits >= kRandomDigits && letters >= kRandomLetters;
}

// Every known kind of token contains a digit. A path or a text with a variable is not a token.
bool may_be_token(std::string_view word) {
    if (word.size() < kShortestToken) return false;
    bool is_address = word.find("://") != word.npos;
    bool is_other = word.find_first_of("$/~*%[") != word.npos;
    return (is_address || !is_other) && std::ranges::any_of(word, base::is_digit);
}

bool is_secret_word(std::string_view word) {
    if (may_be_token(word) && !config::secret_in(word).empty()) return true;
    if (looks_random(word)) return true;
    constexpr std::string_view kFirstLetters = "bBxXpPaAsSiI-";
    if (kFirstLetters.find(word.front()) == kFirstLetters.npos) return false;
    bool carries = std::ranges::any_of(
        kCarriers, [&](std::string_view carrier) { return base::starts_ignoring_case(word, carrier); });
    if (carries || base::starts_ignoring_case(word, kKeyStart)) return true;
    // -HAuthorization: is one word.
    size_t colon = word.find(':');
    return colon != word.npos && colon + 1 >= kHeader.size() &&
           base::starts_ignoring_case(word.substr(colon + 1 - kHeader.size()), kHeader);
}

constexpr ByteClass kSeparates = [] {
    ByteClass table{};
    for (unsigned char c : std::string_view(" \t\n\r'\"`=;,(){}<>|&\\")) table[c] = true;
    return table;
}();

bool has_secret_word(std::string_view text) {
    auto separates = [&](size_t at) { return kSeparates[static_cast<unsigned char>(text[at])]; };
    for (size_t at = 0; at < text.size();) {
        if (separates(at)) {
            ++at;
            continue;
        }
        size_t end = at + 1;
        while (end < text.size() && !separates(end)) ++end;
        if (is_secret_word(text.substr(at, end - at))) return true;
        at = end;
    }
    return false;
}

}  // namespace

SecretNames::SecretNames(const policy::Items& block, const policy::Items& patterns) {
    auto add = [this](std::string_view pattern) {
        if (pattern.ends_with("/i")) pattern.remove_suffix(2);
        bool is_open_before = pattern.starts_with('*'), is_open_after = pattern.ends_with('*');
        std::string_view literal = pattern;
        if (is_open_before) literal.remove_prefix(1);
        if (is_open_after && !literal.empty()) literal.remove_suffix(1);
        if (literal.empty() || base::has_wildcard(literal)) return others_.emplace_back(pattern), void();
        std::vector<std::string>& kind =
            is_open_before ? (is_open_after ? parts_ : ends_) : (is_open_after ? beginnings_ : whole_);
        kind.push_back(base::upper(literal));
    };
    for (const config::Item& item : block) add(item.text);
    for (const config::Item& item : patterns) add(item.text);
}

bool SecretNames::has(std::string_view name) const {
    const std::string upper_case = base::upper(name);
    std::string_view text = upper_case;
    return std::ranges::any_of(whole_, [&](const std::string& known) { return text == known; }) ||
           std::ranges::any_of(beginnings_,
                               [&](const std::string& start) { return text.starts_with(start); }) ||
           std::ranges::any_of(ends_, [&](const std::string& end) { return text.ends_with(end); }) ||
           std::ranges::any_of(parts_,
                               [&](const std::string& part) { return text.find(part) != text.npos; }) ||
           std::ranges::any_of(
               others_, [&](const std::string& pattern) { return base::matches_name(pattern, name, true); });
}

bool holds_secret(std::string_view text, const SecretNames& names) {
    return config::has_password_in_address(text) || has_secret_word(text) ||
           Names(text, names).assign_secret();
}

}  // namespace plan
