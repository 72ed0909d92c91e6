// SPDX-License-Identifier: MIT
#include "session/control/control.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "base/process/descriptors.h"
#include "base/temporary_directory.h"
#include "session/control/session_directory.h"
#include "session/control_client.h"

namespace session {
namespace {

class ControlTest : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(socket_.open(directory_.path(), "control", SOCK_SEQPACKET));
        ASSERT_EQ(::listen(socket_.get(), 4), 0);
        control_.open(socket_.get(), [this](pid_t) { return is_outside_; });
        control_.handle("greet", [](const base::Json& request, const Control::Reply& reply) {
            reply(base::Json::object().set("ok", true).set("name", request.text("name")));
        });
        control_.handle("wait", [this](const base::Json&, const Control::Reply& reply) { later_ = reply; });
    }
    base::Fd connect() const { return testing_support::connect_to_control(directory_.path()); }
    // Handles everything that has arrived.
    void serve() {
        struct pollfd watched = {control_.events(), POLLIN, 0};
        while (::poll(&watched, 1, 0) > 0) control_.take();
    }
    std::string ask(const base::Fd& socket, std::string_view text) {
        EXPECT_EQ(::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(text.size()));
        serve();
        return hear(socket);
    }
    static std::string hear(const base::Fd& socket) {
        char bytes[4096];
        ssize_t got = ::recv(socket.get(), bytes, sizeof bytes, MSG_DONTWAIT);
        return got > 0 ? std::string(bytes, static_cast<size_t>(got)) : "";
    }

    testing_support::TemporaryDirectory directory_;
    NamedSocket socket_;
    Control control_;
    Control::Reply later_;
    bool is_outside_ = true;
};

TEST_F(ControlTest, AnswersEachRequest) {
    base::Fd socket = connect();
    serve();
    EXPECT_EQ(ask(socket, R"({"do":"greet","name":"a"})"), R"({"ok":true,"name":"a"})");
    EXPECT_EQ(ask(socket, R"({"do":"greet","name":"b"})"), R"({"ok":true,"name":"b"})");
}

TEST_F(ControlTest, GivesAVisitorAwayWithItsDescriptors) {
    Control::Visitor visitor;
    control_.handle_visits("stay",
                           [&](const base::Json&, Control::Visitor one) { visitor = std::move(one); });
    base::Fd socket = connect();
    serve();
    const int passed[] = {0, 1};
    ASSERT_EQ(base::send_with_descriptors(socket.get(), R"({"do":"stay"})", passed, 0), 0);
    serve();
    ASSERT_TRUE(visitor.connection);
    EXPECT_EQ(visitor.descriptors.size(), 2u);
    control_.close();
    ASSERT_EQ(::send(visitor.connection.get(), "later", 5, MSG_NOSIGNAL), 5) << "it is the visitor's own";
    EXPECT_EQ(hear(socket), "later");
}

TEST_F(ControlTest, ClosesDescriptorsThatNoRequestTakes) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    base::Fd reader(ends[0]), writer(ends[1]);
    base::Fd socket = connect();
    serve();
    const int passed[] = {writer.get()};
    ASSERT_EQ(base::send_with_descriptors(socket.get(), R"({"do":"greet","name":"a"})", passed, 0), 0);
    writer.reset();
    serve();
    EXPECT_EQ(hear(socket), R"({"ok":true,"name":"a"})");
    char byte = 0;
    EXPECT_EQ(::read(reader.get(), &byte, 1), 0) << "no process has the other end";
}

TEST_F(ControlTest, SaysWhatItDoesNotUnderstand) {
    base::Fd socket = connect();
    serve();
    for (const char* text : {"no json", "[]", R"({"do":"dance\u001b"})", "{}"}) {
        std::string reply = ask(socket, text);
        EXPECT_NE(reply.find("\"ok\":false"), std::string::npos) << text;
        EXPECT_EQ(reply.find('\x1b'), std::string::npos);
    }
    EXPECT_NE(ask(socket, std::string(70'000, 'x')).find("too long"), std::string::npos);
    EXPECT_NE(ask(socket, R"({"do":"greet"})").find("true"), std::string::npos) << "goes on after it";
}

TEST_F(ControlTest, AnswersLaterAndNobodyWhoHasLeft) {
    base::Fd socket = connect();
    serve();
    EXPECT_EQ(ask(socket, R"({"do":"wait"})"), "");
    later_(base::Json::object().set("ok", true));
    EXPECT_EQ(hear(socket), R"({"ok":true})");
    ask(socket, R"({"do":"wait"})");
    socket.reset();
    serve();
    later_(base::Json::object().set("ok", true));
}

TEST_F(ControlTest, HearsNobodyFromInside) {
    is_outside_ = false;
    base::Fd socket = connect();
    serve();
    char bytes[1024] = {};
    ASSERT_GT(::recv(socket.get(), bytes, sizeof bytes - 1, MSG_DONTWAIT), 0);
    EXPECT_NE(std::string_view(bytes).find("may be in the jail"), std::string_view::npos) << bytes;
    EXPECT_EQ(::recv(socket.get(), bytes, sizeof bytes, MSG_DONTWAIT), 0) << "closed";
}

TEST_F(ControlTest, WatchesForOthers) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    base::Fd reader(ends[0]), writer(ends[1]);
    int calls = 0;
    control_.watch(reader.get(), [&] {
        ++calls;
        control_.forget(reader.get());
    });
    serve();
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(::write(writer.get(), "x", 1), 1);
    serve();
    EXPECT_EQ(calls, 1);
}

TEST_F(ControlTest, NobodyKeepsOthersOutByStaying) {
    std::vector<base::Fd> idle;
    for (int i = 0; i < 100; ++i) {
        idle.push_back(connect());
        serve();
    }
    EXPECT_NE(ask(idle.back(), R"({"do":"greet"})"), "");
}

TEST(OutsideOfJail, IsWhoDoesNotDescendFromItsFirstProcess) {
    EXPECT_TRUE(is_outside_of_jail(::getpid(), -1));
    EXPECT_TRUE(is_outside_of_jail(::getpid(), std::nullopt)) << "the jail has a pid namespace of its own";
    EXPECT_FALSE(is_outside_of_jail(0, std::nullopt));
    EXPECT_FALSE(is_outside_of_jail(::getpid(), ::getpid()));
    EXPECT_FALSE(is_outside_of_jail(::getpid(), ::getppid()));
    EXPECT_FALSE(is_outside_of_jail(0, -1)) << "of a namespace that is not below ours";
    pid_t child = ::fork();
    if (child == 0) {
        ::pause();
        ::_exit(0);
    }
    EXPECT_FALSE(is_outside_of_jail(child, ::getpid()));
    EXPECT_TRUE(is_outside_of_jail(child, 0x7ffffffe));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace session
