// SPDX-License-Identifier: MIT
#include "plan/print/summary.h"

#include "base/backend.h"
#include "base/encoding/codec.h"
#include "base/encoding/sha256.h"
#include "base/inside/paths_inside.h"
#include "rules/text/settings_text.h"

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
                                                              &plan::Slurm::network);

template <>
inline constexpr auto base::kFields<plan::Plan> = std::tuple(&plan::Plan::backend, &plan::Plan::grants,
                                                             &plan::Plan::project,
                                                             &plan::Plan::project_is_writable,
                                                             &plan::Plan::rules, &plan::Plan::environment,
                                                             &plan::Plan::network, &plan::Plan::system_calls,
                                                             &plan::Plan::limits, &plan::Plan::slurm);

namespace plan {
namespace {

constexpr std::string_view kVersion = "agent-sandbox summary 2";

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
