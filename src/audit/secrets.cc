// SPDX-License-Identifier: MIT
// Threat: a command line with a password is stored in the record, in a list of sessions or in a report. The
// words are examined in order, because a secret is often the word after its option or after a word such as
// "password". A text of several words is examined in the same way and hidden as a whole if anything is found.
// Percent-encoded text is also examined in decoded form. (tests/audit/secrets_test.cc)
#include "audit/secrets.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "base/parse.h"
#include "base/path.h"
#include "base/text.h"
#include "config/data.h"
#include "config/secrets.h"
#include "config/value.h"

namespace audit {
namespace {

// Longer words are examined and shown only up to this length.
constexpr size_t kLongestWord = 4096;
constexpr std::string_view kHidden = "***";
// Separators of words in a text: the punctuation of a shell, an address and a JSON object.
constexpr std::string_view kSeparators = " \t\r\n;|&()<>\"'`{}[],?#";

// Options for secrets whose name does not show it. The value may follow in the same word.
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

// After these options a word with a colon is a secret: USER:PASSWORD. Many programs use -u for something
// else.
constexpr std::string_view kLoginOptions[] = {"-u", "-U", "--user", "--proxy-user"};

// Endings of secret names that the lists of variables do not contain: from addresses, headers and options.
constexpr std::string_view kSecretEndings[] = {
    "SIG",     "SIGNATURE", "STOREPASS", "KEYPASS",  "AUTH",         "AUTHORIZATION", "PW",
    "PASS",    "PASSWD",    "PASSCODE",  "PASSWORT", "CREDENTIAL",   "CREDENTIALS",   "ACCESSKEY",
    "AUTHKEY", "SAS",       "TOKEN",     "SECRET",   "FROM_LITERAL", "BEARER",        "JWT",
};

// Words of prose and of small languages (netrc, SQL, headers) whose next word is a secret.
constexpr std::string_view kAnnouncing[] = {"password", "passwd", "bearer", "basic", "token", "secret"};

// Turns "accessToken", "access-token" and "access.token" into ACCESS_TOKEN.
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

// "password", "Password:", "'token'=", and the names of settings: "aws_secret_access_key",
// "//host/:_authToken"
bool is_announcing(std::string_view word) {
    constexpr std::string_view kAround = "\"'`:=,;{}()[]<>";
    size_t begin = word.find_first_not_of(kAround);
    if (begin == std::string_view::npos) return false;
    word = word.substr(begin, word.find_last_not_of(kAround) + 1 - begin);
    if (std::ranges::find(kAnnouncing, base::lower(word)) != std::end(kAnnouncing)) return true;
    if (word.starts_with('-')) return false;
    word = word.substr(word.rfind(':') + 1);
    bool is_plain = std::ranges::all_of(word, base::is_name_character);
    return is_plain && as_variable(word).find('_') != std::string::npos && is_secret_name(word);
}

bool is_letters(std::string_view word) {
    return std::ranges::all_of(word, base::is_letter);
}

// scheme://USER@host, with or without a password: the user may be a token.
bool has_user_in_address(std::string_view text) {
    for (size_t at = text.find("://"); at != std::string_view::npos; at = text.find("://", at + 3)) {
        std::string_view rest = text.substr(at + 3);
        if (rest.substr(0, rest.find_first_of("/?# \t\n")).find('@') != std::string_view::npos) return true;
    }
    return false;
}

// https://host/name=value/…
bool has_secret_in_path(std::string_view address) {
    for (std::string_view piece : base::split(address, '/')) {
        size_t equals = piece.find('=');
        if (equals != std::string_view::npos && is_secret_name(piece.substr(0, equals))) return true;
    }
    return false;
}

bool matches_list(std::string_view list, std::string_view name) {
    return std::ranges::any_of(config::data_list(list), [&](const config::DataRow& row) {
        std::string_view pattern = row.entry;
        if (pattern.ends_with("/i")) pattern.remove_suffix(2);
        return base::matches_name(pattern, name, true);
    });
}

// "X_AMZ_SIGNATURE", "PASS1"
bool has_secret_ending(std::string_view variable) {
    size_t last = variable.find_last_not_of("_0123456789");
    variable = variable.substr(0, last == std::string_view::npos ? 0 : last + 1);
    return std::ranges::any_of(kSecretEndings, [&](std::string_view ending) {
        if (!variable.ends_with(ending)) return false;
        std::string_view before = variable.substr(0, variable.size() - ending.size());
        return before.empty() || before.ends_with('_');
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
    explicit Walk(std::string program = {}) : program_(std::move(program)) {}

    // The word as it may be shown. Also records what it means for the next words.
    std::string shown(const std::string& word) {
        bool is_value = std::exchange(next_is_secret_, false);
        bool is_login = std::exchange(next_may_be_login_, false) && word.find(':') != std::string::npos &&
                        word.find("://") == std::string::npos;
        bool is_authorization = std::exchange(next_is_authorization_, false);
        if (std::string_view name = last_component(word); is_known_program(name)) program_ = name;
        std::string result = considered(word);
        listen(word);
        if (!is_value && !is_login) return result;
        // The secret may follow a separator, or the scheme of an authorization header.
        bool is_divider = word == "--" || word == "=" || word == ":";
        if (is_divider || (is_authorization && is_letters(word))) next_is_secret_ = true;
        if (is_divider) return word;
        return hidden();
    }

    bool found_any() const { return found_; }

  private:
    // Words that announce a secret in the next word.
    void listen(const std::string& word) {
        if (is_announcing(word)) next_is_secret_ = is_announced_ = true;
        // SET PASSWORD FOR user = secret
        if (word == "=" && is_announced_) next_is_secret_ = true;
        std::string plain = base::lower(word);
        if (plain == "identified") is_identified_ = true;
        if (plain == "by" && std::exchange(is_identified_, false)) next_is_secret_ = true;
        next_is_authorization_ = plain.ends_with("authorization:") || plain.ends_with("authorization=");
    }

    std::string considered(const std::string& word) {
        if (!config::secret_in(word).empty() && word.find("://") == std::string::npos) return hidden();
        if (word.find('%') != std::string::npos) {
            std::string decoded = base::percent_decoded(word);
            if (decoded != word && has_secret_inside(decoded)) return hidden();
        }
        if (word.find_first_of(kSeparators) != std::string::npos) {
            return has_secret_inside(word) ? hidden() : word;
        }
        if (const ShortOption* option = short_option(word)) {
            if (word != option->option) return std::string(option->option) + hidden();
            next_is_secret_ = found_ = true;
            return word;
        }
        if (std::string_view option = login_option(word); !option.empty()) {
            next_may_be_login_ = word == option;
            if (word.find(':') == std::string::npos) return word;
            return std::string(option) + (word[option.size()] == '=' ? "=" : "") + hidden();
        }
        return without_value(word);
    }

    // -u, -uUSER:PASSWORD, --user, --user=USER:PASSWORD
    static std::string_view login_option(std::string_view word) {
        for (std::string_view option : kLoginOptions) {
            bool is_long = option.starts_with("--");
            bool has_value = word.starts_with(option) && word.find(':') != std::string_view::npos &&
                             (!is_long || word.substr(option.size()).starts_with('='));
            if (word == option || has_value) return option;
        }
        return {};
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
            if (is_secret_name(std::string_view(word).substr(0, equals)))
                return word.substr(0, equals + 1) + hidden();
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
        if (scheme != std::string::npos && has_secret_in_path(word)) return hidden();
        if (has_login || has_user_in_address(word)) {
            found_ = true;
            return config::without_secrets(word);
        }
        return config::secret_in(word).empty() ? word : hidden();
    }

    bool has_secret_inside(std::string_view text) const {
        Walk inside(program_);
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
    bool next_may_be_login_ = false;
    bool next_is_authorization_ = false;
    bool is_announced_ = false;
    bool is_identified_ = false;  // SQL: IDENTIFIED … BY 'secret'
    bool found_ = false;
};

}  // namespace

bool is_secret_name(std::string_view name) {
    std::string variable = as_variable(name);
    if (variable.empty()) return false;
    // "--key" alone also counts as "*_KEY".
    std::string_view whole = variable;
    std::string joined = variable;
    std::erase(joined, '_');
    bool is_password = joined.find("PASSWORD") != std::string::npos;
    return is_password || has_secret_ending(whole) || matches_list("environment/block_patterns", whole) ||
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
