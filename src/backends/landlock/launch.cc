// SPDX-License-Identifier: MIT
#include "backends/landlock/launch.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "backends/backend.h"
#include "base/text.h"
#include "inner/launch_spec.h"
#include "inner/stage.h"

namespace backends::landlock {
namespace {

constexpr int kGuardsTruncation = 3;  // versions of Landlock
constexpr int kScopes = 6;

doorman::Internet internet_of(policy::NetworkMode mode) {
    switch (mode) {
        case policy::NetworkMode::open:
            return doorman::Internet::host;
        case policy::NetworkMode::isolated:
            return doorman::Internet::refused;
        case policy::NetworkMode::filtered:
        case policy::NetworkMode::proxied:
            return doorman::Internet::handed;
    }
    return doorman::Internet::refused;
}

// Executes our own program as this process has it open, even if the file was replaced. The environment is
// empty: a library path that points into the project would run the project's code outside the jail.
[[noreturn]] void become_stage(int program, const Inheritance& inheritance, const Caller& caller,
                               pid_t parent) {
    prepare_child(inheritance, caller, parent);
    std::string spec = std::to_string(inheritance.spec.get());
    const char* words[] = {"agent-sandbox", inner::kRole.data(), spec.c_str(), nullptr};
    const char* no_environment[] = {nullptr};
    ::fexecve(program, const_cast<char* const*>(words), const_cast<char* const*>(no_environment));
    give_up("execute agent-sandbox");
}

}  // namespace

::landlock::Wall wall_of(const plan::Plan& plan) {
    ::landlock::Wall wall{.guards_reading = true};
    // In the other modes the jail itself opens no connections: the doorman does.
    wall.refuses_tcp = plan.network.reached != policy::NetworkMode::open;
    for (const plan::Grant& grant : plan.grants) {
        switch (grant.kind) {
            case plan::GrantKind::read:
                wall.readable.push_back(grant.path.str());
                break;
            case plan::GrantKind::use:
                wall.used.push_back(grant.path.str());
                break;
            case plan::GrantKind::write:
                wall.writable.push_back(grant.path.str());
                break;
        }
    }
    return wall;
}

doorman::AnsweredCalls doorman_of(const plan::Plan& plan, const Caller& caller, int abi) {
    doorman::AnsweredCalls calls{.is_wanted = true,
                                 .internet = internet_of(plan.network.reached),
                                 .gateway = caller.handoff,
                                 .guards_sockets = true,
                                 .abstract_names = doorman::AbstractNames::refused,
                                 .guards_terminal_size = caller.terminal >= 0,
                                 .refuses_namespaces = !plan.system_calls.allow_nested_namespaces,
                                 .guards_attributes = true,
                                 .guards_truncation = abi < kGuardsTruncation,
                                 .guards_processes = true,
                                 .guards_signals = abi < kScopes,
                                 .refuses_system_v = plan.processes.private_ipc};
    // Paths that the jail may write: sockets that it made there, and those that the policy allows.
    for (const plan::Grant& grant : plan.grants) {
        if (grant.kind != plan::GrantKind::write) continue;
        calls.changeable.push_back(grant.path.str());
        calls.sockets.push_back(grant.path.str());
    }
    for (const auto& [name, path] : caller.sockets) calls.sockets.push_back(path);
    return calls;
}

base::Result<Launched> launch(const plan::Plan& plan, const host::Facts& facts, const Caller& caller) {
    Launched launched;
    Inheritance inheritance;
    if (base::Status opened = open_channels(plan, caller, inheritance, launched); !opened)
        return opened.error();
    base::Fd program(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    if (!program) return base::system_error("open agent-sandbox", errno);

    inner::LaunchSpec spec = launch_spec_of(plan, caller, inheritance);
    spec.has_namespaces = false;
    spec.wall = wall_of(plan);
    spec.doorman = doorman_of(plan, caller, ::landlock::kernel_abi());
    // If system calls can't be answered, the jail can make no Unix sockets: otherwise it could reach those of
    // the host's services.
    spec.doorman.is_answered = facts.can_answer_calls;
    // A session without a terminal may get one with `exec`.
    spec.doorman.guards_terminal_size |= facts.can_answer_calls;
    if (base::Status written = write_launch_spec(spec, inheritance); !written) return written.error();

    pid_t parent = ::getpid();
    launched.process = ::fork();
    if (launched.process < 0) return base::system_error("start the jail", errno);
    if (launched.process == 0) become_stage(program.get(), inheritance, caller, parent);
    return launched;
}

base::Error diagnose(std::string_view standard_error) {
    std::string words = base::printable(base::trim(standard_error));
    return base::Error{.what = "the jail could not be built" + (words.empty() ? "" : ": " + words),
                       .advice = "run 'agent-sandbox doctor' for the cause"};
}

}  // namespace backends::landlock
