// SPDX-License-Identifier: MIT
// For unit tests: checks the claim that a fuzz target attacks with the same seeds: each file, each prefix of
// it, and each file with one byte changed.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/places.h"

namespace fuzz {

using BrokenClaim = const char* (*)(std::string_view);

constexpr size_t kMostVariants = 60;  // of each kind, per file

// `folder` is below tests/fuzz: "config/corpus/layer".
inline void expect_unbroken(const std::string& folder, BrokenClaim broken_claim) {
    size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(test::data("/fuzz/") + folder)) {
        std::string input = base::read_file(entry.path()).value();
        ASSERT_EQ(broken_claim(input), nullptr) << entry.path();
        size_t stride = 1 + input.size() / kMostVariants;
        for (size_t at = 0; at < input.size(); at += stride) {
            ASSERT_EQ(broken_claim(input.substr(0, at)), nullptr) << entry.path() << " cut at " << at;
            std::string changed = input;
            changed[at] = static_cast<char>(changed[at] ^ (1 << at % 8));
            ASSERT_EQ(broken_claim(changed), nullptr) << entry.path() << " changed at " << at;
        }
        ++files;
    }
    EXPECT_GT(files, 0U) << "no seeds in " << folder;
}

// A seed that is refused at its first field makes the fuzzer search in the dark.
inline std::string seed(const std::string& file) {
    return base::read_file(test::data("/fuzz/") + file).value();
}

}  // namespace fuzz
