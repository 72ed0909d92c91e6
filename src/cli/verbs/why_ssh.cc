// SPDX-License-Identifier: MIT
#include "cli/verbs/why_ssh.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "ssh_agent/rules.h"

namespace cli {

base::Result<plan::Explanation> explain_ssh(const plan::Plan& plan, const std::string& target) {
    base::Result<ssh_agent::Host> asked = ssh_agent::parse_host(target);
    if (!asked) {
        base::Error error = asked.error();
        error.exit_code = base::ExitCode::usage;
        return error;
    }
    const ssh_agent::Rules& rules = plan.ssh.rules;
    const std::string text = asked->text();
    plan::Explanation explanation{.subject = text, .is_allowed = false, .verdict = "refused"};
    const bool is_named =
        std::ranges::any_of(rules.hosts, [&](const ssh_agent::Host& host) { return host.text() == text; });
    const std::string line = base::format("ssh.hosts = [\"{}\"]", text);
    if (rules.hosts.empty() && rules.sign.empty()) {
        explanation.reason.why = "no setting gives the jail an ssh-agent";
        explanation.change = "ssh.keys = [\"~/.ssh/id_ed25519.pub\"] and " + line;
        return explanation;
    }
    explanation.reason.origin = plan.ssh.hosts_origin;
    if (!is_named) {
        explanation.reason.why = "ssh.hosts does not name this login";
        explanation.change = line;
        return explanation;
    }
    if (!plan.ssh.is_open) {
        explanation.reason.why = "the session has no ssh-agent: SSH_AUTH_SOCK names none";
        explanation.change = "start an agent: eval \"$(ssh-agent)\" && ssh-add";
        return explanation;
    }
    std::vector<std::string> keys;
    for (const ssh_agent::Key& key : rules.keys) keys.push_back(key.fingerprint);
    explanation.is_allowed = true;
    explanation.verdict = rules.asks ? "asked for each signature" : "signed";
    explanation.reason.why =
        base::format("ssh.hosts names it; your ssh-agent signs with {}", base::join(keys, ", "));
    return explanation;
}

}  // namespace cli
