// SPDX-License-Identifier: MIT
// An escape attempt as data and a small function. The same function runs outside the jail, where it must
// succeed (the control: otherwise a pass would prove nothing), and inside, where it must not.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "selftest/world.h"

namespace selftest {

struct Finding {
    enum class Kind {
        escaped,  // the act was done
        held,     // it was refused, or had no effect
        absent,   // there is nothing here to try it on
        broken,   // the probe itself failed: it crashed, hung or said nothing
    };
    Kind kind = Kind::broken;
    std::string detail;

    bool operator==(const Finding&) const = default;
};

// The jail that a probe belongs to: the standard one, or one that was asked to show or permit more, where a
// single protection stands alone.
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
    std::string name;  // "files/private-key"; what is in front of the slash is the group
    std::string what;  // what is attempted: "reads …", no full stop
    std::function<Finding(const World&)> attempt;

    Scenario scenario = Scenario::standard;
    // Why a host may be unable to show that the act works outside; empty: every host can.
    std::string_view excuse = {};
    // "isolation.private_tmp=false": with this setting the act is permitted and no escape.
    std::string_view permitted_by = {};
    // Where there is one, it alone decides: it looks from outside when the jail is gone.
    std::function<Finding(const World&)> afterwards = {};

    std::string_view group() const { return std::string_view(name).substr(0, name.find('/')); }
};

// All probes, in the order of the report.
const std::vector<Probe>& all_probes();
std::vector<std::string_view> group_names();

// Those of these groups or with these names; an unknown word is an error.
base::Result<std::vector<const Probe*>> select_probes(std::span<const std::string> words);

}  // namespace selftest
