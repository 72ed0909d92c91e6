// SPDX-License-Identifier: MIT
// The planted objects and their places: a home directory, a project, secrets, services, a neighbour process.
// The probes outside (the controls) and inside receive it as one line of JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/encoding/json.h"
#include "base/result.h"

namespace selftest {

// Descriptors that the caller leaves open when it starts the jail.
inline constexpr int kSecretDescriptor = 100;
inline constexpr int kHomeDescriptor = 101;

// The variable of the credential: it has the value outside, and the placeholder inside.
inline constexpr std::string_view kCredentialVariable = "SELFTEST_TOKEN";

struct World {
    std::string secret;      // random; a process that has it has reached something hidden
    std::string root;        // the scratch directory with all files except those listed below
    std::string home;        // the caller's home directory for the jail
    std::string project;     // the jail's project
    std::string neighbour;   // another project beside it
    std::string namespaces;  // of the caller, "mnt:[1] pid:[2] …"
    std::string handle;      // of the private key, for open_by_handle_at; in hexadecimal

    std::string left_out;  // files of the home directory that are the user's and not planted, "|a|b|"

    // Empty if this host can't have it.
    std::string home_socket;       // a service in the home directory
    std::string temporary_socket;  // a service in /tmp
    std::string abstract_socket;   // a service without a file
    std::string temporary_file;    // a secret in /tmp
    std::string shared_memory;     // a secret in /dev/shm
    std::string message_queue;     // name of a POSIX queue with a secret
    std::string terminal;          // a terminal that is not the probes'
    std::string other_home;        // home directory of another user
    std::string address;           // of this host, IPv4, not loopback

    // For the probes of credentials, if they are asked for.
    std::string source;     // the file with the credential's value
    std::string authority;  // the root certificate of the host that gets it

    // Numbers; 0 or -1 if this host can't have it.
    int64_t process = 0;   // a process of the caller with a secret in its environment
    int64_t guardian = 0;  // the process to attack: the neighbour outside, the stage inside
    int64_t memory_id = -1, semaphore_id = -1, queue_id = -1, ipc_key = 0;  // System V
    int64_t key = 0;                                                        // in the kernel's keyrings
    int64_t tcp_port = 0, tcp6_port = 0, udp_port = 0, address_port = 0;
    int64_t bound_port = 0, other_port = 0;  // of the host for credentials
    int64_t is_inside = 0;
};

// Whether the user has a file with this name in the home directory, so that it was not planted.
bool is_left_out(const World& world, std::string_view path);

base::Json to_json(const World& world);
base::Result<World> world_from_json(std::string_view text);

// Secrets outside the scratch directory: shared memory, queues, a key, a file in /tmp. Entries that are
// impossible on this host stay empty in the world.

void plant_ipc(World& world, const std::string& tag);
void remove_ipc(const World& world);

// Values that the probes compare with: namespaces of this process, another user's home, an address of this
// host.
void describe_host(World& world);

}  // namespace selftest
