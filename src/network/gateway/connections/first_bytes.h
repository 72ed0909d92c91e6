// SPDX-License-Identifier: MIT
// The client's first bytes, held until they are known to agree with the connection's target. Pure.
//
// TLS: the server name must agree. Everything after it passes, because it is encrypted. If the server
// requests a second ClientHello (HelloRetryRequest), that one is judged too: it could name another host.
// HTTP/1: goes to HttpStream, which judges every request. PostgreSQL: the ClientHello after its request for
// TLS is judged. HTTP/2 without TLS, SSL 2 hellos and PROXY headers are refused: a request behind them could
// not be judged. git's own protocol: the host of the request must agree. ssh passes: it names no host. Other
// protocols pass where judge_unknown_protocol allows them. Bytes that a lenient server would accept as TLS or
// HTTP count as that, and the strict reader refuses them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "network/wire/http/http_head.h"
#include "network/wire/protocol_guess.h"
#include "network/wire/tls.h"
#include "rules/engine.h"

namespace network::gateway {

class Broker;

// The target that a connection was opened for, and whether a name that the client sends within it agrees.
// Without this check an allowed name would give access to every other name on the same server. Pure.

struct Expectation {
    const Engine& engine;
    Host host;
    uint16_t port = 0;
    // A rule or a host service allows the address itself. A client that sends no name then requests nothing
    // else.
    bool is_open_by_address = false;
    // A host service: other names are judged instead of refused, because no name led there.
    bool takes_other_names = false;
    // A port of the host's loopback: the user opened it by its number, and no name is judged.
    bool takes_all_names = false;
    // The dialled address, if it is known.
    std::optional<Address> address = std::nullopt;
    // Records the names that rules allowed within the connection, for when the rules change.
    std::vector<HostName>* opened_names = nullptr;
    // Names whose requests are read elsewhere (network/gateway/broker): here they are refused. Placeholders
    // of credentials are refused in every request.
    const Broker* broker = nullptr;
};

// Why a client's bytes are not forwarded, and the error code for each protocol.
struct Objection {
    std::string_view cause = "protocol";  // of the journal's entry
    Verdict verdict;                      // of the rule that decided, if one did
    std::string reason;
    int http_status = 403;
    wire::TlsAlert alert = wire::TlsAlert::access_denied;
};

// Nothing: the name agrees. A hello within another protocol (STARTTLS) may lack a name, because many clients
// send none.
enum class Hello { first, within_other_protocol };
std::optional<Objection> judge_server_name(const Expectation& expected, const wire::ClientHello& hello,
                                           Hello where = Hello::first);
std::optional<Objection> judge_authority(const Expectation& expected, const wire::Authority& said);

// Whether a protocol that carries no name to judge may be used: by rules, by port, or because a rule allows
// the address itself.
Verdict judge_unknown_protocol(const Expectation& expected);
// `what` was sent and is refused on every port. The reason includes the entry that would allow it.
Objection object_to_bytes(const Expectation& expected, std::string_view what);

class FirstFlight {
  public:
    enum class State {
        need_more,
        wait,  // the first `judged` bytes pass; the rest is looked at after the server has answered
        pass,
        http,
        refused,
    };

    explicit FirstFlight(const Expectation& expected);

    // `received` is everything so far: the bytes of the last call, and more.
    State look(std::string_view received, const Expectation& expected);
    // After `wait`: the server's bytes from then on. need_more: pass more of them. wait: call `look` again,
    // with the client's bytes after the judged ones.
    State look_at_reply(std::string_view bytes, const Expectation& expected);
    // The client has closed its side: no bytes follow `received`.
    State look_at_end(std::string_view received, const Expectation& expected);
    // While undecided: the next `received` starts after the bytes that were looked at.
    void drop_looked() { looked_ = 0; }

    wire::Protocol protocol() const { return protocol_; }
    // An unknown protocol is allowed here, so its first bytes may pass before the protocol is known.
    bool takes_unknown() const { return takes_unknown_; }
    size_t judged() const { return judged_; }                  // after wait
    const Objection& objection() const { return objection_; }  // after refused

  private:
    enum class Step {
        opening,          // the protocol is not known
        first_hello,      // TLS
        after_hello,      // the server's answer shows whether it wants another hello
        second_hello,     // the server wants one
        postgres_answer,  // the answer to a request for TLS
        git_answer,       // the answer to a request
    };

    State decide(std::string_view received, const Expectation& expected);
    State look_at_hello(std::string_view received, const Expectation& expected);
    State look_at_git_request(std::string_view received, const Expectation& expected);
    State take_git_answer(std::string_view bytes);
    State take_postgres_answer(char answer, const Expectation& expected);
    State refuse(Objection objection);

    bool takes_unknown_;
    Step step_ = Step::opening;
    wire::Protocol protocol_ = wire::Protocol::undecided;
    wire::ProtocolGuess guess_;
    size_t looked_ = 0;
    size_t judged_ = 0;
    size_t skipped_ = 0;  // records before a second hello
    int postgres_requests_ = 0;
    Hello hello_is_ = Hello::first;
    wire::ClientHelloReader hello_;
    wire::ServerHelloReader answer_;
    std::string git_answer_;
    Objection objection_;
};

}  // namespace network::gateway
