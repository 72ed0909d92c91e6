// SPDX-License-Identifier: MIT
#include "rules/properties.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "base/file.h"
#include "base/places.h"
#include "base/text.h"
#include "rules/entry_properties.h"

namespace network {
namespace {

std::vector<std::string> seeds(const std::string& of = "rule") {
    std::vector<std::string> texts;
    for (const auto& entry : std::filesystem::directory_iterator(test::data("/fuzz/rules/corpus/") + of)) {
        texts.push_back(*base::read_file(entry.path().string()));
    }
    return texts;
}

TEST(Properties, HoldForTheSeeds) {
    EXPECT_GT(seeds().size(), 20u);
    for (const std::string& seed : seeds())
        EXPECT_EQ(broken_property(seed), nullptr) << base::printable(seed);
}

TEST(Properties, HoldForDamagedSeeds) {
    std::mt19937 random(7);
    auto pick = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
    constexpr std::string_view kBytes = ".:/-*[]@0x1f9aZ\xc3\xbc\xff \n";
    for (const std::string& seed : seeds()) {
        for (int round = 0; round < 500; ++round) {
            std::string text = seed;
            for (size_t changes = 1 + pick(3); changes > 0; --changes) {
                size_t at = pick(text.size() + 1);
                char byte = kBytes[pick(kBytes.size())];
                bool is_inserted = at == text.size() || pick(2) == 0;
                text.replace(at, is_inserted ? 0 : 1, 1, byte);
            }
            ASSERT_EQ(broken_property(text), nullptr) << base::printable(text);
        }
    }
}

TEST(Properties, HoldForFilesOfPackageManagers) {
    EXPECT_GE(seeds("clients").size(), 5u);
    for (const std::string& seed : seeds("clients"))
        EXPECT_EQ(broken_for_clients(seed), nullptr) << base::printable(seed);
}

TEST(Properties, HoldForServices) {
    EXPECT_GE(seeds("services").size(), 5u);
    for (const std::string& seed : seeds("services"))
        EXPECT_EQ(broken_for_services(seed), nullptr) << base::printable(seed);
}

}  // namespace
}  // namespace network
