// SPDX-License-Identifier: MIT
// The order matters: signals are held back before anything is made that must be taken away again, and nothing
// is taken away before the jail is dead, because removing a mount point would open what it protects.
#include "session/session.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include "backends/bubblewrap/launch.h"
#include "base/descriptors.h"
#include "base/no_links.h"
#include "session/conclude.h"
#include "session/keeper.h"
#include "session/placeholders.h"
#include "session/supervise.h"
#include "session/terminal.h"

namespace session {
namespace {

// Masks need a descriptor each while bubblewrap starts. The command gets the caller's own limit back.
class RaisedOpenFiles {
  public:
    RaisedOpenFiles() {
        if (::getrlimit(RLIMIT_NOFILE, &before_) != 0) return;
        struct rlimit raised = {before_.rlim_max, before_.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &raised);
    }
    ~RaisedOpenFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    RaisedOpenFiles(const RaisedOpenFiles&) = delete;
    RaisedOpenFiles& operator=(const RaisedOpenFiles&) = delete;

    uint64_t before() const { return before_.rlim_cur; }

  private:
    struct rlimit before_ = {};
};

base::Status make_new_directories(const plan::Plan& plan) {
    for (const plan::NewDirectory& directory : plan.new_directories) {
        base::Status made = base::make_directories_without_links(directory.path, 0700);
        if (made) continue;
        base::Error error = made.error();
        error.where = directory.reason.origin.describe();
        error.advice = "make it yourself or remove it from home.writable";
        return error;
    }
    return base::success();
}

base::Result<Placeholders> acquire_placeholders(const plan::Plan& plan, const Surroundings& surroundings) {
    std::vector<base::Path> wanted;
    for (const plan::Placeholder& placeholder : plan.placeholders) wanted.push_back(placeholder.path);
    return Placeholders::acquire(surroundings.state_directory, std::move(wanted));
}

// Ctrl-C went to the command alone, which had the terminal to itself; outside a jail the whole job would have
// got it, a script that started us among others.
void share_interrupt(const Terminal& terminal, const Outcome& outcome) {
    bool was_interrupted = outcome.ending && outcome.ending->by_signal && outcome.ending->number == SIGINT;
    if (was_interrupted && terminal.is_given()) ::kill(0, SIGINT);
}

}  // namespace

base::Result<Ending> run(const plan::Plan& plan, const host::Facts& facts, const Surroundings& surroundings) {
    base::fill_standard_descriptors();
    HeldSignals signals;
    RaisedOpenFiles open_files;
    Terminal terminal;
    Keeper keeper(surroundings.state_directory);

    if (base::Status made = make_new_directories(plan); !made) return made.error();
    base::Result<Placeholders> placeholders = acquire_placeholders(plan, surroundings);
    if (!placeholders) return placeholders.error();

    backends::Caller caller{.signals = signals.before(),
                            .open_files = open_files.before(),
                            .terminal = terminal.descriptor(),
                            .takes_terminal = terminal.is_given()};
    base::Result<backends::Launched> launched = backends::bubblewrap::launch(plan, facts, caller);
    if (!launched) return launched.error();

    Supervisor supervisor(*launched, signals, terminal);
    Outcome outcome = supervisor.attend([&](int stage) { keeper.start(*placeholders, terminal, stage); });
    share_interrupt(terminal, outcome);
    terminal.recover();
    placeholders->release();
    keeper.dismiss();
    return conclude(plan.command, outcome);
}

}  // namespace session
