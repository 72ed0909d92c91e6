// SPDX-License-Identifier: MIT
#include "session/helpers/socket_owner.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "base/file.h"
#include "base/text.h"

namespace session {
namespace {

struct Listener {
    base::Fd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    uint16_t port = 0;

    Listener() {
        struct sockaddr_in address = {};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        auto* any = reinterpret_cast<struct sockaddr*>(&address);
        socklen_t length = sizeof address;
        EXPECT_EQ(::bind(fd.get(), any, length), 0);
        EXPECT_EQ(::listen(fd.get(), 1), 0);
        EXPECT_EQ(::getsockname(fd.get(), any, &length), 0);
        port = ntohs(address.sin_port);
    }
};

TEST(SocketOwner, NamesTheProcessThatHasTheSocket) {
    Listener listener;
    const std::string own = base::format("/proc/{}", ::getpid());
    const std::string other = base::format("/proc/{}", ::getppid());
    std::string found = program_with_port({other, own}, listener.port);
    EXPECT_TRUE(found.starts_with("test_session")) << found;
    EXPECT_TRUE(found.ends_with(base::format("(process {})", ::getpid()))) << found;
    EXPECT_EQ(program_with_port({other}, listener.port), "");
    EXPECT_EQ(program_with_port({}, listener.port), "");
    // A name is letters, digits and ".+-" alone.
    char before[16] = {};
    ::prctl(PR_GET_NAME, before);
    ::prctl(PR_SET_NAME, "x: run\033[1m y");
    found = program_with_port({own}, listener.port);
    ::prctl(PR_SET_NAME, before);
    EXPECT_NE(found.find(" 'x??run??1m?y' (process"), std::string::npos) << found;
    uint16_t port = listener.port;
    listener.fd.reset();
    EXPECT_EQ(program_with_port({own}, port), "");
}

}  // namespace
}  // namespace session
