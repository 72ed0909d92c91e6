// SPDX-License-Identifier: MIT
// Commands are read in order, as the shell would: assignments build up variables, a guard on the project's
// directory becomes [match], and everything that would need a shell to decide is left out. What stands below
// a condition that could not be carried over is left out too: as an unconditional setting it could permit
// more than it did.
#include "config/import_bash.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "base/text.h"
#include "config/bash_assignment.h"
#include "config/bash_compound.h"
#include "config/bash_guard.h"
#include "config/bash_names.h"
#include "config/bash_quotes.h"
#include "config/bash_text.h"
#include "config/bash_words.h"
#include "config/import_writer.h"

namespace config {
namespace {

using Source = ImportWriter::Source;

constexpr std::string_view kLost =
    "the file closes a compound command or a parenthesis that nothing opens, as far as it is understood, so "
    "that nothing in it is certain to be unconditional: remove conditions and import again";

constexpr std::string_view kElement = "which of its values an index means is not known here: write them out";

bool takes_assignments(std::string_view variable) {
    const Setting* setting = find_setting(key_of_bash_variable(variable));
    return setting != nullptr && setting->type == Type::assignments;
}

class Importer {
  public:
    explicit Importer(const ImportOptions& options) : writer_(options) {}

    Imported import(std::string_view script) {
        std::vector<BashStatement> command;
        BashCompounds compounds;
        for (BashStatement& statement : split_statements(script)) {
            // What belongs to an unclosed quote is no statement whose words mean anything.
            bool is_lost = !obstacle_is_final_ && statement.is_closed && !compounds.read(statement.text);
            if (is_lost) {
                give_up(statement);
                command.clear();
                continue;
            }
            command.push_back(std::move(statement));
            if (compounds.is_open() && !obstacle_is_final_) continue;
            take(command);
            command.clear();
        }
        if (!command.empty()) {
            command.back().is_closed = false;
            take(command);
        }
        convert();
        return writer_.finish("a sandbox.conf");
    }

  private:
    struct Variable {
        bool is_array = false;
        int line = 0;
        std::vector<BashWord> words;
        std::string trouble;  // why none of them can be known
    };

    // Something closes that was not opened: where it was is unknown, and with it whether anything read so far
    // stands below a condition. As settings of their own they could permit more than they did.
    void give_up(const BashStatement& statement) {
        for (const auto& [name, variable] : variables_) {
            if (is_name_of_predecessor(name)) writer_.leave_out({variable.line, name}, kLost);
        }
        variables_.clear();
        writer_.leave_out({statement.line, shown(statement.text, false)}, kLost);
        obstacle_ = kLost;
        obstacle_is_final_ = true;
    }

    // A simple command is one statement, an if, a case or a function several.
    void take(const std::vector<BashStatement>& command) {
        const BashStatement& first = command.front();
        std::vector<std::string> words;
        for (const BashStatement& statement : command) {
            if (statement.text == kEndOfClause) continue;
            std::ranges::move(split_raw_words(statement.text), std::back_inserter(words));
        }
        Source source{first.line, shown(first.text, command.size() > 1)};
        if (!obstacle_.empty()) return writer_.leave_out(source, obstacle_);
        if (!command.back().is_closed) {
            return writer_.leave_out(
                source,
                "a quote, a parenthesis, a here-document or a compound command that "
                "opens here is never closed, and everything below belongs to it: close it and import again");
        }
        if (command.size() == 1 && take_simple(first, words)) return;
        if (take_guard(words)) return;
        std::string_view reason = reason_for_bash_command(words.front());
        if (!reason.empty()) writer_.leave_out(source, reason);
        note_return(words);
    }

    static std::string shown(std::string_view text, bool goes_on) {
        std::string_view first_line = text.substr(0, text.find('\n'));
        bool is_cut = goes_on || first_line.size() < text.size();
        return std::string(base::trim(first_line)) + (is_cut ? " …" : "");
    }

    bool take_simple(const BashStatement& statement, const std::vector<std::string>& words) {
        auto lookup = [this](const std::string& name) { return lookup_for(name); };
        if (std::optional<std::vector<BashAssignment>> assignments = read_assignments(statement, lookup)) {
            for (BashAssignment& assignment : *assignments) assign(std::move(assignment), statement.line);
            return true;
        }
        return take_defaults(statement, words) || take_unset(statement, words);
    }

    // What follows a return that we could not turn into [match] happens only sometimes, or never.
    void note_return(const std::vector<std::string>& words) {
        bool returns = std::ranges::any_of(
            words, [](const std::string& word) { return word == "return" || word == "exit"; });
        if (!returns) return;
        obstacle_ =
            "it stands below a 'return' that decides whether it counts: put it into a file of its own with "
            "[match]";
    }

    // ---- Assignments

    Lookup lookup_for(const std::string& assigned) {
        return [this, assigned](const std::string& name) -> std::optional<std::vector<std::string>> {
            if (name == "HOME") return std::vector<std::string>{"~"};
            auto found = variables_.find(name);
            // X=("${X[@]}" more) adds to what earlier files said, and so does ours.
            if (found == variables_.end()) {
                return name == assigned ? std::optional(std::vector<std::string>()) : std::nullopt;
            }
            used_.insert(name);
            if (!found->second.trouble.empty() || is_spent()) return std::nullopt;
            std::vector<std::string> texts;
            for (const BashWord& word : found->second.words) {
                if (!word.trouble.empty()) return std::nullopt;
                texts.push_back(word.text);
                expanded_ += word.text.size() + sizeof(BashWord);
            }
            return texts;
        };
    }

    // So much is put in by no file that a person wrote.
    bool is_spent() {
        constexpr size_t kMostExpanded = 64 << 20;
        if (expanded_ <= kMostExpanded) return false;
        obstacle_ = kTooLarge;
        return true;
    }

    void assign(BashAssignment assignment, int line) {
        Variable& variable = variables_[assignment.name];
        bool has_index = !assignment.index.empty();
        bool adds = has_index || assignment.appends;
        if (!adds) variable = {};
        if (variable.line == 0) variable.line = line;
        if (has_index) {
            assign_element(variable, std::move(assignment));
        } else if (assignment.appends && !assignment.is_array && !variable.words.empty()) {
            append_text(variable, assignment);
        } else {
            variable.is_array = variable.is_array || assignment.is_array;
            std::ranges::move(assignment.words, std::back_inserter(variable.words));
        }
        if (variable.words.size() > kMostBashWords) {
            variable.words.clear();
            variable.trouble = kTooLarge;
        }
    }

    // NAME+=text adds to the first value.
    static void append_text(Variable& variable, const BashAssignment& assignment) {
        const BashWord& more = assignment.words.front();
        BashWord& first = variable.words.front();
        bool is_numbered = variable.is_array && (first.text.empty() || first.text.starts_with('['));
        if (is_numbered || takes_assignments(assignment.name) || more.text.starts_with('~'))
            return add_trouble(variable,
                               "'" + assignment.name + "+=' adds to a value that is not known here");
        first.text += more.text;
        if (first.trouble.empty()) first.trouble = more.trouble;
        if (first.text.size() > kLongestBashWord) first = {first.line, first.raw, {}, std::string(kTooLarge)};
    }

    // NAME[index]=text: an entry of its own where it has a name, and the one with that number otherwise.
    static void assign_element(Variable& variable, BashAssignment assignment) {
        variable.is_array = true;
        BashWord& word = assignment.words.front();
        if (assignment.is_array || assignment.appends) return add_trouble(variable, kElement);
        if (takes_assignments(assignment.name)) {
            word.text = unquoted(assignment.index) + "=" + word.text;
            return variable.words.push_back(std::move(word));
        }
        bool is_plain = std::ranges::none_of(variable.words, [](const BashWord& one) {
            return !one.trouble.empty() || one.text.starts_with('[');
        });
        bool is_number = assignment.index.size() < 6 &&
                         assignment.index.find_first_not_of("0123456789") == std::string::npos;
        size_t number = is_number ? std::strtoul(assignment.index.c_str(), nullptr, 10) : 0;
        bool is_first = variable.words.empty();
        if (!is_number || !is_plain || (number > variable.words.size() && !is_first))
            return add_trouble(variable, kElement);
        if (is_first || number == variable.words.size()) return variable.words.push_back(std::move(word));
        variable.words[number] = std::move(word);
    }

    static void add_trouble(Variable& variable, std::string_view reason) {
        if (variable.trouble.empty()) variable.trouble = reason;
    }

    static std::string unquoted(std::string_view text) {
        bool is_quoted =
            text.size() > 1 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
        return std::string(is_quoted ? text.substr(1, text.size() - 2) : text);
    }

    // : "${NAME:=value}" sets what is not set yet.
    bool take_defaults(const BashStatement& statement, const std::vector<std::string>& words) {
        if (words.front() != ":" || words.size() < 2) return false;
        for (size_t i = 1; i < words.size(); ++i) {
            std::string word = unquoted(words[i]);
            size_t equals = word.find('=');
            if (!word.starts_with("${") || !word.ends_with('}') || equals == std::string::npos) return false;
            std::string name = word.substr(2, equals - 2);
            if (name.ends_with(':')) name.pop_back();
            if (name.empty() || !std::ranges::all_of(name, is_bash_name_part)) return false;
            if (variables_.contains(name)) continue;
            std::string_view value = std::string_view(word).substr(equals + 1, word.size() - equals - 2);
            BashWord read = read_whole(value, lookup_for(name));
            read.line = statement.line;
            read.raw = words[i];
            variables_[name] = {.line = statement.line, .words = {std::move(read)}, .trouble = {}};
        }
        return true;
    }

    // What this file set itself can be taken back; what earlier files set can't.
    bool take_unset(const BashStatement& statement, const std::vector<std::string>& words) {
        if (words.front() != "unset") return false;
        bool takes_back_others = false;
        for (size_t i = 1; i < words.size(); ++i) {
            std::string name = unquoted(words[i]);
            if (name == "-f") return false;  // functions
            if (name == "-v") continue;
            bool is_plain = !name.empty() && std::ranges::all_of(name, is_bash_name_part);
            bool is_ours = is_plain ? variables_.erase(name) > 0 : spoil(name);
            if (!is_plain || (!is_ours && is_name_of_predecessor(name))) takes_back_others = true;
        }
        if (takes_back_others)
            writer_.leave_out({statement.line, statement.text}, reason_for_bash_command("unset"));
        return true;
    }

    // unset 'NAME[1]' takes a part of one away, and "$NAME" of any.
    bool spoil(std::string_view word) {
        size_t end = 0;
        while (end < word.size() && is_bash_name_part(word[end])) ++end;
        std::string_view name = word.substr(0, end);
        bool has_name = !name.empty() && end < word.size() && word[end] == '[';
        for (auto& [known, variable] : variables_) {
            if (!has_name || known == name) add_trouble(variable, "'unset' takes a part of it away");
        }
        return true;
    }

    // ---- The guard

    bool take_guard(const std::vector<std::string>& words) {
        std::optional<std::string> raw = guarded_pattern(words);
        std::optional<std::string> pattern = raw ? match_pattern(*raw) : std::nullopt;
        bool has_settings = std::ranges::any_of(
            variables_, [](const auto& entry) { return is_name_of_predecessor(entry.first); });
        return pattern && !has_settings && writer_.match(*pattern);
    }

    std::optional<std::string> match_pattern(std::string_view raw) {
        size_t at = 0;
        BashWord word = read_word(raw, at, lookup_for(""));
        bool is_known = at == raw.size() && word.trouble.empty() && !word.has_quoted_wildcard;
        bool is_path = word.text.starts_with('/') || word.text.starts_with("~/") || word.text == "~";
        bool is_writable = base::is_valid_utf8(word.text) && word.text.find('[') == std::string::npos;
        if (!is_known || !is_path || !is_writable) return std::nullopt;
        // In [[ ]] a star crosses slashes; ours does when doubled.
        std::string pattern;
        for (char letter : word.text) {
            if (letter == '*' && pattern.ends_with('*')) continue;
            pattern += letter == '*' ? "**" : std::string(1, letter);
        }
        return pattern;
    }

    // ---- Settings

    void convert() {
        for (const auto& [name, variable] : variables_) {
            const Setting* setting = find_setting(key_of_bash_variable(name));
            if (setting != nullptr) {
                convert_variable(*setting, name, variable);
            } else if (is_name_of_predecessor(name) || !used_.contains(name)) {
                writer_.leave_out({variable.line, name}, reason_for_bash_variable(name));
            }
        }
    }

    void convert_variable(const Setting& setting, const std::string& name, const Variable& variable) {
        if (!variable.trouble.empty()) return writer_.leave_out({variable.line, name}, variable.trouble);
        if (!is_list(setting.type) && (variable.is_array || variable.words.size() != 1)) {
            return writer_.leave_out({variable.line, name},
                                     std::string(setting.key) + " takes one value, not a list");
        }
        for (const BashWord& word : variable.words) {
            Source source{word.line, shown(word.raw, false)};
            // An empty scalar was the way to write an empty list, and no value.
            if (word.text.empty() && word.trouble.empty()) continue;
            if (!word.trouble.empty()) {
                writer_.leave_out(source, word.trouble);
            } else {
                writer_.set(setting, without_index(setting, word.text), source);
            }
        }
    }

    // [NAME]=value in an array literal; [0]=value where entries are only numbered.
    static std::string without_index(const Setting& setting, const std::string& text) {
        size_t close = text.starts_with('[') ? text.find("]=") : std::string::npos;
        if (close == std::string::npos) return text;
        std::string index = text.substr(1, close - 1);
        if (setting.type == Type::assignments) return index + text.substr(close + 1);
        bool is_number = index.find_first_not_of("0123456789") == std::string::npos;
        return is_number ? text.substr(close + 2) : text;
    }

    ImportWriter writer_;
    std::map<std::string, Variable> variables_;
    std::set<std::string> used_;
    size_t expanded_ = 0;   // bytes of values put in
    std::string obstacle_;  // why nothing that follows is carried over
    bool obstacle_is_final_ = false;
};

}  // namespace

Imported import_bash(std::string_view script, const ImportOptions& options) {
    return Importer(options).import(script);
}

}  // namespace config
