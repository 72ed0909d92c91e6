// SPDX-License-Identifier: MIT
#include "cli/not_found.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "config/verbs.h"
#include "plan/explain.h"

namespace cli {
namespace {

// The command's own: modules may have added to it.
std::string_view search_path(const plan::Plan& plan) {
    auto path = std::ranges::find(plan.environment.passed, "PATH", &plan::Variable::name);
    return path == plan.environment.passed.end() ? std::string_view() : path->value;
}

bool is_program(const host::Tree& tree, const base::Path& path) {
    std::optional<host::Node> node = tree.look_through(path);
    return node && node->kind == host::Kind::file && (node->mode & 0111) != 0;
}

std::optional<base::Path> find_outside(const host::Tree& tree, const plan::Plan& plan, const Caller& caller) {
    const std::string& word = plan.command.front();
    if (word.find('/') != std::string::npos) {
        base::Path path = word.front() == '/' ? base::Path() / word : caller.working_directory / word;
        return is_program(tree, path) ? std::optional(path) : std::nullopt;
    }
    for (std::string_view directory : base::split(search_path(plan), ':')) {
        if (!directory.starts_with('/')) continue;
        base::Path path = base::Path() / directory / word;
        if (is_program(tree, path)) return path;
    }
    return std::nullopt;
}

std::string verb_hint(const std::string& word) {
    std::vector<std::string_view> names;
    for (const config::Verb& verb : config::verbs()) names.push_back(verb.name);
    std::string near = base::nearest(word, names);
    return near.empty() ? "" : "did you mean agent-sandbox " + near + "?";
}

// The directory to show is that of the program itself, which a link on PATH may only lead to.
std::string flag_hint(const plan::Plan& plan, const host::Tree& tree, const base::Path& program) {
    base::Result<host::Tree::Resolved> resolved = tree.resolve(program);
    base::Path target = resolved ? resolved->path : program;
    std::string flags;
    for (const base::Path& path : {program, target}) {
        plan::Explanation explanation = plan::explain_path(plan, tree, path.parent(), false);
        std::string flag = " --ro " + base::shell_word(path.parent().str());
        if (explanation.is_allowed || flags.find(flag) != std::string::npos) continue;
        if (explanation.change.empty()) return {};
        flags += flag;
    }
    return flags;
}

}  // namespace

base::Error with_hint(base::Error error, const Planned& planned, const Caller& caller) {
    if (error.exit_code != base::ExitCode::not_found || planned.plan.command.empty()) return error;
    const std::string& word = planned.plan.command.front();
    const host::Tree& tree = caller.disk;
    std::optional<base::Path> program = find_outside(tree, planned.plan, caller);
    if (!program) {
        std::string hint = verb_hint(word);
        error.advice = hint.empty() ? "it is not there outside the jail either" : hint;
        return error;
    }
    std::string flags = flag_hint(planned.plan, tree, *program);
    if (flags.empty()) return error;
    error.advice = "it is outside the jail, at " + program->str() + "; show it with" + flags;
    return error;
}

}  // namespace cli
