// SPDX-License-Identifier: MIT
#include <algorithm>
#include <list>
#include <string>
#include <vector>

#include "base/parse.h"
#include "slurm/options/denial.h"
#include "slurm/options/option.h"
#include "slurm/options/tables.h"

namespace slurm {
namespace {

using enum FlagVariables;
using enum Colon;

// The format of times; every client accepts it.
constexpr Variable kTimeFormat = {"SLURM_TIME_FORMAT", ""};

constexpr Variable kQueueVariables[] = {
    {"SQUEUE_ACCOUNT", "accounts"},
    {"SQUEUE_ALL", "all"},
    {"SQUEUE_ARRAY", "array"},
    {"SQUEUE_ARRAY_UNIQUE", "array-unique"},
    {"SLURM_CLUSTERS", "clusters"},
    {"SQUEUE_FEDERATION", "federation"},
    {"SQUEUE_FORMAT", "format"},
    {"SQUEUE_FORMAT2", "Format"},
    {"SQUEUE_LICENSES", "licenses"},
    {"SQUEUE_LOCAL", "local"},
    {"SQUEUE_NAMES", "name"},
    {"SQUEUE_PARTITION", "partitions"},
    {"SQUEUE_PRIORITY", "priority"},
    {"SQUEUE_QOS", "qos"},
    {"SQUEUE_SIB", "sibling"},
    {"SQUEUE_SIBLING", "sibling"},
    {"SQUEUE_SORT", "sort"},
    {"SQUEUE_STATES", "states"},
    {"SQUEUE_USERS", "users"},
    {"SLURM_BITSTR_LEN", ""},
    kTimeFormat,
};

constexpr Variable kCancelVariables[] = {
    {"SCANCEL_ACCOUNT", "account"}, {"SCANCEL_BATCH", "batch"},
    {"SCANCEL_CTLD", "ctld"},       {"SCANCEL_FULL", "full"},
    {"SCANCEL_HURRY", "hurry"},     {"SCANCEL_INTERACTIVE", "interactive"},
    {"SCANCEL_NAME", "name"},       {"SCANCEL_PARTITION", "partition"},
    {"SCANCEL_QOS", "qos"},         {"SCANCEL_STATE", "state"},
    {"SCANCEL_USER", "user"},       {"SCANCEL_VERBOSE", "verbose"},
    {"SCANCEL_WCKEY", "wckey"},     {"SLURM_CLUSTERS", "clusters"},
};

constexpr Variable kControlVariables[] = {
    {"SCONTROL_ALL", "all"},         {"SLURM_CLUSTERS", "clusters"}, {"SCONTROL_FEDERATION", "federation"},
    {"SCONTROL_FUTURE", "future"},   {"SCONTROL_LOCAL", "local"},    {"SCONTROL_SIB", "sibling"},
    {"SCONTROL_SIBLING", "sibling"}, {"SLURM_BITSTR_LEN", ""},       kTimeFormat,
};

constexpr Variable kAccountingVariables[] = {
    {"SACCT_FEDERATION", "federation"},
    {"SACCT_FORMAT", "format"},
    {"SACCT_LOCAL", "local"},
    kTimeFormat,
};

constexpr Variable kInfoVariables[] = {
    {"SINFO_ALL", "all"},
    {"SLURM_CLUSTERS", "clusters"},
    {"SINFO_FEDERATION", "federation"},
    {"SINFO_FORMAT", "format"},
    {"SINFO_LOCAL", "local"},
    {"SINFO_PARTITION", "partition"},
    {"SINFO_SORT", "sort"},
    kTimeFormat,
};

constexpr Variable kPriorityVariables[] = {
    {"SLURM_CLUSTERS", "clusters"}, {"SPRIO_FEDERATION", "federation"}, {"SPRIO_FORMAT", "format"},
    {"SPRIO_LOCAL", "local"},       {"SPRIO_SIBLING", "sibling"},
};

constexpr Variable kDiagnosisVariables[] = {{"SLURM_CLUSTERS", "clusters"}};
constexpr Variable kTimeVariables[] = {kTimeFormat};

constexpr Variable kReportVariables[] = {
    {"SREPORT_CLUSTER", "cluster"},
    {"SREPORT_FEDERATION", "federation"},
    {"SREPORT_LOCAL", "local"},
    {"SREPORT_TRES", "tres"},
    kTimeFormat,
};

constexpr RefusedCommand kRefused[] = {
    {"sattach", code::command, "standard streams of running steps are not attached to; use srun --overlap"},
    {"sbcast", code::outside_file, "Slurm would write files on the nodes outside the jail; copy in a step"},
    {"scrontab", code::command, "jobs that repeat would outlive the session"},
    {"scrun", code::outside_code, "containers would be made outside the jail"},
    {"strigger", code::outside_code, "the program of a trigger would run outside the jail"},
    {"sview", code::other_users, "shows everybody's jobs and needs a display"},
    {"smap", code::other_users, "shows everybody's jobs"},
    {"sgather", code::outside_file, "Slurm would read files on the nodes outside the jail"},
    {"sackd", code::administration, "a daemon of Slurm"},
    {"slurmctld", code::administration, "a daemon of Slurm"},
    {"slurmd", code::administration, "a daemon of Slurm"},
    {"slurmdbd", code::administration, "a daemon of Slurm"},
    {"slurmrestd", code::administration, "a daemon of Slurm, with its user's rights"},
    {"slurmstepd", code::administration, "a daemon of Slurm"},
};

}  // namespace

namespace {

std::string_view name_in(std::string_view text) {
    text.remove_prefix(2);
    return text.substr(0, text.find_first_of("=["));
}

Takes value_of(std::string_view text) {
    if (text.ends_with("[=]")) return Takes::maybe;
    return text.ends_with('=') ? Takes::value : Takes::nothing;
}

std::span<Command> own_commands() {
    static Command all[] = {
        {"sbatch", tables::sbatch(), tables::sbatch_variables(), when_yes, true, true, 255,
         separates_in_front},
        {"srun", tables::srun(), tables::srun_variables(), when_yes, true, true, 255, separates},
        {"salloc", tables::salloc(), tables::salloc_variables(), when_yes, true, true, 255,
         separates_in_front},
        {"squeue", tables::squeue(), kQueueVariables},
        {"scancel", tables::scancel(), kCancelVariables, when_true},
        {"scontrol", tables::scontrol(), kControlVariables},
        {"sacct", tables::sacct(), kAccountingVariables, when_set, false, false},
        {"sacctmgr", tables::sacctmgr(), kTimeVariables},
        {"sinfo", tables::sinfo(), kInfoVariables},
        {"sstat", tables::sstat(), {}, when_set, false, false},
        {"sprio", tables::sprio(), kPriorityVariables},
        {"sshare", tables::sshare(), {}},
        {"sdiag", tables::sdiag(), kDiagnosisVariables},
        {"sreport", tables::sreport(), kReportVariables},
    };
    return all;
}

}  // namespace

bool is_spank_option(std::string_view text) {
    if (!text.starts_with("--")) return false;
    const std::string_view name = name_in(text), end = text.substr(2 + name.size());
    return !name.empty() && (end.empty() || end == "=" || end == "[=]") &&
           std::ranges::all_of(name, [](char letter) {
               return base::is_name_character(letter) || letter == '-' || letter == '.';
           });
}

void add_spank_options(std::span<const std::string> texts) {
    static std::list<std::string> names;
    static std::list<std::vector<Option>> extended;
    if (texts.empty()) return;
    for (Command& command : own_commands()) {
        if (command.name != "sbatch" && command.name != "srun" && command.name != "salloc") continue;
        // Slurm's own rows come first: they decide about a name that both have.
        std::vector<Option>& rows = extended.emplace_back(command.options.begin(), command.options.end());
        for (const std::string& text : texts) {
            if (!is_spank_option(text)) continue;
            rows.push_back({.name = names.emplace_back(name_in(text)),
                            .takes = value_of(text),
                            .release = "of the site"});
        }
        command.options = rows;
    }
}

std::span<const Command> commands() {
    return own_commands();
}

const Command* find_command(std::string_view name) {
    for (const Command& command : commands())
        if (command.name == name) return &command;
    return nullptr;
}

const Option* find_option(const Command& command, std::string_view name) {
    for (const Option& option : command.options) {
        if (name.empty() || option.name != name) continue;
        return option.same_as.empty() ? &option : find_option(command, option.same_as);
    }
    return nullptr;
}

std::string name_of(const Option& option) {
    return option.name.empty() ? std::string("-") + option.letter : "--" + std::string(option.name);
}

std::span<const RefusedCommand> refused_commands() {
    return kRefused;
}

const RefusedCommand* find_refused_command(std::string_view name) {
    for (const RefusedCommand& command : kRefused)
        if (command.name == name) return &command;
    return nullptr;
}

}  // namespace slurm
