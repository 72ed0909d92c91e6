// SPDX-License-Identifier: MIT
#include "modules/load.h"

#include <algorithm>
#include <map>

#include "base/format.h"
#include "base/text.h"
#include "modules/answer.h"
#include "modules/command_environment.h"
#include "modules/run.h"

namespace modules {
namespace {

constexpr size_t kLongestQuote = 300;
constexpr std::string_view kHeadings[] = {"Lmod has detected the following error:", "ERROR:"};
// Search paths for programs and libraries; modules add directories of their software trees.
constexpr std::string_view kSearchPaths[] = {"PATH", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH"};
constexpr std::string_view kModulePath = "MODULEPATH";

// The first paragraph of the command's messages in one line; general advice follows after an empty line.
std::string in_quotes(std::string_view words) {
    std::string line;
    for (std::string_view part : base::split(base::trim(words), '\n')) {
        part = base::trim(part);
        if (part.empty()) break;
        if (!line.empty()) line += ' ';
        line += part;
    }
    for (std::string_view heading : kHeadings) {
        if (line.starts_with(heading)) line = base::trim(std::string_view(line).substr(heading.size()));
    }
    bool is_long = line.size() > kLongestQuote;
    return base::printable(is_long ? line.substr(0, kLongestQuote) + " …" : line);
}

std::string_view name_of(std::string_view entry) {
    return entry.substr(0, entry.find('='));
}

// The last change of each variable counts.
std::map<std::string, std::optional<std::string>> last_changes(const Answer& answer) {
    std::map<std::string, std::optional<std::string>> changes;
    for (const Change& change : answer.changes) changes[change.name] = change.value;
    return changes;
}

void find_search_places(const std::vector<std::string>& before, Loaded& loaded) {
    auto value_in = [](const std::vector<std::string>& environment, std::string_view name) {
        for (std::string_view entry : environment) {
            if (name_of(entry) == name) return entry.substr(std::min(name.size() + 1, entry.size()));
        }
        return std::string_view();
    };
    for (std::string_view name : kSearchPaths) {
        std::vector<std::string_view> known = base::split(value_in(before, name), ':');
        for (std::string_view part : base::split(value_in(loaded.environment, name), ':')) {
            bool is_new = part.starts_with('/') && std::ranges::find(known, part) == known.end();
            if (is_new) loaded.search_places.emplace_back(part);
        }
    }
}

Loaded apply(const std::vector<std::string>& environment, const Answer& answer,
             const std::vector<Withheld>& withheld) {
    const auto changes = last_changes(answer);
    Loaded loaded;
    for (const std::string& entry : environment) {
        if (!changes.contains(std::string(name_of(entry)))) loaded.environment.push_back(entry);
    }
    for (const auto& [name, value] : changes) {
        if (!value) continue;
        loaded.environment.push_back(base::format("{}={}", name, with_withheld(name, *value, withheld)));
        loaded.set.push_back(name);
    }
    find_search_places(environment, loaded);
    return loaded;
}

std::string advice_for(const std::vector<std::string>& withheld) {
    if (withheld.empty()) return "see 'module avail' and 'module spider'";
    return base::format(
        "module files in {} are not read: the jail can write there, and they would run outside it",
        base::printable(base::join(withheld, ", ")));
}

}  // namespace

base::Result<Loaded> load(const host::Tree& tree, const std::vector<std::string>& environment,
                          const LoadRequest& request) {
    base::Result<base::Path> command = find_command(tree, environment, request.command);
    if (!command) return command.error();
    CommandEnvironment prepared = make_command_environment(tree, environment, request.writable);
    std::vector<std::string> withheld;
    for (const Withheld& part : prepared.withheld) {
        if (part.variable == kModulePath) withheld.push_back(part.part);
    }

    std::vector<std::string> arguments = {"python", "load"};
    arguments.insert(arguments.end(), request.names.begin(), request.names.end());
    base::Result<Output> output = run_command(*command, arguments, prepared.variables);
    if (!output) return output.error();
    base::Result<Answer> answer = parse_answer(output->answer);
    bool has_failed = output->exit_code != 0 || (answer && answer->has_failed);
    if (has_failed) {
        std::string words = in_quotes(output->words);
        if (words.empty()) words = "the module command ended with " + std::to_string(output->exit_code);
        return base::Error{.what = "no module was loaded: " + words, .advice = advice_for(withheld)};
    }
    if (!answer) return answer.error();

    Loaded loaded = apply(environment, *answer, prepared.withheld);
    loaded.said = in_quotes(output->words);
    loaded.withheld = std::move(withheld);
    return loaded;
}

}  // namespace modules
