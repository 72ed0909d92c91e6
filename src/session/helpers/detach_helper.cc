// SPDX-License-Identifier: MIT
#include "session/helpers/detach_helper.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>

#include "base/process/descriptors.h"
#include "inner/command/process_state.h"

namespace session {
namespace {

// Slurm signals every process of a step, not only the command.
constexpr int kUnheard[] = {SIGPIPE, SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1,
                            SIGUSR2, SIGALRM, SIGXFSZ, SIGTTOU, SIGTTIN, SIGTSTP};

}  // namespace

void step_aside(pid_t supervisor, const char* name, std::vector<int> kept, ProcessSession session) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != supervisor) ::_exit(0);
    ::prctl(PR_SET_NAME, name);
    if (session == ProcessSession::own) {
        ::setsid();
    } else {
        ::setpgid(0, 0);
    }
    inner::block_only(inner::signal_bits(kUnheard));
    (void)!::chdir("/");
    base::close_others(std::move(kept));
    base::fill_standard_descriptors();
}

}  // namespace session
