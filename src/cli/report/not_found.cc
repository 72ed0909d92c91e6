// SPDX-License-Identifier: MIT
#include "cli/report/not_found.h"

#include <algorithm>
#include <optional>

#include "base/format.h"
#include "base/parse.h"
#include "base/text.h"
#include "cli/find_program.h"
#include "cli/verbs.h"

namespace cli {
namespace {

// PATH of the command: modules may have added to it.
std::string_view search_path(const plan::Plan& plan) {
    auto path = std::ranges::find(plan.environment.passed, "PATH", &plan::Variable::name);
    return path == plan.environment.passed.end() ? std::string_view() : path->value;
}

bool is_assignment(std::string_view word) {
    size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0) return false;
    return std::ranges::all_of(word.substr(0, equals), base::is_name_character);
}

// Short commands are often within two letters of some verb, so allow only one there.
std::string nearest_verb(const std::string& word) {
    constexpr size_t kShort = 6;
    std::vector<std::string_view> names;
    for (const Verb& verb : verbs()) names.push_back(verb.name);
    return base::nearest(word, names, word.size() <= kShort ? 1 : 2);
}

}  // namespace

std::string hint_for_nothing(const std::string& word, const Caller& caller) {
    if (word.find(' ') != std::string::npos)
        return "it is one word with a blank: leave the quotes out, or write sh -c " + base::shell_word(word);
    if (is_assignment(word))
        return base::format("to set a variable, write --env {} before the command", base::shell_word(word));
    if (word.find('/') != std::string::npos) return "there is no such file outside the jail either";
    if (std::optional<host::Node> node = caller.disk.look_through(caller.working_directory / word);
        node && node->kind == host::Kind::file) {
        return base::format("there is ./{}, which is not in PATH: agent-sandbox ./{}", word,
                            base::shell_word(word));
    }
    std::string nowhere = "it is not there outside the jail either: install it, or look at PATH";
    std::string near = nearest_verb(word);
    return near.empty() ? nowhere : base::format("{}; or did you mean agent-sandbox {}?", nowhere, near);
}

base::Error with_hint(base::Error error, const Planned& planned, const Caller& caller) {
    if (error.exit_code != base::ExitCode::not_found || planned.plan.command.empty()) return error;
    const std::string& word = planned.plan.command.front();
    const host::Tree& tree = caller.disk;
    std::optional<base::Path> program =
        find_program(tree, {search_path(planned.plan), caller.working_directory}, word);
    if (!program) {
        const std::optional<config::Profile>& agent = planned.settings.agents.chosen;
        error.advice =
            agent ? agent->title + " is not installed in PATH here: install it as usual, outside the jail"
                  : hint_for_nothing(word, caller);
        return error;
    }
    std::string flags = flags_that_show(planned.plan, tree, *program);
    if (flags.empty()) return error;
    error.advice = base::format("it is outside the jail, at {}; show it with{}", program->str(), flags);
    return error;
}

}  // namespace cli
