// SPDX-License-Identifier: MIT
// Reads the ClientHello that opens a TLS connection, to learn the server's name without decrypting anything
// (RFC 8446, 6066, 7301). The bytes stay with the caller, who sends them on unchanged; nothing behind the
// first ClientHello is looked at.
//
// Threat: a client that spells the hello so that we and the server read different names. So whatever the
// standards forbid is refused, never guessed at: repeated extensions, two names, lengths that do not add up,
// empty fragments, other records in between, more handshake data in the hello's own record.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace network::wire {

constexpr size_t kMaximumTlsRecord = 16384;
constexpr size_t kMaximumHandshake = 16384;
constexpr size_t kMaximumHelloRecords = 64;
constexpr size_t kMaximumProtocols = 64;
// A caller never has to keep more than this to reach a verdict.
constexpr size_t kMaximumHelloBytes = 4 + kMaximumHandshake + 5 * kMaximumHelloRecords;

struct ClientHello {
    std::optional<std::string> server_name;  // as sent; passes is_host_name
    std::vector<std::string> protocols;      // ALPN, any bytes
    // An encrypted hello travels inside (or its imitation: the two cannot be told apart); server_name is then
    // the outer name, which is the one to be judged.
    bool has_encrypted_hello = false;
};

class ClientHelloReader {
  public:
    enum class State { need_more, complete, not_tls, refused };

    // `received` is everything that came so far: what was shown before, and more. Work is done once per byte.
    State look(std::string_view received);

    // After complete.
    const ClientHello& hello() const { return hello_; }
    size_t size() const { return next_record_; }  // of the records that hold it
    // After not_tls or refused: what was wrong, for the log.
    std::string_view fault() const { return fault_; }

  private:
    State read_record_header(std::string_view header);
    State take_fragment(std::string_view fragment);
    State finish(State state, std::string_view fault);

    State state_ = State::need_more;
    std::string_view fault_;
    ClientHello hello_;
    std::string handshake_;
    size_t next_record_ = 0;
    size_t records_ = 0;
    size_t checked_ = 0;  // bytes of the current record's header that were found good
};

enum class TlsAlert : unsigned char {
    handshake_failure = 40,
    access_denied = 49,
    decode_error = 50,
    internal_error = 80,
    unrecognized_name = 112,
};

// A fatal alert as a record of its own, in clear: it is sent before any key exists.
std::string tls_alert(TlsAlert alert);

}  // namespace network::wire
