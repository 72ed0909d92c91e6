// SPDX-License-Identifier: MIT
#include "network/gateway/names/resolver_files.h"

#include <algorithm>
#include <optional>

#include "base/parse.h"
#include "base/text.h"

namespace network::gateway {
namespace {

std::vector<std::string_view> words_of(std::string_view line) {
    constexpr std::string_view kBlank = " \t\r\f\v";
    std::vector<std::string_view> words;
    for (;;) {
        size_t begin = line.find_first_not_of(kBlank);
        if (begin == std::string_view::npos) return words;
        line.remove_prefix(begin);
        words.push_back(line.substr(0, line.find_first_of(kBlank)));
        line.remove_prefix(words.back().size());
    }
}

std::string_view without_comment(std::string_view line, std::string_view marks) {
    return line.substr(0, line.find_first_of(marks));
}

// The number behind a key: 3 for "timeout:3" and "timeout:".
std::optional<int> option(std::string_view word, std::string_view key, int most) {
    if (!word.starts_with(key)) return std::nullopt;
    word.remove_prefix(key.size());
    const std::optional<int> value = base::parse_number<int>(word);
    if (!value) return std::nullopt;
    return std::clamp(*value, 1, most);
}

void read_options(const std::vector<std::string_view>& words, ServerSettings& settings) {
    for (std::string_view word : words) {
        if (auto seconds = option(word, "timeout:", ServerSettings::kMostSeconds))
            settings.time_per_try = std::chrono::seconds(*seconds);
        if (auto rounds = option(word, "attempts:", ServerSettings::kMostRounds)) settings.rounds = *rounds;
        if (word == "rotate") settings.rotates = true;
    }
}

}  // namespace

HostsTable parse_hosts(std::string_view text) {
    HostsTable table;
    for (std::string_view line : base::split(text, '\n')) {
        std::vector<std::string_view> words = words_of(without_comment(line, "#"));
        if (words.size() < 2) continue;
        base::Result<Address> address = Address::parse(words.front());
        if (!address) continue;
        for (size_t i = 1; i < words.size(); ++i) {
            base::Result<HostName> name = HostName::parse(words[i]);
            if (!name) continue;
            std::vector<Address>& addresses = table[*name];
            if (std::ranges::find(addresses, *address) == addresses.end()) addresses.push_back(*address);
        }
    }
    for (auto& [name, addresses] : table)
        std::ranges::stable_partition(addresses, [](const Address& address) { return address.is_v4(); });
    return table;
}

ServerSettings parse_resolv_conf(std::string_view text) {
    ServerSettings settings;
    for (std::string_view line : base::split(text, '\n')) {
        // A comment must be on a line of its own, but some files have one after an address.
        std::vector<std::string_view> words = words_of(without_comment(line, "#;"));
        if (words.size() < 2) continue;
        if (words.front() == "options") read_options(words, settings);
        if (words.front() != "nameserver") continue;
        base::Result<Address> address = Address::parse(words[1]);
        if (address && settings.servers.size() < ServerSettings::kMostServers)
            settings.servers.push_back(*address);
    }
    if (settings.servers.empty()) settings.servers.push_back(*Address::parse("127.0.0.1"));
    return settings;
}

}  // namespace network::gateway
