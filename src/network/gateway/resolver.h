// SPDX-License-Identifier: MIT
// Names to real addresses, in the host's network: /etc/hosts first, then the resolvers of /etc/resolv.conf
// over UDP, and TCP where an answer was cut. Written out because a static program can't use the C library's,
// and because nothing in the gateway may block. The policy was asked before anybody comes here.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "network/gateway/loop.h"
#include "network/rules/address.h"
#include "network/rules/name.h"
#include "network/wire/dns.h"

namespace network::gateway {

struct Resolution {
    enum class Outcome { found, no_such_name, no_address, failed };
    Outcome outcome = Outcome::failed;
    std::vector<Address> addresses;  // as they came, IPv4 first; every one is still to be judged
    std::string reason;              // of a failure: "no answer from 10.0.0.53"
};

// The host's files, read before the gateway confined itself.
struct ResolverFiles {
    std::string hosts;
    std::string resolv_conf;
    uint16_t server_port = 53;  // which resolv.conf has no word for; tests have a server of their own
};

class Resolver {
  public:
    using Ticket = uint64_t;  // 0 is none
    using Done = std::function<void(const Resolution&)>;
    using DoneRaw = std::function<void(std::string_view reply)>;  // empty: no answer

    Resolver(Loop& loop, const ResolverFiles& files);
    ~Resolver();
    Resolver(const Resolver&) = delete;
    Resolver& operator=(const Resolver&) = delete;

    // Lookups at work at once; as many more wait for their turn, and beyond that they fail at once.
    static constexpr size_t kMostAtWork = 256;

    // Takes new files, after the host moved to another network; what is cached is forgotten.
    void renew(const ResolverFiles& files);
    // Called for each lookup that no server answered: the host may have moved, and the files with it.
    void when_unanswered(std::function<void()> act);

    // Both families at once. May call back before it returns (cached answers); then the ticket is 0. Askers
    // for the same name share one lookup.
    Ticket look_up(const HostName& name, Done done);
    // A question of another type, passed on as it is; the reply has the asker's id and was checked to answer
    // the question.
    Ticket ask(const wire::DnsQuery& query, DoneRaw done);
    // The callback will not be called. Sets the ticket to 0.
    void cancel(Ticket& ticket);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace network::gateway
