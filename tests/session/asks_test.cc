// SPDX-License-Identifier: MIT
// The questions of a jail, as the supervisor keeps them (session/asks/asks.h). The examination runs in a
// forked process, as in a session.
#include "session/asks/asks.h"
#include "session/asks/questions.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/process/descriptors.h"

namespace session {
namespace {

constexpr std::chrono::seconds kPatience{60};

class AsksTest : public testing::Test {
  protected:
    void SetUp() override {
        listener_ = base::Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        struct sockaddr address = {.sa_family = AF_UNIX, .sa_data = {}};
        ASSERT_EQ(::bind(listener_.get(), &address, sizeof address.sa_family), 0);
        ASSERT_EQ(::listen(listener_.get(), 1), 0);
        control_.open(listener_.get(), [](pid_t) { return true; });
    }

    struct Client {
        base::Fd socket;
        std::optional<AskAnswer> answer() const {
            char bytes[4096];
            ssize_t got = ::recv(socket.get(), bytes, sizeof bytes, MSG_DONTWAIT);
            if (got <= 0) return std::nullopt;
            return decode_answer({bytes, static_cast<size_t>(got)});
        }
    };
    static std::pair<Client, base::Fd> make_pair(int type = SOCK_SEQPACKET) {
        int ends[2];
        EXPECT_EQ(::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends), 0);
        return {Client{base::Fd(ends[0])}, base::Fd(ends[1])};
    }
    // Sends the question and waits for its examination.
    Client ask(const std::string& name, Ask::Kind kind = Ask::Kind::path) {
        auto [client, theirs] = make_pair();
        asks_.take(encode(Ask{kind, name, "why"}), std::move(theirs));
        while (base::ready_events(client.socket.get(), POLLIN) == 0) {
            if (base::await_events(control_.events(), POLLIN, kPatience) == 0) break;
            control_.take();
        }
        return std::move(client);
    }
    base::Json answer(bool is_approved, int64_t id) {
        std::optional<base::Json> reply;
        auto on_reply = [&](const base::Json& one) { reply = one; };
        is_approved ? asks_.approve(id, on_reply) : asks_.deny(id, "no\x1b", on_reply);
        while (!reply && base::await_events(control_.events(), POLLIN, kPatience) != 0) control_.take();
        return reply.value_or(base::Json());
    }

    static Examined examine(const Ask& ask) {
        if (ask.name == "/open") return {.verdict = Examined::Verdict::open, .text = "it is open"};
        if (ask.name == "/protected") return {.verdict = Examined::Verdict::refused, .text = "protected"};
        if (ask.name == "/dies") ::_exit(1);
        return {.verdict = Examined::Verdict::ask,
                .text = {},
                .name = ask.name == "/link" ? "/target" : ask.name,
                .identity = "1:2",
                .note = ""};
    }
    static base::Result<std::string> store(const Ask& ask, const std::string& identity) {
        if (ask.name == "/changed") return base::Error{.what = "it has changed"};
        return ask.name + " with " + identity;
    }

    base::Fd listener_;
    Control control_;
    audit::Writer record_{base::Fd(), "", "", 0};
    std::vector<std::string> opened_, told_;
    Asks asks_{{.control = control_,
                .record = record_,
                .rules = {.examine = examine, .store = store},
                .open_host =
                    [this](std::string target, const Asks::OnOpened& on_opened) {
                        opened_.push_back(std::move(target));
                        on_opened(base::success());
                    },
                .notify = [this](std::string_view text) { told_.emplace_back(text); }}};
};

TEST_F(AsksTest, AnApprovalStoresWhatTheUserHasSeen) {
    Client client = ask("/link");
    EXPECT_EQ(client.answer(), (AskAnswer{AskAnswer::Kind::filed, "100001"}));
    base::Json::Array pending = asks_.pending();
    ASSERT_EQ(pending.size(), 1u);
    EXPECT_EQ(pending[0].text("name"), "/target");
    EXPECT_EQ(pending[0].text("because"), "why");
    EXPECT_EQ(told_, std::vector<std::string>{"the agent asks for path /target"});
    EXPECT_EQ(answer(true, 100'001).text("note"), "/target with 1:2");
    EXPECT_EQ(client.answer()->kind, AskAnswer::Kind::yes);
    EXPECT_TRUE(asks_.pending().empty());
    EXPECT_EQ(ask("/link").answer()->kind, AskAnswer::Kind::yes) << "the answer stays";
    EXPECT_FALSE(answer(true, 100'001).truth("ok")) << "a question is answered once";
}

TEST_F(AsksTest, AHostIsOpenedAndNothingStored) {
    Client client = ask("example.org:443", Ask::Kind::host);
    EXPECT_EQ(asks_.pending()[0].text("name"), "example.org");
    EXPECT_EQ(asks_.pending()[0].number("port"), 443);
    EXPECT_TRUE(answer(true, 100'001).truth("ok"));
    EXPECT_EQ(opened_, std::vector<std::string>{"example.org:443"});
}

TEST_F(AsksTest, ADenialReachesTheAgentAsPlainText) {
    Client client = ask("/data");
    (void)client.answer();
    EXPECT_TRUE(answer(false, 100'001).truth("ok"));
    EXPECT_EQ(client.answer(), (AskAnswer{AskAnswer::Kind::no, "the user denied it: no\\x1b"}));
    EXPECT_EQ(ask("/data").answer()->kind, AskAnswer::Kind::no) << "it does not ask the user again";
    EXPECT_TRUE(asks_.pending().empty());
}

TEST_F(AsksTest, WhatCantBeStoredWaitsFurther) {
    Client client = ask("/changed");
    EXPECT_FALSE(answer(true, 100'001).truth("ok"));
    EXPECT_EQ(asks_.pending().size(), 1u);
}

TEST_F(AsksTest, AnExaminationAnswersWithoutTheUser) {
    EXPECT_EQ(ask("/open").answer(), (AskAnswer{AskAnswer::Kind::yes, "it is open"}));
    EXPECT_EQ(ask("/protected").answer(), (AskAnswer{AskAnswer::Kind::no, "protected"}));
    EXPECT_EQ(ask("/dies").answer()->kind, AskAnswer::Kind::no);
    EXPECT_TRUE(asks_.pending().empty());
    EXPECT_TRUE(told_.empty());
}

// Threat: a flood fills the user's list or the processor.
TEST_F(AsksTest, AFloodIsBounded) {
    std::vector<Client> clients;
    for (size_t i = 0; i < Asks::kMostWaiting; ++i) clients.push_back(ask("/data/" + std::to_string(i)));
    EXPECT_EQ(asks_.pending().size(), Asks::kMostWaiting);
    EXPECT_EQ(ask("/one/more").answer()->kind, AskAnswer::Kind::no);
    for (int i = 0; i < 100; ++i) (void)ask("/data/0");
    EXPECT_EQ(asks_.pending().size(), Asks::kMostWaiting);
    EXPECT_EQ(told_.size(), Asks::kMostWaiting);
    for (int64_t id = 0; id < int64_t{Asks::kMostWaiting}; ++id) answer(false, Asks::kFirstId + id);
    for (size_t i = 0; i < Asks::kMostAsks; ++i)
        (void)ask("/protected" + std::to_string(i % 2 ? 0 : i) + "/" + std::to_string(i));
    EXPECT_LE(asks_.pending().size(), Asks::kMostWaiting);
}

// Threat: the supervisor writes to, or waits for, what the jail passed.
TEST_F(AsksTest, OnlyASocketWithMessageBoundariesIsAClient) {
    auto [client, theirs] = make_pair(SOCK_STREAM);
    asks_.take(encode(Ask{Ask::Kind::path, "/data", "why"}), std::move(theirs));
    asks_.take(encode(Ask{Ask::Kind::path, "/data", "why"}), base::Fd(::open("/dev/null", O_RDWR)));
    asks_.take(encode(Ask{Ask::Kind::path, "/data", "why"}), base::Fd());
    EXPECT_EQ(base::ready_events(control_.events(), POLLIN), 0) << "nothing is examined";
    EXPECT_TRUE(asks_.pending().empty());
    // A client that never reads: the answers are dropped.
    auto [silent, its] = make_pair();
    int small = 1;
    ::setsockopt(its.get(), SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    while (::send(its.get(), "x", 1, MSG_DONTWAIT) > 0) continue;
    asks_.take(encode(Ask{Ask::Kind::path, "/open", "why"}), std::move(its));
    EXPECT_EQ(ask("/open").answer()->kind, AskAnswer::Kind::yes);
}

// Threat: the numbers of one part reach those of another.
TEST_F(AsksTest, EachPartHasItsOwnNumbers) {
    EXPECT_EQ(asker_of(-1), Asker::gateway);
    EXPECT_EQ(asker_of(100'000), Asker::gateway);
    EXPECT_EQ(asker_of(100'001), Asker::command);
    EXPECT_EQ(asker_of(1'000'000), Asker::command);
    EXPECT_EQ(asker_of(1'000'001), Asker::ssh_agent);
}

}  // namespace
}  // namespace session
