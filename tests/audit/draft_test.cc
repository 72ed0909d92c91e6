// SPDX-License-Identifier: MIT
#include "audit/show.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "config/layer.h"

namespace {

using audit::Digest;
using audit::DigestEntry;
using audit::DraftEntry;

const audit::UserDirectories kPlace{.home = base::Path::known("/home/me"),
                                    .project = base::Path::known("/home/me/work"),
                                    .admin_directory = "/etc/agent-sandbox"};

DigestEntry refused(std::string kind, std::string what, std::string change, uint64_t count = 1) {
    DigestEntry entry{.kind = std::move(kind), .what = std::move(what), .verdict = "deny", .count = count};
    entry.change = std::move(change);
    entry.first = "2024-02-29T23:59:59.123Z";
    return entry;
}

config::Values checked(const std::string& toml) {
    config::ParsedFile parsed = config::parse_layer(config::Layer::user, "draft.toml", toml);
    for (const base::Error& problem : parsed.problems) ADD_FAILURE() << problem.line() << "\n" << toml;
    return parsed.content.values;
}

std::vector<std::string> items(const config::Values& values, std::string_view key) {
    std::vector<std::string> texts;
    auto found = values.find(key);
    if (found == values.end()) return texts;
    for (const config::Item& item : found->second.items) texts.push_back(item.text);
    return texts;
}

TEST(Draft, IsTheSmallestFileThatWouldAllowIt) {
    Digest digest;
    digest.entries = {refused("network", "a.example:443", "--allow-host a.example", 12),
                      refused("network", "a.example:80", "--allow-host a.example"),
                      refused("network", "192.0.2.1:443", "network.allow = [\"192.0.2.1\"]"),
                      refused("network", "10.1.2.3:443", "network.private = [\"10.1.2.3\"]"),
                      refused("file", "/data/in put", "--ro '/data/in put'"),
                      refused("file", "/data/out", "--ro /data/out"),
                      refused("file", "/data/out", "--rw /data/out"),
                      refused("syscall", "perf_event_open", "isolation.allow_perf = true"),
                      refused("syscall", "bpf", ""),
                      refused("file", "/home/me/work/.env", "project.unmask = [\".env\"]")};
    std::vector<DraftEntry> draft = audit::draft_of(digest, kPlace);
    std::string toml = audit::to_toml(draft, {"0123"});
    config::Values values = checked(toml);
    EXPECT_EQ(items(values, "network.allow"), (std::vector<std::string>{"a.example", "192.0.2.1"}));
    EXPECT_EQ(items(values, "network.private"), (std::vector<std::string>{"10.1.2.3"}));
    EXPECT_EQ(items(values, "mounts.readonly"), (std::vector<std::string>{"/data/in put"}));
    EXPECT_EQ(items(values, "mounts.writable"), (std::vector<std::string>{"/data/out"}));
    EXPECT_EQ(values.find("isolation.allow_perf")->second.text, "true");
    EXPECT_EQ(values.size(), 5U);
    EXPECT_NE(toml.find("\"a.example\",  # 12 times, first 2024-02-29"), std::string::npos) << toml;
    EXPECT_NE(toml.find("# syscall bpf: "), std::string::npos) << toml;
    EXPECT_NE(toml.find("# file /home/me/work/.env: "), std::string::npos) << toml;
}

TEST(Draft, NeverOpensHomeRootOrCredentials) {
    Digest digest;
    for (const char* wide :
         {"/", "/home", "/home/me", "/data", "/home/me/.ssh", "/home/me/.aws/credentials"}) {
        digest.entries.push_back(refused("file", wide, std::string("--ro ") + wide));
        digest.entries.push_back(refused("file", wide, std::string("--rw ") + wide));
    }
    digest.entries.push_back(refused("network", "x:443", "--allow-host *"));
    digest.entries.push_back(refused("file", "/x", "--home write"));
    EXPECT_TRUE(checked(audit::to_toml(audit::draft_of(digest, kPlace), {})).empty());
}

TEST(Draft, NamesThatTheAgentChoseMakeNoLinesOfTheirOwn) {
    const std::string hostile[] = {
        "x\"]\nmode = \"open\"\n#",       "x\n[network]\nmode=\"open\"", "a\\\" , \"*", "\x1b[2J",
        "gr\xc3\xbc\xc3\x9f\xe2\x80\xae", std::string(5000, 'a'),        "\xff\xfe",    "'; rm -rf / #",
    };
    Digest digest;
    for (const std::string& name : hostile) {
        digest.entries.push_back(refused("network", name, "--allow-host " + name));
        digest.entries.push_back(refused("network", name, "network.allow = [\"" + name + "\"]"));
        digest.entries.push_back(refused("file", "/data/" + name, "--ro '/data/" + name + "'"));
        digest.entries.push_back(refused(name, name, name));
    }
    std::string toml = audit::to_toml(audit::draft_of(digest, kPlace), {hostile[1]});
    config::Values values = checked(toml);
    EXPECT_FALSE(values.contains("network.mode"));
    for (const auto& [key, value] : values) {
        EXPECT_TRUE(key == "network.allow" || key == "mounts.readonly") << key;
    }
    EXPECT_TRUE(std::ranges::none_of(toml, [](char letter) {
        auto byte = static_cast<unsigned char>(letter);
        return (byte < 0x20 && letter != '\n') || byte == 0x7f;
    }));
}

TEST(Draft, NeverSwitchesTheCheckOfNamesOff) {
    Digest digest;
    digest.entries.push_back(
        refused("network", "example.org:443", "network.allow = [\"raw:example.org:443\"]"));
    EXPECT_TRUE(
        items(checked(audit::to_toml(audit::draft_of(digest, kPlace), {"0123"})), "network.allow").empty());
}

TEST(Draft, OfNothingIsAValidFile) {
    EXPECT_TRUE(checked(audit::to_toml({}, {})).empty());
}

}  // namespace
