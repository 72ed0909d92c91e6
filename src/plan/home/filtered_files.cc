// SPDX-License-Identifier: MIT
// Start-up files that are shown as a copy without the lines that hold a secret (share/home/filtered.list), in
// every home mode. The copy is read-only, as these files are. A file without such lines is shown itself.
//
// Threat: the variable GITHUB_TOKEN is not passed, but the jail could read `export GITHUB_TOKEN=...` in
// ~/.bashrc (tests/jail/filtered_files.bats).
#include "plan/home/filtered_files.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/parse.h"
#include "base/path.h"
#include "base/text.h"
#include "config/data.h"
#include "config/secrets.h"
#include "plan/draft.h"
#include "plan/home/secret_forms.h"
#include "plan/home/secret_lines.h"

namespace plan {
namespace {

// The names of the built-in lists: made once, for a file that runs commands.
const SecretNames& built_in_names() {
    static const SecretNames names = [] {
        policy::Items block, patterns;
        for (const config::DataRow& row : config::data_list("environment/block"))
            block.push_back({.text = std::string(row.entry), .origin = {}});
        for (const config::DataRow& row : config::data_list("environment/block_patterns"))
            patterns.push_back({.text = std::string(row.entry), .origin = {}});
        return SecretNames(block, patterns);
    }();
    return names;
}

// One line of git's configuration, without its section, with the lines that a backslash continues.
bool is_secret_setting(std::string_view text) {
    if (text.empty()) return false;
    if (text[0] == '#' || text[0] == ';') {
        constexpr std::string_view kWords[] = {"password", "passwd", "token", "secret", "passphrase"};
        const std::string lower = base::lower(text);
        return !config::secret_in(text).empty() || std::ranges::any_of(kWords, [&](std::string_view word) {
            return lower.find(word) != lower.npos;
        });
    }
    const size_t sign = std::min(text.find('='), text.size());
    if (is_secret_git_key(base::lower(base::trim(text.substr(0, sign))))) return true;
    if (!config::secret_in(text).empty()) return true;
    // git takes quotes and backslashes out of a value.
    std::string plain;
    for (char c : text.substr(sign)) {
        if (c != '"' && c != '\\' && c != '\n') plain += c;
    }
    if (config::has_password_in_address(plain) || has_secret_query(plain)) return true;
    const std::string_view value = base::trim(std::string_view(plain).substr(plain.empty() ? 0 : 1));
    return is_login_before_host(value) || (value.starts_with('!') && holds_secret(text, built_in_names()));
}

// Where the name of a section ends, in a line that starts with one. As in git, it can't contain a line break.
size_t end_of_section(std::string_view text) {
    text = text.substr(0, text.find('\n'));
    bool is_quoted = false;
    for (size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '\\' && is_quoted)
            ++at;
        else if (text[at] == '"')
            is_quoted = !is_quoted;
        else if (text[at] == ']' && !is_quoted)
            return at + 1;
    }
    return text.size();
}

bool is_secret_section(std::string_view name) {
    std::string plain(name);
    std::erase(plain, '\\');
    return base::starts_ignoring_case(plain, "[credential") || config::has_password_in_address(plain);
}

}  // namespace

std::string without_secrets(std::string_view content) {
    std::string kept;
    bool in_secret_section = false;
    const std::vector<std::string_view> lines = base::split(content, '\n');
    for (size_t i = 0; i < lines.size(); ++i) {
        const std::string_view first = lines[i];
        while (base::trim(lines[i]).ends_with('\\') && i + 1 < lines.size()) ++i;
        const std::string_view whole(first.data(),
                                     static_cast<size_t>(lines[i].data() + lines[i].size() - first.data()));
        std::string_view setting = base::trim(whole), section;
        // git reads several sections on one line.
        while (setting.starts_with('[')) {
            const size_t end = end_of_section(setting);
            in_secret_section = is_secret_section(setting.substr(0, end));
            const std::string_view start = section.empty() ? setting : section;
            section = {start.data(), static_cast<size_t>(setting.data() + end - start.data())};
            setting = base::trim(setting.substr(end));
        }
        if (in_secret_section) continue;
        const bool is_secret = is_secret_setting(setting);
        if (is_secret && !section.ends_with(']')) continue;
        kept += is_secret ? section : whole;
        kept += '\n';
    }
    if (!content.ends_with('\n') && !kept.empty()) kept.pop_back();
    if (content.ends_with('\n') && kept.ends_with("\n\n")) kept.pop_back();
    return kept;
}

namespace {

constexpr size_t kLargest = 1u << 20;
constexpr size_t kMostFiles = 256;  // of one directory

class FilteredFiles {
  public:
    explicit FilteredFiles(Draft& draft) : draft_(draft) {}

    void add(const config::DataRow& row) {
        if (draft_.home_names.may_exist(row.entry)) add_below(draft_.home, row.entry, row.reason);
    }

  private:
    // A component of `entry` may be a pattern.
    void add_below(const base::Path& start, std::string_view entry, std::string_view why) {
        const size_t star = entry.find('*');
        if (star == entry.npos) return consider(start / entry, why);
        const size_t slash = entry.rfind('/', star), end = std::min(entry.find('/', star), entry.size());
        const std::string_view before = entry.substr(0, slash == entry.npos ? 0 : slash);
        const std::string_view pattern =
            entry.substr(before.empty() ? 0 : slash + 1).substr(0, end - (before.empty() ? 0 : slash + 1));
        const bool is_last = end == entry.size();
        // Do not look into a directory that no rule shows.
        base::Result<host::Tree::Resolved> directory =
            draft_.tree().resolve(before.empty() ? start : start / before);
        if (!directory || !directory->exists || shown_by(directory->path) == nullptr) return;
        std::vector<std::string> names;
        for (const host::Entry& found : draft_.tree().list(directory->path)) {
            bool is_directory = found.kind == host::Kind::directory;
            if (is_directory != is_last && base::matches_name(pattern, found.name))
                names.push_back(found.name);
        }
        if (names.size() > kMostFiles)
            return hide(directory->path, "holds more files than are looked through");
        for (const std::string& name : names) {
            const base::Path path = directory->path / name;
            is_last ? consider(path, why) : add_below(path, entry.substr(end + 1), why);
        }
    }

    // The rule that shows the host's own file read-only.
    const PathRule* shown_by(const base::Path& path) const {
        const PathRule* rule = draft_.rules.decide_unsettled(path);
        bool is_shown = rule != nullptr && rule->access == Access::readonly && rule->backing == Backing::host;
        return is_shown ? rule : nullptr;
    }

    // Whether a setting names the path.
    bool is_named(const base::Path& path) const {
        return std::ranges::any_of(draft_.rules.sorted(), [&](const PathRule& rule) {
            return rule.path == path && rule.reason.origin.layer != config::Layer::builtin;
        });
    }

    void consider(const base::Path& literal, std::string_view why) {
        base::Result<host::Tree::Resolved> resolved = draft_.tree().resolve(literal);
        if (!resolved || !resolved->exists || resolved->path.is_within(draft_.project)) return;
        const base::Path& path = resolved->path;
        std::optional<host::Node> node = draft_.tree().look(path);
        if (shown_by(path) == nullptr || !node || node->kind != host::Kind::file) return;
        base::Result<std::string> content = draft_.tree().read(path, kLargest);
        if (!content) return hide(path, "too large to look for secrets in it");
        FilteredText copy = without_secret_lines(*content, literal.name(), names());
        if (copy.left_out == 0 || is_named(path)) return;
        if (!draft_.backend().lays_files)
            return hide(path, "holds secrets, and this backend can't show a copy without them");
        std::string lines = copy.left_out == 1 ? "1 line" : std::to_string(copy.left_out) + " lines";
        draft_.after_rules.push_back(Mount{
            .kind = MountKind::file,
            .target = path,
            .source = std::move(copy.text),
            .reason = {
                base::format(
                    "{}; a copy is shown, without {} that hold a secret; --ro with its path shows it whole",
                    why, lines),
                {}}});
    }

    const SecretNames& names() {
        const auto& env = draft_.policy().env;
        if (!names_) names_.emplace(env.block, env.block_patterns);
        return *names_;
    }

    void hide(const base::Path& path, std::string_view why) {
        draft_.add_rule(path, Access::hidden, {std::string(why), {}});
    }

    Draft& draft_;
    std::optional<SecretNames> names_;  // made when the first file needs it
};

}  // namespace

void filter_start_up_files(Draft& draft) {
    FilteredFiles files(draft);
    for (const config::DataRow& row : config::data_list("home/filtered")) files.add(row);
}

// What counts as a secret in the text of a start-up file.

namespace {

// Words before a secret, in lower case: headers, options, commands. A word of the text starts with one of
// them.
constexpr std::string_view kCarriers[] = {
    "bearer",  "x-api-key", "private-token", "x-auth-token", "apikey:",         "sshpass",   "--password",
    "--token", "--api-key", "--passphrase",  "--secret",     "--client-secret", "identified"};
constexpr std::string_view kHeader = "authorization:";
constexpr std::string_view kKeyStart = "-----begin";
// Commands that assign by words: `setenv NAME value`, `set -gx NAME value`, `set-environment -g NAME value`.
constexpr std::string_view kSetters[] = {"set",    "setenv", "set-environment", "setw", "env",
                                         "putenv", "setq",   "setopt",          "let",  "printf"};
// Commands that read a value from a pipe, a here-document or a here-string.
constexpr std::string_view kReaders[] = {"read", "mapfile", "readarray"};
// Defaults of a variable that are not a secret.
constexpr std::string_view kNoSecrets[] = {"none", "unset", "null",    "undefined", "false", "true", "no",
                                           "yes",  "empty", "missing", "x",         "0",     "1",    "set"};

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

// Walks over the names in a text. `$NAME` and `${NAME}` are uses, not assignments, but `${NAME:=value}` and
// `let $NAME = value` are.
class Names {
  public:
    Names(std::string_view text, const SecretNames& names) : text_(text), names_(names) {}

    bool assign_secret() {
        for (size_t at = 0; at < text_.size();) {
            char c = text_[at];
            if (!is_name_part(c)) {
                bool ends_command = c == ';' || (c == '\n' && (at == 0 || text_[at - 1] != '\\'));
                if (ends_command) after_setter_ = after_reader_ = is_piped_ = false;
                if (c == '|') is_piped_ = true;
                ++at;
                continue;
            }
            size_t end = at + 1;
            while (end < text_.size() && is_name_part(text_[end])) ++end;
            if (is_name_start(c) && (is_secret(at, end) || is_dashed_secret(at, end))) return true;
            at = end;
        }
        return false;
    }

  private:
    bool is_secret(size_t at, size_t end) {
        std::string_view name = text_.substr(at, end - at);
        if ((name[0] == 's' || name[0] == 'e' || name[0] == 'p' || name[0] == 'l') &&
            std::ranges::find(kSetters, name) != std::end(kSetters))
            after_setter_ = true;
        if ((name[0] == 'r' || name[0] == 'm') && std::ranges::find(kReaders, name) != std::end(kReaders))
            after_reader_ = true;
        if (at > 1 && text_.substr(at - 2, 2) == "${") return is_defaulted(end) && names_.has(name);
        if (at > 0 && text_[at - 1] == '$') return is_let(at - 1) && is_assigned(end) && names_.has(name);
        return is_assigned(end) && names_.has(name);
    }

    // `secret-key` of TOML, `gptel-api-key` of Lisp: one name. Looks at the last part.
    bool is_dashed_secret(size_t at, size_t end) const {
        if (at == 0 || text_[at - 1] != '-') return false;
        size_t begin = at;
        while (begin > 0 && (is_name_part(text_[begin - 1]) || text_[begin - 1] == '-')) --begin;
        if (text_[begin] == '-' || !is_assigned(end)) return false;
        std::string name(text_.substr(begin, end - begin));
        std::ranges::replace(name, '-', '_');
        return name == "credential_provider" || names_.has(name);
    }

    // `${NAME:=value}`, `${NAME=value}`, `${NAME::=value}`; a default that does not look like a secret is a
    // use.
    bool is_defaulted(size_t end) const {
        std::string_view rest = text_.substr(end, 200);
        size_t mark = 0;
        while (mark < rest.size() && rest[mark] == ':') ++mark;
        if (mark > 2 || mark >= rest.size() || (rest[mark] != '=' && rest[mark] != '-')) return false;
        std::string_view value = rest.substr(mark + 1);
        value = value.substr(0, value.find('}'));
        while (!value.empty() && (value.front() == '"' || value.front() == '\'')) value.remove_prefix(1);
        while (!value.empty() && (value.back() == '"' || value.back() == '\'')) value.remove_suffix(1);
        bool is_harmless = value.empty() || value.front() == '$' || value.front() == '<' ||
                           std::ranges::find(kNoSecrets, base::lower(value)) != std::end(kNoSecrets);
        return !is_harmless;
    }

    // `let $NAME` of vim.
    bool is_let(size_t sign) const {
        std::string_view before = base::trim(text_.substr(0, sign));
        return sign > 0 && is_blank(text_[sign - 1]) && before.ends_with("let");
    }

    bool is_assigned(size_t end) const {
        std::string_view rest = text_.substr(end);
        if (rest.starts_with('[')) rest.remove_prefix(std::min(rest.find(']'), rest.size() - 1) + 1);
        bool is_quoted = rest.starts_with('"') || rest.starts_with('\'');
        if (is_quoted) rest.remove_prefix(1);
        // A key in brackets: X[NAME]=value, vim.env["NAME"] = value.
        if (rest.starts_with(']')) rest.remove_prefix(1);
        bool has_blank = !rest.empty() && is_blank(rest.front());
        bool has_value = false;
        while (!rest.empty() && (is_blank(rest.front()) || rest.front() == '"' || rest.front() == '\'')) {
            has_value = has_value || !is_blank(rest.front());
            rest.remove_prefix(1);
        }
        if (rest.starts_with("+=") || rest.starts_with('=') || rest.starts_with(':')) return true;
        if (rest.starts_with("<-") || rest.starts_with("<<-")) return true;
        if (is_quoted && rest.starts_with(',')) return true;  // setenv("NAME", value)
        const bool is_at_end = rest.empty() || rest.front() == '\n' || rest.front() == '\r';
        if (after_reader_) return is_piped_ || rest.starts_with('<') || is_fed();
        if (after_setter_ && is_at_end) return has_value || is_quoted;
        return after_setter_ && has_blank && rest.front() != ';' && rest.front() != ')';
    }

    // The command has a here-document or a here-string elsewhere in its line.
    bool is_fed() const { return text_.find("<<") != text_.npos; }

    std::string_view text_;
    const SecretNames& names_;
    bool after_setter_ = false, after_reader_ = false, is_piped_ = false;
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
    const bool has_sign = text.find('@') != text.npos;
    auto separates = [&](size_t at) { return kSeparates[static_cast<unsigned char>(text[at])]; };
    for (size_t at = 0; at < text.size();) {
        if (separates(at)) {
            ++at;
            continue;
        }
        size_t end = at + 1;
        while (end < text.size() && !separates(end)) ++end;
        std::string_view word = text.substr(at, end - at);
        if (is_secret_word(word) || (has_sign && is_login_before_host(word))) return true;
        at = end;
    }
    return false;
}

// Channels of conda have a token in front of their name: https://conda.example.org/t/TOKEN/name.
bool has_token_in_address(std::string_view text) {
    size_t scheme = text.find("://");
    if (scheme == std::string_view::npos) return false;
    size_t token = text.find("/t/", scheme + 3);
    return token != std::string_view::npos && token + 3 < text.size();
}

}  // namespace

// Beyond the variables that are not passed: a line too many that is left out does no harm.
constexpr std::string_view kMoreNames[] = {"*TOKEN", "*TOKENS", "*_PW",     "PASS",   "PASSWD",
                                           "*_AUTH", "*_JWT",   "*_BEARER", "*_CREDS"};

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
    for (std::string_view pattern : kMoreNames) add(pattern);
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
    if (config::has_password_in_address(text) || has_token_in_address(text) || has_secret_word(text) ||
        has_secret_query(text) || has_secret_option(text, names) || Names(text, names).assign_secret())
        return true;
    // A name or a value may be broken by a backslash at the end of a line.
    if (text.find("\\\n") == text.npos && text.find("\\\r\n") == text.npos) return false;
    std::string joined;
    for (size_t at = 0; at < text.size(); ++at) {
        std::string_view rest = text.substr(at);
        size_t skipped = rest.starts_with("\\\n") ? 2 : rest.starts_with("\\\r\n") ? 3 : 0;
        if (skipped == 0)
            joined += text[at];
        else
            at += skipped - 1;
    }
    return holds_secret(joined, names);
}

}  // namespace plan
