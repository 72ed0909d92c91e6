// SPDX-License-Identifier: MIT
#include "slurm/jobs/environment.h"

#include <algorithm>
#include <iterator>

#include "base/parse.h"

namespace slurm {
namespace {

// A letter and the variables with its value. The first one that is set counts.
struct Row {
    char letter;
    std::string_view first, second;
    std::string_view otherwise;
    bool is_number;  // may be padded
};
constexpr Row kRows[] = {
    {'A', "SLURM_ARRAY_JOB_ID", "SLURM_JOB_ID", "0", true},
    {'a', "SLURM_ARRAY_TASK_ID", "", "4294967294", true},
    {'j', "SLURM_JOB_ID", "SLURM_JOBID", "0", true},
    {'N', "SLURMD_NODENAME", "HOSTNAME", "", false},
    {'n', "SLURM_NODEID", "", "0", true},
    {'s', "SLURM_STEP_ID", "", "batch", true},
    {'t', "SLURM_PROCID", "", "0", true},
    {'u', "USER", "LOGNAME", "", false},
    {'x', "SLURM_JOB_NAME", "", "", false},
};

constexpr size_t kWidest = 10;  // Slurm's limit

std::string padded(std::string value, size_t width) {
    if (value.size() < width) value.insert(0, width - value.size(), '0');
    return value;
}

std::string short_host(std::string_view name) {
    return std::string(name.substr(0, name.find('.')));
}

}  // namespace

std::string_view value_of(const std::vector<std::string>& environment, std::string_view name) {
    for (std::string_view entry : environment) {
        if (entry.starts_with(name) && entry.size() > name.size() && entry[name.size()] == '=')
            return entry.substr(name.size() + 1);
    }
    return {};
}

std::string expand_pattern(std::string_view pattern, const std::vector<std::string>& environment,
                           std::string_view directory) {
    std::string name;
    // A backslash anywhere disables all patterns.
    bool is_plain = pattern.find('\\') != std::string_view::npos;
    for (size_t at = 0; at < pattern.size(); ++at) {
        char letter = pattern[at];
        if (is_plain) {
            if (letter != '\\') name += letter;
            continue;
        }
        if (letter != '%') {
            name += letter;
            continue;
        }
        size_t end = at + 1;
        size_t width = 0;
        while (end < pattern.size() && base::is_digit(pattern[end]))
            width = std::min(kWidest, width * 10 + static_cast<size_t>(pattern[end++] - '0'));
        char kind = end < pattern.size() ? pattern[end] : '\0';
        const auto* row = std::ranges::find(kRows, kind, &Row::letter);
        if (kind == '%') {
            name += '%';
        } else if (kind == 'J') {
            // The job, and the step if there is one.
            std::string_view step = value_of(environment, "SLURM_STEP_ID");
            name += value_of(environment, "SLURM_JOB_ID");
            if (!step.empty()) name += "." + std::string(step);
        } else if (row != std::end(kRows)) {
            std::string_view value = value_of(environment, row->first);
            if (value.empty() && !row->second.empty()) value = value_of(environment, row->second);
            if (value.empty()) value = row->otherwise;
            std::string text = kind == 'N' ? short_host(value) : std::string(value);
            name += row->is_number ? padded(text, width) : text;
        } else {
            name += pattern.substr(at, end + 1 - at);
        }
        at = end;
    }
    if (name.starts_with('/')) return name;
    return std::string(directory) + "/" + name;
}

namespace {

// A name, or a prefix of names followed by a star.
constexpr std::string_view kOfNode[] = {
    "SLURMD_*",
    "SRUN_DEBUG",
    "PMI_*",
    "PMI2_*",
    "PMIX_*",
    "HOSTNAME",
    "AGENT_SANDBOX*",
    "CUDA_VISIBLE_DEVICES",
    "GPU_DEVICE_ORDINAL",
    "ROCR_VISIBLE_DEVICES",
    "ZE_AFFINITY_MASK",
};

// Every jail sets these for itself. A value that the agent changed is meant for its steps and jobs.
constexpr std::string_view kOfJail[] = {"TMPDIR",     "http_proxy",  "https_proxy", "all_proxy", "no_proxy",
                                        "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",   "NO_PROXY"};

// The names that Slurm sets itself, or that its commands read as options. Other names with its prefix are the
// agent's own. The list is longer than any release needs: a value of Slurm that passed would be wrong in
// another job.
constexpr std::string_view kSlurmPrefix = "SLURM_";
constexpr std::string_view kOfSlurm[] = {
    "ACC*",     "ARRAY_*",  "BCAST*",    "BITSTR_*", "BURST_*",    "CLUSTER*",  "COMPRESS",  "CONF",
    "CONSTR*",  "CONTAIN*", "CORE_*",    "CPU*",     "DEBUG*",     "DELAY_*",   "DEPEND*",   "DIST*",
    "DISABLE*", "EPILOG",   "EXACT",     "EXCLUS*",  "EXIT_*",     "EXPORT*",   "FED*",      "GPU*",
    "GRES*",    "GTIDS",    "HET_*",     "HINT",     "IMMEDIATE*", "JOB*",      "JWT",       "KILL_*",
    "LABELIO",  "LAUNCH_*", "LOCALID",   "LIC*",     "MEM_*",      "MPI_*",     "NCORES*",   "NETWORK",
    "NNODES",   "NODE*",    "NO_KILL",   "NPROCS",   "NSOCKETS*",  "NTASKS*",   "OOM*",      "OPEN_MODE",
    "OVER*",    "PACK_*",   "PARTITION", "PMI*",     "POWER",      "PRIO_*",    "PROCID",    "PROFILE*",
    "PROLOG",   "PTY_*",    "QOS",       "REMOTE_*", "REQ_*",      "RESERV*",   "RESTART_*", "RESV_*",
    "RLIMIT_*", "SCRIPT_*", "SEND_*",    "SHARD*",   "SIGNAL",     "SPANK_*",   "SPREAD_*",  "SRUN_*",
    "STD*",     "STEP*",    "SUBMIT_*",  "TASK*",    "THREAD*",    "TIME*",     "TOPOLOGY*", "TRES*",
    "UMASK",    "UNBUFF*",  "USE_*",     "WAIT*",    "WCKEY",      "WORKING_*", "WHOLE",     "X11*",
};

bool is_among(std::span<const std::string_view> patterns, std::string_view name) {
    return std::ranges::any_of(patterns, [&](std::string_view known) {
        if (!known.ends_with('*')) return name == known;
        return name.starts_with(known.substr(0, known.size() - 1));
    });
}

std::string_view name_of(std::string_view entry) {
    return entry.substr(0, entry.find('='));
}

// Splits at commas outside of quotes, and removes the quotes.
std::vector<std::string> split_choice(std::string_view choice) {
    std::vector<std::string> parts(1);
    char quote = '\0';
    for (char letter : choice) {
        if (quote != '\0' ? letter == quote : letter == '"' || letter == '\'') {
            quote = quote != '\0' ? '\0' : letter;
        } else if (letter == ',' && quote == '\0') {
            parts.emplace_back();
        } else {
            parts.back() += letter;
        }
    }
    std::erase(parts, "");
    return parts;
}

bool has(const std::vector<std::string>& environment, std::string_view name) {
    return std::ranges::any_of(environment, [&](const std::string& entry) { return name_of(entry) == name; });
}

void put(std::vector<std::string>& environment, const std::string& entry) {
    std::string_view name = name_of(entry);
    auto known =
        std::ranges::find_if(environment, [&](const std::string& other) { return name_of(other) == name; });
    if (known == environment.end()) {
        environment.push_back(entry);
    } else {
        *known = entry;
    }
}

}  // namespace

bool belongs_to_node(std::string_view name) {
    if (name.starts_with(kSlurmPrefix)) return is_among(kOfSlurm, name.substr(kSlurmPrefix.size()));
    return is_among(kOfNode, name);
}

bool is_set_by_jail(std::string_view name) {
    return is_among(kOfJail, name);
}

std::vector<std::string> exported(const std::vector<std::string>& environment, std::string_view choice,
                                  std::span<const std::string> of_jail) {
    std::vector<std::string> chosen;
    auto is_the_agents = [&](const std::string& entry) {
        return entry.find('=') != std::string::npos && !belongs_to_node(name_of(entry)) &&
               !(is_set_by_jail(name_of(entry)) && std::ranges::find(of_jail, entry) != of_jail.end());
    };
    auto take_all = [&] { std::ranges::copy_if(environment, std::back_inserter(chosen), is_the_agents); };
    if (choice.empty()) take_all();
    for (const std::string& part : split_choice(choice)) {
        if (base::equals_ignoring_case(part, "ALL")) {
            take_all();
        } else if (base::equals_ignoring_case(part, "NONE") || base::equals_ignoring_case(part, "NIL") ||
                   belongs_to_node(name_of(part))) {
            continue;
        } else if (part.find('=') != std::string::npos) {
            put(chosen, part);
        } else {
            auto given = std::ranges::find_if(
                environment, [&](const std::string& entry) { return name_of(entry) == part; });
            if (given != environment.end() && is_the_agents(*given)) put(chosen, *given);
        }
    }
    return chosen;
}

std::vector<std::string> laid_over(const std::vector<std::string>& given,
                                   const std::vector<std::string>& chosen) {
    std::vector<std::string> result = given;
    for (const std::string& entry : chosen) {
        bool is_variable = entry.find('=') != std::string::npos && !entry.starts_with('=');
        if (!is_variable || belongs_to_node(name_of(entry))) continue;
        // A later release of Slurm may set a name that is not in our list: then the node's value counts.
        if (entry.starts_with(kSlurmPrefix) && has(given, name_of(entry))) continue;
        put(result, entry);
    }
    return result;
}

std::vector<std::string> exported_with_file(const std::vector<std::string>& environment,
                                            std::string_view choice, std::span<const std::string> of_jail) {
    std::vector<std::string> chosen;
    // As sbatch (22.05): the file replaces the whole environment, and NONE also drops the file.
    bool is_all = choice.empty() || base::equals_ignoring_case(choice, "ALL");
    if (base::equals_ignoring_case(choice, "NONE") || base::equals_ignoring_case(choice, "NIL"))
        return chosen;
    for (std::string_view entry : environment) {
        if (!entry.starts_with(kFromFile)) continue;
        entry.remove_prefix(kFromFile.size());
        size_t equals = entry.find('=');
        if (equals == entry.npos || equals == 0 || belongs_to_node(entry.substr(0, equals))) continue;
        put(chosen, std::string(entry));
    }
    if (is_all) return chosen;
    for (const std::string& entry : exported(environment, choice, of_jail)) put(chosen, entry);
    return chosen;
}

}  // namespace slurm
