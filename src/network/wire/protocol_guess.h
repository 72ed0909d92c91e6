// SPDX-License-Identifier: MIT
// Which protocol a client speaks, from its first bytes. Where the server speaks first nothing arrives, and
// the caller's time-out decides. A guess is no check: the reader of the protocol still judges every byte.
#pragma once

#include <string_view>

namespace network::wire {

// A request line that has not ended within this is taken for HTTP, whose reader then refuses it.
constexpr size_t kMaximumGuessBytes = 16384;

enum class Protocol {
    undecided,  // more bytes are needed
    tls,
    http1,
    http2,  // in clear, by prior knowledge
    ssh,
    socks5,
    other,
};

// `first` is everything that came so far.
Protocol guess_protocol(std::string_view first);

}  // namespace network::wire
