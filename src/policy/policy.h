// SPDX-License-Identifier: MIT
// The effective settings as typed data, which the plan reads. Lists keep the origin of every entry.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/backend.h"
#include "base/path.h"
#include "config/value.h"
#include "policy/merge.h"

namespace policy {

// The choices of settings as enumerations, in the order of the table (config/settings.cc), and their words.

enum class HomeAccess { write, read, tmpwrite, restricted };  // least strict first, as in the table
enum class Hold { installed, all };                           // protected names that are missing
enum class MaskWith { empty, example };                       // what a masked file shows
enum class AtEnd { apply, ask, keep, discard };               // of a layer of changes
enum class CowEngine { automatic, overlay, clone };
enum class CowProtect { apply, inside };  // where protected names of a layer are held
enum class EnvMode { inherit, clean };
enum class NetworkMode { open, filtered, proxied, isolated };
enum class NetworkFallback { open, stricter, strict };
enum class MailBlock { off, automatic, on };
enum class SshUnbound { ask, refuse };  // logins whose host is not known
enum class SlurmMode { automatic, off };
// Whose jobs the jail can see and act on. none: it sees the jobs of all users.
enum class SlurmScope { none, user, project, session };
enum class Gpu { on, automatic, off };
enum class Level { absent, cooperative, denied, hidden };  // weakest first
enum class Requirement { absent, automatic, cooperative, denied, hidden };

std::string_view to_text(HomeAccess access);
std::string_view to_text(NetworkMode mode);
std::string_view to_text(Level level);
std::string_view to_text(SlurmScope scope);

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
        Hold hold = Hold::installed;
        MaskWith mask_with = MaskWith::empty;
    } project;
    struct {
        bool enabled = false;
        config::Origin enabled_origin;
        std::string layer;  // its name; empty: a new one
        CowEngine engine = CowEngine::automatic;
        config::Origin engine_origin;
        CowProtect protect = CowProtect::apply;
        std::optional<base::Path> storage;  // of new layers; nothing: the state directory
        config::Origin storage_origin;
        AtEnd at_end = AtEnd::ask;
        config::Origin at_end_origin;
        uint64_t keep = 0;  // seconds
    } cow;
    struct {
        HomeAccess access = HomeAccess::tmpwrite;
        config::Origin access_origin;
        Items readonly, writable, seeded, unprotect;
        bool caches = true;
        config::Origin caches_origin;
    } home;
    struct {
        Items readonly, approved, writable, hidden, deny_writable;
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
    // Entries only. credentials/resolve.h makes credentials and rules of them.
    struct {
        Items allow, ask, block, git, opaque;
        bool observe = false;
    } requests;
    struct {
        Items use, never_inside;
        bool is_login_outside = false;
        config::Origin login_origin;
        bool intercept = true;
        config::Origin intercept_origin;
    } credentials;
    struct {
        Items keys, hosts, sign;
        bool asks = false;
        SshUnbound unbound = SshUnbound::refuse;
    } ssh;
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
        Items spank_options;
    } slurm;
    struct {
        Items load;
        std::optional<base::Path> command;
        config::Origin command_origin;
    } modules;
    struct {
        bool enabled = true, chain = false, paths = true;
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
