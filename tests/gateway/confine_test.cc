// SPDX-License-Identifier: MIT
// Each act runs in a child, first without the confinement as a control, then with it.
#include "network/gateway/gateway.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace network::gateway {
namespace {

// True when the act succeeded.
bool succeeds(bool is_confined, const std::function<bool()>& act) {
    pid_t child = ::fork();
    if (child == 0) {
        if (is_confined && !confine()) ::_exit(9);
        // Use the system call itself: a sanitizer makes calls before _exit that the filter refuses.
        ::syscall(SYS_exit_group, act() ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) != 9);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool can_execute() {
    char program[] = "/bin/true";
    char* words[] = {program, nullptr};
    ::execv(program, words);
    return false;
}

bool can_fork() {
    pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    return child > 0;
}

bool can_listen() {
    int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return ::bind(socket, reinterpret_cast<struct sockaddr*>(&address), sizeof address) == 0 &&
           ::listen(socket, 1) == 0;
}

bool can_map_code() {
    return ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

TEST(Confine, TakesAwayWhatTheGatewayDoesNotNeed) {
    struct {
        const char* name;
        std::function<bool()> act;
    } acts[] = {
        {"read a file", [] { return ::open("/etc/passwd", O_RDONLY) >= 0; }},
        {"make a file", [] { return ::open("/tmp", O_TMPFILE | O_WRONLY, 0600) >= 0; }},
        {"execute", can_execute},
        {"fork", can_fork},
        {"signal", [] { return ::kill(::getppid(), 0) == 0; }},
        {"reach a Unix socket", [] { return ::socket(AF_UNIX, SOCK_STREAM, 0) >= 0; }},
        {"open netlink", [] { return ::socket(AF_NETLINK, SOCK_RAW, 0) >= 0; }},
        {"listen", can_listen},
        {"map code", can_map_code},
    };
    for (const auto& [name, act] : acts) {
        EXPECT_TRUE(succeeds(false, act)) << name << ": the control";
        EXPECT_FALSE(succeeds(true, act)) << name;
    }
}

TEST(Confine, LeavesSocketsAndMemory) {
    EXPECT_TRUE(succeeds(true, [] { return ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0) >= 0; }));
    EXPECT_TRUE(succeeds(true, [] { return ::socket(AF_INET6, SOCK_DGRAM, 0) >= 0; }));
    EXPECT_TRUE(succeeds(true, [] { return std::string(32u << 20, 'x').size() == 32u << 20; }));
    int ends[2];
    EXPECT_TRUE(succeeds(true, [&] { return ::pipe2(ends, O_CLOEXEC) == 0; }));
}

}  // namespace
}  // namespace network::gateway
