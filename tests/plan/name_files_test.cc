// SPDX-License-Identifier: MIT
#include "plan/network/name_files.h"

#include <gtest/gtest.h>

namespace {

constexpr std::string_view kLoopback = "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n";

TEST(NameFiles, ResolverKeepsHowShortNamesAreMeant) {
    EXPECT_EQ(
        plan::jail_resolver("nameserver 10.0.0.1\nsearch lab.example.org example.org # ours\noptions edns0 "
                            "ndots:2 trust-ad\n",
                            true),
        "nameserver 198.18.0.1\nnameserver 198.18.0.4\nsearch lab.example.org example.org\noptions timeout:5 "
        "attempts:1 ndots:2\n");
    EXPECT_EQ(plan::jail_resolver("domain a.org\nsearch b.org", true),
              "nameserver 198.18.0.1\nnameserver 198.18.0.4\nsearch b.org\noptions timeout:5 attempts:1\n");
    EXPECT_EQ(plan::jail_resolver("", true),
              "nameserver 198.18.0.1\nnameserver 198.18.0.4\noptions timeout:5 attempts:1\n");
    EXPECT_EQ(plan::jail_resolver("nameserver 10.0.0.1\nsearch a.org", false).find("10.0.0.1"),
              std::string::npos);
}

TEST(NameFiles, HostsHasTheOwnNameAtLoopbackAndNobodyElses) {
    EXPECT_EQ(
        plan::jail_hosts("127.0.0.1 localhost\n127.0.1.1 box.example.org box\n10.0.0.9 db\n", "box", false),
        std::string(kLoopback) + "127.0.1.1 box.example.org box\n");
    EXPECT_EQ(
        plan::jail_hosts("10.0.0.5 box.example.org box # us\n", "box", true),
        std::string(kLoopback) + "127.0.0.1 box.example.org box\n198.18.0.3 host.agent-sandbox.internal\n");
    EXPECT_EQ(plan::jail_hosts("", "box", false), std::string(kLoopback) + "127.0.0.1 box\n");
    EXPECT_EQ(plan::jail_hosts("", "", false), kLoopback);
    EXPECT_EQ(plan::jail_hosts("127.0.0.1 localhost box\n", "box", false),
              std::string(kLoopback) + "127.0.0.1 box\n");
}

TEST(NameFiles, SwitchAsksFilesAndDnsForHosts) {
    EXPECT_EQ(
        plan::jail_switch("passwd: files sss\nhosts:  files mdns4_minimal [NOTFOUND=return] resolve dns\n"),
        "passwd: files sss\nhosts: files dns\n");
    EXPECT_EQ(plan::jail_switch(""), "hosts: files dns\n");
}

}  // namespace
