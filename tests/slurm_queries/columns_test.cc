// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "slurm/queries/redact.h"
#include "slurm/queries/sacct.h"
#include "slurm/scope/identity.h"

namespace slurm::queries {
namespace {

constexpr std::string_view kMark = "nMARK";
constexpr std::string_view kComment[] = {"comment"};

std::string shout(std::string_view value) {
    return "<" + std::string(value) + ">";
}

TEST(MarkedColumns, AreFoundAmongLetters) {
    auto format = mark_letters("%i %.5k|%k%%k %5.3j %all", "k", kMark);
    ASSERT_TRUE(format);
    EXPECT_EQ(format->format, "%i nMARK%knMARK|nMARK%knMARK%nMARK%knMARK %5.3j %all");
    ASSERT_EQ(format->columns.size(), 3u);
    EXPECT_EQ(format->columns[0].width, 5u);
    EXPECT_TRUE(format->columns[0].is_right);
    EXPECT_FALSE(format->columns[1].width);
    EXPECT_FALSE(mark_letters("%i %j", "k", kMark));
    EXPECT_FALSE(mark_letters("100%", "k", kMark));
}

TEST(MarkedColumns, KeepTheirWidths) {
    auto format = mark_letters("%4k|%.6k|%i", "k", kMark);
    EXPECT_EQ(unmarked("nMARKabnMARK|nMARKabnMARK|1\nnMARKa\nbnMARK|nMARKa\nbnMARK|2\n", *format, shout),
              "<ab>|  <ab>|1\n<a\nb| <a\nb>|2\n");
}

TEST(MarkedColumns, AreFoundAmongNames) {
    auto format = mark_names("JobID,Comment,Name:8,comment:.6|x", kComment, kMark);
    ASSERT_TRUE(format);
    EXPECT_EQ(format->format, "JobID:20nMARK,Comment:1100nMARK,Name:8nMARK,comment:1100nMARK");
    EXPECT_EQ(unmarked("1   nMARKa    nMARKjob nMARKa    nMARK\n2   nMARKb\nc  nMARKjob nMARKb\nc  nMARK\n",
                       *format, shout),
              "1   <a>                 job    <a>|x\n2   <b\nc>               job  <b\nc>|x\n");
    EXPECT_FALSE(mark_names("JobID,Name", kComment, kMark));
}

TEST(MarkedColumns, ThatComeFirstKeepTheLines) {
    auto format = mark_names("comment:4", kComment, kMark);
    EXPECT_EQ(unmarked("COMMENT  nMARK\na nMARK\nb nMARK\n", *format,
                       [](std::string_view v) { return std::string(v); }),
              "COMM\na   \nb   \n");
}

TEST(Masks, LeaveTheOwnNameAndWhatIsNone) {
    EXPECT_EQ(masked_user("ann", "ann"), "ann");
    EXPECT_EQ(masked_user("ann(1000)", "ann"), "ann(1000)");
    EXPECT_EQ(masked_user("Unknown", "ann"), "Unknown");
    EXPECT_EQ(masked_user("bob(1001)", "ann"), "-");
    EXPECT_EQ(masked_user("anna", "ann"), "-");
    EXPECT_EQ(masked_user("ann(10", "ann"), "ann(10") << "a narrow column";
    EXPECT_EQ(masked_user("ann(bob)", "ann"), "-");
}

TEST(Masks, DoNotAskWhatStandsBeforeTheKey) {
    for (std::string before : {"", "   ", "\t", "x", "\xf2", "Users=eve,"}) {
        EXPECT_EQ(masked_reservation(before + "Users=ann,bob x", "ann").find("bob"), std::string::npos)
            << before;
        EXPECT_EQ(masked_node(before + "Owner=bob(1001) x", "ann").find("bob"), std::string::npos) << before;
    }
}

TEST(Accounting, RowsHoldCommentsWithLineBreaks) {
    std::string tag = "agent-sandbox:1:" + std::string(32, 'a') + ":" + std::string(32, 'b');
    auto rows = read_accounting_rows(
        "17nMARKtwo\n99 lines " + tag + "nMARK17\n23nMARKnMARK20_1\n25nMARKxnMARK20_[2-3%1]\n", kMark);
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0].comment, "two\n99 lines");
    EXPECT_TRUE(rows[0].tag);
    EXPECT_EQ(rows[1].job, 23u);
    EXPECT_EQ(rows[1].leader, 20u);
    EXPECT_EQ(rows[2].leader, 20u);
    EXPECT_TRUE(read_accounting_rows("sacct: something else\n", kMark).empty());
}

TEST(Accounting, CommentsAreWidenedAndNarrowedAgain) {
    std::string format = "jobid,Comment%-8,state";
    auto column = widen_comments(format);
    ASSERT_TRUE(column);
    EXPECT_EQ(format, "jobid,comment%-1100,state");
    EXPECT_EQ(column->width, 8u);
    EXPECT_TRUE(column->is_left);
    auto wide = [](std::string text) {
        text.resize(1100, ' ');
        return text;
    };
    Tag tag{std::string(32, 'a'), std::string(32, 'b')};
    std::vector<JobRow> rows = {{.job = 1, .comment = "run", .tag = tag},
                                {.job = 2, .comment = "a longer text", .tag = tag},
                                {.job = 3, .comment = "", .tag = tag},
                                {.job = 4, .comment = "no tag"}};
    std::string text = wide("Comment") + " State\n" + std::string(1100, '-') + " -----\n";
    for (const JobRow& row : rows)
        text += wide(row.tag ? *append_tag(row.comment, *row.tag) : row.comment) + "  X\n";
    text += wide("") + "  X\n";
    EXPECT_EQ(
        with_narrow_comments(text, *column, rows),
        "Comment  State\n-------- -----\nrun       X\na longe+  X\n          X\nno tag    X\n          X\n");
    std::string other = "jobid,state,c";
    EXPECT_FALSE(widen_comments(other));
    std::string abbreviated = "com";
    EXPECT_EQ(widen_comments(abbreviated)->width, 14u);
    EXPECT_EQ(abbreviated, "comment%-1100");
}

TEST(Accounting, AllFieldsAreNamed) {
    EXPECT_TRUE(names_all_fields("jobid, all"));
    EXPECT_FALSE(names_all_fields("jobid,alloc"));
    EXPECT_EQ(with_fields("jobid,ALL", "Account   Comment  \nState\n"), "jobid,Account,Comment,State");
}

}  // namespace
}  // namespace slurm::queries
