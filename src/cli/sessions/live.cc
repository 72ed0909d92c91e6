// SPDX-License-Identifier: MIT
// `allow HOST`, `block HOST` and `reload`: change the policy of a running session.
#include "base/encoding/json.h"
#include "base/format.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/output.h"
#include "cli/sessions/sessions.h"
#include "cli/verbs.h"
#include "session/control/control_client.h"

namespace cli {
namespace {

using base::Json;

// The result, one line for each fact.
std::string outcome(std::string done, const Json& reply) {
    std::string text = std::move(done) + "\n";
    if (int64_t closed = reply.number("closed"); closed > 0)
        text += std::to_string(closed) +
                (closed == 1 ? " connection was closed\n" : " connections were closed\n");
    std::vector<std::string> settings;
    for (const Json& setting : reply.items("restart")) {
        if (setting.as_text()) settings.push_back(base::printable(*setting.as_text()));
    }
    if (!settings.empty()) text += base::format("a restart is needed for: {}\n", base::join(settings, ", "));
    return text;
}

int change(const Invocation& call, const Json& request, std::string_view done) {
    base::Result<Sessions> sessions = find_sessions(call);
    if (!sessions) return call.output.fail(sessions.error());
    base::Result<session::Known> known =
        session::find_among(sessions->known, call.arguments.own_value(kSessionFlag));
    if (!known) return call.output.fail(known.error());
    base::Result<Json> reply = session::ask_session(*known, request);
    if (!reply) return call.output.fail(reply.error());
    return call.output.result(
        outcome(base::format("session {}: {}", short_id(*known), base::printable(done)), *reply));
}

int change_host(const Invocation& call, std::string_view done) {
    const std::string& verb = call.arguments.verb;
    if (call.arguments.words.size() != 1) return wrong_words(call, verb + " takes one host");
    const std::string& host = call.arguments.words[0];
    return change(call, Json::object().set("do", verb).set("target", host), host + std::string(done));
}

}  // namespace

int allow_verb(const Invocation& call) {
    return change_host(call, " is allowed from now on");
}

int block_verb(const Invocation& call) {
    return change_host(call, " is blocked from now on");
}

int reload_verb(const Invocation& call) {
    if (!call.arguments.words.empty()) return wrong_words(call, "reload takes no words");
    return change(call, Json::object().set("do", "reload"), "the policy was read again");
}

}  // namespace cli
