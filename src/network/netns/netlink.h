// SPDX-License-Identifier: MIT
// Netlink requests, as bytes and as a conversation. The kernel answers each in turn: nothing here waits for a
// network.
#pragma once

#include <linux/netlink.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/file.h"

namespace network::netns {

// Messages one behind the other, each with nested attributes, padded as the kernel wants.
class Messages {
  public:
    // Until finish() is called, what is appended belongs to this message.
    void start(uint16_t type, uint16_t flags);
    void finish();
    // The message that was finished last is to be answered even where it was obeyed. Does nothing where there
    // is none.
    void ask_for_answer();

    void append(const void* bytes, size_t count);
    template <typename Plain>
    void append(const Plain& value) {
        append(&value, sizeof value);
    }

    void attribute(uint16_t type, std::string_view bytes);
    void text(uint16_t type, std::string_view value);    // with its zero
    void number(uint16_t type, uint32_t value);          // in the byte order of this machine
    void network_number(uint16_t type, uint32_t value);  // as nf_tables wants it
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

}  // namespace network::netns
