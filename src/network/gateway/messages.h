// SPDX-License-Identifier: MIT
// What the gateway and its supervisor say to each other, over a socket that keeps messages apart. Both ends
// are ours.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "network/gateway/journal.h"
#include "network/netns/set_up.h"

namespace network::gateway {

// The gateway's first message: it serves, or it does not and says why. The jail waits for it.
struct Start {
    std::string failure;  // empty: it serves
    netns::Capture capture = netns::Capture::tproxy;
    bool has_landlock = false;
};

// Its last one, asked for when the jail has ended: what was refused, most frequent first.
struct Summary {
    uint64_t refused = 0;
    std::vector<std::pair<std::string, uint64_t>>
        targets;  // "pastebin.com:443"; not all where there are many
};

// From the supervisor.
inline constexpr std::string_view kEnd = "end";      // the jail is gone: say the last word and end
inline constexpr std::string_view kFiles = "files";  // with two descriptors: /etc/hosts, /etc/resolv.conf
// From the gateway, besides the first and the last message: names fail to resolve, the files may have
// changed.
inline constexpr std::string_view kAskForFiles = "files?";

std::string encode(const Start& start);
std::optional<Start> decode_start(std::string_view message);

Summary summary_of(const Journal::Refusals& refusals);
std::string encode(const Summary& summary);
std::optional<Summary> decode_summary(std::string_view message);

}  // namespace network::gateway
