// SPDX-License-Identifier: MIT
// The network of the jail. The host's own network, if it is open, changes by itself, so only its interfaces
// are reported.
#include <arpa/inet.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/text.h"
#include "differential/report.h"

namespace differential {
namespace {

bool is_hosts_network(const WalkerArguments& arguments) {
    char text[64] = {};
    ssize_t length = ::readlink("/proc/self/ns/net", text, sizeof text - 1);
    if (length < 0) return true;
    std::string own(text);
    return std::ranges::any_of(arguments.host_namespaces, [&](const std::string& row) {
        return row.starts_with("net=") && own == "net:[" + row.substr(4) + "]";
    });
}

std::string address_of(int fd, const char* interface, unsigned long request) {
    struct ifreq control = {};
    std::strncpy(control.ifr_name, interface, IFNAMSIZ - 1);
    if (::ioctl(fd, request, &control) != 0) return name_of_errno(errno);
    struct sockaddr_in address;
    std::memcpy(&address, &control.ifr_addr, sizeof address);
    char text[INET_ADDRSTRLEN] = {};
    ::inet_ntop(AF_INET, &address.sin_addr, text, sizeof text);
    return text;
}

std::string number_of(int fd, const char* interface, unsigned long request) {
    struct ifreq control = {};
    std::strncpy(control.ifr_name, interface, IFNAMSIZ - 1);
    if (::ioctl(fd, request, &control) != 0) return name_of_errno(errno);
    return std::to_string(request == SIOCGIFFLAGS ? control.ifr_flags : control.ifr_mtu);
}

void tell_interfaces(Report& report) {
    base::Fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    struct if_nameindex* interfaces = ::if_nameindex();
    if (interfaces == nullptr) return report.verdict("interface", "all", errno);
    for (const struct if_nameindex* one = interfaces; one->if_index != 0; ++one) {
        report.say("interface", one->if_name,
                   "number " + std::to_string(one->if_index) + " flags " +
                       number_of(fd.get(), one->if_name, SIOCGIFFLAGS) + " mtu " +
                       number_of(fd.get(), one->if_name, SIOCGIFMTU) + " address " +
                       address_of(fd.get(), one->if_name, SIOCGIFADDR) + " mask " +
                       address_of(fd.get(), one->if_name, SIOCGIFNETMASK));
    }
    ::if_freenameindex(interfaces);
}

// "sl local remote st …": the address, the state and the user of each.
void tell_sockets_of(Report& report, const std::string& path) {
    int number = 0;
    std::string text = content_of(path, number);
    report.verdict("sockets", path, number);
    for (std::string_view line : base::split(text, '\n')) {
        std::vector<std::string> words;
        for (std::string_view word : base::split(line, ' ')) {
            if (!word.empty()) words.emplace_back(word);
        }
        if (words.size() > 7 && words[0].ends_with(":"))
            report.say("socket", path, words[1] + " " + words[2] + " " + words[3] + " user " + words[7]);
    }
}

// "destination length source length hop metric references uses flags device". Without the counters, which
// change with each packet, and without the loopback's routes, which the kernel adds some time after the
// interface is up.
void tell_routes_v6(Report& report, const std::string& path) {
    int number = 0;
    std::string text = content_of(path, number);
    report.verdict("network", path, number);
    for (std::string_view line : base::split(text, '\n')) {
        std::string facts;
        size_t at = 0;
        for (std::string_view word : base::split(line, ' ')) {
            if (word.empty()) continue;
            bool is_counter = at == 6 || at == 7;
            if (!is_counter) facts += std::string(word) + " ";
            ++at;
        }
        if (!facts.empty() && !line.ends_with(" lo")) report.say("network", path, facts);
    }
}

void tell_lines(Report& report, const std::string& path) {
    int number = 0;
    std::string text = content_of(path, number);
    report.verdict("network", path, number);
    // Each line is one fact; the order of the lines has no meaning.
    for (std::string_view line : base::split(text, '\n')) {
        if (!line.empty()) report.say("network", path, line);
    }
}

int connect_to(const char* address, uint16_t port, int type) {
    base::Fd fd(::socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    struct sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    ::inet_pton(AF_INET, address, &to.sin_addr);
    if (!fd) return errno;
    return ::connect(fd.get(), reinterpret_cast<const struct sockaddr*>(&to), sizeof to) == 0 ? 0 : errno;
}

}  // namespace

void tell_network(Report& report, const WalkerArguments& arguments) {
    tell_interfaces(report);
    if (is_hosts_network(arguments)) return;
    for (const char* name : {"if_inet6", "route", "fib_trie", "arp"})
        tell_lines(report, std::string("/proc/net/") + name);
    tell_routes_v6(report, "/proc/net/ipv6_route");
    for (const char* name : {"tcp", "tcp6", "udp", "udp6", "raw", "raw6"})
        tell_sockets_of(report, std::string("/proc/net/") + name);
    for (const char* name :
         {"ip_forward", "ip_unprivileged_port_start", "ping_group_range", "ip_local_port_range"})
        tell_lines(report, std::string("/proc/sys/net/ipv4/") + name);
    report.verdict("connects", "the jail's own loopback", connect_to("127.0.0.1", 9, SOCK_STREAM));
    report.verdict("connects", "a datagram to the loopback", connect_to("127.0.0.1", 9, SOCK_DGRAM));
    // A network reserved for documentation. Connecting a datagram socket sends nothing: the kernel only looks
    // up a route.
    report.verdict("connects", "a datagram to elsewhere", connect_to("192.0.2.1", 9, SOCK_DGRAM));
}

}  // namespace differential
