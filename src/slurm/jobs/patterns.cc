// SPDX-License-Identifier: MIT
#include "slurm/jobs/patterns.h"

#include <algorithm>

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

}  // namespace slurm
