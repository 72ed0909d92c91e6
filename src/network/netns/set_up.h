// SPDX-License-Identifier: MIT
// Sets up a network namespace in which every address is local and leads to the gateway. If our own process
// builds the jail, it does this itself (carry_out_after_clone.h). If bubblewrap does, a short-lived process
// enters the namespace from outside, with the capabilities of its owner. In neither case does the jailed
// process have capabilities over it.
#pragma once

#include <sys/types.h>

#include <cstdint>
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
    bool has_connector = false;      // the gateway will connect into the jail: --publish
    Capture best = Capture::tproxy;  // tests set a lesser one
};

struct Listeners {
    Capture capture = Capture::listeners;
    std::vector<base::Fd> tcp;
    std::vector<base::Fd> name_servers;  // UDP port 53, one per family
    std::vector<base::Fd> udp;           // the others, bound to their ports, one per family and port
    bool has_v6 = true;
    base::Fd connector;  // see connector.h
};

// The error if the process that sets the namespace up ends without a message.
inline constexpr std::string_view kEndedEarly = "the set-up of the network namespace ended early";

// `process` is in the namespace. Waits until the namespace's creator has raised the loopback device, as
// bubblewrap does.
base::Result<Listeners> set_up(pid_t process, const NetworkRequest& request);

// Receives the sockets from a process that carries out the recipe of `request` in the namespace.
base::Result<Listeners> receive(int socket, const NetworkRequest& request);

}  // namespace network::netns
