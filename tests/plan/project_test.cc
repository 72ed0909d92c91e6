// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "plan/case.h"

namespace {

using test::access;
using test::Case;
using test::holds;
using test::kLaptop;
using test::mount_at;
using test::planned;

TEST(Project, IsWritableAndItsNeighboursDoNotExist) {
    auto plan = planned({});
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_EQ(access(*plan, "/home/ann/app/src/x"), "writable");
    EXPECT_EQ(access(*plan, "/home/bob"), "absent");
    EXPECT_EQ(mount_at(*plan, "/home/ann/other"), nullptr);
    EXPECT_TRUE(mount_at(*plan, "/home/ann/app")->is_pinned);
}

struct BadProject {
    const char* path;
    const char* message;
};
class ProjectRefused : public testing::TestWithParam<BadProject> {};

TEST_P(ProjectRefused, WithASentence) {
    Case example{.project = GetParam().path};
    example.tree += "d /data\nd /etc/x\nd /home/ann/.ssh/deep\nd /homely/x\nd /srv\nf /data/file\n";
    auto plan = planned(example);
    ASSERT_FALSE(plan);
    EXPECT_NE(plan.error().what.find(GetParam().message), std::string::npos) << plan.error().line();
    EXPECT_FALSE(plan.error().advice.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Places, ProjectRefused,
    testing::Values(BadProject{"/home/ann", "your home directory"}, BadProject{"/", "whole system"},
                    BadProject{"/home", "your home directory lies in it"},
                    BadProject{"/home/ann/.ssh", "it lies in"},
                    BadProject{"/home/ann/.ssh/deep", "it lies in"}, BadProject{"/etc/x", "system"},
                    BadProject{"/usr", "system"}, BadProject{"/tmp", "shared"},
                    BadProject{"/data/file", "not a directory"}, BadProject{"/data/none", "does not exist"}));

TEST(Project, MayNotHoldCredentialsUnderAnotherName) {
    // ~/.ssh is a link into the directory that is to be the project.
    Case example{.tree = std::string(kLaptop), .project = "/home/ann/dotfiles"};
    size_t ssh = example.tree.find("d /home/ann/.ssh\n");
    example.tree.replace(ssh, 17, "l /home/ann/.ssh dotfiles/ssh\nd /home/ann/dotfiles/ssh\n");
    auto plan = planned(example);
    ASSERT_FALSE(plan);
    EXPECT_NE(plan.error().what.find("the symbolic link /home/ann/.ssh"), std::string::npos)
        << plan.error().line();
    EXPECT_TRUE(plan.error().advice.ends_with("run: rm /home/ann/.ssh")) << plan.error().line();
}

TEST(Project, MayStartWhereALinkAtACredentialLeadsToTheSystemOrAboveTheHome) {
    for (const char* target : {"/", "/home", "/usr", "/usr/bin", "/etc"}) {
        Case example{.tree = std::string(kLaptop) + "l /home/ann/.config/hub " + target + "\n"};
        auto plan = planned(example);
        ASSERT_TRUE(plan) << plan.error().line();
        EXPECT_EQ(access(*plan, "/usr/bin/env"), "readonly") << target;
        EXPECT_EQ(access(*plan, "/home/ann/app/src/x"), "writable") << target;
        auto is_told = [&](const plan::Note& note) {
            return note.text.find(".config/hub (login of GitHub) is a symbolic link to " +
                                  std::string(target)) == 10;
        };
        EXPECT_TRUE(std::ranges::any_of(plan->notes, is_told)) << target;
    }
}

TEST(Project, ALinkAtACredentialToAClosedFileOfTheSystemStillHidesIt) {
    Case example{.tree = std::string(kLaptop) +
                         "l /home/ann/.config/hub /opt/site/netrc\nf /opt/site/netrc 0640\n"};
    auto plan = planned(example);
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_EQ(access(*plan, "/opt/site/netrc"), "hidden");
}

struct InsideProtected {
    const char* path;
    const char* root;  // nothing: it may be a project
};
class ProtectedPlace : public testing::TestWithParam<InsideProtected> {};

TEST_P(ProtectedPlace, IsNotAProject) {
    Case example{.tree = std::string(kLaptop) + "d " + GetParam().path + "\n", .project = GetParam().path};
    auto plan = planned(example);
    if (GetParam().root == nullptr) {
        EXPECT_TRUE(plan) << plan.error().line();
        example.toml.user = "[project]\nprotect = [\"deploy/keys\"]";
        EXPECT_TRUE(planned(example));
        return;
    }
    ASSERT_FALSE(plan) << GetParam().path;
    EXPECT_EQ(plan.error().advice, "start in the project's root: cd " + std::string(GetParam().root))
        << plan.error().line();
    // A repository of its own is another project, and reading is harmless.
    example.toml.user = "[project]\nread_only = true";
    EXPECT_TRUE(planned(example));
    example.toml.user = "";
    example.tree += "d " + std::string(GetParam().path) + "/.git\n";
    EXPECT_TRUE(planned(example));
}

INSTANTIATE_TEST_SUITE_P(Places, ProtectedPlace,
                         testing::Values(InsideProtected{"/home/ann/app/.vscode", "/home/ann/app"},
                                         InsideProtected{"/home/ann/app/.vscode/deep/er", "/home/ann/app"},
                                         InsideProtected{"/home/ann/app/.git", "/home/ann/app"},
                                         InsideProtected{"/home/ann/app/.git/hooks", "/home/ann/app"},
                                         InsideProtected{"/home/ann/app/.git/refs/heads", "/home/ann/app"},
                                         InsideProtected{"/home/ann/app/sub/.claude", "/home/ann/app/sub"},
                                         InsideProtected{"/home/ann/app/.claude/skills/x", "/home/ann/app"},
                                         InsideProtected{"/home/ann/app/.github/hooks", "/home/ann/app"},
                                         InsideProtected{"/home/ann/app/.zed", "/home/ann/app"},
                                         InsideProtected{"/home/ann/.git", "/home/ann"},
                                         InsideProtected{"/home/ann/app/.claude/worktrees/x", nullptr},
                                         InsideProtected{"/home/ann/app/.other", nullptr},
                                         InsideProtected{"/home/ann/.codex/worktrees/x", nullptr},
                                         InsideProtected{"/home/ann/app/keys", nullptr}));

TEST(Project, MayNotBeABareRepository) {
    Case example{.tree = std::string(kLaptop) +
                         "d /home/ann/r.git/objects\nd /home/ann/r.git/refs\nf /home/ann/r.git/HEAD\n",
                 .project = "/home/ann/r.git"};
    EXPECT_FALSE(planned(example));
    example.toml.user = "[project]\nread_only = true";
    EXPECT_TRUE(planned(example));
    example.toml.user = "[project]\nunprotect = [\".git\"]";
    EXPECT_TRUE(planned(example));
    // Names alone do not make a repository.
    example.toml.user = "";
    example.tree.replace(example.tree.find("d /home/ann/r.git/refs"), 22, "d /home/ann/r.git/rest");
    EXPECT_TRUE(planned(example));
}

TEST(Project, MayNotBeWhatTheUserProtects) {
    Case example{.toml = {.user = "[project]\nprotect = [\"deploy/keys\"]"},
                 .project = "/home/ann/app/deploy"};
    example.tree += "d /home/ann/app/deploy/keys/x\n";
    EXPECT_FALSE(planned(example));
    example.project = "/home/ann/app/deploy/keys/x";
    EXPECT_FALSE(planned(example));
    example.toml.user = "[project]\nprotect = [\"deploy/keys\"]\nunprotect = [\"deploy/keys\"]";
    EXPECT_TRUE(planned(example));
}

TEST(Project, MustLieBelowAParentByComponents) {
    Case example{.toml = {.user = "[project]\nparents = [\"/foo\"]"}, .project = "/foobar/x"};
    example.tree += "d /foobar/x\nd /foo\n";
    EXPECT_FALSE(planned(example));
    example.project = "/foo/x";
    example.tree += "d /foo/x\n";
    auto plan = planned(example);
    EXPECT_TRUE(plan) << plan.error().line();
}

TEST(Protection, ExistingPathsAreReadOnlyAndTheirParentsCantBeRenamed) {
    auto plan = planned({});
    ASSERT_TRUE(plan);
    EXPECT_EQ(access(*plan, "/home/ann/app/.git/hooks/pre-commit"), "readonly");
    EXPECT_EQ(access(*plan, "/home/ann/app/.git/config"), "readonly");
    EXPECT_EQ(access(*plan, "/home/ann/app/.git/index"), "writable");
    ASSERT_NE(mount_at(*plan, "/home/ann/app/.git"), nullptr);
    EXPECT_EQ(mount_at(*plan, "/home/ann/app/.git")->kind, plan::MountKind::bind_writable);
    EXPECT_FALSE(holds(*plan, "/home/ann/app/.git/hooks"));
}

TEST(Protection, MissingPathsAreHeldByPlaceholders) {
    auto plan = planned({});
    ASSERT_TRUE(plan);
    EXPECT_TRUE(holds(*plan, "/home/ann/app/.vscode"));
    EXPECT_TRUE(holds(*plan, "/home/ann/app/.git/info/attributes"));
    ASSERT_NE(mount_at(*plan, "/home/ann/app/.vscode"), nullptr);
    EXPECT_EQ(mount_at(*plan, "/home/ann/app/.vscode")->kind, plan::MountKind::bind_readonly);
}

TEST(Protection, AnEmptyDirectoryIsHeldBecauseItMayBeAnotherSessionsPlaceholder) {
    Case example;
    example.tree += "d /home/ann/app/.vscode\nd /home/ann/app/.opencode\n";
    auto plan = planned(example);
    ASSERT_TRUE(plan);
    EXPECT_TRUE(holds(*plan, "/home/ann/app/.vscode"));
    EXPECT_TRUE(holds(*plan, "/home/ann/app/.opencode"));
    EXPECT_FALSE(holds(*plan, "/home/ann/app/.opencode/plugin"))
        << "nothing may be made in another's placeholder";
}

TEST(Protection, ALinkInAProtectedPlaceIsHeldAndTheTargetProtected) {
    Case example;
    example.tree += "d /home/ann/app/editor/deep\nl /home/ann/app/.vscode editor/deep\n";
    auto plan = planned(example);
    ASSERT_TRUE(plan) << plan.error().line();
    ASSERT_NE(mount_at(*plan, "/home/ann/app/.vscode"), nullptr);
    EXPECT_EQ(mount_at(*plan, "/home/ann/app/.vscode")->kind, plan::MountKind::held_link);
    EXPECT_TRUE(holds(*plan, "/home/ann/app/editor/deep"));
    EXPECT_EQ(access(*plan, "/home/ann/app/editor/deep/tasks.json"), "readonly");
    EXPECT_NE(mount_at(*plan, "/home/ann/app/editor"), nullptr) << "could be renamed aside";
    example.toml.user = "[project]\nunprotect = [\".vscode\"]";
    auto lifted = planned(example);
    ASSERT_TRUE(lifted);
    EXPECT_EQ(mount_at(*lifted, "/home/ann/app/.vscode"), nullptr);
}

TEST(Protection, ALinkThatTheBackendCantHoldIsRefusedOrItsDirectoryIsReadOnly) {
    Case example;
    example.toml.user = "[isolation]\nbackend = \"bwrap\"";
    Case deeper = example, matched = example;
    example.tree += "d /home/ann/app/editor\nl /home/ann/app/.vscode editor\n";
    auto refused = planned(example);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().line().find("symbolic link"), std::string::npos);
    EXPECT_NE(refused.error().advice.find("--backend native"), std::string::npos);
    deeper.tree += "f /home/ann/app/.claude/x\nl /home/ann/app/.claude/hooks ../src\n";
    auto closed = planned(deeper);
    ASSERT_TRUE(closed) << closed.error().line();
    EXPECT_EQ(access(*closed, "/home/ann/app/.claude/x"), "readonly");
    EXPECT_EQ(access(*closed, "/home/ann/app/src"), "readonly");
    // A session can create this link.
    matched.tree += "l /home/ann/app/x.code-workspace src\n";
    auto told = planned(matched);
    ASSERT_TRUE(told) << told.error().line();
    EXPECT_EQ(access(*told, "/home/ann/app/src"), "readonly");
    EXPECT_TRUE(std::ranges::any_of(told->notes, [](const plan::Note& note) {
        return note.text.find("x.code-workspace can be exchanged") != std::string::npos;
    }));
}

TEST(Protection, OfAMaskedFileLeavesItMasked) {
    auto plan = planned({.toml = {.user = "[project]\nprotect = [\".env\"]"}});
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_EQ(access(*plan, "/home/ann/app/.env"), "masked");
}

TEST(Protection, OfAReadOnlyProjectNeedsNoPlaceholder) {
    auto plan = planned({.toml = {.user = "[project]\nread_only = true"}});
    ASSERT_TRUE(plan);
    EXPECT_TRUE(plan->placeholders.empty());
    EXPECT_EQ(access(*plan, "/home/ann/app/src"), "readonly");
}

TEST(Protection, CanBeLiftedByTheUserButNotWhereTheAdministratorSetIt) {
    auto lifted = planned({.toml = {.user = "[project]\nunprotect = [\".vscode\"]"}});
    ASSERT_TRUE(lifted);
    EXPECT_FALSE(holds(*lifted, "/home/ann/app/.vscode"));
    auto kept = planned(
        {.toml = {.admin = "[project]\nprotect = [\"ci\"]", .user = "[project]\nunprotect = [\"ci\"]"}});
    ASSERT_TRUE(kept) << kept.error().line();
    EXPECT_TRUE(holds(*kept, "/home/ann/app/ci"));
}

TEST(Protection, AProjectWithoutARepositoryCantGetOne) {
    Case example{.project = "/home/ann/other"};
    auto plan = planned(example);
    ASSERT_TRUE(plan);
    EXPECT_TRUE(holds(*plan, "/home/ann/other/.git"));
}

TEST(Protection, ReachesNestedRepositories) {
    Case example;
    example.tree +=
        "d /home/ann/app/lib/dep/.git/hooks\nf /home/ann/app/lib/dep/.git/config\nf "
        "/home/ann/app/lib/dep/.git/HEAD\n"
        "d /home/ann/app/lib/dep/.git/objects\nd /home/ann/app/lib/dep/.git/refs\n";
    auto plan = planned(example);
    ASSERT_TRUE(plan);
    EXPECT_EQ(access(*plan, "/home/ann/app/lib/dep/.git/hooks"), "readonly");
    EXPECT_EQ(access(*plan, "/home/ann/app/lib/dep/.git/objects"), "writable");
    EXPECT_NE(mount_at(*plan, "/home/ann/app/lib"), nullptr) << "an ancestor could be renamed aside";
}

TEST(Masks, CoverSecretsAndLeaveExamples) {
    Case example;
    example.tree += "f /home/ann/app/sub/.env.production\nf /home/ann/app/node_modules/x/.env\n";
    auto plan = planned(example);
    ASSERT_TRUE(plan);
    EXPECT_EQ(access(*plan, "/home/ann/app/.env"), "masked");
    EXPECT_EQ(access(*plan, "/home/ann/app/sub/.env.production"), "masked");
    EXPECT_EQ(access(*plan, "/home/ann/app/.env.example"), "writable");
    EXPECT_EQ(mount_at(*plan, "/home/ann/app/.env")->kind, plan::MountKind::empty_file);
}

TEST(Masks, OfTheAdministratorStay) {
    auto plan = planned({.toml = {.admin = "[project]\nmask = [\"src\"]",
                                  .user = "[project]\nunmask = [\"src\", \".env\"]"}});
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_EQ(access(*plan, "/home/ann/app/src"), "masked");
    EXPECT_EQ(access(*plan, "/home/ann/app/.env"), "writable");
}

std::string worktree(std::string_view link, std::string_view back) {
    std::string tree(kLaptop);
    tree += "d /home/ann/feature\nf /home/ann/feature/.git 0644 gitdir: " + std::string(link) + "\\n\n";
    tree += "f /home/ann/app/.git/worktrees/feature/commondir 0644 ../..\\n\n";
    tree += "f /home/ann/app/.git/worktrees/feature/gitdir 0644 " + std::string(back) + "\\n\n";
    return tree;
}

// No two files or held links of the plan have the same target.
void expect_renders(const plan::Plan& plan, const std::string& what) {
    std::set<std::string> files;
    for (const plan::Mount& mount : plan.mounts) {
        bool is_file = mount.kind == plan::MountKind::file || mount.kind == plan::MountKind::held_link;
        if (is_file) EXPECT_TRUE(files.insert(mount.target.str()).second) << mount.target.str() << what;
    }
}

TEST(Git, ASubmoduleAndAWorktreeLeadToOneRepositoryOnce) {
    Case example;
    example.tree +=
        "f /home/ann/app/.git/modules/lib/HEAD\nd /home/ann/app/.git/modules/lib/objects\n"
        "d /home/ann/app/.git/modules/lib/refs\n"
        "f /home/ann/app/.git/modules/lib/config 0644 [core]\\nworktree = ../../../lib\\n\n"
        "f /home/ann/app/lib/.git 0644 gitdir: ../.git/modules/lib\\n\n"
        "f /home/ann/app/tree/.git 0644 gitdir: ../.git/worktrees/tree\\n\n"
        "f /home/ann/app/.git/worktrees/tree/commondir 0644 ../..\\n\n"
        "f /home/ann/app/.git/worktrees/tree/gitdir 0644 /home/ann/app/tree/.git\\n\n";
    auto plan = planned(example);
    ASSERT_TRUE(plan) << plan.error().line();
    expect_renders(*plan, "");
    ASSERT_NE(mount_at(*plan, "/home/ann/app/.git/modules/lib/config"), nullptr);
    EXPECT_EQ(access(*plan, "/home/ann/app/.git/modules/lib/hooks"), "readonly");
}

TEST(Git, AWorktreeOpensItsRepositoryWithHooksProtected) {
    auto plan = planned({.tree = worktree("/home/ann/app/.git/worktrees/feature", "/home/ann/feature/.git"),
                         .project = "/home/ann/feature"});
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_EQ(access(*plan, "/home/ann/app/.git/objects/ab"), "writable");
    EXPECT_EQ(access(*plan, "/home/ann/app/.git/hooks"), "readonly");
    EXPECT_EQ(access(*plan, "/home/ann/app/.git/config"), "readonly");
    EXPECT_EQ(access(*plan, "/home/ann/feature/.git"), "readonly");
    EXPECT_EQ(mount_at(*plan, "/home/ann/app"), nullptr) << "the main working tree is another project";
}

TEST(Git, ALinkThatIsNotReturnedOpensNothing) {
    auto plan = planned({.tree = worktree("/home/ann/app/.git/worktrees/feature", "/home/ann/elsewhere/.git"),
                         .project = "/home/ann/feature"});
    ASSERT_TRUE(plan);
    EXPECT_NE(access(*plan, "/home/ann/app/.git/objects"), "readonly");
    EXPECT_EQ(mount_at(*plan, "/home/ann/app/.git"), nullptr);
}

TEST(Git, ALinkToACredentialDirectoryOpensNothing) {
    auto plan = planned({.tree = worktree("/home/ann/.ssh", ""), .project = "/home/ann/feature"});
    ASSERT_TRUE(plan);
    EXPECT_EQ(access(*plan, "/home/ann/.ssh/id_ed25519"), "hidden");
    EXPECT_EQ(mount_at(*plan, "/home/ann/.ssh"), nullptr);
}

TEST(Git, ARepositoryOutsideThePermittedParentsStaysClosed) {
    Case example{.tree = worktree("/home/ann/app/.git/worktrees/feature", "/home/ann/feature/.git"),
                 .project = "/home/ann/feature"};
    example.toml.admin = "[project]\nparents = [\"/home/ann/feature\"]";
    auto plan = planned(example);
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_EQ(mount_at(*plan, "/home/ann/app/.git"), nullptr);
}

// git itself follows ten levels of includes.
TEST(Git, IncludedConfigurationsAreProtectedAsDeepAsGitReadsThem) {
    auto including = [](int number) {
        std::string next = "i" + std::to_string(number);
        return " 0644 [include]\\n\\tpath\\s=\\s/home/ann/app/" + next + "\\n\n";
    };
    Case example;
    size_t config = example.tree.find("f /home/ann/app/.git/config\n");
    example.tree.replace(config, std::string_view("f /home/ann/app/.git/config\n").size(),
                         "f /home/ann/app/.git/config" + including(1));
    for (int number = 1; number <= 10; ++number)
        example.tree += "f /home/ann/app/i" + std::to_string(number) + including(number + 1);
    auto plan = planned(example);
    ASSERT_TRUE(plan) << plan.error().line();
    for (int number = 1; number <= 10; ++number)
        EXPECT_EQ(access(*plan, "/home/ann/app/i" + std::to_string(number)), "readonly") << number;
    EXPECT_EQ(access(*plan, "/home/ann/app/src"), "writable");
}

TEST(Git, ConfigurationsThatIncludeEachOtherAreReadOnce) {
    std::string includes = " 0644 [include]\\n";
    for (int time = 0; time < 100; ++time) includes += "\\tpath\\s=\\s/home/ann/app/loop\\n";
    Case example;
    size_t config = example.tree.find("f /home/ann/app/.git/config\n");
    example.tree.replace(config, std::string_view("f /home/ann/app/.git/config\n").size(),
                         "f /home/ann/app/.git/config" + includes + "\n");
    example.tree += "f /home/ann/app/loop" + includes + "\n";
    auto plan = planned(example);
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_EQ(access(*plan, "/home/ann/app/loop"), "readonly");
}

}  // namespace
