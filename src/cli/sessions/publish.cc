// SPDX-License-Identifier: MIT
// `publish PORT [SESSION]`: shows a port of a running session on the host's loopback, or ends that.
#include "base/encoding/json.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/output.h"
#include "cli/sessions/sessions.h"
#include "cli/verbs.h"
#include "rules/services.h"
#include "session/control/known_sessions.h"

namespace cli {
namespace {

std::string outcome(const session::Known& known, const network::Published& port, bool is_end) {
    if (is_end)
        return base::format("session {}: port {} of the host is closed\n", short_id(known), port.host_port);
    return base::format("session {}: 127.0.0.1:{} of the host leads to port {} of the jail\n",
                        short_id(known), port.host_port, port.jail_port);
}

}  // namespace

int publish_verb(const Invocation& call) {
    const std::vector<std::string>& words = call.arguments.words;
    if (words.empty() || words.size() > 2) return wrong_words(call, "publish takes one port, and a session");
    base::Result<std::vector<network::Published>> ports =
        network::parse_published({{words[0], config::from_flag(std::string(network::kPublishVerb))}});
    if (!ports) return wrong_words(call, base::printable(words[0]) + " is not a port");
    base::Result<Sessions> sessions = find_sessions(call);
    if (!sessions) return call.output.fail(sessions.error());
    base::Result<session::Known> known =
        session::find_among(sessions->known, words.size() == 2 ? words[1] : "");
    if (!known) return call.output.fail(known.error());
    bool is_end = call.arguments.has_own("--end");
    base::Result<base::Json> reply = session::ask_session(
        *known, base::Json::object().set("do", "publish").set("target", words[0]).set("end", is_end));
    if (!reply) return call.output.fail(reply.error());
    return call.output.result(outcome(*known, ports->front(), is_end));
}

}  // namespace cli
