// SPDX-License-Identifier: MIT
// `stop SESSION…`: asks sessions to end and waits for them.
#include <algorithm>
#include <chrono>
#include <thread>

#include "base/encoding/json.h"
#include "base/format.h"
#include "cli/arguments.h"
#include "cli/output.h"
#include "cli/sessions/sessions.h"
#include "cli/verbs.h"
#include "session/control/control_client.h"

namespace cli {
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

}  // namespace cli
