// SPDX-License-Identifier: MIT
// An escape attempt as data and a small function. The same function runs outside the jail, where it must
// succeed (the control: otherwise a pass would prove nothing), and inside, where it must not.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "selftest/planted/world.h"

namespace selftest {

// Settings that permit an attempt.
inline constexpr std::string_view kOpen = "network.mode=open";
inline constexpr std::string_view kNested = "isolation.allow_nested_namespaces=true";
// Why an attempt is left out.
inline constexpr std::string_view kNeedsRoot = "needs root";

struct Finding {
    enum class Kind {
        escaped,  // the act succeeded
        held,     // it was refused, or had no effect
        absent,   // this host has nothing to try it on
        broken,   // the probe itself failed: it crashed, hung or printed nothing
    };
    Kind kind = Kind::broken;
    std::string detail;

    bool operator==(const Finding&) const = default;
};

// The jail that a probe runs in: the standard one, or one that shows or permits more, so that a single
// protection is tested alone.
enum class Scenario { standard, home_read, home_write, read_only, inherit, open_network, nested };

struct Change {
    std::string_view key;  // of a setting
    std::string_view value;
};
struct ScenarioRow {
    Scenario scenario;
    std::string_view name;
    std::vector<Change> changes;
};
std::span<const ScenarioRow> scenarios();
const ScenarioRow& row_of(Scenario scenario);

struct Probe {
    std::string name;  // "files/private-key"; the part before the slash is the group
    std::string what;  // the attempt: "reads …", no full stop
    std::function<Finding(const World&)> attempt;

    Scenario scenario = Scenario::standard;
    // Why a host may be unable to show that the act works outside; empty: every host can.
    std::string_view excuse = {};
    // "isolation.private_tmp=false": with this setting the act is permitted and not an escape.
    std::string_view permitted_by = {};
    // If set, only this decides: it checks from outside after the jail has ended.
    std::function<Finding(const World&)> afterwards = {};

    std::string_view group() const { return std::string_view(name).substr(0, name.find('/')); }
};

// All probes, in the order of the report.
const std::vector<Probe>& all_probes();
std::vector<std::string_view> group_names();

// The probes of these groups or with these names; an unknown word is an error.
base::Result<std::vector<const Probe*>> select_probes(std::span<const std::string> words);

}  // namespace selftest
