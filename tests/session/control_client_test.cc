// SPDX-License-Identifier: MIT
// The client against a server that the test controls; it also does what a real server never does.
#include "session/control/known_sessions.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <functional>
#include <thread>

#include "base/temporary_directory.h"
#include "session/control/session_directory.h"

namespace session {
namespace {

using base::Json;
using std::chrono::milliseconds;

class Server {
  public:
    // `serve` gets the connection and the request.
    Server(const std::string& directory, std::function<void(int, const std::string&)> serve) {
        EXPECT_TRUE(socket_.open(directory, "control", SOCK_SEQPACKET));
        EXPECT_EQ(::listen(socket_.get(), 4), 0);
        thread_ = std::thread([this, serve = std::move(serve)] {
            struct pollfd event = {.fd = socket_.get(), .events = POLLIN, .revents = 0};
            if (::poll(&event, 1, 60'000) <= 0) return;
            base::Fd connection(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
            std::string request(kLargestControlMessage, '\0');
            ssize_t got = ::recv(connection.get(), request.data(), request.size(), 0);
            request.resize(got > 0 ? static_cast<size_t>(got) : 0);
            serve(connection.get(), request);
        });
    }
    ~Server() { thread_.join(); }

  private:
    NamedSocket socket_;
    std::thread thread_;
};

void say(int connection, std::string_view text) {
    (void)!::send(connection, text.data(), text.size(), MSG_NOSIGNAL);
}

class ControlClient : public testing::Test {
  protected:
    Known known() const {
        return {.id = std::string(32, 'a'), .directory = place.path(), .metadata = Json::object()};
    }
    base::Result<Json> ask(milliseconds patience = milliseconds(60'000)) const {
        return ask_session(known(), Json::object().set("do", "status"), patience);
    }
    base::Result<Json> ask_one_that_says(std::string_view text) const {
        Server server(place.path(), [&](int connection, const std::string&) { say(connection, text); });
        return ask();
    }

    testing_support::TemporaryDirectory place;
};

TEST_F(ControlClient, GetsTheReply) {
    std::string heard;
    base::Result<Json> reply = [&] {
        Server server(place.path(), [&](int connection, const std::string& request) {
            heard = request;
            say(connection, R"({"ok":true,"refused":3})");
        });
        return ask();
    }();
    ASSERT_TRUE(reply.ok()) << reply.error().line();
    EXPECT_EQ(reply->number("refused"), 3);
    EXPECT_EQ(heard, R"({"do":"status"})");
}

TEST_F(ControlClient, ReachesASocketBehindALongPath) {
    std::string deep = place.path();
    for (int level = 0; level < 4; ++level) deep += "/" + std::string(60, 'x');
    Server server(deep, [](int connection, const std::string&) { say(connection, R"({"ok":true})"); });
    Known one = known();
    one.directory = deep;
    base::Result<Json> reply = ask_session(one, Json::object());
    EXPECT_TRUE(reply.ok()) << (reply ? "" : reply.error().line());
}

TEST_F(ControlClient, ARefusalIsAnErrorInTheWordsOfTheSession) {
    base::Result<Json> reply =
        ask_one_that_says(R"({"ok":false,"error":"no such question","advice":"look"})");
    ASSERT_FALSE(reply.ok());
    EXPECT_EQ(reply.error().line(), "no such question; look");
    EXPECT_EQ(reply.error().exit_code, base::ExitCode::check_failed);
}

TEST_F(ControlClient, AnAnswerThatIsNoneIsAnError) {
    for (const std::string& text :
         {std::string("{"), std::string("[]"), std::string("3"),
          "{\"ok\":true,\"x\":\"" + std::string(kLargestControlMessage, 'x') + "\"}"}) {
        base::Result<Json> reply = ask_one_that_says(text);
        ASSERT_FALSE(reply.ok()) << text.substr(0, 20);
        EXPECT_NE(reply.error().what.find("can't be read"), std::string::npos) << reply.error().line();
    }
}

TEST_F(ControlClient, ASessionThatEndsMeanwhileSaysSo) {
    Server server(place.path(), [](int, const std::string&) {});
    base::Result<Json> reply = ask();
    ASSERT_FALSE(reply.ok());
    EXPECT_NE(reply.error().what.find("session aaaaaaaa has just ended"), std::string::npos);
}

TEST_F(ControlClient, ASessionThatIsGoneSaysSo) {
    EXPECT_NE(ask().error().what.find("has just ended"), std::string::npos);
    Known gone = known();
    gone.directory += "/nowhere";
    EXPECT_NE(ask_session(gone, Json::object()).error().what.find("has just ended"), std::string::npos);
}

TEST_F(ControlClient, ASessionThatDoesNotAnswerIsGivenUp) {
    NamedSocket deaf;
    ASSERT_TRUE(deaf.open(place.path(), "control", SOCK_SEQPACKET));
    ASSERT_EQ(::listen(deaf.get(), 0), 0);
    auto before = std::chrono::steady_clock::now();
    // The first connection fills the queue; the others are not even accepted into it.
    for (int attempt = 0; attempt < 3; ++attempt) {
        base::Result<Json> reply = ask(milliseconds(100));
        ASSERT_FALSE(reply.ok());
        EXPECT_NE(reply.error().what.find("does not answer"), std::string::npos) << reply.error().line();
    }
    EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(30));
}

TEST_F(ControlClient, ASessionOfAnotherMachineIsNotAsked) {
    Known there = known();
    there.state = Known::State::elsewhere;
    there.metadata.set("host", "node7");
    EXPECT_NE(ask_session(there, Json::object()).error().what.find("runs on node7"), std::string::npos);
}

TEST_F(ControlClient, ARequestThatIsTooLongIsNotSent) {
    base::Result<Json> reply =
        ask_session(known(), Json::object().set("target", std::string(kLargestControlMessage, 'x')));
    EXPECT_NE(reply.error().what.find("too long"), std::string::npos);
}

}  // namespace
}  // namespace session
