// SPDX-License-Identifier: MIT
// Properties of any bytes that arrive on a node in place of a job's description, and of file names with
// patterns. Each function returns the claim that these bytes break, or null.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "slurm/jobs/environment.h"
#include "slurm/jobs/spec.h"

namespace slurm {

inline const char* broken_for_spec(std::string_view bytes) {
    (void)spec_from_job_file(bytes);
    base::Result<Spec> spec = decode_spec(bytes);
    if (!spec) return spec.error().advice.empty() ? "an error says what to do" : nullptr;
    std::string text = encode(*spec);
    base::Result<std::string> file = job_file("/usr/bin/agent-sandbox", *spec, "#SBATCH --time=1\n");
    if (file) {
        base::Result<Spec> again = spec_from_job_file(*file);
        if (!again || encode(*again) != text) return "a job is the same after a journey in a file";
    }
    base::Result<std::vector<std::string>> variables = step_variables(*spec);
    if (!variables) return nullptr;
    variables->push_back("PATH=/bin");
    base::Result<std::optional<Spec>> again = take_step_variables(*variables);
    if (!again || !*again || encode(**again) != text)
        return "a step is the same after a journey in variables";
    return *variables == std::vector<std::string>{"PATH=/bin"}
               ? nullptr
               : "the variables of a step are taken out, and no others";
}

// A pattern, then variables, each ended by NUL.
inline const char* broken_for_patterns(std::string_view bytes) {
    std::vector<std::string> environment;
    for (std::string_view word : base::split(bytes, '\0')) environment.emplace_back(word);
    std::string pattern = environment.front();
    environment.erase(environment.begin());
    std::string name = expand_pattern(pattern, environment, "/home/me");
    if (!name.starts_with('/')) return "a name is absolute";
    if (pattern.find_first_of("%\\") == std::string::npos && name != pattern && name != "/home/me/" + pattern)
        return "a name without patterns stays as it is";
    // The largest width is ten, and no value is longer than all variables.
    if (name.size() > 10 + pattern.size() * (bytes.size() + 12)) return "a name is bounded";
    return nullptr;
}

}  // namespace slurm
