// SPDX-License-Identifier: MIT
#include "network/gateway/names/resolver_query.h"

#include <gtest/gtest.h>

#include "network/gateway/names/resolver.h"

namespace network::gateway {
namespace {

std::vector<std::string> texts(const std::vector<Address>& addresses) {
    std::vector<std::string> made;
    for (const Address& address : addresses) made.push_back(address.str());
    return made;
}

std::vector<std::string> find(const HostsTable& table, std::string_view name) {
    auto found = table.find(*HostName::parse(name));
    return found == table.end() ? std::vector<std::string>() : texts(found->second);
}

using Texts = std::vector<std::string>;

TEST(HostsFile, HasNamesAliasesAndBothFamilies) {
    HostsTable table = parse_hosts(
        "# comment\n"
        "2001:db8::5\tDB.Example.org db   # behind it a comment other.example.org\n"
        "10.0.0.5 db.example.org.\r\n"
        "  10.0.0.6   db.example.org mail.example.org\n"
        "10.0.0.5 db.example.org\n"
        "10.0.0.7\n"
        "10.1 short.example.org\n"
        "fe80::1%eth0 zone.example.org\n"
        "10.0.0.9 bad..name good.example.org");
    EXPECT_EQ(find(table, "db.example.org"), (Texts{"10.0.0.5", "10.0.0.6", "2001:db8::5"}));
    EXPECT_EQ(find(table, "db"), Texts{"2001:db8::5"});
    EXPECT_EQ(find(table, "mail.example.org"), Texts{"10.0.0.6"});
    EXPECT_EQ(find(table, "good.example.org"), Texts{"10.0.0.9"});
    for (const char* name : {"other.example.org", "short.example.org", "zone.example.org", "comment"})
        EXPECT_EQ(find(table, name), Texts{}) << name;
}

TEST(ResolvConf, HasServersAndOptions) {
    ServerSettings settings = parse_resolv_conf(
        "; comment\n# nameserver 10.9.9.9\nsearch example.org\nnameserver 10.0.0.53\n"
        "nameserver fe80::1%eth0\nnameserver\t2001:db8::53 # ours\nnameserver nonsense\n"
        "options ndots:2 timeout:3 attempts:1 rotate edns0\n");
    EXPECT_EQ(texts(settings.servers), (Texts{"10.0.0.53", "2001:db8::53"}));
    EXPECT_EQ(settings.time_per_try, std::chrono::seconds(3));
    EXPECT_EQ(settings.rounds, 1);
    EXPECT_TRUE(settings.rotates);
    EXPECT_EQ(settings.port, 53);
}

TEST(ResolvConf, HasDefaultsAndBounds) {
    ServerSettings settings = parse_resolv_conf("");
    EXPECT_EQ(texts(settings.servers), Texts{"127.0.0.1"});
    EXPECT_EQ(settings.time_per_try, std::chrono::seconds(2));
    EXPECT_EQ(settings.rounds, 2);
    EXPECT_FALSE(settings.rotates);
    settings = parse_resolv_conf(
        "options timeout:900 attempts:0\noptions timeout:x attempts:\n"
        "nameserver 10.0.0.1\nnameserver 10.0.0.2\nnameserver 10.0.0.3\nnameserver 10.0.0.4\n");
    EXPECT_EQ(settings.time_per_try, std::chrono::seconds(5));
    EXPECT_EQ(settings.rounds, 1);
    EXPECT_EQ(settings.servers.size(), 3u);
}

Resolution found(const char* address) {
    return {.outcome = Resolution::Outcome::found, .addresses = {*Address::parse(address)}, .reason = {}};
}

TEST(AnswerCache, HoldsWithinBounds) {
    using std::chrono::seconds;
    AnswerCache cache;
    HostName name = *HostName::parse("a.example.org");
    AnswerCache::Time now{};
    cache.keep(name, found("192.0.2.1"), seconds(0), now);
    EXPECT_TRUE(cache.find(name, now + seconds(4))) << "at least five seconds";
    EXPECT_FALSE(cache.find(name, now + seconds(5)));
    EXPECT_EQ(cache.size(), 0u) << "what is over is dropped";
    cache.keep(name, found("192.0.2.1"), seconds(86'400), now);
    EXPECT_TRUE(cache.find(name, now + seconds(59)));
    cache.keep(name, found("192.0.2.2"), seconds(30), now);
    EXPECT_EQ(cache.find(name, now + seconds(29))->addresses.front().str(), "192.0.2.2");
    EXPECT_FALSE(cache.find(name, now + seconds(31)));
}

TEST(AnswerCache, DropsTheOldest) {
    AnswerCache cache;
    AnswerCache::Time now{};
    auto name = [](size_t i) { return *HostName::parse("n" + std::to_string(i) + ".example.org"); };
    for (size_t i = 0; i <= AnswerCache::kMost; ++i)
        cache.keep(name(i), found("192.0.2.1"), std::chrono::seconds(60), now);
    EXPECT_EQ(cache.size(), AnswerCache::kMost);
    EXPECT_FALSE(cache.find(name(0), now));
    EXPECT_TRUE(cache.find(name(1), now));
    EXPECT_TRUE(cache.find(name(AnswerCache::kMost), now));
}

}  // namespace
}  // namespace network::gateway
