// SPDX-License-Identifier: MIT
// Which protocol a client speaks, from its first bytes. Where the server speaks first nothing arrives, and
// the caller's time-out decides. A guess is no check: the reader of the protocol still judges every byte.
//
// Threat: bytes that a lenient server takes for TLS or HTTP and that pass here as something else; then the
// name in them is never judged. So the guess is as generous as the most generous server known: Go and
// Java skip a warning alert before a ClientHello, Java takes any record version and skips empty records,
// OpenSSL takes a hello in the format of SSL 2, Netty skips control bytes, Python splits a request line at
// 0x1c and 0xa0, Java takes any bytes for a method and for a version, Netty any version with two numbers,
// Node and Python read the fields of an HTTP/0.9 request. (tests/first_bytes holds them against each other.)
#pragma once

#include <string>
#include <string_view>

namespace network::wire {

// A caller that holds bytes back until the guess is made needs no more than this.
constexpr size_t kMaximumGuessBytes = 16384;

enum class Protocol {
    undecided,     // more bytes are needed
    tls,           // a record of TLS or SSL 3, well formed or not
    ssl2,          // a hello in the format of SSL 2, which has no room for a name
    http1,         // what some server takes for a request, well formed or not
    http2,         // in clear, by prior knowledge
    proxy_header,  // of the PROXY protocol, version 1 or 2: anything may follow it
    ssh,
    postgres,  // a request for TLS (SSLRequest) or GSSAPI within PostgreSQL's protocol
    git,       // a request to git's own server, which may name a host
    other,
};

class ProtocolGuess {
  public:
    // Strict: what does not begin with a character of text, and with no opening of a protocol, is `other` at
    // once.
    explicit ProtocolGuess(bool is_strict = false) : is_strict_(is_strict) {}

    // The bytes that follow those of the calls before. The first answer but undecided is final. Until then no
    // server acts on what was taken: a request line has not ended.
    Protocol take(std::string_view bytes);
    // If nothing follows: a server takes the end for the end of the line.
    Protocol at_end() const;

  private:
    Protocol step(char byte);
    Protocol guess_by_line(char byte);
    void count_word(char byte);
    void count_target(char byte);
    bool is_request_line() const;

    bool is_strict_;
    Protocol protocol_ = Protocol::undecided;
    std::string opening_;  // the first bytes, as many as an opening can have
    std::string last_;     // the last bytes, as many as a version can have
    // The first line that is not empty, in words between any white space.
    size_t words_ = 0;
    bool is_in_word_ = false;
    std::string first_word_;    // its beginning
    bool is_capital_ = true;    // the first word
    bool has_target_ = false;   // the second word is a path or a URL
    bool has_slash_ = false;    // a later word
    bool has_numbers_ = false;  // a later word ends like a version: "/1.0"
    // The same line in parts between single blanks.
    size_t blanks_ = 0;
    bool is_target_ = false;      // the second part is a path or a URL
    bool is_target_text_ = true;  // and holds no control character
};

// The same for everything that came so far, of which no more than kMaximumGuessBytes count.
Protocol guess_protocol(std::string_view first);

}  // namespace network::wire
