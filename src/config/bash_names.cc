// SPDX-License-Identifier: MIT
#include "config/bash_names.h"

#include <algorithm>

namespace config {
namespace {

struct Renamed {
    std::string_view variable;
    std::string_view key;
};

constexpr Renamed kNames[] = {
    {"ALLOWED_PROJECT_PARENTS", "project.parents"},
    {"READONLY_MOUNTS", "mounts.readonly"},
    {"HOME_ACCESS", "home.access"},
    {"HOME_READONLY", "home.readonly"},
    {"HOME_WRITABLE", "home.writable"},
    {"HOME_SEEDED_FILES", "home.seeded"},
    {"EXTRA_BLOCKED_PATHS", "mounts.hidden"},
    {"BLOCKED_FILES", "mounts.hidden"},
    {"EXTRA_WRITABLE_PATHS", "mounts.writable"},
    {"DENIED_WRITABLE_PATHS", "mounts.deny_writable"},
    {"DEVICES", "devices.allow"},
    {"DEVICES_BLACKLIST", "devices.deny"},
    {"BLOCKED_ENV_VARS", "env.block"},
    {"BLOCKED_ENV_PATTERNS", "env.block_patterns"},
    {"ALLOWED_ENV_VARS", "env.allow"},
    {"SANDBOX_ENV", "env.set"},
    {"SANDBOX_BACKEND", "isolation.backend"},
    {"SANDBOX_MODULES", "modules.load"},
    {"PRIVATE_TMP", "isolation.private_tmp"},
    {"PRIVATE_IPC", "isolation.private_ipc"},
    {"FILTER_PASSWD", "isolation.filter_passwd"},
    {"SANDBOX_NPROC_LIMIT", "limits.processes"},
    {"SANDBOX_QUIET", "ui.quiet"},
    {"NETWORK_FILTER_MODE", "network.mode"},
    {"NETWORK_FILTER_FALLBACK", "network.fallback"},
    {"NETWORK_BLOCKLIST", "network.block"},
    {"NETWORK_BLOCKLIST_EXCEPT", "network.allow"},
    {"NETWORK_MAIL_BLOCK", "network.mail_block"},
    {"SLURM_SCOPE", "slurm.scope"},
    {"CHAPERON_LOG_LEVEL", "slurm.log_level"},
    {"CHAPERON_LOG_RETAIN_DAYS", "slurm.log_days"},
    {"ENABLED_AGENTS", "agents.enabled"},
    {"SUPPRESS_AGENT_WARNINGS", "agents.quiet"},
};

struct Habit {
    std::string_view word;
    std::string_view reason;  // empty: without meaning here, passed over
};

constexpr Habit kCommands[] = {
    {"source", "it reads another file: import that one too"},
    {".", "it reads another file: import that one too"},
    {"unset", "a value can't be taken back: leave the setting out instead"},
    {"if", "conditions are not carried over: decide, or use a file with [match] for each case"},
    {"case", "conditions are not carried over: decide, or use a file with [match] for each case"},
    {"[[", "conditions are not carried over: decide, or use a file with [match] for each case"},
    {"[", "conditions are not carried over: decide, or use a file with [match] for each case"},
    {"test", "conditions are not carried over: decide, or use a file with [match] for each case"},
    {"for", "loops are not carried over: write the values out"},
    {"while", "loops are not carried over: write the values out"},
    {"until", "loops are not carried over: write the values out"},
    {"set", ""},
    {"shopt", ""},
    {":", ""},
    {"true", ""},
};

}  // namespace

std::string_view reason_for_bash_command(std::string_view word) {
    const Habit* habit = std::ranges::find(kCommands, word, &Habit::word);
    return habit == std::end(kCommands) ? "commands and functions are not run" : habit->reason;
}

std::string_view key_of_bash_variable(std::string_view variable) {
    const Renamed* row = std::ranges::find(kNames, variable, &Renamed::variable);
    return row == std::end(kNames) ? std::string_view() : row->key;
}

}  // namespace config
