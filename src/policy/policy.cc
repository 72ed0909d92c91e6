// SPDX-License-Identifier: MIT
#include "policy/policy.h"

#include <algorithm>

#include "base/parse.h"

namespace policy {
namespace {

// The position of the effective text among the row's choices: enumerations are declared in the order of the
// table.
template <typename Choice>
Choice choice_of(const Effective& effective, std::string_view key) {
    std::vector<std::string_view> choices = config::choices_of(*config::find_setting(key));
    auto found = std::ranges::find(choices, effective.text(key));
    return static_cast<Choice>(found - choices.begin());
}

std::string_view choice_text(std::string_view key, size_t position) {
    return config::choices_of(*config::find_setting(key))[position];
}

Limit limit_of(const Effective& effective, std::string_view key) {
    Limit limit{.origin = effective.origin(key)};
    limit.value = base::parse_number<uint64_t>(effective.text(key)).value_or(limit.value);
    return limit;
}

}  // namespace

std::string_view to_text(HomeAccess access) {
    return choice_text("home.access", static_cast<size_t>(access));
}
std::string_view to_text(NetworkMode mode) {
    return choice_text("network.mode", static_cast<size_t>(mode));
}
std::string_view to_text(Level level) {
    constexpr std::string_view kWords[] = {"absent", "cooperative", "denied", "hidden"};
    return kWords[static_cast<size_t>(level)];
}

std::string_view to_text(SlurmScope scope) {
    return choice_text("slurm.scope", static_cast<size_t>(scope));
}

Policy policy_from(const Effective& effective) {
    Policy policy;
    policy.project.parents = effective.items("project.parents");
    policy.project.read_only = effective.is_true("project.read_only");
    policy.project.read_only_origin = effective.origin("project.read_only");
    policy.project.protect = effective.items("project.protect");
    policy.project.unprotect = effective.items("project.unprotect");
    policy.project.hold = choice_of<Hold>(effective, "project.hold");
    policy.project.mask_with = choice_of<MaskWith>(effective, "project.mask_with");
    policy.project.mask = effective.items("project.mask");
    policy.project.unmask = effective.items("project.unmask");

    policy.home.access = choice_of<HomeAccess>(effective, "home.access");
    policy.home.access_origin = effective.origin("home.access");
    policy.home.readonly = effective.items("home.readonly");
    policy.home.writable = effective.items("home.writable");
    policy.home.seeded = effective.items("home.seeded");
    policy.home.unprotect = effective.items("home.unprotect");

    policy.mounts.readonly = effective.items("mounts.readonly");
    policy.mounts.approved = effective.items("mounts.approved");
    policy.mounts.writable = effective.items("mounts.writable");
    policy.mounts.hidden = effective.items("mounts.hidden");
    policy.mounts.deny_writable = effective.items("mounts.deny_writable");

    policy.sockets.allow = effective.items("sockets.allow");
    policy.sockets.allow_dangerous = effective.items("sockets.allow_dangerous");

    policy.env.mode = choice_of<EnvMode>(effective, "env.mode");
    policy.env.mode_origin = effective.origin("env.mode");
    policy.env.allow = effective.items("env.allow");
    policy.env.set = effective.items("env.set");
    policy.env.block = effective.items("env.block");
    policy.env.block_patterns = effective.items("env.block_patterns");

    // The only other choice is "auto".
    if (auto backend = base::parse_backend(effective.text("isolation.backend")))
        policy.isolation.backend = *backend;
    policy.isolation.backend_origin = effective.origin("isolation.backend");
    if (const std::string& pinned = effective.text("isolation.bwrap"); !pinned.empty()) {
        policy.isolation.bwrap = base::Path::known(pinned);
    }
    if (const std::string& pinned = effective.text("isolation.firejail"); !pinned.empty()) {
        policy.isolation.firejail = base::Path::known(pinned);
    }
    policy.isolation.require_each = effective.items("isolation.require_each");
    policy.isolation.require = choice_of<Requirement>(effective, "isolation.require");
    policy.isolation.require_origin = effective.origin("isolation.require");
    policy.isolation.private_tmp = effective.is_true("isolation.private_tmp");
    policy.isolation.private_tmp_origin = effective.origin("isolation.private_tmp");
    policy.isolation.private_ipc = effective.is_true("isolation.private_ipc");
    policy.isolation.private_ipc_origin = effective.origin("isolation.private_ipc");
    policy.isolation.filter_passwd = effective.is_true("isolation.filter_passwd");
    policy.isolation.filter_passwd_origin = effective.origin("isolation.filter_passwd");

    policy.isolation.allow_nested_namespaces = effective.is_true("isolation.allow_nested_namespaces");
    policy.isolation.allow_ptrace = effective.is_true("isolation.allow_ptrace");
    policy.isolation.allow_perf = effective.is_true("isolation.allow_perf");
    policy.isolation.allow_keyrings = effective.is_true("isolation.allow_keyrings");

    policy.limits.processes = limit_of(effective, "limits.processes");
    policy.limits.memory = limit_of(effective, "limits.memory");
    policy.limits.open_files = limit_of(effective, "limits.open_files");
    policy.limits.file_size = limit_of(effective, "limits.file_size");
    policy.limits.wall_time = limit_of(effective, "limits.wall_time");
    policy.limits.idle_time = limit_of(effective, "limits.idle_time");

    policy.devices.gpu = choice_of<Gpu>(effective, "devices.gpu");
    policy.devices.gpu_origin = effective.origin("devices.gpu");
    policy.devices.allow = effective.items("devices.allow");
    policy.devices.deny = effective.items("devices.deny");

    policy.network.mode = choice_of<NetworkMode>(effective, "network.mode");
    policy.network.mode_origin = effective.origin("network.mode");
    policy.network.fallback = choice_of<NetworkFallback>(effective, "network.fallback");
    policy.network.fallback_origin = effective.origin("network.fallback");
    policy.network.block = effective.items("network.block");
    policy.network.allow = effective.items("network.allow");
    policy.network.private_networks = effective.items("network.private");
    policy.network.are_literals_open = effective.text("network.literals") == "allow";
    policy.network.literals_origin = effective.origin("network.literals");
    policy.network.udp = effective.items("network.udp");
    policy.network.dns_types = effective.items("network.dns_types");
    policy.network.host_services = effective.items("network.host_services");
    policy.network.publish = effective.items("network.publish");
    policy.network.upstream_proxy = effective.text("network.upstream_proxy");
    policy.network.upstream_proxy_origin = effective.origin("network.upstream_proxy");
    policy.network.mail_block = choice_of<MailBlock>(effective, "network.mail_block");
    policy.network.mail_block_origin = effective.origin("network.mail_block");
    policy.network.ask = effective.is_true("network.ask");
    policy.network.ask_time = limit_of(effective, "network.ask_time").value;
    policy.network.observe = effective.is_true("network.observe");

    policy.requests.allow = effective.items("requests.allow");
    policy.requests.ask = effective.items("requests.ask");
    policy.requests.block = effective.items("requests.block");
    policy.requests.git = effective.items("requests.git");
    policy.requests.opaque = effective.items("requests.opaque");
    policy.requests.observe = effective.is_true("requests.observe");
    policy.credentials.use = effective.items("credentials.use");
    policy.credentials.never_inside = effective.items("credentials.never_inside");
    policy.credentials.is_login_outside = effective.text("credentials.login") == "outside";
    policy.credentials.login_origin = effective.origin("credentials.login");
    policy.credentials.intercept = effective.text("credentials.intercept") == "on";
    policy.credentials.intercept_origin = effective.origin("credentials.intercept");
    policy.ssh.keys = effective.items("ssh.keys");
    policy.ssh.hosts = effective.items("ssh.hosts");
    policy.ssh.sign = effective.items("ssh.sign");
    policy.ssh.asks = effective.is_true("ssh.ask");
    policy.ssh.unbound = choice_of<SshUnbound>(effective, "ssh.unbound");

    policy.cow.layer = effective.text("cow.layer");
    policy.cow.enabled = effective.is_true("cow.enabled") || !policy.cow.layer.empty();
    policy.cow.enabled_origin = effective.origin(policy.cow.layer.empty() ? "cow.enabled" : "cow.layer");
    policy.cow.engine = choice_of<CowEngine>(effective, "cow.engine");
    policy.cow.engine_origin = effective.origin("cow.engine");
    policy.cow.protect = choice_of<CowProtect>(effective, "cow.protect");
    if (const std::string& storage = effective.text("cow.storage"); !storage.empty())
        policy.cow.storage = base::Path::known(storage);
    policy.cow.storage_origin = effective.origin("cow.storage");
    policy.cow.at_end = choice_of<AtEnd>(effective, "cow.at_end");
    policy.cow.at_end_origin = effective.origin("cow.at_end");
    policy.cow.keep = limit_of(effective, "cow.keep").value;
    policy.home.caches = effective.is_true("home.caches");
    policy.home.caches_origin = effective.origin("home.caches");
    policy.agents.per_project_state = effective.is_true("agents.per_project_state");
    policy.agents.notice = effective.is_true("agents.notice");
    policy.slurm.mode = choice_of<SlurmMode>(effective, "slurm.mode");
    policy.slurm.mode_origin = effective.origin("slurm.mode");
    policy.slurm.scope = choice_of<SlurmScope>(effective, "slurm.scope");
    policy.slurm.scope_origin = effective.origin("slurm.scope");
    policy.slurm.network = effective.text("slurm.network");
    if (const std::string& program = effective.text("slurm.program"); !program.empty()) {
        policy.slurm.program = base::Path::known(program);
    }
    policy.slurm.spank_options = effective.items("slurm.spank_options");
    policy.modules.load = effective.items("modules.load");
    if (const std::string& command = effective.text("modules.command"); !command.empty()) {
        policy.modules.command = base::Path::known(command);
        policy.modules.command_origin = effective.origin("modules.command");
    }
    policy.audit.enabled = effective.is_true("audit.enabled");
    policy.audit.chain = effective.is_true("audit.chain");
    policy.audit.paths = effective.is_true("audit.paths");
    policy.audit.size = limit_of(effective, "audit.size").value;
    policy.audit.keep = limit_of(effective, "audit.keep").value;
    policy.trace.files = effective.is_true("trace.files");
    policy.trace.commands = effective.is_true("trace.commands");
    policy.trace.system_calls = effective.is_true("trace.system_calls");
    policy.ui.quiet = effective.is_true("ui.quiet");
    policy.ui.verbose = effective.is_true("ui.verbose");
    return policy;
}

}  // namespace policy
