// SPDX-License-Identifier: MIT
#include "slurm_scope/properties.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "base/file.h"
#include "base/places.h"
#include "base/text.h"

namespace slurm {
namespace {

struct Property {
    std::string_view name;  // of its corpus
    const char* (*broken)(std::string_view text);
};
constexpr Property kProperties[] = {
    {"ids", broken_for_ids}, {"tag", broken_for_tag}, {"rows", broken_for_rows}};

std::vector<std::string> seeds(std::string_view of) {
    std::vector<std::string> texts;
    for (const auto& entry :
         std::filesystem::directory_iterator(test::data("/fuzz/slurm/corpus/") + std::string(of))) {
        texts.push_back(*base::read_file(entry.path().string()));
    }
    return texts;
}

TEST(ScopeProperties, HoldForTheSeeds) {
    for (const Property& property : kProperties) {
        EXPECT_GT(seeds(property.name).size(), 3u);
        for (const std::string& seed : seeds(property.name)) {
            EXPECT_EQ(property.broken(seed), nullptr) << base::printable(seed);
        }
    }
}

TEST(ScopeProperties, HoldForDamagedSeeds) {
    std::mt19937 random(7);
    auto pick = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
    constexpr std::string_view kBytes = "0123456789_[]-,:%+. \nabcdefn\xff";
    for (const Property& property : kProperties) {
        for (const std::string& seed : seeds(property.name)) {
            for (int round = 0; round < 500; ++round) {
                std::string text = seed;
                for (size_t changes = 1 + pick(3); changes > 0; --changes) {
                    size_t at = pick(text.size() + 1);
                    if (pick(2) && at < text.size()) text.erase(at, 1);
                    text.insert(std::min(at, text.size()), 1, kBytes[pick(kBytes.size())]);
                }
                ASSERT_EQ(property.broken(text), nullptr) << base::printable(text);
            }
        }
    }
}

}  // namespace
}  // namespace slurm
