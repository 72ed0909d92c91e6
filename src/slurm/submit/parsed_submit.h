// SPDX-License-Identifier: MIT
// The options of a call, from its command line, its variables and the directives of its script, in one list,
// and the parts that sbatch, srun and salloc treat alike.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slurm/chaperon/conversation.h"
#include "slurm/jobs/spec.h"
#include "slurm/options/parse.h"

namespace slurm {

// The exit status of a call with wrong options.
inline constexpr int kUsage = 1;

struct ParsedSubmit {
    std::string command;  // "sbatch"
    Parsed line;          // directives that are not overridden, then the command line
    // Input variables of passed options, unchanged: the real command applies its own precedence.
    std::vector<std::string> variables;
    // Of handled options: a variable counts if the command line does not set the option.
    std::vector<ParsedOption> from_variables;

    // The command line first, then the variable, then the directive.
    std::optional<std::string> value_of(std::string_view option) const;
    bool has(std::string_view option) const { return value_of(option).has_value(); }

    size_t directives = 0;  // the number of directives at the front of line.options
};

// The call was already answered.
using Answered = chaperon::Ending;

// Parses the call, and answers it if it is malformed. `script` is sbatch's.
std::variant<ParsedSubmit, Answered> read_call(const chaperon::Call& call, std::string_view script,
                                               chaperon::Conversation& conversation);

// Adds the options that depend on the session: cluster, comment, mail. A Denial if policy forbids one.
std::optional<Denial> add_common(const chaperon::Context& context, const ParsedSubmit& submit,
                                 chaperon::Conversation& conversation, std::vector<std::string>& arguments);
// Adds the job's name: the requested one, or `otherwise` with unsuitable characters replaced.
void add_name(const ParsedSubmit& submit, std::string_view otherwise, std::vector<std::string>& arguments);

// The fields of the spec that the session decides.
Spec spec_for(const chaperon::Context& context);
// The directory of the job inside the jail.
std::string directory_of(const chaperon::Call& call, const ParsedSubmit& submit);

// `--help` and similar options: the real command answers.
Answered inform(const chaperon::Call& call, const ParsedSubmit& submit, chaperon::Conversation& conversation);
// If a relay could not be made, this is our fault and not the call's.
Answered answer(const base::Result<chaperon::Ending>& relayed, chaperon::Conversation& conversation);
Denial fault(const base::Error& error);

std::string base_name(std::string_view path);

}  // namespace slurm
