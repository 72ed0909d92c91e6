// SPDX-License-Identifier: MIT
// Theory of operation. The order is the protection:
//
//   1. While the jail's namespaces are being created: read the rules, open published ports on the host, read
//      the resolver's files.
//   2. Set up the network namespace and receive its sockets. The process that creates the jail does this, or
//      a child that enters the namespace and exits. Skipped if the inner stage passes connections.
//   3. Confine the gateway: no files, no programs, no other processes.
//   4. Send the ready message to the supervisor, which starts the jail.
//   5. Read the first byte from the jail.
//
// One thread, one loop. When this process dies, its listeners die with it: the kernel then refuses every
// connection of the jail.
#include "network/gateway/gateway.h"

#include <sys/resource.h>

#include <algorithm>
#include <optional>

#include "base/process/pass_descriptors.h"
#include "base/process/release_memory.h"
#include "network/gateway/confine.h"
#include "network/gateway/connections/acceptor.h"
#include "network/gateway/connections/passed_acceptor.h"
#include "network/gateway/context.h"
#include "network/gateway/control/messages.h"
#include "network/gateway/control/publish.h"
#include "network/gateway/control/steering.h"
#include "network/gateway/control/supervision.h"
#include "network/gateway/datagrams/datagrams.h"
#include "network/gateway/names/name_server.h"
#include "network/gateway/relay/pipe_pool.h"
#include "network/netns/listeners.h"

namespace network::gateway {
namespace {

std::string text_of(const std::string& path) {
    base::Result<std::string> text = base::read_file(path, 4u << 20);
    return text ? *std::move(text) : std::string();
}

ResolverFiles read_resolver_files() {
    return {.hosts = text_of("/etc/hosts"), .resolv_conf = text_of("/etc/resolv.conf")};
}

// A tunnel needs two descriptors, and four more for its pipes while splice(2) moves a stream.
void raise_open_files() {
    struct rlimit limit;
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

Acceptor::Origin origin_of(netns::Capture capture) {
    return capture == netns::Capture::redirect ? Acceptor::Origin::redirected : Acceptor::Origin::own_address;
}

// Nothing: all ports.
std::optional<std::vector<uint16_t>> listened_ports(const Egress& egress, const netns::Listeners& listeners) {
    bool has_each_its_own = !listeners.tcp.empty() && listeners.capture == netns::Capture::listeners;
    if (!has_each_its_own) return std::nullopt;
    std::vector<uint16_t> ports = netns::common_ports();
    ports.insert(ports.end(), egress.tcp_ports.begin(), egress.tcp_ports.end());
    std::ranges::sort(ports);
    return ports;
}

// Everything that must be opened before the confinement.
struct Prepared {
    Engine engine;
    netns::Listeners listeners;
    std::vector<base::Fd> published;
    ResolverFiles files;
};

// Prepared while the namespaces are being created.
struct Early {
    Engine engine;
    std::vector<base::Fd> published;
    ResolverFiles files;
};

base::Result<Early> prepare_early(const Egress& egress) {
    base::Result<Engine> engine = Engine::make(egress.rules);
    if (!engine) return engine.error();
    base::Result<std::vector<base::Fd>> published = Publish::open(egress.published);
    if (!published) return published.error();
    raise_open_files();
    return Early{*std::move(engine), *std::move(published), read_resolver_files()};
}

base::Result<Prepared> prepare(const Egress& egress, const GatewayInputs& inputs) {
    base::Result<Early> early = prepare_early(egress);
    if (inputs.handed) {
        if (!early) return early.error();
        return Prepared{std::move(early->engine), {}, {}, std::move(early->files)};
    }
    // Wait even after a failure: the process that creates the namespaces fails if its messages are not read.
    base::Result<netns::Listeners> listeners = inputs.await_listeners(network_request_for(egress));
    if (!early) return early.error();
    if (!listeners) return listeners.error();
    return Prepared{std::move(early->engine), *std::move(listeners), std::move(early->published),
                    std::move(early->files)};
}

int serve(Egress egress, Prepared prepared, GatewayInputs inputs, bool has_landlock, base::EventLoop& loop) {
    Names names;
    Resolver resolver(loop, prepared.files);
    Journal journal(std::move(inputs.record));
    Questions questions(loop, prepared.engine, egress, journal);
    GatewayContext context{loop, prepared.engine, egress, names, resolver, journal, questions};
    Supervision supervision(context, std::move(inputs.control));
    resolver.when_unanswered([&supervision] { supervision.ask_for_files(); });
    journal.when_full([&supervision] { supervision.say(kAskForJournal); });
    {
        PipePool pipes;
        NameServer name_server(context);
        Acceptor acceptor(context, name_server);
        Datagrams datagrams(context);
        Publish publish(context, pipes, std::move(prepared.listeners.connector));
        Acceptor::Origin origin = origin_of(prepared.listeners.capture);
        for (base::Fd& listener : prepared.listeners.tcp) acceptor.listen(std::move(listener), origin);
        for (base::Fd& socket : prepared.listeners.name_servers) name_server.listen(std::move(socket));
        // First all ports of one address family, then all of the other.
        for (size_t i = 0; i < prepared.listeners.udp.size(); ++i) {
            datagrams.listen(std::move(prepared.listeners.udp[i]),
                             egress.udp_ports[i % egress.udp_ports.size()]);
        }
        std::optional<PassedAcceptor> handed;
        if (inputs.handed) handed.emplace(context, acceptor, std::move(inputs.handed));
        for (size_t i = 0; i < prepared.published.size(); ++i) {
            publish.listen(std::move(prepared.published[i]), egress.published[i]);
        }
        Steering steering(context, {prepared.engine, egress, listened_ports(egress, prepared.listeners)},
                          acceptor, datagrams, name_server);
        supervision.steer(&steering);
        supervision.say(encode(Start{.capture = prepared.listeners.capture, .has_landlock = has_landlock}));
        loop.after(base::kShortBreak, [] { base::rest(); });
        loop.run();
        supervision.steer(nullptr);
    }
    // Every connection that was still open has been recorded above.
    journal.finish();
    if (supervision.is_asked_to_end())
        supervision.say(encode(summary_of(journal.refusals(), journal.head())));
    return 0;
}

int give_up(int control, const base::Error& error) {
    (void)base::send_descriptors(control, encode(Start{.failure = error.line()}), {});
    return 1;
}

}  // namespace

netns::NetworkRequest network_request_for(const Egress& egress) {
    bool is_isolated = egress.rules.mode == policy::NetworkMode::isolated;
    return {.has_listeners = !is_isolated,
            .tcp_ports = egress.tcp_ports,
            .udp_ports = egress.udp_ports,
            .has_connector = !egress.published.empty()};
}

int run(const Egress& egress, GatewayInputs inputs) {
    base::Result<Prepared> prepared = prepare(egress, inputs);
    if (!prepared) return give_up(inputs.control.get(), prepared.error());
    base::EventLoop loop;
    if (base::Status opened = loop.open(); !opened) return give_up(inputs.control.get(), opened.error());
    base::Result<Confinement> confinement = confine();
    if (!confinement) return give_up(inputs.control.get(), confinement.error());
    return serve(egress, *std::move(prepared), std::move(inputs), confinement->has_landlock, loop);
}

}  // namespace network::gateway
