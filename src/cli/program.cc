// SPDX-License-Identifier: MIT
#include "cli/program.h"

#include <fcntl.h>
#include <unistd.h>

#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/overview.h"
#include "cli/own_jobs.h"
#include "cli/verbs.h"
#include "config/verbs.h"

namespace cli {
namespace {

// With 0, 1 or 2 closed, the next file we open would take the number, and a message could end up in it.
bool hold_standard_descriptors() {
    for (int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(descriptor, F_GETFD) >= 0) continue;
        if (::open("/dev/null", O_RDWR) != descriptor) return false;
    }
    return true;
}

int dispatch(const Invocation& call) {
    const Arguments& arguments = call.arguments;
    if (arguments.wants_version) return version_verb(call);
    if (arguments.wants_help) return help_verb(call);
    if (arguments.is_empty) return print_overview(call);
    bool is_submitted =
        arguments.verb.empty() && !arguments.is_dry_run && is_own_job(call.caller, arguments.words);
    if (is_submitted) return submit_own_job(call);
    if (arguments.verb.empty()) return run_verb(call);
    if (arguments.is_dry_run && !config::find_verb(arguments.verb)->takes_run_flags) {
        return call.output.fail({.what = "--dry-run has no meaning for " + arguments.verb,
                                 .advice = "leave it out",
                                 .exit_code = base::ExitCode::usage});
    }
    return find_verb(arguments.verb)->perform(call);
}

}  // namespace

int main_program(int argc, char** argv) {
    if (!hold_standard_descriptors()) return static_cast<int>(base::ExitCode::jail_failed);
    Caller caller = probe_environment();
    Output output = Output::standard(caller.environment);
    if (base::Status found = probe_working_directory(caller); !found) return output.fail(found.error());

    std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
    base::Result<Arguments> arguments = parse_arguments(words, caller.working_directory);
    if (!arguments) return output.fail(arguments.error());
    return dispatch({caller, *arguments, output});
}

}  // namespace cli
