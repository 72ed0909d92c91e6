// SPDX-License-Identifier: MIT
#include "cli/program.h"

#include <malloc.h>
#include <unistd.h>

#include <new>
#include <string_view>

#include "base/process/descriptors.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/slurm/own_jobs.h"
#include "cli/verbs.h"
#include "cli/verbs/overview.h"

namespace cli {
namespace {

int dispatch(const Invocation& call) {
    const Arguments& arguments = call.arguments;
    if (arguments.wants_version) return version_verb(call);
    if (arguments.wants_help) return help_verb(call);
    if (arguments.is_empty) return print_overview(call);
    bool is_submitted =
        arguments.verb.empty() && !arguments.is_dry_run && is_own_job(call.caller, arguments.words);
    if (is_submitted) return submit_own_job(call);
    if (arguments.verb.empty()) return run_verb(call);
    if (arguments.is_dry_run && !find_verb(arguments.verb)->takes_run_flags) {
        return call.output.fail({.what = "--dry-run has no meaning for " + arguments.verb,
                                 .advice = "leave it out",
                                 .exit_code = base::ExitCode::usage});
    }
    return find_verb(arguments.verb)->perform(call);
}

// Out of memory. Nothing started here needs to be finished: a jail ends with its supervisor.
void give_up_without_memory() {
    constexpr std::string_view kLine =
        "agent-sandbox: out of memory; free some, or raise the limit (ulimit -v)\n";
    (void)!::write(STDERR_FILENO, kLine.data(), kLine.size());
    ::_exit(static_cast<int>(base::ExitCode::jail_failed));
}

}  // namespace

int main_program(int argc, char** argv) {
    // A plan takes half a megabyte. Keep the heap from growing and shrinking a dozen times; untouched pages
    // cost nothing.
    ::mallopt(M_TOP_PAD, 1 << 20);
    ::mallopt(M_TRIM_THRESHOLD, 4 << 20);
    std::set_new_handler(give_up_without_memory);
    // If descriptor 0, 1 or 2 were closed, the next open() would reuse the number, and a message could be
    // written to that file.
    if (!base::fill_standard_descriptors()) return static_cast<int>(base::ExitCode::jail_failed);
    Caller caller = probe_environment();
    Output output = Output::standard(caller.environment);
    if (base::Status found = probe_working_directory(caller); !found) return output.fail(found.error());

    std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
    base::Result<Arguments> arguments = parse_arguments(words, caller.working_directory);
    if (!arguments) return output.fail(arguments.error());
    return dispatch({caller, *arguments, output});
}

}  // namespace cli
