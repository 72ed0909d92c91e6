// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "plan/case.h"
#include "plan/project/project_search.h"

namespace {

using base::Path;

struct Example {
    std::string tree;
    std::vector<std::string> known;
    int questions = -1;  // calls of is_over before the time is over; -1: never
    bool has_guard = true;
    std::vector<std::string> mask = {".env", "*.pem", "conf/*.key"};
};

plan::Found found(const Example& example) {
    auto tree = host::MemoryTree::parse(example.tree);
    if (!tree) ADD_FAILURE() << tree.error().line();
    plan::Search rules;
    for (const std::string& text : example.mask) rules.mask.push_back({.text = text});
    plan::SearchBounds bounds{.has_guard = example.has_guard};
    int left = example.questions;
    if (left >= 0) bounds.is_over = [&left] { return left-- <= 0; };
    return plan::search_project(*tree, Path::known("/p"), rules, example.known, bounds);
}

std::vector<std::string> masked(const plan::Found& found) {
    std::vector<std::string> names;
    for (const auto& [path, item] : found.masked) names.push_back(path.str());
    return names;
}

using Names = std::vector<std::string>;

TEST(Search, HasNoLimitOfEntriesOrDepth) {
    Example example;
    for (int i = 0; i < 12'000; ++i) example.tree += "f /p/!" + std::to_string(i) + "\n";
    example.tree += "f /p/z/1/2/3/4/5/6/7/8/9/.env\nf /p/y/1/2/3/4/5/6/7/sub/.git/config\n";
    plan::Found all = found(example);
    EXPECT_TRUE(all.is_complete);
    EXPECT_EQ(masked(all), Names{"/p/z/1/2/3/4/5/6/7/8/9/.env"});
    EXPECT_EQ(all.nested_repositories, std::vector<Path>{Path::known("/p/y/1/2/3/4/5/6/7/sub")});
}

TEST(Search, StopsWhenTheTimeIsOverAndSaysSo) {
    plan::Found some = found({.tree = "f /p/a/.env\nf /p/b/.env\nf /p/key.pem\n", .questions = 1});
    EXPECT_FALSE(some.is_complete);
    EXPECT_EQ(masked(some), Names{"/p/key.pem"});
}

TEST(Search, OfKnownPlacesComesFirstAndChecksThem) {
    plan::Found some =
        found({.tree = "f /p/a/.env\nf /p/a/gone/x\nl /p/link /q\nf /q/.git\nf /p/b/.git\nf /p/c\n",
               .known = {"a/.env", "missing/.env", "../q/.env", "link/.git", "b/.git", "c", ".git"},
               .questions = 0});
    EXPECT_FALSE(some.is_complete);
    EXPECT_EQ(masked(some), Names{"/p/a/.env"});
    EXPECT_EQ(some.nested_repositories, std::vector<Path>{Path::known("/p/b")});
}

TEST(Search, FindsAKnownPlaceOnce) {
    plan::Found all = found({.tree = "f /p/a/.env\nd /p/b/.git\n", .known = {"a/.env", "b/.git"}});
    EXPECT_EQ(masked(all).size(), 1u);
    EXPECT_EQ(all.nested_repositories.size(), 1u);
}

TEST(Search, LooksForPlainNamesInARootThatIsNotReadToItsEnd) {
    plan::Found some = found({.tree = "f /p/.env\nf /p/key.pem\n", .questions = 0});
    EXPECT_EQ(masked(some), Names{"/p/.env"});
}

TEST(Search, LeavesOutputsToTheGuardAndPackagesAlone) {
    Example example{.tree = "f /p/build/.env\nf /p/node_modules/x/.env\nd /p/build/dep/.git\n"};
    EXPECT_EQ(masked(found(example)), Names{});
    example.has_guard = false;
    EXPECT_EQ(masked(found(example)), Names{"/p/build/.env"});
}

TEST(Search, ClosesWhatIsNestedTooDeep) {
    std::string deep = "/p";
    for (size_t i = 0; i < plan::kDeepestSearched + 3; ++i) deep += "/d";
    plan::Found all = found({.tree = "f " + deep + "/.env\n"});
    EXPECT_EQ(masked(all), Names{});
    ASSERT_EQ(all.too_deep.size(), 1u);
    EXPECT_EQ(all.too_deep.front().depth(), plan::kDeepestSearched + 1);
}

std::vector<Path> paths(const std::string& prefix, int count, const std::string& suffix) {
    std::vector<Path> list;
    for (int i = 0; i < count; ++i) list.push_back(Path::known(prefix + std::to_string(i) + suffix));
    return list;
}

TEST(CommonDirectories, AreTheFewestDirectories) {
    std::vector<Path> list = paths("/p/big/", 90, "/.env");
    for (Path& path : paths("/p/small/", 5, "/.env")) list.push_back(std::move(path));
    list.push_back(Path::known("/p/.env"));
    EXPECT_TRUE(plan::find_crowds(Path::known("/p"), list, 100).directories.empty());
    plan::Crowds crowds = plan::find_crowds(Path::known("/p"), list, 10);
    ASSERT_EQ(crowds.directories.size(), 1u);
    EXPECT_EQ(crowds.directories.front().path.str(), "/p/big");
    EXPECT_EQ(crowds.directories.front().held, 90u);
    EXPECT_EQ(crowds.single.size(), 6u);
}

TEST(CommonDirectories, StaySingleWhereNoDirectoryHoldsTwo) {
    EXPECT_EQ(plan::find_crowds(Path::known("/p"), paths("/p/d", 50, "/.env"), 10).single.size(), 50u);
}

TEST(Masks, BeyondTheBoundHideTheDirectoryThatHoldsThem) {
    test::Case example;
    for (int i = 0; i < 3100; ++i) example.tree += "f /home/ann/app/many/" + std::to_string(i) + "/.env\n";
    example.tree += "d /home/ann/app/many/7/.git\n";
    auto plan = test::planned(example);
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_EQ(test::access(*plan, "/home/ann/app/many"), "masked");
    EXPECT_EQ(test::access(*plan, "/home/ann/app/many/7/.git"), "masked");
    EXPECT_EQ(test::mount_at(*plan, "/home/ann/app/many/7"), nullptr);
    EXPECT_EQ(test::access(*plan, "/home/ann/app/.env"), "masked");
    EXPECT_EQ(plan->search.masked, 3101u);
}

TEST(Masks, ThatNoDirectoryHoldsAreRefusedBeyondTheBound) {
    test::Case example{.toml = {.user = "[project]\nmask = [\"*.pem\"]"}};
    for (int i = 0; i < 3100; ++i) example.tree += "f /home/ann/app/" + std::to_string(i) + ".pem\n";
    auto plan = test::planned(example);
    ASSERT_FALSE(plan);
    EXPECT_NE(plan.error().advice.find("project.unmask"), std::string::npos);
}

std::string repositories(const std::string& prefix, int count) {
    std::string tree;
    for (int i = 0; i < count; ++i)
        tree += "f " + prefix + std::to_string(i) + "/.git/HEAD\nd " + prefix + std::to_string(i) +
                "/.git/hooks\n";
    return tree;
}

TEST(Repositories, BeyondTheFirstBoundAreReadOnlyAsAWhole) {
    test::Case example;
    example.tree += repositories("/home/ann/app/r", 100);
    auto plan = test::planned(example);
    ASSERT_TRUE(plan) << plan.error().line();
    size_t whole = 0;
    for (int i = 0; i < 100; ++i) {
        std::string git = "/home/ann/app/r" + std::to_string(i) + "/.git";
        EXPECT_EQ(test::access(*plan, git + "/hooks"), "readonly");
        whole += test::access(*plan, git + "/objects/x") == "readonly";
    }
    EXPECT_EQ(whole, 100 - plan::kMostRepositoriesByPart);
}

TEST(Repositories, BeyondTheSecondBoundMakeTheirDirectoryReadOnly) {
    test::Case example;
    example.tree += repositories("/home/ann/app/many/r", 1600);
    auto plan = test::planned(example);
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_EQ(test::access(*plan, "/home/ann/app/many/x"), "readonly");
    EXPECT_EQ(test::access(*plan, "/home/ann/app/x"), "writable");
    EXPECT_LT(plan->mounts.size(), 200u);
}

TEST(Repositories, ThatNoDirectoryHoldsMakeTheProjectReadOnly) {
    test::Case example;
    example.tree += repositories("/home/ann/app/r", 1600);
    auto plan = test::planned(example);
    ASSERT_TRUE(plan) << plan.error().line();
    EXPECT_EQ(test::access(*plan, "/home/ann/app/x"), "readonly");
    EXPECT_FALSE(plan->project_is_writable);
}

TEST(LateNames, AreMissingNamesThatARuleHides) {
    test::Case example{
        .toml = {.user = "[mounts]\nhidden = [\"/home/ann/app/later\"]\n[home]\naccess = \"read\""}};
    example.machine = [](host::Facts& facts) { facts.kernel = "6.1.0"; };
    auto plan = test::planned(example);
    ASSERT_TRUE(plan) << plan.error().line();
    auto has = [&](std::string_view directory, std::string_view pattern) {
        return std::ranges::any_of(plan->search.late_names, [&](const plan::LateName& late) {
            return late.directory.str() == directory && late.pattern == pattern;
        });
    };
    EXPECT_TRUE(has("/home/ann/app", "later"));
    EXPECT_TRUE(has("/home/ann", ".aws"));
    EXPECT_TRUE(has("/home/ann/.config", "gh"));
    EXPECT_TRUE(has("/home/ann/app", ".husky*"));
    EXPECT_FALSE(has("/home/ann", ".ssh")) << "it exists and is covered at launch";
}

TEST(CoveringAgain, IsMissingOnOldKernelsAndTheStartStatesIt) {
    auto is_told = [](std::string_view kernel) {
        test::Case example;
        example.machine = [kernel](host::Facts& facts) { facts.kernel = kernel; };
        auto plan = test::planned(example);
        EXPECT_TRUE(plan) << plan.error().line();
        return plan && std::ranges::any_of(plan->notes, [](const plan::Note& note) {
                   return note.kind == plan::NoteKind::protection &&
                          note.text.find("can't cover it again") != std::string::npos;
               });
    };
    EXPECT_TRUE(is_told("5.4.0-150-generic"));
    EXPECT_FALSE(is_told("5.8.0"));
    EXPECT_FALSE(is_told("6.1.0"));
}

}  // namespace
