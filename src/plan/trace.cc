// SPDX-License-Identifier: MIT
// What is observed of the command from outside (src/tracer).
#include <algorithm>

#include "base/format.h"
#include "base/text.h"
#include "host/remedies.h"
#include "plan/draft.h"

namespace plan {
namespace {

// First release with SECCOMP_USER_NOTIF_FLAG_CONTINUE; some vendors backported it to older kernels.
constexpr int kFirstMajor = 5, kFirstMinor = 5;

// Why this jail can't be observed; empty where it can.
std::string obstacle(const Draft& draft) {
    const BackendTraits& backend = draft.backend();
    const Network& network = draft.plan.network;
    bool answers = network.egress.needs_gateway() || network.abstract_sockets == AbstractSockets::refused;
    bool has_doorman = backend.hands_connections && (!backend.has_namespaces || answers);
    if (!has_doorman) return {};
    return base::format(
        "the backend {} asks about system calls itself, and the kernel lets one process only be asked",
        backend.name());
}

std::vector<std::string> flags_of(const seccomp::Trace& trace) {
    std::vector<std::string> flags;
    if (trace.files) flags.emplace_back("--trace-files");
    if (trace.commands) flags.emplace_back("--trace-commands");
    if (trace.system_calls) flags.emplace_back("--trace-syscalls");
    return flags;
}

}  // namespace

base::Status set_trace(Draft& draft) {
    const auto& asked = draft.policy().trace;
    seccomp::Trace trace{asked.files, asked.commands, asked.system_calls};
    bool is_learning = draft.policy().network.observe && !trace.files;
    if (!trace.is_wanted() && !is_learning) return base::success();
    std::string problem = obstacle(draft);
    if (trace.is_wanted() && !problem.empty()) {
        return base::Error{.what = "the command can't be traced: " + problem,
                           .advice = base::format("leave out {}, or use another backend",
                                                  base::join(flags_of(trace), ", "))};
    }
    if (is_learning && problem.empty() &&
        !host::is_kernel_at_least(draft.inputs.facts.kernel, kFirstMajor, kFirstMinor))
        problem = base::format("the kernel {} can't notify of system calls", draft.inputs.facts.kernel);
    if (is_learning && !problem.empty()) {
        draft.note(NoteKind::information, "files that the policy closes are not observed: " + problem);
    } else if (is_learning) {
        trace.files = true;
    }
    draft.plan.trace = trace;
    draft.plan.second_wall.is_logged = trace.files;
    return base::success();
}

}  // namespace plan
