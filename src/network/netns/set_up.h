// SPDX-License-Identifier: MIT
// Makes the network namespace of a jail that has just been made into one in which every address in the world
// is local and leads to the gateway. Done from outside by a short-lived process, which enters the namespace
// with the power that its owner has; the jailed process has none over it.
#pragma once

#include <sys/types.h>

#include <cstdint>
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

// `process` lives in the namespace. Waits until whoever made it has raised its loopback device, as bubblewrap
// does.
base::Result<Listeners> set_up(pid_t process, const Wanted& wanted);

}  // namespace network::netns
