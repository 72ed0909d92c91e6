// SPDX-License-Identifier: MIT
#include "plan/network/name_files.h"

#include <algorithm>
#include <vector>

#include "base/inside/addresses.h"
#include "base/text.h"

namespace plan {
namespace {

using base::FixedAddress;

// The second server answers "no such name" where the first answers "refused" with a reason: resolvers that
// would retry accept that as an answer.
std::string name_servers() {
    return base::format("nameserver {}\nnameserver {}\n", base::v4_text(FixedAddress::gateway),
                        base::v4_text(FixedAddress::denier));
}

std::string host_services() {
    return base::format("{} {}\n", base::v4_text(FixedAddress::host), base::kHostServiceName);
}

std::vector<std::string_view> words_in(std::string_view line) {
    std::vector<std::string_view> words;
    size_t begin = 0;
    while ((begin = line.find_first_not_of(" \t\r", begin)) != std::string_view::npos) {
        size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
        words.push_back(line.substr(begin, end - begin));
        begin = end;
    }
    return words;
}

std::string_view without_remark(std::string_view line) {
    return line.substr(0, line.find_first_of("#;"));
}

bool is_loopback(std::string_view address) {
    return address.starts_with("127.") || address == "::1";
}

bool has_name(const std::vector<std::string_view>& words, std::string_view name) {
    return words.size() > 1 && std::ranges::find(words.begin() + 1, words.end(), name) != words.end();
}

}  // namespace

std::string jail_resolver(std::string_view host_text, bool has_name_server) {
    std::string search, dots;
    for (std::string_view line : base::split(host_text, '\n')) {
        std::vector<std::string_view> words = words_in(without_remark(line));
        if (words.size() < 2) continue;
        // The last of the two decides, as in the C library.
        if (words[0] == "search" || words[0] == "domain") {
            search = "search";
            for (size_t i = 1; i < words.size(); ++i) search += " " + std::string(words[i]);
            search += "\n";
        }
        if (words[0] != "options") continue;
        for (std::string_view option : words)
            if (option.starts_with("ndots:")) dots = " " + std::string(option);
    }
    if (!has_name_server) return "# The network is isolated: no name server can be reached.\n";
    // One attempt is enough: the gateway is local, and only its own lookup takes time.
    return base::format("{}{}options timeout:5 attempts:1{}\n", name_servers(), search, dots);
}

std::string jail_hosts(std::string_view host_text, std::string_view own_name, bool has_host_services) {
    std::string text = "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n";
    std::string own;
    if (!own_name.empty() && own_name != "localhost") own = base::format("127.0.0.1 {}\n", own_name);
    for (std::string_view line : base::split(host_text, '\n')) {
        std::vector<std::string_view> words = words_in(line.substr(0, line.find('#')));
        if (own.empty() || !has_name(words, own_name) || has_name(words, "localhost")) continue;
        own = is_loopback(words[0]) ? std::string(words[0]) : "127.0.0.1";
        for (size_t i = 1; i < words.size(); ++i) own += " " + std::string(words[i]);
        own += "\n";
        break;
    }
    return text + own + (has_host_services ? host_services() : "");
}

std::string jail_switch(std::string_view host_text) {
    std::string text;
    for (std::string_view line : base::split(host_text, '\n')) {
        bool is_hosts = base::trim(line.substr(0, line.find(':'))) == "hosts";
        if (!is_hosts) text += std::string(line) + "\n";
    }
    while (text.ends_with("\n\n")) text.pop_back();
    if (text == "\n") text.clear();
    return text + "hosts: files dns\n";
}

}  // namespace plan
