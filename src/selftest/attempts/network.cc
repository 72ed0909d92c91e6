// SPDX-License-Identifier: MIT
// Services that listen only for this host, and the visible parts of the host's network. A service counts as
// reached if it answers with the secret; no service on the jail's own loopback does.
#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/inside/addresses.h"
#include "base/text.h"
#include "selftest/runner.h"

namespace selftest {
namespace {

Finding reach(const World& world, int type, const char* address, int64_t port) {
    if (port == 0) return absent("no such address here");
    struct sockaddr_in place = {};
    place.sin_family = AF_INET;
    place.sin_port = htons(static_cast<uint16_t>(port));
    ::inet_pton(AF_INET, address, &place.sin_addr);
    return connect_to(world, type, reinterpret_cast<const struct sockaddr*>(&place), sizeof place);
}

Finding reach6(const World& world, const char* address, int64_t port) {
    if (port == 0) return absent("no such address here");
    struct sockaddr_in6 place = {};
    place.sin6_family = AF_INET6;
    place.sin6_port = htons(static_cast<uint16_t>(port));
    ::inet_pton(AF_INET6, address, &place.sin6_addr);
    return connect_to(world, SOCK_STREAM, reinterpret_cast<const struct sockaddr*>(&place), sizeof place);
}

Finding see_interfaces(const World&) {
    struct ifaddrs* list = nullptr;
    if (::getifaddrs(&list) != 0) return held(errno);
    std::string found;
    for (const struct ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
        if (!(entry->ifa_flags & IFF_LOOPBACK)) found = entry->ifa_name;
    }
    ::freeifaddrs(list);
    return found.empty() ? held("loopback only") : escaped("it sees " + found);
}

// The entry of the neighbour's listener in the kernel's table.
Finding see_listener(const World& world) {
    char place[32];
    std::snprintf(place, sizeof place, "0100007F:%04X 00000000:0000 0A",
                  static_cast<unsigned>(world.tcp_port));
    std::string table = content_of("/proc/net/tcp");
    return table.find(place) != std::string::npos ? escaped("it is listed") : held("not listed");
}

Finding see_unix_socket(const World& world) {
    if (world.abstract_socket.empty()) return absent("no such service here");
    bool is_listed = content_of("/proc/net/unix").find(world.abstract_socket) != std::string::npos;
    return is_listed ? escaped("it is listed") : held("not listed");
}

Finding switch_interface_off(const World&) {
    base::Fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    struct ifreq request = {};
    std::strcpy(request.ifr_name, "lo");
    if (::ioctl(fd.get(), SIOCGIFFLAGS, &request) != 0) return held(errno);
    // Set the current flags again, so that nothing changes if it is permitted.
    return outcome(::ioctl(fd.get(), SIOCSIFFLAGS, &request), "its flags can be set");
}

// An empty request of a kind that changes the network. If it is permitted, the kernel rejects it as invalid,
// so it never has an effect.
Finding change_network(uint16_t type) {
    base::Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
    if (!fd) return held(errno);
    struct {
        struct nlmsghdr header;
        char body[32];  // begins with the family: unspecified
    } request = {};
    request.header.nlmsg_len = sizeof request;
    request.header.nlmsg_type = type;
    request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
    if (::send(fd.get(), &request, sizeof request, 0) < 0) return held(errno);
    struct {
        struct nlmsghdr header;
        struct nlmsgerr error;
        char rest[256];
    } answer = {};
    if (::recv(fd.get(), &answer, sizeof answer, 0) < 0) return held(errno);
    bool is_refused = answer.header.nlmsg_type == NLMSG_ERROR && answer.error.error == -EPERM;
    return is_refused ? held(EPERM) : escaped("the kernel takes the request");
}

struct NetworkChange {
    const char* name;
    const char* what;
    uint16_t type;
};
constexpr NetworkChange kChanges[] = {
    {"routes", "adds a route", RTM_NEWROUTE},
    {"route-removal", "removes a route, the one to the gateway for instance", RTM_DELROUTE},
    {"route-rules", "removes a rule that chooses routes", RTM_DELRULE},
    {"addresses", "adds an address", RTM_NEWADDR},
    {"address-removal", "removes an address", RTM_DELADDR},
    {"links", "adds a network device", RTM_NEWLINK},
    {"link-removal", "removes a network device", RTM_DELLINK},
    {"neighbours", "adds a neighbour on the link", RTM_NEWNEIGH},
};

}  // namespace

void add_network(Probes& probes) {
    auto add = [&](const std::string& name, const std::string& what, Attempt attempt,
                   std::string_view excuse = {}, std::string_view permitted_by = kOpen) {
        probes.push_back({.name = "network/" + name,
                          .what = what,
                          .attempt = std::move(attempt),
                          .excuse = excuse,
                          .permitted_by = permitted_by});
    };
    for (const char* address : {"127.0.0.1", "0.0.0.0"}) {
        add("tcp-" + std::string(address),
            "reaches a service on the host's loopback at " + std::string(address),
            [address](const World& world) { return reach(world, SOCK_STREAM, address, world.tcp_port); });
    }
    add("udp", "reaches a service on the host's loopback by UDP",
        [](const World& world) { return reach(world, SOCK_DGRAM, "127.0.0.1", world.udp_port); });
    add("tcp-ipv6", "reaches a service on the host's loopback at ::1",
        [](const World& world) { return reach6(world, "::1", world.tcp6_port); });
    add(
        "tcp-mapped", "reaches a service on the host's loopback at ::ffff:127.0.0.1",
        [](const World& world) { return reach6(world, "::ffff:127.0.0.1", world.tcp_port); },
        "this host has no IPv6");
    add(
        "tcp-own-address", "reaches a service at the host's own address",
        [](const World& world) {
            return reach(world, SOCK_STREAM, world.address.c_str(), world.address_port);
        },
        "this host refuses connections to its own address");
    add("interfaces", "sees the host's network interfaces", see_interfaces,
        "this host has none but loopback");
    add("listeners", "sees which ports the host listens on", see_listener, "/proc/net can't be read here");
    add("unix-listeners", "sees which Unix sockets the host listens on", see_unix_socket,
        "/proc/net can't be read here");
    add("interface-flags", "switches an interface", switch_interface_off, "needs root", {});
    for (const NetworkChange& change : kChanges) {
        add(change.name, change.what, [type = change.type](const World&) { return change_network(type); },
            "needs root", {});
    }
}

// Attacks on the gateway, which handles every connection of the jail. Inside, each attempt sends a request to
// the gateway, directly or as a deceived program would. Outside there is no gateway: the same request goes to
// a service of the neighbour, which answers every client. This proves that the request arrives.

namespace {

const std::string kGateway = base::v4_text(base::FixedAddress::gateway);
const std::string kHost = base::v4_text(base::FixedAddress::host);
// An address from a range that is reserved for documentation (RFC 5737).
constexpr const char* kUnusedAddress = "203.0.113.25";

constexpr struct timeval kGatewayTimeout = {.tv_sec = 0, .tv_usec = 300'000};

struct GatewayPlace {
    std::string address;
    int64_t port;
};

base::Fd connected(int type, const GatewayPlace& place) {
    base::Fd fd(::socket(AF_INET, type | SOCK_CLOEXEC, 0));
    if (!fd) return fd;
    for (int option : {SO_RCVTIMEO, SO_SNDTIMEO}) {
        ::setsockopt(fd.get(), SOL_SOCKET, option, &kGatewayTimeout, sizeof kGatewayTimeout);
    }
    struct sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(place.port));
    ::inet_pton(AF_INET, place.address.c_str(), &address.sin_addr);
    if (::connect(fd.get(), reinterpret_cast<struct sockaddr*>(&address), sizeof address) != 0) fd.reset();
    return fd;
}

std::string hear(int fd) {
    std::array<char, 1024> bytes;
    ssize_t got = ::recv(fd, bytes.data(), bytes.size(), 0);
    return got > 0 ? std::string(bytes.data(), static_cast<size_t>(got)) : std::string();
}

// Sends the words one after the other, waits for an answer to each, and keeps the last answer.
struct Talk {
    std::string answer;
    int error = 0;
};
Talk talk(int type, const GatewayPlace& place, const std::vector<std::string>& words) {
    base::Fd fd = connected(type, place);
    if (!fd) return {.answer = {}, .error = errno};
    Talk result;
    for (const std::string& word : words) {
        if (!word.empty() && ::send(fd.get(), word.data(), word.size(), MSG_NOSIGNAL) < 0) {
            return {.answer = {}, .error = errno};
        }
        errno = 0;
        result = {.answer = hear(fd.get()), .error = errno};
        if (result.answer.empty()) return result;
    }
    return result;
}

bool holds_secret(const World& world, const std::string& text) {
    return !world.secret.empty() && text.find(world.secret) != std::string::npos;
}

// Escaped if the neighbour answered, else held with the gateway's refusal.
Finding judge(const World& world, const Talk& said, std::string_view refusal) {
    if (holds_secret(world, said.answer)) return escaped("the service answered");
    if (!said.answer.empty()) return held(std::string(refusal));
    return held(said.error != 0 ? error_word(said.error) : "closed");
}

GatewayPlace neighbour(const World& world) {
    return {"127.0.0.1", world.tcp_port};
}

// Sends "CONNECT address:port" and reads the answer.
Finding ask_proxy(const World& world, const std::string& address, int64_t port) {
    if (port == 0) return absent("no such address here");
    std::string target = base::format("{}:{}", address, port);
    std::string request = base::format("CONNECT {} HTTP/1.1\r\nHost: {}\r\n\r\n", target, target);
    GatewayPlace place = world.is_inside ? GatewayPlace{kGateway, base::kProxyPort} : neighbour(world);
    Talk said = talk(SOCK_STREAM, place, {request});
    if (world.is_inside && said.answer.starts_with("HTTP/1.1 200")) return escaped("the tunnel was opened");
    return judge(world, said, said.answer.substr(0, said.answer.find('\r')));
}

Finding ask_socks(const World& world) {
    std::string request("\x05\x01\x00\x01\x7f\x00\x00\x01", 8);
    request += static_cast<char>(world.tcp_port >> 8);
    request += static_cast<char>(world.tcp_port & 0xff);
    if (!world.is_inside) return judge(world, talk(SOCK_STREAM, neighbour(world), {request}), {});
    Talk said = talk(SOCK_STREAM, {kGateway, base::kSocksPort}, {std::string("\x05\x01\x00", 3), request});
    if (said.answer.size() > 2 && said.answer[1] == 0) return escaped("the tunnel was opened");
    return judge(world, said, "refused by the gateway");
}

Finding reach_host(const World& world) {
    GatewayPlace place = world.is_inside ? GatewayPlace{kHost, world.tcp_port} : neighbour(world);
    return judge(world, talk(SOCK_STREAM, place, {"?"}), "refused by the gateway");
}

// The URL has the loopback address of a service, but the Host header is localhost.
Finding deceive_by_name(const World& world) {
    std::string request =
        base::format("GET http://127.0.0.1:{}/ HTTP/1.1\r\nHost: localhost\r\n\r\n", world.tcp_port);
    GatewayPlace place = world.is_inside ? GatewayPlace{kGateway, base::kProxyPort} : neighbour(world);
    Talk said = talk(SOCK_STREAM, place, {request});
    return judge(world, said, said.answer.substr(0, said.answer.find('\r')));
}

// Builds a DNS query for these labels. The probe sends data in the name of a host on the built-in block list.
std::string question_for(std::initializer_list<std::string_view> labels) {
    std::string message("\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00", 12);
    for (std::string_view label : labels) {
        message += static_cast<char>(label.size());
        message += label;
    }
    return message + std::string("\0\0\1\0\1", 5);
}

Finding look_up_forbidden(const World& world) {
    constexpr int kRefused = 5;
    std::string question = question_for({world.secret.substr(0, 32), "webhook", "site"});
    if (!world.is_inside) {
        return judge(world, talk(SOCK_DGRAM, {"127.0.0.1", world.udp_port}, {question}), {});
    }
    Talk said = talk(SOCK_DGRAM, {kGateway, base::kNameServerPort}, {question});
    if (said.answer.size() < 12) return held(said.error != 0 ? error_word(said.error) : "no answer");
    int code = static_cast<unsigned char>(said.answer[3]) & 0x0f;
    return code == kRefused ? held("REFUSED") : escaped("it was looked up: code " + std::to_string(code));
}

Finding send_mail(const World& world, uint16_t port) {
    GatewayPlace place = world.is_inside ? GatewayPlace{kUnusedAddress, port} : neighbour(world);
    Talk said = talk(SOCK_STREAM, place, {""});
    if (said.answer.starts_with("220")) return escaped("the server takes mail");
    return judge(world, said, said.answer.substr(0, 3));
}

Finding reach_unused_address(const World& world, uint16_t port) {
    constexpr std::string_view kRequest = "GET / HTTP/1.0\r\n\r\n";
    GatewayPlace place = world.is_inside ? GatewayPlace{kUnusedAddress, port} : neighbour(world);
    Talk said = talk(SOCK_STREAM, place, {std::string(kRequest)});
    if (world.is_inside && !said.answer.empty() && !said.answer.starts_with("HTTP/1.1 403")) {
        return escaped("it was connected");
    }
    return judge(world, said, "403");
}

}  // namespace

void add_gateway(Probes& probes) {
    auto add = [&](const std::string& name, const std::string& what, Attempt attempt) {
        probes.push_back(
            {.name = "network/" + name, .what = what, .attempt = std::move(attempt), .permitted_by = kOpen});
    };
    add("gateway-host", "reaches the host's loopback at the gateway's address for the host", reach_host);
    add("gateway-connect", "has the gateway connect to the host's loopback",
        [](const World& world) { return ask_proxy(world, "127.0.0.1", world.tcp_port); });
    add("gateway-connect-name", "has the gateway connect to localhost",
        [](const World& world) { return ask_proxy(world, "localhost", world.tcp_port); });
    add("gateway-connect-mapped", "has the gateway connect to [::ffff:127.0.0.1]",
        [](const World& world) { return ask_proxy(world, "[::ffff:127.0.0.1]", world.tcp_port); });
    add("gateway-connect-short", "has the gateway connect to the host's loopback as 2130706433",
        [](const World& world) { return ask_proxy(world, "2130706433", world.tcp_port); });
    add("gateway-connect-own-address", "has the gateway connect to the host's own address",
        [](const World& world) { return ask_proxy(world, world.address, world.address_port); });
    add("gateway-connect-metadata", "has the gateway connect to a cloud's metadata service",
        [](const World& world) { return ask_proxy(world, "169.254.169.254", 80); });
    add("gateway-socks", "has the gateway connect to the host's loopback by SOCKS5", ask_socks);
    add("gateway-request", "has the gateway ask a service on the host's loopback", deceive_by_name);
    add("gateway-lookup", "carries data out in the lookup of a name that is closed", look_up_forbidden);
    add("gateway-literal", "reaches an address of the internet that no rule opens",
        [](const World& world) { return reach_unused_address(world, 80); });
    for (uint16_t port : {uint16_t{25}, uint16_t{587}}) {
        add("gateway-mail-" + std::to_string(port), "sends mail at port " + std::to_string(port),
            [port](const World& world) { return send_mail(world, port); });
    }
}

}  // namespace selftest
