// SPDX-License-Identifier: MIT
// `slurm-log`: inside a jail, lists the Slurm requests of its session. The log is outside, where the jail
// can't write it.
#include "base/file.h"
#include "base/inside/paths_inside.h"
#include "cli/arguments.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "slurm/client/stub.h"

namespace cli {

int slurm_log_verb(const Invocation& call) {
    if (!call.arguments.words.empty()) {
        return call.output.fail({.what = "slurm-log takes no words",
                                 .advice = usage_of("slurm-log"),
                                 .exit_code = base::ExitCode::usage});
    }
    if (!base::file_exists(base::own_path(base::kOwnProgram))) {
        return call.output.fail({.what = "this is for the inside of a jail",
                                 .advice = "outside, read ~/.local/state/agent-sandbox/slurm/log",
                                 .exit_code = base::ExitCode::usage});
    }
    std::string name = "log";
    char* words[] = {name.data(), nullptr};
    return slurm::client::run_stub(name, 1, words, base::own_path(base::kSlurmSocket));
}

}  // namespace cli
