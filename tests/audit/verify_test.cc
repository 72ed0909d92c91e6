// SPDX-License-Identifier: MIT
#include "audit/verify.h"

#include <algorithm>

#include "audit/record_case.h"

namespace {

using audit::Verification;
using Outcome = Verification::Outcome;

class VerifyTest : public test::RecordCase {
  protected:
    // Two writers take turns; the supervisor begins and ends.
    void SetUp() override {
        RecordCase::SetUp();
        audit::Writer supervisor(appending(), "supervisor", test::kSession, 0);
        audit::Writer gateway(appending(), "gateway", test::kSession, 0);
        supervisor.write(std::move(audit::Line("start").text("session", test::kSession)));
        for (int i = 0; i < 3; ++i) {
            gateway.write(std::move(audit::Line("lookup").text("name", "a" + std::to_string(i))));
            supervisor.write(std::move(audit::Line("mail").number("count", static_cast<uint64_t>(i))));
        }
        audit::Line end("end");
        end.begin_object("writers").begin_object("gateway");
        end.number("lines", gateway.head().lines).text("hash", gateway.head().hash).end_object().end_object();
        supervisor.write(std::move(end));
        lines_ = lines();
        ASSERT_EQ(lines_.size(), 8U);
    }

    Verification check() const {
        base::Result<Verification> result = audit::verify(path());
        EXPECT_TRUE(result);
        return result ? *result : Verification{};
    }
    void expect_broken(const std::vector<std::string>& changed, size_t line) const {
        put_lines(changed);
        Verification result = check();
        EXPECT_EQ(result.outcome, Outcome::broken) << to_text(result);
        EXPECT_EQ(result.where, path() + ":" + std::to_string(line)) << to_text(result);
    }

    std::vector<std::string> lines_;
};

TEST_F(VerifyTest, AnIntactRecordIsIntact) {
    Verification result = check();
    EXPECT_EQ(result.outcome, Outcome::intact) << to_text(result);
    EXPECT_EQ(result.lines, 8U);
    EXPECT_EQ(result.heads.at("gateway").lines, 3U);
}

TEST_F(VerifyTest, EveryAlteredLineIsNoticed) {
    for (size_t i = 0; i + 1 < lines_.size(); ++i) {
        std::vector<std::string> changed = lines_;
        size_t digit = changed[i].find("\"time\":\"") + 8;
        changed[i][digit] = changed[i][digit] == '2' ? '3' : '2';
        put_lines(changed);
        EXPECT_EQ(check().outcome, Outcome::broken) << i;
    }
}

TEST_F(VerifyTest, TheLineAfterAnAlteredOneIsNamed) {
    std::vector<std::string> changed = lines_;
    changed[1].replace(changed[1].find("\"a0\""), 4, "\"b0\"");
    expect_broken(changed, 4);  // the gateway's next
}

TEST_F(VerifyTest, EveryRemovedLineIsNoticed) {
    for (size_t i = 0; i + 1 < lines_.size(); ++i) {
        std::vector<std::string> changed = lines_;
        changed.erase(changed.begin() + static_cast<ptrdiff_t>(i));
        put_lines(changed);
        EXPECT_EQ(check().outcome, Outcome::broken) << i;
    }
}

TEST_F(VerifyTest, ALineThatWasPutInIsNoticed) {
    std::vector<std::string> changed = lines_;
    changed.insert(changed.begin() + 3, R"({"v":1,"time":"t","kind":"mail"})");
    expect_broken(changed, 4);
    changed = lines_;
    changed.insert(changed.begin() + 3, lines_[2]);
    expect_broken(changed, 4);
    changed = lines_;
    changed.push_back(lines_[6]);
    expect_broken(changed, 9);
}

TEST_F(VerifyTest, LinesThatChangedPlacesAreNoticed) {
    std::vector<std::string> changed = lines_;
    std::swap(changed[1], changed[3]);
    expect_broken(changed, 2);
}

TEST_F(VerifyTest, TwoWritersMayComeInAnyOrder) {
    std::vector<std::string> changed = lines_;
    std::swap(changed[1], changed[2]);
    put_lines(changed);
    EXPECT_EQ(check().outcome, Outcome::intact);
}

TEST_F(VerifyTest, AnEndThatWasCutOffIsSaidToBeMissing) {
    std::vector<std::string> changed = lines_;
    changed.pop_back();
    put_lines(changed);
    EXPECT_EQ(check().outcome, Outcome::unfinished);
    EXPECT_NE(to_text(check()).find("unfinished"), std::string::npos);
}

TEST_F(VerifyTest, TheLastLineOfAnotherWriterIsHeldByTheEnd) {
    std::vector<std::string> changed = lines_;
    changed.erase(changed.begin() + 5);  // the gateway's last
    expect_broken(changed, 7);
    changed = lines_;
    changed[5].replace(changed[5].find("\"a2\""), 4, "\"b2\"");
    expect_broken(changed, 8);
}

TEST_F(VerifyTest, AnotherSessionsChainIsNotThisOnes) {
    std::vector<std::string> changed = lines_;
    changed[0].replace(changed[0].find(test::kSession), 4, "ffff");
    expect_broken(changed, 1);
}

TEST_F(VerifyTest, HalfALineOfAFullDiskIsNoTampering) {
    std::vector<std::string> changed = lines_;
    changed.insert(changed.begin() + 2, lines_[2].substr(0, 30));
    put_lines(changed);
    EXPECT_EQ(check().outcome, Outcome::intact);
    EXPECT_EQ(check().damaged, 1U);
    changed = lines_;
    changed[2].resize(30);
    expect_broken(changed, 3);
}

TEST_F(VerifyTest, WithoutAChainNothingIsSaid) {
    put_lines({R"({"v":1,"time":"t","kind":"start"})", R"({"v":1,"time":"t","kind":"end"})"});
    EXPECT_EQ(check().outcome, Outcome::unchained);
}

class PartsTest : public test::RecordCase {
  protected:
    void make(bool says_so) {
        audit::Writer writer(appending(1), "supervisor", test::kSession, 0);
        writer.write(std::move(audit::Line("start").text("session", test::kSession)));
        for (unsigned part : {2U, 3U}) {
            writer.go_on(appending(part));
            for (int i = 0; i < 3; ++i) writer.write(audit::Line("mail"));
        }
        if (says_so)
            writer.write(std::move(audit::Line("journal").number("part", 2).text("reason", "dropped")));
        audit::Line end("end");
        end.begin_object("writers").end_object();
        writer.write(std::move(end));
    }
};

TEST_F(PartsTest, AChainGoesThroughAllParts) {
    make(false);
    EXPECT_EQ(audit::verify(path())->outcome, Outcome::intact);
}

TEST_F(PartsTest, APartMayBeMissingOnlyWhereTheRecordSaysSo) {
    make(true);
    std::filesystem::remove(path(2));
    base::Result<Verification> result = audit::verify(path());
    EXPECT_EQ(result->outcome, Outcome::intact) << to_text(*result);
    EXPECT_EQ(result->dropped_parts, 1U);
}

TEST_F(PartsTest, APartThatWasRemovedByHandIsMissed) {
    make(false);
    std::filesystem::remove(path(2));
    base::Result<Verification> result = audit::verify(path());
    EXPECT_EQ(result->outcome, Outcome::broken);
    EXPECT_NE(result->problem.find("part 2"), std::string::npos);
}

}  // namespace
