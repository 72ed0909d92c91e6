// SPDX-License-Identifier: MIT
// Statements are read in order, as the shell would: assignments build up variables, a guard on the project's
// directory becomes [match], and everything that would need a shell to decide is left out. What stands below
// a condition that could not be carried over is left out too: as an unconditional setting it could permit
// more than it did.
#include "config/import_bash.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/text.h"
#include "config/bash_names.h"
#include "config/bash_text.h"
#include "config/toml_text.h"
#include "config/value.h"

namespace config {
namespace {

bool is_project_directory(std::string_view word) {
    static constexpr std::array<std::string_view, 4> kSpellings = {
        "$_PROJECT_DIR", "${_PROJECT_DIR}", "\"$_PROJECT_DIR\"", "\"${_PROJECT_DIR}\""};
    return std::ranges::find(kSpellings, word) != kSpellings.end();
}

struct Assignment {
    std::string name;
    std::string index;  // NAME[index]=
    bool appends = false;
    bool is_array = false;
    std::vector<BashWord> words;
};

class Importer {
  public:
    Imported import(std::string_view script) {
        int depth = 0;
        for (const BashStatement& statement : split_statements(script)) {
            int change = compound_depth_change(statement.text);
            if (depth > 0) {
                note_return(statement.text);
                depth = std::max(0, depth + change);
                continue;
            }
            depth = std::max(0, change);
            is_compound_ = depth > 0;
            take(statement);
        }
        is_compound_ = false;
        convert();
        std::ranges::stable_sort(result_.left_out, {}, &LeftOut::line);
        return std::move(result_);
    }

  private:
    struct Variable {
        bool is_array = false;
        int line = 0;
        std::vector<BashWord> words;
    };

    void leave_out(int line, std::string_view text, std::string_view reason) {
        std::string_view first_line = text.substr(0, text.find('\n'));
        std::string shown =
            base::printable(first_line) + (first_line.size() < text.size() || is_compound_ ? " …" : "");
        result_.left_out.push_back({line, std::move(shown), std::string(reason)});
    }

    void take(const BashStatement& statement) {
        std::optional<std::vector<Assignment>> assignments = read_assignments(statement);
        if (!obstacle_.empty()) {
            leave_out(statement.line, statement.text, obstacle_);
        } else if (assignments) {
            for (Assignment& assignment : *assignments) assign(std::move(assignment), statement.line);
        } else if (!take_guard(statement)) {
            std::vector<std::string> words = split_raw_words(statement.text);
            std::string_view reason = reason_for_bash_command(words.front());
            if (!reason.empty()) leave_out(statement.line, statement.text, reason);
            note_return(statement.text);
        }
    }

    // What follows a return that we could not turn into [match] happens only sometimes, or never.
    void note_return(std::string_view statement) {
        for (const std::string& word : split_raw_words(statement)) {
            if (word == "return" || word == "exit") {
                obstacle_ =
                    "it stands below a 'return' that decides whether it counts: put it into a file of its "
                    "own with [match]";
            }
        }
    }

    // ---- Assignments
    // ------------------------------------------------------------------------------------------------

    Lookup lookup_for(const std::string& assigned) {
        return [this, assigned](const std::string& name) -> std::optional<std::vector<std::string>> {
            if (name == "HOME") return std::vector<std::string>{"~"};
            auto found = variables_.find(name);
            // X=("${X[@]}" more) adds to what earlier files said, and so does ours.
            if (found == variables_.end()) {
                return name == assigned ? std::optional(std::vector<std::string>()) : std::nullopt;
            }
            used_.insert(name);
            std::vector<std::string> texts;
            for (const BashWord& word : found->second.words) {
                if (!word.trouble.empty()) return std::nullopt;
                texts.push_back(word.text);
            }
            return texts;
        };
    }

    static size_t skip_declaration(std::string_view text) {
        static constexpr std::array<std::string_view, 5> kDeclare = {"export", "declare", "readonly",
                                                                     "typeset", "local"};
        std::vector<std::string> words = split_raw_words(text);
        if (words.empty() || std::ranges::find(kDeclare, words.front()) == kDeclare.end()) return 0;
        size_t at = words.front().size();
        for (size_t i = 1; i < words.size() && words[i].starts_with('-'); ++i)
            at = text.find(words[i], at) + words[i].size();
        return at;
    }

    // All assignments of a statement that is nothing but assignments; nothing for any other statement.
    std::optional<std::vector<Assignment>> read_assignments(const BashStatement& statement) {
        std::string_view text = statement.text;
        std::vector<Assignment> assignments;
        for (size_t at = skip_declaration(text);;) {
            while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
            if (at >= text.size()) break;
            std::optional<Assignment> assignment = read_assignment(statement, at);
            if (!assignment) return std::nullopt;
            assignments.push_back(*std::move(assignment));
        }
        if (assignments.empty()) return std::nullopt;
        return assignments;
    }

    std::optional<Assignment> read_assignment(const BashStatement& statement, size_t& at) {
        std::string_view text = statement.text;
        Assignment assignment;
        size_t start = at;
        if (!is_bash_name_start(text[at])) return std::nullopt;
        while (at < text.size() && is_bash_name_part(text[at])) ++at;
        assignment.name = text.substr(start, at - start);
        if (at < text.size() && text[at] == '[') {
            size_t close = text.find(']', at);
            if (close == std::string_view::npos) return std::nullopt;
            assignment.index = text.substr(at + 1, close - at - 1);
            at = close + 1;
        }
        if (text.substr(at).starts_with("+=")) {
            assignment.appends = true;
            ++at;
        }
        if (at >= text.size() || text[at] != '=') return std::nullopt;
        ++at;
        return read_value(statement, at, std::move(assignment));
    }

    std::optional<Assignment> read_value(const BashStatement& statement, size_t& at, Assignment assignment) {
        std::string_view text = statement.text;
        Lookup lookup = lookup_for(assignment.name);
        int line = statement.line + static_cast<int>(std::ranges::count(text.substr(0, at), '\n'));
        if (at < text.size() && text[at] == '(') {
            std::optional<std::vector<BashWord>> words = read_array(text, at, line, lookup);
            if (!words) return std::nullopt;
            assignment.is_array = true;
            assignment.words = *std::move(words);
        } else {
            BashWord word = read_word(text, at, lookup);
            word.line = line;
            assignment.words.push_back(std::move(word));
        }
        bool ends_here = at >= text.size() || text[at] == ' ' || text[at] == '\t';
        return ends_here ? std::optional(std::move(assignment)) : std::nullopt;
    }

    void assign(Assignment assignment, int line) {
        Variable& variable = variables_[assignment.name];
        if (!assignment.index.empty()) {
            // Elements of an associative array; of the settings, env.set alone is one.
            for (BashWord& word : assignment.words) word.text = unquoted(assignment.index) + "=" + word.text;
        }
        bool adds_entries = !assignment.index.empty() || (assignment.appends && assignment.is_array);
        if (assignment.appends && !assignment.is_array && !variable.is_array && !variable.words.empty()) {
            BashWord& last = variable.words.back();
            last.text += assignment.words.front().text;
            if (last.trouble.empty()) last.trouble = assignment.words.front().trouble;
            return;
        }
        if (!adds_entries) variable.words.clear();
        variable.is_array = assignment.is_array || !assignment.index.empty();
        if (variable.line == 0 || !adds_entries) variable.line = line;
        std::ranges::move(assignment.words, std::back_inserter(variable.words));
    }

    static std::string unquoted(std::string_view text) {
        bool is_quoted =
            text.size() > 1 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
        return std::string(is_quoted ? text.substr(1, text.size() - 2) : text);
    }

    // ---- The guard
    // --------------------------------------------------------------------------------------------------

    // [[ "$_PROJECT_DIR" == GLOB ]] || return, or != and &&.
    bool take_guard(const BashStatement& statement) {
        std::vector<std::string> words = split_raw_words(statement.text);
        bool has_shape = (words.size() == 7 || words.size() == 8) && (words[0] == "[[" || words[0] == "[") &&
                         is_project_directory(words[1]) && (words[6] == "return" || words[6] == "exit");
        if (!has_shape) return false;
        bool returns_unless = (words[2] == "==" || words[2] == "=") && words[5] == "||";
        bool returns_if_not = words[2] == "!=" && words[5] == "&&";
        if (!returns_unless && !returns_if_not) return false;
        std::optional<std::string> pattern = match_pattern(words[3]);
        if (!pattern || match_ || !variables_.empty()) return false;
        match_ = std::move(pattern);
        return true;
    }

    std::optional<std::string> match_pattern(std::string_view raw) {
        size_t at = 0;
        BashWord word = read_word(raw, at, lookup_for(""));
        bool is_known = at == raw.size() && word.trouble.empty() && !word.has_quoted_wildcard;
        bool is_path = word.text.starts_with('/') || word.text.starts_with("~/") || word.text == "~";
        if (!is_known || !is_path || word.text.find('[') != std::string::npos) return std::nullopt;
        // In [[ ]] a star crosses slashes; ours does when doubled.
        std::string pattern;
        for (char letter : word.text) {
            if (letter == '*' && pattern.ends_with('*')) continue;
            pattern += letter == '*' ? "**" : std::string(1, letter);
        }
        return pattern;
    }

    // ---- Settings
    // ---------------------------------------------------------------------------------------------------

    void convert() {
        for (const auto& [name, variable] : variables_) {
            std::string_view key = key_of_bash_variable(name);
            if (key.empty()) {
                if (!used_.contains(name))
                    leave_out(variable.line, name, "no setting belongs to this variable");
                continue;
            }
            const Setting* setting = find_setting(key);
            if (setting == nullptr) {
                leave_out(variable.line, name, "this version has no setting " + std::string(key));
            } else if (is_list(setting->type)) {
                convert_list(*setting, variable);
            } else {
                convert_scalar(*setting, name, variable);
            }
        }
        write();
    }

    void convert_scalar(const Setting& setting, const std::string& name, const Variable& variable) {
        if (variable.is_array || variable.words.size() != 1) {
            return leave_out(variable.line, name, std::string(setting.key) + " takes one value, not a list");
        }
        if (auto text = canonical(setting, variable.words.front())) scalars_[&setting] = *std::move(text);
    }

    void convert_list(const Setting& setting, const Variable& variable) {
        std::vector<std::string>& entries = lists_[&setting];
        for (const BashWord& word : variable.words) {
            // An empty scalar was the way to write an empty list.
            if (word.text.empty() && word.trouble.empty()) continue;
            std::optional<std::string> text = canonical(setting, word);
            if (!text) continue;
            // A variable set twice has its last value, as in the shell; any other entry is wanted once.
            std::string name =
                setting.type == Type::assignments ? text->substr(0, text->find('=') + 1) : *text;
            std::erase_if(entries, [&](const std::string& entry) {
                return setting.type == Type::assignments ? entry.starts_with(name) : entry == name;
            });
            entries.push_back(*std::move(text));
        }
    }

    std::optional<std::string> canonical(const Setting& setting, const BashWord& word) {
        std::string text = word.text;
        // [NAME]=value in an array literal.
        if (setting.type == Type::assignments && text.starts_with('[')) {
            size_t close = text.find("]=");
            if (close != std::string::npos) text = text.substr(1, close - 1) + text.substr(close + 1);
        }
        std::string reason = word.trouble;
        if (reason.empty() && !base::is_valid_utf8(text)) reason = "it is not UTF-8, which TOML demands";
        if (reason.empty()) {
            base::Result<std::string> result = canonical_text(setting, text);
            if (result) return *std::move(result);
            reason = result.error().what + "; " + result.error().advice;
        }
        leave_out(word.line, word.raw, reason);
        return std::nullopt;
    }

    void write() {
        std::string toml = "# Made by 'agent-sandbox config import' from a sandbox.conf.\n";
        if (match_) toml += "\n[match]\nproject = " + toml_string(*match_) + "\n";
        std::string_view section;
        for (const Setting& setting : settings()) {
            std::string line = line_of(setting);
            if (line.empty()) continue;
            if (section_of(setting) != section) toml += "\n[" + std::string(section_of(setting)) + "]\n";
            section = section_of(setting);
            if (setting.order == Order::admin_only) toml += "# Counts in the administrator's file only.\n";
            toml += std::string(name_in_section(setting)) + " = " + line + "\n";
        }
        result_.toml = std::move(toml);
    }

    std::string line_of(const Setting& setting) {
        if (auto scalar = scalars_.find(&setting); scalar != scalars_.end())
            return toml_scalar(setting, scalar->second);
        auto list = lists_.find(&setting);
        return list == lists_.end() || list->second.empty() ? std::string()
                                                            : toml_list(setting, list->second);
    }

    Imported result_;
    std::map<std::string, Variable> variables_;
    std::set<std::string> used_;
    std::optional<std::string> match_;
    std::string obstacle_;
    bool is_compound_ = false;  // the statement at hand goes on in those that follow
    std::map<const Setting*, std::string> scalars_;
    std::map<const Setting*, std::vector<std::string>> lists_;
};

}  // namespace

Imported import_bash(std::string_view script) {
    return Importer().import(script);
}

}  // namespace config
