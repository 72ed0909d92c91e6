// SPDX-License-Identifier: MIT
#include "audit/properties.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/places.h"

namespace {

TEST(RecordProperties, HoldForEverySeedAndEveryDamagedOne) {
    size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(test::data("/fuzz/audit/corpus/record"))) {
        std::string input = base::read_file(entry.path()).value();
        ASSERT_EQ(audit::broken_for_record(input), nullptr) << entry.path();
        size_t stride = 1 + input.size() / 200;
        for (size_t at = 0; at < input.size(); at += stride) {
            ASSERT_EQ(audit::broken_for_record(input.substr(0, at)), nullptr)
                << entry.path() << " cut at " << at;
            std::string changed = input;
            changed[at] = static_cast<char>(changed[at] ^ (1 << at % 8));
            ASSERT_EQ(audit::broken_for_record(changed), nullptr) << entry.path() << " changed at " << at;
        }
        ++files;
    }
    EXPECT_GT(files, 0U);
}

}  // namespace
