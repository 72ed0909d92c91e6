// SPDX-License-Identifier: MIT
// One executable has all roles. Its name (of a mailer or of a Slurm command) or its first argument selects
// one.
#include <sys/auxv.h>

#include "base/inside/paths_inside.h"
#include "base/process/own_arguments.h"
#include "cli/mail_stub.h"
#include "cli/program.h"
#include "cli/slurm/slurm_entry.h"
#include "inner/stage.h"
#include "selftest/role.h"
#include "slurm/client/stub.h"
#include "slurm/entry/hold.h"
#include "slurm/entry/payload.h"
#include "slurm/jobs/spec.h"

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
    if (argc > 1 && argv[1] == slurm::kEntryRole) return cli::run_slurm_entry(argc, argv);
    if (argc > 1 && argv[1] == slurm::kPayloadRole) return slurm::run_payload();
    if (argc > 1 && argv[1] == slurm::kHoldRole) return slurm::run_hold();
    if (argc > 1 && argv[1] == inner::kRole) return inner::run_stage(argc, argv);
    if (argc > 1 && argv[1] == selftest::kRole) return selftest::run_part(argc, argv);
    return cli::main_program(argc, argv);
}
