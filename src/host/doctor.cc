// SPDX-License-Identifier: MIT
#include "host/doctor.h"

#include <algorithm>

#include "base/text.h"

namespace host {
namespace {

constexpr std::string_view kDefaultBwrap = "/usr/bin/bwrap";

base::Path bwrap_path(const Facts& facts) {
    return facts.bwrap.path.is_root() ? base::Path::known(kDefaultBwrap) : facts.bwrap.path;
}

// Narrowest first: the distribution's profile takes the capabilities away again from what bwrap starts.
constexpr std::string_view kProfileNote = R"(Hand this to the administrator:
  AppArmor keeps unprivileged programs from using user namespaces on this
  machine. That can stay so; bubblewrap needs a profile of its own. Where the
  distribution brings one (Ubuntu: package apparmor-profiles), install that:
    cd /usr/share/apparmor/extra-profiles
    install -m 0644 bwrap-userns-restrict /etc/apparmor.d/
    apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict
  Where there is none, write the following to /etc/apparmor.d/bwrap and load it
  with apparmor_parser -r. It lets everyone who may run bwrap make user
  namespaces through it, and no other program:

)";

std::string apparmor_remedy(const Facts& facts) {
    return std::string(kProfileNote) + apparmor_profile(bwrap_path(facts));
}

std::string sysctl_remedy(const Facts& facts, const std::string& setting) {
    return "Hand this to the administrator:\n"
           "  User namespaces are closed on this machine: " +
           setting +
           ".\n"
           "  A bubblewrap that is set-user-ID root works without them, which opens\n"
           "  namespaces to that one program:\n"
           "    chmod u+s " +
           bwrap_path(facts).str() +
           "\n"
           "  If the site prefers user namespaces for everyone, the setting above is\n"
           "  the one to change, in a file under /etc/sysctl.d.\n";
}

std::string namespace_remedy(const Facts& facts) {
    switch (facts.namespace_obstacle) {
        case NamespaceObstacle::none:
            return "";
        case NamespaceObstacle::not_built_in:
            return "Hand this to the administrator: a kernel with CONFIG_USER_NS is\n"
                   "needed, or a bubblewrap that is set-user-ID root.\n";
        case NamespaceObstacle::limit_is_zero:
            return sysctl_remedy(facts, "user.max_user_namespaces = 0");
        case NamespaceObstacle::clone_is_restricted:
            return sysctl_remedy(facts, "kernel.unprivileged_userns_clone = 0");
        case NamespaceObstacle::apparmor:
            return apparmor_remedy(facts);
    }
    return "";
}

std::string failed_trial_remedy(const Facts& facts) {
    if (facts.nested_in == "agent-sandbox") {
        return "A jail does not let its processes make namespaces: run agent-sandbox outside of it.\n";
    }
    if (facts.nested_in == "container") {
        return "The container's seccomp filter or its runtime refuses. Run agent-sandbox\n"
               "on the host and start the container's work from there, or start the\n"
               "container with a seccomp profile that allows unshare, clone with\n"
               "namespace flags, mount, umount2 and pivot_root without privilege.\n";
    }
    return "No setting that is known to close user namespaces is set, so a security\n"
           "module or a filter refuses: show the line above to the administrator,\n"
           "with the denials of that time in the kernel log.\n";
}

Finding judge_namespaces(const Facts& facts, const Trials& trials) {
    Finding finding{.name = "user-namespaces"};
    if (facts.user_namespace_obstacle) {
        // A set-user-ID bwrap needs none.
        bool is_bypassed = facts.bwrap.state == BwrapState::usable && facts.bwrap.is_setuid;
        finding.verdict = is_bypassed ? Verdict::warning : Verdict::bad;
        finding.detail = "closed to unprivileged processes: " + *facts.user_namespace_obstacle;
        if (is_bypassed) finding.detail += "; the set-user-ID bubblewrap works without them";
        if (!is_bypassed) finding.fix = namespace_remedy(facts);
        return finding;
    }
    // Where AppArmor has a profile for bwrap, a trial by this program says nothing about bwrap.
    bool is_exempt = facts.apparmor_restricts_user_namespaces && facts.apparmor_profile_for_bwrap;
    if (is_exempt) {
        finding.detail = "restricted by AppArmor, which has a profile for bwrap";
        return finding;
    }
    if (trials.user_namespace_failure) {
        finding.verdict = Verdict::bad;
        finding.detail = "could not be made: " + *trials.user_namespace_failure;
        finding.fix = failed_trial_remedy(facts);
        return finding;
    }
    finding.detail =
        trials.tried_user_namespace ? "open to unprivileged processes (tried)" : "no obstacle found";
    return finding;
}

Finding judge_bwrap(const Facts& facts, const Trials& trials) {
    Finding finding{.name = "bubblewrap"};
    if (facts.bwrap.state != BwrapState::usable) {
        finding.verdict = Verdict::bad;
        // The problem is "what; what to do".
        size_t semicolon = facts.bwrap.problem.find("; ");
        finding.detail = facts.bwrap.problem.substr(0, semicolon);
        if (semicolon != std::string::npos) finding.fix = facts.bwrap.problem.substr(semicolon + 2) + "\n";
        return finding;
    }
    finding.detail = facts.bwrap.path.str();
    if (trials.bwrap_version && !trials.bwrap_version->ok()) {
        const base::Error& problem = trials.bwrap_version->error();
        finding.verdict = Verdict::bad;
        finding.detail = problem.what;
        finding.fix = problem.advice.empty() ? "" : problem.advice + "\n";
        return finding;
    }
    if (trials.bwrap_version) finding.detail += ", version " + (*trials.bwrap_version)->text();
    if (trials.bwrap_version && **trials.bwrap_version < kOldestBwrap) {
        finding.verdict = Verdict::bad;
        finding.detail += " is older than " + kOldestBwrap.text();
        finding.fix = "install a newer bubblewrap, for instance from the distribution's backports\n";
        return finding;
    }
    if (facts.bwrap.is_setuid) {
        finding.verdict = Verdict::warning;
        finding.detail += ", set-user-ID root: what needs a user namespace of the caller's own is missing";
    }
    return finding;
}

Finding judge_landlock(const Facts& facts) {
    if (facts.landlock_abi > 0) {
        return {.name = "landlock", .detail = "ABI " + std::to_string(facts.landlock_abi)};
    }
    return {.name = "landlock",
            .verdict = Verdict::warning,
            .detail = "not in kernel " + facts.kernel + " or not switched on: the jail has one layer less",
            .fix =
                "Kernels from 5.13 on have it where CONFIG_SECURITY_LANDLOCK is built in and lsm= at boot "
                "names landlock.\n"};
}

Finding judge_seccomp(const Facts& facts) {
    if (facts.has_seccomp) return {.name = "seccomp", .detail = "filters of system calls can be installed"};
    return {.name = "seccomp",
            .verdict = Verdict::bad,
            .detail = "kernel " + facts.kernel + " is built without seccomp filters",
            .fix = "Hand this to the administrator: a kernel with CONFIG_SECCOMP_FILTER is needed.\n"};
}

Finding judge_cgroup(const Facts& facts) {
    if (facts.has_cgroup_namespace) return {.name = "cgroup-namespace", .detail = "available"};
    return {.name = "cgroup-namespace",
            .verdict = Verdict::warning,
            .detail = "not in this kernel: the jail sees the names of the host's control groups",
            .fix = "Kernels from 4.6 on have it where CONFIG_CGROUPS is built in.\n"};
}

Finding judge_nesting(const Facts& facts) {
    if (facts.nested_in.empty()) return {.name = "nesting", .detail = "on the host itself"};
    if (facts.nested_in == "agent-sandbox") {
        return {.name = "nesting",
                .verdict = Verdict::bad,
                .detail = "inside a jail of agent-sandbox",
                .fix =
                    "Run agent-sandbox outside; a jail in a jail adds nothing that the outer one does not "
                    "already enforce.\n"};
    }
    return {.name = "nesting",
            .verdict = Verdict::warning,
            .detail = "inside a " + facts.nested_in + ": what the jail hides is what the " + facts.nested_in +
                      " shows",
            .fix = ""};
}

Finding judge_slurm(const Facts& facts) {
    if (facts.slurm_job.id.empty()) return {.name = "slurm", .detail = "not in a job"};
    std::string node = facts.slurm_job.node.empty() ? "" : " on " + base::printable(facts.slurm_job.node);
    return {.name = "slurm", .detail = "in job " + base::printable(facts.slurm_job.id) + node};
}

Finding judge_gpu(const Facts& facts) {
    if (facts.gpu_devices.empty()) return {.name = "gpu", .detail = "no device nodes"};
    return {.name = "gpu", .detail = base::join(facts.gpu_devices, " ")};
}

}  // namespace

Trials run_trials(const Facts& facts) {
    Trials trials{.tried_user_namespace = true, .user_namespace_failure = try_user_namespace()};
    if (facts.bwrap.state == BwrapState::usable) trials.bwrap_version = probe_bwrap_version(facts.bwrap);
    return trials;
}

std::vector<Finding> diagnose(const Facts& facts, const Trials& trials) {
    return {judge_namespaces(facts, trials),
            judge_bwrap(facts, trials),
            judge_landlock(facts),
            judge_seccomp(facts),
            judge_cgroup(facts),
            judge_nesting(facts),
            judge_slurm(facts),
            judge_gpu(facts)};
}

bool can_jail(const std::vector<Finding>& findings) {
    return std::ranges::none_of(findings,
                                [](const Finding& finding) { return finding.verdict == Verdict::bad; });
}

std::string apparmor_profile(const base::Path& bwrap) {
    return "abi <abi/4.0>,\n"
           "include <tunables/global>\n"
           "\n"
           "profile bwrap " +
           bwrap.str() +
           " flags=(unconfined) {\n"
           "  userns,\n"
           "  include if exists <local/bwrap>\n"
           "}\n";
}

std::string_view to_text(Verdict verdict) {
    switch (verdict) {
        case Verdict::good:
            return "ok";
        case Verdict::warning:
            return "warning";
        case Verdict::bad:
            return "bad";
    }
    return "";
}

base::Json to_json(const Finding& finding) {
    base::Json json = base::Json::object();
    json.set("name", finding.name).set("verdict", to_text(finding.verdict));
    json.set("detail", finding.detail).set("fix", finding.fix);
    return json;
}

}  // namespace host
