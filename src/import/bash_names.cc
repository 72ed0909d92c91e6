// SPDX-License-Identifier: MIT
#include "import/bash_names.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/text.h"

namespace config {
namespace {

struct Renamed {
    std::string_view variable;
    std::string_view key;      // empty: this program has no such setting
    std::string_view instead;  // then: the advice for the user
};

constexpr Renamed kNames[] = {
    {"ALLOWED_PROJECT_PARENTS", "project.parents", ""},
    {"READONLY_MOUNTS", "mounts.readonly", ""},
    {"HOME_ACCESS", "home.access", ""},
    {"HOME_READONLY", "home.readonly", ""},
    {"HOME_WRITABLE", "home.writable", ""},
    {"HOME_SEEDED_FILES", "home.seeded", ""},
    {"EXTRA_BLOCKED_PATHS", "mounts.hidden", ""},
    {"BLOCKED_FILES", "mounts.hidden", ""},
    {"EXTRA_WRITABLE_PATHS", "mounts.writable", ""},
    {"SANDBOX_BYPASS_TOKEN", "mounts.hidden", ""},
    {"TOKEN_FILE", "mounts.hidden", ""},
    {"DENIED_WRITABLE_PATHS", "mounts.deny_writable", ""},
    {"DEVICES", "devices.allow", ""},
    {"DEVICES_BLACKLIST", "devices.deny", ""},
    {"BLOCKED_ENV_VARS", "env.block", ""},
    {"BLOCKED_ENV_PATTERNS", "env.block_patterns", ""},
    {"ALLOWED_ENV_VARS", "env.allow", ""},
    {"HIDE_FROM_SANDBOX", "env.block", ""},
    {"SANDBOX_ENV", "env.set", ""},
    {"SANDBOX_BACKEND", "isolation.backend", ""},
    {"SANDBOX_MODULES", "modules.load", ""},
    {"PRIVATE_TMP", "isolation.private_tmp", ""},
    {"PRIVATE_IPC", "isolation.private_ipc", ""},
    {"FILTER_PASSWD", "isolation.filter_passwd", ""},
    {"SANDBOX_NPROC_LIMIT", "limits.processes", ""},
    {"SANDBOX_QUIET", "ui.quiet", ""},
    {"NETWORK_FILTER_MODE", "network.mode", ""},
    {"NETWORK_FILTER_FALLBACK", "network.fallback", ""},
    {"NETWORK_BLOCKLIST", "network.block", ""},
    {"NETWORK_BLOCKLIST_EXCEPT", "network.allow", ""},
    {"NETWORK_MAIL_BLOCK", "network.mail_block", ""},
    {"SLURM_SCOPE", "slurm.scope", ""},
    {"CHAPERON_LOG_LEVEL", "",
     "there is no slurm.log_level: what a session asked of Slurm is always logged, and 'agent-sandbox "
     "slurm-log' shows it"},
    {"CHAPERON_LOG_RETAIN_DAYS", "",
     "there is no slurm.log_days: logs of Slurm are removed after 30 days; audit.keep says how long the "
     "record of a session is kept"},
    {"BIND_DEV_PTS", "", "every jail has a /dev/pts of its own"},
    {"LANDLOCK_REQUIRED_ABI", "",
     "there is no such setting: isolation.require names the weakest level that a run may start with, and "
     "'agent-sandbox doctor' shows the level of each control on this machine"},
    {"LANDLOCK_HARD_REQUIREMENT", "",
     "there is no such setting: isolation.require names the weakest level that a run may start with, and "
     "'agent-sandbox doctor' shows the level of each control on this machine"},
    {"ENABLED_AGENTS", "",
     "there is no agents.enabled: the profile of the agent that is run counts, and no other agent's files "
     "are seen; 'agent-sandbox profiles' lists them"},
    {"SUPPRESS_AGENT_WARNINGS", "",
     "there is no agents.quiet: ui.quiet silences what is said at start and end, and 'agent-sandbox digest "
     "--not-needed WHAT' a refusal that does not matter"},
};

const Renamed* find_name(std::string_view variable) {
    const Renamed* row = std::ranges::find(kNames, variable, &Renamed::variable);
    return row == std::end(kNames) ? nullptr : row;
}

}  // namespace

std::string_view key_of_bash_variable(std::string_view variable) {
    const Renamed* row = find_name(variable);
    return row == nullptr ? std::string_view() : row->key;
}

std::vector<std::string_view> names_of_predecessor() {
    std::vector<std::string_view> names;
    for (const Renamed& row : kNames) names.push_back(row.variable);
    return names;
}

bool is_name_of_predecessor(std::string_view variable) {
    return find_name(variable) != nullptr;
}

std::string reason_for_bash_variable(std::string_view variable) {
    if (const Renamed* row = find_name(variable)) {
        return row->instead.empty() ? base::format("this version has no setting {}", row->key)
                                    : std::string(row->instead);
    }
    std::string meant = base::nearest(variable, names_of_predecessor());
    std::string reason = "no setting belongs to this variable";
    if (!meant.empty()) return base::format("{}; {} was probably meant", reason, meant);
    return reason + "; one that the jail shall have stands in env.set";
}

}  // namespace config
