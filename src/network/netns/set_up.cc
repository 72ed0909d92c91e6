// SPDX-License-Identifier: MIT
// Theory of operation. A namespace belongs to a user namespace, and whoever made that has every power over
// it. bubblewrap made both, on behalf of the caller, so a process of the caller may enter them from outside;
// it enters the user namespace that owns the network namespace, which need not be the one that the jailed
// process is in. There it holds CAP_NET_ADMIN over this one network namespace and nothing else. It does its
// work in a process of its own, hands the sockets out, and ends (or gives up every power and becomes the
// connector).
#include "network/netns/set_up.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/descriptors.h"
#include "base/pass_descriptors.h"
#include "base/text.h"
#include "network/netns/capture.h"
#include "network/netns/connector.h"
#include "network/netns/listeners.h"
#include "network/netns/routes.h"

namespace network::netns {
namespace {

constexpr int kLongestWait = 5'000;  // milliseconds, for bubblewrap to raise the loopback device

struct Failure {
    int number = 0;
    std::string step;
};

Failure failure(std::string step, int number) {
    return {number, std::move(step)};
}

Failure enter(pid_t process) {
    std::string path = "/proc/" + std::to_string(process) + "/ns/net";
    base::Fd space(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!space) return failure("open " + path, errno);
    base::Fd owner(::ioctl(space.get(), NS_GET_USERNS));
    if (!owner) return failure("find the owner of the network namespace", errno);
    if (::setns(owner.get(), CLONE_NEWUSER) != 0) return failure("enter the user namespace", errno);
    if (::setns(space.get(), CLONE_NEWNET) != 0) return failure("enter the network namespace", errno);
    return {};
}

// The best that the kernel has, from `wanted.best` downwards. Only the loss of the last one is a failure.
Capture capture_all(const Wanted& wanted, bool has_v6) {
    for (Capture capture : {Capture::tproxy, Capture::redirect}) {
        if (capture >= wanted.best && install_capture(capture, has_v6) == 0) return capture;
    }
    return Capture::listeners;
}

Failure build(pid_t process, const Wanted& wanted, Listeners& listeners) {
    if (Failure failed = enter(process); failed.number != 0) return failed;
    if (int number = await_loopback(kLongestWait); number != 0)
        return failure("wait for the loopback device", number);
    if (!wanted.has_listeners) return {};
    if (int number = add_address_and_route(AF_INET); number != 0)
        return failure("set the IPv4 route", number);
    // A kernel without IPv6 has one family less; nothing is left open by that.
    listeners.has_v6 = add_address_and_route(AF_INET6) == 0;
    listeners.capture = capture_all(wanted, listeners.has_v6);
    std::string at;
    if (int number = open_listeners(wanted, listeners.capture, listeners, at); number != 0) {
        return failure("listen at " + at, number);
    }
    return {};
}

// The sockets go out group by group: "tcp", "dns", "udp"; at last "end" with what else is to be known.
void send_group(int socket, std::string_view name, const std::vector<base::Fd>& group) {
    std::vector<int> numbers;
    for (const base::Fd& descriptor : group) numbers.push_back(descriptor.get());
    for (size_t at = 0; at < numbers.size(); at += base::kMostPassed) {
        size_t count = std::min(base::kMostPassed, numbers.size() - at);
        (void)base::send_descriptors(socket, name, std::span(numbers).subspan(at, count));
    }
}

void drop_all_power() {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
    ::syscall(SYS_capset, &header, none);
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    ::prctl(PR_SET_DUMPABLE, 0);
}

[[noreturn]] void work_inside(pid_t process, const Wanted& wanted, int socket, pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(0);
    Listeners listeners;
    if (Failure failed = build(process, wanted, listeners); failed.number != 0) {
        (void)base::send_descriptors(socket, "failed " + std::to_string(failed.number) + " " + failed.step,
                                     {});
        ::_exit(1);
    }
    send_group(socket, "tcp", listeners.tcp);
    send_group(socket, "dns", listeners.name_servers);
    send_group(socket, "udp", listeners.udp);
    std::string end =
        "end " + std::to_string(static_cast<int>(listeners.capture)) + (listeners.has_v6 ? " 6" : " 4");
    int pair[2] = {-1, -1};
    if (wanted.has_connector && ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0) {
        (void)base::send_descriptors(socket, end, std::span(&pair[0], 1));
        drop_all_power();
        base::close_others({pair[1]});
        serve_connections(pair[1]);
    }
    (void)base::send_descriptors(socket, end, {});
    ::_exit(0);
}

void move_into(std::vector<base::Fd>& group, std::vector<base::Fd>& passed) {
    std::ranges::move(passed, std::back_inserter(group));
}

// True when all has come.
base::Result<bool> take(base::PassedDescriptors passed, Listeners& listeners) {
    std::vector<std::string_view> words = base::split(passed.note, ' ');
    if (passed.note == "tcp") {
        move_into(listeners.tcp, passed.descriptors);
    } else if (passed.note == "dns") {
        move_into(listeners.name_servers, passed.descriptors);
    } else if (passed.note == "udp") {
        move_into(listeners.udp, passed.descriptors);
    } else if (words.size() == 3 && words[0] == "end") {
        listeners.capture = static_cast<Capture>(words[1][0] - '0');
        listeners.has_v6 = words[2] == "6";
        if (!passed.descriptors.empty()) listeners.connector = std::move(passed.descriptors.front());
        return true;
    } else if (words.size() >= 3 && words[0] == "failed") {
        std::string number(words[1]);
        return base::system_error(passed.note.substr(words[0].size() + words[1].size() + 2),
                                  std::atoi(number.c_str()));
    } else {
        return base::Error{.what = "the helper for the network namespace ended early"};
    }
    return false;
}

}  // namespace

std::string_view to_text(Capture capture) {
    constexpr std::string_view kTexts[] = {"tproxy", "redirect", "listeners"};
    return kTexts[static_cast<size_t>(capture)];
}

base::Result<Listeners> set_up(pid_t process, const Wanted& wanted) {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        return base::system_error("make a socket", errno);
    }
    base::Fd ours(pair[0]), theirs(pair[1]);
    pid_t parent = ::getpid();
    pid_t helper = ::fork();
    if (helper < 0) return base::system_error("start the helper for the network namespace", errno);
    if (helper == 0) {
        ours.reset();
        work_inside(process, wanted, theirs.get(), parent);
    }
    theirs.reset();
    Listeners listeners;
    base::Result<bool> is_complete = false;
    while (is_complete && !*is_complete) {
        base::Result<base::PassedDescriptors> passed = base::receive_descriptors(ours.get());
        is_complete = passed ? take(*std::move(passed), listeners) : base::Result<bool>(passed.error());
    }
    // The connector stays; it ends with its socket.
    if (!listeners.connector) {
        while (::waitpid(helper, nullptr, 0) < 0 && errno == EINTR) continue;
    }
    if (!is_complete) return is_complete.error();
    return listeners;
}

}  // namespace network::netns
