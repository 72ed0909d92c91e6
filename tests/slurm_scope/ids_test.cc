// SPDX-License-Identifier: MIT
#include "slurm/scope/identity.h"

#include <gtest/gtest.h>

namespace slurm {
namespace {

TEST(JobIds, AreReadAsSlurmTakesThem) {
    struct Row {
        std::string_view text, canonical;
    };
    constexpr Row kRows[] = {
        {"17", "17"},
        {"0017", "17"},
        {"17_4", "17_4"},
        {"17_0", "17_0"},
        {"17_[1-3,7%2]", "17_[1-3,7%2]"},
        {"17_[01-03:2]", "17_[1-3:2]"},
        {"17.0", "17.0"},
        {"17.batch", "17.batch"},
        {"17.extern", "17.extern"},
        {"17_4.12", "17_4.12"},
        {"17+1", "17+1"},
        {"17+1.0", "17+1.0"},
    };
    for (const Row& row : kRows) {
        auto id = parse_job_id(row.text);
        ASSERT_TRUE(id.ok()) << row.text;
        EXPECT_EQ(text_of(*id), row.canonical);
    }
}

TEST(JobIds, RefuseAllElse) {
    for (std::string_view text : {"",        "0",          "-1",
                                  "+1",      " 17",        "17 ",
                                  "17_",     "17_[",       "17_[]",
                                  "17_[1",   "17_[3-1]",   "17_[1-5:0]",
                                  "17_[1,]", "17_*",       "17.",
                                  "17.x",    "17.batch2",  "17.0.1",
                                  "17+",     "17+1+2",     "17_1_2",
                                  "17_1+2",  "1x",         "0x11",
                                  "1e3",     "4294967295", "99999999999999999999999",
                                  "17\n",    "17;rm",      "--uid=0",
                                  "%j",      "17,18"}) {
        EXPECT_FALSE(parse_job_id(text).ok()) << text;
    }
    EXPECT_FALSE(parse_job_id("17_[" + std::string(2000, '1') + "]").ok());
}

TEST(JobIds, ListsAreDividedOutsideBrackets) {
    auto ids = parse_job_ids("1,,2_[3,4],5.0,");
    ASSERT_TRUE(ids.ok());
    ASSERT_EQ(ids->size(), 3u);
    EXPECT_EQ((*ids)[1].tasks, "[3,4]");
    EXPECT_TRUE(parse_job_ids("")->empty());
    EXPECT_FALSE(parse_job_ids("1,x").ok());
    EXPECT_FALSE(parse_job_ids("1 2").ok());
}

TEST(JobIds, ListsAreBounded) {
    std::string list;
    for (size_t i = 0; i < kMaximumIds; ++i) list += "1,";
    EXPECT_EQ(parse_job_ids(list)->size(), kMaximumIds);
    EXPECT_FALSE(parse_job_ids(list + "1").ok());
}

TEST(JobIds, StandInsAreNumbersOfNoJob) {
    for (uint32_t index = 0; index < kStandIns; ++index) {
        EXPECT_EQ(stand_in(index) & 0x03ffffff, 0u);
        EXPECT_GT(stand_in(index), 0u);
        EXPECT_LT(stand_in(index), 0x80000000u);
    }
    EXPECT_NE(stand_in(0), stand_in(1));
}

}  // namespace
}  // namespace slurm
