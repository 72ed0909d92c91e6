// SPDX-License-Identifier: MIT
#include "session/control/added_commands.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "base/process/descriptors.h"
#include "base/temporary_directory.h"
#include "session/control/session_directory.h"
#include "session/control_client.h"

namespace session {
namespace {

using inner::Report;
using inner::SignalRequest;

// The stage is replaced by a list of what it would receive.
class AddedCommandsTest : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(socket_.open(directory_.path(), "control", SOCK_SEQPACKET));
        ASSERT_EQ(::listen(socket_.get(), 128), 0);
        control_.open(socket_.get(), [](pid_t) { return true; });
        null_ = base::Fd(::open("/dev/null", O_RDWR | O_CLOEXEC));
        added_.emplace(AddedCommands::Parts{
            .plan = plan_,
            .control = control_,
            .record = record_,
            .may_pass =
                [](std::string_view name, std::string_view) {
                    return name == "GOOD" ? base::success()
                                          : base::Status(base::Error{.what = "no " + std::string(name)});
                },
            .send =
                [this](const SignalRequest& request, const std::vector<int>& descriptors) {
                    if (refusal_ != 0) return refusal_;
                    sent_.push_back(request);
                    passed_ = descriptors.size();
                    return 0;
                },
            .explain =
                [](const Report& report) {
                    return base::Error{.what = report.object, .exit_code = base::ExitCode::not_found};
                }});
        added_->open();
    }
    base::Fd connect() { return testing_support::connect_to_control(directory_.path()); }
    void serve() {
        struct pollfd watched = {control_.events(), POLLIN, 0};
        while (::poll(&watched, 1, 0) > 0) control_.take();
    }
    base::Fd ask(std::string_view request) { return ask(request, null_.get()); }
    base::Fd ask(std::string_view request, int output) {
        base::Fd socket = connect();
        const int descriptors[] = {null_.get(), output, null_.get()};
        EXPECT_EQ(base::send_with_descriptors(socket.get(), request, descriptors, 0), 0);
        serve();
        return socket;
    }
    static std::string hear(const base::Fd& socket) {
        char bytes[4096];
        ssize_t got = ::recv(socket.get(), bytes, sizeof bytes, MSG_DONTWAIT);
        return got > 0 ? std::string(bytes, static_cast<size_t>(got)) : got == 0 ? "closed" : "";
    }

    testing_support::TemporaryDirectory directory_;
    NamedSocket socket_;
    plan::Plan plan_;
    audit::Writer record_;
    Control control_;
    base::Fd null_;
    std::vector<SignalRequest> sent_;
    size_t passed_ = 0;
    int refusal_ = 0;
    std::optional<AddedCommands> added_;
};

constexpr std::string_view kTrue = R"({"do":"exec","command":["true"]})";

TEST_F(AddedCommandsTest, ACommandStartsGetsSignalsAndEnds) {
    base::Fd client = ask(kTrue);
    ASSERT_EQ(sent_.size(), 1u);
    EXPECT_EQ(sent_[0], (SignalRequest{.slot = 0, .starts = true}));
    EXPECT_EQ(passed_, inner::kAddedDescriptors);
    EXPECT_EQ(hear(client), "");
    added_->hear({.kind = Report::Kind::started, .number = 17, .slot = 0});
    EXPECT_EQ(hear(client), R"({"ok":true,"started":17})");
    EXPECT_EQ(added_->list().items().size(), 1u);
    ASSERT_GT(::send(client.get(), R"({"signal":2})", 12, 0), 0);
    serve();
    ASSERT_EQ(sent_.size(), 2u);
    EXPECT_EQ(sent_[1], (SignalRequest{.signal = SIGINT, .slot = 0}));
    ASSERT_GT(::send(client.get(), R"({"signal":15,"group":true})", 26, 0), 0);
    serve();
    ASSERT_EQ(sent_.size(), 3u);
    EXPECT_EQ(sent_[2], (SignalRequest{.signal = SIGTERM, .to_group = true, .slot = 0}));
    added_->hear({.kind = Report::Kind::ended, .number = 3, .slot = 0});
    EXPECT_EQ(hear(client), R"({"ok":true,"ended":{"status":3}})");
    EXPECT_EQ(hear(client), "closed");
    EXPECT_TRUE(added_->list().items().empty());
}

TEST_F(AddedCommandsTest, ACommandThatDoesNotStartFreesItsPlace) {
    base::Fd client = ask(kTrue);
    added_->hear({.kind = Report::Kind::failed, .number = ENOENT, .object = "why", .slot = 0});
    EXPECT_EQ(hear(client), R"({"ok":false,"error":"why","exit_code":127,"may_pass":false})");
    base::Fd next = ask(kTrue);
    EXPECT_EQ(sent_.back().slot, 0);
}

TEST_F(AddedCommandsTest, WrongRequestsAreRefusedAndReachNoStage) {
    base::Fd directory(::open("/", O_RDONLY | O_CLOEXEC));
    base::Fd file(::open((directory_.path() + "/file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    EXPECT_NE(hear(ask(kTrue, directory.get())).find("descriptor 1 is a directory"), std::string::npos);
    EXPECT_NE(hear(ask(kTrue, file.get())).find("descriptor 1 is not a pipe"), std::string::npos);
    for (std::string_view request :
         {R"({"do":"exec"})", R"({"do":"exec","command":[]})", R"({"do":"exec","command":[""]})",
          R"({"do":"exec","command":[1]})", R"({"do":"exec","command":["a\u0000b"]})",
          R"({"do":"exec","command":["a"],"cwd":"b\u0000"})",
          R"({"do":"exec","command":["a"],"environment":["BAD=1"]})",
          R"({"do":"exec","command":["a"],"environment":["GOOD"]})",
          R"({"do":"exec","command":["%"],"base64":true})"}) {
        EXPECT_NE(hear(ask(request)).find(R"("ok":false)"), std::string::npos) << request;
    }
    base::Fd alone = connect();
    ASSERT_GT(::send(alone.get(), kTrue.data(), kTrue.size(), 0), 0);
    serve();
    EXPECT_NE(hear(alone).find("has not the descriptors"), std::string::npos);
    EXPECT_TRUE(sent_.empty());
    base::Fd good = ask(R"({"do":"exec","command":["YQ=="],"environment":["R09PRD0x"],"base64":true})");
    EXPECT_EQ(sent_.size(), 1u);
}

TEST_F(AddedCommandsTest, AtMost64RunAtOnce) {
    std::vector<base::Fd> clients;
    for (int number = 0; number < inner::kMostAdded; ++number) clients.push_back(ask(kTrue));
    EXPECT_EQ(sent_.size(), 64u);
    EXPECT_NE(hear(ask(kTrue)).find("runs 64 added commands already"), std::string::npos);
    added_->hear({.kind = Report::Kind::ended, .slot = 40});
    base::Fd next = ask(kTrue);
    EXPECT_EQ(sent_.back(), (SignalRequest{.slot = 40, .starts = true}));
}

TEST_F(AddedCommandsTest, TheEndOfAClientEndsTheCommand) {
    base::Fd client = ask(kTrue);
    client.reset();
    serve();
    ASSERT_EQ(sent_.size(), 3u);
    EXPECT_EQ(sent_[1], (SignalRequest{.signal = SIGHUP, .to_group = true, .slot = 0}));
    EXPECT_EQ(sent_[2], (SignalRequest{.signal = SIGCONT, .to_group = true, .slot = 0}));
    // The timer is an event of the control socket.
    ASSERT_GT(base::await_events(control_.events(), POLLIN, std::chrono::seconds(60)), 0);
    serve();
    ASSERT_EQ(sent_.size(), 4u);
    EXPECT_EQ(sent_[3], (SignalRequest{.signal = SIGKILL, .to_group = true, .slot = 0}));
    added_->hear({.kind = Report::Kind::ended, .number = SIGKILL, .by_signal = true, .slot = 0});
    EXPECT_TRUE(added_->list().items().empty());
}

TEST_F(AddedCommandsTest, ACommandWhoseClientHasGoneDoesNotStart) {
    base::Fd client = connect();
    const int descriptors[] = {null_.get(), null_.get(), null_.get()};
    ASSERT_EQ(base::send_with_descriptors(client.get(), kTrue, descriptors, 0), 0);
    client.reset();
    serve();
    EXPECT_TRUE(sent_.empty());
}

TEST_F(AddedCommandsTest, OnlySomeSignalsPass) {
    base::Fd client = ask(kTrue);
    for (std::string_view text :
         {R"({"signal":17})", R"({"signal":0})", R"({"signal":-1})", R"({"signal":99})", R"({"signal":"2"})",
          "[]", "no json", R"({"do":"stop"})"}) {
        ASSERT_GT(::send(client.get(), text.data(), text.size(), 0), 0);
        serve();
    }
    EXPECT_EQ(sent_.size(), 1u);
}

TEST_F(AddedCommandsTest, TheEndOfTheSessionIsTold) {
    base::Fd client = ask(kTrue);
    EXPECT_EQ(added_->finish(), 1u);
    EXPECT_EQ(hear(client), R"({"ok":true,"ended":{"signal":9,"with_session":true}})");
    EXPECT_NE(hear(ask(kTrue)).find("has just ended"), std::string::npos);
    EXPECT_EQ(added_->finish(), 0u);
}

TEST_F(AddedCommandsTest, AStageThatTakesNothingIsARefusal) {
    refusal_ = EAGAIN;
    EXPECT_NE(hear(ask(kTrue)).find(R"("ok":false)"), std::string::npos);
    EXPECT_TRUE(added_->list().items().empty());
}

TEST_F(AddedCommandsTest, ReportsAboutNoCommandAreIgnored) {
    for (int slot : {-1, 0, 63, 64, 1000}) added_->hear({.kind = Report::Kind::ended, .slot = slot});
    EXPECT_TRUE(sent_.empty());
}

TEST_F(AddedCommandsTest, ATracedSessionRefuses) {
    plan_.trace.commands = true;
    EXPECT_NE(hear(ask(kTrue)).find("the session is traced"), std::string::npos);
}

}  // namespace
}  // namespace session
