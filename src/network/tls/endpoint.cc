// SPDX-License-Identifier: MIT
#include "network/tls/endpoint.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/encoding/sha256.h"
#include "base/parse.h"
#include "base/text.h"

namespace network::tls {
namespace {

using base::Error;
using base::Result;

constexpr unsigned char kHttp11[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
// In the order of preference.
constexpr unsigned char kBoth[] = {2, 'h', '2', 8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
constexpr size_t kMaximumSessions = 256;  // as many as names

Error no_context() {
    return Error{.what = "cannot make a TLS context: " + take_library_error()};
}

// The name of a ClientHello's server_name extension (RFC 6066): a list with one host name.
std::string name_in_hello(SSL* connection) {
    const unsigned char* data = nullptr;
    size_t size = 0;
    if (SSL_client_hello_get0_ext(connection, TLSEXT_TYPE_server_name, &data, &size) != 1) return {};
    constexpr size_t kHead = 5;  // length of the list, kind 0, length of the name
    if (size <= kHead || data[2] != TLSEXT_NAMETYPE_host_name) return {};
    size_t list = static_cast<size_t>(data[0]) << 8 | data[1],
           length = static_cast<size_t>(data[3]) << 8 | data[4];
    if (list + 2 != size || length + kHead != size) return {};
    return base::lower(std::string_view(reinterpret_cast<const char*>(data) + kHead, length));
}

// Before anything else of the hello is used: a session is looked up in the context of this name.
int on_client_hello(SSL* connection, int* alert, void* context) {
    bool is_prepared = static_cast<ServerContext*>(context)->prepare(connection, name_in_hello(connection));
    if (is_prepared) return SSL_CLIENT_HELLO_SUCCESS;
    *alert = SSL_AD_UNRECOGNIZED_NAME;
    return SSL_CLIENT_HELLO_ERROR;
}

int on_protocols(SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char* offered,
                 unsigned offered_size, void*) {
    int result = SSL_select_next_proto(const_cast<unsigned char**>(chosen), size, kBoth, sizeof kBoth,
                                       offered, offered_size);
    return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

int on_session(SSL* connection, SSL_SESSION* session) {
    auto* context = static_cast<ClientContext*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(connection)));
    const char* name = SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name);
    if (context == nullptr || name == nullptr) return 0;
    context->remember(name, session);
    return 1;  // the context keeps it
}

bool is_distrust(int reason) {
    constexpr int kReasons[] = {
        SSL_R_TLSV1_ALERT_UNKNOWN_CA,          SSL_R_SSLV3_ALERT_BAD_CERTIFICATE,
        SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN, SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE,
        SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED, SSL_R_TLSV1_ALERT_ACCESS_DENIED};
    return std::ranges::find(kReasons, reason) != std::end(kReasons);
}

}  // namespace

void FreeContext::operator()(SSL_CTX* context) const {
    SSL_CTX_free(context);
}
void FreeConnection::operator()(SSL* connection) const {
    // A connection that was not shut down would take its session with it. A failed one has dropped it
    // already.
    if (connection != nullptr) SSL_set_shutdown(connection, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(connection);
}
void FreeSession::operator()(SSL_SESSION* session) const {
    SSL_SESSION_free(session);
}

Result<std::unique_ptr<ServerContext>> ServerContext::make(
    LeafIssuer issuer, std::function<bool(std::string_view)> is_intercepted,
    std::function<std::time_t()> now) {
    start_library();
    std::unique_ptr<ServerContext> made(new ServerContext(std::move(issuer)));
    made->is_intercepted_ = std::move(is_intercepted);
    made->now_ = std::move(now);
    made->context_.reset(SSL_CTX_new(TLS_server_method()));
    SSL_CTX* context = made->context_.get();
    if (context == nullptr || SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1)
        return no_context();
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_client_hello_cb(context, on_client_hello, made.get());
    SSL_CTX_set_alpn_select_cb(context, on_protocols, nullptr);
    return made;
}

bool ServerContext::prepare(SSL* connection, std::string_view name) {
    if (name.empty() || !is_intercepted_(name)) return false;
    auto leaf = leaves_.find(name);
    if (leaf == leaves_.end()) {
        Result<Certificate> made = issuer_.leaf(name, now_());
        if (!made) return false;
        // Open connections keep their certificate.
        if (leaves_.size() >= kMaximumNames) leaves_.clear();
        leaf = leaves_.emplace(std::string(name), *std::move(made)).first;
    }
    std::string digest = base::sha256(name).substr(0, SSL_MAX_SID_CTX_LENGTH);
    return SSL_use_certificate(connection, leaf->second.get()) == 1 &&
           SSL_use_PrivateKey(connection, issuer_.leaf_key()) == 1 &&
           SSL_clear_chain_certs(connection) == 1 &&
           SSL_add1_chain_cert(connection, issuer_.certificate()) == 1 &&
           SSL_set_session_id_context(connection, reinterpret_cast<const unsigned char*>(digest.data()),
                                      static_cast<unsigned>(digest.size())) == 1;
}

Result<std::unique_ptr<ClientContext>> ClientContext::make(std::string_view roots) {
    start_library();
    std::unique_ptr<ClientContext> made(new ClientContext());
    made->context_.reset(SSL_CTX_new(TLS_client_method()));
    SSL_CTX* context = made->context_.get();
    if (context == nullptr || SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1)
        return no_context();
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_app_data(context, made.get());
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context, on_session);
    if (SSL_CTX_set_alpn_protos(context, kHttp11, sizeof kHttp11) != 0) return no_context();
    if (roots.size() > static_cast<size_t>(std::numeric_limits<int>::max())) return no_context();
    BIO* memory = BIO_new_mem_buf(roots.data(), static_cast<int>(roots.size()));
    size_t count = 0;
    while (memory != nullptr) {
        Certificate root(PEM_read_bio_X509(memory, nullptr, nullptr, nullptr));
        if (!root) break;
        if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), root.get()) == 1) ++count;
    }
    BIO_free(memory);
    ERR_clear_error();
    if (count == 0)
        return Error{.what = "the bundle of root certificates holds no certificate",
                     .advice = "install the package ca-certificates"};
    return made;
}

void ClientContext::remember(const std::string& name, SSL_SESSION* session) {
    if (sessions_.size() >= kMaximumSessions && !sessions_.contains(name)) sessions_.clear();
    sessions_[name].reset(session);
}

SSL_SESSION* ClientContext::session_for(const std::string& name) const {
    auto session = sessions_.find(name);
    return session == sessions_.end() ? nullptr : session->second.get();
}

Result<Endpoint> Endpoint::make(SSL_CTX* context) {
    ERR_clear_error();
    Endpoint endpoint;
    endpoint.connection_.reset(SSL_new(context));
    BIO* in = make_memory_bio(endpoint.buffers_->in);
    BIO* out = make_memory_bio(endpoint.buffers_->out);
    if (!endpoint.connection_ || in == nullptr || out == nullptr) {
        BIO_free(in);
        BIO_free(out);
        return Error{.what = "cannot make a TLS connection: " + take_library_error()};
    }
    SSL_set_bio(endpoint.connection_.get(), in, out);  // owns both now
    return endpoint;
}

Result<Endpoint> Endpoint::server(ServerContext& context) {
    Result<Endpoint> endpoint = make(context.get());
    if (endpoint) SSL_set_accept_state(endpoint->connection_.get());
    return endpoint;
}

Result<Endpoint> Endpoint::client(ClientContext& context, std::string name, Offer offer) {
    Result<Endpoint> endpoint = make(context.get());
    if (!endpoint) return endpoint;
    SSL* connection = endpoint->connection_.get();
    SSL_set_connect_state(connection);
    SSL_set_hostflags(connection, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    bool is_named = SSL_set_tlsext_host_name(connection, name.c_str()) == 1 &&
                    SSL_set1_host(connection, name.c_str()) == 1;
    is_named &= offer == Offer::http1 || SSL_set_alpn_protos(connection, kBoth, sizeof kBoth) == 0;
    if (!is_named) return Error{.what = "cannot name the host of a TLS connection: " + take_library_error()};
    if (SSL_SESSION* session = context.session_for(name)) SSL_set_session(connection, session);
    endpoint->name_ = std::move(name);
    return endpoint;
}

void Endpoint::receive(std::string_view bytes) {
    if (state_ == State::failed) return;
    ERR_clear_error();
    has_input_ = true;
    buffers_->in.append(bytes);
    if (state_ == State::handshake) shake();
}

void Endpoint::end() {
    has_ended_ = has_input_ = true;
    if (state_ != State::handshake) return;
    // A client's state has moved on when the server's certificate was sent.
    const OSSL_HANDSHAKE_STATE reached = SSL_get_state(connection_.get());
    bool is_server = SSL_is_server(connection_.get()) == 1;
    bool has_sent = is_server && reached != TLS_ST_BEFORE && reached != TLS_ST_SR_CLNT_HELLO;
    failure_ = has_sent ? Failure::client_closed : Failure::protocol;
    fault_ = has_sent ? "the client closed the connection when it received the session's certificate"
                      : "the connection was closed within the handshake";
    state_ = State::failed;
}

void Endpoint::shake() {
    ERR_clear_error();
    int result = SSL_do_handshake(connection_.get());
    if (result == 1) {
        state_ = State::open;
        return;
    }
    int error = SSL_get_error(connection_.get(), result);
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) fail(result);
}

void Endpoint::fail(int) {
    state_ = State::failed;
    int reason = ERR_GET_REASON(ERR_peek_error());
    long verified = SSL_get_verify_result(connection_.get());
    bool is_client = SSL_is_server(connection_.get()) == 0;
    if (is_client && verified != X509_V_OK) {
        failure_ = Failure::not_trusted;
        fault_ = base::format("the certificate of {} is not trusted by this host: {}", name_,
                              X509_verify_cert_error_string(verified));
    } else if (!is_client && is_distrust(reason)) {
        failure_ = Failure::client_distrusts;
        fault_ = "the client does not trust the session's root certificate";
    } else if (reason == SSL_R_NO_APPLICATION_PROTOCOL) {
        failure_ = Failure::no_protocol;
        fault_ = "the client offers neither HTTP/2 nor HTTP/1.1";
    } else if (reason == SSL_R_CALLBACK_FAILED || reason == SSL_R_CLIENTHELLO_TLSEXT) {
        failure_ = Failure::unknown_name;
        fault_ = "the client names a host that is not intercepted";
    } else {
        failure_ = Failure::protocol;
        const char* text = ERR_reason_error_string(ERR_peek_error());
        fault_ = text == nullptr ? "the TLS connection failed" : text;
    }
    ERR_clear_error();
}

std::string_view Endpoint::output() const {
    return buffers_->out.waiting();
}

void Endpoint::drop_output() {
    buffers_->out.drop(output().size());
}

void Endpoint::take_output(std::string& out) {
    std::string_view waiting = output();
    if (waiting.empty()) return;
    out.append(waiting);
    drop_output();
}

size_t Endpoint::read(std::string& plain, size_t most) {
    size_t before = plain.size();
    std::array<char, 16384> buffer;  // one record
    while (has_input_ && state_ == State::open && plain.size() - before < most) {
        size_t size = std::min(buffer.size(), most - (plain.size() - before));
        ERR_clear_error();
        int result = SSL_read(connection_.get(), buffer.data(), static_cast<int>(size));
        if (result > 0) {
            plain.append(buffer.data(), static_cast<size_t>(result));
            // A further call would only report that there is nothing to read.
            has_input_ =
                has_ended_ || SSL_has_pending(connection_.get()) == 1 || !buffers_->in.waiting().empty();
            continue;
        }
        int error = SSL_get_error(connection_.get(), result);
        if (error == SSL_ERROR_ZERO_RETURN) {
            state_ = State::closed;
        } else if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) {
            has_input_ = false;
            if (has_ended_) {
                is_truncated_ = true;
                state_ = State::closed;
            }
            break;
        } else {
            fail(result);
        }
    }
    return plain.size() - before;
}

// A side that has said its end still reads: a client may end its half before the answer comes.
bool Endpoint::write(std::string_view plain) {
    bool can_write = (state_ == State::open || state_ == State::closed) && !has_closed_;
    if (!can_write) return false;
    while (!plain.empty()) {
        ERR_clear_error();
        size_t written = 0;
        int result = SSL_write_ex(connection_.get(), plain.data(), plain.size(), &written);
        if (result != 1) {
            fail(result);
            return false;
        }
        plain.remove_prefix(written);
    }
    return true;
}

bool Endpoint::write(const base::SecretValue& plain) {
    return plain.reveal([&](std::string_view bytes) { return write(bytes); });
}

void Endpoint::close() {
    if (state_ != State::open && state_ != State::closed) return;
    ERR_clear_error();
    has_closed_ = true;
    SSL_shutdown(connection_.get());
    ERR_clear_error();
}

std::string Endpoint::name() const {
    if (!name_.empty()) return name_;
    const char* name = SSL_get_servername(connection_.get(), TLSEXT_NAMETYPE_host_name);
    return name == nullptr ? std::string() : base::lower(std::string_view(name));
}

bool Endpoint::is_resumed() const {
    return SSL_session_reused(connection_.get()) == 1;
}

bool Endpoint::speaks_http2() const {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(connection_.get(), &name, &size);
    return std::string_view(reinterpret_cast<const char*>(name), size) == "h2";
}

}  // namespace network::tls
