// SPDX-License-Identifier: MIT
#include "doorman/handoff/handoff_message.h"

#include <arpa/inet.h>

#include <vector>

#include "base/parse.h"
#include "base/text.h"

namespace doorman {

std::string encode(const Destination& destination) {
    char text[INET6_ADDRSTRLEN] = {};
    ::inet_ntop(destination.is_v6 ? AF_INET6 : AF_INET, destination.address, text, sizeof text);
    return "tcp " + std::string(text) + " " + std::to_string(destination.port);
}

std::optional<Destination> decode(std::string_view note) {
    std::vector<std::string_view> words = base::split(note, ' ');
    if (words.size() != 3 || words[0] != "tcp") return std::nullopt;
    Destination destination;
    destination.is_v6 = words[1].find(':') != std::string_view::npos;
    int family = destination.is_v6 ? AF_INET6 : AF_INET;
    if (::inet_pton(family, std::string(words[1]).c_str(), destination.address) != 1) return std::nullopt;
    const std::optional<uint16_t> port = base::parse_number<uint16_t>(words[2]);
    if (!port) return std::nullopt;
    destination.port = *port;
    return destination;
}

}  // namespace doorman
