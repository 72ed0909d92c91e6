// SPDX-License-Identifier: MIT
// The gateway's part of the credentials: which connections are read (interception.h), the certificates toward
// both sides, and the values. A value is requested from the supervisor when the first request needs it. It
// arrives in a sealed memory file and is kept in locked memory (base/secret_value.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/process/event_loop.h"
#include "base/result.h"
#include "base/secret_value.h"
#include "network/exchange/exchange.h"
#include "network/exchange/redactor.h"
#include "network/exchange/spec.h"
#include "network/gateway/broker/client_programs.h"
#include "network/gateway/broker/logins.h"
#include "network/tls/authority.h"
#include "network/tls/endpoint.h"
#include "rules/names/name.h"

namespace network::gateway {

struct BrokerInputs {
    exchange::BrokerSpec spec;
    std::optional<tls::Intermediate> intermediate;  // not set: nothing is intercepted
    std::string roots;                              // of this host, PEM: servers are verified with them
    bool records_paths = true;                      // audit.paths
    std::function<std::time_t()> clock = [] { return std::time(nullptr); };
};

class Broker {
  public:
    using Clock = base::EventLoop::Clock;
    static constexpr size_t kMostConnections = 1024;
    static constexpr std::chrono::seconds kPauseAfterFailure{10};
    static constexpr std::chrono::seconds kPauseAfterRefusal{60};  // after the server answered 401

    // An intermediate certificate is replaced this long before it ends. Asked for once in
    // kBetweenCertificates.
    static constexpr std::chrono::seconds kBeforeTheEnd = std::chrono::days(2);
    static constexpr std::chrono::seconds kBetweenCertificates = std::chrono::hours(1);
    // All bodies that rules read whole, together.
    static constexpr size_t kMostHeld = 64u << 20;

    // Before the gateway confines itself.
    static base::Result<std::unique_ptr<Broker>> make(BrokerInputs inputs);
    // `ask` requests the value of a binding from the supervisor, and the lock of its source if the value is
    // for a refresh; `tell` sends it a line for the user.
    void start(base::EventLoop& loop, std::function<void(size_t binding, bool locks)> ask,
               std::function<void(const std::string&)> tell);
    // Called when the intermediate certificate is about to end; take_certificate() answers.
    void when_certificate_ends(std::function<void()> act) { on_certificate_end_ = std::move(act); }
    // Once for each subject, and at most kMostNotices findings ("placeholder HOST") and as many others.
    static constexpr size_t kMostNotices = 16;
    void tell_once(const std::string& subject, const std::string& text);

    // How the connections to a name are read. Nothing: they are not.
    struct Way {
        HostName server;
        uint16_t port = 443;
        bool is_endpoint = false;  // the session's own name for the server, without TLS
    };
    std::optional<Way> way_to(const HostName& name, uint16_t port) const;
    bool is_endpoint_name(const HostName& name) const { return endpoint_of(name) != nullptr; }
    // A credential or a rule names the host, at any port. TLS and HTTP to it are read or refused.
    bool names(const HostName& name) const;

    bool records_paths() const { return records_paths_; }
    // Rules stay valid as long as they are held: renew() replaces them.
    std::shared_ptr<const requests::RequestRules> rules() const { return rules_; }
    const std::vector<exchange::Binding>& bindings() const { return spec_.bindings; }
    const exchange::PlaceholderFinder& finder() const { return finder_; }
    // Starts OpenSSL at the first call. A connection holds it, because renew() replaces it.
    base::Result<std::shared_ptr<tls::ServerContext>> toward_clients();
    // Reads the roots at the first call.
    base::Result<tls::ClientContext*> toward_servers();

    // Calls back once, now or later, when the values of these bindings are there or can't be had. Does not
    // call back if `alive` has expired by then.
    using OnValues = std::function<void(const std::string& failure)>;
    void need(std::vector<size_t> bindings, std::weak_ptr<char> alive, OnValues on_values);
    const base::SecretValue& value(size_t binding) const { return values_[binding].value; }
    // All values so far, also earlier ones, for the answers. Null: none.
    std::shared_ptr<const exchange::RedactionForms> forms() const { return forms_; }

    // As need(), with a value that is obtained now.
    void need_anew(size_t binding, std::weak_ptr<char> alive, OnValues on_values);
    // A token endpoint gave new values. They are used from now on, and go to the user's file.
    void take_tokens(exchange::NewTokens issued, bool is_login);
    Logins& logins() { return logins_; }

    // From the supervisor: a value, or why it is missing.
    void take_value(size_t binding, base::Result<base::SecretValue> value, std::chrono::seconds lifetime);
    // The server answered 401: the next request gets the value anew.
    void renew_later(const std::vector<size_t>& bindings);
    // A value may have been removed or replaced outside, or all of them: one that is on its way is not used
    // either. Answers are searched for old values, too: for one of a named binding until no connection is
    // open, and for others until the session ends, at most kMostEarlier.
    static constexpr size_t kMostEarlier = 16;
    void forget_values(std::optional<size_t> binding = std::nullopt);

    // Other rules and, if they name further hosts, an intermediate for all names. On an error the old ones
    // stay.
    base::Status renew(const requests::RequestSettings& settings,
                       std::optional<tls::Intermediate> intermediate);
    base::Status take_certificate(const tls::Intermediate& intermediate);

    // The bytes that a connection holds for a rule are `now` instead of `before`. False: there is no room for
    // them.
    bool hold(size_t before, size_t now);

    // What `inspect` and `monitor` show.
    struct Use {
        uint64_t requests = 0;  // that got the value
        Clock::time_point last;
        bool has_failed = false;  // the last attempt to get the value
    };
    void count_request(const std::vector<size_t>& used, bool is_permitted);
    uint64_t permitted() const { return permitted_; }
    uint64_t refused() const { return refused_; }
    Use use_of(size_t binding) const;

    ClientPrograms& clients() { return clients_; }

    // Connections at once.
    bool enter();
    void leave();

  private:
    struct Held {
        base::SecretValue value;
        bool is_asked = false;
        bool locks = false;        // it is asked for under the lock of its source
        bool is_outdated = false;  // its source changed while it was asked for
        bool is_stale = false;
        std::string failure;
        Clock::time_point fetched, failed;
        Use use;
        std::optional<Clock::time_point> until;
    };
    struct Earlier {
        size_t binding;
        base::SecretValue value;
        bool is_removed;  // outside: wiped when no connection is open
    };
    struct Waiter {
        std::vector<size_t> bindings;
        std::weak_ptr<char> alive;
        OnValues on_values;
    };
    enum class Readiness { ready, waiting, failed };

    explicit Broker(BrokerInputs&& inputs);
    const exchange::Binding* endpoint_of(const HostName& name) const;
    // Any of the hosts of bindings and rules.
    bool has_host(const std::function<bool(const requests::HostPattern&)>& is_meant) const;
    Readiness look(size_t binding);
    Readiness look(const std::vector<size_t>& bindings, std::string& failure);
    void make_forms();
    // The value is not used any more, but searched for.
    void retire(size_t binding);
    void wipe_removed();
    base::Result<std::shared_ptr<tls::ServerContext>> make_server(const tls::Intermediate& intermediate);
    void look_at_certificate();
    void watch_certificate(base::EventLoop& loop);

    exchange::BrokerSpec spec_;
    std::shared_ptr<const requests::RequestRules> rules_;
    exchange::PlaceholderFinder finder_;
    std::string roots_;
    bool records_paths_;
    std::optional<tls::Intermediate> intermediate_;  // until server_ is made
    bool intercepts_ = false;
    std::shared_ptr<tls::ServerContext> server_;
    std::function<std::time_t()> clock_;
    std::time_t certificate_end_ = 0;
    std::time_t next_certificate_ = 0;  // not asked for before
    std::function<void()> on_certificate_end_;
    std::unique_ptr<tls::ClientContext> client_;
    std::function<void(size_t, bool)> ask_;
    std::function<void(const std::string&)> tell_;
    ClientPrograms clients_;
    Logins logins_;
    std::set<std::string> told_;
    std::vector<Held> values_;
    std::vector<Earlier> earlier_;
    std::vector<Waiter> waiters_;
    std::shared_ptr<const exchange::RedactionForms> forms_;
    size_t connections_ = 0;
    size_t held_ = 0;
    uint64_t permitted_ = 0, refused_ = 0;
};

}  // namespace network::gateway
