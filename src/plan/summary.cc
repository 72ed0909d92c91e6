// SPDX-License-Identifier: MIT
// Rows of fields that each end with NUL; the first field says what the row is. Every row has the fields of
// its kind (kRows), so that a row that is cut off is noticed.
#include "plan/summary.h"

#include <algorithm>
#include <vector>

#include "base/fields.h"

namespace plan {
namespace {

using config::Item;
using config::Layer;
using config::Origin;

constexpr std::string_view kVersion = "agent-sandbox summary 1";

class Writer : public base::FieldWriter {
  public:
    using FieldWriter::add;
    void add(const Origin& origin) {
        add(static_cast<int>(origin.layer));
        add(std::string_view(origin.describe()));
    }
    void add_items(std::string_view row, const std::vector<Item>& items) {
        for (const Item& item : items) {
            add(row);
            add(std::string_view(item.text));
            add(item.origin);
        }
    }
};

class Reader : public base::FieldReader {
  public:
    using FieldReader::FieldReader;
    bool has_failed() const { return !is_good(); }

    std::string next() { return std::string(FieldReader::next()); }
    int number() {
        int value = 0;
        get(value);
        return value;
    }
    Origin origin() {
        auto layer = static_cast<Layer>(number());
        return Origin{.layer = layer, .name = next()};
    }
    base::Path path() {
        base::Result<base::Path> parsed = base::Path::parse(next());
        if (!parsed) reject();
        return parsed ? *std::move(parsed) : base::Path();
    }
    Item item() {
        Item read{.text = next()};
        read.origin = origin();
        return read;
    }
};

// The lists of the network, each under the name of its row.
struct List {
    std::string_view row;
    std::vector<Item> network::EngineSettings::*items;
};
constexpr List kLists[] = {
    {"block", &network::EngineSettings::block},
    {"allow", &network::EngineSettings::allow},
    {"private", &network::EngineSettings::private_networks},
    {"service", &network::EngineSettings::host_services},
    {"udp", &network::EngineSettings::udp},
};

void write_network(Writer& writer, const Network& network) {
    const network::EngineSettings& rules = network.egress.rules;
    writer.add("network");
    writer.add(static_cast<int>(network.asked));
    writer.add(static_cast<int>(network.reached));
    writer.add(rules.are_literals_open ? 1 : 0);
    writer.add(rules.has_shipped_list ? 1 : 0);
    writer.add(rules.mode_origin);
    for (const List& list : kLists) writer.add_items(list.row, rules.*list.items);
    for (const network::Bundle& bundle : rules.bundles) {
        for (const std::string& entry : bundle.entries) {
            writer.add("bundle");
            writer.add(bundle.name);
            writer.add(entry);
        }
    }
}

void read_network(Reader& reader, Network& network) {
    network::EngineSettings& rules = network.egress.rules;
    network.asked = static_cast<policy::NetworkMode>(reader.number());
    network.reached = static_cast<policy::NetworkMode>(reader.number());
    rules.mode = network.reached;
    rules.are_literals_open = reader.number() == 1;
    rules.has_shipped_list = reader.number() == 1;
    rules.mode_origin = reader.origin();
    network.reason.origin = rules.mode_origin;
}

void read_bundle(Reader& reader, network::EngineSettings& rules) {
    std::string name = reader.next();
    auto known = std::ranges::find(rules.bundles, name, &network::Bundle::name);
    if (known == rules.bundles.end()) known = rules.bundles.insert(known, network::Bundle{.name = name});
    known->entries.push_back(reader.next());
}

void read_row(Reader& reader, std::string_view row, Plan& plan) {
    if (row == "backend") {
        plan.backend = reader.next();
    } else if (row == "grant") {
        Grant grant{.path = reader.path()};
        grant.kind = static_cast<GrantKind>(reader.number());
        grant.reason.why = reader.next();
        grant.reason.origin = reader.origin();
        plan.grants.push_back(std::move(grant));
    } else if (row == "project") {
        plan.project = reader.path();
        plan.project_is_writable = reader.number() == 1;
    } else if (row == "rule") {
        PathRule rule{.path = reader.path()};
        rule.access = static_cast<Access>(reader.number());
        rule.backing = static_cast<Backing>(reader.number());
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
    } else if (row == "bundle") {
        read_bundle(reader, plan.network.egress.rules);
    } else if (row == "calls") {
        plan.system_calls = {.allow_nested_namespaces = reader.number() == 1,
                             .allow_ptrace = reader.number() == 1,
                             .allow_perf = reader.number() == 1,
                             .allow_keyrings = reader.number() == 1};
    } else {
        const auto* list = std::ranges::find(kLists, row, &List::row);
        if (list != std::end(kLists)) (plan.network.egress.rules.*list->items).push_back(reader.item());
    }
}

}  // namespace

std::string encode_summary(const Plan& plan) {
    Writer writer;
    writer.add(kVersion);
    writer.add("backend");
    writer.add(plan.backend);
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
    return writer.take();
}

base::Result<Plan> decode_summary(std::string_view text) {
    Reader reader(text);
    if (reader.next() != kVersion) return base::Error{.what = "the jail's summary is of another version"};
    Plan plan;
    plan.is_seen_from_inside = true;
    while (!reader.is_at_end() && !reader.has_failed()) read_row(reader, reader.next(), plan);
    if (reader.has_failed()) return base::Error{.what = "the jail's summary is damaged"};
    return plan;
}

}  // namespace plan
