// SPDX-License-Identifier: MIT
// Threat: a command line with a password in it ends in the record, in a list of sessions or in a report. The
// words are walked in order, as a secret is often the word after its option; a text of several words is
// walked the same way and hidden whole where anything was found. (tests/audit/secrets_test.cc)
#include "audit/secrets.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/glob.h"
#include "config/data.h"
#include "config/secrets.h"
#include "config/value.h"

namespace audit {
namespace {

// No more of a word is looked at, nor shown.
constexpr size_t kLongestWord = 4096;
constexpr std::string_view kHidden = "***";
// What divides a text into words: a shell's, an address's and a JSON object's punctuation.
constexpr std::string_view kSeparators = " \t\r\n;|&()<>\"'`{}[],?#";

// Options without a telling name. The value may follow in the same word.
struct ShortOption {
    std::string_view program;
    std::string_view option;
};
constexpr ShortOption kShortOptions[] = {
    {"curl", "-u"},          {"curl", "-U"},       {"curl", "--user"},   {"curl", "--proxy-user"},
    {"curl", "-b"},          {"curl", "--cookie"}, {"sshpass", "-p"},    {"mysql", "-p"},
    {"mysqldump", "-p"},     {"mariadb", "-p"},    {"mongosh", "-p"},    {"docker", "-p"},
    {"podman", "-p"},        {"redis-cli", "-a"},  {"ldapsearch", "-w"}, {"http", "-a"},
    {"https", "-a"},         {"smbclient", "-U"},  {"openssl", "-pass"}, {"openssl", "-passin"},
    {"openssl", "-passout"}, {"openssl", "-k"},    {"openssl", "-K"},    {"7z", "-p"},
    {"zip", "-P"},           {"unzip", "-P"},      {"xfreerdp", "/p"},   {"wget", "--user"},
};

// "accessToken", "access-token" and "access.token" are ACCESS_TOKEN.
std::string as_variable(std::string_view name) {
    while (name.starts_with('-')) name.remove_prefix(1);
    std::string result;
    for (size_t i = 0; i < name.size(); ++i) {
        auto letter = static_cast<unsigned char>(name[i]);
        if (i > 0 && std::isupper(letter) != 0 && std::islower(static_cast<unsigned char>(name[i - 1])) != 0)
            result += '_';
        bool is_plain = std::isalnum(letter) != 0;
        result += is_plain ? static_cast<char>(std::toupper(letter)) : '_';
    }
    return result;
}

bool matches_list(std::string_view list, std::string_view name) {
    return std::ranges::any_of(config::data_list(list), [&](const config::DataRow& row) {
        std::string_view pattern = row.entry;
        if (pattern.ends_with("/i")) pattern.remove_suffix(2);
        return base::matches_name(pattern, name, true);
    });
}

std::string_view last_component(std::string_view path) {
    size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_known_program(std::string_view name) {
    return std::ranges::find(kShortOptions, name, &ShortOption::program) != std::end(kShortOptions);
}

std::vector<std::string> pieces_of(std::string_view text) {
    std::vector<std::string> pieces;
    while (!text.empty()) {
        size_t end = text.find_first_of(kSeparators);
        if (end != 0) pieces.emplace_back(text.substr(0, end));
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
    return pieces;
}

class Walk {
  public:
    // The word as it may be shown, and what the ones after it mean.
    std::string shown(const std::string& word) {
        bool is_value = next_is_secret_;
        next_is_secret_ = false;
        if (std::string_view name = last_component(word); is_known_program(name)) program_ = name;
        std::string result = considered(word);
        return is_value ? std::string(kHidden) : result;
    }

    bool found_any() const { return found_; }

  private:
    std::string considered(const std::string& word) {
        if (!config::secret_in(word).empty() && word.find("://") == std::string::npos) return hidden();
        if (word.find_first_of(kSeparators) != std::string::npos) {
            return has_secret_inside(word) ? hidden() : word;
        }
        if (const ShortOption* option = short_option(word)) {
            if (word != option->option) return std::string(option->option) + hidden();
            next_is_secret_ = found_ = true;
            return word;
        }
        return without_value(word);
    }

    const ShortOption* short_option(std::string_view word) const {
        for (const ShortOption& row : kShortOptions) {
            if (row.program != program_) continue;
            bool is_long = row.option.size() > 2;
            if (is_long ? word == row.option : word.starts_with(row.option)) return &row;
        }
        return nullptr;
    }

    // NAME=value, --name=value, --name value, Name:value, scheme://user:password@host
    std::string without_value(const std::string& word) {
        size_t equals = word.find('=');
        size_t colon = word.find(':');
        size_t divider = std::min(equals, colon);
        if (divider == std::string::npos) {
            if (word.starts_with('-') && word.size() > 2 && is_secret_name(word))
                next_is_secret_ = found_ = true;
            return word;
        }
        if (divider > 0 && is_secret_name(std::string_view(word).substr(0, divider))) {
            if (divider + 1 == word.size()) next_is_secret_ = true;
            found_ = true;
            return word.substr(0, divider + 1) + std::string(kHidden);
        }
        if (equals != std::string::npos && equals > 0 && word.find("://") > equals) {
            return word.substr(0, equals + 1) + without_value(word.substr(equals + 1));
        }
        return without_password(word);
    }

    std::string without_password(const std::string& word) {
        size_t at = word.rfind('@');
        size_t scheme = word.find("://");
        size_t begin = scheme == std::string::npos ? 0 : scheme + 3;
        bool has_login =
            at != std::string::npos && word.substr(begin, at - begin).find(':') != std::string::npos;
        if (has_login || config::has_password_in_address(word)) {
            found_ = true;
            return config::without_secrets(word);
        }
        return config::secret_in(word).empty() ? word : hidden();
    }

    bool has_secret_inside(std::string_view text) const {
        Walk inside;
        std::vector<std::string> pieces = pieces_of(text);
        for (size_t i = 0; i < pieces.size(); ++i) {
            bool is_divider = i > 0 && (pieces[i].starts_with('=') || pieces[i].starts_with(':'));
            if (is_divider && is_secret_name(pieces[i - 1])) return true;
            inside.shown(pieces[i]);
            if (inside.found_any()) return true;
        }
        return !config::secret_in(text).empty();
    }

    std::string hidden() {
        found_ = true;
        return std::string(kHidden);
    }

    std::string program_;
    bool next_is_secret_ = false;
    bool found_ = false;
};

}  // namespace

bool is_secret_name(std::string_view name) {
    std::string variable = as_variable(name);
    if (variable.empty()) return false;
    // "--key" alone is what "*_KEY" means.
    std::string_view whole = variable;
    return matches_list("environment/block_patterns", whole) ||
           matches_list("environment/block_patterns", "_" + variable) ||
           matches_list("environment/block", whole);
}

std::vector<std::string> without_secrets(std::span<const std::string> command) {
    Walk walk;
    std::vector<std::string> shown;
    shown.reserve(command.size());
    for (const std::string& word : command) shown.push_back(walk.shown(word.substr(0, kLongestWord)));
    return shown;
}

}  // namespace audit
