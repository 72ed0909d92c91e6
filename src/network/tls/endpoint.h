// SPDX-License-Identifier: MIT
// One side of a TLS connection, without a socket: bytes in, bytes out (memory BIOs). TLS 1.2 and 1.3, ALPN h2
// and http/1.1. OpenSSL's error queue is cleared before every call, because errors that one connection left
// there would end another one.
//
// A session is resumed only for the name that it was made for: the name is part of the session's context.
#pragma once

#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret_value.h"
#include "network/tls/authority.h"
#include "network/tls/memory_bio.h"

struct ssl_ctx_st;
struct ssl_st;
struct ssl_session_st;

namespace network::tls {

struct FreeContext {
    void operator()(ssl_ctx_st* context) const;
};
struct FreeConnection {
    void operator()(ssl_st* connection) const;
};
struct FreeSession {
    void operator()(ssl_session_st* session) const;
};

// Toward clients in the jail. It must not move while endpoints use it.
class ServerContext {
  public:
    // `is_intercepted` decides whether a name gets a certificate; `now` is called for each new leaf.
    static base::Result<std::unique_ptr<ServerContext>> make(
        LeafIssuer issuer, std::function<bool(std::string_view)> is_intercepted,
        std::function<std::time_t()> now);
    ssl_ctx_st* get() const { return context_.get(); }
    // Prepares a connection for the name of its ClientHello; false if there is no certificate for it.
    bool prepare(ssl_st* connection, std::string_view name);

  private:
    explicit ServerContext(LeafIssuer issuer) : issuer_(std::move(issuer)) {}

    LeafIssuer issuer_;
    std::function<bool(std::string_view)> is_intercepted_;
    std::function<std::time_t()> now_;
    std::map<std::string, Certificate, std::less<>> leaves_;
    std::unique_ptr<ssl_ctx_st, FreeContext> context_;
};

// Toward servers. It must not move while endpoints use it.
class ClientContext {
  public:
    // `roots` are certificates in PEM, as in the machine's bundle. Text between them is skipped.
    static base::Result<std::unique_ptr<ClientContext>> make(std::string_view roots);
    ssl_ctx_st* get() const { return context_.get(); }

    void remember(const std::string& name, ssl_session_st* session);
    ssl_session_st* session_for(const std::string& name) const;

  private:
    ClientContext() = default;

    std::unique_ptr<ssl_ctx_st, FreeContext> context_;
    std::map<std::string, std::unique_ptr<ssl_session_st, FreeSession>> sessions_;
};

class Endpoint {
  public:
    enum class State { handshake, open, closed, failed };  // closed: nothing more comes
    enum class Failure {
        none,
        not_trusted,       // the server's certificate, by this machine's roots and the name
        client_distrusts,  // the client sent an alert: it does not trust the session's root
        client_closed,     // the client closed the connection after it received the session's certificate
        no_protocol,       // the client offers neither HTTP/2 nor HTTP/1.1
        unknown_name,      // the client named no host, or one that is not intercepted
        protocol,
    };

    static base::Result<Endpoint> server(ServerContext& context);
    enum class Offer { http1, http2_too };
    // `name` goes into SNI, and the certificate must be for it.
    static base::Result<Endpoint> client(ClientContext& context, std::string name,
                                         Offer offer = Offer::http1);

    // Bytes from the socket. An empty call continues the handshake of a client.
    void receive(std::string_view bytes);
    // The socket was closed by the other side, or broke.
    void end();
    // Appends bytes for the socket.
    void take_output(std::string& out);
    // The same bytes where they are, until the next call.
    std::string_view output() const;
    void drop_output();
    // Appends decrypted bytes, at most this many.
    size_t read(std::string& plain, size_t most = 65536);
    // False if the connection is not open toward the other side.
    bool write(std::string_view plain);
    bool write(const base::SecretValue& plain);
    // Sends close_notify.
    void close();

    State state() const { return state_; }
    Failure failure() const { return failure_; }
    const std::string& fault() const { return fault_; }
    std::string name() const;  // of SNI
    bool is_resumed() const;
    // Both sides agreed on HTTP/2.
    bool speaks_http2() const;
    // The other side closed without close_notify.
    bool is_truncated() const { return is_truncated_; }

  private:
    Endpoint() = default;
    static base::Result<Endpoint> make(ssl_ctx_st* context);
    void shake();
    void fail(int result);

    struct Buffers {
        MemoryBuffer in, out;
    };
    std::unique_ptr<Buffers> buffers_ = std::make_unique<Buffers>();  // outlives the connection
    std::unique_ptr<ssl_st, FreeConnection> connection_;
    State state_ = State::handshake;
    Failure failure_ = Failure::none;
    std::string fault_;
    std::string name_;
    bool has_input_ = false;  // received and perhaps not read
    bool has_ended_ = false;
    bool has_closed_ = false;  // this side has sent its end
    bool is_truncated_ = false;
};

}  // namespace network::tls
