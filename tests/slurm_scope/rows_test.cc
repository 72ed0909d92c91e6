// SPDX-License-Identifier: MIT
#include "slurm/scope/rows.h"

#include <gtest/gtest.h>

namespace slurm {
namespace {

const std::string kNonce = "n00112233445566778899aabbccddeeff";
const Tag kOurs{.session = std::string(32, 'a'), .project = std::string(32, 'b')};
const Tag kOther{.session = std::string(32, 'c'), .project = std::string(32, 'd')};

std::string record(std::string_view job, std::string_view array, std::string_view id,
                   std::string_view comment, std::string_view state = "RUNNING") {
    std::string line = kNonce;
    for (std::string_view field : {job, array, id, state, comment}) line.append(field).append(kNonce);
    return line + "\n";
}

std::string tagged(std::string_view text, const Tag& tag) {
    return *append_tag(text, tag);
}

JobSet jobs_of(const std::string& answer, const JobSet::Bounds& bounds) {
    return JobSet(read_rows(answer, kNonce), bounds);
}

TEST(Nonce, IsNewEachTime) {
    auto one = make_nonce(), other = make_nonce();
    ASSERT_TRUE(one.ok() && other.ok());
    EXPECT_EQ(one->size(), 33u);
    EXPECT_NE(*one, *other);
}

TEST(QueueQuery, DelimitsEveryField) {
    auto arguments = question(1000, kNonce);
    EXPECT_EQ(arguments.back(), "--format=" + kNonce + "%A" + kNonce + "%F" + kNonce + "%i" + kNonce + "%T" +
                                    kNonce + "%k" + kNonce);
    EXPECT_EQ(arguments[2], "--user=1000");
}

TEST(QueueRows, AreReadWithTheirComments) {
    auto rows = read_rows(record("12", "10", "10_1", "two\nlines " + text_of(kOurs)) +
                              record("6", "6", "5+1", "(null)", "COMPLETED"),
                          kNonce);
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].job, 12u);
    EXPECT_EQ(rows[0].leader, 10u);
    EXPECT_EQ(rows[0].comment, "two\nlines");
    EXPECT_EQ(rows[0].tag, kOurs);
    EXPECT_EQ(rows[1].leader, 5u);
    EXPECT_TRUE(rows[1].is_over);
    EXPECT_EQ(rows[1].comment, "");
}

// Threat: a comment continues as the record of another job.
TEST(QueueRows, CanNotBeForgedByAComment) {
    std::string forged =
        "x\nn" + std::string(32, '0') + "99" + "\n" + record("99", "99", "99", "y").substr(33);
    size_t nonce;
    while ((nonce = forged.find(kNonce)) != forged.npos) forged.erase(nonce, kNonce.size());
    auto rows = read_rows(record("7", "7", "7", forged) + record("8", "8", "8", "z"), kNonce);
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].comment, forged);
}

TEST(QueueRows, EndAtTheFirstThatIsNotOne) {
    EXPECT_TRUE(read_rows("squeue: something else\n", kNonce).empty());
    EXPECT_EQ(read_rows(record("7", "7", "7", "") + "noise\n" + record("8", "8", "8", ""), kNonce).size(),
              1u);
    EXPECT_TRUE(read_rows(record("x", "7", "7", ""), kNonce).empty());
    std::string cut = record("7", "7", "7", "");
    EXPECT_TRUE(read_rows(cut.substr(0, cut.size() - 1), kNonce).empty());
}

TEST(ShownRows, ReachToTheNextNonce) {
    EXPECT_EQ(format_with_question("%j", kNonce), question(1000, kNonce).back().substr(9) + "%j");
    auto shown = [](std::string row, const std::string& text) {
        row.insert(row.size() - 1, text);
        return row;
    };
    std::string headings = shown(record("JOBID", "ARRAY_JOB_ID", "JOBID", "COMMENT", "STATE"), "NAME");
    std::string rows =
        shown(record("7", "7", "7", "two\nlines"), "a\nb") + shown(record("8", "8", "8", ""), "");
    ShownRows read = read_shown_rows("above\n" + headings + rows, kNonce);
    EXPECT_EQ(read.before, "above\n");
    ASSERT_EQ(read.rows.size(), 3u);
    EXPECT_FALSE(read.rows[0].job);
    EXPECT_EQ(read.rows[0].text, "NAME\n");
    EXPECT_EQ(read.rows[1].job->job, 7u);
    EXPECT_EQ(read.rows[1].text, "a\nb\n");
    EXPECT_EQ(read.rows[2].text, "\n");
    // Headings in any other place, or a truncated row, end the reading.
    EXPECT_EQ(read_shown_rows(rows + headings + rows, kNonce).rows.size(), 2u);
    EXPECT_EQ(read_shown_rows(rows.substr(0, rows.size() - 1), kNonce).rows.size(), 1u);
    EXPECT_EQ(read_shown_rows(rows + rows.substr(0, 60), kNonce).rows.size(), 2u);
    EXPECT_TRUE(read_shown_rows("", kNonce).rows.empty());
}

TEST(JobSet, IsBoundedBySessionOrProject) {
    std::string answer = record("1", "1", "1", tagged("", kOurs)) +
                         record("2", "2", "2", tagged("", {kOther.session, kOurs.project})) +
                         record("3", "3", "3", tagged("", kOther)) + record("4", "4", "4", "untagged");
    using Numbers = std::vector<uint32_t>;
    EXPECT_EQ(jobs_of(answer, {}).numbers(), (Numbers{1, 2, 3, 4}));
    EXPECT_EQ(jobs_of(answer, {.project = kOurs.project}).numbers(), (Numbers{1, 2}));
    EXPECT_EQ(jobs_of(answer, {.session = kOurs.session}).numbers(), (Numbers{1}));
    EXPECT_EQ(jobs_of(answer, {.session = kOurs.session, .always = 4}).numbers(), (Numbers{1, 4}));
}

TEST(JobSet, TakesAnArrayWholeOrNotAtAll) {
    std::string whole = record("10", "10", "10_[2-3%1]", tagged("", kOurs), "PENDING") +
                        record("12", "10", "10_1", tagged("", kOurs));
    JobSet jobs = jobs_of(whole, {.project = kOurs.project});
    EXPECT_EQ(jobs.numbers(), std::vector<uint32_t>{10});
    EXPECT_TRUE(jobs.contains(*parse_job_id("10_1")));
    EXPECT_TRUE(jobs.contains(*parse_job_id("12.0")));
    EXPECT_FALSE(jobs.contains(*parse_job_id("11")));

    JobSet mixed = jobs_of(whole + record("13", "10", "10_2", "untagged"), {.project = kOurs.project});
    EXPECT_EQ(mixed.numbers(), std::vector<uint32_t>{12});
    EXPECT_FALSE(mixed.contains(10u));
    EXPECT_TRUE(mixed.contains(12u));
    EXPECT_FALSE(mixed.contains(13u));
}

TEST(JobSet, LeavesOutWhatIsOverWhereItCanNotBeActedOn) {
    std::string answer = record("1", "1", "1", "", "COMPLETED") + record("2", "2", "2", "", "COMPLETING");
    EXPECT_EQ(jobs_of(answer, {}).numbers(false), std::vector<uint32_t>{2});
    EXPECT_EQ(jobs_of(answer, {}).numbers(true), (std::vector<uint32_t>{1, 2}));
}

}  // namespace
}  // namespace slurm
