// SPDX-License-Identifier: MIT
// The properties that libFuzzer attacks, with the same corpora: each file, each prefix of it, and each file
// with one byte changed.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "base/places.h"
#include "properties.h"
#include "verdicts.h"

namespace network::wire {
namespace {

constexpr size_t kMostVariants = 400;  // of each kind, per file

class Corpus : public testing::TestWithParam<Property> {};

TEST_P(Corpus, BreaksNoClaim) {
    const Property& property = GetParam();
    std::filesystem::path folder = std::filesystem::path(test::data("/fuzz/wire/corpus")) / property.name;
    size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        std::string input = base::read_file(entry.path()).value();
        ASSERT_EQ(property.broken_claim(input), "") << entry.path();
        size_t stride = 1 + input.size() / kMostVariants;
        for (size_t at = 0; at < input.size(); at += stride) {
            ASSERT_EQ(property.broken_claim(input.substr(0, at)), "") << entry.path() << " cut at " << at;
            std::string changed = input;
            changed[at] = static_cast<char>(changed[at] ^ (1 << at % 8));
            ASSERT_EQ(property.broken_claim(changed), "") << entry.path() << " changed at " << at;
        }
        ++files;
    }
    EXPECT_GT(files, 0u) << "no corpus in " << folder;
}

INSTANTIATE_TEST_SUITE_P(Wire, Corpus, testing::ValuesIn(properties().begin(), properties().end()),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace network::wire
