// SPDX-License-Identifier: MIT
// The egress rules as one question: may this connection be made? Pure: no socket, no resolver, no clock. The
// gateway asks three times, and each answer is independent:
//
//   1. decide_lookup(name)     before a name is looked up, because a lookup already carries data out
//   2. decide(question)        when a port is known, for names and for literal addresses
//   3. decide_resolved(…)      for each address of a name, before it is dialled; it can only refuse more
//
// Order of authority: first the port floor and the address floor. Then the administrator's blocks, which no
// user setting can override. Then the most specific rule, where a block wins against an equally specific
// allow; a block of the shipped list loses against it. Then the default of the mode. A user may always be
// stricter than the administrator.
//
// Two settings change the result, but never for targets that the administrator or a floor closes.
// network.ask: if only the default of the mode decides about a name, the user is asked (Decision::ask). The
// name is not looked up before the answer. network.observe: a refusal becomes an allow that contains the
// reason of the refusal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "config/value.h"
#include "policy/policy.h"
#include "rules/address.h"
#include "rules/bundle.h"
#include "rules/names/name.h"
#include "rules/rule.h"
#include "rules/services.h"

namespace network {

using Host = std::variant<HostName, Address>;

// A name or an address as a client writes it. An IPv6 address may be in brackets.
base::Result<Host> parse_host(std::string_view text);

struct Question {
    Host host;
    uint16_t port = 0;
    Transport transport = Transport::tcp;
};

enum class Decision { allow, deny, ask, inject };  // no rule uses the last one yet

// What made the decision.
enum class Cause { mode, rule, shipped_list, port_floor, address_floor, literal, udp, ask, protocol };

std::string_view to_text(Decision decision);
std::string_view to_text(Cause cause);

struct Verdict {
    Decision decision = Decision::deny;
    Cause cause = Cause::mode;
    std::string rule;  // "*.example.org", "@github: api.github.com", "port 25"; empty for a default
    config::Origin origin;
    std::string reason;  // a clause: "telnet: passwords and sessions in clear text"
    std::string advice;  // what the user can do; may be empty
    // The smallest flag or line that would allow it: "--allow-host example.org". Empty if no change does.
    std::string change;
    // network.observe: allowed although the rules refuse it. The other fields give the reason for the
    // refusal.
    bool is_observed = false;

    bool is_allowed() const { return decision == Decision::allow; }
};

struct EngineSettings {
    policy::NetworkMode mode = policy::NetworkMode::filtered;
    config::Origin mode_origin;
    std::vector<config::Item> block;
    std::vector<config::Item> allow;
    std::vector<config::Item> private_networks;  // network.private
    bool are_literals_open = false;              // network.literals = allow
    config::Origin literals_origin;
    bool has_shipped_list = true;             // share/network/blocked_names.list
    std::vector<Bundle> bundles;              // read from client configurations
    std::vector<config::Item> host_services;  // network.host_services: exceptions to the address floor
    bool is_asking = false;                   // network.ask: the user decides where only the mode would
    bool is_observing = false;                // network.observe
    std::vector<config::Item> udp;            // network.udp: entries as in `allow`, for UDP alone
};

// The rules of `allow`, `udp` and `host_services`, with bundles expanded.
base::Result<std::vector<Rule>> opening_rules(const EngineSettings& settings);

class Engine {
  public:
    // An entry that cannot be parsed is an error. It is never skipped.
    static base::Result<Engine> make(const EngineSettings& settings);

    Verdict decide(const Question& question) const;
    // `resolved` is one of the addresses of `name`.
    Verdict decide_resolved(const HostName& name, const Address& resolved, uint16_t port,
                            Transport transport = Transport::tcp) const;
    // Whether an allowed connection may use a protocol that carries no name to judge. If a rule decides
    // (Cause::rule), the bytes are not read at all. Otherwise the port decides: closed where HTTP or TLS is
    // usual. `resolved` is the address of a name, if it is known.
    Verdict decide_raw(const Host& host, uint16_t port, const Address* resolved = nullptr) const;
    // Whether any port of the name is open. ask: no port is open, but the user's answer could open one. The
    // name must not be looked up before.
    Verdict decide_lookup(const HostName& name) const;
    // The same for one of its addresses, before a port is known: checks the address floor.
    Verdict decide_address(const HostName& name, const Address& resolved) const;

    // Allow entries that can have no effect, one line each.
    const std::vector<std::string>& warnings() const { return warnings_; }

  private:
    Engine() = default;
    void warn_of_no_effect(const Rule& rule);
    Verdict decide_strictly(const Question& question) const;
    Verdict judge(const ConnectionAttempt& attempt) const;
    Verdict observed(Verdict verdict) const;
    Verdict first_above_floor(const HostName& name, uint32_t port, Transport transport) const;
    Verdict default_verdict(const ConnectionAttempt& attempt) const;
    std::optional<Verdict> closed_port(const ConnectionAttempt& attempt) const;
    std::optional<Verdict> closed_address(const Address& address, uint16_t port, Transport transport) const;
    std::optional<Verdict> closed_host_port(const ConnectionAttempt& attempt) const;
    bool is_service(const Address& address, uint16_t port, Transport transport) const;
    const config::Origin* opened_as_private(const ConnectionAttempt& attempt) const;

    policy::NetworkMode mode_ = policy::NetworkMode::filtered;
    config::Origin mode_origin_;
    bool are_literals_open_ = false;
    config::Origin literals_origin_;
    bool is_asking_ = false;
    bool is_observing_ = false;
    std::vector<Prefix> private_networks_;
    std::vector<config::Origin> private_origins_;  // the origin of each private network
    std::vector<HostService> services_;
    RuleTable admin_;
    RuleTable others_;
    RuleTable lifted_ports_;  // the administrator's allow rules that name a port
    std::vector<std::string> warnings_;
};

}  // namespace network
