// SPDX-License-Identifier: MIT
#include "plan/print/summary.h"

#include "base/backend.h"
#include "base/encoding/codec.h"
#include "base/encoding/sha256.h"
#include "base/inside/jail_files.h"
#include "network/requests/settings_text.h"
#include "rules/rules_text.h"

template <>
struct base::OwnEncoding<base::Backend> {
    static void write(FieldWriter& writer, Backend backend) { writer.add(to_text(backend)); }
    static void read(FieldReader& reader, Backend& backend) {
        Result<Backend> parsed = parse_backend(reader.next());
        if (!parsed) return reader.reject();
        backend = *parsed;
    }
};

template <>
inline constexpr auto base::kFields<plan::Reason> = std::tuple(&plan::Reason::why, &plan::Reason::origin);

template <>
inline constexpr plan::GrantKind base::kLast<plan::GrantKind> = plan::GrantKind::write;
template <>
inline constexpr auto base::kFields<plan::Grant> = std::tuple(&plan::Grant::path, &plan::Grant::kind,
                                                              &plan::Grant::reason);

template <>
inline constexpr plan::Access base::kLast<plan::Access> = plan::Access::writable;
template <>
inline constexpr plan::Backing base::kLast<plan::Backing> = plan::Backing::assembled;
template <>
inline constexpr auto base::kFields<plan::PathRule> = std::tuple(&plan::PathRule::path,
                                                                 &plan::PathRule::access,
                                                                 &plan::PathRule::backing,
                                                                 &plan::PathRule::reason);

// Values of variables may be secrets: only that of HOME is stored, for `why path ~/x`.
template <>
struct base::OwnEncoding<plan::Variable> {
    static constexpr std::string_view kShown = "HOME";

    static void write(FieldWriter& writer, const plan::Variable& variable) {
        base::write(writer, variable.name);
        base::write(writer, variable.reason);
        if (variable.name == kShown) base::write(writer, variable.value);
    }
    static void read(FieldReader& reader, plan::Variable& variable) {
        base::read(reader, variable.name);
        base::read(reader, variable.reason);
        if (variable.name == kShown) base::read(reader, variable.value);
    }
};
template <>
inline constexpr auto base::kFields<plan::RemovedVariable> = std::tuple(&plan::RemovedVariable::name,
                                                                        &plan::RemovedVariable::reason);
template <>
inline constexpr auto base::kFields<plan::Environment> = std::tuple(&plan::Environment::passed,
                                                                    &plan::Environment::removed);

template <>
inline constexpr auto base::kFields<network::Egress> = std::tuple(&network::Egress::rules);
template <>
inline constexpr auto base::kFields<plan::Network> = std::tuple(&plan::Network::asked,
                                                                &plan::Network::reached,
                                                                &plan::Network::egress);

template <>
inline constexpr auto base::kFields<policy::Limit> = std::tuple(&policy::Limit::value,
                                                                &policy::Limit::origin);
template <>
inline constexpr auto base::kFields<plan::Limits> =
    std::tuple(&plan::Limits::processes, &plan::Limits::memory, &plan::Limits::open_files,
               &plan::Limits::file_size, &plan::Limits::wall_time, &plan::Limits::idle_time);

template <>
inline constexpr policy::SlurmScope base::kLast<policy::SlurmScope> = policy::SlurmScope::session;
template <>
inline constexpr auto base::kFields<plan::Slurm> = std::tuple(&plan::Slurm::is_open, &plan::Slurm::scope,
                                                              &plan::Slurm::network,
                                                              &plan::Slurm::spank_options);

// Without placeholders, which differ from session to session: the digest of a policy must not.
template <>
inline constexpr auto base::kFields<network::exchange::BrokerSpec> =
    std::tuple(&network::exchange::BrokerSpec::requests, &network::exchange::BrokerSpec::intercepts);
template <>
inline constexpr auto base::kFields<plan::UsedCredential> =
    std::tuple(&plan::UsedCredential::name, &plan::UsedCredential::title, &plan::UsedCredential::hosts,
               &plan::UsedCredential::paths, &plan::UsedCredential::methods, &plan::UsedCredential::variables,
               &plan::UsedCredential::origin);
template <>
inline constexpr auto base::kFields<plan::Broker> = std::tuple(&plan::Broker::spec,
                                                               &plan::Broker::credentials);

// Without the blobs of the keys, which `why` does not need.
template <>
inline constexpr auto base::kFields<ssh_agent::Key> = std::tuple(&ssh_agent::Key::fingerprint);
template <>
inline constexpr auto base::kFields<ssh_agent::Host> = std::tuple(&ssh_agent::Host::user,
                                                                  &ssh_agent::Host::name,
                                                                  &ssh_agent::Host::port);
template <>
inline constexpr ssh_agent::Unbound base::kLast<ssh_agent::Unbound> = ssh_agent::Unbound::ask;
template <>
inline constexpr auto base::kFields<ssh_agent::Rules> = std::tuple(&ssh_agent::Rules::keys,
                                                                   &ssh_agent::Rules::hosts,
                                                                   &ssh_agent::Rules::sign,
                                                                   &ssh_agent::Rules::asks,
                                                                   &ssh_agent::Rules::unbound);
// The last member of a plan. Without [ssh] it has no field.
template <>
struct base::OwnEncoding<plan::Ssh> {
    static void write(FieldWriter& writer, const plan::Ssh& ssh) {
        if (ssh.rules.hosts.empty() && ssh.rules.sign.empty()) return;
        base::write(writer, ssh.is_open);
        base::write(writer, ssh.rules);
        base::write(writer, ssh.hosts_origin);
    }
    static void read(FieldReader& reader, plan::Ssh& ssh) {
        if (reader.is_at_end()) return;
        base::read(reader, ssh.is_open);
        base::read(reader, ssh.rules);
        base::read(reader, ssh.hosts_origin);
    }
};

template <>
inline constexpr auto base::kFields<plan::UnheldName> = std::tuple(&plan::UnheldName::path);

template <>
inline constexpr auto base::kFields<plan::Plan> =
    std::tuple(&plan::Plan::backend, &plan::Plan::grants, &plan::Plan::project,
               &plan::Plan::project_is_writable, &plan::Plan::rules, &plan::Plan::environment,
               &plan::Plan::network, &plan::Plan::system_calls, &plan::Plan::limits, &plan::Plan::slurm,
               &plan::Plan::unheld_names, &plan::Plan::broker, &plan::Plan::ssh);

namespace plan {
namespace {

constexpr std::string_view kVersion = "agent-sandbox summary 4";

}  // namespace

std::string encode_summary(const Plan& plan) {
    return base::encode_message(kVersion, plan);
}

std::string policy_digest(const Plan& plan) {
    // The plan already contains it, for the jail.
    for (const Mount& mount : plan.mounts) {
        bool is_summary = mount.kind == MountKind::file && mount.target.name() == base::kSummary;
        if (is_summary && mount.source.starts_with(kVersion)) return base::sha256(mount.source);
    }
    return base::sha256(encode_summary(plan));
}

base::Result<Plan> decode_summary(std::string_view text) {
    Plan plan;
    base::Decoded decoded = base::decode_message(kVersion, text, plan);
    if (decoded == base::Decoded::other)
        return base::Error{.what = "the jail's summary is of another version"};
    if (decoded == base::Decoded::damaged) return base::Error{.what = "the jail's summary is damaged"};
    plan.is_seen_from_inside = true;
    plan.network.egress.rules.mode = plan.network.reached;
    plan.network.reason.origin = plan.network.egress.rules.mode_origin;
    return plan;
}

}  // namespace plan
