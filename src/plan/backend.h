// SPDX-License-Identifier: MIT
// What can build a jail, in the order of choice, and what each of them can't do. Pure tables and the facts of
// a machine: the plan, doctor, the self-test and the documentation read the same rows.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/facts.h"
#include "policy/policy.h"

namespace plan {

struct BackendTraits {
    std::string_view name;   // as isolation.backend says it
    std::string_view title;  // for people
    bool has_view;           // what no rule shows does not exist, and places of the jail's own can be made
    bool lays_files;         // files of the plan can be laid over those of the host
    bool holds_links;        // a symbolic link can be mounted on itself
    bool has_namespaces;     // of processes, System V objects and the network
    // Connections are carried to the gateway one by one (src/doorman), not by a network namespace that the
    // gateway can set up.
    bool hands_connections;
};

// The best first; the first two build the same jail.
std::span<const BackendTraits> backends();
const BackendTraits& traits_of(std::string_view name);

// Why this machine can't have it, in one line for a person; nothing where it can.
std::optional<std::string> obstacle_of(const BackendTraits& backend, const host::Facts& facts);

// A problem may bring its remedy along ("what; what to do"): the first half.
std::string without_remedy(std::string_view problem);

// Without a pid namespace signals are kept inside by Landlock, since ABI 6, or by the doorman.
bool lets_signals_out(const BackendTraits& backend, const host::Facts& facts);

// The network modes that it offers here, the least strict first.
std::vector<policy::NetworkMode> offered_modes(const BackendTraits& backend, const host::Facts& facts);

// What a jail promises, and how far the best backend gets.
struct ControlRow {
    std::string_view name;
    policy::Level best;
    // A run must reach `denied` in it unless isolation.require is "absent". Where another control is weaker
    // it is told, and keeps nobody from working.
    bool is_core;
    std::string_view detail;
};
std::span<const ControlRow> control_rows();
const ControlRow& control_row(std::string_view control);

// How far a control is reached with another backend when everything that can be asked for is asked for.
struct Reach {
    std::string_view control;
    std::string_view backend;
    policy::Level level;
    std::string_view detail;
};
// Only where it is not what the best reach: this program itself, and bubblewrap.
std::span<const Reach> lesser_reaches();
const Reach* lesser_reach(std::string_view control, std::string_view backend);

// It reaches less than the best in something, whatever the machine.
bool is_lesser(const BackendTraits& backend);

// The level of a control with a backend, by both tables.
policy::Level level_with(std::string_view control, std::string_view backend);

}  // namespace plan
