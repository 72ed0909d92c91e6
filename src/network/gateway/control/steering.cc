// SPDX-License-Identifier: MIT
#include "network/gateway/control/steering.h"

#include <algorithm>
#include <utility>

#include "base/encoding/json.h"
#include "base/format.h"
#include "rules/text/settings_text.h"

namespace network::gateway {
namespace {

// A port of `wanted` that is not in `had`; both are sorted.
std::optional<uint16_t> first_new(const std::vector<uint16_t>& wanted, const std::vector<uint16_t>& had) {
    for (uint16_t port : wanted)
        if (!std::ranges::binary_search(had, port)) return port;
    return std::nullopt;
}

base::Error needs_restart(std::string what) {
    return base::Error{.what = std::move(what) + " takes a restart of the session"};
}

base::Json json_of(const ConnectionFacts& facts) {
    base::Json object = base::Json::object();
    object.set("id", facts.id).set("name", facts.name).set("address", facts.address);
    object.set("port", facts.port).set("protocol", facts.protocol);
    object.set("sent", facts.sent).set("received", facts.received).set("age_ms", facts.age.count());
    return object;
}

base::Json json_of(const Questions::Pending& question) {
    base::Json object = base::Json::object();
    object.set("id", question.id).set("name", question.name).set("port", question.port);
    object.set("age_ms", question.age.count()).set("left_ms", question.left.count());
    return object;
}

}  // namespace

// Listeners are created in the jail's network before it starts. The gateway cannot enter that network again.
base::Status Steering::check_ports(const Egress& wanted) const {
    if (std::optional<uint16_t> port = first_new(wanted.udp_ports, rules_.egress.udp_ports))
        return needs_restart("UDP port " + std::to_string(*port));
    if (!rules_.tcp_ports) return base::success();
    if (std::optional<uint16_t> port = first_new(wanted.tcp_ports, *rules_.tcp_ports))
        return needs_restart(base::format("port {} (this kernel has no nf_tables)", *port));
    return base::success();
}

base::Result<size_t> Steering::renew(std::string_view text) {
    base::Result<LiveSettings> settings = decode_settings(text);
    if (!settings) return settings.error();
    if (settings->rules.mode != rules_.egress.rules.mode) return needs_restart("network.mode");
    base::Result<Engine> engine = Engine::make(settings->rules);
    if (!engine) return engine.error();
    Egress wanted;
    wanted.rules = std::move(settings->rules);
    if (base::Status found = find_ports(wanted); !found) return found.error();
    if (base::Status checked = check_ports(wanted); !checked) return checked.error();

    rules_.engine = *std::move(engine);
    rules_.egress.rules = std::move(wanted.rules);
    rules_.egress.passed_types = std::move(settings->passed_types);
    name_server_.judge_again();
    // Connections first: those that the answered questions release need no second check.
    size_t closed = acceptor_.judge_again() + datagrams_.judge_again();
    context_.questions.judge_again();
    return closed;
}

std::string Steering::state() const {
    std::vector<ConnectionFacts> facts = acceptor_.list();
    std::ranges::move(datagrams_.list(), std::back_inserter(facts));
    base::Json connections = base::Json::array();
    for (const ConnectionFacts& one : facts) {
        if (connections.items().size() == kMostListed) break;
        connections.push(json_of(one));
    }
    base::Json pending = base::Json::array();
    for (const Questions::Pending& question : context_.questions.pending()) pending.push(json_of(question));
    base::Json object = base::Json::object();
    object.set("connections", std::move(connections)).set("connection_count", facts.size());
    object.set("pending", std::move(pending)).set("refused", context_.journal.refusals().total);
    return object.dump(-1);
}

}  // namespace network::gateway
