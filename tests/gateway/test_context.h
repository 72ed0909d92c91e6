// SPDX-License-Identifier: MIT
// A complete context of the gateway, a record that the test can read, and a network namespace for the test.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

#include "base/encoding/json.h"
#include "base/text.h"
#include "gateway/fake_dns.h"
#include "network/gateway/context.h"
#include "network/netns/carry_out_after_clone.h"

namespace network::gateway {

inline std::vector<config::Item> user_items(std::initializer_list<const char*> texts) {
    std::vector<config::Item> made;
    for (const char* text : texts) made.push_back({text, {.layer = config::Layer::user, .name = "test"}});
    return made;
}

struct TestContext {
    explicit TestContext(Egress settings, uint16_t dns_port = 53, std::string hosts = "")
        : egress(std::move(settings)),
          engine(*Engine::make(egress.rules)),
          file(::memfd_create("record", MFD_CLOEXEC)),
          journal(audit::Writer(base::Fd(::dup(file.get())), "", "", 0)) {
        EXPECT_TRUE(loop.open().ok());
        resolver = std::make_unique<Resolver>(
            loop, ResolverFiles{std::move(hosts), "nameserver 127.0.0.1\n", dns_port});
        gateway = std::make_unique<GatewayContext>(
            GatewayContext{loop, engine, egress, names, *resolver, journal, approvals});
    }

    std::vector<base::Json> record() const {
        std::string text(static_cast<size_t>(::lseek(file.get(), 0, SEEK_END)), '\0');
        EXPECT_EQ(::pread(file.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
        std::vector<base::Json> lines;
        for (std::string_view line : base::split(text, '\n'))
            if (!line.empty()) lines.push_back(*base::Json::parse(line));
        return lines;
    }

    Egress egress;
    Engine engine;
    base::Fd file;
    Journal journal;
    base::EventLoop loop;
    Names names;
    Approvals approvals{loop, engine, egress, journal};
    std::unique_ptr<Resolver> resolver;
    std::unique_ptr<GatewayContext> gateway;
};

// Runs a test in a child that has a network namespace in which every address is local, as in a jail.
inline void in_a_network_of_its_own(const std::function<void()>& test) {
    constexpr int kCannot = 99;
    pid_t child = ::fork();
    if (child == 0) {
        if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) ::_exit(kCannot);
        netns::Recipe recipe = netns::make_recipe({}, true);
        // The test opens its own listeners.
        recipe.attempts.clear();
        recipe.has_listeners = false;
        if (netns::carry_out(recipe, -1).number != 0) ::_exit(kCannot);
        test();
        std::fflush(nullptr);
        ::_exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == kCannot)
        GTEST_SKIP() << "no user namespaces for this account";
    EXPECT_EQ(status, 0);
}

}  // namespace network::gateway
