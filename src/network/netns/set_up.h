// SPDX-License-Identifier: MIT
// Makes a network namespace into one in which every address in the world is local and leads to the gateway.
// Where the process that builds the jail is ours, it does so itself (carry_out_after_clone.h); where it is
// bubblewrap, a short-lived process enters the namespace from outside, with the power that its owner has. In
// neither case has the jailed process any power over it.
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
    tproxy,     // nf_tables assigns the first packet to the listener; nothing is tracked
    redirect,   // nf_tables changes the destination; the kernel remembers the original
    listeners,  // no nf_tables: a listener per port; other ports are refused by the kernel
};
std::string_view to_text(Capture capture);

struct Wanted {
    bool has_listeners = true;        // false: nothing leaves the jail, somebody may only connect into it
    std::vector<uint16_t> tcp_ports;  // for Capture::listeners, besides the built-in ones
    std::vector<uint16_t> udp_ports;
    bool has_connector = false;      // somebody will connect into the jail: --publish
    Capture best = Capture::tproxy;  // tests ask for a lesser one
};

struct Listeners {
    Capture capture = Capture::listeners;
    std::vector<base::Fd> tcp;
    std::vector<base::Fd> name_servers;  // UDP port 53, one per family
    std::vector<base::Fd> udp;           // the others, bound to their ports, one per family and port
    bool has_v6 = true;
    base::Fd connector;  // see connector.h
};

// Whoever was to set the namespace up ended without a word; as an error.
inline constexpr std::string_view kEndedEarly = "the set-up of the network namespace ended early";

// `process` lives in the namespace. Waits until whoever made it has raised its loopback device, as bubblewrap
// does.
base::Result<Listeners> set_up(pid_t process, const Wanted& wanted);

// What a process that carries out the recipe of `wanted` in the namespace hands out through `socket`.
base::Result<Listeners> receive(int socket, const Wanted& wanted);

}  // namespace network::netns
