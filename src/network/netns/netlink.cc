// SPDX-License-Identifier: MIT
#include "network/netns/netlink.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>

namespace network::netns {
namespace {

constexpr size_t kAlignment = 4;

void pad(std::string& bytes) {
    bytes.resize((bytes.size() + kAlignment - 1) / kAlignment * kAlignment, '\0');
}

}  // namespace

void Messages::start(uint16_t type, uint16_t flags) {
    message_ = bytes_.size();
    append(nlmsghdr{.nlmsg_len = 0,
                    .nlmsg_type = type,
                    .nlmsg_flags = static_cast<uint16_t>(flags | NLM_F_REQUEST),
                    .nlmsg_seq = ++sequence_,
                    .nlmsg_pid = 0});
}

void Messages::finish() {
    auto length = static_cast<uint32_t>(bytes_.size() - message_);
    std::memcpy(bytes_.data() + message_, &length, sizeof length);
    pad(bytes_);
}

void Messages::ask_for_answer() {
    if (bytes_.empty()) return;
    nlmsghdr header;
    std::memcpy(&header, bytes_.data() + message_, sizeof header);
    header.nlmsg_flags |= NLM_F_ACK;
    std::memcpy(bytes_.data() + message_, &header, sizeof header);
}

void Messages::append(const void* bytes, size_t count) {
    bytes_.append(static_cast<const char*>(bytes), count);
    pad(bytes_);
}

void Messages::attribute(uint16_t type, std::string_view bytes) {
    append(nlattr{.nla_len = static_cast<uint16_t>(sizeof(nlattr) + bytes.size()), .nla_type = type});
    append(bytes.data(), bytes.size());
}

void Messages::text(uint16_t type, std::string_view value) {
    attribute(type, std::string(value) + '\0');
}

void Messages::number(uint16_t type, uint32_t value) {
    attribute(type, {reinterpret_cast<const char*>(&value), sizeof value});
}

void Messages::network_number(uint16_t type, uint32_t value) {
    number(type, htonl(value));
}

size_t Messages::open_nest(uint16_t type) {
    size_t nest = bytes_.size();
    append(nlattr{.nla_len = 0, .nla_type = static_cast<uint16_t>(type | NLA_F_NESTED)});
    return nest;
}

void Messages::close_nest(size_t nest) {
    auto length = static_cast<uint16_t>(bytes_.size() - nest);
    std::memcpy(bytes_.data() + nest, &length, sizeof length);
}

base::Fd open_netlink(int protocol, uint32_t groups) {
    base::Fd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol));
    struct sockaddr_nl address = {};
    address.nl_family = AF_NETLINK;
    address.nl_groups = groups;
    if (socket && ::bind(socket.get(), reinterpret_cast<struct sockaddr*>(&address), sizeof address) != 0) {
        socket.reset();
    }
    // The kernel answers while it processes the request. The time limit only prevents a hang.
    struct timeval bound = {.tv_sec = 5, .tv_usec = 0};
    if (socket) ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &bound, sizeof bound);
    return socket;
}

}  // namespace network::netns
