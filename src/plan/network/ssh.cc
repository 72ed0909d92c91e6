// SPDX-License-Identifier: MIT
// The filtered ssh-agent: which keys may sign for which hosts, from the user's .pub files and known_hosts.
//
// Threat: a session that can write one of these files adds a key, or the host key of another server, for
// later sessions (tests/plan/ssh_test.cc). So a file that the jail can write is refused.
#include <algorithm>

#include "base/inside/jail_files.h"
#include "base/text.h"
#include "plan/draft.h"
#include "ssh_agent/rules.h"

namespace plan {
namespace {

using config::Item;

constexpr size_t kLargestKey = 64u << 10, kLargestKnownHosts = 4u << 20;
constexpr std::string_view kVariable = "SSH_AUTH_SOCK";

bool is_writable_inside(const Draft& draft, const base::Path& path) {
    const PathRule* rule = draft.rules.decide(path);
    return rule != nullptr && rule->access == Access::writable && rule->backing == Backing::host;
}

// The text of a file; empty where it is missing.
base::Result<std::string> trusted_text(const Draft& draft, const base::Path& path, size_t largest) {
    base::Result<host::Tree::Resolved> file = draft.tree().resolve(path);
    if (!file || !file->exists) return std::string();
    if (is_writable_inside(draft, file->path) || is_writable_inside(draft, path))
        return base::Error{
            .what = base::format("{} decides what the ssh-agent signs, and the jail can write it",
                                 base::printable(path.str())),
            .advice = "make it read-only for the jail, or remove the entries of [ssh]"};
    return draft.tree().read(file->path, largest);
}

base::Result<ssh_agent::Key> read_key(const Draft& draft, const Item& item) {
    base::Result<base::Path> path = absolute_entry(draft, item);
    if (!path) return path.error();
    base::Result<std::string> text = trusted_text(draft, *path, kLargestKey);
    if (!text) return entry_error(item, text.error().what, text.error().advice);
    if (text->empty())
        return entry_error(item, base::printable(path->str()) + " is missing or empty",
                           "name the file of a public key: ls ~/.ssh/*.pub");
    base::Result<ssh_agent::Key> key = ssh_agent::parse_public_key(*text);
    if (!key)
        return entry_error(item, base::format("{}: {}", base::printable(path->str()), key.error().what),
                           key.error().advice);
    return key;
}

base::Status read_keys(Draft& draft, ssh_agent::Rules& rules) {
    for (const Item& item : draft.policy().ssh.keys) {
        if (rules.keys.size() == ssh_agent::kMostKeys)
            return entry_error(item, base::format("ssh.keys has more than {} entries", ssh_agent::kMostKeys),
                               "remove some");
        base::Result<ssh_agent::Key> key = read_key(draft, item);
        if (!key) return key.error();
        rules.keys.push_back(*std::move(key));
    }
    return base::success();
}

base::Status read_hosts(Draft& draft, ssh_agent::Rules& rules) {
    const policy::Items& items = draft.policy().ssh.hosts;
    if (items.empty()) return base::success();
    std::string known;
    for (const base::Path& path :
         {draft.home / ".ssh/known_hosts", base::Path::known("/etc/ssh/ssh_known_hosts")}) {
        base::Result<std::string> text = trusted_text(draft, path, kLargestKnownHosts);
        if (!text) return entry_error(items.front(), text.error().what, text.error().advice);
        known += *text + "\n";
    }
    for (const Item& item : items) {
        base::Result<ssh_agent::Host> host = ssh_agent::parse_host(item.text);
        if (!host) return entry_error(item, host.error().what, host.error().advice);
        if (rules.hosts.size() == ssh_agent::kMostHosts)
            return entry_error(item,
                               base::format("ssh.hosts has more than {} entries", ssh_agent::kMostHosts),
                               "remove some");
        host->keys = ssh_agent::known_keys(known, *host);
        if (host->keys.empty()) {
            std::string port = host->port == ssh_agent::kSshPort ? "" : base::format("-p {} ", host->port);
            return entry_error(item, base::format("no key of {} is in ~/.ssh/known_hosts", host->name),
                               base::format("connect once outside, and compare its fingerprint: ssh {}{}@{}",
                                            port, host->user, host->name));
        }
        rules.hosts.push_back(*std::move(host));
    }
    return base::success();
}

void show_known_hosts(Draft& draft, const ssh_agent::Rules& rules) {
    if (rules.hosts.empty()) return;
    std::string lines;
    std::vector<std::string> shown;  // a host may have several users
    for (const ssh_agent::Host& host : rules.hosts) {
        std::string name = ssh_agent::known_name(host.name, host.port);
        if (std::ranges::count(shown, name) > 0) continue;
        shown.push_back(std::move(name));
        lines += ssh_agent::known_lines(host);
    }
    draft.etc_files.push_back(
        {.name = "ssh/ssh_known_hosts",
         .content = std::move(lines),
         .reason = {"public keys of the hosts of ssh.hosts", draft.policy().ssh.hosts.front().origin}});
}

std::string purpose_of(const ssh_agent::Rules& rules) {
    std::vector<std::string> targets;
    for (const ssh_agent::Host& host : rules.hosts) targets.push_back(host.text());
    for (const std::string& name : rules.sign) targets.push_back("files of the namespace " + name);
    return base::format("your ssh-agent signs with {} for {}{}",
                        base::counted(rules.keys.size(), "key", "keys"), base::join(targets, ", "),
                        rules.asks ? ", if you approve" : "");
}

}  // namespace

base::Status open_ssh(Draft& draft) {
    const auto& asked = draft.policy().ssh;
    if (asked.keys.empty() && asked.hosts.empty() && asked.sign.empty()) return base::success();
    ssh_agent::Rules& rules = draft.plan.ssh.rules;
    if (base::Status read = read_keys(draft, rules); !read) return read;
    if (base::Status read = read_hosts(draft, rules); !read) return read;
    for (const Item& item : asked.sign) rules.sign.push_back(item.text);
    rules.asks = asked.asks;
    rules.unbound =
        asked.unbound == policy::SshUnbound::ask ? ssh_agent::Unbound::ask : ssh_agent::Unbound::refuse;
    rules.ask_time = std::chrono::seconds(draft.policy().network.ask_time);
    show_known_hosts(draft, rules);
    const Item& first = !asked.hosts.empty()  ? asked.hosts.front()
                        : !asked.sign.empty() ? asked.sign.front()
                                              : asked.keys.front();
    draft.plan.ssh.hosts_origin = first.origin;
    if (rules.keys.empty())
        return entry_error(first, "no key may sign for it: ssh.keys is empty",
                           "add ssh.keys = [\"~/.ssh/id_ed25519.pub\"]");
    if (rules.hosts.empty() && rules.sign.empty()) {
        draft.note(
            NoteKind::information,
            "ssh.keys alone opens nothing: ssh.hosts = [\"git@github.com\"] names where they may log in");
        return base::success();
    }
    if (draft.inputs.request.job) {
        draft.note(NoteKind::information, "the job has no ssh-agent: yours is on the host of the submission");
        return base::success();
    }
    std::optional<std::string_view> agent =
        host::variable(draft.inputs.request.policy_environment(), kVariable);
    if (!agent || !agent->starts_with('/')) {
        draft.note(
            NoteKind::information,
            "ssh.keys has no effect: SSH_AUTH_SOCK names no agent; start one with 'eval \"$(ssh-agent)\"' "
            "and add the key with 'ssh-add'");
        return base::success();
    }
    rules.agent = *agent;
    draft.plan.ssh.is_open = true;
    const Reason reason{purpose_of(rules), first.origin};
    draft.assembled.push_back(Mount{.kind = MountKind::helper_socket,
                                    .target = draft.own / base::kSshAgentSocket,
                                    .source = std::string(base::kSshAgentSocket),
                                    .reason = reason});
    draft.added.push_back({std::string(kVariable), (draft.own / base::kSshAgentSocket).str(), reason});
    return base::success();
}

}  // namespace plan
