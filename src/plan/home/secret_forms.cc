// SPDX-License-Identifier: MIT
#include "plan/home/secret_forms.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/parse.h"
#include "base/text.h"
#include "plan/home/secret_lines.h"

namespace plan {
namespace {

// Options whose next word is a password, for a command and, where the command has several, one of its verbs.
struct PasswordOption {
    std::string_view command, verb, option;
    bool is_glued = false;  // -pword instead of -p word
};
constexpr PasswordOption kPasswordOptions[] = {
    {"docker", "login", "-p"},
    {"podman", "login", "-p"},
    {"nerdctl", "login", "-p"},
    {"buildah", "login", "-p"},
    {"skopeo", "login", "-p"},
    {"helm", "login", "-p"},
    {"oras", "login", "-p"},
    {"crane", "login", "-p"},
    {"apptainer", "login", "-p"},
    {"az", "login", "-p"},
    {"oc", "login", "-p"},
    {"mongo", "", "-p"},
    {"mongosh", "", "-p"},
    {"mongodump", "", "-p"},
    {"cqlsh", "", "-p"},
    {"ldapsearch", "", "-w"},
    {"ldapadd", "", "-w"},
    {"ldapmodify", "", "-w"},
    {"ldapwhoami", "", "-w"},
    {"redis-cli", "", "-a"},
    {"zip", "", "-P"},
    {"unzip", "", "-P"},
    {"sqlcmd", "", "-P"},
    {"mosquitto_pub", "", "-P"},
    {"mosquitto_sub", "", "-P"},
    {"ssh-keygen", "", "-N"},
    {"ssh-keygen", "", "-P"},
    {"mysql", "", "-p", true},
    {"mysqldump", "", "-p", true},
    {"mysqladmin", "", "-p", true},
    {"mariadb", "", "-p", true},
    {"mariadb-dump", "", "-p", true},
    {"mariadb-admin", "", "-p", true},
    {"7z", "", "-p", true},
    {"7za", "", "-p", true},
    {"7zz", "", "-p", true},
};
// Of any command: the next word is "name:password".
constexpr std::string_view kLoginOptions[] = {"-u", "-U", "--user", "--proxy-user"};
constexpr std::string_view kSecretOptions[] = {
    "--pass", "--passwd", "--oauth2-bearer", "--proxy-pass", "--cookie", "--auth", "--jwt"};
constexpr std::string_view kLoginKeys[] = {"user",
                                           "u",
                                           "proxy-user",
                                           "proxyuser",
                                           "oauth2-bearer",
                                           "pass",
                                           "b",
                                           "cookie",
                                           "tlspassword",
                                           "proxy-pass",
                                           "cert",
                                           "e",
                                           "proxy",
                                           "preproxy",
                                           "httppasswd",
                                           "httppassword",
                                           "httpuser",
                                           "proxypasswd",
                                           "proxypassword",
                                           "ftppasswd",
                                           "ftppassword",
                                           "passwd",
                                           "password",
                                           "header",
                                           "h",
                                           "proxy-header",
                                           "httpproxy",
                                           "httpsproxy",
                                           "ftpproxy",
                                           "x",
                                           "aws-sigv4",
                                           "login-options"};

// Bytes that end a word of a command line. A launch looks up every byte of a file.
constexpr std::array<bool, 256> kWordEnds = [] {
    std::array<bool, 256> table{};
    for (unsigned char c : std::string_view(" \t\r\n\"'`=;,(){}<>|&")) table[c] = true;
    return table;
}();
constexpr std::string_view kEndsCommand = "\n;|&";

bool ends_word(char c) {
    return kWordEnds[static_cast<unsigned char>(c)];
}

bool is_variable(std::string_view word) {
    return word.empty() || word.starts_with('$');
}

bool are_digits(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, base::is_digit);
}

// "name:password"; not "1000:1000", a user and a group.
bool is_login(std::string_view word) {
    size_t colon = word.find(':');
    if (colon == std::string_view::npos || colon + 1 >= word.size() || word.front() == '+') return false;
    std::string_view password = word.substr(colon + 1);
    return !is_variable(password) && !(are_digits(word.substr(0, colon)) && are_digits(password));
}

std::string_view last_component(std::string_view word) {
    return word.substr(word.rfind('/') + 1);
}

// One simple command: its words, up to an operator or the end of the line.
class Command {
  public:
    explicit Command(const SecretNames& names) : names_(names) {}

    void clear() {
        count_ = 0;
        previous_ = {};
    }

    bool takes(std::string_view word) {
        bool is_secret = judge(word);
        if (count_ < words_.size() && !word.starts_with('-')) words_[count_++] = word;
        previous_ = word;
        return is_secret;
    }

  private:
    bool has(std::string_view word) const {
        if (word.empty()) return true;
        auto end = words_.begin() + static_cast<ptrdiff_t>(count_);
        return std::any_of(words_.begin(), end,
                           [&](std::string_view known) { return last_component(known) == word; });
    }

    bool judge(std::string_view word) const {
        if (previous_.size() > 1 && previous_[0] == '-' && !is_variable(word) && follows_option(word))
            return true;
        if (word.size() > 2 && word[0] == '-') {
            if (word[1] == 'u' && has("curl") && is_login(word.substr(2))) return true;
            if (word[1] == 'p' && is_password(word)) return true;
        }
        // git config NAME.KEY value
        if (count_ < 2 || !has("git") || is_variable(word)) return false;
        size_t dot = previous_.rfind('.');
        return dot != previous_.npos && has("config") &&
               is_secret_git_key(base::lower(previous_.substr(dot + 1)));
    }

    bool follows_option(std::string_view word) const {
        if (previous_[1] == '-') {
            if (std::ranges::find(kSecretOptions, previous_) != std::end(kSecretOptions)) return true;
            if (is_secret_name(previous_.substr(2))) return true;
        }
        bool is_login_option = std::ranges::find(kLoginOptions, previous_) != std::end(kLoginOptions);
        if (is_login_option) return is_login(word);
        if (previous_.size() != 2) return false;
        if (previous_[1] == 'b') {
            bool is_file = word.ends_with(".txt") || word.find('/') != word.npos;
            return has("curl") && !is_file;
        }
        return std::string_view("pwaPN").find(previous_[1]) != std::string_view::npos && is_password(word);
    }

    bool is_password(std::string_view word) const {
        return std::ranges::any_of(kPasswordOptions, [&](const PasswordOption& row) {
            bool is_given = row.is_glued ? word.size() > row.option.size() && word.starts_with(row.option) &&
                                               !is_variable(word.substr(row.option.size()))
                                         : previous_ == row.option && !is_variable(word);
            return is_given && has(row.command) && has(row.verb);
        });
    }

    bool is_secret_name(std::string_view option) const {
        std::string name(option);
        std::ranges::replace(name, '-', '_');
        return names_.has(name);
    }

    const SecretNames& names_;
    std::array<std::string_view, 8> words_;  // without options
    size_t count_ = 0;
    std::string_view previous_;
};

}  // namespace

bool has_secret_option(std::string_view text, const SecretNames& names) {
    if (text.find('-') == text.npos && text.find("config") == text.npos) return false;
    Command command(names);
    for (size_t at = 0; at < text.size();) {
        if (ends_word(text[at])) {
            bool is_continued = text[at] == '\n' && at > 0 && text[at - 1] == '\\';
            if (kEndsCommand.find(text[at]) != kEndsCommand.npos && !is_continued) command.clear();
            ++at;
            continue;
        }
        size_t end = at + 1;
        while (end < text.size() && !ends_word(text[end])) ++end;
        std::string_view word = text.substr(at, end - at);
        if (word != "\\" && command.takes(word)) return true;
        at = end;
    }
    return false;
}

bool is_login_before_host(std::string_view word) {
    size_t sign = word.rfind('@');
    if (sign == std::string_view::npos || sign + 1 >= word.size()) return false;
    size_t colon = word.find(':');
    if (colon == 0 || colon == std::string_view::npos || colon + 1 >= sign) return false;
    std::string_view password = word.substr(colon + 1, sign - colon - 1);
    bool is_other = password.starts_with('/') || is_variable(password) || word.starts_with("mailto:") ||
                    word.find_first_of("%\\[") < sign;
    return !is_other;
}

bool has_secret_query(std::string_view text) {
    constexpr std::string_view kKeys[] = {
        "key=", "token=",  "api_key=",  "apikey=",        "access_token=", "auth=",
        "sig=", "secret=", "password=", "private_token=", "passwd="};
    for (size_t at = text.find("://"); at != text.npos; at = text.find("://", at + 3)) {
        std::string_view rest = text.substr(at);
        rest = rest.substr(0, rest.find_first_of(" \t\r\n\"'`<>"));
        for (size_t mark = rest.find_first_of("?&"); mark != rest.npos;
             mark = rest.find_first_of("?&", mark + 1)) {
            std::string_view query = rest.substr(mark + 1);
            for (std::string_view key : kKeys) {
                bool is_given =
                    base::starts_ignoring_case(query, key) && !is_variable(query.substr(key.size()));
                if (is_given) return true;
            }
        }
    }
    return false;
}

bool is_secret_git_key(std::string_view key) {
    constexpr std::string_view kKeys[] = {"extraheader", "cookiefile", "savecookies", "sslkey", "pass"};
    constexpr std::string_view kEndings[] = {"password", "smtppass", "token",
                                             "passwd",   "secret",   "passphrase",
                                             "apikey",   "api-key",  "passwordprotected"};
    return std::ranges::find(kKeys, key) != std::end(kKeys) ||
           std::ranges::any_of(kEndings, [&](std::string_view ending) { return key.ends_with(ending); });
}

bool is_login_key(std::string_view line) {
    line = base::trim(line);
    while (line.starts_with('-')) line.remove_prefix(1);
    std::string key = base::lower(line.substr(0, line.find_first_of(" \t=:")));
    if (std::ranges::find(kLoginKeys, key) != std::end(kLoginKeys)) return true;
    std::erase_if(key, [](char c) { return c == '_' || c == '-'; });  // as wget reads them
    return std::ranges::find(kLoginKeys, key) != std::end(kLoginKeys);
}

}  // namespace plan
