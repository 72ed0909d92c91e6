// SPDX-License-Identifier: MIT
// Rows of fields, each terminated by NUL; the first field names the kind of row. Every kind has a fixed
// number of fields (kRows), so that a truncated row is detected.
#include "plan/print/summary.h"

#include "base/backend.h"
#include "base/encoding/fields.h"
#include "base/encoding/sha256.h"
#include "base/paths_inside.h"
#include "plan/system/limits.h"
#include "rules/text/settings_text.h"

namespace plan {
namespace {

using config::Origin;

constexpr std::string_view kVersion = "agent-sandbox summary 1";

class Writer : public base::FieldWriter {
  public:
    using FieldWriter::add;
    void add(const Origin& origin) { network::write_origin(*this, origin); }
};

class SummaryReader : public base::FieldReader {
  public:
    using FieldReader::FieldReader;
    bool has_failed() const { return !is_good(); }

    std::string next() { return std::string(FieldReader::next()); }
    int number() {
        int value = 0;
        get(value);
        return value;
    }
    Origin origin() { return network::read_origin(*this); }
    base::Path path() {
        base::Result<base::Path> parsed = base::Path::parse(next());
        if (!parsed) reject();
        return parsed ? *std::move(parsed) : base::Path();
    }
};

void write_network(Writer& writer, const Network& network) {
    writer.add("network");
    writer.add(static_cast<int>(network.asked));
    writer.add(static_cast<int>(network.reached));
    network::write_settings(writer, network.egress.rules);
}

void read_network(SummaryReader& reader, Network& network) {
    network.asked = reader.get_one_of(policy::NetworkMode::isolated);
    network.reached = reader.get_one_of(policy::NetworkMode::isolated);
    network.egress.rules = network::read_settings(reader);
    network.egress.rules.mode = network.reached;
    network.reason.origin = network.egress.rules.mode_origin;
}

void read_limit(SummaryReader& reader, Limits& limits) {
    std::string key = reader.next();
    uint64_t value = 0;
    reader.get(value);
    Origin origin = reader.origin();
    for (const NamedLimit& named : named_limits()) {
        if (named.key == key) limits.*named.field = {value, origin};
    }
}

void read_row(SummaryReader& reader, std::string_view row, Plan& plan) {
    if (row == "backend") {
        base::Result<base::Backend> backend = base::parse_backend(reader.next());
        if (!backend) return reader.reject();
        plan.backend = *backend;
    } else if (row == "grant") {
        Grant grant{.path = reader.path()};
        grant.kind = reader.get_one_of(GrantKind::write);
        grant.reason.why = reader.next();
        grant.reason.origin = reader.origin();
        plan.grants.push_back(std::move(grant));
    } else if (row == "project") {
        plan.project = reader.path();
        plan.project_is_writable = reader.number() == 1;
    } else if (row == "rule") {
        PathRule rule{.path = reader.path()};
        rule.access = reader.get_one_of(Access::writable);
        rule.backing = reader.get_one_of(Backing::assembled);
        rule.reason.why = reader.next();
        rule.reason.origin = reader.origin();
        plan.rules.push_back(std::move(rule));
    } else if (row == "passed") {
        Variable variable{.name = reader.next()};
        variable.reason.why = reader.next();
        variable.reason.origin = reader.origin();
        if (variable.name == "HOME") variable.value = reader.next();
        plan.environment.passed.push_back(std::move(variable));
    } else if (row == "removed") {
        RemovedVariable variable{.name = reader.next()};
        variable.reason.why = reader.next();
        variable.reason.origin = reader.origin();
        plan.environment.removed.push_back(std::move(variable));
    } else if (row == "network") {
        read_network(reader, plan.network);
    } else if (row == "calls") {
        plan.system_calls = {.allow_nested_namespaces = reader.number() == 1,
                             .allow_ptrace = reader.number() == 1,
                             .allow_perf = reader.number() == 1,
                             .allow_keyrings = reader.number() == 1};
    } else if (row == "limit") {
        read_limit(reader, plan.limits);
    } else if (row == "slurm") {
        plan.slurm.is_open = reader.number() == 1;
        plan.slurm.scope = reader.get_one_of(policy::SlurmScope::session);
        plan.slurm.network = reader.next();
    }
}

}  // namespace

std::string encode_summary(const Plan& plan) {
    Writer writer;
    writer.add(kVersion);
    writer.add("backend");
    writer.add(base::to_text(plan.backend));
    for (const Grant& grant : plan.grants) {
        writer.add("grant");
        writer.add(grant.path.str());
        writer.add(static_cast<int>(grant.kind));
        writer.add(grant.reason.why);
        writer.add(grant.reason.origin);
    }
    writer.add("project");
    writer.add(plan.project.str());
    writer.add(plan.project_is_writable ? 1 : 0);
    for (const PathRule& rule : plan.rules) {
        writer.add("rule");
        writer.add(rule.path.str());
        writer.add(static_cast<int>(rule.access));
        writer.add(static_cast<int>(rule.backing));
        writer.add(rule.reason.why);
        writer.add(rule.reason.origin);
    }
    for (const Variable& variable : plan.environment.passed) {
        writer.add("passed");
        writer.add(variable.name);
        writer.add(variable.reason.why);
        writer.add(variable.reason.origin);
        if (variable.name == "HOME") writer.add(variable.value);
    }
    for (const RemovedVariable& variable : plan.environment.removed) {
        writer.add("removed");
        writer.add(variable.name);
        writer.add(variable.reason.why);
        writer.add(variable.reason.origin);
    }
    write_network(writer, plan.network);
    writer.add("calls");
    const seccomp::Switches& calls = plan.system_calls;
    for (bool is_allowed :
         {calls.allow_nested_namespaces, calls.allow_ptrace, calls.allow_perf, calls.allow_keyrings}) {
        writer.add(is_allowed ? 1 : 0);
    }
    for (const NamedLimit& named : named_limits()) {
        const policy::Limit& limit = plan.limits.*named.field;
        if (limit.value == 0) continue;
        writer.add("limit");
        writer.add(named.key);
        writer.add(std::to_string(limit.value));
        writer.add(limit.origin);
    }
    writer.add("slurm");
    writer.add(plan.slurm.is_open ? 1 : 0);
    writer.add(static_cast<int>(plan.slurm.scope));
    writer.add(plan.slurm.network);
    return writer.take();
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
    SummaryReader reader(text);
    if (reader.next() != kVersion) return base::Error{.what = "the jail's summary is of another version"};
    Plan plan;
    plan.is_seen_from_inside = true;
    while (!reader.is_at_end() && !reader.has_failed()) read_row(reader, reader.next(), plan);
    if (reader.has_failed()) return base::Error{.what = "the jail's summary is damaged"};
    return plan;
}

}  // namespace plan
