// SPDX-License-Identifier: MIT
// The groups of probes, one file each.
#pragma once

#include <vector>

#include "selftest/probe.h"

namespace selftest {

using Probes = std::vector<Probe>;

void add_files(Probes& probes);         // reading hidden files
void add_places(Probes& probes);        // the system: missing paths and read-only paths
void add_environment(Probes& probes);   // secrets in variables
void add_processes(Probes& probes);     // processes outside, privileges inside
void add_ipc(Probes& probes);           // shared memory, queues, sockets, keys
void add_terminal(Probes& probes);      // typing into the caller's terminal
void add_system_calls(Probes& probes);  // calls that the seccomp filter refuses
void add_namespaces(Probes& probes);    // new namespaces and changed mounts
void add_protection(Probes& probes);    // paths of the project that run code later
void add_persistence(Probes& probes);   // files and processes left after the jail
void add_network(Probes& probes);       // services of this host
void add_gateway(Probes& probes);       // requests that the gateway must refuse

}  // namespace selftest
