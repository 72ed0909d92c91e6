// SPDX-License-Identifier: MIT
#include "host/doctor.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "base/places.h"
#include "base/text.h"
#include "host/remedies.h"

namespace host {
namespace {

using base::Path;

Facts sound_machine() {
    Facts facts;
    facts.kernel = "6.1.0-18-amd64";
    facts.bwrap = {.state = ProgramState::usable, .path = Path::known("/usr/bin/bwrap")};
    facts.landlock_abi = 4;
    facts.can_answer_calls = true;
    facts.identity.uid = 1000;
    return facts;
}

Finding find(const std::vector<Finding>& findings, std::string_view name) {
    auto found = std::ranges::find(findings, name, &Finding::name);
    EXPECT_NE(found, findings.end()) << name;
    return found == findings.end() ? Finding{} : *found;
}

// A kernel that lacks a call.
Facts without_native() {
    Facts facts = sound_machine();
    facts.native_obstacle =
        "kernel 5.1 has no open_tree, or a filter around this process refuses it; install bubblewrap";
    return facts;
}

bool says(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

Facts closed_by(NamespaceObstacle obstacle, std::string cause) {
    Facts facts = sound_machine();
    facts.namespace_obstacle = obstacle;
    facts.native_obstacle = "agent-sandbox itself can't make user namespaces: " + cause + "; ask";
    facts.user_namespace_obstacle = std::move(cause);
    return facts;
}

TEST(Doctor, FindsASoundMachineSound) {
    Trials trials{.tried_user_namespace = true, .bwrap_version = BwrapVersion{0, 8, 0}};
    std::vector<Finding> findings = diagnose(sound_machine(), trials);
    for (const Finding& finding : findings) {
        EXPECT_EQ(finding.severity, Severity::good) << finding.name;
        EXPECT_TRUE(finding.fix.empty()) << finding.name;
        EXPECT_FALSE(finding.detail.empty()) << finding.name;
    }
    EXPECT_EQ(find(findings, "bubblewrap").detail, "/usr/bin/bwrap, version 0.8.0");
    EXPECT_EQ(find(findings, "user-namespaces").detail, "open to unprivileged processes (tried)");
}

TEST(Doctor, Ubuntu2404GetsAProfileForBwrap) {
    Facts facts = closed_by(NamespaceObstacle::apparmor, "kernel.apparmor_restrict_unprivileged_userns is 1");
    facts.apparmor_restricts_user_namespaces = true;
    Finding finding = find(diagnose(facts), "user-namespaces");
    EXPECT_EQ(finding.severity, Severity::bad);
    EXPECT_TRUE(says(finding.fix, "administrator"));
    EXPECT_TRUE(says(finding.fix, "profile bwrap /usr/bin/bwrap flags=(unconfined) {\n       userns,\n"));
    EXPECT_LT(finding.fix.find("profile agent-sandbox /usr/local/bin/agent-sandbox "),
              finding.fix.find("bwrap-userns-restrict"))
        << "one program, and nothing to install";
    EXPECT_LT(finding.fix.find("bwrap-userns-restrict"), finding.fix.find("profile bwrap "))
        << "the narrower profile comes first";
    EXPECT_TRUE(find(diagnose(facts), "native").fix.empty()) << "it stands above";
    EXPECT_FALSE(says(finding.fix, "sysctl")) << "switching the restriction off is not the advice";
}

TEST(Doctor, TheProfilesAreThoseThatAreInstalled) {
    for (auto [name, program] :
         {std::pair("bwrap", "/usr/bin/bwrap"), std::pair("agent-sandbox", "/usr/local/bin/agent-sandbox")}) {
        base::Result<std::string> file = base::read_file(test::data("/../share/apparmor/") + name);
        ASSERT_TRUE(file) << file.error().line();
        std::string rules;
        for (std::string_view line : base::split(*file, '\n')) {
            if (!line.starts_with('#')) rules += std::string(line) + "\n";
        }
        EXPECT_EQ(base::trim(rules), base::trim(apparmor_profile(name, Path::known(program))));
    }
}

// Threat: a profile for a program in a home directory opens user namespaces to any program that the owner
// puts there.
TEST(Doctor, NoProfileIsForAProgramThatItsUserCanReplace) {
    Facts facts = closed_by(NamespaceObstacle::apparmor, "restricted");
    facts.own_program = Path::known("/home/ann/bin/agent-sandbox");
    std::string fix = find(diagnose(facts), "user-namespaces").fix;
    EXPECT_FALSE(says(fix, "/home/ann")) << fix;
    EXPECT_TRUE(says(fix, "install -m 0755 agent-sandbox /usr/local/bin/agent-sandbox")) << fix;
    facts.own_program = Path::known("/opt/site/bin/agent-sandbox");
    fix = find(diagnose(facts), "user-namespaces").fix;
    EXPECT_TRUE(says(fix, "profile agent-sandbox /opt/site/bin/agent-sandbox ")) << fix;
}

TEST(Doctor, AProfileForThisProgramIsEnough) {
    Facts facts = sound_machine();
    facts.namespace_obstacle = NamespaceObstacle::apparmor;
    facts.user_namespace_obstacle = "no profile for bwrap";
    facts.apparmor_restricts_user_namespaces = true;
    std::vector<Finding> findings = diagnose(facts);
    EXPECT_EQ(find(findings, "native").severity, Severity::good);
    EXPECT_EQ(find(findings, "user-namespaces").severity, Severity::good);
    EXPECT_EQ(admin_note(facts), "");
}

TEST(Doctor, WhereBubblewrapBuildsTheJailNothingNeedsToBeDone) {
    std::vector<Finding> findings = diagnose(without_native());
    Finding native = find(findings, "native");
    EXPECT_EQ(native.severity, Severity::good);
    EXPECT_TRUE(says(native.detail, "has no open_tree")) << native.detail;
    EXPECT_TRUE(says(native.detail, "bubblewrap builds the jail instead")) << native.detail;
    EXPECT_TRUE(native.fix.empty());
    EXPECT_EQ(admin_note(without_native()), "");
}

TEST(Doctor, ProfileNamesTheBwrapThatIsRun) {
    Facts facts = closed_by(NamespaceObstacle::apparmor, "restricted");
    facts.bwrap.path = Path::known("/opt/site/bin/bwrap");
    EXPECT_TRUE(says(find(diagnose(facts), "user-namespaces").fix, "profile bwrap /opt/site/bin/bwrap "));
}

TEST(Doctor, AProfileForBwrapMakesATrialByThisProgramMeaningless) {
    Facts facts = sound_machine();
    facts.apparmor_restricts_user_namespaces = facts.apparmor_profile_for_bwrap = true;
    Trials trials{.tried_user_namespace = true,
                  .user_namespace_failure = "the kernel answers: Permission denied",
                  .native_failure = "agent-sandbox itself can't map its user"};
    EXPECT_EQ(find(diagnose(facts, trials), "user-namespaces").severity, Severity::good);
    take_in(trials, facts);
    EXPECT_FALSE(facts.user_namespace_obstacle);
    EXPECT_EQ(facts.native_obstacle, trials.native_failure) << "of this program it says all";
}

TEST(Doctor, ClosedSysctlsOfferTheNarrowWayFirst) {
    for (auto [obstacle, setting] :
         {std::pair(NamespaceObstacle::limit_is_zero, "user.max_user_namespaces"),
          std::pair(NamespaceObstacle::clone_is_restricted, "kernel.unprivileged_userns_clone")}) {
        Finding finding =
            find(diagnose(closed_by(obstacle, std::string(setting) + " is 0")), "user-namespaces");
        EXPECT_EQ(finding.severity, Severity::bad);
        size_t narrow = finding.fix.find("chmod 4750 /usr/bin/bwrap");
        size_t firejail = finding.fix.find("install firejail");
        size_t wide = finding.fix.find(std::string("echo '") + setting);
        EXPECT_LT(narrow, firejail) << finding.fix;
        EXPECT_LT(firejail, wide) << finding.fix;
        EXPECT_NE(wide, std::string::npos) << finding.fix;
    }
}

TEST(Doctor, ASetUserIdBwrapNeedsNoUserNamespaces) {
    Facts facts = closed_by(NamespaceObstacle::limit_is_zero, "user.max_user_namespaces is 0");
    facts.bwrap.is_setuid = true;
    std::vector<Finding> findings = diagnose(facts);
    EXPECT_EQ(find(findings, "user-namespaces").severity, Severity::warning);
    EXPECT_EQ(find(findings, "bubblewrap").severity, Severity::warning);
}

TEST(Doctor, Rhel8HasNoLandlockAndCanStillJail) {
    Facts facts = without_native();
    facts.kernel = "4.18.0-553.el8_10.x86_64";
    facts.landlock_abi = 0;
    std::vector<Finding> findings = diagnose(facts, {.bwrap_version = BwrapVersion{0, 4, 0}});
    Finding landlock = find(findings, "landlock");
    EXPECT_EQ(landlock.severity, Severity::warning);
    EXPECT_TRUE(says(landlock.detail, "4.18.0-553.el8_10.x86_64"));
    EXPECT_TRUE(landlock.fix.empty()) << "a kernel is not exchanged for it";
    EXPECT_EQ(find(findings, "bubblewrap").severity, Severity::good) << "0.4.0 is new enough";
    EXPECT_TRUE(says(find(findings, "covers").detail, "is open inside until the session ends"));
}

TEST(Doctor, AContainerThatRefusesIsNamedAsTheCause) {
    Facts facts = sound_machine();
    facts.nested_in = "container";
    std::vector<Finding> open = diagnose(facts, {.tried_user_namespace = true});
    EXPECT_EQ(find(open, "nesting").severity, Severity::warning);
    EXPECT_EQ(find(open, "user-namespaces").severity, Severity::good);

    Trials refused{.tried_user_namespace = true,
                   .user_namespace_failure = "the kernel answers: Operation not permitted",
                   .native_failure = "agent-sandbox itself can't make user namespaces"};
    std::vector<Finding> closed = diagnose(facts, refused);
    EXPECT_TRUE(says(find(closed, "user-namespaces").detail, "Operation not permitted"));
    EXPECT_TRUE(says(find(closed, "user-namespaces").fix, "container"));
    EXPECT_FALSE(says(find(closed, "user-namespaces").fix, "--privileged"));
}

TEST(Doctor, AFirejailThatFailsWhenTriedIsNotTaken) {
    Facts facts = sound_machine();
    facts.bwrap = find_bwrap(MemoryTree(), std::nullopt);
    facts.firejail = {.state = ProgramState::usable, .path = Path::known("/usr/bin/firejail")};
    Trials trials{.native_failure = "agent-sandbox itself can't make user namespaces",
                  .firejail_failure = "firejail can't build a jail here: cannot mount"};
    EXPECT_EQ(find(diagnose(facts, trials), "firejail").severity, Severity::warning);
    EXPECT_TRUE(says(find(diagnose(facts, trials), "firejail").detail, "cannot mount"));
    take_in(trials, facts);
    EXPECT_EQ(facts.firejail.state, ProgramState::not_executable);
    EXPECT_EQ(facts.firejail.problem, *trials.firejail_failure);
}

TEST(Doctor, BubblewrapIsNotNeededWhereThisProgramBuildsTheJail) {
    Facts facts = sound_machine();
    facts.bwrap = find_bwrap(MemoryTree(), std::nullopt);
    Finding finding = find(diagnose(facts), "bubblewrap");
    EXPECT_EQ(finding.severity, Severity::good);
    EXPECT_TRUE(says(finding.detail, "not needed")) << finding.detail;
    EXPECT_TRUE(finding.fix.empty());
    EXPECT_EQ(admin_note(facts), "");
}

TEST(Doctor, MissingBwrapSaysHowToInstallIt) {
    Facts facts = without_native();
    facts.bwrap = find_bwrap(MemoryTree(), std::nullopt);
    Finding finding = find(diagnose(facts), "bubblewrap");
    EXPECT_EQ(finding.severity, Severity::bad);
    EXPECT_EQ(finding.detail, "bubblewrap (bwrap) is not installed");
    EXPECT_EQ(finding.fix, "install bubblewrap: apt install bubblewrap / dnf install bubblewrap\n");
}

TEST(Doctor, ABwrapThatFollowsLinksIsNamedWhereItIsNeeded) {
    auto detail = [](const Facts& facts, BwrapVersion version) {
        return find(diagnose(facts, {.bwrap_version = version}), "bubblewrap").detail;
    };
    EXPECT_TRUE(says(detail(without_native(), {0, 11, 2}), "CVE-2026-87766"));
    EXPECT_FALSE(says(detail(without_native(), {0, 12, 0}), "CVE-2026-87766"));
    EXPECT_FALSE(says(detail(sound_machine(), {0, 8, 0}), "CVE-2026-87766"));
}

TEST(Doctor, OldOrBrokenBwrapIsBad) {
    Finding old = find(diagnose(without_native(), {.bwrap_version = BwrapVersion{0, 3, 1}}), "bubblewrap");
    EXPECT_EQ(old.severity, Severity::bad);
    EXPECT_EQ(old.detail, "/usr/bin/bwrap, version 0.3.1 is older than 0.4.0");
    base::Result<BwrapVersion> broken = base::Error{.what = "it crashed", .advice = "reinstall it"};
    Finding bad = find(diagnose(without_native(), {.bwrap_version = broken}), "bubblewrap");
    EXPECT_EQ(bad.severity, Severity::bad);
    EXPECT_EQ(bad.detail, "it crashed");
    EXPECT_EQ(bad.fix, "reinstall it\n");
}

TEST(Doctor, AJailInAJailIsRefused) {
    Facts facts = sound_machine();
    facts.nested_in = "agent-sandbox";
    EXPECT_EQ(find(diagnose(facts), "nesting").severity, Severity::bad);
}

TEST(Doctor, MissingSeccompIsBadAndMissingCgroupNamespaceIsNot) {
    Facts facts = sound_machine();
    facts.has_seccomp = facts.has_cgroup_namespace = false;
    std::vector<Finding> findings = diagnose(facts);
    EXPECT_EQ(find(findings, "seccomp").severity, Severity::bad);
    EXPECT_EQ(find(findings, "cgroup-namespace").severity, Severity::warning);
}

TEST(Doctor, TellsOfAJobAndOfGpusWithoutTrustingTheirNames) {
    Facts facts = sound_machine();
    facts.slurm_job = {.id = "4711\x1b[2J", .node = "gpu-07"};
    facts.gpu_devices = {"/dev/nvidia0", "/dev/nvidiactl"};
    std::vector<Finding> findings = diagnose(facts);
    EXPECT_EQ(find(findings, "slurm").detail, "in job 4711\\x1b[2J on gpu-07");
    EXPECT_EQ(find(findings, "gpu").detail, "/dev/nvidia0 /dev/nvidiactl");
}

TEST(Doctor, LandlockLeftOutAtBootGetsTheVeryParameter) {
    Facts facts = sound_machine();
    facts.landlock_abi = 0;
    facts.os_name = "Debian GNU/Linux 12 (bookworm)";
    facts.lsm_list = "lockdown,capability,yama,apparmor";
    Finding finding = find(diagnose(facts), "landlock");
    EXPECT_TRUE(says(finding.detail, "lockdown,capability,yama,apparmor"));
    EXPECT_TRUE(says(finding.fix, "lsm=landlock,lockdown,capability,yama,apparmor")) << finding.fix;
    EXPECT_TRUE(says(finding.fix, "update-grub"));
    facts.lsm_list += ",landlock";
    EXPECT_TRUE(says(find(diagnose(facts), "landlock").detail, "a filter around this process"));
}

TEST(Doctor, RootIsToldToBeSomebodyElse) {
    Facts facts = sound_machine();
    facts.identity.uid = 0;
    EXPECT_EQ(find(diagnose(facts), "caller").severity, Severity::warning);
}

TEST(Doctor, APtraceScopeThatClosesAnswersIsNamed) {
    Facts facts = sound_machine();
    facts.can_answer_calls = false;
    facts.ptrace_scope = 2;
    EXPECT_TRUE(says(find(diagnose(facts), "call-answers").detail, "kernel.yama.ptrace_scope is 2"));
}

TEST(Doctor, KernelsAreComparedAsNumbers) {
    for (const char* old : {"4.18.0-553.el8", "5.4.0", "5.12.99", "", "x"})
        EXPECT_FALSE(is_kernel_at_least(old, 5, 13)) << old;
    for (const char* recent : {"5.13", "5.13.0", "5.14.0-503.el9", "6.1.0-18-amd64", "10.0"})
        EXPECT_TRUE(is_kernel_at_least(recent, 5, 13)) << recent;
}

TEST(Doctor, NothingToAskForIsNoLetter) {
    EXPECT_EQ(admin_note(sound_machine()), "");
}

TEST(Doctor, FindingsPrintAsJson) {
    Finding finding{.name = "bubblewrap", .severity = Severity::bad, .detail = "d", .fix = "f"};
    EXPECT_EQ(to_json(finding).dump(-1), R"({"name":"bubblewrap","verdict":"bad","detail":"d","fix":"f"})");
}

}  // namespace
}  // namespace host
