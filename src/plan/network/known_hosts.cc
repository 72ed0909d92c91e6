// SPDX-License-Identifier: MIT
#include "plan/network/known_hosts.h"

#include <algorithm>
#include <vector>

#include "base/encoding/base64.h"
#include "base/encoding/sha1.h"
#include "base/parse.h"
#include "base/text.h"
#include "plan/draft.h"
#include "rules/bundle.h"

namespace plan {
namespace {

constexpr uint16_t kSshPort = 22;
constexpr size_t kLargestHostFile = 1u << 20;
constexpr size_t kMostHashed = 2000;  // hashes that a launch computes

// A name as ssh writes it: "host", or "[host]:port" for another port.
struct SshName {
    std::string host;
    uint16_t port = kSshPort;

    std::string text() const { return port == kSshPort ? host : base::format("[{}]:{}", host, port); }
};

std::optional<SshName> parse_name(std::string_view text) {
    if (!text.starts_with('[')) return SshName{base::lower(text)};
    size_t end = text.find("]:");
    if (end == std::string_view::npos) return std::nullopt;
    std::optional<uint16_t> port = base::parse_number<uint16_t>(text.substr(end + 2));
    if (!port) return std::nullopt;
    return SshName{base::lower(text.substr(1, end - 1)), *port};
}

bool is_permitted(const SshName& name, std::span<const network::Rule> rules) {
    return std::ranges::any_of(rules, [&](const network::Rule& rule) {
        return rule.target == network::Target::host && rule.name == name.host &&
               rule.ports.contains(name.port) && rule.is_for(network::Transport::tcp);
    });
}

// Names whose hashes are worth computing.
std::vector<SshName> candidates(std::span<const network::Rule> rules) {
    std::vector<SshName> names;
    for (const network::Rule& rule : rules) {
        if (rule.target != network::Target::host || !rule.is_for(network::Transport::tcp)) continue;
        if (rule.ports.contains(kSshPort)) names.push_back({rule.name});
        if (rule.ports.is_single() && rule.ports.first != kSshPort)
            names.push_back({rule.name, rule.ports.first});
    }
    return names;
}

bool is_word_of(std::string_view text, std::string_view others) {
    return !text.empty() && std::ranges::all_of(text, [&](char letter) {
        return base::is_letter(letter) || base::is_digit(letter) ||
               others.find(letter) != std::string_view::npos;
    });
}

class HostKeys {
  public:
    explicit HostKeys(std::span<const network::Rule> rules) : rules_(rules), candidates_(candidates(rules)) {}

    void take(std::string_view line) {
        std::string blanks(base::trim(line));
        std::ranges::replace(blanks, '\t', ' ');
        std::vector<std::string_view> words = base::split(blanks, ' ');
        std::erase_if(words, [](std::string_view word) { return word.empty(); });
        if (words.empty() || words.front().starts_with('#')) return;
        std::string_view marker;
        if (words.front().starts_with('@')) {
            marker = words.front();
            if (marker != "@cert-authority" && marker != "@revoked") return;
            words.erase(words.begin());
        }
        if (words.size() < 3 || !is_word_of(words[1], "@.-") || !is_word_of(words[2], "+/=")) return;
        std::string names = permitted(words[0]);
        if (names.empty()) return;
        if (!marker.empty()) text_ += base::format("{} ", marker);
        text_ += base::format("{} {} {}\n", names, words[1], words[2]);
    }

    std::string text() && { return std::move(text_); }

  private:
    // Those of the first field that may be shown. A pattern is never shown: it may tell of other hosts.
    std::string permitted(std::string_view field) {
        if (field.starts_with("|1|")) return hashed(field.substr(3));
        std::vector<std::string> shown;
        for (std::string_view text : base::split(field, ',')) {
            if (text.starts_with('!')) return {};
            std::optional<SshName> name = parse_name(text);
            if (name && is_permitted(*name, rules_)) shown.push_back(name->text());
        }
        return base::join(shown, ",");
    }

    std::string hashed(std::string_view salt_and_hash) {
        size_t bar = salt_and_hash.find('|');
        if (bar == std::string_view::npos) return {};
        std::optional<std::string> salt = base::from_base64(salt_and_hash.substr(0, bar));
        std::optional<std::string> hash = base::from_base64(salt_and_hash.substr(bar + 1));
        if (!salt || !hash) return {};
        for (const SshName& name : candidates_) {
            if (++computed_ > kMostHashed) return {};
            if (base::hmac_sha1(*salt, name.text()) == *hash) return name.text();
        }
        return {};
    }

    std::span<const network::Rule> rules_;
    std::vector<SshName> candidates_;
    size_t computed_ = 0;
    std::string text_;
};

}  // namespace

std::string permitted_host_keys(std::string_view known_hosts, std::span<const network::Rule> rules) {
    HostKeys keys(rules);
    for (std::string_view line : base::split(known_hosts, '\n')) keys.take(line);
    return std::move(keys).text();
}

void add_known_hosts(Draft& draft) {
    // The jail sees the keys of these hosts alone (ssh.cc).
    if (!draft.policy().ssh.hosts.empty()) return;
    // The providers of an agent's profile are not hosts of ssh.
    std::vector<config::Item> allowed;
    for (const config::Item& item : draft.policy().network.allow) {
        if (item.origin.layer != config::Layer::profile) allowed.push_back(item);
    }
    if (allowed.empty() || draft.plan.network.reached == policy::NetworkMode::isolated) return;
    const base::Path file = draft.home / ".ssh/known_hosts";
    if (!draft.home_names.may_exist(".ssh")) return;
    std::optional<host::Node> node = draft.tree().look(file);
    if (!node || node->kind != host::Kind::file || is_hidden_by_setting(draft, file)) return;
    std::vector<network::Rule> rules;
    for (const config::Item& item : allowed) {
        // An error in an entry is reported when the rules of the network are made.
        auto parsed = network::rules_of(item, network::Side::allow, draft.plan.network.egress.rules.bundles);
        if (parsed) rules.insert(rules.end(), parsed->begin(), parsed->end());
    }
    base::Result<std::string> text = draft.tree().read(file, kLargestHostFile);
    std::string keys = text ? permitted_host_keys(*text, rules) : std::string();
    if (keys.empty()) return;
    const base::Path global = base::Path::known("/etc/ssh/ssh_known_hosts");
    std::optional<host::Node> known = draft.tree().look(global);
    constexpr uint32_t kEveryoneReads = 04;
    base::Result<std::string> original = draft.tree().read(global, kLargestHostFile);
    bool has_original = known && (known->mode & kEveryoneReads) != 0 && original;
    draft.etc_files.push_back({.name = "ssh/ssh_known_hosts",
                               .content = (has_original ? *original + "\n" : std::string()) + keys,
                               .reason = {"public keys of hosts that network.allow names", {}}});
}

}  // namespace plan
