// SPDX-License-Identifier: MIT
// Netlink requests, and the nf_tables messages that lead every address to the gateway.
#pragma once

#include <linux/netlink.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/file.h"
#include "network/netns/recipe.h"

namespace network::netns {

// Builds netlink requests and opens netlink sockets. The kernel answers at once: no code here waits for a
// network.

// A sequence of messages, each with nested attributes and the kernel's padding.
class Messages {
  public:
    // Everything that is appended until finish() belongs to this message.
    void start(uint16_t type, uint16_t flags);
    void finish();
    // Makes the kernel answer the last finished message also on success. Does nothing if there is no message.
    void ask_for_answer();

    void append(const void* bytes, size_t count);
    template <typename Plain>
    void append(const Plain& value) {
        append(&value, sizeof value);
    }

    void attribute(uint16_t type, std::string_view bytes);
    void text(uint16_t type, std::string_view value);    // with its terminating zero
    void number(uint16_t type, uint32_t value);          // in host byte order
    void network_number(uint16_t type, uint32_t value);  // in network byte order, for nf_tables
    size_t open_nest(uint16_t type);
    void close_nest(size_t nest);

    const std::string& bytes() const { return bytes_; }
    uint32_t last_sequence() const { return sequence_; }

  private:
    std::string bytes_;
    size_t message_ = 0;
    uint32_t sequence_ = 0;
};

base::Fd open_netlink(int protocol, uint32_t groups = 0);

// Sends nf_tables messages to the kernel directly, without the nft program.

// Directs each TCP connection to kCapturePort, except those to loopback and to the jail's own address. The
// kernel accepts all of it or nothing. Empty if the capture needs no rules.
NetlinkRequest capture_rules(Capture capture, bool has_v6);

}  // namespace network::netns
