// SPDX-License-Identifier: MIT
// Checks the lists of share/network and share/bundles against the rules that their readers rely on.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/places.h"
#include "config/data.h"
#include "rules/bundle.h"
#include "rules/engine.h"
#include "rules/names/name.h"

namespace network {
namespace {

std::vector<Rule> shipped_rules() {
    std::vector<Rule> rules;
    for (const config::DataRow& row : config::data_list("network/blocked_names")) {
        auto rule = parse_rule(row.entry, Side::block);
        EXPECT_TRUE(rule.ok()) << (rule.ok() ? "" : rule.error().line());
        if (rule.ok()) rules.push_back(*rule);
    }
    return rules;
}

TEST(BlockedNames, AreRulesInNormalForm) {
    std::set<std::string> seen;
    for (const Rule& rule : shipped_rules()) {
        EXPECT_EQ(rule.name, rule.text);
        EXPECT_TRUE(seen.insert(rule.name).second) << rule.name;
    }
    EXPECT_GT(seen.size(), 200u);
}

// Otherwise a user who opens the wildcard would find a host below it still closed.
TEST(BlockedNames, DoNotRepeatWhatAWildcardOfTheListCovers) {
    std::set<std::string> names;
    for (const Rule& rule : shipped_rules()) names.insert(rule.name);
    for (const std::string& name : names) {
        for (size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
            std::string wildcard = "*" + name.substr(dot);
            EXPECT_TRUE(wildcard == name || !names.contains(wildcard)) << name << " and " << wildcard;
        }
    }
}

TEST(BlockedNames, CloseWhatIsPromised) {
    auto engine = Engine::make({});
    ASSERT_TRUE(engine.ok());
    for (const char* text : {"api.mailgun.net",
                             "api.sendgrid.com",
                             "api.postmarkapp.com",
                             "api.resend.com",
                             "email.us-east-1.amazonaws.com",
                             "email.eu-west-3.amazonaws.com",
                             "hooks.slack.com",
                             "contoso.webhook.office.com",
                             "webhook.site",
                             "x.requestbin.com",
                             "maker.ifttt.com",
                             "transfer.sh",
                             "file.io",
                             "0x0.st",
                             "catbox.moe",
                             "litterbox.catbox.moe",
                             "bashupload.com",
                             "pastebin.com",
                             "0bin.net",
                             "cloudflare-dns.com",
                             "dns.google",
                             "dns.quad9.net",
                             "mozilla.cloudflare-dns.com",
                             "abc123.oast.fun",
                             "x.ngrok-free.app"}) {
        Verdict verdict = engine->decide({*HostName::parse(text), 443});
        EXPECT_FALSE(verdict.is_allowed()) << text;
        EXPECT_EQ(verdict.cause, Cause::shipped_list) << text;
        EXPECT_FALSE(verdict.reason.empty());
    }
    for (const char* text :
         {"github.com", "s3.us-east-1.amazonaws.com", "example.org", "google.com", "slack.com"}) {
        EXPECT_TRUE(engine->decide({*HostName::parse(text), 443}).is_allowed()) << text;
    }
}

TEST(PublicSuffixes, AreWellFormedAndFound) {
    std::set<std::string_view> seen;
    for (const config::DataRow& row : config::data_list("network/public_suffixes")) {
        EXPECT_TRUE(seen.insert(row.entry).second) << row.entry;
        std::string filled(row.entry);
        for (char& letter : filled) {
            if (letter == '*') letter = 'x';
        }
        auto name = HostName::parse(filled);
        ASSERT_TRUE(name.ok()) << row.entry;
        EXPECT_EQ(name->str(), filled);
        EXPECT_TRUE(is_public_suffix(filled)) << row.entry;
    }
    EXPECT_TRUE(is_public_suffix("com"));
    EXPECT_FALSE(is_public_suffix("example.com"));
    EXPECT_FALSE(is_public_suffix("example.co.uk"));
}

TEST(Bundles, HaveAFileForEachNameAndANameForEachFile) {
    std::set<std::string> files, names;
    const std::filesystem::path share = std::filesystem::path(test::data()).parent_path() / "share/bundles";
    for (const auto& entry : std::filesystem::directory_iterator(share))
        files.insert(entry.path().stem().string());
    for (const config::DataRow& row : config::data_list("network/bundles"))
        names.insert(std::string(row.entry));
    EXPECT_EQ(files, names);
    EXPECT_GT(names.size(), 40u);
}

TEST(Bundles, OpenHostsThatNoShippedBlockCloses) {
    for (const config::DataRow& row : config::data_list("network/bundles")) {
        config::Item item{"@" + std::string(row.entry), config::from_flag("--allow-host")};
        auto rules = rules_of(item, Side::allow);
        ASSERT_TRUE(rules.ok()) << rules.error().line();
        auto engine = Engine::make({.mode = policy::NetworkMode::proxied, .allow = {item}});
        ASSERT_TRUE(engine.ok());
        EXPECT_TRUE(engine->warnings().empty()) << row.entry;
        for (const Rule& rule : *rules) {
            EXPECT_FALSE(rule.reason.empty());
            EXPECT_FALSE(rule.bundle.empty());
            EXPECT_NE(rule.target, Target::any);
            if (rule.target != Target::host) continue;
            Transport transport = rule.is_udp_only ? Transport::udp : Transport::tcp;
            uint16_t port = rule.ports.is_any() ? 443 : rule.ports.first;
            Verdict verdict = engine->decide({*HostName::parse(rule.name), port, transport});
            EXPECT_TRUE(verdict.is_allowed()) << row.entry << ": " << rule.name << ": " << verdict.reason;
        }
    }
}

}  // namespace
}  // namespace network
