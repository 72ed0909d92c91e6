// SPDX-License-Identifier: MIT
#include "selftest/catalogue.h"

#include <algorithm>

#include "base/format.h"
#include "base/text.h"

namespace selftest {
namespace {

const std::vector<ScenarioRow>& scenario_rows() {
    static const std::vector<ScenarioRow> kRows = {
        {Scenario::standard, "standard", {}},
        {Scenario::home_read, "home-read", {{"home.access", "read"}}},
        {Scenario::home_write, "home-write", {{"home.access", "write"}}},
        {Scenario::read_only, "read-only", {{"project.read_only", "true"}}},
        {Scenario::inherit, "inherit", {{"env.mode", "inherit"}}},
        {Scenario::open_network, "open-network", {{"network.mode", "open"}}},
        {Scenario::nested, "nested", {{"isolation.allow_nested_namespaces", "true"}}},
    };
    return kRows;
}

Probes make_probes() {
    Probes probes;
    for (auto add :
         {add_files, add_places, add_environment, add_processes, add_ipc, add_terminal, add_system_calls,
          add_namespaces, add_protection, add_persistence, add_network, add_gateway}) {
        add(probes);
    }
    return probes;
}

}  // namespace

std::span<const ScenarioRow> scenarios() {
    return scenario_rows();
}

const ScenarioRow& row_of(Scenario scenario) {
    return *std::ranges::find(scenario_rows(), scenario, &ScenarioRow::scenario);
}

const std::vector<Probe>& all_probes() {
    static const Probes kProbes = make_probes();
    return kProbes;
}

std::vector<std::string_view> group_names() {
    std::vector<std::string_view> names;
    for (const Probe& probe : all_probes()) {
        if (std::ranges::find(names, probe.group()) == names.end()) names.push_back(probe.group());
    }
    return names;
}

base::Result<std::vector<const Probe*>> select_probes(std::span<const std::string> words) {
    std::vector<std::string_view> known = group_names();
    for (const Probe& probe : all_probes()) known.push_back(probe.name);
    for (const std::string& word : words) {
        if (std::ranges::find(known, word) != known.end()) continue;
        std::string near = base::nearest(word, known);
        return base::Error{
            .what = "there is no group or probe called " + word,
            .advice = near.empty() ? "selftest --list shows them" : base::format("did you mean {}?", near),
            .exit_code = base::ExitCode::usage};
    }
    std::vector<const Probe*> selected;
    for (const Probe& probe : all_probes()) {
        bool is_named = std::ranges::any_of(
            words, [&](const std::string& word) { return word == probe.name || word == probe.group(); });
        if (words.empty() || is_named) selected.push_back(&probe);
    }
    return selected;
}

}  // namespace selftest
