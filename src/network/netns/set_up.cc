// SPDX-License-Identifier: MIT
// Theory of operation, if the namespace is set up from outside. A network namespace belongs to a user
// namespace, whose creator has all capabilities over it. bubblewrap created both on behalf of the caller, so
// a process of the caller may enter them from outside. It enters the user namespace that owns the network
// namespace, which may differ from the jailed process's own. There it has CAP_NET_ADMIN over this one network
// namespace and nothing else. A separate process does the work, passes the sockets out, and exits. The
// connector enters the same way, and drops every capability before it serves.
#include "network/netns/set_up.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/nsfs.h>
#include <linux/sockios.h>
#include <netinet/in.h>
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
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <span>
#include <string>

#include "base/process/descriptors.h"
#include "base/text.h"
#include "network/netns/carry_out_after_clone.h"
#include "network/netns/recipe.h"

namespace network::netns {
namespace {

constexpr std::string_view kFailed = "failed";
constexpr std::string_view kReady = "ready";
constexpr std::chrono::seconds kLongestWait{5};  // for bubblewrap to raise the loopback device

struct Failure {
    int number = 0;
    std::string step;
};

Failure failure(std::string step, int number) {
    return {number, std::move(step)};
}

// Enters the network namespace, with the capabilities of the owner of its user namespace.
Failure enter(int space) {
    base::Fd owner(::ioctl(space, NS_GET_USERNS));
    if (!owner) return failure("find the owner of the network namespace", errno);
    if (::setns(owner.get(), CLONE_NEWUSER) != 0) return failure("enter the user namespace", errno);
    if (::setns(space, CLONE_NEWNET) != 0) return failure("enter the network namespace", errno);
    return {};
}

Failure enter_by(pid_t process) {
    std::string path = "/proc/" + std::to_string(process) + "/ns/net";
    base::Fd space(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    return space ? enter(space.get()) : failure("open " + path, errno);
}

void drop_all_power() {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
    ::syscall(SYS_capset, &header, none);
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    ::prctl(PR_SET_DUMPABLE, 0);
}

// Sends "failed ERRNO STEP" on the socket that otherwise carries the listeners.
void report(int socket, const Failure& failed) {
    (void)base::send_descriptors(
        socket, std::string(kFailed) + " " + std::to_string(failed.number) + " " + failed.step, {});
}

[[noreturn]] void work_inside(pid_t process, Recipe& recipe, int socket) {
    Failure failed = enter_by(process);
    if (failed.number == 0) {
        failed = failure("wait for the loopback device", await_loopback(kLongestWait));
    }
    if (failed.number == 0) {
        CarriedOut carried = carry_out(recipe, socket);
        failed = failure(std::string(to_text(carried.step)), carried.number);
    }
    if (failed.number != 0) report(socket, failed);
    ::_exit(failed.number == 0 ? 0 : 1);
}

[[noreturn]] void become_connector(int space, int socket) {
    Failure failed = enter(space);
    if (failed.number != 0) {
        report(socket, failed);
        ::_exit(1);
    }
    (void)base::send_descriptors(socket, kReady, {});
    drop_all_power();
    base::close_others({socket});
    serve_connections(socket);
}

struct Helper {
    pid_t process = -1;
    base::Fd socket;
};

// A child process with a socket to it. It is killed when this process dies.
template <typename Part>
base::Result<Helper> start_helper(Part part) {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        return base::system_error("make a socket", errno);
    }
    base::Fd ours(pair[0]), theirs(pair[1]);
    pid_t parent = ::getpid();
    pid_t process = ::fork();
    if (process < 0) return base::system_error("start the helper for the network namespace", errno);
    if (process > 0) return Helper{process, std::move(ours)};
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(0);
    ours.reset();
    part(theirs.get());
    ::_exit(1);
}

base::Error failure_in(const std::string& note) {
    std::vector<std::string_view> words = base::split(note, ' ');
    if (words.size() < 3 || words[0] != kFailed) return base::Error{.what = std::string(kEndedEarly)};
    return base::system_error(note.substr(words[0].size() + words[1].size() + 2),
                              std::atoi(std::string(words[1]).c_str()));
}

// Sorts the descriptors into their groups, in the order of the endpoints.
Listeners sorted(std::vector<base::Fd> descriptors, const Attempt& attempt, bool has_v6) {
    Listeners listeners{.capture = attempt.capture, .has_v6 = has_v6};
    std::vector<base::Fd>* const groups[] = {&listeners.tcp, &listeners.name_servers, &listeners.udp,
                                             &listeners.loopback};
    auto next = descriptors.begin();
    for (const Endpoint& endpoint : attempt.endpoints) {
        if (endpoint.is_v6 && !has_v6) continue;
        if (next != descriptors.end())
            groups[static_cast<size_t>(endpoint.group)]->push_back(std::move(*next++));
    }
    return listeners;
}

base::Result<base::Fd> start_connector(int space, const Settle& settle) {
    base::Result<Helper> connector = start_helper([&](int socket) {
        if (settle) settle({space, socket});
        become_connector(space, socket);
    });
    if (!connector) return connector.error();
    base::Result<base::PassedDescriptors> word = base::receive_descriptors(connector->socket.get());
    if (!word) return word.error();
    if (word->note != kReady) return failure_in(word->note);
    return std::move(connector->socket);
}

base::Result<Listeners> take_all(int socket, const Recipe& recipe) {
    if (!recipe.has_listeners && !recipe.hands_namespace) return Listeners{};
    std::vector<base::Fd> descriptors;
    std::string note = "more";
    while (note == "more") {
        base::Result<base::PassedDescriptors> passed = base::receive_descriptors(socket);
        if (!passed) return passed.error();
        std::ranges::move(passed->descriptors, std::back_inserter(descriptors));
        note = passed->note;
    }
    // "end ATTEMPT FAMILIES"
    bool is_end = note.size() == 7 && note.starts_with("end ");
    size_t attempt = is_end ? static_cast<size_t>(note[4] - '0') : 0;
    bool is_known = recipe.has_listeners ? attempt < recipe.attempts.size() : attempt == 0;
    bool is_complete = !recipe.hands_namespace || !descriptors.empty();
    if (!is_end || !is_known || !is_complete) return failure_in(note);
    base::Fd space;
    if (recipe.hands_namespace) {
        space = std::move(descriptors.back());
        descriptors.pop_back();
    }
    Listeners listeners;
    if (recipe.has_listeners)
        listeners = sorted(std::move(descriptors), recipe.attempts[attempt], note[6] == '6');
    if (space) {
        base::Result<base::Fd> connector = start_connector(space.get(), {});
        if (!connector) return connector.error();
        listeners.connector = *std::move(connector);
    }
    return listeners;
}

void wait_for(pid_t helper) {
    while (::waitpid(helper, nullptr, 0) < 0 && errno == EINTR) continue;
}

}  // namespace

std::string_view to_text(Capture capture) {
    constexpr std::string_view kTexts[] = {"tproxy", "redirect", "listeners"};
    return kTexts[static_cast<size_t>(capture)];
}

base::Result<Listeners> set_up(pid_t process, const NetworkRequest& request) {
    Recipe recipe = make_recipe(request, false);
    base::Result<Helper> helper = start_helper([&](int socket) { work_inside(process, recipe, socket); });
    if (!helper) return helper.error();
    base::Result<Listeners> listeners = take_all(helper->socket.get(), recipe);
    wait_for(helper->process);
    return listeners;
}

base::Result<Listeners> receive(int socket, const NetworkRequest& request) {
    return take_all(socket, make_recipe(request, true));
}

base::Result<base::Fd> connector_for(int socket, const Settle& settle) {
    base::Fd space(::ioctl(socket, SIOCGSKNS));
    if (!space) return base::system_error("open the jail's network namespace", errno);
    return start_connector(space.get(), settle);
}

namespace {

base::Fd start_connecting(uint16_t port, bool is_v6) {
    base::Fd socket(::socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) return socket;
    struct sockaddr_in v4 = {};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    struct sockaddr_in6 v6 = {};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    v6.sin6_addr = in6addr_loopback;
    const auto* address =
        is_v6 ? reinterpret_cast<const struct sockaddr*>(&v6) : reinterpret_cast<const struct sockaddr*>(&v4);
    socklen_t length = is_v6 ? sizeof v6 : sizeof v4;
    if (::connect(socket.get(), address, length) != 0 && errno != EINPROGRESS) return {};
    return socket;
}

}  // namespace

void serve_connections(int socket) {
    for (;;) {
        base::Result<base::PassedDescriptors> request = base::receive_descriptors(socket);
        if (!request || request->note.size() < 2) ::_exit(0);
        bool is_v6 = request->note[0] == '6';
        auto port = static_cast<uint16_t>(std::atoi(request->note.c_str() + 1));
        base::Fd connecting = start_connecting(port, is_v6);
        int number = connecting.get();
        std::span<const int> passed(&number, connecting ? 1 : 0);
        if (!base::send_descriptors(socket, connecting ? "ok" : "refused", passed)) ::_exit(0);
    }
}

base::Result<base::Fd> connect_inside(int connector, uint16_t port, bool is_v6) {
    std::string request = (is_v6 ? "6" : "4") + std::to_string(port);
    if (base::Status sent = base::send_descriptors(connector, request, {}); !sent) return sent.error();
    base::Result<base::PassedDescriptors> reply = base::receive_descriptors(connector);
    if (!reply) return reply.error();
    if (reply->descriptors.empty()) {
        return base::Error{.what = base::format("nothing listens on port {} in the jail", port)};
    }
    return std::move(reply->descriptors.front());
}

}  // namespace network::netns
