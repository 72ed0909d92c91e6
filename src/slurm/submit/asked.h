// SPDX-License-Identifier: MIT
// What a call asks for, from its command line, its variables and the directives of its script, in one list;
// and the parts of it that sbatch, srun and salloc treat alike.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slurm/chaperon/conversation.h"
#include "slurm/jobs/spec.h"
#include "slurm/options/parse.h"

namespace slurm {

struct Asked {
    Parsed line;  // directives that nothing overrides, then the command line
    // Input variables of passed options, under their own names: the real command keeps its own rules about
    // what beats what.
    std::vector<std::string> variables;
    // Of handled options: a variable counts where the command line is silent.
    std::vector<Given> from_variables;

    // The command line's word, then the variable's, then the directive's.
    std::optional<std::string> value_of(std::string_view option) const;
    bool has(std::string_view option) const { return value_of(option).has_value(); }

    size_t directives = 0;  // how many of line.options they are
};

// The call was answered already.
using Answered = chaperon::Ending;

// Reads the call; what can't be read is answered. `script` is that of sbatch.
std::variant<Asked, Answered> read_call(const chaperon::Call& call, std::string_view script,
                                        chaperon::Conversation& conversation);

// Options for the real command that depend on the session: comment, mail. A Denial where policy forbids one.
std::optional<Denial> add_common(const chaperon::Context& context, const Asked& asked,
                                 std::vector<std::string>& arguments);
// The job's name: asked for, or `otherwise` made fit.
void add_name(const Asked& asked, std::string_view otherwise, std::vector<std::string>& arguments);

// The parts of the spec that the session decides.
Spec spec_for(const chaperon::Context& context);
// The directory of the job inside the jail.
std::string directory_of(const chaperon::Call& call, const Asked& asked);

// `--help` and its like: the real command answers.
Answered inform(const chaperon::Call& call, const Asked& asked, chaperon::Conversation& conversation);
// A relay that could not be made is a fault of ours, not of the call.
Answered answer(const base::Result<chaperon::Ending>& relayed, chaperon::Conversation& conversation);
Denial fault(const base::Error& error);

std::string base_name(std::string_view path);

}  // namespace slurm
