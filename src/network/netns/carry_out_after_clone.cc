// SPDX-License-Identifier: MIT
#include "network/netns/carry_out_after_clone.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>

namespace network::netns {
namespace {

constexpr int kBacklog = 4096;
constexpr size_t kMostPassed = 253;  // the kernel's limit for one message (SCM_MAX_FD)

// The kernel's answers to one request: errno of the essential messages, and of the others.
struct Answers {
    int essential = 0;
    int others = 0;
};

// Parses one answer. False if it is malformed.
bool take(const NetlinkRequest& request, const char* bytes, size_t count, Answers& answers, bool& is_last) {
    struct nlmsghdr header;
    if (count < sizeof header + sizeof(int)) return false;
    std::memcpy(&header, bytes, sizeof header);
    if (header.nlmsg_type != NLMSG_ERROR) return false;
    int number = 0;
    std::memcpy(&number, bytes + sizeof header, sizeof number);
    is_last = header.nlmsg_seq == request.last;
    int& kept = header.nlmsg_seq <= request.essential ? answers.essential : answers.others;
    if (number != 0 && kept == 0) kept = -number;
    return true;
}

Answers converse(const NetlinkRequest& request) {
    int socket = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, request.protocol);
    if (socket < 0) return {errno, errno};
    Answers answers;
    if (::send(socket, request.bytes.data(), request.bytes.size(), 0) < 0) answers.essential = errno;
    // send(2) returns after the kernel has processed the whole request, so its answers are already queued.
    // The kernel does not answer the rest of a refused batch.
    bool is_last = false;
    while (!is_last && answers.essential == 0) {
        char reply[1024];
        ssize_t got = ::recv(socket, reply, sizeof reply, MSG_DONTWAIT | MSG_TRUNC);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            answers.essential = errno;
        } else if (!take(request, reply, static_cast<size_t>(got), answers, is_last)) {
            answers.essential = EPROTO;
        }
    }
    ::close(socket);
    return answers;
}

void set(int socket, int level, int option) {
    int on = 1;
    ::setsockopt(socket, level, option, &on, sizeof on);
}

// Each family has its own names for these options. TPROXY gives packets only to transparent listeners; the
// option needs CAP_NET_ADMIN, which this process has.
void set_options(int socket, const Endpoint& endpoint) {
    set(socket, SOL_SOCKET, SO_REUSEADDR);
    if (endpoint.is_v6) set(socket, IPPROTO_IPV6, IPV6_V6ONLY);
    bool is_stream = endpoint.type == SOCK_STREAM;
    if (endpoint.is_v6) {
        set(socket, IPPROTO_IPV6, is_stream ? IPV6_TRANSPARENT : IPV6_RECVPKTINFO);
    } else {
        set(socket, IPPROTO_IP, is_stream ? IP_TRANSPARENT : IP_PKTINFO);
    }
}

// The descriptor, or minus errno.
int open_endpoint(const Endpoint& endpoint) {
    int socket =
        ::socket(endpoint.is_v6 ? AF_INET6 : AF_INET, endpoint.type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket < 0) return -errno;
    set_options(socket, endpoint);
    const auto* address = reinterpret_cast<const struct sockaddr*>(&endpoint.address);
    bool is_open = ::bind(socket, address, endpoint.length) == 0 &&
                   (endpoint.type != SOCK_STREAM || ::listen(socket, kBacklog) == 0);
    if (is_open) return socket;
    int number = errno;
    ::close(socket);
    return -number;
}

int pass(int socket, std::string_view note, std::span<const int> descriptors) {
    struct iovec place = {const_cast<char*>(note.data()), note.size()};
    struct msghdr message = {};
    message.msg_iov = &place;
    message.msg_iovlen = 1;
    alignas(struct cmsghdr) char control[CMSG_SPACE(kMostPassed * sizeof(int))];
    if (!descriptors.empty()) {
        std::memset(control, 0, sizeof control);
        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
        struct cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
        std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
    }
    ssize_t sent = 0;
    do {
        sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent < 0 ? errno : 0;
}

// The descriptors that were opened so far.
struct Opened {
    size_t count = 0;
    CarriedOut result;
};

void open_all(Recipe& recipe, const Attempt* attempt, bool has_v6, Opened& opened) {
    auto add = [&](int descriptor, NetworkStep step) {
        if (descriptor < 0) {
            opened.result = {-descriptor, step};
        } else {
            recipe.opened[opened.count++] = descriptor;
        }
        return descriptor >= 0;
    };
    if (attempt != nullptr) {
        for (const Endpoint& endpoint : attempt->endpoints) {
            if (endpoint.is_v6 && !has_v6) continue;
            if (!add(open_endpoint(endpoint), NetworkStep::listeners)) return;
        }
    }
    if (!recipe.hands_namespace) return;
    int space = ::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    add(space < 0 ? -errno : space, NetworkStep::name_space);
}

CarriedOut hand_out(std::span<const int> descriptors, size_t attempt, bool has_v6, int socket) {
    char end[] = "end 0 4";
    end[4] = static_cast<char>('0' + attempt);
    if (has_v6) end[6] = '6';
    for (;;) {
        bool is_last = descriptors.size() <= kMostPassed;
        std::string_view note = is_last ? std::string_view(end, sizeof end - 1) : std::string_view("more");
        int number = pass(socket, note, is_last ? descriptors : descriptors.first(kMostPassed));
        if (number != 0) return {number, NetworkStep::hand_over};
        if (is_last) return {};
        descriptors = descriptors.subspan(kMostPassed);
    }
}

CarriedOut open_and_hand_out(Recipe& recipe, size_t attempt, bool has_v6, int socket) {
    Opened opened;
    open_all(recipe, attempt < recipe.attempts.size() ? &recipe.attempts[attempt] : nullptr, has_v6, opened);
    std::span<const int> descriptors(recipe.opened.data(), opened.count);
    if (opened.result.number == 0) opened.result = hand_out(descriptors, attempt, has_v6, socket);
    for (int descriptor : descriptors) ::close(descriptor);
    return opened.result;
}

}  // namespace

std::string_view to_text(NetworkStep step) {
    switch (step) {
        case NetworkStep::none:
            return "nothing";
        case NetworkStep::devices:
            return "set the addresses and routes of the jail";
        case NetworkStep::listeners:
            return "listen in the jail's network";
        case NetworkStep::name_space:
            return "open the jail's network namespace";
        case NetworkStep::hand_over:
            return "hand the jail's listeners to the gateway";
    }
    return "";
}

CarriedOut carry_out(Recipe& recipe, int socket) {
    Answers devices;
    if (!recipe.devices.bytes.empty()) devices = converse(recipe.devices);
    if (devices.essential != 0) return {devices.essential, NetworkStep::devices};
    // A kernel without IPv6 has one family less. This does not open anything.
    bool has_v6 = devices.others == 0;
    for (size_t i = 0; i < recipe.attempts.size(); ++i) {
        const NetlinkRequest& rules = has_v6 ? recipe.attempts[i].rules : recipe.attempts[i].rules_v4;
        if (!rules.bytes.empty() && converse(rules).essential != 0) continue;
        return open_and_hand_out(recipe, i, has_v6, socket);
    }
    if (recipe.has_listeners) return {ENOSYS, NetworkStep::listeners};
    return recipe.hands_namespace ? open_and_hand_out(recipe, 0, has_v6, socket) : CarriedOut{};
}

}  // namespace network::netns
