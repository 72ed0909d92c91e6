// SPDX-License-Identifier: MIT
#include "backends/firejail/render.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using backends::firejail::Act;
using backends::firejail::render;
using backends::firejail::Rendered;
using backends::firejail::View;
using base::Path;

View view_of(std::string_view path, Act act = Act::blacklist) {
    return View{.entries = {{act, Path::known(path)}}};
}

bool has(const std::vector<std::string>& words, std::string_view word) {
    return std::ranges::find(words, word) != words.end();
}

TEST(FirejailRender, EveryActIsALineOfTheProfile) {
    View view{.entries = {{Act::whitelist, Path::known("/p")},
                          {Act::read_only, Path::known("/p/a b")},
                          {Act::read_write, Path::known("/p/c")},
                          {Act::blacklist, Path::known("/p/d")},
                          {Act::tmpfs, Path::known("/p/e")}}};
    base::Result<Rendered> rendered = render({}, view);
    ASSERT_TRUE(rendered);
    EXPECT_EQ(rendered->profile,
              "whitelist /p\nread-only /p/a b\nread-write /p/c\nblacklist /p/d\ntmpfs /p/e\n");
    EXPECT_TRUE(rendered->late_options.empty());
}

TEST(FirejailRender, NothingIsEverGainedInside) {
    base::Result<Rendered> rendered = render({}, {});
    ASSERT_TRUE(rendered);
    for (std::string_view option : {"--caps.drop=all", "--nonewprivs", "--private-dev", "--quiet"})
        EXPECT_TRUE(has(rendered->options, option)) << option;
    for (std::string_view option : {"--noprofile", "--nogroups", "--noroot", "--allusers", "--"})
        EXPECT_FALSE(has(rendered->options, option)) << option;
}

TEST(FirejailRender, OnlyTheOpenNetworkIsTheHosts) {
    using policy::NetworkMode;
    plan::Plan plan;
    for (NetworkMode mode : {NetworkMode::isolated, NetworkMode::proxied, NetworkMode::filtered}) {
        plan.network.reached = mode;
        EXPECT_TRUE(has(render(plan, {})->options, "--net=none"));
    }
    plan.network.reached = NetworkMode::open;
    EXPECT_FALSE(has(render(plan, {})->options, "--net=none"));
}

TEST(FirejailRender, SharedMemoryIsTheHostsWhereThatIsAskedFor) {
    plan::Plan plan;
    EXPECT_TRUE(has(render(plan, {})->options, "--ipc-namespace"));
    plan.processes.private_ipc = false;
    EXPECT_FALSE(has(render(plan, {})->options, "--ipc-namespace"));
    EXPECT_TRUE(has(render(plan, {})->options, "--keep-dev-shm"));
}

// Threat: a file name in the project contains a pattern, so a rule for it covers other files instead.
TEST(FirejailRender, WhatIsSpecialInAPatternIsPutIntoBrackets) {
    EXPECT_EQ(render({}, view_of("/p/a*b?c[d]"))->profile, "blacklist /p/a[*]b[?]c[[]d]\n");
    EXPECT_EQ(render({}, view_of("/p/~/$HOME"))->profile, "blacklist /p/~/$HOME\n");
}

TEST(FirejailRender, WhatALineCannotHoldIsAnArgument) {
    for (std::string_view path : {"/p/C#", "/p/two  blanks", "/p/blank "}) {
        base::Result<Rendered> rendered = render({}, view_of(path, Act::whitelist));
        ASSERT_TRUE(rendered) << path;
        EXPECT_TRUE(rendered->profile.empty()) << path;
        ASSERT_EQ(rendered->late_options.size(), 1u);
        EXPECT_EQ(rendered->late_options[0], "--whitelist=" + std::string(path));
    }
}

TEST(FirejailRender, APathThatFirejailRefusesIsRefusedBefore) {
    for (std::string_view path :
         {"/p/a,b", "/p/a\"b", "/p/a\\b", "/p/a&b", "/p/a!b", "/p/a<b", "/p/a>b", "/p/a%b", "/p/a^b",
          "/p/${HOME}", "/p/a;b", "/p/a..b", "/p/a\nb", "/p/a\tb"}) {
        base::Result<Rendered> rendered = render({}, view_of(path));
        ASSERT_FALSE(rendered) << path;
        EXPECT_NE(rendered.error().what.find("firejail can't be told"), std::string::npos);
        EXPECT_EQ(rendered.error().what.find('\n'), std::string::npos);
    }
}

TEST(FirejailRender, OddPathsHaveTheirLimit) {
    View view;
    for (int i = 0; i < 100; ++i)
        view.entries.push_back({Act::blacklist, Path() / ("#" + std::to_string(i))});
    EXPECT_FALSE(render({}, view));
}

}  // namespace
