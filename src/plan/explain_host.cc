// SPDX-License-Identifier: MIT
// `why host`: the rules' answer without a lookup. What a name leads to is judged once more when a connection
// is made, by the address floor, so an open name may still be refused; that is said.
#include <charconv>

#include "base/text.h"
#include "network/rules/engine.h"
#include "plan/explain.h"

namespace plan {
namespace {

constexpr uint16_t kUsualPort = 443;

base::Error unreadable(std::string_view text, std::string why) {
    return base::Error{.what = network::quoted(text) + ": " + std::move(why),
                       .advice = "write HOST, HOST:PORT, [ADDRESS]:PORT or udp:HOST:PORT",
                       .exit_code = base::ExitCode::usage};
}

// Where the port begins, if there is one: an IPv6 address without brackets has none.
std::optional<size_t> port_colon(std::string_view text) {
    size_t colon = text.rfind(':');
    if (colon == std::string_view::npos || text.find(']', colon) != std::string_view::npos)
        return std::nullopt;
    bool is_bare_v6 = text.find(':') != colon && !text.starts_with('[');
    return is_bare_v6 ? std::nullopt : std::optional(colon);
}

base::Result<network::Question> question_in(std::string_view text) {
    std::string_view rest = text;
    uint16_t port = kUsualPort;
    network::Transport transport = network::Transport::tcp;
    if (rest.starts_with("udp:")) {
        transport = network::Transport::udp;
        rest.remove_prefix(4);
    }
    if (rest.find("://") != std::string_view::npos) return unreadable(text, "it is a URL, not a host");
    if (std::optional<size_t> colon = port_colon(rest)) {
        std::string_view digits = rest.substr(*colon + 1);
        auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
        bool is_port = problem == std::errc() && end == digits.data() + digits.size() && port != 0;
        if (!is_port) return unreadable(text, "the port is no number between 1 and 65535");
        rest = rest.substr(0, *colon);
    }
    base::Result<network::Host> host = network::parse_host(rest);
    if (!host) return unreadable(text, host.error().what);
    return network::Question{*std::move(host), port, transport};
}

std::string shown(const network::Question& question) {
    const auto* address = std::get_if<network::Address>(&question.host);
    std::string host = address ? address->str() : std::get<network::HostName>(question.host).str();
    if (address && !address->is_v4()) host = "[" + host + "]";
    std::string prefix = question.transport == network::Transport::udp ? "udp:" : "";
    return prefix + host + ":" + std::to_string(question.port);
}

// A refusal tells a program's user what to do; here the change alone is asked for.
std::string change_in(std::string advice) {
    constexpr std::string_view kOpening = "if it is needed, open it with ";
    size_t at = advice.find(kOpening);
    if (at != std::string::npos) advice.erase(at, kOpening.size());
    return advice;
}

}  // namespace

base::Result<Explanation> explain_host(const Plan& plan, std::string_view text) {
    base::Result<network::Question> question = question_in(text);
    if (!question) return question.error();
    base::Result<network::Engine> engine = network::Engine::make(plan.network.egress.rules);
    if (!engine) return engine.error();
    network::Verdict verdict = engine->decide(*question);

    Explanation explanation{.subject = shown(*question),
                            .is_allowed = verdict.is_allowed(),
                            .verdict = verdict.is_allowed() ? "open" : "closed",
                            .reason = {.why = verdict.reason, .origin = verdict.origin}};
    if (!verdict.rule.empty()) explanation.reason.why += " (" + verdict.rule + ")";
    bool is_name = std::holds_alternative<network::HostName>(question->host);
    bool is_filtering = plan.network.reached == policy::NetworkMode::filtered ||
                        plan.network.reached == policy::NetworkMode::proxied;
    if (verdict.is_allowed() && is_name && is_filtering) {
        explanation.reason.why += "; the address it leads to is judged when a connection is made";
    } else if (!verdict.is_allowed() && verdict.origin.layer != config::Layer::admin) {
        explanation.change = change_in(std::move(verdict.advice));
    }
    return explanation;
}

}  // namespace plan
