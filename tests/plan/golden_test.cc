// SPDX-License-Identifier: MIT
// Golden plans for simulated machines. tests/golden/hosts/NAME contains the probed facts (facts.json,
// tree.txt) and the request (request.json, perhaps settings.toml). plan.txt is the expected plan: the JSON
// with one item a line. UPDATE_GOLDEN=1 writes the plans again: read the difference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/places.h"
#include "plan/make_plan.h"
#include "plan/network/broker.h"
#include "plan/print/print.h"
#include "policy/layers.h"

namespace {

std::vector<std::string> machines() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(test::data("/golden/hosts")))
        names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
}

std::string content_of(const std::string& file) {
    auto content = base::read_file(file);
    if (!content) ADD_FAILURE() << content.error().line();
    return content ? *content : std::string();
}

std::vector<std::string> texts_of(const base::Json& json, std::string_view key) {
    std::vector<std::string> texts;
    for (const base::Json& item : json.items(key)) texts.push_back(*item.as_text());
    return texts;
}

// Presets, with placeholders and a root that are the same each time.
plan::Brokered brokered_for(const std::vector<std::string>& names) {
    plan::Brokered brokered;
    for (const std::string& name : names) {
        brokered.credentials.push_back(
            *credentials::make_credential(name, *credentials::preset_values(name), {}));
        brokered.placeholders.push_back("placeholder-of-" + name);
    }
    brokered.root = []() -> base::Result<plan::RootCertificate> {
        return plan::RootCertificate{"root of the session\n", "1a2b3c4d.0"};
    };
    return brokered;
}

// The plan as JSON, or the refusal.
base::Json outcome(const std::string& directory) {
    auto facts = host::facts_from_json(*base::Json::parse(content_of(directory + "/facts.json")));
    auto tree = host::MemoryTree::parse(content_of(directory + "/tree.txt"));
    auto asked = base::Json::parse(content_of(directory + "/request.json"));
    if (!facts || !tree || !asked) {
        ADD_FAILURE() << directory << ": unreadable " << (facts ? "" : facts.error().line())
                      << (tree ? "" : tree.error().line());
        return {};
    }
    policy::Layers layers;
    std::string settings = directory + "/settings.toml";
    if (base::file_exists(settings))
        layers.user.push_back(test::layer(config::Layer::user, content_of(settings)));
    policy::PathMeaning paths{.home = facts->identity.home, .canonical = [&](const base::Path& path) {
                                  auto resolved = tree->resolve(path);
                                  return resolved ? resolved->path : path;
                              }};
    auto effective = policy::merge(layers, paths);
    if (!effective) return effective.error().line();
    policy::Policy policy = policy::policy_from(*effective);
    plan::Request request{.project = base::Path::known(asked->text("project")),
                          .project_origin = "--project",
                          .working_directory = base::Path::known(asked->text("working_directory")),
                          .command = texts_of(*asked, "command"),
                          .environment = texts_of(*asked, "environment"),
                          .session = "0123456789abcdef",
                          .config_directory = facts->identity.home / ".config/agent-sandbox",
                          .state_directory = facts->identity.home / ".local/state/agent-sandbox"};
    plan::Brokered brokered = brokered_for(texts_of(*asked, "credentials"));
    plan::Inputs inputs{request, policy, *facts, *tree};
    if (!brokered.credentials.empty()) inputs.brokered = &brokered;
    auto plan = plan::make_plan(inputs);
    if (!plan) return plan.error().line();
    return plan::to_json(*plan);
}

// One item a line, so that a diff shows what was added or lost.
std::string one_item_a_line(const base::Json& json, const std::string& prefix = "") {
    if (json.is_object() && (prefix.empty() || prefix == "files" || prefix == "environment")) {
        std::string lines;
        for (const auto& [key, value] : json.members()) lines += one_item_a_line(value, key);
        return lines;
    }
    if (json.is_array() && prefix != "command") {
        std::string lines;
        for (const base::Json& item : json.items()) lines += prefix + " " + item.dump(-1) + "\n";
        return lines;
    }
    return prefix + " " + json.dump(-1) + "\n";
}

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, PlanIsTheOneOnRecord) {
    std::string directory = test::data("/golden/hosts/") + GetParam();
    std::string file = directory + "/plan.txt";
    std::string plan = one_item_a_line(outcome(directory));
    if (std::getenv("UPDATE_GOLDEN") != nullptr) {
        ASSERT_TRUE(base::write_file_atomically(file, plan, 0644));
        return;
    }
    EXPECT_EQ(plan, content_of(file));
}

TEST_P(Golden, NoValueOfASecretIsInThePlan) {
    std::string directory = test::data("/golden/hosts/") + GetParam();
    std::string plan = outcome(directory).dump();
    auto asked = base::Json::parse(content_of(directory + "/request.json"));
    ASSERT_TRUE(asked);
    size_t secrets = 0;
    for (const std::string& variable : texts_of(*asked, "environment")) {
        bool is_secret =
            variable.find("SECRET") < variable.find('=') || variable.find("TOKEN") < variable.find('=');
        if (!is_secret) continue;
        ++secrets;
        EXPECT_EQ(plan.find(variable.substr(variable.find('=') + 1)), std::string::npos) << variable;
    }
    EXPECT_GT(secrets, 0u) << "the case plants no secret";
    for (const char* token : {"npm_REAL", "gho_REAL"})
        EXPECT_EQ(plan.find(token), std::string::npos) << token;
}

INSTANTIATE_TEST_SUITE_P(Machines, Golden, testing::ValuesIn(machines()), [](const auto& machine) {
    std::string name = machine.param;
    std::ranges::replace_if(
        name, [](char letter) { return !isalnum(static_cast<unsigned char>(letter)); }, '_');
    return name;
});

}  // namespace
