// SPDX-License-Identifier: MIT
#include "plan/project/git_config.h"

#include <algorithm>
#include <optional>

#include "base/format.h"
#include "base/glob.h"
#include "base/parse.h"
#include "base/text.h"

namespace plan {
namespace {

class Parser {
  public:
    explicit Parser(std::string_view text) : rest_(text) {}

    std::vector<GitSetting> settings() {
        while (!rest_.empty()) {
            skip_blanks();
            if (rest_.empty()) break;
            if (rest_.front() == '#' || rest_.front() == ';') {
                skip_line();
            } else if (rest_.front() == '[') {
                take_section();
            } else {
                take_assignment();
            }
        }
        return std::move(settings_);
    }

  private:
    void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }
    void skip_line() { rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size())); }

    char take() {
        char letter = rest_.front();
        rest_.remove_prefix(1);
        return letter;
    }

    // [section], [section.sub] and [section "sub"]; an assignment may follow on the same line. As in git, a
    // name can't contain a line break, not even after a backslash.
    void take_section() {
        take();
        size_t end = std::min(rest_.find_first_of("\"]\n"), rest_.size());
        section_ = base::lower(base::trim(rest_.substr(0, end)));
        rest_.remove_prefix(end);
        if (!rest_.empty() && rest_.front() == '"') {
            take();
            section_ += '.';
            while (!rest_.empty() && rest_.front() != '"' && rest_.front() != '\n') {
                if (char letter = take(); letter != '\\') {
                    section_ += letter;
                } else if (!rest_.empty() && rest_.front() != '\n') {
                    section_ += take();
                }
            }
            rest_.remove_prefix(std::min(rest_.find_first_of("]\n"), rest_.size()));
        }
        if (!rest_.empty()) take();
    }

    void take_assignment() {
        size_t end = std::min(rest_.find_first_of("=\n#;"), rest_.size());
        std::string name = base::lower(base::trim(rest_.substr(0, end)));
        rest_.remove_prefix(end);
        if (rest_.empty() || rest_.front() != '=') {
            skip_line();
            settings_.push_back({base::format("{}.{}", section_, name), "true"});
            return;
        }
        take();
        settings_.push_back({base::format("{}.{}", section_, name), take_value()});
    }

    std::string take_value() {
        std::string value;
        size_t kept = 0;  // trailing blanks count only inside quotes
        bool is_quoted = false;
        while (!rest_.empty() && rest_.front() != '\n') {
            char letter = take();
            if (!is_quoted && (letter == '#' || letter == ';')) {
                skip_line();
                break;
            }
            if (letter == '"') {
                is_quoted = !is_quoted;
                kept = value.size();
                continue;
            }
            if (letter == '\\' && !rest_.empty()) {
                char escaped = take();
                if (escaped == '\n') continue;
                value += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped;
                kept = value.size();
                continue;
            }
            bool is_blank = letter == ' ' || letter == '\t' || letter == '\r';
            if (is_blank && !is_quoted && value.empty()) continue;
            value += letter;
            if (!is_blank || is_quoted) kept = value.size();
        }
        value.resize(kept);
        return value;
    }

    std::string_view rest_;
    std::string section_;
    std::vector<GitSetting> settings_;
};

std::string in_quotes(std::string_view text) {
    std::string result = "\"";
    for (char letter : text) {
        if (letter == '"' || letter == '\\') result += '\\';
        result += letter == '\n' ? "\\n" : std::string(1, letter);
    }
    return result + '"';
}

// Git does not run a program for this value.
bool is_harmless(const GitSetting& setting) {
    bool runs_when_marked = setting.key.starts_with("alias.") || setting.key.starts_with("submodule.");
    if (runs_when_marked) return !setting.value.starts_with('!');
    return setting.key == "core.fsmonitor" && (setting.value == "false" || setting.value == "true");
}

}  // namespace

const config::DataRow* program_row(const GitSetting& setting) {
    if (is_harmless(setting)) return nullptr;
    for (const config::DataRow& row : config::data_list("review/git_keys")) {
        if (base::matches_name(row.entry, setting.key)) return &row;
    }
    return nullptr;
}

std::vector<GitSetting> parse_git_config(std::string_view text) {
    return Parser(text).settings();
}

std::string git_config_text(const std::vector<GitSetting>& settings) {
    std::string text;
    for (const GitSetting& setting : settings) {
        size_t first = setting.key.find('.');
        size_t last = setting.key.rfind('.');
        if (first == std::string::npos) continue;
        text += '[' + setting.key.substr(0, first);
        if (last > first)
            text += ' ' + in_quotes(std::string_view(setting.key).substr(first + 1, last - first - 1));
        text += base::format("]\n\t{} = {}\n", setting.key.substr(last + 1), in_quotes(setting.value));
    }
    return text;
}

}  // namespace plan
