// SPDX-License-Identifier: MIT
// `why host`: the answer of the rules without a DNS lookup. At the time of a connection the gateway also
// checks the address against the address floor, so an allowed name may still be refused; the text says so.
#include <algorithm>

#include "base/text.h"
#include "plan/print/explain.h"
#include "rules/built_in_rules.h"
#include "rules/engine.h"
#include "rules/rules_text.h"

namespace plan {
namespace {

// A refusal contains advice in a full sentence; `why` prints only the change.
std::string change_in(std::string advice) {
    constexpr std::string_view kOpening = "if it is needed, open it with ";
    size_t at = advice.find(kOpening);
    if (at != std::string::npos) advice.erase(at, kOpening.size());
    return advice;
}

bool is_loopback(const network::Host& host) {
    static const network::Prefix kNetworks[] = {*network::Prefix::parse("127.0.0.0/8"),
                                                *network::Prefix::parse("::1/128")};
    if (const auto* address = std::get_if<network::Address>(&host)) {
        return std::ranges::any_of(kNetworks, [&](const auto& each) { return each.contains(*address); });
    }
    const std::string& name = std::get<network::HostName>(host).str();
    return name == "localhost" || name.ends_with(".localhost");
}

bool is_about_own_loopback(const Plan& plan, const network::Question& question) {
    return plan.network.reached != policy::NetworkMode::open && is_loopback(question.host);
}

// The gateway listens there (network::loopback_ports).
bool is_served_on_loopback(const Plan& plan, const network::Question& question) {
    std::vector<uint16_t> ports = network::loopback_ports(plan.network.egress);
    static const network::Host kFirst[] = {*network::parse_host("127.0.0.1"), *network::parse_host("::1"),
                                           *network::parse_host("localhost")};
    return question.transport == network::Transport::tcp &&
           std::ranges::find(kFirst, question.host) != std::end(kFirst) &&
           std::ranges::find(ports, question.port) != ports.end();
}

// The question is about a service of the host: a service inside the jail needs no rule.
Explanation explain_loopback(const Plan& plan, const network::Question& question,
                             const network::Verdict& verdict) {
    std::string port = std::to_string(question.port);
    std::string inside = base::format("{}:{}", network::kHostServiceName, port);
    Explanation explanation{.subject = network::to_text(question), .verdict = "closed"};
    explanation.reason.why = "inside, loopback is the jail's own: a service of the host is not there";
    if (verdict.is_allowed() && is_served_on_loopback(plan, question)) {
        explanation.is_allowed = true;
        explanation.verdict = "open";
        explanation.reason = {
            .why = base::format("network.host_services opens it: inside, it is the host's own {}", inside),
            .origin = verdict.origin};
        return explanation;
    }
    bool is_isolated = plan.network.reached == policy::NetworkMode::isolated;
    if (is_isolated) explanation.reason.origin = verdict.origin;
    bool can_be_opened = question.transport == network::Transport::tcp &&
                         network::reason_for_closed_port(question.port).empty() &&
                         verdict.origin.layer != config::Layer::admin;
    if (verdict.is_allowed()) {
        explanation.change = base::format("use {} inside, which is open", inside);
    } else if (can_be_opened) {
        explanation.change =
            base::format("{} {}, and inside 127.0.0.1:{} or {}",
                         is_isolated ? "--network filtered --host-port" : "--host-port", port, port, inside);
    }
    return explanation;
}

}  // namespace

network::Question question_for_rules(const Plan& plan, const network::Question& question) {
    network::Question asked = question;
    if (is_about_own_loopback(plan, question))
        asked.host = *network::HostName::parse(network::kHostServiceName);
    return asked;
}

Explanation explain_verdict(const Plan& plan, const network::Question& question, network::Verdict verdict) {
    if (is_about_own_loopback(plan, question)) return explain_loopback(plan, question, verdict);
    std::string_view refused = verdict.decision == network::Decision::ask ? "asked" : "closed";
    std::string_view let_through = verdict.is_observed ? "observed" : "open";
    Explanation explanation{.subject = network::to_text(question),
                            .is_allowed = verdict.is_allowed(),
                            .verdict = std::string(verdict.is_allowed() ? let_through : refused),
                            .reason = {.why = verdict.reason, .origin = verdict.origin}};
    if (!verdict.rule.empty()) explanation.reason.why += base::format(" ({})", verdict.rule);
    bool is_name = std::holds_alternative<network::HostName>(question.host);
    bool is_filtering = plan.network.reached == policy::NetworkMode::filtered ||
                        plan.network.reached == policy::NetworkMode::proxied;
    if (verdict.is_observed) {
        explanation.reason.why += "; network.observe lets it through and records it";
    } else if (verdict.is_allowed() && is_name && is_filtering) {
        explanation.reason.why += "; the address it leads to is judged when a connection is made";
    } else if (!verdict.is_allowed() && verdict.origin.layer != config::Layer::admin) {
        explanation.change =
            verdict.change.empty() ? change_in(std::move(verdict.advice)) : std::move(verdict.change);
    }
    return explanation;
}

base::Result<Explanation> explain_host(const Plan& plan, std::string_view text) {
    base::Result<network::Question> question = network::parse_question(text);
    if (!question) return question.error();
    base::Result<network::Engine> engine = network::Engine::make(plan.network.egress.rules);
    if (!engine) return engine.error();
    return explain_verdict(plan, *question, engine->decide(question_for_rules(plan, *question)));
}

}  // namespace plan
