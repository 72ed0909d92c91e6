// SPDX-License-Identifier: MIT
#include "import/bash.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "config/data.h"
#include "config/value.h"
#include "import/bash_guards.h"
#include "import/bash_values.h"
#include "import/import.h"

namespace config {
namespace {

using Source = ImportWriter::Source;

// A ceiling applies to every user, so the file is evaluated for a user that does not exist.
constexpr std::string_view kAnyHome = "/home/agent-sandbox-import";
constexpr std::string_view kAnyUser = "agent-sandbox-import";

constexpr std::string_view kNotUnderstood =
    "the file uses _PROJECT_DIR in a way that is not understood, so nothing in it is certain to count for "
    "every project: write it into a file of its own with [match]";
constexpr std::string_view kDepends =
    "its value depends on the project's directory: write it into a file of its own with [match]";
constexpr std::string_view kSkipped =
    "the file sets it here under a condition that does not hold on this machine";

// The built-in entries of the setting that the file does not name; they stay in effect.
std::vector<std::string> built_in_entries(const Setting& setting, const std::vector<std::string>& named) {
    std::vector<std::string> entries;
    if (!setting.fallback.starts_with('@')) return entries;
    for (const DataRow& row : data_list(setting.fallback.substr(1))) {
        std::string entry(row.entry);
        if (std::ranges::find(named, entry) == named.end()) entries.push_back(std::move(entry));
    }
    return entries;
}

class Importer {
  public:
    Importer(std::string_view text, const ImportOptions& options)
        : text_(text), options_(options), guards_(find_bash_guards(text)), writer_(options) {}

    base::Result<Imported> import() {
        base::Result<BashEvaluation> evaluation = evaluate();
        if (!evaluation) return evaluation.error();
        const std::vector<BashRun>& runs = evaluation->runs;
        for (const BashRun& run : runs) {
            if (!run.is_whole)
                return base::Error{.what =
                                       "bash does not reach the end of it: 'exit', 'set -e' or an error "
                                       "stops it before",
                                   .advice = "remove that, and import again"};
        }
        tell_failures(*evaluation);
        convert(chosen(runs));
        tell_skipped(runs);
        tell_unknown(runs.front().variables);
        writer_.remark("Commands and conditions in it were evaluated here, in a jail without a network.");
        return writer_.finish("a sandbox.conf");
    }

  private:
    base::Result<BashEvaluation> evaluate() {
        bool is_admin = options_.for_administrator;
        std::vector<std::string> arguments = {is_admin ? std::string(kAnyHome) : "",
                                              is_admin ? std::string(kAnyUser) : ""};
        if (guards_.is_understood)
            arguments.insert(arguments.end(), guards_.patterns.begin(), guards_.patterns.end());
        base::Result<std::string> printed = options_.run_bash(text_, arguments);
        return printed ? parse_bash_evaluation(*printed) : base::Result<BashEvaluation>(printed.error());
    }

    // ---- The choice of a run

    static bool has_settings(const BashRun& run) {
        return std::ranges::any_of(run.variables,
                                   [](const auto& entry) { return is_name_of_predecessor(entry.first); });
    }

    // The variables to carry over. The first run is the one for a directory that the file does not name.
    BashVariables chosen(const std::vector<BashRun>& runs) {
        const BashRun& first = runs.front();
        if (!guards_.is_understood) {
            leave_out_all(first.variables, kNotUnderstood);
            return {};
        }
        const BashRun* guarded = nullptr;
        size_t with_settings = 0;
        for (const BashRun& run : runs) {
            if (&run == &first || !has_settings(run)) continue;
            ++with_settings;
            guarded = &run;
        }
        bool is_guarded = !has_settings(first) && with_settings == 1;
        if (is_guarded && match(guarded->pattern)) return guarded->variables;
        return common(runs);
    }

    // The variables that all runs set to the same value; the others are left out.
    BashVariables common(const std::vector<BashRun>& runs) {
        BashVariables variables = runs.front().variables;
        std::set<std::string> differing;
        for (const BashRun& run : runs) {
            for (const auto& [name, variable] : run.variables) {
                auto known = variables.find(name);
                if (known == variables.end() || known->second != variable) differing.insert(name);
            }
            for (const auto& [name, variable] : variables) {
                if (!run.variables.contains(name)) differing.insert(name);
            }
        }
        for (const std::string& name : differing) {
            if (is_name_of_predecessor(name)) leave_out(name, name, kDepends);
            variables.erase(name);
        }
        return variables;
    }

    bool match(std::string_view path) {
        std::string text = with_tilde(path);
        bool is_path = text.starts_with('/') || text.starts_with("~/") || text == "~";
        if (!is_path || !base::is_valid_utf8(text)) return false;
        // In [[ ]] a star crosses slashes; ours does when doubled.
        std::string pattern;
        for (char letter : text) {
            if (letter == '*' && pattern.ends_with('*')) continue;
            pattern += letter == '*' ? "**" : std::string(1, letter);
        }
        return writer_.match(pattern);
    }

    // ---- Settings

    void convert(const BashVariables& variables) {
        for (const auto& [name, variable] : variables) {
            if (!is_name_of_predecessor(name)) continue;
            const Setting* setting = find_setting(key_of_bash_variable(name));
            if (setting == nullptr) {
                leave_out(name, name, reason_for_bash_variable(name));
            } else {
                convert_variable(*setting, name, variable);
            }
        }
    }

    void convert_variable(const Setting& setting, const std::string& name, const BashVariable& variable) {
        if (!is_list(setting.type) && variable.values.size() != 1)
            return leave_out(name, name, base::format("{} takes one value, not a list", setting.key));
        for (const std::string& value : variable.values) {
            // The predecessor used an empty text for an empty list or for no value.
            if (value.empty()) continue;
            convert_value(setting, name, value);
        }
        if (is_list(setting.type)) tell_replaced(setting, name, variable);
    }

    void convert_value(const Setting& setting, const std::string& name, const std::string& value) {
        if (value.find('\x01') != std::string::npos)
            return leave_out(name, name, "it adds to a value that is not known here");
        bool is_path = setting.type != Type::assignments;
        std::string text = is_path ? with_tilde(value) : value;
        if (options_.for_administrator && text.find(kAnyUser) != std::string::npos)
            return leave_out(name, name + " (" + value + ")",
                             "it depends on the user, and a ceiling holds for all of them");
        writer_.set(setting, text, {line_of(name), name + " (" + value + ")"});
    }

    // In the predecessor "X=(…)" replaced a list; here it adds to the built-in list.
    void tell_replaced(const Setting& setting, const std::string& name, const BashVariable& variable) {
        if (variable.is_added_to || setting.order == Order::list_restricts) return;
        std::vector<std::string> named;
        for (const std::string& value : variable.values) {
            base::Result<std::string> text = canonical_text(setting, with_tilde(value));
            if (text) named.push_back(*std::move(text));
        }
        std::vector<std::string> stays = built_in_entries(setting, named);
        if (!stays.empty()) {
            leave_out(name, name + " without further entries",
                      base::format("entries of {} add to the built-in ones: {} more stay, {} among them; "
                                   "mounts.hidden closes what must not be seen",
                                   setting.key, stays.size(), stays.front()));
        } else if (setting.key == "env.allow") {
            leave_out(name, name + " without further entries",
                      "the variables that the profile of an agent names pass too; env.block names those that "
                      "must not");
        } else if (variable.values.empty()) {
            leave_out(name, name + "=()", "an empty list can't be written here");
        }
    }

    std::string with_tilde(std::string_view text) const {
        std::string_view home = options_.for_administrator ? kAnyHome : std::string_view(options_.home);
        bool is_below = !home.empty() && text.starts_with(home) &&
                        (text.size() == home.size() || text[home.size()] == '/');
        return is_below ? base::format("~{}", text.substr(home.size())) : std::string(text);
    }

    // ---- Entries that are left out

    void leave_out(const std::string& name, const std::string& shown, std::string_view reason) {
        writer_.leave_out({line_of(name), shown}, reason);
    }

    void leave_out_all(const BashVariables& variables, std::string_view reason) {
        for (const auto& [name, variable] : variables) {
            if (is_name_of_predecessor(name)) leave_out(name, name, reason);
        }
    }

    // Errors of bash or of commands in the file: a value may be missing because of them.
    void tell_failures(const BashEvaluation& evaluation) {
        std::set<int> lines;
        for (const std::string& failed : evaluation.runs.front().failed) {
            size_t colon = failed.find(':');
            int line = std::atoi(failed.substr(0, colon).c_str());
            if (!lines.insert(line).second) continue;
            writer_.leave_out({line, failed.substr(colon + 1)},
                              "this command failed where the file was evaluated: its effect is missing");
        }
        std::set<std::string_view> known;
        for (std::string_view error : base::split(evaluation.errors, '\n')) {
            size_t start = error.find(": line ");
            if (start == std::string_view::npos) continue;
            int line = std::atoi(std::string(error.substr(start + 7)).c_str());
            if (line == 0 || lines.contains(line) || !known.insert(error).second) continue;
            size_t text = error.find(": ", start + 7);
            std::string_view shown = text == std::string_view::npos ? error : error.substr(text + 2);
            writer_.leave_out({line, std::string(shown)}, "bash said this where the file was evaluated");
        }
    }

    // Assignments in the text that no run executed.
    void tell_skipped(const std::vector<BashRun>& runs) {
        for (std::string_view view : names_of_predecessor()) {
            std::string name(view);
            std::vector<int> lines = lines_of_assignments(text_, name);
            std::set<int> made;
            for (const BashRun& run : runs) {
                for (const std::string& assigned : run.assigned) {
                    if (lines_of_assignments(assigned.substr(assigned.find(':') + 1), name).empty()) continue;
                    // bash reports the last line of a command.
                    auto after = std::ranges::upper_bound(lines, std::atoi(assigned.c_str()));
                    if (after != lines.begin()) made.insert(*(after - 1));
                }
            }
            for (int line : lines) {
                if (!made.contains(line)) writer_.leave_out({line, name}, kSkipped);
            }
        }
    }

    int line_of(const std::string& name) const {
        std::vector<int> lines = lines_of_assignments(text_, name);
        return lines.empty() ? 0 : lines.front();
    }

    // Variables that the predecessor did not have, except those that the file uses itself.
    void tell_unknown(const BashVariables& variables) {
        for (const auto& [name, variable] : variables) {
            bool is_helper = name.starts_with('_') || expands_variable(text_, name) || line_of(name) == 0;
            if (!is_helper && !is_name_of_predecessor(name))
                leave_out(name, name, reason_for_bash_variable(name));
        }
    }

    std::string_view text_;
    const ImportOptions& options_;
    BashGuards guards_;
    ImportWriter writer_;
};

}  // namespace

base::Result<Imported> import_bash(std::string_view text, const ImportOptions& options) {
    if (!options.run_bash) return base::Error{.what = "a sandbox.conf needs bash, which is not here"};
    if (text.find('\0') != std::string_view::npos)
        return base::Error{.what = "it holds NUL bytes, so it can't be a shell file"};
    std::string lines;
    for (size_t i = 0; i < text.size(); ++i) {
        bool ends_line = text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
        if (!ends_line) lines += text[i];
    }
    return Importer(lines, options).import();
}

}  // namespace config
