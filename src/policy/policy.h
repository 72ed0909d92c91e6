// SPDX-License-Identifier: MIT
// The effective settings as typed data, which the plan reads. Lists keep the origin of every entry.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/backend.h"
#include "base/path.h"
#include "config/value.h"
#include "policy/choices.h"
#include "policy/merge.h"

namespace policy {

using Items = std::vector<config::Item>;

// Bytes, seconds or a count; 0: unlimited.
struct Limit {
    uint64_t value = 0;
    config::Origin origin;
};

struct Policy {
    struct {
        Items parents;
        bool read_only = false;
        config::Origin read_only_origin;
        Items protect, unprotect, mask, unmask;
    } project;
    struct {
        HomeAccess access = HomeAccess::tmpwrite;
        config::Origin access_origin;
        Items readonly, writable, seeded, unprotect;
        bool caches = true;
        config::Origin caches_origin;
    } home;
    struct {
        Items readonly, writable, hidden, deny_writable;
    } mounts;
    struct {
        Items allow, allow_dangerous;
    } sockets;
    struct {
        EnvMode mode = EnvMode::clean;
        config::Origin mode_origin;
        Items allow, set, block, block_patterns;
    } env;
    struct {
        std::optional<base::Backend> backend;  // not set: the best that works
        config::Origin backend_origin;
        std::optional<base::Path> bwrap, firejail;
        Requirement require = Requirement::automatic;
        config::Origin require_origin;
        Items require_each;
        bool private_tmp = true, private_ipc = true, filter_passwd = true;
        config::Origin private_tmp_origin, private_ipc_origin, filter_passwd_origin;
        bool allow_nested_namespaces = false, allow_ptrace = true, allow_perf = false, allow_keyrings = false;
    } isolation;
    struct {
        Limit processes, memory, open_files, file_size, wall_time, idle_time;
    } limits;
    struct {
        Items allow, deny;
        Gpu gpu = Gpu::automatic;
        config::Origin gpu_origin;
    } devices;
    struct {
        NetworkMode mode = NetworkMode::filtered;
        config::Origin mode_origin;
        NetworkFallback fallback = NetworkFallback::stricter;
        config::Origin fallback_origin;
        Items block, allow, private_networks, udp, dns_types, host_services, publish;
        bool are_literals_open = false;
        config::Origin literals_origin;
        std::string upstream_proxy;  // empty: from the host's variables; may contain a password
        config::Origin upstream_proxy_origin;
        MailBlock mail_block = MailBlock::automatic;
        config::Origin mail_block_origin;
        bool ask = false, observe = false;
        uint64_t ask_time = 0;  // seconds
    } network;
    struct {
        bool per_project_state = false, notice = true;
    } agents;
    struct {
        SlurmMode mode = SlurmMode::automatic;
        config::Origin mode_origin;
        SlurmScope scope = SlurmScope::project;
        config::Origin scope_origin;
        std::string network;  // of jobs: a mode, or "session"
        std::optional<base::Path> program;
    } slurm;
    struct {
        Items load;
        std::optional<base::Path> command;
        config::Origin command_origin;
    } modules;
    struct {
        bool enabled = true, chain = false;
        uint64_t size = 0;  // bytes
        uint64_t keep = 0;  // seconds
    } audit;
    struct {
        bool files = false, commands = false, system_calls = false;
    } trace;
    struct {
        bool quiet = false, verbose = false;
    } ui;
};

Policy policy_from(const Effective& effective);

}  // namespace policy
