// SPDX-License-Identifier: MIT
// The two messages that open a TLS connection.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace network::wire {

// Parses the ClientHello that opens a TLS connection, to find the server's name without decryption (RFC 8446,
// 6066, 7301). The caller keeps the bytes and forwards them unchanged. Nothing after the first ClientHello is
// parsed.
//
// Threat: a client that writes the hello so that we and the server read different names. So everything that
// the standards forbid is refused: repeated extensions, two names, lengths that do not add up, empty
// fragments, other records in between, more handshake data in the hello's own record.

// Types of TLS records: all of them are from kFirstRecord to kLastRecord.
constexpr uint8_t kFirstRecord = 20;
constexpr uint8_t kAlertRecord = 21;
constexpr uint8_t kHandshakeRecord = 22;
constexpr uint8_t kLastRecord = 24;

constexpr size_t kMaximumTlsRecord = 16384;
constexpr size_t kMaximumHandshake = 16384;
constexpr size_t kMaximumHelloRecords = 64;
constexpr size_t kMaximumProtocols = 64;
// A caller needs at most this many bytes for a verdict.
constexpr size_t kMaximumHelloBytes = 4 + kMaximumHandshake + 5 * kMaximumHelloRecords;

struct ClientHello {
    std::optional<std::string> server_name;  // as sent; passes is_host_name
    std::vector<std::string> protocols;      // ALPN, any bytes
    // The hello contains an encrypted hello (or an imitation: the two cannot be distinguished). server_name
    // is then the outer name, and that is the one to judge.
    bool has_encrypted_hello = false;
};

class ClientHelloReader {
  public:
    enum class State { need_more, complete, not_tls, refused };

    // `received` is everything so far: the bytes of the last call, and more. Each byte is processed once.
    State look(std::string_view received);

    // After complete.
    const ClientHello& hello() const { return hello_; }
    size_t size() const { return next_record_; }  // of the records that contain it
    // After not_tls or refused: the fault, for the log.
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
    size_t checked_ = 0;  // bytes of the current record's header that were accepted
};

enum class TlsAlert : unsigned char {
    handshake_failure = 40,
    access_denied = 49,
    decode_error = 50,
    internal_error = 80,
    unrecognized_name = 112,
};

// A fatal alert as a record of its own, unencrypted, because no key exists yet.
std::string tls_alert(TlsAlert alert);

// Whether a server's answer to a ClientHello requests a second one (HelloRetryRequest, RFC 8446 4.1.3). The
// second one could name another host. Nothing else of the answer is parsed.

class ServerHelloReader {
  public:
    enum class State {
        need_more,
        retry,    // the server requests a second ClientHello
        other,    // the handshake continues or ends
        refused,  // the answer cannot be parsed
    };

    // The bytes after those of the earlier calls.
    State take(std::string_view bytes);

  private:
    State read(std::string_view records);

    std::string received_;
};

}  // namespace network::wire
