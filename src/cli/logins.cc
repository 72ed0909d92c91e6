// SPDX-License-Identifier: MIT
#include "cli/logins.h"

#include <algorithm>

#include "base/text.h"
#include "host/facts.h"

namespace cli {
namespace {

using config::Item;

bool has_text(std::span<const Item> items, std::string_view text) {
    return std::ranges::any_of(items, [&](const Item& item) { return item.text == text; });
}

// What the user asks for by --env or env.allow passes.
bool take_out(policy::Policy& policy, const Item& variable) {
    policy::Items& allowed = policy.env.allow;
    const bool is_users_own = std::ranges::any_of(allowed, [&](const Item& item) {
        return item.text == variable.text && item.origin.layer != config::Layer::profile;
    });
    if (is_users_own) return false;
    std::erase_if(allowed, [&](const Item& item) { return item.text == variable.text; });
    policy.env.block.push_back({variable.text, policy.credentials.login_origin});
    return true;
}

}  // namespace

base::Result<std::vector<std::string>> keep_logins_outside(std::span<const config::Profile> agents,
                                                           const std::vector<std::string>& environment,
                                                           policy::Policy& policy) {
    std::vector<std::string> lines;
    const config::Origin& origin = policy.credentials.login_origin;
    for (const config::Profile& agent : agents) {
        if (!agent.tokens.empty() && agent.login_credentials.empty())
            return base::Error{
                .what = base::format("the log-in of {} can't stay outside: its profile names no "
                                     "agent.login_credentials",
                                     agent.title),
                .advice = "use --login inside, or write the credentials of its log-in in its profile",
                .where = origin.describe()};
        for (const Item& name : agent.login_credentials) {
            if (!has_text(policy.credentials.use, name.text))
                policy.credentials.use.push_back({name.text, origin});
        }
        for (const Item& variable : agent.credentials) {
            if (!take_out(policy, variable)) continue;
            if (host::variable(environment, variable.text))
                lines.push_back(base::format("{} stays outside: the log-in of {} is outside ({})",
                                             variable.text, agent.title, origin.describe()));
        }
    }
    return lines;
}

}  // namespace cli
