// SPDX-License-Identifier: MIT
// Which network mode is reached when the requested one does not work here.
#include "plan/network/network.h"

#include <algorithm>

#include "base/text.h"
#include "plan/agent/client_bundles.h"
#include "plan/draft.h"
#include "rules/names/name.h"

namespace plan {

using policy::NetworkFallback;
using policy::NetworkMode;

std::optional<NetworkMode> reachable_mode(NetworkMode asked, NetworkFallback fallback,
                                          std::span<const NetworkMode> offered) {
    auto is_offered = [&](NetworkMode mode) { return std::ranges::find(offered, mode) != offered.end(); };
    if (is_offered(asked)) return asked;
    int position = static_cast<int>(asked);
    switch (fallback) {
        case NetworkFallback::strict:
            return std::nullopt;
        case NetworkFallback::stricter:
            for (int mode = position + 1; mode <= static_cast<int>(NetworkMode::isolated); ++mode) {
                if (is_offered(static_cast<NetworkMode>(mode))) return static_cast<NetworkMode>(mode);
            }
            return std::nullopt;
        case NetworkFallback::open:
            for (int mode = position - 1; mode >= static_cast<int>(NetworkMode::open); --mode) {
                if (is_offered(static_cast<NetworkMode>(mode))) return static_cast<NetworkMode>(mode);
            }
            return std::nullopt;
    }
    return std::nullopt;
}

namespace {

// In the other modes the jail has its own network namespace.
void choose_abstract_sockets(Draft& draft) {
    const BackendTraits& backend = draft.backend();
    const host::Facts& facts = draft.inputs.facts;
    Network& network = draft.plan.network;
    if (backend.has_namespaces && network.reached != NetworkMode::open) return;
    bool stage_answers = backend.hands_connections && (facts.can_answer_calls || !backend.has_namespaces);
    std::optional<std::string> obstacle = own_sockets_obstacle(backend, facts);
    if (stage_answers) {
        network.abstract_sockets = AbstractSockets::refused;
    } else if (obstacle) {
        network.abstract_sockets = AbstractSockets::shared;
        draft.note(NoteKind::protection,
                   base::format("programs outside can connect to abstract Unix sockets of the command: {}; "
                                "the other network modes keep these inside",
                                *obstacle));
    }
}

}  // namespace

std::string_view to_text(AbstractSockets sockets) {
    switch (sockets) {
        case AbstractSockets::inside:
            return "inside";
        case AbstractSockets::refused:
            return "refused";
        case AbstractSockets::shared:
            return "shared";
    }
    return "";
}

base::Status choose_network(Draft& draft) {
    const auto& asked = draft.policy().network;
    std::optional<NetworkMode> reached =
        reachable_mode(asked.mode, asked.fallback, offered_modes(draft.backend(), draft.inputs.facts));
    std::string mode(policy::to_text(asked.mode));
    if (!reached) {
        return base::Error{
            .what = base::format(
                "network.mode = {} can't be had with this backend, and network.fallback permits no other",
                mode),
            .advice = "use --network isolated or --network open",
            .where = asked.mode_origin.describe()};
    }
    Network& network = draft.plan.network;
    network.asked = asked.mode;
    network.reached = *reached;
    network.reason = {"network.mode", asked.mode_origin};
    if (*reached != asked.mode) {
        network.reason = {mode + " can't be had with this backend, and network.fallback decides",
                          asked.fallback_origin};
        draft.note(NoteKind::protection,
                   base::format("network {} can't be had with this backend: it is {}; 'agent-sandbox doctor' "
                                "says why",
                                mode, policy::to_text(*reached)));
    }
    if (*reached == NetworkMode::open && asked.mail_block == policy::MailBlock::on) {
        return base::Error{.what = "network.mail_block = on can't be enforced on an open network",
                           .advice = "use another network mode, or set network.mail_block to auto",
                           .where = asked.mail_block_origin.describe()};
    }
    bool is_open = *reached == NetworkMode::open;
    if (is_open && !asked.block.empty())
        draft.note(NoteKind::protection, "the network is open: network.block is not applied");
    bool was_meant_open = is_open && asked.mode == NetworkMode::open;
    switch (asked.mail_block) {
        case policy::MailBlock::off:
            network.closes_mail = false;
            break;
        case policy::MailBlock::automatic:
            network.closes_mail = !was_meant_open;
            break;
        case policy::MailBlock::on:
            network.closes_mail = true;
            break;
    }
    choose_abstract_sockets(draft);
    return base::success();
}

// What is allowed in the mode that was reached: the policy's entries as rules, and the site's proxy, which
// the gateway uses instead of the jailed programs. The rules are checked here, so that a bad one stops the
// launch with its origin.

namespace {

using policy::NetworkMode;

// Both spellings are in use, and programs differ in which one they read. The gateway uses the first of these,
// because nearly all outgoing traffic is HTTPS.
constexpr std::string_view kProxyVariables[] = {"https_proxy", "HTTPS_PROXY", "all_proxy",
                                                "ALL_PROXY",   "http_proxy",  "HTTP_PROXY"};
constexpr std::string_view kDirectVariables[] = {"no_proxy", "NO_PROXY"};
constexpr std::string_view kOtherVariables[] = {"ftp_proxy", "FTP_PROXY"};

struct Assignment {
    std::string_view name;
    std::string_view value;
};

// The first of `names` that is set and not empty.
Assignment first_set(const Draft& draft, std::span<const std::string_view> names) {
    for (std::string_view name : names) {
        std::optional<std::string_view> value =
            host::variable(draft.inputs.request.policy_environment(), name);
        if (value && !value->empty()) return {name, *value};
    }
    return {};
}

base::Status set_upstream(Draft& draft, network::Egress& egress) {
    const auto& asked = draft.policy().network;
    if (asked.upstream_proxy == "none") return base::success();
    std::string_view direct = first_set(draft, kDirectVariables).value;
    if (!asked.upstream_proxy.empty()) {
        base::Result<network::UpstreamProxy> proxy =
            network::parse_upstream_proxy(asked.upstream_proxy, direct, asked.upstream_proxy_origin);
        if (!proxy) return proxy.error();
        egress.upstream = *std::move(proxy);
        return base::success();
    }
    Assignment variable = first_set(draft, kProxyVariables);
    if (variable.name.empty()) return base::success();
    base::Result<network::UpstreamProxy> proxy = network::parse_upstream_proxy(
        variable.value, direct, config::from_variable(std::string(variable.name)));
    if (proxy) {
        egress.upstream = *std::move(proxy);
    } else {
        // The variable was not set for the sandbox, so an error in it does not stop the launch.
        draft.note(NoteKind::information, proxy.error().line() + "; connections are made without it");
    }
    return base::success();
}

network::EngineSettings rules_from(const Draft& draft) {
    const auto& asked = draft.policy().network;
    return network::EngineSettings{.mode = draft.plan.network.reached,
                                   .mode_origin = draft.plan.network.reason.origin,
                                   .block = asked.block,
                                   .allow = asked.allow,
                                   .private_networks = asked.private_networks,
                                   .are_literals_open = asked.are_literals_open,
                                   .literals_origin = asked.literals_origin,
                                   .host_services = asked.host_services,
                                   .is_asking = asked.ask,
                                   .is_observing = asked.observe,
                                   .udp = asked.udp};
}

bool has_entries_of_others(const network::EngineSettings& rules) {
    auto is_written = [](const std::vector<config::Item>& items) {
        return std::ranges::any_of(
            items, [](const config::Item& item) { return item.origin.layer != config::Layer::builtin; });
    };
    return !rules.bundles.empty() || is_written(rules.block) || is_written(rules.allow) ||
           is_written(rules.private_networks) || is_written(rules.host_services) || is_written(rules.udp);
}

// Reports once the entries that the mode ignores.
void note_unused(Draft& draft) {
    const auto& asked = draft.policy().network;
    switch (draft.plan.network.reached) {
        case NetworkMode::open:
            if (!asked.publish.empty() || !asked.host_services.empty()) {
                draft.note(NoteKind::information,
                           "the network is open: network.publish and network.host_services are not needed, "
                           "ports of the jail and of the host are the same");
            }
            break;
        case NetworkMode::isolated:
            if (!asked.allow.empty() || !asked.host_services.empty() || !asked.udp.empty()) {
                draft.note(
                    NoteKind::information,
                    "the network is isolated: network.allow, network.udp and network.host_services open "
                    "nothing");
            }
            break;
        case NetworkMode::filtered:
        case NetworkMode::proxied:
            break;
    }
}

}  // namespace

bool is_proxy_variable(std::string_view name) {
    auto is_in = [&](std::span<const std::string_view> names) {
        return std::ranges::find(names, name) != names.end();
    };
    return is_in(kProxyVariables) || is_in(kDirectVariables) || is_in(kOtherVariables);
}

base::Status set_egress(Draft& draft) {
    const auto& asked = draft.policy().network;
    network::Egress& egress = draft.plan.network.egress;
    egress.rules = rules_from(draft);
    egress.ask_time = std::chrono::seconds(asked.ask_time);
    egress.rules.bundles = client_bundles(draft);
    note_unused(draft);

    // Entries are checked in every mode, because a malformed one is a mistake anywhere. Built-in entries are
    // already tested (tests/rules), and the gateway parses all of them anyway.
    std::vector<std::string> warnings;
    if (has_entries_of_others(egress.rules)) {
        base::Result<network::Engine> engine = network::Engine::make(egress.rules);
        if (!engine) return engine.error();
        warnings = engine->warnings();
    }
    if (base::Status found = network::find_ports(egress); !found) return found;
    base::Result<std::vector<network::Published>> published = network::parse_published(asked.publish);
    if (!published) return published.error();
    base::Result<std::vector<uint16_t>> types = network::parse_record_types(asked.dns_types);
    if (!types) return types.error();
    if (egress.rules.mode == NetworkMode::open) return base::success();

    egress.published = *std::move(published);
    egress.passed_types = *std::move(types);
    bool is_filtering = egress.rules.mode != NetworkMode::isolated;
    if (!is_filtering) {
        egress.udp_ports.clear();
        egress.tcp_ports.clear();
    }
    // The gateway connects into the jail through a process that it has started there.
    const BackendTraits& backend = draft.backend();
    bool can_connect =
        !backend.hands_connections &&
        std::ranges::count(offered_modes(backend, draft.inputs.facts), NetworkMode::filtered) > 0;
    if (!egress.published.empty() && !can_connect) {
        return base::Error{.what =
                               "network.publish can't be had with this backend: nothing outside can connect "
                               "into the jail",
                           .advice = "remove it, or use --network open",
                           .where = egress.published.front().origin.describe()};
    }
    if (!is_filtering) return base::success();
    for (const std::string& warning : warnings) draft.note(NoteKind::information, warning);
    return set_upstream(draft, egress);
}

}  // namespace plan
