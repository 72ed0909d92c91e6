// SPDX-License-Identifier: MIT
// One executable has all roles. Its name (of a mailer, a Slurm command or an agent) or its first argument
// selects one.
#include <malloc.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <new>
#include <string_view>

#include "base/inside/jail_files.h"
#include "base/process/descriptors.h"
#include "base/process/own_process.h"
#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/mail_stub.h"
#include "cli/mcp/inside.h"
#include "cli/output.h"
#include "cli/slurm/jobs.h"
#include "cli/slurm/slurm_entry.h"
#include "cli/verbs.h"
#include "cli/verbs/agent_stub.h"
#include "cli/verbs/explaining_stub.h"
#include "cli/verbs/overview.h"
#include "inner/stage.h"
#include "selftest/runner.h"
#include "slurm/client/stub.h"
#include "slurm/entry/payload.h"
#include "slurm/jobs/spec.h"

namespace cli {

// The program for users: takes arguments, returns an exit code.

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
    const Verb& verb = *find_verb(arguments.verb);
    bool takes_dry_run = verb.takes_run_flags || verb.flags.find("--dry-run") != std::string_view::npos;
    if (arguments.is_dry_run && !takes_dry_run) {
        return call.output.fail({.what = "--dry-run has no meaning for " + arguments.verb,
                                 .advice = "leave it out",
                                 .exit_code = base::ExitCode::usage});
    }
    if (arguments.detaches && !verb.takes_run_flags) {
        return call.output.fail({.what = "--detach has no meaning for " + arguments.verb,
                                 .advice = "leave it out",
                                 .exit_code = base::ExitCode::usage});
    }
    return verb.perform(call);
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

namespace {

// Null if the kernel does not provide the path.
const char* executed_path() {
    // getauxval() returns the address as a number, so a cast is the only way.
    return reinterpret_cast<const char*>(::getauxval(AT_EXECFN));  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

int main(int argc, char** argv) {
    base::remember_arguments(argc, argv);
    const char* executed = executed_path();
    if (auto mailer = cli::mailer_name(executed ? executed : "", argc > 0 ? argv[0] : ""))
        return cli::run_mail_stub(*mailer, argc > 0 ? argc - 1 : 0);
    if (auto command = slurm::client::stub_name(executed ? executed : "", argc > 0 ? argv[0] : ""))
        return slurm::client::run_stub(*command, argc, argv, base::own_path(base::kSlurmSocket));
    if (auto agent = cli::agent_stub_name(executed ? executed : "", argc > 0 ? argv[0] : ""))
        return cli::run_agent_stub(*agent, argv);
    if (auto program = cli::explaining_stub_name(executed ? executed : "", argc > 0 ? argv[0] : "");
        program && argc > 0)
        return cli::run_explaining_stub(*program, argv);
    if (argc > 1 && argv[1] == slurm::kEntryRole) return cli::run_slurm_entry(argc, argv);
    if (argc > 1 && argv[1] == slurm::kPayloadRole) return slurm::run_payload();
    if (argc > 1 && argv[1] == slurm::kHoldRole) return slurm::run_hold();
    if (argc > 1 && argv[1] == inner::kRole) return inner::run_stage(argc, argv);
    if (argc > 1 && argv[1] == selftest::kRole) return selftest::run_part(argc, argv);
    if (argc > 1 && argv[1] == cli::kMcpInsideRole) return cli::run_mcp_inside(argc, argv);
    return cli::main_program(argc, argv);
}
