// SPDX-License-Identifier: MIT
// Which network mode is reached when the requested one does not work here.
#include <algorithm>

#include "base/format.h"
#include "base/text.h"
#include "plan/draft.h"
#include "plan/network/network_choice.h"

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
        bool is_weaker = *reached < asked.mode;
        draft.note(is_weaker ? NoteKind::protection : NoteKind::information,
                   base::format("network {} can't be had with this backend: it is {}", mode,
                                policy::to_text(*reached)));
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

}  // namespace plan
