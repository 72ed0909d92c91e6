// SPDX-License-Identifier: MIT
// `exec [SESSION] [-- COMMAND]`: one more command in a running session, with the caller's streams or a
// terminal of its own; with --json its output and its end as one object.
#include <cstdio>
#include <optional>
#include <string>

#include "base/text.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/sessions/exec_result.h"
#include "cli/sessions/records.h"
#include "cli/sessions/sessions.h"
#include "cli/verbs.h"
#include "config/value.h"
#include "host/facts.h"
#include "session/control/exec_client.h"
#include "session/control/known_sessions.h"
#include "session/session.h"

namespace cli {
namespace {

constexpr std::string_view kPassed = "env.allow";
constexpr std::string_view kSet = "env.set";

// TERM for a program that draws, and what --env names.
base::Result<std::vector<std::string>> variables_of(const Invocation& call) {
    std::vector<std::string> variables;
    const std::vector<std::string>& environment = call.caller.environment;
    if (auto term = host::variable(environment, "TERM")) variables.push_back("TERM=" + std::string(*term));
    for (const auto& [key, value] : call.arguments.settings) {
        if (key.starts_with("ui.")) continue;
        if (key != kPassed && key != kSet)
            return base::Error{.what = value.origin.describe() + " has no meaning for exec",
                               .advice = "the settings of a session are those of its start"};
        for (const config::Item& item : value.items) {
            std::optional<std::string_view> text =
                key == kPassed ? host::variable(environment, item.text) : std::nullopt;
            if (key == kPassed && !text)
                return base::Error{.what = base::format("the variable {} is not set here", item.text),
                                   .advice = base::format("write --env {}=VALUE", item.text)};
            variables.push_back(text ? base::format("{}={}", item.text, *text) : item.text);
        }
    }
    return variables;
}

std::vector<std::string> shell_of(const Invocation& call) {
    return {std::string(host::variable(call.caller.environment, "SHELL").value_or("/bin/sh"))};
}

int exit_status_of(const session::AddedEnding& ending) {
    return session::exit_code_of({.exit_code = ending.exit_code, .by_signal = ending.by_signal});
}

// A command that did not start has no result, only an error.
int print_result(const Invocation& call, const session::Known& known, session::AddedCall added) {
    base::Result<Workspace> workspace = find_workspace(call.caller, call.arguments);
    if (!workspace) return call.output.fail(as_refusal(workspace.error()));
    audit::UserDirectories directories = user_directories_of(*workspace);
    if (base::Result<base::Path> path = base::Path::parse(known.metadata.text("project")))
        directories.project = *path;
    RefusedMeanwhile refused(known, std::move(directories));
    session::CapturedOutput output;
    added.captured = &output;
    base::Result<session::AddedEnding> ending = session::exec_in_session(known, added);
    if (!ending) return call.output.fail(ending.error());
    // The gateway answers after it has written the lines of what it refused before.
    if (!ending->with_session) (void)session::ask_session(known, base::Json::object().set("do", "status"));
    base::Json result = base::Json::object().set("session", known.id);
    const base::Json about = exec_result(*ending, output);
    for (const auto& [key, value] : about.members()) result.set(key, value);
    result.set("refused", refused.take());
    const int failed = call.output.result(result.dump() + "\n");
    return failed != 0 ? failed : exit_status_of(*ending);
}

}  // namespace

int exec_verb(const Invocation& call) {
    const Arguments& arguments = call.arguments;
    if (arguments.words.size() > 1) {
        return call.output.fail(
            {.what = "exec takes one session, and the command after --", .advice = usage_of(kExecVerb)});
    }
    base::Result<Sessions> sessions = find_sessions(call);
    if (!sessions) return call.output.fail(as_refusal(sessions.error()));
    base::Result<session::Known> known = choose_session(call, sessions->known);
    if (!known) return call.output.fail(as_refusal(known.error()));
    base::Result<std::vector<std::string>> variables = variables_of(call);
    if (!variables) return call.output.fail(variables.error());
    session::AddedCall added = {.command = arguments.command.empty() ? shell_of(call) : arguments.command,
                                .environment = *std::move(variables),
                                .directory = arguments.own_value("--cwd"),
                                .wants_streams = arguments.has_own("--streams")};
    if (arguments.wants_json) return print_result(call, *known, std::move(added));
    base::Result<session::AddedEnding> ending = session::exec_in_session(*known, added);
    if (!ending) return call.output.fail(ending.error());
    if (ending->with_session)
        call.output.warning(base::format("session {} has ended, and the command with it", short_id(*known)));
    if (!ending->lost_output.empty()) call.output.warning(ending->lost_output);
    return exit_status_of(*ending);
}

}  // namespace cli
