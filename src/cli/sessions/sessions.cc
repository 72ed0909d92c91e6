// SPDX-License-Identifier: MIT
#include "cli/sessions/sessions.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "base/encoding/json.h"
#include "base/file.h"
#include "base/inside/jail_files.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "monitor/cells.h"
#include "monitor/screen.h"
#include "monitor/terminal.h"
#include "session/control/known_sessions.h"
#include "session/directories.h"
#include "session/helpers/notices.h"

namespace cli {

base::Result<Sessions> find_sessions(const Invocation& call, session::DeadSessions dead) {
    if (base::file_exists(base::own_path(base::kOwnProgram))) {
        return base::Error{.what = call.arguments.verb + " is for the outside of a jail",
                           .advice = "call it in another terminal",
                           .exit_code = base::ExitCode::usage};
    }
    base::Result<Workspace> workspace = find_workspace(call.caller, call.arguments);
    if (!workspace) return workspace.error();
    Sessions sessions;
    sessions.places =
        session::runtime_places(host::variable(call.caller.environment, "XDG_RUNTIME_DIR").value_or(""),
                                workspace->files.state_directory);
    sessions.home = workspace->identity.home.str();
    sessions.known = session::known_sessions(sessions.places, dead);
    return sessions;
}

namespace {

bool is_in_project(const session::Known& known, const base::Path& directory) {
    base::Result<base::Path> project = base::Path::parse(known.metadata.text("project"));
    return project && directory.is_within(*project);
}

}  // namespace

base::Error as_refusal(base::Error error) {
    error.exit_code = base::ExitCode::jail_failed;
    return error;
}

base::Result<session::Known> choose_session(const Invocation& call,
                                            const std::vector<session::Known>& known) {
    const std::vector<std::string>& words = call.arguments.words;
    if (!words.empty()) return session::find_among(known, words.front());
    std::vector<session::Known> here;
    for (const session::Known& one : known) {
        if (is_in_project(one, call.caller.working_directory)) here.push_back(one);
    }
    return session::find_among(here.size() == 1 ? here : known, "");
}

int wrong_words(const Invocation& call, std::string what) {
    return call.output.fail({.what = std::move(what),
                             .advice = usage_of(call.arguments.verb),
                             .exit_code = base::ExitCode::usage});
}

std::string short_id(const session::Known& known) {
    return known.id.substr(0, session::kShortId);
}

// `ps`: lists running sessions. It reads only their directories, so it does not have to contact them.

namespace {

using monitor::padded;
using session::Known;

// Published ports, "8080,8081:80"; empty without a published port.
std::string ports_of(const Known& known) {
    std::vector<std::string> ports;
    for (const base::Json& port : known.metadata.items("published")) {
        if (port.as_text()) ports.push_back(base::printable(*port.as_text()));
    }
    return base::join(ports, ",");
}

// The column of the ports has no cells if no session publishes one.
std::string line_of(const std::vector<std::string>& cells, size_t ports, size_t width) {
    std::string line =
        base::format("{} {}  {} {} ", padded(cells[0], session::kShortId), monitor::padded_left(cells[1], 6),
                     padded(cells[2], 8), padded(cells[3], 9));
    if (ports > 0) line += padded(cells[6], ports) + " ";
    size_t left = width > monitor::cells_of(line) ? width - monitor::cells_of(line) : 0;
    size_t project = left * 2 / 5;
    line += padded(cells[4], project) + " ";
    return line + monitor::cut(cells[5], left > project ? left - project - 1 : 0);
}

std::string text_of(const Sessions& sessions, size_t width) {
    constexpr size_t kWidestPorts = 24;
    size_t ports = 0;
    for (const Known& known : sessions.known) ports = std::max(ports, ports_of(known).size());
    if (ports > 0) ports = std::clamp<size_t>(ports, std::string_view("PORTS").size(), kWidestPorts);
    std::string text =
        line_of({"ID", "AGE", "BACKEND", "NETWORK", "PROJECT", "COMMAND", "PORTS"}, ports, width) + "\n";
    for (const Known& known : sessions.known) {
        const base::Json& metadata = known.metadata;
        const bool is_elsewhere = known.state == Known::State::elsewhere;
        const bool is_detached = metadata.text("terminal") == "detached";
        text += line_of({short_id(known), monitor::age_text(monitor::age_of(metadata.text("started"))),
                         metadata.text("backend"), metadata.text("network"),
                         monitor::project_text(metadata, sessions.home),
                         (is_elsewhere ? base::format("on {}: ", metadata.text("host")) : "") +
                             (is_detached ? "detached: " : "") + monitor::command_text(metadata),
                         ports_of(known)},
                        ports, width) +
                "\n";
    }
    return text;
}

base::Json json_of(const std::vector<Known>& known) {
    base::Json all = base::Json::array();
    for (const Known& one : known) {
        base::Json row = one.metadata;
        row.set("session", one.id);
        row.set("state", one.state == Known::State::elsewhere ? "elsewhere" : "running");
        all.push(std::move(row));
    }
    return base::Json::object().set("sessions", std::move(all));
}

// For completion.
std::string ids_of(const std::vector<Known>& known) {
    std::string text;
    for (const Known& one : known) text += short_id(one) + "\n";
    return text;
}

}  // namespace

int ps_verb(const Invocation& call) {
    if (!call.arguments.words.empty()) return wrong_words(call, "ps takes no words");
    base::Result<Sessions> sessions = find_sessions(call);
    if (!sessions) return call.output.fail(sessions.error());
    if (call.arguments.has_own("--ids")) return call.output.result(ids_of(sessions->known));
    if (call.arguments.wants_json) return call.output.result(json_of(sessions->known).dump() + "\n");
    if (sessions->known.empty()) return call.output.result("no session is running\n");
    return call.output.result(text_of(*sessions, monitor::size_of_terminal(STDOUT_FILENO).width));
}

// `stop SESSION…`: asks sessions to end and waits for them.

namespace {

using Clock = std::chrono::steady_clock;
using session::Known;

constexpr std::chrono::seconds kLongestStop{10};
constexpr std::chrono::milliseconds kPause{20};

bool is_running(const Sessions& sessions, const std::string& id) {
    std::vector<Known> known = session::known_sessions(sessions.places);
    return std::ranges::find(known, id, &Known::id) != known.end();
}

base::Status end(const Sessions& sessions, const Known& known, bool is_now) {
    base::Result<base::Json> reply =
        session::ask_session(known, base::Json::object().set("do", "stop").set("now", is_now));
    // A session that has just ended does not need to answer.
    if (reply || !is_running(sessions, known.id)) return base::success();
    // A suspended supervisor (SIGSTOP) can't answer; kill it.
    if (is_now && session::kill_session(known)) return base::success();
    base::Error error = reply.error();
    if (!is_now) error.advice += base::format("; agent-sandbox stop --now {} does not ask", short_id(known));
    return error;
}

}  // namespace

int stop_verb(const Invocation& call) {
    if (call.arguments.words.empty())
        return wrong_words(call, "stop needs to know which session: agent-sandbox ps lists them");
    base::Result<Sessions> sessions = find_sessions(call);
    if (!sessions) return call.output.fail(sessions.error());
    // If one word is mistyped, stop none of the others either.
    std::vector<Known> chosen;
    for (const std::string& word : call.arguments.words) {
        base::Result<Known> known = session::find_among(sessions->known, word);
        if (!known) return call.output.fail(known.error());
        chosen.push_back(*std::move(known));
    }
    int exit_code = 0;
    bool is_now = call.arguments.has_own("--now");
    std::vector<const Known*> ending;
    for (const Known& known : chosen) {
        base::Status asked = end(*sessions, known, is_now);
        if (asked) ending.push_back(&known);
        if (!asked) exit_code = call.output.fail(asked.error());
    }
    const Clock::time_point deadline = Clock::now() + kLongestStop;
    for (const Known* known : ending) {
        bool has_ended = false;
        while (!(has_ended = !is_running(*sessions, known->id)) && Clock::now() < deadline)
            std::this_thread::sleep_for(kPause);
        if (has_ended) {
            exit_code =
                call.output.result(base::format("session {} has ended\n", short_id(*known)), exit_code);
            continue;
        }
        exit_code = call.output.fail(
            {.what = base::format("session {} was asked to end and still runs after {} seconds",
                                  short_id(*known), kLongestStop.count()),
             .advice =
                 is_now ? "look at its process: agent-sandbox inspect " + short_id(*known)
                        : base::format("agent-sandbox stop --now {} does not wait for it", short_id(*known)),
             .exit_code = base::ExitCode::check_failed});
    }
    return exit_code;
}

// `notify`: rings the bell of the user's terminal. Inside a jail the supervisor does it: it has a terminal
// even if this process does not (a hook of an agent, a background job).

namespace {

base::Error not_notified(std::string what) {
    return {.what = std::move(what),
            .advice = "no notification was sent",
            .exit_code = base::ExitCode::check_failed};
}

base::Status send(std::string_view text) {
    constexpr std::string_view kSockets[] = {base::kNotifySocket};
    int number = session::send_notice(text, kSockets, session::FullQueue::waits);
    if (number == 0) return base::success();
    if (number == ENOENT) return not_notified("the jail has no terminal to ring");
    if (number == EAGAIN) return not_notified("too many notices at once");
    return not_notified(base::system_error("reach the user's terminal", number).what);
}

}  // namespace

int notify_verb(const Invocation& call) {
    if (call.arguments.words.empty()) {
        return call.output.fail({.what = "no text to notify with",
                                 .advice = usage_of("notify"),
                                 .exit_code = base::ExitCode::usage});
    }
    std::string text = session::notice_text(base::join(call.arguments.words, " "));
    if (base::file_exists(base::own_path(base::kOwnProgram))) {
        base::Status sent = send(text);
        return sent ? 0 : call.output.fail(sent.error());
    }
    if (!session::ring_terminal(text))
        return call.output.fail(not_notified("this process has no terminal to ring"));
    return 0;
}

}  // namespace cli
