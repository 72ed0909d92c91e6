// SPDX-License-Identifier: MIT
// Doctor on simulated machines. Its output is in tests/golden/doctor/NAME.txt, followed by the letter to the
// administrator. UPDATE_GOLDEN=1 writes the files again: read the difference.
#include "cli/report/doctor_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "base/file.h"
#include "base/places.h"
#include "host/remedies.h"

namespace {

using base::Path;
using host::Facts;
using host::NamespaceObstacle;
using host::ProgramState;

struct Machine {
    std::string name;
    Facts facts;
    host::Trials trials;
};

const std::string kNoFirejail =
    "firejail is not installed; install firejail: apt install firejail / dnf install firejail";

const std::string kNoProfile =
    "agent-sandbox itself can't make user namespaces: kernel.apparmor_restrict_unprivileged_userns is 1 and "
    "no AppArmor profile for agent-sandbox is loaded; 'agent-sandbox doctor --admin-note' has one";

Machine machine(const std::string& name, const std::string& os_name, const std::string& kernel) {
    Machine made{.name = name,
                 .trials = {.tried_user_namespace = true, .bwrap_version = host::BwrapVersion{0, 8, 0}}};
    Facts& facts = made.facts;
    facts.identity = {
        .uid = 1000, .gid = 1000, .user = "ann", .group = "ann", .home = Path::known("/home/ann")};
    facts.os_name = os_name;
    facts.kernel = kernel;
    facts.machine = "x86_64";
    facts.bwrap = {.state = ProgramState::usable, .path = Path::known("/usr/bin/bwrap")};
    facts.firejail = {.problem = kNoFirejail};
    facts.landlock_abi = 4;
    facts.can_answer_calls = true;
    return made;
}

// The results of the trials.
void refuse_namespaces(Machine& machine) {
    machine.trials.user_namespace_failure = "the kernel answers: Operation not permitted";
    machine.trials.native_failure =
        "agent-sandbox itself can't make user namespaces, the kernel answers: Operation not permitted";
}

void close_namespaces(Machine& machine, NamespaceObstacle obstacle, const std::string& cause) {
    machine.facts.namespace_obstacle = obstacle;
    machine.facts.user_namespace_obstacle = cause;
    machine.facts.native_obstacle = "agent-sandbox itself can't make user namespaces: " + cause +
                                    "; 'agent-sandbox doctor --admin-note' says what an administrator can do";
    refuse_namespaces(machine);
}

void lack_calls(Machine& machine) {
    machine.facts.native_obstacle = "kernel " + machine.facts.kernel +
                                    " has no open_tree, or a filter around this process refuses it; install "
                                    "bubblewrap, which does without";
}

void remove_bwrap(Machine& machine) {
    machine.facts.bwrap = {
        .problem =
            "bubblewrap (bwrap) is not installed; install bubblewrap: apt install bubblewrap "
            "/ dnf install bubblewrap"};
    machine.trials.bwrap_version.reset();
}

void without_landlock(Machine& machine) {
    machine.facts.landlock_abi = 0;
}

void with_firejail(Machine& machine) {
    machine.facts.firejail = {
        .state = ProgramState::usable, .path = Path::known("/usr/bin/firejail"), .is_setuid = true};
}

std::vector<Machine> machines() {
    std::vector<Machine> all;
    auto add = [&](const char* name, const char* os_name, const char* kernel) -> Machine& {
        return all.emplace_back(machine(name, os_name, kernel));
    };
    add("debian12", "Debian GNU/Linux 12 (bookworm)", "6.1.0-18-amd64");
    remove_bwrap(add("no-bwrap", "Debian GNU/Linux 12 (bookworm)", "6.1.0-18-amd64"));

    Machine& ubuntu = add("ubuntu2404-apparmor", "Ubuntu 24.04.2 LTS", "6.8.0-60-generic");
    close_namespaces(
        ubuntu, NamespaceObstacle::apparmor,
        "kernel.apparmor_restrict_unprivileged_userns is 1 and no AppArmor profile for bwrap is in "
        "/etc/apparmor.d");
    ubuntu.facts.native_obstacle = kNoProfile;
    ubuntu.facts.apparmor_restricts_user_namespaces = true;
    ubuntu.facts.ptrace_scope = 1;

    Machine& profiled = add("ubuntu2404-profile", "Ubuntu 24.04.2 LTS", "6.8.0-60-generic");
    profiled.facts.apparmor_restricts_user_namespaces = profiled.facts.apparmor_profile_for_bwrap = true;
    profiled.facts.native_obstacle = kNoProfile;
    profiled.trials.user_namespace_failure = "the kernel answers: Permission denied";

    Machine& ours = add("ubuntu2404-own-profile", "Ubuntu 24.04.2 LTS", "6.8.0-60-generic");
    ours.facts.namespace_obstacle = NamespaceObstacle::apparmor;
    ours.facts.user_namespace_obstacle =
        "kernel.apparmor_restrict_unprivileged_userns is 1 and no AppArmor profile for bwrap is in "
        "/etc/apparmor.d";
    ours.facts.apparmor_restricts_user_namespaces = true;

    Machine& rhel = add("rhel8", "Red Hat Enterprise Linux 8.10 (Ootpa)", "4.18.0-553.el8_10.x86_64");
    without_landlock(rhel);
    lack_calls(rhel);
    rhel.facts.can_answer_calls = false;
    rhel.trials.bwrap_version = host::BwrapVersion{0, 4, 0};

    Machine& debian10 = add("debian10-clone-closed", "Debian GNU/Linux 10 (buster)", "4.19.0-27-amd64");
    close_namespaces(debian10, NamespaceObstacle::clone_is_restricted,
                     "kernel.unprivileged_userns_clone is 0");
    without_landlock(debian10);
    debian10.facts.can_answer_calls = false;

    Machine& docker = add("docker-seccomp", "Debian GNU/Linux 12 (bookworm)", "6.8.0-60-generic");
    docker.facts.nested_in = "container";
    refuse_namespaces(docker);
    lack_calls(docker);

    Machine& hardened = add("hardened-firejail", "AlmaLinux 9.5 (Teal Serval)", "5.14.0-503.el9.x86_64");
    close_namespaces(hardened, NamespaceObstacle::limit_is_zero, "user.max_user_namespaces is 0");
    hardened.facts.ptrace_scope = 2;
    hardened.facts.can_answer_calls = false;
    with_firejail(hardened);

    Machine& setuid = add("hardened-setuid-bwrap", "AlmaLinux 9.5 (Teal Serval)", "5.14.0-503.el9.x86_64");
    close_namespaces(setuid, NamespaceObstacle::limit_is_zero, "user.max_user_namespaces is 0");
    setuid.facts.bwrap.is_setuid = true;

    Machine& unlisted = add("landlock-not-in-lsm", "Debian GNU/Linux 12 (bookworm)", "6.1.0-18-amd64");
    without_landlock(unlisted);
    unlisted.facts.lsm_list = "lockdown,capability,yama,apparmor";

    Machine& nothing = add("nothing-works", "Rocky Linux 8.10 (Green Obsidian)", "4.18.0-553.el8_10.x86_64");
    close_namespaces(nothing, NamespaceObstacle::limit_is_zero, "user.max_user_namespaces is 0");
    remove_bwrap(nothing);
    without_landlock(nothing);
    nothing.facts.can_answer_calls = false;

    Machine& nested = add("inside-agent-sandbox", "Debian GNU/Linux 12 (bookworm)", "6.1.0-18-amd64");
    nested.facts.nested_in = "agent-sandbox";
    refuse_namespaces(nested);

    Machine& root = add("root", "Debian GNU/Linux 12 (bookworm)", "6.1.0-18-amd64");
    root.facts.identity = {.user = "root", .group = "root", .home = Path::known("/root")};
    return all;
}

class Doctor : public testing::TestWithParam<Machine> {};

TEST_P(Doctor, PrintsTheGoldenReport) {
    cli::Examination examination = cli::examine(GetParam().facts, GetParam().trials);
    std::string note = host::admin_note(examination.facts);
    std::string text = cli::report_text(examination, false) + "\n==== --admin-note\n" +
                       (note.empty() ? "nothing to ask for\n" : note);
    std::string file = test::data("/golden/doctor/") + GetParam().name + ".txt";
    if (std::getenv("UPDATE_GOLDEN") != nullptr) {
        base::Status written = base::write_file_atomically(file, text, 0644);
        ASSERT_TRUE(written) << written.error().line();
    }
    base::Result<std::string> golden = base::read_file(file);
    ASSERT_TRUE(golden) << golden.error().line();
    EXPECT_EQ(*golden, text);
}

// In every remedy and every letter, a way that opens more never comes before one that opens less.
TEST_P(Doctor, NeverAdvisesToWeakenTheHostFirst) {
    cli::Examination examination = cli::examine(GetParam().facts, GetParam().trials);
    std::vector<std::string> texts = {host::admin_note(examination.facts)};
    for (const host::Finding& finding : examination.findings) texts.push_back(finding.fix);
    for (const std::string& text : texts) {
        for (const char* never :
             {"apparmor_restrict_unprivileged_userns=0", "apparmor_restrict_unprivileged_userns = 0",
              "aa-teardown", "aa-disable", "aa-complain", "apparmor=0", "disable apparmor", "setenforce",
              "--privileged", "seccomp=unconfined", "as root", "sudo agent-sandbox", "ptrace_scope=0",
              "ptrace_scope = 0"}) {
            EXPECT_EQ(text.find(never), std::string::npos) << never << " in:\n" << text;
        }
        size_t wide =
            std::min({text.find("user.max_user_namespaces = 1"), text.find("unprivileged_userns_clone = 1")});
        if (wide == std::string::npos) continue;
        EXPECT_LT(text.find("4750"), wide) << text;
        bool has_firejail = GetParam().facts.firejail.state == ProgramState::usable;
        EXPECT_TRUE(has_firejail || text.find("install firejail") < wide) << text;
    }
}

TEST_P(Doctor, JsonSaysTheSame) {
    cli::Examination examination = cli::examine(GetParam().facts, GetParam().trials);
    base::Result<base::Json> json = base::Json::parse(cli::report_json(examination).dump());
    ASSERT_TRUE(json) << json.error().line();
    EXPECT_EQ(json->items("backends").size(), 4u);
    for (const base::Json& backend : json->items("backends"))
        EXPECT_EQ(backend.items("controls").size(), 15u);
    std::string text = cli::report_text(examination, false);
    EXPECT_EQ(examination.is_usable(), text.find("No jail can be built here.") == std::string::npos);

    // If only the settings prevent a jail, the report does not blame the machine.
    bool was_usable = examination.is_usable();
    examination.has_settings = false;
    text = cli::report_text(examination, false);
    EXPECT_EQ(was_usable, text.find("the configuration keeps it from starting") != std::string::npos);
    EXPECT_FALSE(examination.is_usable());
}

INSTANTIATE_TEST_SUITE_P(Each, Doctor, testing::ValuesIn(machines()), [](const auto& each) {
    std::string name = each.param.name;
    std::ranges::replace(name, '-', '_');
    return name;
});

TEST(DoctorVerdict, ABubblewrapThatWasChosenByHandIsTheOneThatIsTaken) {
    Machine sound = machine("sound", "Debian GNU/Linux 12 (bookworm)", "6.1.0-18-amd64");
    cli::Examination examination = cli::examine(sound.facts, sound.trials);
    EXPECT_EQ(examination.chosen()->backend->id, base::Backend::native);
    examination.is_bwrap_pinned = true;
    EXPECT_EQ(examination.chosen()->backend->id, base::Backend::bwrap);
    sound.facts.bwrap = {.state = ProgramState::untrusted, .problem = "owned by uid 1001"};
    examination = cli::examine(sound.facts, {});
    examination.is_bwrap_pinned = true;
    EXPECT_FALSE(examination.is_usable()) << "as a launch";
}

TEST(DoctorVerdict, OneBackendIsEnough) {
    for (const Machine& each : machines()) {
        bool is_closed = each.name == "nothing-works" || each.name == "inside-agent-sandbox" ||
                         each.name == "debian10-clone-closed";
        EXPECT_EQ(cli::examine(each.facts, each.trials).is_usable(), !is_closed) << each.name;
    }
}

}  // namespace
