// SPDX-License-Identifier: MIT
#include "gateway/properties.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "base/places.h"
#include "base/text.h"

namespace network::gateway {
namespace {

using Claim = const char* (*)(std::string_view);

void expect_for_seeds(const std::string& folder, size_t least, Claim broken) {
    size_t count = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(test::data("/fuzz/gateway/corpus/") + folder)) {
        std::string seed = *base::read_file(entry.path().string());
        EXPECT_EQ(broken(seed), nullptr) << entry.path();
        // Each prefix of a seed is another input.
        for (size_t size = 0; size < seed.size(); size += 7)
            EXPECT_EQ(broken(std::string_view(seed).substr(0, size)), nullptr) << entry.path() << " " << size;
        ++count;
    }
    EXPECT_GE(count, least);
}

TEST(GatewayProperties, HoldForWhatClientsSayFirst) {
    expect_for_seeds("guard", 15, broken_for_guard);
}

TEST(GatewayProperties, HoldForTheHostsFiles) {
    expect_for_seeds("resolver_files", 2, broken_for_resolver_files);
}

// The control: the checks detect a passage to another host.
TEST(GatewayProperties, SeeAnotherHost) {
    EXPECT_TRUE(names_another_host("GET / HTTP/1.1\r\nhOsT: evil.test\r\n\r\n"));
    EXPECT_FALSE(names_another_host("GET / HTTP/1.1\r\nHost: good.test\r\n\r\n"));
    EXPECT_EQ(pass("GET / HTTP/1.1\r\nHost: good.test\r\n\r\n", 1, kWebPort).onward.size(), 35u);
    EXPECT_EQ(pass("GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n", 1, kWebPort).state, Guard::State::refused);
}

}  // namespace
}  // namespace network::gateway
