// SPDX-License-Identifier: MIT
#include "slurm/jobs/environment.h"

#include <algorithm>

#include "base/parse.h"
#include "slurm/jobs/patterns.h"

namespace slurm {
namespace {

// A name, or a prefix of names followed by a star.
constexpr std::string_view kOfNode[] = {
    "SLURM_*",
    "SLURMD_*",
    "SRUN_DEBUG",
    "PMI_*",
    "PMI2_*",
    "PMIX_*",
    "HOSTNAME",
    "AGENT_SANDBOX*",
    "TMPDIR",
    "CUDA_VISIBLE_DEVICES",
    "GPU_DEVICE_ORDINAL",
    "ROCR_VISIBLE_DEVICES",
    "ZE_AFFINITY_MASK",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
};

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
    return std::ranges::any_of(kOfNode, [&](std::string_view known) {
        if (!known.ends_with('*')) return name == known;
        return name.starts_with(known.substr(0, known.size() - 1));
    });
}

std::vector<std::string> exported(const std::vector<std::string>& environment, std::string_view choice) {
    std::vector<std::string> chosen;
    auto take_all = [&] {
        for (const std::string& entry : environment) {
            if (entry.find('=') != std::string::npos && !belongs_to_node(name_of(entry)))
                chosen.push_back(entry);
        }
    };
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
            if (given != environment.end()) put(chosen, *given);
        }
    }
    return chosen;
}

std::vector<std::string> laid_over(const std::vector<std::string>& given,
                                   const std::vector<std::string>& chosen) {
    std::vector<std::string> result = given;
    for (const std::string& entry : chosen) {
        bool is_variable = entry.find('=') != std::string::npos && !entry.starts_with('=');
        if (is_variable && !belongs_to_node(name_of(entry))) put(result, entry);
    }
    return result;
}

}  // namespace slurm
