// SPDX-License-Identifier: MIT
#include "host/doctor.h"

#include "base/text.h"
#include "host/remedies.h"

namespace host {
namespace {

std::string handed_over(const std::vector<Way>& ways) {
    if (ways.empty()) return "";
    return "Hand this to the administrator; 'agent-sandbox doctor --admin-note' prints it\nas a letter.\n\n" +
           to_text(ways);
}

// The problem of a program has the form "what; what to do".
void split_problem(const std::string& problem, Finding& finding) {
    size_t semicolon = problem.find("; ");
    finding.detail = problem.substr(0, semicolon);
    if (semicolon != std::string::npos) finding.fix = problem.substr(semicolon + 2) + "\n";
}

// Where AppArmor has a profile for bwrap, a trial by this program does not show what bwrap can do.
bool is_exempt(const Facts& facts) {
    return facts.apparmor_restricts_user_namespaces && facts.apparmor_profile_for_bwrap;
}

Finding judge_native(const Facts& facts, const Trials& trials) {
    Finding finding{.name = "native"};
    if (!facts.native_obstacle) {
        finding.detail = "agent-sandbox builds the jail itself";
        if (trials.tried_user_namespace) finding.detail += " (tried)";
        return finding;
    }
    split_problem(*facts.native_obstacle, finding);
    bool is_replaced = works_with_bwrap(facts);
    if (is_replaced) finding.detail += "; bubblewrap builds the jail instead";
    finding.severity = is_replaced ? Severity::good : Severity::bad;
    // If user namespaces are the problem, their finding lists the ways.
    if (is_replaced || facts.user_namespace_obstacle) finding.fix.clear();
    return finding;
}

Finding judge_namespaces(const Facts& facts, const Trials& trials) {
    Finding finding{.name = "user-namespaces"};
    if (facts.apparmor_restricts_user_namespaces && !facts.native_obstacle) {
        finding.detail = "restricted by AppArmor, which has a profile for agent-sandbox";
        return finding;
    }
    if (facts.user_namespace_obstacle) {
        // A set-user-ID bwrap needs no user namespaces.
        bool is_bypassed = facts.bwrap.state == ProgramState::usable && facts.bwrap.is_setuid;
        finding.severity = is_bypassed ? Severity::warning : Severity::bad;
        finding.detail = "closed to unprivileged processes: " + *facts.user_namespace_obstacle;
        if (is_bypassed) finding.detail += "; the set-user-ID bubblewrap works without them";
        if (!is_bypassed) finding.fix = handed_over(ways_to_a_jail(facts));
        return finding;
    }
    if (is_exempt(facts)) {
        finding.detail = "restricted by AppArmor, which has a profile for bwrap";
        return finding;
    }
    finding.detail =
        trials.tried_user_namespace ? "open to unprivileged processes (tried)" : "no obstacle found";
    return finding;
}

Finding judge_bwrap(const Facts& facts, const Trials& trials) {
    Finding finding{.name = "bubblewrap"};
    if (facts.bwrap.state != ProgramState::usable) {
        finding.severity = Severity::bad;
        split_problem(facts.bwrap.problem, finding);
        if (facts.native_obstacle) return finding;
        finding.severity = Severity::good;
        finding.detail += "; not needed while agent-sandbox builds the jail itself";
        finding.fix.clear();
        return finding;
    }
    finding.detail = facts.bwrap.path.str();
    if (trials.bwrap_version) finding.detail += ", version " + (*trials.bwrap_version)->text();
    if (facts.bwrap.is_setuid) finding.detail += ", set-user-ID root";
    if (facts.bwrap.is_setuid && facts.native_obstacle) {
        finding.severity = Severity::warning;
        finding.detail += ": what needs a user namespace of the caller's own is missing";
    }
    if (facts.native_obstacle && trials.bwrap_version && *trials.bwrap_version &&
        **trials.bwrap_version < kBwrapWithoutLinks) {
        // Distributions mend old versions without another number.
        finding.detail +=
            "; unless the distribution has mended CVE-2026-87766 in it, a session can make it "
            "create an empty file outside of the project while another session starts";
    }
    return finding;
}

// firejail is not a first choice: a machine without it is fine.
Finding judge_firejail(const Facts& facts) {
    Finding finding{.name = "firejail"};
    if (facts.firejail.state == ProgramState::usable) {
        finding.detail = facts.firejail.path.str();
        return finding;
    }
    bool is_needed = facts.native_obstacle && !works_with_bwrap(facts);
    split_problem(facts.firejail.problem.empty() ? "not installed" : facts.firejail.problem, finding);
    finding.severity = is_needed ? Severity::warning : Severity::good;
    if (!is_needed) finding.detail += "; not needed while a better backend works";
    // Installing it is already one of the listed ways around the obstacle.
    if (!is_needed || facts.firejail.state == ProgramState::missing) finding.fix.clear();
    return finding;
}

Finding judge_landlock(const Facts& facts) {
    Finding finding{.name = "landlock"};
    if (facts.landlock_abi > 0) {
        finding.detail = "ABI " + std::to_string(facts.landlock_abi);
        return finding;
    }
    finding.severity = Severity::warning;
    constexpr std::string_view kLoss = ": the jail has one layer less";
    if (!is_kernel_at_least(facts.kernel, 5, 13)) {
        finding.detail =
            base::format("kernel {} is older than 5.13, which brought it{}", facts.kernel, kLoss);
    } else if (facts.lsm_list.empty()) {
        finding.detail = base::format("not in kernel {} or not switched on{}", facts.kernel, kLoss);
        finding.fix =
            "Kernels from 5.13 on have it where CONFIG_SECURITY_LANDLOCK is built in and lsm= at boot\n"
            "names landlock.\n";
    } else if (facts.lsm_list.find("landlock") == std::string::npos) {
        finding.detail =
            base::format("not among the security modules of this boot ({}){}", facts.lsm_list, kLoss);
        finding.fix = handed_over(ways_to_landlock(facts));
    } else {
        finding.detail =
            "the kernel has it, and a filter around this process refuses it" + std::string(kLoss);
    }
    return finding;
}

// Only the backends without a network of their own need it.
Finding judge_answers(const Facts& facts) {
    Finding finding{.name = "call-answers"};
    if (facts.can_answer_calls) {
        finding.detail = "system calls of jailed processes can be answered from outside (tried)";
        return finding;
    }
    finding.severity = Severity::warning;
    finding.detail = "system calls of jailed processes can't be answered";
    if (!facts.answers_obstacle.empty()) finding.detail += ": " + facts.answers_obstacle;
    if (!is_kernel_at_least(facts.kernel, 5, 6)) {
        finding.detail += base::format(" (kernel {} is older than 5.6)", facts.kernel);
    } else if (facts.ptrace_scope > 1) {
        finding.detail += base::format(" (kernel.yama.ptrace_scope is {})", facts.ptrace_scope);
    }
    finding.detail += "; firejail and Landlock then have no filtered or proxied network";
    return finding;
}

// A launch by root works, but with less protection.
Finding judge_caller(const Facts& facts) {
    if (facts.identity.uid != 0) return {.name = "caller", .detail = "an ordinary user"};
    return {.name = "caller",
            .severity = Severity::warning,
            .detail =
                "root: files that only root may read count as readable, and limits.processes does not count",
            .fix = "Run it as the user that the work belongs to: runuser -u NAME -- agent-sandbox …\n"};
}

Finding judge_seccomp(const Facts& facts) {
    if (facts.has_seccomp) return {.name = "seccomp", .detail = "filters of system calls can be installed"};
    return {.name = "seccomp",
            .severity = Severity::bad,
            .detail = base::format("kernel {} is built without seccomp filters", facts.kernel),
            .fix = "Hand this to the administrator: a kernel with CONFIG_SECCOMP_FILTER is needed.\n"};
}

Finding judge_cgroup(const Facts& facts) {
    if (facts.has_cgroup_namespace) return {.name = "cgroup-namespace", .detail = "available"};
    return {.name = "cgroup-namespace",
            .severity = Severity::warning,
            .detail = "not in this kernel: the jail sees the names of the host's control groups",
            .fix = "Kernels from 4.6 on have it where CONFIG_CGROUPS is built in.\n"};
}

// Such a kernel does not report mount points, so the guard can't find the files that lost their cover.
Finding judge_covers(const Facts& facts) {
    return {.name = "covers",
            .severity = Severity::warning,
            .detail = base::format("kernel {} is older than 5.8: a masked or protected file that a program "
                                   "outside replaces is open inside until the session ends",
                                   facts.kernel)};
}

Finding judge_nesting(const Facts& facts) {
    if (facts.nested_in.empty()) return {.name = "nesting", .detail = "on the host itself"};
    if (facts.nested_in == "agent-sandbox") {
        return {.name = "nesting",
                .severity = Severity::bad,
                .detail = "inside a jail of agent-sandbox",
                .fix =
                    "Run agent-sandbox outside; a jail in a jail adds nothing that the outer one does not "
                    "already enforce.\n"};
    }
    return {.name = "nesting",
            .severity = Severity::warning,
            .detail = base::format("inside a {}: what the jail hides is what the {} shows", facts.nested_in,
                                   facts.nested_in),
            .fix = ""};
}

Finding judge_slurm(const Facts& facts) {
    if (facts.slurm_job.id.empty()) return {.name = "slurm", .detail = "not in a job"};
    std::string node = facts.slurm_job.node.empty() ? "" : " on " + base::printable(facts.slurm_job.node);
    return {.name = "slurm",
            .detail = base::format("in job {}{}", base::printable(facts.slurm_job.id), node)};
}

Finding judge_gpu(const Facts& facts) {
    if (facts.gpu_devices.empty()) return {.name = "gpu", .detail = "no device nodes"};
    return {.name = "gpu", .detail = base::join(facts.gpu_devices, " ")};
}

}  // namespace

Trials run_trials(const Facts& facts) {
    Trials trials{.tried_user_namespace = true,
                  .user_namespace_failure = try_user_namespace(),
                  .native_failure = try_native()};
    if (facts.bwrap.state == ProgramState::usable) trials.bwrap_version = probe_bwrap_version(facts.bwrap);
    Facts known = facts;
    take_in(trials, known);
    bool is_next = known.native_obstacle && !works_with_bwrap(known);
    if (is_next && facts.firejail.state == ProgramState::usable)
        trials.firejail_failure = try_firejail(facts);
    return trials;
}

void take_in(const Trials& trials, Facts& facts) {
    bool is_new = trials.user_namespace_failure && !facts.user_namespace_obstacle && !is_exempt(facts);
    if (is_new) {
        facts.user_namespace_obstacle = "could not be made when tried: " + *trials.user_namespace_failure;
    }
    if (!facts.native_obstacle) facts.native_obstacle = trials.native_failure;
    if (trials.firejail_failure) take_firejail_failure(*trials.firejail_failure, facts);
    if (!trials.bwrap_version || facts.bwrap.state != ProgramState::usable) return;
    const base::Result<BwrapVersion>& version = *trials.bwrap_version;
    if (version && *version >= kOldestBwrap) return;
    facts.bwrap.state = ProgramState::not_executable;
    if (!version) {
        const base::Error& error = version.error();
        facts.bwrap.problem = error.what + (error.advice.empty() ? "" : "; " + error.advice);
        return;
    }
    facts.bwrap.problem = base::format(
        "{}, version {} is older than {}; install a newer bubblewrap, "
        "for instance from the distribution's backports",
        facts.bwrap.path.str(), version->text(), kOldestBwrap.text());
}

std::vector<Finding> diagnose(const Facts& facts, const Trials& trials) {
    Facts known = facts;
    take_in(trials, known);
    std::vector<Finding> findings = {judge_native(known, trials), judge_namespaces(known, trials),
                                     judge_bwrap(known, trials),  judge_firejail(known),
                                     judge_landlock(known),       judge_seccomp(known),
                                     judge_answers(known),        judge_cgroup(known)};
    if (!is_kernel_at_least(known.kernel, 5, 8)) findings.push_back(judge_covers(known));
    for (Finding (*judge)(const Facts&) : {judge_nesting, judge_caller, judge_slurm, judge_gpu})
        findings.push_back(judge(known));
    return findings;
}

std::string_view to_text(Severity severity) {
    switch (severity) {
        case Severity::good:
            return "ok";
        case Severity::warning:
            return "warning";
        case Severity::bad:
            return "bad";
    }
    return "";
}

base::Json to_json(const Finding& finding) {
    base::Json json = base::Json::object();
    json.set("name", finding.name).set("verdict", to_text(finding.severity));
    json.set("detail", finding.detail).set("fix", finding.fix);
    return json;
}

}  // namespace host
