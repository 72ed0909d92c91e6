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

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include "base/process/descriptors.h"
#include "base/process/own_process.h"
#include "landlock/wall.h"
#include "network/gateway/connections/acceptor.h"
#include "network/gateway/context.h"
#include "network/gateway/control/messages.h"
#include "network/gateway/control/publish.h"
#include "network/gateway/control/supervision.h"
#include "network/gateway/datagrams/datagrams.h"
#include "network/gateway/names/name_server.h"
#include "network/gateway/relay/relay.h"
#include "network/netns/recipe.h"
#include "seccomp/allow_list.h"

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
    std::unique_ptr<Broker> broker;
};

// Prepared while the namespaces are being created.
struct Early {
    Engine engine;
    std::vector<base::Fd> published;
    ResolverFiles files;
    std::unique_ptr<Broker> broker;
};

base::Result<Early> prepare_early(const Egress& egress, GatewayInputs& inputs) {
    base::Result<Engine> engine = Engine::make(egress.rules);
    if (!engine) return engine.error();
    base::Result<std::vector<base::Fd>> published = Publish::open(egress.published);
    if (!published) return published.error();
    raise_open_files();
    Early early{*std::move(engine), *std::move(published), read_resolver_files(), nullptr};
    if (!inputs.broker) return early;
    base::keep_secrets_in_locked_memory();
    base::Result<std::unique_ptr<Broker>> broker = Broker::make(*std::move(inputs.broker));
    if (!broker) return broker.error();
    early.broker = *std::move(broker);
    return early;
}

base::Result<Prepared> prepare(const Egress& egress, GatewayInputs& inputs) {
    base::Result<Early> early = prepare_early(egress, inputs);
    if (inputs.handed) {
        if (!early) return early.error();
        return Prepared{std::move(early->engine), {}, {}, std::move(early->files), std::move(early->broker)};
    }
    // Wait even after a failure: the process that creates the namespaces fails if its messages are not read.
    base::Result<netns::Listeners> listeners = inputs.await_listeners(network_request_for(egress));
    if (!early) return early.error();
    if (!listeners) return listeners.error();
    return Prepared{std::move(early->engine), *std::move(listeners), std::move(early->published),
                    std::move(early->files), std::move(early->broker)};
}

int serve(Egress egress, Prepared prepared, GatewayInputs inputs, bool has_landlock, base::EventLoop& loop) {
    Names names;
    Resolver resolver(loop, prepared.files);
    Journal journal(std::move(inputs.record));
    Approvals approvals(loop, prepared.engine, egress, journal);
    GatewayContext context{loop,     prepared.engine, egress,    names,
                           resolver, journal,         approvals, prepared.broker.get()};
    Supervision supervision(context, std::move(inputs.control));
    if (prepared.broker) {
        prepared.broker->when_certificate_ends([&supervision] { supervision.say(kAskForCertificate); });
        prepared.broker->clients().ask_by([&supervision](uint64_t ticket, uint16_t port) {
            supervision.say(encode(ProgramRequest{.number = ticket, .port = port}));
        });
        prepared.broker->logins().pass_by(
            [&supervision](const exchange::NewTokens& issued, bool is_login) {
                supervision.pass_tokens(issued, is_login);
            },
            [&supervision](size_t binding, bool has_tokens) {
                supervision.say(encode(RefreshOver{.number = binding, .has_tokens = has_tokens}));
            });
        prepared.broker->start(
            loop,
            [&supervision](size_t binding, bool locks) {
                supervision.say(encode(ValueRequest{.number = binding, .locks = locks}));
            },
            [&supervision](const std::string& text) { supervision.say(encode(Notice{text})); });
    }
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
        for (base::Fd& listener : prepared.listeners.loopback)
            acceptor.listen(std::move(listener), Acceptor::Origin::own_address);
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
        supervision.publish_by(&publish, acceptor.socket_inside());
        supervision.say(encode(Start{.capture = prepared.listeners.capture, .has_landlock = has_landlock}));
        loop.after(base::kShortBreak, [] { base::rest(); });
        loop.run();
        supervision.steer(nullptr);
        supervision.publish_by(nullptr, -1);
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
            .loopback_ports = loopback_ports(egress),
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

namespace {

#ifdef SYS_epoll_wait
constexpr int kEpollWait = SYS_epoll_wait;
#else
constexpr int kEpollWait = -1;
#endif
#ifdef SYS_epoll_pwait2
constexpr int kEpollWait2 = SYS_epoll_pwait2;
#else
constexpr int kEpollWait2 = -1;
#endif

// The most frequent calls first: the kernel runs the filter from the top.
constexpr int kCalls[] = {SYS_recvfrom,       SYS_sendto,
                          SYS_splice,         SYS_epoll_pwait,
                          kEpollWait,         kEpollWait2,
                          SYS_epoll_ctl,      SYS_accept4,
                          SYS_close,          SYS_connect,
                          SYS_setsockopt,     SYS_getsockopt,
                          SYS_getsockname,    SYS_getpeername,
                          SYS_shutdown,       SYS_read,
                          SYS_write,          SYS_readv,
                          SYS_writev,         SYS_recvmsg,
                          SYS_sendmsg,        SYS_pipe2,
                          SYS_fcntl,          SYS_getrandom,
                          SYS_clock_gettime,  SYS_brk,
                          SYS_munmap,         SYS_mremap,
                          SYS_madvise,        SYS_futex,
                          SYS_rt_sigreturn,   SYS_exit_group,
                          SYS_rt_sigprocmask, SYS_restart_syscall,
                          SYS_exit,           SYS_gettid,
                          SYS_getpid,         SYS_tgkill,
                          SYS_fstat};

std::vector<seccomp::Allowed> allowed_calls() {
    std::vector<seccomp::Allowed> calls = {
        // Only these families: a Unix socket would reach services of the host.
        {SYS_socket, 0, {AF_INET, AF_INET6}},
        {SYS_mmap, 2, {PROT_EXEC}, true},
        {SYS_mprotect, 2, {PROT_EXEC}, true},
    };
    for (int number : kCalls) calls.push_back({.number = number});
    return calls;
}

}  // namespace

base::Result<Confinement> confine() {
    Confinement confinement;
    ::prctl(PR_SET_DUMPABLE, 0);
    struct rlimit none = {0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return base::system_error("confine the gateway", errno);
    int number = landlock::give_up_files();
    bool is_missing = number == ENOSYS || number == EOPNOTSUPP;
    if (number != 0 && !is_missing) return base::system_error("confine the gateway with Landlock", number);
    confinement.has_landlock = number == 0;
    if (number = seccomp::install_allow_list(allowed_calls()); number != 0) {
        return base::system_error("confine the gateway with a filter", number);
    }
    return confinement;
}

}  // namespace network::gateway
