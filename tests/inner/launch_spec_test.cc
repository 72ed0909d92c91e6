// SPDX-License-Identifier: MIT
#include "inner/launch_spec.h"

#include <gtest/gtest.h>

namespace {

using inner::Check;
using inner::LaunchSpec;

LaunchSpec example() {
    LaunchSpec spec{
        .command = {"sh", "-c", "", "two\nlines"}, .environment = {"A=1", "B="}, .working_directory = "/p"};
    spec.world_writable = {"/tmp"};
    spec.checks = {Check{.target = "/p/.git",
                         .is_readonly = true,
                         .has_identity = true,
                         .is_other = true,
                         .device = 7,
                         .inode = ~0ull,
                         .type = 4}};
    spec.system_calls = {.allow_ptrace = false, .allow_keyrings = true};
    spec.wall = {.guards_files = false, .writable = {"/p", "/tmp"}, .used = {"/dev"}};
    spec.wall.guards_reading = true;
    spec.wall.readable = {"/usr"};
    spec.wall.refuses_tcp = true;
    spec.wall.is_logged = true;
    spec.trace = {.files = true, .system_calls = true};
    spec.has_namespaces = false;
    spec.doorman = {.is_wanted = true,
                    .is_outside = true,
                    .internet = doorman::Internet::handed,
                    .gateway = 11,
                    .guards_sockets = true,
                    .sockets = {"/p/s"},
                    .abstract_names = doorman::AbstractNames::refused,
                    .guards_terminal_size = true,
                    .refuses_namespaces = true,
                    .guards_attributes = true,
                    .changeable = {"/p"},
                    .guards_truncation = true,
                    .guards_processes = true,
                    .guards_signals = true};
    spec.signals = {.ignored = 1ull << 63, .blocked = 5};
    spec.open_files = 1024;
    spec.standard_error = 9;
    spec.control = 10;
    spec.takes_terminal = true;
    spec.ends_others = true;
    spec.files = {{.path = "/h/.bashrc", .content = "a\nb"},
                  {.path = "/h/l", .content = "x", .is_link = true}};
    return spec;
}

TEST(LaunchSpec, SurviveTheWay) {
    base::Result<LaunchSpec> decoded = inner::decode(inner::encode(example()));
    ASSERT_TRUE(decoded) << decoded.error().line();
    EXPECT_EQ(decoded->command, example().command);
    EXPECT_EQ(decoded->environment, example().environment);
    EXPECT_EQ(decoded->checks[0].inode, ~0ull);
    EXPECT_TRUE(decoded->checks[0].is_readonly);
    EXPECT_EQ(decoded->system_calls.index(), example().system_calls.index());
    EXPECT_EQ(decoded->trace, example().trace);
    EXPECT_EQ(decoded->wall, example().wall);
    EXPECT_FALSE(decoded->has_namespaces);
    EXPECT_EQ(decoded->doorman, example().doorman);
    EXPECT_EQ(decoded->signals, example().signals);
    EXPECT_EQ(decoded->terminal, -1);
    EXPECT_TRUE(decoded->takes_terminal);
    // All other members: encoding again gives the same text.
    EXPECT_EQ(inner::encode(*decoded), inner::encode(example()));
}

TEST(LaunchSpec, AnythingShorterOrLongerIsRefused) {
    std::string text = inner::encode(example());
    for (size_t length = 0; length < text.size(); ++length)
        EXPECT_FALSE(inner::decode(text.substr(0, length))) << length;
    EXPECT_FALSE(inner::decode(text + '\0'));
}

TEST(LaunchSpec, AnotherVersionIsRefused) {
    std::string text = inner::encode(example());
    text[text.find('\0') - 1] = '?';
    EXPECT_FALSE(inner::decode(text));
}

TEST(LaunchSpec, ADamagedCountAsksForNoMemory) {
    std::string text = inner::encode(example());
    size_t count = text.find('\0') + 1;
    text.replace(count, 1, "99999999999999");
    EXPECT_FALSE(inner::decode(text));
}

TEST(LaunchSpec, WithoutACommandAreRefused) {
    LaunchSpec spec = example();
    spec.command.clear();
    EXPECT_FALSE(inner::decode(inner::encode(spec)));
}

}  // namespace
