// SPDX-License-Identifier: MIT
// Sets up a network namespace in which every address is local and leads to the gateway. If our own process
// builds the jail, it does this itself (carry_out_after_clone.h). If bubblewrap does, a short-lived process
// enters the namespace from outside, with the capabilities of its owner. In neither case does the jailed
// process have capabilities over it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace network::netns {

// How TCP connections to any port reach one listener.
enum class Capture {
    tproxy,     // nf_tables assigns the first packet to the listener; no connection is tracked
    redirect,   // nf_tables changes the destination; the kernel stores the original
    listeners,  // no nf_tables: a listener per port; other ports are refused by the kernel
};
std::string_view to_text(Capture capture);

struct NetworkRequest {
    bool has_listeners = true;        // false: nothing leaves the jail; only connections into it are possible
    std::vector<uint16_t> tcp_ports;  // for Capture::listeners, besides the built-in ones
    std::vector<uint16_t> udp_ports;
    std::vector<uint16_t> loopback_ports;  // also on 127.0.0.1 and ::1: --host-port
    bool has_connector = false;            // the gateway will connect into the jail: --publish
    Capture best = Capture::tproxy;        // tests set a lesser one
};

struct Listeners {
    Capture capture = Capture::listeners;
    std::vector<base::Fd> tcp;
    std::vector<base::Fd> name_servers;  // UDP port 53, one per family
    std::vector<base::Fd> udp;           // the others, bound to their ports, one per family and port
    std::vector<base::Fd> loopback;      // TCP, bound to 127.0.0.1 and ::1
    bool has_v6 = true;
    base::Fd connector;  // answers with sockets of the namespace
};

// The error if the process that sets the namespace up ends without a message.
inline constexpr std::string_view kEndedEarly = "the set-up of the network namespace ended early";

// `process` is in the namespace. Waits until the namespace's creator has raised the loopback device, as
// bubblewrap does.
base::Result<Listeners> set_up(pid_t process, const NetworkRequest& request);

// Receives the sockets from a process that carries out the recipe of `request` in the namespace.
base::Result<Listeners> receive(int socket, const NetworkRequest& request);

// Starts a connector later, in the network namespace that `socket` belongs to. The caller must
// own the namespace's user namespace. `settle` runs first in the new process and may close all descriptors
// but those that it gets.
using Settle = std::function<void(const std::vector<int>& kept)>;
base::Result<base::Fd> connector_for(int socket, const Settle& settle);

// Sockets of the jail's network namespace for a process outside of it. The connector is a process without
// capabilities that stays in the namespace. For each requested port it passes a socket that is connecting to
// the jail's own loopback.

// In the connector: serves until the other end of the socket is closed.
[[noreturn]] void serve_connections(int socket);

// In the gateway: a non-blocking socket that connects to 127.0.0.1 or, with `is_v6`, to ::1. If no program
// listens there, the socket reports the error when it is ready. The connector answers in microseconds.
base::Result<base::Fd> connect_inside(int connector, uint16_t port, bool is_v6);

}  // namespace network::netns
