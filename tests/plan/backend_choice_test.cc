// SPDX-License-Identifier: MIT
// Machines × requests → the outcome, as a readable table (tests/golden/backends/choice.txt), and the law for
// every cell: no run is weaker than requested, or weaker than the best jail, without a message.
#include <algorithm>
#include <cstdlib>

#include "base/file.h"
#include "base/places.h"
#include "base/text.h"
#include "case.h"
#include "plan/backend.h"

namespace plan {
namespace {

using host::Facts;
using host::ProgramState;
using policy::Level;

struct Machine {
    std::string_view name;
    void (*change)(Facts&);
};

void close_namespaces(Facts& facts) {
    facts.namespace_obstacle = host::NamespaceObstacle::limit_is_zero;
    facts.user_namespace_obstacle = "user.max_user_namespaces is 0";
    facts.native_obstacle =
        "agent-sandbox itself can't make user namespaces: user.max_user_namespaces is 0; "
        "'agent-sandbox doctor --admin-note' says what an administrator can do";
}
void restrict_us(Facts& facts) {
    facts.apparmor_restricts_user_namespaces = true;
    facts.native_obstacle =
        "agent-sandbox itself can't make user namespaces: kernel.apparmor_restrict_unprivileged_userns is 1 "
        "and no AppArmor profile for agent-sandbox is loaded; 'agent-sandbox doctor --admin-note' has one";
}
void restrict_bwrap(Facts& facts) {
    facts.namespace_obstacle = host::NamespaceObstacle::apparmor;
    facts.user_namespace_obstacle =
        "kernel.apparmor_restrict_unprivileged_userns is 1 and no AppArmor profile for bwrap is in "
        "/etc/apparmor.d";
}
void lack_calls(Facts& facts) {
    facts.native_obstacle =
        "kernel 5.1.0 has no open_tree, or a filter around this process refuses it; install bubblewrap, "
        "which does without";
}
// The result that a launch finds.
void refuse_namespaces(Facts& facts) {
    facts.native_obstacle =
        "agent-sandbox itself can't make user namespaces, the kernel answers: Operation not permitted";
    facts.user_namespace_obstacle = "the kernel answers: Operation not permitted";
}
void add_firejail(Facts& facts) {
    facts.firejail = {
        .state = ProgramState::usable, .path = base::Path::known("/usr/bin/firejail"), .is_setuid = true};
}
void lack_firejail(Facts& facts) {
    facts.firejail.problem = "firejail is not installed; install firejail: apt install firejail";
}
void add_landlock(Facts& facts, int abi) {
    facts.landlock_abi = abi;
    facts.can_answer_calls = true;
}
void lose_answers(Facts& facts) {
    facts.can_answer_calls = false;
    facts.answers_obstacle = "kernel.yama.ptrace_scope is 2";
}
void remove_bwrap(Facts& facts) {
    facts.bwrap = {.problem =
                       "bubblewrap (bwrap) is not installed; install bubblewrap: apt install bubblewrap"};
}

const Machine kMachines[] = {
    {"everything", [](Facts& f) { add_firejail(f), add_landlock(f, 7); }},
    {"native, nothing else looked at", [](Facts& f) { f.bwrap = {}; }},
    {"native, no bubblewrap", [](Facts& f) { remove_bwrap(f), lack_firejail(f), add_landlock(f, 7); }},
    {"native, set-uid bubblewrap",
     [](Facts& f) { f.bwrap.is_setuid = true, lack_firejail(f), add_landlock(f, 7); }},
    {"kernel without open_tree", [](Facts& f) { lack_calls(f); }},
    {"kernel without open_tree, no bubblewrap",
     [](Facts& f) { lack_calls(f), remove_bwrap(f), lack_firejail(f), add_landlock(f, 7); }},
    {"AppArmor restricts us, bubblewrap has a profile",
     [](Facts& f) { restrict_us(f), f.apparmor_profile_for_bwrap = true; }},
    {"AppArmor restricts bubblewrap, we have a profile",
     [](Facts& f) { f.apparmor_restricts_user_namespaces = true, restrict_bwrap(f); }},
    {"namespaces closed, set-uid bubblewrap",
     [](Facts& f) { close_namespaces(f), f.bwrap.is_setuid = true, lack_firejail(f), add_landlock(f, 5); }},
    {"namespaces closed, firejail, Landlock 7",
     [](Facts& f) { close_namespaces(f), add_firejail(f), add_landlock(f, 7); }},
    {"namespaces closed, firejail, ptrace closed",
     [](Facts& f) { close_namespaces(f), add_firejail(f), add_landlock(f, 7), lose_answers(f); }},
    {"namespaces closed, firejail, no Landlock",
     [](Facts& f) { close_namespaces(f), add_firejail(f), f.can_answer_calls = true; }},
    {"AppArmor restricts, Landlock 4",
     [](Facts& f) { restrict_us(f), restrict_bwrap(f), lack_firejail(f), add_landlock(f, 4); }},
    {"namespaces closed, Landlock 7",
     [](Facts& f) { close_namespaces(f), lack_firejail(f), add_landlock(f, 7); }},
    {"namespaces closed, Landlock 1",
     [](Facts& f) { close_namespaces(f), lack_firejail(f), add_landlock(f, 1); }},
    {"namespaces closed, Landlock 7, ptrace closed",
     [](Facts& f) { close_namespaces(f), lack_firejail(f), add_landlock(f, 7), lose_answers(f); }},
    {"namespaces closed, Landlock 5, ptrace closed",
     [](Facts& f) { close_namespaces(f), lack_firejail(f), add_landlock(f, 5), lose_answers(f); }},
    {"container whose filter refuses namespaces",
     [](Facts& f) {
         f.nested_in = "container";
         refuse_namespaces(f);
         lack_firejail(f), add_landlock(f, 7), lose_answers(f);
     }},
    {"namespaces closed, no bubblewrap, Landlock 7",
     [](Facts& f) { close_namespaces(f), remove_bwrap(f), lack_firejail(f), add_landlock(f, 7); }},
    {"namespaces closed, a bubblewrap of somebody's",
     [](Facts& f) {
         close_namespaces(f);
         f.bwrap = {.state = ProgramState::untrusted,
                    .path = base::Path::known("/usr/local/bin/bwrap"),
                    .problem = "/usr/local/bin/bwrap is owned by uid 1001: only a root-owned bwrap is run"};
         lack_firejail(f), add_landlock(f, 7);
     }},
    {"nothing at all", [](Facts& f) { close_namespaces(f), remove_bwrap(f), lack_firejail(f); }},
    {"no seccomp", [](Facts& f) { add_firejail(f), add_landlock(f, 7), f.has_seccomp = false; }},
    {"inside agent-sandbox",
     [](Facts& f) {
         f.nested_in = "agent-sandbox";
         refuse_namespaces(f);
         lack_firejail(f), add_landlock(f, 7);
     }},
    {"root", [](Facts& f) { f.identity.uid = 0, f.identity.gid = 0, add_landlock(f, 7); }},
};

struct FlagRow {
    std::string_view name;
    std::string_view flags;  // TOML, from the command line
};

const FlagRow kRequests[] = {
    {"default", ""},
    {"--backend native", "isolation.backend = 'native'"},
    {"--backend bwrap", "isolation.backend = 'bwrap'"},
    {"--backend firejail", "isolation.backend = 'firejail'"},
    {"--backend landlock", "isolation.backend = 'landlock'"},
    {"isolation.bwrap set", "isolation.bwrap = '/usr/bin/bwrap'"},
    {"--network proxied", "network.mode = 'proxied'"},
    {"--network isolated", "network.mode = 'isolated'"},
    {"--network open", "network.mode = 'open'"},
    {"fallback strict", "network.fallback = 'strict'"},
    {"fallback open", "network.fallback = 'open'"},
    {"--require absent", "isolation.require = 'absent'"},
    {"--require denied", "isolation.require = 'denied'"},
    {"--require hidden", "isolation.require = 'hidden'"},
    {"temporary files=hidden", "isolation.require_each = ['temporary files=hidden']"},
};

test::Case example_of(const Machine& machine, const FlagRow& asked) {
    test::Case example;
    example.toml.user = asked.flags;
    example.machine = machine.change;
    return example;
}

std::string outcome(const base::Result<Plan>& plan) {
    if (!plan) return "refused: " + plan.error().line();
    std::vector<std::string> weaker, notes;
    for (const Control& control : plan->controls) {
        const Reach* reach = lesser_reach(control.name, plan->backend);
        bool is_lesser = control.is_asked && (reach != nullptr || control.level == Level::absent);
        if (is_lesser) weaker.push_back(control.name + " " + std::string(policy::to_text(control.level)));
    }
    for (const Note& note : plan->notes) {
        bool is_fall = note.text.find("builds the jail instead") != std::string::npos;
        if (note.kind == NoteKind::protection) notes.push_back("\n      says: " + note.text);
        if (note.kind == NoteKind::information && is_fall)
            notes.push_back("\n      with --verbose: " + note.text);
    }
    std::string text = std::string(base::to_text(plan->backend)) + ", network " +
                       std::string(policy::to_text(plan->network.reached));
    if (!weaker.empty()) text += "\n      " + base::join(weaker, ", ");
    for (const std::string& note : notes) text += note;
    return text;
}

TEST(BackendChoice, TableOfMachinesAndRequests) {
    std::string table;
    for (const Machine& machine : kMachines) {
        table += std::string(machine.name) + "\n";
        for (const FlagRow& asked : kRequests) {
            table += "  " + std::string(asked.name) + "\n    " +
                     outcome(test::planned(example_of(machine, asked))) + "\n";
        }
        table += "\n";
    }
    std::string path = test::data("/golden/backends/choice.txt");
    if (std::getenv("UPDATE_GOLDEN") != nullptr) {
        ASSERT_TRUE(base::write_file_atomically(path, table));
    }
    auto golden = base::read_file(path);
    ASSERT_TRUE(golden) << golden.error().line();
    EXPECT_TRUE(*golden == table) << "UPDATE_GOLDEN=1 rewrites " << path << "; look at the difference";
}

bool says(const Plan& plan, std::string_view text, NoteKind kind = NoteKind::protection) {
    return std::ranges::any_of(plan.notes, [&](const Note& note) {
        return note.kind == kind && note.text.find(text) != std::string::npos;
    });
}

TEST(BackendChoice, NothingIsWeakerInSilence) {
    int planned = 0;
    for (const Machine& machine : kMachines) {
        for (const FlagRow& asked : kRequests) {
            SCOPED_TRACE(std::string(machine.name) + " / " + std::string(asked.name));
            base::Result<Plan> plan = test::planned(example_of(machine, asked));
            if (!plan) continue;
            ++planned;
            bool is_forced = asked.name.starts_with("--backend");
            if (is_forced) {
                EXPECT_EQ("--backend " + std::string(base::to_text(plan->backend)), asked.name);
            } else if (is_lesser(traits_of(plan->backend))) {
                EXPECT_TRUE(says(*plan, "builds the jail instead, which is weaker"))
                    << base::to_text(plan->backend);
            } else if (asked.name == "isolation.bwrap set") {
                EXPECT_TRUE(plan->backend == Backend::bwrap || says(*plan, "builds the jail instead"));
            } else if (plan->backend == Backend::bwrap) {
                EXPECT_TRUE(says(*plan, "bubblewrap builds the jail instead", NoteKind::information));
            } else {
                EXPECT_EQ(plan->backend, Backend::native);
            }
            for (const Control& control : plan->controls) {
                bool is_dropped = control.is_asked && control.level == Level::absent;
                if (!is_dropped || control.name == "network" || control.name == "mail") continue;
                EXPECT_TRUE(says(*plan, control.name)) << control.name;
            }
            if (plan->network.reached < plan->network.asked) {
                EXPECT_TRUE(says(*plan, "can't be had with this backend"));
            }
        }
    }
    EXPECT_GT(planned, 100) << "or the law was hardly looked at";
}

TEST(BackendChoice, RequirementsAreHeld) {
    for (const Machine& machine : kMachines) {
        for (auto [word, level] : {std::pair("denied", Level::denied), std::pair("hidden", Level::hidden)}) {
            SCOPED_TRACE(std::string(machine.name) + " / " + word);
            FlagRow asked{"", {}};
            std::string flags = "isolation.require = '" + std::string(word) + "'";
            asked.flags = flags;
            base::Result<Plan> plan = test::planned(example_of(machine, asked));
            if (!plan) continue;
            for (const Control& control : plan->controls)
                EXPECT_TRUE(!control.is_asked || control.level >= level) << control.name;
        }
    }
}

Plan plan_on(void (*change)(Facts&), std::string_view settings) {
    base::Result<Plan> plan = test::planned(example_of({"", change}, {"", settings}));
    EXPECT_TRUE(plan) << plan.error().line();
    return plan ? *std::move(plan) : Plan{};
}

TEST(BackendChoice, BubblewrapInOurPlaceIsToldToThoseWhoAskAndNotCalledWeaker) {
    Plan plan = plan_on(lack_calls, "");
    EXPECT_EQ(plan.backend, Backend::bwrap);
    EXPECT_TRUE(says(plan, "has no open_tree", NoteKind::information));
    for (const Note& note : plan.notes) {
        EXPECT_EQ(note.text.find("weaker"), std::string::npos) << note.text;
        EXPECT_EQ(note.text.find("install bubblewrap"), std::string::npos) << "the remedy was taken";
    }
}

TEST(BackendChoice, ABubblewrapThatWasChosenByHandIsTaken) {
    constexpr std::string_view kPinned = "isolation.bwrap = '/usr/bin/bwrap'";
    EXPECT_EQ(plan_on([](Facts&) {}, "").backend, Backend::native) << "control";
    Plan taken = plan_on([](Facts&) {}, kPinned);
    EXPECT_EQ(taken.backend, Backend::bwrap);
    EXPECT_FALSE(says(taken, "builds the jail instead")) << "nothing was passed over";
    EXPECT_FALSE(says(taken, "builds the jail instead", NoteKind::information));
    EXPECT_EQ(
        plan_on([](Facts&) {}, "isolation.bwrap = '/usr/bin/bwrap'\nisolation.backend = 'native'").backend,
        Backend::native);

    Plan left = plan_on(restrict_bwrap, kPinned);
    EXPECT_EQ(left.backend, Backend::native);
    EXPECT_TRUE(says(left, "agent-sandbox itself builds the jail instead")) << "not in silence";

    base::Result<Plan> none = test::planned(example_of({"", remove_bwrap}, {"", kPinned}));
    ASSERT_FALSE(none) << base::to_text(none->backend);
    EXPECT_NE(none.error().line().find("is not installed"), std::string::npos) << none.error().line();
}

TEST(BackendChoice, EveryCauseIsToldOnce) {
    Plan plan = plan_on([](Facts& f) { close_namespaces(f), add_firejail(f); }, "");
    EXPECT_TRUE(says(plan, "user.max_user_namespaces is 0: firejail builds")) << plan.notes.front().text;
    for (const Note& note : plan.notes) {
        size_t first = note.text.find("max_user_namespaces");
        if (first == std::string::npos) continue;
        EXPECT_EQ(note.text.find("max_user_namespaces", first + 1), std::string::npos) << note.text;
    }
    plan = plan_on([](Facts& f) { lack_calls(f), remove_bwrap(f), add_firejail(f); }, "");
    EXPECT_TRUE(says(plan, "has no open_tree")) << "both, because either would be mended by itself";
    EXPECT_TRUE(says(plan, "and bubblewrap (bwrap) is not installed: firejail builds"));
}

// A hardened service: firejail is there, and a filter refuses what it needs.
TEST(BackendChoice, AFirejailThatFailsIsPassedOverWithItsReason) {
    Plan plan = plan_on(
        [](Facts& f) {
            close_namespaces(f), add_firejail(f), add_landlock(f, 7);
            f.firejail.state = ProgramState::not_executable;
            f.firejail.problem = "firejail can't build a jail here: cannot mount";
        },
        "");
    EXPECT_EQ(plan.backend, Backend::landlock);
    EXPECT_TRUE(says(plan, "is 0, and firejail can't build a jail here: cannot mount: Landlock alone builds"))
        << plan.notes.front().text;
}

TEST(BackendChoice, AMistypedControlIsAnError) {
    test::Case example;
    example.toml.user = "isolation.require_each = ['temporary file=hidden']";
    base::Result<Plan> plan = test::planned(example);
    ASSERT_FALSE(plan);
    EXPECT_NE(plan.error().line().find("did you mean 'temporary files'"), std::string::npos)
        << plan.error().line();
    example.toml.user = "isolation.require_each = ['temporary files=high']";
    plan = test::planned(example);
    ASSERT_FALSE(plan);
    EXPECT_NE(plan.error().line().find("names no level"), std::string::npos) << plan.error().line();
}

}  // namespace
}  // namespace plan
