// SPDX-License-Identifier: MIT
#include "audit/verify.h"

#include <algorithm>

#include "audit/record_case.h"

namespace {

using audit::Verification;
using Outcome = Verification::Outcome;

class VerifyTest : public test::RecordCase {
  protected:
    // Two writers write alternately; the supervisor writes the first and the last line.
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

TEST_F(VerifyTest, TheTextClaimsNoMoreThanTheChainShows) {
    Verification result = check();
    std::string text = to_text(result);
    EXPECT_NE(text.find("the last line is vouched for by the head alone"), std::string::npos) << text;
    EXPECT_NE(text.find("head of supervisor: 5 lines " + result.heads.at("supervisor").hash),
              std::string::npos)
        << text;
    EXPECT_TRUE(holds(result));
    // The reason: a change of the last line changes only the head, and the chain stays intact.
    std::vector<std::string> changed = lines_;
    size_t digit = changed.back().find("\"time\":\"") + 8;
    changed.back()[digit] = changed.back()[digit] == '2' ? '3' : '2';
    put_lines(changed);
    EXPECT_EQ(check().outcome, Outcome::intact);
    EXPECT_NE(check().heads.at("supervisor").hash, result.heads.at("supervisor").hash);
}

// Any process that has the session's id can write a chain of its own.
TEST_F(VerifyTest, AWriterThatTheEndDoesNotNameIsNoticed) {
    auto forged = [&](const std::string& name, size_t at) {
        std::filesystem::remove(path(9));
        audit::Writer writer(appending(9), name, test::kSession, 0);
        writer.write(std::move(audit::Line("lookup").text("name", "forged")));
        std::vector<std::string> changed = lines_;
        changed.insert(changed.begin() + static_cast<ptrdiff_t>(at), lines(9).front());
        std::filesystem::remove(path(9));
        return changed;
    };
    expect_broken(forged("evil", 3), 9);
    expect_broken(forged("tracer", 3), 9);
    expect_broken(forged("evil", 8), 9);
    for (size_t at : {3U, 8U}) {
        put_lines(forged("slurm", at));
        EXPECT_EQ(check().outcome, Outcome::intact);
        EXPECT_EQ(check().unnamed, std::vector<std::string>{"slurm"});
    }
}

// The commands that apply a layer run after the session, one process after the other.
TEST_F(VerifyTest, ChainsOfLaterProcessesContinueAfterTheEnd) {
    for (uint64_t count : {0U, 1U, 2U}) {
        audit::LastLine last = audit::last_line_of(path(), audit::kLayersWriter).value();
        EXPECT_EQ(last.file, path());
        EXPECT_EQ(last.head.lines, count);
        audit::Writer writer(appending(), audit::kLayersWriter, last.head);
        writer.write(std::move(audit::Line("layer").text("action", "apply")));
        EXPECT_EQ(check().outcome, Outcome::intact);
        EXPECT_EQ(check().unnamed, std::vector<std::string>{"layers"});
    }
    std::vector<std::string> changed = lines();
    changed.erase(changed.end() - 2);
    put_lines(changed);
    EXPECT_EQ(check().outcome, Outcome::broken);
}

TEST_F(VerifyTest, OnlyTheSupervisorStartsAndEnds) {
    std::filesystem::remove(path());
    audit::Writer writer(appending(), "evil", test::kSession, 0);
    writer.write(std::move(audit::Line("start").text("session", test::kSession)));
    EXPECT_EQ(check().outcome, Outcome::broken);
    std::vector<std::string> changed(lines_.begin(), lines_.end() - 1);
    std::filesystem::remove(path());
    put_lines(changed);
    audit::Writer ending(appending(), "evil", test::kSession, 0);
    audit::Line end("end");
    end.begin_object("writers").end_object();
    ending.write(std::move(end));
    EXPECT_EQ(check().outcome, Outcome::broken);
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
    Verification result = check();
    EXPECT_NE(to_text(result).find("unfinished: the session was killed, or the end was cut off"),
              std::string::npos);
    EXPECT_FALSE(holds(result));
    result.is_running = true;
    EXPECT_NE(to_text(result).find("unfinished: the session still runs"), std::string::npos);
    EXPECT_TRUE(holds(result));
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

class RecordPartsTest : public test::RecordCase {
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

TEST_F(RecordPartsTest, AChainGoesThroughAllParts) {
    make(false);
    EXPECT_EQ(audit::verify(path())->outcome, Outcome::intact);
}

TEST_F(RecordPartsTest, APartMayBeMissingOnlyWhereTheRecordSaysSo) {
    make(true);
    std::filesystem::remove(path(2));
    base::Result<Verification> result = audit::verify(path());
    EXPECT_EQ(result->outcome, Outcome::intact) << to_text(*result);
    EXPECT_EQ(result->dropped_parts, 1U);
}

TEST_F(RecordPartsTest, APartThatWasRemovedByHandIsMissed) {
    make(false);
    std::filesystem::remove(path(2));
    base::Result<Verification> result = audit::verify(path());
    EXPECT_EQ(result->outcome, Outcome::broken);
    EXPECT_NE(result->problem.find("part 2"), std::string::npos);
}

// A record as a session with many parts leaves it: the lines that name dropped parts were dropped too, except
// the last one.
class RotatedTest : public test::RecordCase {
  protected:
    void make(unsigned parts, bool has_range) {
        audit::Writer writer(appending(1), "supervisor", test::kSession, 0);
        audit::Writer gateway(appending(1), "gateway", test::kSession, 0);
        writer.write(std::move(audit::Line("start").text("session", test::kSession)));
        gateway.write(audit::Line("lookup"));
        for (unsigned part = 2; part <= parts; ++part) {
            writer.go_on(appending(part));
            gateway.go_on(appending(part));
            if (part > 4) {
                unsigned dropped = part - 3;
                std::filesystem::remove(path(dropped));
                audit::Line line("journal");
                if (has_range) line.number("from", 2);
                writer.write(std::move(line.number("part", dropped).text("reason", "dropped")));
            }
            writer.write(audit::Line("mail"));
            if (part == 2) gateway.write(audit::Line("lookup"));
        }
        audit::Line end("end");
        end.begin_object("writers").begin_object("gateway");
        end.number("lines", gateway.head().lines).text("hash", gateway.head().hash).end_object().end_object();
        writer.write(std::move(end));
    }
};

TEST_F(RotatedTest, IsIntactThoughTheLinesAboutDroppedPartsWereDropped) {
    make(100, true);
    base::Result<Verification> result = audit::verify(path());
    EXPECT_EQ(result->outcome, Outcome::intact) << to_text(*result);
    EXPECT_EQ(result->dropped_parts, 96U);
    EXPECT_EQ(result->unnamed, std::vector<std::string>{"gateway"});
}

TEST_F(RotatedTest, ARecordOfTheOldFormIsReadAsFarAsItGoes) {
    make(6, false);
    EXPECT_EQ(audit::verify(path())->outcome, Outcome::intact);
}

TEST_F(RotatedTest, APartBehindTheRangeIsMissed) {
    make(100, true);
    std::filesystem::remove(path(98));
    base::Result<Verification> result = audit::verify(path());
    EXPECT_EQ(result->outcome, Outcome::broken);
    EXPECT_NE(result->problem.find("part 98"), std::string::npos) << to_text(*result);
}

TEST_F(RotatedTest, OnlyTheSupervisorSaysWhatWasDropped) {
    audit::Writer writer(appending(1), "supervisor", test::kSession, 0);
    writer.write(std::move(audit::Line("start").text("session", test::kSession)));
    audit::Writer slurm(appending(3), "slurm", test::kSession, 0);
    slurm.write(std::move(audit::Line("journal").number("from", 2).number("part", 2)));
    EXPECT_EQ(audit::verify(path())->outcome, Outcome::broken);
}

}  // namespace
