// SPDX-License-Identifier: MIT
// A client of a session's control socket.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <string>

#include "base/file.h"

namespace testing_support {

// Connects to the socket `control` in this directory.
inline base::Fd connect_to_control(const std::string& directory) {
    base::Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    struct sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, (directory + "/control").c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<struct sockaddr*>(&address), sizeof address), 0);
    return socket;
}

}  // namespace testing_support
