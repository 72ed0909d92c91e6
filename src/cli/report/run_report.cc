// SPDX-License-Identifier: MIT
#include "cli/report/run_report.h"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "base/parse.h"
#include "base/text.h"
#include "cli/verbs.h"
#include "plan/print/explain.h"

namespace cli {
namespace {

bool is_program(const host::Tree& tree, const base::Path& path) {
    std::optional<host::Node> node = tree.look_through(path);
    return node && node->kind == host::Kind::file && (node->mode & 0111) != 0;
}

// An entry in PATH may be a symbolic link; the program is its target.
base::Path target_of(const host::Tree& tree, const base::Path& program) {
    base::Result<host::Tree::Resolved> resolved = tree.resolve(program);
    return resolved ? resolved->path : program;
}

}  // namespace

std::optional<base::Path> find_program(const host::Tree& tree, const Lookup& lookup,
                                       const std::string& word) {
    if (word.find('/') != std::string::npos) {
        base::Path path = word.front() == '/' ? base::Path() / word : lookup.working_directory / word;
        return is_program(tree, path) ? std::optional(path) : std::nullopt;
    }
    for (std::string_view directory : base::split(lookup.search_path, ':')) {
        if (!directory.starts_with('/')) continue;
        base::Path path = base::Path() / directory / word;
        if (is_program(tree, path)) return path;
    }
    return std::nullopt;
}

bool is_visible(const plan::Plan& plan, const host::Tree& tree, const base::Path& program) {
    return plan::explain_path(plan, tree, program, false).is_allowed &&
           plan::explain_path(plan, tree, target_of(tree, program), false).is_allowed;
}

std::string flags_that_show(const plan::Plan& plan, const host::Tree& tree, const base::Path& program) {
    std::string flags;
    for (const base::Path& path : {program, target_of(tree, program)}) {
        plan::Explanation explanation = plan::explain_path(plan, tree, path.parent(), false);
        std::string flag = " --ro " + base::shell_word(path.parent().str());
        if (explanation.is_allowed || flags.find(flag) != std::string::npos) continue;
        if (explanation.change.empty()) return {};
        flags += flag;
    }
    return flags;
}

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
    if (word.find('/') != std::string::npos) return "the file does not exist outside the jail either";
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
        const std::vector<config::Profile>& agents = planned.settings.agents.chosen;
        error.advice = agents.size() == 1
                           ? agents.front().title +
                                 " is not installed in PATH here: install it as usual, outside the jail"
                           : hint_for_nothing(word, caller);
        return error;
    }
    std::string flags = flags_that_show(planned.plan, tree, *program);
    if (flags.empty()) return error;
    error.advice = base::format("it is outside the jail, at {}; show it with{}", program->str(), flags);
    return error;
}

namespace {

using session::LateFinding;
using Report = session::SearchProgress::Report;

std::string seconds(std::chrono::milliseconds time) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f s", static_cast<double>(time.count()) / 1000);
    return text;
}

// The first three findings of a kind, each with its time after the start.
std::string examples(const Report& search, const plan::Plan& plan, LateFinding::Kind kind) {
    constexpr size_t kShown = 3;
    std::vector<std::string> names;
    size_t count = 0;
    for (const LateFinding& finding : search.findings) {
        if (finding.kind != kind || ++count > kShown) continue;
        bool is_inside = finding.path.is_within(plan.project);
        std::string name(is_inside ? finding.path.relative_to(plan.project) : finding.path.str());
        names.push_back(base::format("{} after {}", base::printable(name), seconds(finding.after)));
    }
    if (names.empty()) return "";
    return base::format(" ({}{})", base::join(names, ", "), count > kShown ? ", …" : "");
}

}  // namespace

void tell_search(const Output& output, const Report& search, const Planned& planned) {
    const plan::Plan& plan = planned.plan;
    auto named = [&](LateFinding::Kind kind) { return examples(search, plan, kind); };
    if (search.has_failed)
        output.protection(
            "the project was not searched after the start: files to mask may have been readable");
    if (search.is_unwatched)
        output.protection(
            "the limit of inotify watches was reached (fs.inotify.max_user_watches): a name that appeared in "
            "the project was open for ten seconds or more");
    if (search.masked > 0)
        output.protection(
            base::format("{} could be read until the search masked {}{}; from now on a launch masks {} first",
                         base::counted(search.masked, "file", "files"), search.masked == 1 ? "it" : "them",
                         named(LateFinding::Kind::masked), search.masked == 1 ? "it" : "them"));
    if (search.repositories > 0)
        output.protection(base::format(
            "{} found after the start and made read-only{}; git can write there from the next start on",
            base::counted(search.repositories, "repository was", "repositories were"),
            named(LateFinding::Kind::repository)));
    if (search.held > 0)
        output.protection(
            base::format("{} had a repository open when it was made read-only, and was killed{}",
                         base::counted(search.held, "process", "processes"), named(LateFinding::Kind::held)));
    if (search.closed > 0)
        output.protection(
            base::format("{} closed after the start: nested too deep, or with too many files to mask{}",
                         base::counted(search.closed, "directory was", "directories were"),
                         named(LateFinding::Kind::closed)));
    if (search.open > 0)
        output.protection(base::format("{} could not be covered{}: look at what the jail did there",
                                       base::counted(search.open, "name", "names"),
                                       named(LateFinding::Kind::open)));
    if (search.replaced > 0)
        output.protection(base::format("{} replaced outside and covered again{}",
                                       base::counted(search.replaced, "masked file was", "masked files were"),
                                       named(LateFinding::Kind::replaced)));
    if (search.appeared > 0)
        output.information(base::format("{} covered when it appeared{}",
                                        base::counted(search.appeared, "name was", "names were"),
                                        named(LateFinding::Kind::appeared)));
    if (!plan.search.is_complete && !search.is_complete && !search.has_failed)
        output.warning(
            base::format("the session ended before the whole project was searched ({} files): others may "
                         "have been readable",
                         search.entries));
}

}  // namespace cli
