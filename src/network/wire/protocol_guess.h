// SPDX-License-Identifier: MIT
// Guesses a client's protocol from its first bytes. If the server sends first, no bytes arrive and the
// caller's time-out decides. A guess is not a check: the protocol's parser still judges every byte.
//
// Threat: bytes that a lenient server accepts as TLS or HTTP and that pass here as another protocol. The name
// in them would not be judged. So the guess is as lenient as the most lenient server known: Go and Java skip
// a warning alert before a ClientHello, Java accepts any record version and skips empty records, OpenSSL
// accepts a hello in the format of SSL 2, Netty skips control bytes, Python splits a request line at 0x1c and
// 0xa0, Java accepts any bytes as a method and as a version, Netty any version with two numbers, Node and
// Python read the fields of an HTTP/0.9 request. (tests/first_bytes holds them against each other.)
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "network/wire/http/http_head.h"

namespace network::wire {

// A caller that holds bytes until the guess is made needs at most this many.
constexpr size_t kMaximumGuessBytes = 16384;

enum class Protocol {
    undecided,     // more bytes are needed
    tls,           // a record of TLS or SSL 3, well formed or not
    ssl2,          // a hello in the format of SSL 2, which has no room for a name
    http1,         // some server accepts it as a request, well formed or not
    http2,         // without TLS, by prior knowledge
    proxy_header,  // of the PROXY protocol, version 1 or 2: anything may follow it
    ssh,
    postgres,  // a request for TLS (SSLRequest) or GSSAPI within PostgreSQL's protocol
    git,       // a request to git's own server, which may name a host
    other,
};

class ProtocolGuess {
  public:
    // Strict: bytes that begin neither with a text character nor with the opening of a protocol are `other`
    // at once.
    explicit ProtocolGuess(bool is_strict = false) : is_strict_(is_strict) {}

    // The bytes after those of the earlier calls. The first result other than undecided is final. Until then
    // no server acts on the bytes, because the request line has not ended.
    Protocol take(std::string_view bytes);
    // If no bytes follow: a server treats the end of the stream as the end of the line.
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
    // The first non-empty line, split into words at any white space.
    size_t words_ = 0;
    bool is_in_word_ = false;
    std::string first_word_;    // its beginning
    bool is_capital_ = true;    // the first word
    bool has_target_ = false;   // the second word is a path or a URL
    bool has_slash_ = false;    // a later word
    bool has_numbers_ = false;  // a later word ends like a version: "/1.0"
    // The same line, split at single blanks.
    size_t blanks_ = 0;
    bool is_target_ = false;      // the second part is a path or a URL
    bool is_target_text_ = true;  // and contains no control character
};

// The same for all bytes so far, of which at most kMaximumGuessBytes count.
Protocol guess_protocol(std::string_view first);

// The first packet to git's own server (git://, git-daemon(1)): "0033git-upload-pack
// /a.git\0host=NAME:PORT\0". The server may select a repository by the host.

struct GitRequest {
    std::optional<Authority> host;
    size_t size = 0;  // of the packet
};

enum class GitRequestState { need_more, complete, refused };

// `received` is everything so far. Refused: another service, several hosts, an invalid host, or a line end,
// because some server could read the line as an HTTP request.
GitRequestState read_git_request(std::string_view received, GitRequest& request);

}  // namespace network::wire
