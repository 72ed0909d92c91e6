// SPDX-License-Identifier: MIT
#include "cli/sessions/attach.h"

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/sessions/sessions.h"
#include "session/detached/attach_client.h"
#include "session/detached/detached_run.h"
#include "session/detached/keys.h"
#include "session/detached/logout.h"
#include "session/session.h"

namespace cli {
namespace {

constexpr std::string_view kDetachKeys = "detach.keys";

// Once, and again if the reason changes. A file in the state directory has the last one.
void tell_logout(const Invocation& call) {
    base::Result<Workspace> workspace = find_workspace(call.caller, call.arguments);
    if (!workspace) return;
    std::string reason =
        session::reason_for_end_at_logout(session::read_logout_facts(workspace->identity.user));
    const std::string path = workspace->files.state_directory + "/told-logout";
    base::Result<std::string> told = base::read_file(path);
    if (reason.empty() || (told && *told == reason)) return;
    call.output.warning(base::format("systemd will end this session when you log out: {}", reason));
    if (base::make_directories(workspace->files.state_directory))
        (void)base::write_file_atomically(path, reason);
}

base::Result<session::Known> choose_detached(const Invocation& call) {
    base::Result<Sessions> sessions = find_sessions(call);
    if (!sessions) return sessions.error();
    // A session that is named is refused by itself, with the reason.
    if (!call.arguments.words.empty()) return choose_session(call, sessions->known);
    std::vector<session::Known> detached;
    for (const session::Known& known : sessions->known) {
        if (!known.metadata.text("terminal").empty()) detached.push_back(known);
    }
    if (detached.empty() && !sessions->known.empty())
        return base::Error{.what = "no session was started with --detach",
                           .advice = "agent-sandbox exec runs a further command in a session"};
    return choose_session(call, detached);
}

int finish(const Invocation& call, const session::Known& known, const session::Attached& attached) {
    using End = session::Attached::End;
    const std::string id = short_id(known);
    switch (attached.end) {
        case End::detached:
            call.output.information(
                base::format("session {} goes on; 'agent-sandbox attach {}' connects it again", id, id));
            return 0;
        case End::taken:
            call.output.warning(base::format("another terminal has taken session {}", id));
            return static_cast<int>(base::ExitCode::check_failed);
        case End::lost:
            call.output.warning(
                base::format("the process that holds the terminal of session {} has ended", id));
            return static_cast<int>(base::ExitCode::jail_failed);
        case End::signal:
            return session::exit_code_of(
                {.exit_code = session::kSignalBase + attached.number, .by_signal = true});
        case End::session:
            call.output.information(base::format("session {} has ended", id));
            return attached.by_signal ? session::kSignalBase + attached.number : attached.number;
    }
    return 0;
}

}  // namespace

int run_detached(const Invocation& call, const std::function<int(const Invocation&)>& run) {
    if (call.caller.job)
        return call.output.fail(as_refusal({.what = "--detach has no meaning in a job of Slurm",
                                            .advice = "leave it out: a job has no terminal"}));
    tell_logout(call);
    base::Result<session::DetachedRun::Forked> forked = session::DetachedRun::fork();
    if (!forked) return call.output.fail(as_refusal(forked.error()));
    if (forked->supervisor) {
        Caller caller = call.caller;
        caller.detached = &*forked->supervisor;
        return run({caller, call.arguments, call.output});
    }
    if (forked->session.empty()) return forked->exit_code;
    const std::string id = forked->session.substr(0, session::kShortId);
    return call.output.result(id + "\n");
}

int attach_verb(const Invocation& call) {
    if (call.arguments.words.size() > 1)
        return call.output.fail(
            as_refusal({.what = "attach takes one session", .advice = usage_of(kAttachVerb)}));
    base::Result<Settings> settings = load_settings(call.caller, call.arguments);
    if (!settings) return call.output.fail(as_refusal(settings.error()));
    base::Result<session::DetachKeys> keys =
        session::DetachKeys::parse(settings->effective.text(kDetachKeys));
    if (!keys) return call.output.fail(as_refusal(keys.error()));
    base::Result<session::Known> known = choose_detached(call);
    if (!known) return call.output.fail(as_refusal(known.error()));
    base::Result<session::Attached> attached = session::attach_to_session(
        *known, {.keys = *std::move(keys), .takes = call.arguments.has_own("--take")});
    if (!attached) return call.output.fail(attached.error());
    return finish(call, *known, *attached);
}

}  // namespace cli
