// SPDX-License-Identifier: MIT
// Resolves names to real addresses in the host's network: /etc/hosts first, then the servers of
// /etc/resolv.conf over UDP, and over TCP if an answer was truncated. Our own code, because a static program
// cannot use the C library's resolver, and because the gateway must not block. The caller has asked the
// policy before.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/process/event_loop.h"
#include "network/wire/dns/dns.h"
#include "rules/address.h"
#include "rules/names/name.h"

namespace network::gateway {

// Whether the name means this machine (RFC 6761).
inline bool is_localhost(const HostName& name) {
    return name.str() == "localhost" || name.str().ends_with(".localhost");
}

struct Resolution {
    enum class Outcome { found, no_such_name, no_address, failed };
    Outcome outcome = Outcome::failed;
    std::vector<Address> addresses;  // as received, IPv4 first; every one must still be judged
    std::string reason;              // of a failure: "no answer from 10.0.0.53"
};

// The host's files, read before the gateway confined itself.
struct ResolverFiles {
    std::string hosts;
    std::string resolv_conf;
    uint16_t server_port = 53;  // resolv.conf cannot set it; tests use a server of their own
};

class Resolver {
  public:
    using Ticket = uint64_t;  // 0: no ticket
    using Done = std::function<void(const Resolution&)>;
    using DoneRaw = std::function<void(std::string_view reply)>;  // empty: no answer

    Resolver(base::EventLoop& loop, const ResolverFiles& files);
    ~Resolver();
    Resolver(const Resolver&) = delete;
    Resolver& operator=(const Resolver&) = delete;

    // Lookups that run at once. The same number may wait; beyond that a lookup fails at once.
    static constexpr size_t kMostAtWork = 256;

    // Takes new files after the host moved to another network, and clears the cache.
    void renew(const ResolverFiles& files);
    // Called for each lookup that no server answered: the host may have moved, and its files changed.
    void when_unanswered(std::function<void()> act);

    // Looks up both address families at once. May call back before it returns (cached answers); the ticket is
    // then 0. Callers for the same name share one lookup.
    Ticket look_up(const HostName& name, Done done);
    // Passes on a query of another type unchanged. The reply has the caller's id and was checked to answer
    // the query.
    Ticket ask(const wire::DnsQuery& query, DoneRaw done);
    // The callback is then not called. Sets the ticket to 0.
    void cancel(Ticket& ticket);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

// Recent DNS answers. A program looks a name up and connects a moment later: the gateway then dials the
// addresses that it judged and does not query again. Pure; the caller passes the time.

class AnswerCache {
  public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr size_t kMost = 4096;
    static constexpr std::chrono::seconds kShortest{5};  // also the lifetime of an answer without addresses
    static constexpr std::chrono::seconds kLongest{60};

    // Null if there is no entry or it has expired. The pointer is valid until the next change.
    const Resolution* find(const HostName& name, Time now);
    // `lifetime` is clamped to the bounds above. If the cache is full, the oldest entry is dropped.
    void keep(const HostName& name, Resolution resolution, std::chrono::seconds lifetime, Time now);
    void clear();
    size_t size() const { return entries_.size(); }

  private:
    struct CachedAnswer {
        HostName name;
        Resolution resolution;
        Time until;
    };
    std::list<CachedAnswer> entries_;  // the oldest first
    std::unordered_map<HostName, std::list<CachedAnswer>::iterator> by_name_;
};

}  // namespace network::gateway
