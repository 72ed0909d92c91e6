// SPDX-License-Identifier: MIT
// Properties of every message between the gateway, which reads untrusted bytes, and its supervisor, and of
// the note that comes with a passed connection. Each function returns the claim that these bytes break, or
// null.
#pragma once

#include <string>
#include <string_view>

#include "doorman/handoff/connect_handoff.h"
#include "network/gateway/control/messages.h"

namespace network::gateway {

// A decoded message, encoded and decoded again, is the same.
inline const char* broken_for_messages(std::string_view bytes) {
    if (bytes.size() > 1000) return nullptr;  // The encoder cuts longer ones.
    if (std::optional<Start> start = decode_start(bytes)) {
        std::optional<Start> again = decode_start(encode(*start));
        bool is_same = again && again->failure == start->failure && again->capture == start->capture &&
                       again->has_landlock == start->has_landlock;
        if (!is_same) return "a first word is the same after a journey";
    }
    if (std::optional<Order> order = decode_order(bytes)) {
        std::optional<Order> again = decode_order(encode(*order));
        if (!again || again->kind != order->kind || again->number != order->number ||
            again->reason != order->reason)
            return "an order is the same after a journey";
    }
    if (std::optional<ProgramRequest> wanted = decode_program_request(bytes)) {
        std::optional<ProgramRequest> again = decode_program_request(encode(*wanted));
        if (!again || again->number != wanted->number || again->port != wanted->port)
            return "a question about a program is the same after a journey";
    }
    if (std::optional<Reply> reply = decode_reply(bytes)) {
        std::optional<Reply> again = decode_reply(encode(*reply));
        if (!again || again->ticket != reply->ticket || again->text != reply->text ||
            again->failure != reply->failure)
            return "a reply is the same after a journey";
    }
    if (std::optional<Summary> summary = decode_summary(bytes)) {
        std::string text = encode(*summary);
        std::optional<Summary> again = decode_summary(text);
        if (!again || encode(*again).size() > 2 * text.size() || again->refused != summary->refused ||
            again->lines != summary->lines || again->targets.size() != summary->targets.size())
            return "a last word is the same after a journey";
    }
    return nullptr;
}

inline const char* broken_for_note(std::string_view bytes) {
    std::optional<doorman::Destination> destination = doorman::decode(bytes);
    if (!destination) return nullptr;
    return doorman::decode(doorman::encode(*destination)) == destination
               ? nullptr
               : "a destination is the same after a journey";
}

}  // namespace network::gateway
