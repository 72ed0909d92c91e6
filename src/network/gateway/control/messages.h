// SPDX-License-Identifier: MIT
// The messages between the gateway and its supervisor, over a socket that preserves message boundaries. Both
// ends are ours.
//
//   supervisor                                    gateway
//                                                 serves … | failed TEXT       once, first
//   rules TICKET   + the rules (settings_text.h)  rules TICKET ok CLOSED | rules TICKET failed TEXT
//   state TICKET   + a memory file                state TICKET ok              when it is written
//   deny ID REASON
//   journal        + the next part of the record  journal?                     when the last one is full
//   files          + hosts, resolv.conf           files?                       when names fail to resolve
//   end                                           refused …                    once, last
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "audit/writer.h"
#include "network/gateway/control/journal.h"
#include "network/netns/set_up.h"

namespace network::gateway {

// The gateway's first message: it serves, or why it does not. The jail waits for it.
struct Start {
    std::string failure;  // empty: it serves
    netns::Capture capture = netns::Capture::tproxy;
    bool has_landlock = false;
};

// The gateway's last message, requested when the jail has ended: the refusals, the most frequent first.
struct Summary {
    uint64_t refused = 0;
    std::vector<std::pair<std::string, uint64_t>> targets;  // "pastebin.com:443"; not all if there are many
    uint64_t lines = 0;                                     // number of the gateway's lines in the record
    std::string hash;  // of the last line in its chain; empty: there is no chain
};

// From the supervisor.
struct Order {
    enum class Kind {
        end,      // the jail has ended: send the summary and exit
        files,    // with two descriptors: /etc/hosts, /etc/resolv.conf
        rules,    // with one
        state,    // with one
        deny,     // the user's answer to a question
        journal,  // with one
    };
    Kind kind = Kind::end;
    uint64_t number = 0;  // the ticket; of `deny`: the question's id
    std::string reason;   // of `deny`
};

// To an order with a ticket.
struct Reply {
    uint64_t ticket = 0;
    std::string text;     // of rules: how many connections they closed
    std::string failure;  // if not empty: nothing was done, for this reason
};

// Other messages from the gateway.
inline constexpr std::string_view kAskForFiles = "files?";      // the host's files may have changed
inline constexpr std::string_view kAskForJournal = "journal?";  // requests the next part

std::string encode(Start start);
std::optional<Start> decode_start(std::string_view message);

std::string encode(Order order);
std::optional<Order> decode_order(std::string_view message);

std::string encode(Reply reply);
std::optional<Reply> decode_reply(std::string_view message);

Summary summary_of(const Journal::Refusals& refusals, const audit::Head& head);
std::string encode(Summary summary);
std::optional<Summary> decode_summary(std::string_view message);

}  // namespace network::gateway
