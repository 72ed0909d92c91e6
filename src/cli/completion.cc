// SPDX-License-Identifier: MIT
// `completion SHELL`: printed from the table of settings, so that it knows what the program knows.
#include <algorithm>

#include "cli/arguments.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "config/reference.h"

namespace cli {
namespace {

struct Shell {
    std::string_view name;
    std::string (*script)();
};
constexpr Shell kShells[] = {
    {"bash", config::bash_completion},
    {"zsh", config::zsh_completion},
    {"fish", config::fish_completion},
};

}  // namespace

int completion_verb(const Invocation& call) {
    const std::vector<std::string>& words = call.arguments.words;
    const Shell* shell =
        words.size() == 1 ? std::ranges::find(kShells, words[0], &Shell::name) : std::end(kShells);
    if (shell == std::end(kShells)) {
        return call.output.fail({.what = "completion needs the name of a shell",
                                 .advice = usage_of("completion"),
                                 .exit_code = base::ExitCode::usage});
    }
    return call.output.result(shell->script());
}

}  // namespace cli
