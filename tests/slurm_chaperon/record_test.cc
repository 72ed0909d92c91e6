// SPDX-License-Identifier: MIT
#include "slurm/chaperon/log.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/encoding/json.h"
#include "base/text.h"

namespace {

using slurm::chaperon::hand_on;
using slurm::chaperon::write_notes;

class SlurmRecord : public testing::Test {
  protected:
    void SetUp() override {
        int ends[2];
        ASSERT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends), 0);
        notes_ = base::Fd(ends[0]);
        server_ = base::Fd(ends[1]);
        file_ = base::Fd(::memfd_create("record", MFD_CLOEXEC));
        record_ = audit::Writer(base::Fd(::dup(file_.get())), "slurm", "seed", 0);
    }
    std::vector<base::Json> written() {
        write_notes(notes_.get(), record_);
        ::lseek(file_.get(), 0, SEEK_SET);
        base::Result<std::string> text = base::read_descriptor(file_.get());
        std::vector<base::Json> lines;
        for (std::string_view line : base::split(*text, '\n')) {
            if (line.empty()) continue;
            base::Result<base::Json> json = base::Json::parse(line);
            EXPECT_TRUE(json);
            if (json) lines.push_back(*json);
        }
        return lines;
    }

    base::Fd notes_, server_, file_;
    audit::Writer record_;
};

TEST_F(SlurmRecord, HasRefusalsAndSubmissions) {
    hand_on(server_.get(), "sbatch", "denied",
            {{"code", "slurm-identity"}, {"what", "--uid: jobs run as yourself"}});
    hand_on(server_.get(), "sbatch", "submitted", {{"job", "17"}, {"name", "x"}});
    hand_on(server_.get(), "sbatch", "something else", {});
    std::vector<base::Json> lines = written();
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[0].text("kind"), "slurm");
    EXPECT_EQ(lines[0].text("verdict"), "deny");
    EXPECT_EQ(lines[0].text("command"), "sbatch");
    EXPECT_EQ(lines[0].text("option"), "--uid");
    EXPECT_EQ(lines[0].text("reason"), "--uid: jobs run as yourself [slurm-identity]");
    EXPECT_EQ(lines[0].text("writer"), "slurm");
    EXPECT_EQ(lines[1].text("verdict"), "allow");
    EXPECT_EQ(lines[1].text("reason"), "job 17");
    EXPECT_EQ(lines[1].number("line"), 2);
}

TEST_F(SlurmRecord, WhatTheJailSaidStaysText) {
    std::string hostile = std::string("a\nb\"}{\"kind\":\"end\"\0allow", 23) + std::string(9000, 'x');
    hand_on(server_.get(), hostile, "denied", {{"what", "-" + hostile}});
    std::vector<base::Json> lines = written();
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(lines[0].text("kind"), "slurm");
    EXPECT_EQ(lines[0].text("verdict"), "deny");
}

TEST_F(SlurmRecord, ANoteOfAnotherFormIsPassedOver) {
    for (std::string note : {std::string(), std::string("deny"), std::string("observed\0a\0b\0c\0", 15),
                             std::string(100'000, 'x'), std::string("deny\0a\0b\0c\0d\0", 14)}) {
        ::send(server_.get(), note.data(), note.size(), MSG_DONTWAIT);
    }
    hand_on(server_.get(), "srun", "step", {{"job", "1"}});
    std::vector<base::Json> lines = written();
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(lines[0].text("command"), "srun");
}

}  // namespace
