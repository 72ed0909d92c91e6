// SPDX-License-Identifier: MIT
// The programs that can build a jail, in the order of choice, and what each of them can't do. Pure tables and
// the facts of a machine: the plan, doctor, the self-test and the documentation read the same rows.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/backend.h"
#include "host/facts.h"
#include "policy/policy.h"

namespace plan {

using base::Backend;

struct BackendTraits {
    Backend id;
    std::string_view title;  // for people
    bool has_view;  // a path that no rule shows does not exist, and the jail can have directories of its own
    bool lays_files;      // files of the plan can be mounted over those of the host
    bool holds_links;     // a symbolic link can be mounted on itself
    bool has_namespaces;  // of processes, System V objects and the network
    // The doorman hands connections to the gateway one by one (src/doorman): there is no network namespace
    // that the gateway could set up.
    bool hands_connections;

    // The value of isolation.backend.
    std::string_view name() const { return base::to_text(id); }
};

// The best first; the first two build the same jail.
std::span<const BackendTraits> backends();
const BackendTraits& traits_of(Backend backend);

// Why the backend does not work on this machine, in one line for a person; nothing where it works.
std::optional<std::string> obstacle_of(const BackendTraits& backend, const host::Facts& facts);

// The part before the remedy of a problem in the form "what; what to do".
std::string without_remedy(std::string_view problem);

// Without a pid namespace, Landlock (since ABI 6) or the doorman blocks signals to processes outside.
bool lets_signals_out(const BackendTraits& backend, const host::Facts& facts);

// The network modes that it offers here, the least strict first.
std::vector<policy::NetworkMode> offered_modes(const BackendTraits& backend, const host::Facts& facts);

// A process outside the jail can answer system calls of the command (docs/security.md). Empty if it
// can; else the reason, for a message.
std::optional<std::string> outside_answers_obstacle(const BackendTraits& backend, const host::Facts& facts);

// The same for Unix sockets in a network namespace of their own.
std::optional<std::string> own_sockets_obstacle(const BackendTraits& backend, const host::Facts& facts);

// A promise of the jail, and the level that the best backend reaches.
struct ControlRow {
    std::string_view name;
    policy::Level best;
    // A run must reach `denied` in it unless isolation.require is "absent". A weaker level in another control
    // is reported and does not stop the run.
    bool is_core;
    std::string_view detail;
};
std::span<const ControlRow> control_rows();
const ControlRow& control_row(std::string_view control);

// The level of a control with a lesser backend when the settings ask for the most.
struct Reach {
    std::string_view control;
    Backend backend;
    policy::Level level;
    std::string_view detail;
};
// Only rows that differ from the best backends: native and bubblewrap.
std::span<const Reach> lesser_reaches();
const Reach* lesser_reach(std::string_view control, Backend backend);

// Some control reaches a lower level than with the best backend, on every machine.
bool is_lesser(const BackendTraits& backend);

// The level of a control with a backend, by both tables.
policy::Level level_with(std::string_view control, Backend backend);

}  // namespace plan
