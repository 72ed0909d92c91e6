// SPDX-License-Identifier: MIT
#include "selftest/attempts/neighbour.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/process/descriptors.h"
#include "base/process/event_loop.h"
#include "base/text.h"
#include "selftest/planted/fake_host.h"
#include "selftest/runner.h"

namespace selftest {
namespace {

// ---- Services

base::Fd listen_at(int type, const struct sockaddr* address, socklen_t length) {
    base::Fd fd(::socket(address->sa_family, type | SOCK_CLOEXEC, 0));
    if (!fd || ::bind(fd.get(), address, length) != 0) return {};
    if (type == SOCK_STREAM && ::listen(fd.get(), 16) != 0) return {};
    return fd;
}

base::Fd listen_at_unix(const std::string& path) {
    struct sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return {};
    std::memcpy(address.sun_path, path.data(), path.size());
    if (path.front() == '@') address.sun_path[0] = '\0';
    auto length = static_cast<socklen_t>(offsetof(struct sockaddr_un, sun_path) + path.size());
    return listen_at(SOCK_STREAM, reinterpret_cast<const struct sockaddr*>(&address), length);
}

base::Fd listen_at_internet(int type, const std::string& text, int64_t& port) {
    struct sockaddr_in address = {};
    address.sin_family = AF_INET;
    ::inet_pton(AF_INET, text.c_str(), &address.sin_addr);
    socklen_t length = sizeof address;
    base::Fd fd = listen_at(type, reinterpret_cast<const struct sockaddr*>(&address), length);
    if (fd && ::getsockname(fd.get(), reinterpret_cast<struct sockaddr*>(&address), &length) == 0) {
        port = ntohs(address.sin_port);
    }
    return fd;
}

base::Fd listen_at_internet6(int64_t& port) {
    struct sockaddr_in6 address = {};
    address.sin6_family = AF_INET6;
    address.sin6_addr = in6addr_loopback;
    socklen_t length = sizeof address;
    base::Fd fd = listen_at(SOCK_STREAM, reinterpret_cast<const struct sockaddr*>(&address), length);
    if (fd && ::getsockname(fd.get(), reinterpret_cast<struct sockaddr*>(&address), &length) == 0) {
        port = ntohs(address.sin6_port);
    }
    return fd;
}

// A service that could not be opened is removed from the world, so that its probes report that they have
// nothing to try.
std::vector<base::Fd> open_services(World& world) {
    std::vector<base::Fd> services;
    for (std::string World::*place :
         {&World::home_socket, &World::temporary_socket, &World::abstract_socket}) {
        services.push_back(listen_at_unix(world.*place));
        if (!services.back()) (world.*place).clear();
    }
    services.push_back(listen_at_internet(SOCK_STREAM, "127.0.0.1", world.tcp_port));
    services.push_back(listen_at_internet(SOCK_DGRAM, "127.0.0.1", world.udp_port));
    services.push_back(listen_at_internet6(world.tcp6_port));
    if (!world.address.empty()) {
        services.push_back(listen_at_internet(SOCK_STREAM, world.address, world.address_port));
    }
    std::erase_if(services, [](const base::Fd& service) { return !service; });
    return services;
}

// ---- The process

std::string g_signalled_file;

void on_signal(int) {
    ::close(::open(g_signalled_file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

// One service listens at the host's own address; it does not answer clients from other machines.
bool comes_from_here(int guest) {
    struct sockaddr_in here = {}, there = {};
    socklen_t length = sizeof here;
    ::getsockname(guest, reinterpret_cast<struct sockaddr*>(&here), &length);
    length = sizeof there;
    ::getpeername(guest, reinterpret_cast<struct sockaddr*>(&there), &length);
    return here.sin_family != AF_INET || here.sin_addr.s_addr == there.sin_addr.s_addr;
}

void greet(int service, const std::string& secret) {
    int type = 0;
    socklen_t length = sizeof type;
    ::getsockopt(service, SOL_SOCKET, SO_TYPE, &type, &length);
    if (type == SOCK_STREAM) {
        base::Fd guest(::accept4(service, nullptr, nullptr, SOCK_CLOEXEC));
        if (!comes_from_here(guest.get())) return;
        (void)!::send(guest.get(), secret.data(), secret.size(), MSG_NOSIGNAL);
        // If the socket were closed with the guest's byte unread, TCP would reset the connection and lose the
        // greeting.
        ::shutdown(guest.get(), SHUT_WR);
        char byte;
        (void)!::recv(guest.get(), &byte, 1, 0);
        return;
    }
    struct sockaddr_storage from;
    socklen_t size = sizeof from;
    char byte;
    if (::recvfrom(service, &byte, 1, 0, reinterpret_cast<struct sockaddr*>(&from), &size) < 0) return;
    (void)!::sendto(service, secret.data(), secret.size(), 0, reinterpret_cast<struct sockaddr*>(&from),
                    size);
}

[[noreturn]] void become_neighbour(const World& world, const std::vector<base::Fd>& services, int ready,
                                   pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(0);
    ::setsid();
    (void)!::chdir(world.home.c_str());
    std::vector<int> kept = {ready};
    std::vector<std::string> words = {"neighbour", world.secret, signalled_file(world),
                                      std::to_string(ready)};
    for (const base::Fd& service : services) {
        kept.push_back(service.get());
        words.push_back(std::to_string(service.get()));
    }
    for (int fd : kept) ::fcntl(fd, F_SETFD, 0);
    base::inherit_only(kept);
    execute_part(words, {"SELFTEST_SECRET=" + world.secret,
                         base::format("{}={}", kCredentialVariable, credential_value(world))});
}

}  // namespace

base::Fd listen_at_loopback(int64_t& port) {
    return listen_at_internet(SOCK_STREAM, "127.0.0.1", port);
}

std::string signalled_file(const World& world) {
    return world.root + "/signalled";
}

Neighbour::Neighbour(Neighbour&& other) noexcept : process_(std::exchange(other.process_, -1)) {}

Neighbour& Neighbour::operator=(Neighbour&& other) noexcept {
    end();
    process_ = std::exchange(other.process_, -1);
    return *this;
}

base::Status Neighbour::start(World& world) {
    std::vector<base::Fd> services = open_services(world);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return base::system_error("make a pipe", errno);
    base::Fd from(ends[0]), to(ends[1]);
    pid_t parent = ::getpid();
    process_ = ::fork();
    if (process_ < 0) return base::system_error("start a process", errno);
    if (process_ == 0) become_neighbour(world, services, to.get(), parent);
    to.reset();
    char byte;
    if (::read(from.get(), &byte, 1) != 1)
        return base::Error{.what = "the neighbour of the probes did not start"};
    world.process = process_;
    world.guardian = process_;
    return base::success();
}

void Neighbour::end() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
}

int run_neighbour(const std::vector<std::string>& words) {
    if (words.size() < 4) return static_cast<int>(base::ExitCode::usage);
    // Where Yama restricts tracing, allow any process to trace this one: the control must show that tracing
    // works.
    ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    g_signalled_file = words[2];
    struct sigaction action = {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGURG, &action, nullptr);
    base::EventLoop loop;
    for (size_t i = 4; i < words.size(); ++i) {
        int service = std::atoi(words[i].c_str());
        loop.add({[service] { return service; }, [&words, service] { greet(service, words[1]); }});
    }
    (void)!::write(std::atoi(words[3].c_str()), "!", 1);
    loop.run();
    return 1;
}

}  // namespace selftest
