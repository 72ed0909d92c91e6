// SPDX-License-Identifier: MIT
#include "import/srt.h"

#include <gtest/gtest.h>

#include <random>

#include "base/file.h"
#include "base/places.h"
#include "base/rounds.h"
#include "config/layer.h"

namespace {

using config::Imported;
using Texts = std::vector<std::string>;

class Values {
  public:
    explicit Values(std::string_view json) {
        base::Result<Imported> result =
            config::import_srt(json, {.for_administrator = false, .check = {}, .home = "/home/alice"});
        EXPECT_TRUE(result) << result.error().line();
        if (!result) return;
        imported = *std::move(result);
        config::ParsedFile parsed = config::parse_layer(config::Layer::user, "imported.toml", imported.toml);
        EXPECT_TRUE(parsed.problems.empty()) << parsed.problems.front().line() << "\n" << imported.toml;
        values_ = parsed.content.values;
    }

    Texts entries(std::string_view key) const {
        Texts texts;
        auto value = values_.find(key);
        if (value == values_.end()) return texts;
        for (const config::Item& item : value->second.items) texts.push_back(item.text);
        return texts;
    }
    std::string scalar(std::string_view key) const {
        auto value = values_.find(key);
        return value == values_.end() ? "(none)" : value->second.text;
    }
    std::string reason(std::string_view text) const {
        for (const config::LeftOut& left : imported.left_out) {
            if (left.text == text) return left.reason;
        }
        return "(carried over)";
    }

    Imported imported;

  private:
    config::Values values_;
};

Values filesystem(const std::string& inside) {
    return Values("{\"filesystem\": {" + inside + "}}");
}

TEST(ImportSrt, AnAllowListIsProxiedAndAnEmptyOneIsolated) {
    Values some(
        R"({"network": {"allowedDomains": ["a.org", "*.b.org:443"], "deniedDomains": ["c.a.org", "*:22", "*"]}})");
    EXPECT_EQ(some.scalar("network.mode"), "proxied");
    EXPECT_EQ(some.entries("network.allow"), (Texts{"a.org", "*.b.org:443"}));
    EXPECT_EQ(some.entries("network.block"), (Texts{"c.a.org", "22", "*"}));
    Values none(R"({"network": {"allowedDomains": []}})");
    EXPECT_EQ(none.scalar("network.mode"), "isolated");
    Values silent(R"({"network": {"deniedDomains": []}})");
    EXPECT_EQ(silent.scalar("network.mode"), "(none)");
}

TEST(ImportSrt, ThisHostIsAService) {
    Values values(R"({"network": {"allowedDomains": ["localhost:3000", "127.0.0.1:5432", "localhost"]}})");
    EXPECT_EQ(values.entries("network.host_services"), (Texts{"3000", "5432"}));
    EXPECT_NE(values.reason("network.allowedDomains: localhost").find("network.host_services"),
              std::string::npos);
    EXPECT_NE(values.imported.toml.find("host.agent-sandbox.internal:3000"), std::string::npos);
}

TEST(ImportSrt, WhatIsDeniedForReading) {
    Values values = filesystem(R"("denyRead": ["~/.ssh", "/srv/x/", "**/.env", "./a/b", "/data/**"])");
    EXPECT_EQ(values.entries("mounts.hidden"), (Texts{"~/.ssh", "/srv/x", "/data"}));
    EXPECT_EQ(values.entries("project.mask"), (Texts{".env", "a/b"}));
    Values needless = filesystem(R"("denyRead": ["/", "~", "/home", "/tmp", "."])");
    EXPECT_EQ(needless.imported.carried, 0u);
    EXPECT_EQ(needless.imported.left_out.size(), 5u);
}

TEST(ImportSrt, WhatIsWritable) {
    Values values =
        filesystem(R"("allowWrite": [".", "src", "~/.npm", "/srv/out", "/tmp/claude", "/dev/null"])");
    EXPECT_EQ(values.entries("home.writable"), (Texts{".npm"}));
    EXPECT_EQ(values.entries("mounts.writable"), (Texts{"/srv/out"}));
    EXPECT_EQ(values.scalar("project.read_only"), "(none)");
    EXPECT_EQ(values.imported.left_out.size(), 2u);
    EXPECT_EQ(filesystem(R"("allowWrite": ["~"])").scalar("home.access"), "write");
}

// Without "." the original file permits no writes in the project.
TEST(ImportSrt, AProjectThatIsNotNamedIsReadOnly) {
    EXPECT_EQ(filesystem(R"("allowWrite": [])").scalar("project.read_only"), "true");
    EXPECT_EQ(filesystem(R"("allowWrite": ["/tmp"])").scalar("project.read_only"), "true");
    Values part = filesystem(R"("allowWrite": ["src"])");
    EXPECT_EQ(part.scalar("project.read_only"), "true");
    EXPECT_NE(part.reason("filesystem.allowWrite: src").find("--rw"), std::string::npos);
    // The project may be below the named directory.
    EXPECT_EQ(filesystem(R"("allowWrite": ["~/code"])").scalar("project.read_only"), "(none)");
    EXPECT_EQ(filesystem(R"("denyRead": [])").scalar("project.read_only"), "(none)");
    EXPECT_EQ(Values(R"({"sandbox": {"filesystem": {"allowWrite": []}}})").scalar("project.read_only"),
              "(none)");
}

TEST(ImportSrt, WhatIsDeniedForWriting) {
    Values values = filesystem(
        R"("denyWrite": [".env", "a/b.json", "~/w/keep", "/srv/out/final", "/elsewhere"],
           "allowWrite": [".", "~/w", "/srv/out"])");
    EXPECT_EQ(values.entries("project.protect"), (Texts{".env", "a/b.json"}));
    EXPECT_EQ(values.entries("home.readonly"), (Texts{"w/keep"}));
    EXPECT_EQ(values.entries("mounts.readonly"), (Texts{"/srv/out/final"}));
    EXPECT_EQ(values.imported.left_out.size(), 1u);
}

// A denied path overrides an allowed one, whichever of them is wider.
TEST(ImportSrt, NothingIsWritableThatLiesInWhatIsDenied) {
    struct Case {
        const char* allow;
        const char* deny;
    };
    for (const Case& one :
         {Case{R"("~")", R"("~")"}, Case{R"("~/work")", R"("~")"}, Case{R"("/data/x")", R"("/data")"},
          Case{R"("/home/alice")", R"("~/")"}, Case{R"("~/work")", R"("/home/alice/work")"},
          Case{R"("~/work")", R"("/home")"}, Case{R"("/home/bob")", R"("/home")"},
          Case{R"("/data/x")", R"("/")"}, Case{R"("/data//x/.")", R"("/data/x")"},
          Case{R"("/data/x/y")", R"("/data/*/y")"}, Case{R"("/data/x")", R"("/tmp/../data")"},
          Case{R"("/data/x/../y")", R"("/data/y")"}}) {
        Values values = filesystem("\"allowWrite\": [\".\", " + std::string(one.allow) +
                                   "], \"denyWrite\": [" + one.deny + "]");
        EXPECT_EQ(values.scalar("home.access"), "(none)") << one.allow << one.deny;
        EXPECT_EQ(values.entries("home.writable"), Texts{}) << one.allow << one.deny;
        EXPECT_EQ(values.entries("mounts.writable"), Texts{}) << one.allow << one.deny;
        EXPECT_GE(values.imported.left_out.size(), 1u) << one.allow << one.deny;
    }
    Values whole = filesystem(R"("allowWrite": ["/home/alice"], "denyWrite": ["~/.bashrc"])");
    EXPECT_EQ(whole.scalar("home.access"), "write");
    EXPECT_EQ(whole.entries("mounts.writable"), Texts{});
    EXPECT_EQ(whole.entries("home.readonly"), (Texts{".bashrc"}));
    Values beside = filesystem(R"("allowWrite": [".", "/data/x"], "denyWrite": ["/data/xy", "~/x"])");
    EXPECT_EQ(beside.entries("mounts.writable"), (Texts{"/data/x"}));
    EXPECT_EQ(beside.scalar("project.read_only"), "(none)");
    EXPECT_EQ(filesystem(R"("allowWrite": ["."], "denyWrite": ["~"])").scalar("project.read_only"), "true");
}

// An administrator's file applies to many home directories.
TEST(ImportSrt, WhereTheHomeIsUnknownItMayBeAny) {
    base::Result<Imported> imported = config::import_srt(
        R"({"filesystem": {"allowWrite": [".", "~/work"], "denyWrite": ["/home/alice/work"]}})",
        {.for_administrator = true, .check = {}, .home = {}});
    ASSERT_TRUE(imported);
    EXPECT_EQ(imported->toml.find("writable ="), std::string::npos) << imported->toml;
}

TEST(ImportSrt, WhatIsDeniedAtAnyDepthIsToldWhereItIsNot) {
    Values values = filesystem(R"("denyRead": ["**/config/secret.json", "**/.env"],
                                  "denyWrite": ["**/ci/run.sh", "**/.envrc"])");
    EXPECT_EQ(values.entries("project.mask"), (Texts{"config/secret.json", ".env"}));
    EXPECT_NE(values.reason("filesystem.denyRead: **/config/secret.json").find("project's top"),
              std::string::npos);
    EXPECT_EQ(values.reason("filesystem.denyRead: **/.env"), "(carried over)");
    // project.protect can't express a name at any depth.
    EXPECT_EQ(values.entries("project.protect"), (Texts{"ci/run.sh", ".envrc"}));
    EXPECT_NE(values.reason("filesystem.denyWrite: **/ci/run.sh").find("project's top"), std::string::npos);
    EXPECT_NE(values.reason("filesystem.denyWrite: **/.envrc").find("project's top"), std::string::npos);
}

TEST(ImportSrt, LargeFilesTakeNoLongTime) {
    std::string domains, names, keys;
    constexpr unsigned kNames = test::rounds(80'000), kListed = 10'000;
    for (unsigned i = 0; i < kNames; ++i) {
        std::string comma = i == 0 ? "" : ",";
        domains += comma + "\"h" + std::to_string(i) + ".org\"";
        names += comma + "\"/n" + std::to_string(i) + "\"";
    }
    for (unsigned i = 0; i < 80'000; ++i) keys += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":1";
    EXPECT_FALSE(config::import_srt("{\"network\":{" + keys + "}}"));
    base::Result<Imported> imported = config::import_srt(
        "{\"network\":{\"allowedDomains\":[" + domains + "]},\"filesystem\":{\"denyRead\":[" + names +
        "],\"allowWrite\":[" + names + "],\"denyWrite\":[" + names + "]}}");
    ASSERT_TRUE(imported);
    EXPECT_EQ(imported->left_out.size(), kListed);
    constexpr unsigned kMore = 2 * kNames + 1 - kListed;
    EXPECT_EQ(imported->more_left_out, kMore);
    EXPECT_NE(imported->toml.find("#   and " + std::to_string(kMore) + " more\n"), std::string::npos);
}

TEST(ImportSrt, WhatReordersTextIsEscaped) {
    Values values(R"({"credentials": {"files": [{"path": "/srv/a\u202eb\u009bc\udb40\udc41"}]}})");
    EXPECT_NE(values.imported.toml.find(R"("/srv/a\u202eb\u009bc\U000e0041")"), std::string::npos)
        << values.imported.toml;
}

TEST(ImportSrt, CredentialsAreWithheld) {
    Values values(R"({"credentials": {"files": [{"path": "~/.netrc", "mode": "deny"}],
                      "envVars": [{"name": "TOKEN", "mode": "mask"}, {"name": "-x"}, 3]}})");
    EXPECT_EQ(values.entries("mounts.hidden"), (Texts{"~/.netrc"}));
    EXPECT_EQ(values.entries("env.block"), (Texts{"TOKEN"}));
    EXPECT_EQ(values.imported.left_out.size(), 3u);
}

TEST(ImportSrt, SwitchesThatAreOffNeedNoWord) {
    Values values(R"({"network": {"allowLocalBinding": false, "allowAllUnixSockets": false},
                      "enableWeakerNestedSandbox": false, "allowPty": false})");
    EXPECT_TRUE(values.imported.left_out.empty());
}

TEST(ImportSrt, OfClaudeCodeTheSandboxSectionAlone) {
    Values values(R"({"model": "x", "sandbox": {"enabled": true, "network": {"allowedDomains": []},
                      "filesystem": {"denyRead": ["//srv/x"]}}})");
    EXPECT_EQ(values.entries("mounts.hidden"), (Texts{"/srv/x"}));
    EXPECT_EQ(values.scalar("network.mode"), "(none)");
    EXPECT_NE(values.reason("model").find("only the sandbox section"), std::string::npos);
}

TEST(ImportSrt, ListsWhatItDoesNotKnow) {
    Values values(R"({"network": {"new": 1}, "newer": {}, "filesystem": []})");
    EXPECT_NE(values.reason("network.new").find("no such key"), std::string::npos);
    EXPECT_NE(values.reason("newer").find("no such key"), std::string::npos);
    EXPECT_NE(values.reason("filesystem").find("not an object"), std::string::npos);
}

TEST(ImportSrt, RefusesWhatItIsNot) {
    for (const char* text :
         {"", "{", "[]", "{}", "null", "{\"colour\": 1}", "{\"sandbox\": true}", "{\"network\": }"}) {
        EXPECT_FALSE(config::import_srt(text)) << text;
    }
}

// For any bytes, the import produces a valid file.
TEST(ImportSrt, StaysValidForMutationsOfRealFiles) {
    std::mt19937 random(23);
    for (const char* name : {"srt-settings.json", "claude-settings.json"}) {
        base::Result<std::string> original = base::read_file(test::data("/import/data/") + name);
        ASSERT_TRUE(original);
        unsigned taken = 0;
        for (unsigned round = 0; round < test::rounds(4000); ++round) {
            std::string text = *original;
            for (unsigned i = 0; i < 1 + round % 4; ++i) {
                size_t at = random() % text.size();
                switch (random() % 4) {
                    case 0:
                        text[at] = static_cast<char>(random());
                        break;
                    case 1:
                        text.erase(at, random() % 12);
                        break;
                    case 2:
                        text.insert(at, text.substr(random() % text.size(), random() % 20));
                        break;
                    default:
                        text[at] = "\"*/~.:[]{},\\"[random() % 13];
                        break;
                }
                if (text.empty()) text = "{";
            }
            base::Result<Imported> imported = config::import_srt(text);
            if (!imported) continue;
            ++taken;
            config::ParsedFile parsed = config::parse_layer(config::Layer::user, "x.toml", imported->toml);
            ASSERT_TRUE(parsed.problems.empty()) << parsed.problems.front().line() << "\n" << text;
        }
        EXPECT_GT(taken, test::rounds(100));
    }
}

}  // namespace
