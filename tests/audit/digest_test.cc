// SPDX-License-Identifier: MIT
#include "audit/digest.h"

#include <algorithm>

#include "audit/record_case.h"

namespace {

using audit::Digest;
using audit::DigestEntry;
using audit::Line;

class DigestTest : public test::RecordCase {
  protected:
    void SetUp() override {
        RecordCase::SetUp();
        writer_ = audit::Writer(appending(), "", "", 0);
        Line start("start");
        write(start.text("session", test::kSession).path("project", "/home/me/work"));
    }
    void write(Line& line) { writer_.write(std::move(line)); }
    void deny(std::string_view name, uint64_t port, std::string_view change = "") {
        Line line("connection");
        write(line.text("verdict", "deny").text("name", name).number("port", port).text("change", change));
    }
    void deny_file(std::string_view path, std::string_view change, std::string_view origin = "built-in") {
        Line line("file");
        line.text("verdict", "deny").path("path", path).text("access", "read").text("origin", origin);
        write(line.path("change", change));
    }
    Digest digest(const audit::NotNeeded& not_needed = {}) const {
        audit::Gathering gathering({.home = base::Path::known("/home/me"),
                                    .project = std::nullopt,
                                    .admin_directory = "/etc/agent-sandbox"});
        EXPECT_TRUE(gathering.add_record(path()));
        return std::move(gathering).finish(not_needed);
    }

    audit::Writer writer_;
};

TEST_F(DigestTest, GroupsByCauseAndPutsTheMostFrequentFirst) {
    deny("a.example", 443, "--allow-host a.example");
    for (int i = 0; i < 3; ++i) deny("b.example", 443, "--allow-host b.example");
    deny("b.example", 22);
    Line allowed("connection");
    write(allowed.text("verdict", "allow").text("name", "c.example").number("port", 443));
    Digest result = digest();
    ASSERT_EQ(result.entries.size(), 3U);
    EXPECT_EQ(result.entries[0].what, "b.example:443");
    EXPECT_EQ(result.entries[0].count, 3U);
    EXPECT_EQ(result.entries[0].change, "--allow-host b.example");
    EXPECT_EQ(result.total, 5U);
}

TEST_F(DigestTest, NamesTheHostThatWasRefusedLast) {
    EXPECT_EQ(audit::last_refused_host(digest()), "");
    for (int i = 0; i < 3; ++i) deny("often.example", 443);
    EXPECT_EQ(audit::last_refused_host(digest()), "often.example:443");
    Line late("lookup");
    late.text("verdict", "deny").text("name", "late\x1b.example");
    write(late);
    EXPECT_EQ(audit::last_refused_host(digest()), "late\\x1b.example");
}

TEST_F(DigestTest, ReportsThatFilesWereNotRecorded) {
    EXPECT_TRUE(digest().lacks_files);
    EXPECT_FALSE(*audit::to_json(digest(), {}).find("files_recorded")->as_truth());
}

TEST_F(DigestTest, HostsOfOneDomainAreNotMerged) {
    for (const char* name : {"a.example.org", "b.example.org", "c.example.org"}) deny(name, 443);
    for (const DigestEntry& entry : digest().entries) {
        EXPECT_EQ(entry.what.find('*'), std::string::npos);
        EXPECT_EQ(entry.count, 1U);
    }
    EXPECT_EQ(digest().entries.size(), 3U);
}

TEST_F(DigestTest, KnowsEveryKindOfRefusal) {
    Line call("syscall");
    write(call.text("verdict", "deny").text("name", "bpf").number("count", 7));
    Line mail("mail");
    write(mail.text("verdict", "deny").text("name", "sendmail"));
    Line socket("socket");
    write(socket.text("verdict", "deny").text("name", "@/tmp/.X11-unix/X0"));
    Line slurm("slurm");
    write(slurm.text("verdict", "deny").text("command", "sbatch").text("option", "--uid"));
    Line limit("limit");
    write(limit.text("name", "limits.memory"));
    Line datagrams("datagrams");
    write(datagrams.text("verdict", "deny").text("address", "2001:db8::1").number("port", 53));
    Line observed("lookup");
    write(observed.text("verdict", "observed").text("name", "x.example"));
    Digest result = digest();
    std::vector<std::string> seen;
    for (const DigestEntry& entry : result.entries) seen.push_back(entry.kind + " " + entry.what);
    EXPECT_EQ(seen.front(), "syscall bpf");
    for (const char* expected :
         {"mail sendmail", "socket @/tmp/.X11-unix/X0", "slurm sbatch --uid", "limit limits.memory",
          "network udp:[2001:db8::1]:53", "network x.example"}) {
        EXPECT_EQ(std::ranges::count(seen, expected), 1) << expected;
    }
    EXPECT_EQ(result.total, 13U);
}

TEST_F(DigestTest, NeverProposesHomeRootOrWhatIsAboveTheProject) {
    for (const char* wide :
         {"/", "/home", "/home/me", "/data", "/home/me/.ssh/id_ed25519", "/home/me/.netrc"}) {
        deny_file(wide, std::string("--ro ") + wide);
        deny_file(wide, std::string("--rw ") + wide);
        deny_file(wide, std::string("mounts.readonly = [\"") + wide + "\"]");
    }
    deny_file("/home/me/x", "--home write");
    deny_file("/home/me/x", "--network open");
    deny("x.example", 443, "--allow-host *");
    deny("y.example", 443, "network.allow = [\"*.example\"]");
    deny("z.example", 443, "network.allow = [\"0.0.0.0/0\"]");
    deny_file("/run/docker.sock", "--dangerous-socket /run/docker.sock");
    for (const DigestEntry& entry : digest().entries) EXPECT_EQ(entry.change, "") << entry.what;
}

// Threat: the agent chooses the paths that it requests, and so the proposals.
TEST_F(DigestTest, GroupsRequestsByEntryAndProposesThoseThatNoEntryPermits) {
    auto refuse = [&](std::string_view path, std::string_view rule, const std::string& change) {
        Line line("request");
        line.text("verdict", "deny").text("name", "a.example").text("method", "POST").path("path", path);
        write(line.text("rule", rule).text("change", change));
    };
    refuse("/x", "", "agent-sandbox allow 'POST a.example/x'");
    refuse("/y/1", "POST a.example/y/**", "agent-sandbox allow 'POST a.example/y/1'");
    refuse("/y/2", "POST a.example/y/**", "agent-sandbox allow 'POST a.example/y/2'");
    refuse("/*", "", "agent-sandbox allow 'POST a.example/*'");
    refuse("/git", "", "agent-sandbox allow 'push a.example/me/app refs/heads/x'");
    refuse("/odd", "", "agent-sandbox allow 'POST'");
    Digest result = digest();
    auto change_of = [&](std::string_view what) {
        auto found = std::ranges::find(result.entries, what, &DigestEntry::what);
        return found == result.entries.end() ? std::string("missing") : found->change;
    };
    ASSERT_EQ(result.entries.size(), 5U);
    EXPECT_EQ(result.entries[0].what, "POST a.example/y/**");
    EXPECT_EQ(result.entries[0].count, 2U);
    EXPECT_EQ(result.entries[0].change, "") << "an entry that refuses is on purpose";
    EXPECT_EQ(change_of("POST a.example/x"), "agent-sandbox allow 'POST a.example/x'");
    EXPECT_EQ(change_of("POST a.example/*"), "") << "a pattern opens more than was asked for";
    std::optional<audit::Proposal> push = audit::proposal_in(change_of("POST a.example/git"));
    ASSERT_TRUE(push);
    EXPECT_EQ(push->setting->key, "requests.git");
    EXPECT_EQ(push->value, "push a.example/me/app refs/heads/x");
    EXPECT_EQ(audit::proposal_in("agent-sandbox allow 'POST a.example/x'")->setting->key, "requests.allow");
    EXPECT_FALSE(audit::proposal_in("agent-sandbox allow example.org"));
}

TEST_F(DigestTest, NeverProposesAgainstTheAdministrator) {
    deny_file("/data/set", "--ro /data/set", "/etc/agent-sandbox/config.toml:4");
    deny_file("/data/other", "--ro /data/other", "/home/me/.config/agent-sandbox/config.toml:4");
    Digest result = digest();
    for (const DigestEntry& entry : result.entries) {
        EXPECT_EQ(entry.change, entry.what == "/data/set" ? "" : "--ro /data/other");
    }
}

TEST_F(DigestTest, AMillionNamesTakeNoMoreThanAThousand) {
    deny_file("/data/set", "--ro /data/set");
    for (int i = 0; i < 20'000; ++i) deny("n" + std::to_string(i) + ".example", 443);
    deny_file("/data/late", "--ro /data/late");
    Digest result = digest();
    EXPECT_LE(result.entries.size(), 1000U);
    EXPECT_EQ(result.total, 20'002U);
    uint64_t kept = 0;
    bool has_late = false;
    for (const DigestEntry& entry : result.entries) {
        kept += entry.count;
        has_late = has_late || entry.what == "/data/late";
    }
    EXPECT_EQ(kept + result.beyond, result.total);
    EXPECT_TRUE(has_late);
}

TEST_F(DigestTest, LinesAreFewAndPrintable) {
    for (int i = 0; i < 40; ++i) deny("n" + std::to_string(i) + "\x1b]0;x\x07\n.example", 443);
    std::vector<std::string> lines = audit::to_lines(digest(), 10);
    EXPECT_EQ(lines.size(), 11U);
    for (const std::string& line : lines) {
        for (char letter : line) EXPECT_GE(letter, 0x20) << line;
    }
    EXPECT_EQ(lines.back(), "30 more refusals");
    for (char letter : audit::to_json(digest(), {}).dump(-1)) EXPECT_GE(letter, 0x20);
}

TEST_F(DigestTest, WhatIsNotNeededIsLeftOutAndCounted) {
    deny("telemetry.example", 443);
    deny("telemetry.example", 80);
    deny("needed.example", 443);
    std::string file = directory_ + "/not-needed";
    audit::NotNeeded marks;
    EXPECT_TRUE(marks.add("/home/me/work", "", "telemetry.example"));
    EXPECT_FALSE(marks.add("/home/me/work", "", "telemetry.example"));
    EXPECT_TRUE(marks.add("/home/me/other", "", "needed.example:443"));
    ASSERT_TRUE(marks.write(file));
    base::Result<audit::NotNeeded> read = audit::NotNeeded::read(file);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->size(), 2U);
    Digest result = digest(*read);
    ASSERT_EQ(result.entries.size(), 1U);
    EXPECT_EQ(result.entries[0].what, "needed.example:443");
    EXPECT_EQ(result.not_needed, 2U);
    EXPECT_EQ(audit::to_lines(result, 10).back(), "2 more are marked as not needed");
    EXPECT_TRUE(read->remove("/home/me/work", "telemetry.example"));
    EXPECT_EQ(digest(*read).entries.size(), 3U);
}

TEST_F(DigestTest, ASpoiledListOfMarksCostsItsSpoiledLinesAlone) {
    std::string file = directory_ + "/not-needed";
    put(file, "garbage\n{\"what\":1}\n[]\n{\"project\":\"/p\",\"what\":\"x\"}\n");
    EXPECT_EQ(audit::NotNeeded::read(file)->size(), 1U);
    EXPECT_EQ(audit::NotNeeded::read(directory_ + "/absent")->size(), 0U);
}

}  // namespace
