// SPDX-License-Identifier: MIT
// What was planted for the probes and where: a home directory, a project, secrets, services, a neighbour
// process. It travels to the probes as one line of JSON, to those outside (the controls) and to those inside
// alike.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace selftest {

// Descriptors that the caller "forgot" to close before it started the jail.
inline constexpr int kSecretDescriptor = 100;
inline constexpr int kHomeDescriptor = 101;

struct World {
    std::string secret;      // random; who can show it has got at something that was hidden
    std::string root;        // the scratch directory; everything on disk but the places below lies in it
    std::string home;        // the caller's home directory, as far as the jail knows
    std::string project;     // the jail's project
    std::string neighbour;   // another project beside it
    std::string namespaces;  // of the caller, "mnt:[1] pid:[2] …"
    std::string handle;      // of the private key, for open_by_handle_at; in hexadecimal

    // Empty where this host can't have it.
    std::string home_socket;       // a service in the home directory
    std::string temporary_socket;  // a service in /tmp
    std::string abstract_socket;   // a service without a file
    std::string temporary_file;    // a secret in /tmp
    std::string shared_memory;     // a secret in /dev/shm
    std::string message_queue;     // name of a POSIX queue with a secret
    std::string terminal;          // somebody else's terminal
    std::string other_home;        // home directory of another user
    std::string address;           // of this host, IPv4, not loopback

    // Numbers; 0 or -1 where this host can't have it.
    int64_t process = 0;   // a process of the caller's, with a secret in its environment
    int64_t guardian = 0;  // the process to break into: the neighbour outside, pid 1 inside
    int64_t memory_id = -1, semaphore_id = -1, queue_id = -1, ipc_key = 0;  // System V
    int64_t key = 0;                                                        // in the kernel's keyrings
    int64_t tcp_port = 0, tcp6_port = 0, udp_port = 0, address_port = 0;
    int64_t is_inside = 0;
};

base::Json to_json(const World& world);
base::Result<World> world_from_json(std::string_view text);

}  // namespace selftest
