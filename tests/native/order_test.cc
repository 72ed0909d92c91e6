// SPDX-License-Identifier: MIT
#include "backends/native/order.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace backends::native {
namespace {

using namespace std::string_view_literals;

class OrderTest : public testing::Test {
  protected:
    void SetUp() override {
        network_.udp_ports = {53, 443};
        network_.best = network::netns::Capture::redirect;
        spec_.command = {"sh", "-c", "true"};
        spec_.environment = {"HOME=/home/me"};
        script_.steps = {
            {.act = Act::mount_new, .source = "tmpfs", .target = ".", .options = "mode=755", .mode = 0755},
            {.act = Act::mount_content, .source = kContent.data(), .length = kContent.size(), .target = "a"},
            {.act = Act::make_file, .target = "empty", .is_optional = true},
        };
    }
    std::string encoded() const { return encode(network_, spec_, script_); }

    static constexpr std::string_view kContent = "with\0NUL\0"sv;
    network::netns::NetworkRequest network_;
    inner::LaunchSpec spec_;
    Script script_;
};

TEST_F(OrderTest, IsDecodedAsItWas) {
    base::Result<Order> order = decode(encoded());
    ASSERT_TRUE(order);
    EXPECT_EQ(order->network.udp_ports, network_.udp_ports);
    EXPECT_EQ(order->network.best, network_.best);
    EXPECT_EQ(order->spec.command, spec_.command);
    EXPECT_EQ(order->spec.environment, spec_.environment);
    ASSERT_EQ(order->script.steps.size(), 3u);
    EXPECT_EQ(order->script.descriptors.size(), 3u);
    const Step& root = order->script.steps[0];
    EXPECT_EQ(root.source, "tmpfs"sv);
    EXPECT_EQ(root.options, "mode=755"sv);
    EXPECT_EQ(root.mode, 0755u);
    const Step& content = order->script.steps[1];
    EXPECT_EQ(std::string_view(content.source, content.length), kContent);
    EXPECT_EQ(content.target, "a"sv);
    const Step& empty = order->script.steps[2];
    EXPECT_EQ(empty.source, ""sv);
    EXPECT_EQ(empty.target, "empty"sv);
    EXPECT_TRUE(empty.is_optional);
}

// Its texts lie in the order itself, not in the memory of the sender.
TEST_F(OrderTest, HasItsOwnTexts) {
    base::Result<Order> order = base::Error{};
    {
        std::string target = "a/long/target/that/lies/in/memory/of/its/own";
        script_.steps[0].target = target.c_str();
        order = decode(encoded());
        target.assign(target.size(), 'x');
    }
    ASSERT_TRUE(order);
    Order moved = *std::move(order);
    EXPECT_EQ(moved.script.steps[0].target, "a/long/target/that/lies/in/memory/of/its/own"sv);
}

TEST_F(OrderTest, IncompleteBytesAreRejected) {
    const std::string whole = encoded();
    for (size_t length = 0; length < whole.size(); ++length)
        EXPECT_FALSE(decode(std::string_view(whole).substr(0, length))) << length;
    EXPECT_FALSE(decode(whole + "x"));
}

TEST_F(OrderTest, AScriptWithoutStepsIsWhole) {
    script_.steps.clear();
    base::Result<Order> order = decode(encoded());
    ASSERT_TRUE(order);
    EXPECT_TRUE(order->script.steps.empty());
}

}  // namespace
}  // namespace backends::native
