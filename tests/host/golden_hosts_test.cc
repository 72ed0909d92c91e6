// SPDX-License-Identifier: MIT
// The machines of the plan's golden tests: their facts must be equal to what a probe finds in their trees.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/places.h"
#include "host/facts.h"

namespace host {
namespace {

using base::Json;
using base::Path;

const std::filesystem::path kHosts = std::filesystem::path(test::data()) / "golden" / "hosts";
constexpr uint32_t kOwnerInListings = 1000;

std::vector<std::string> host_names() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(kHosts))
        names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
}

class GoldenHost : public testing::TestWithParam<std::string> {
  protected:
    void SetUp() override {
        base::Result<Json> json = Json::parse(content("facts.json"));
        ASSERT_TRUE(json) << json.error().line();
        facts_json_ = *std::move(json);
        base::Result<Facts> facts = facts_from_json(facts_json_);
        ASSERT_TRUE(facts) << facts.error().line();
        facts_ = *std::move(facts);
        base::Result<MemoryTree> tree = MemoryTree::parse(content("tree.txt"));
        ASSERT_TRUE(tree) << tree.error().line();
        tree_ = *std::move(tree);
        base::Result<Json> request = Json::parse(content("request.json"));
        ASSERT_TRUE(request) << request.error().line();
        request_ = *std::move(request);
        for (const Json& entry : request_.items("environment"))
            environment_.push_back(entry.as_text() ? *entry.as_text() : "");
    }
    static std::string content(const char* name) {
        base::Result<std::string> text = base::read_file((kHosts / GetParam() / name).string());
        EXPECT_TRUE(text) << text.error().line();
        return text ? *text : "";
    }
    std::optional<Path> physical(const std::string& text) const {
        base::Result<Tree::Resolved> resolved = tree_.resolve(Path::known(text));
        return resolved && resolved->exists ? std::optional(resolved->path) : std::nullopt;
    }
    Json facts_json_, request_;
    Facts facts_;
    MemoryTree tree_;
    Variables environment_;
};

TEST_P(GoldenHost, FactsAreWrittenAsTheyArePrinted) {
    EXPECT_EQ(facts_json_.dump(), to_json(facts_).dump());
}

TEST_P(GoldenHost, ProbingTheTreeGivesTheFacts) {
    Facts probed = facts_;
    probed.user_namespace_obstacle.reset();
    // The tree does not show which calls the kernel has.
    bool is_in_tree = facts_.native_obstacle && facts_.native_obstacle->find("has no ") == std::string::npos;
    if (is_in_tree) probed.native_obstacle.reset();
    probe_files(tree_, probed);
    probed.bwrap = find_bwrap(tree_, std::nullopt);
    probed.slurm_job.id = variable(environment_, "SLURM_JOB_ID").value_or("");
    probed.slurm_job.node = variable(environment_, "SLURMD_NODENAME").value_or("");
    probed.nested_in = probe_nesting(tree_, environment_);
    EXPECT_EQ(to_json(probed).dump(), facts_json_.dump());
}

TEST_P(GoldenHost, TheCallerIsFoundByTheProbe) {
    // Listings have one owner besides root, so the probe looks for that uid. A user of a directory service
    // has another uid, which is not in /etc/passwd.
    bool is_listed = facts_.identity.uid == kOwnerInListings;
    base::Result<Identity> identity =
        probe_identity(tree_, kOwnerInListings, facts_.identity.gid, environment_);
    ASSERT_TRUE(identity) << identity.error().line();
    EXPECT_EQ(identity->user, facts_.identity.user);
    EXPECT_EQ(identity->group, facts_.identity.group);
    EXPECT_EQ(identity->home, facts_.identity.home);
    EXPECT_EQ(identity->shell, facts_.identity.shell);
    bool is_in_passwd = tree_.read(Path::known("/etc/passwd"), 1u << 20)
                            ->find(":" + std::to_string(facts_.identity.uid) + ":") != std::string::npos;
    EXPECT_EQ(is_in_passwd, is_listed);
}

TEST_P(GoldenHost, TheRequestFitsTheTree) {
    std::optional<Path> project = physical(request_.text("project"));
    std::optional<Path> working_directory = physical(request_.text("working_directory"));
    ASSERT_TRUE(project);
    ASSERT_TRUE(working_directory);
    EXPECT_EQ(tree_.look(*project)->kind, Kind::directory);
    EXPECT_TRUE(tree_.may_write(*project));
    EXPECT_TRUE(working_directory->is_within(*project));
    EXPECT_FALSE(request_.items("command").empty());
    EXPECT_GE(environment_.size(), 20u);
    for (const std::string& entry : environment_) EXPECT_NE(entry.find('='), std::string::npos) << entry;
}

TEST_P(GoldenHost, WhatTheFactsNameIsInTheTree) {
    EXPECT_TRUE(tree_.look(facts_.own_program)) << facts_.own_program.str();
    for (const Path& path : facts_.private_etc) {
        std::optional<Node> node = tree_.look(path);
        ASSERT_TRUE(node) << path.str();
        EXPECT_EQ(node->mode & 0007, 0u) << path.str();
    }
}

INSTANTIATE_TEST_SUITE_P(Each, GoldenHost, testing::ValuesIn(host_names()), [](const auto& each) {
    std::string name = each.param;
    std::ranges::replace(name, '-', '_');
    return name;
});

}  // namespace
}  // namespace host
