// SPDX-License-Identifier: MIT
#include "plan/print/backend_report.h"

#include <algorithm>

#include "landlock/rights.h"

namespace plan {
namespace {

using policy::Level;

Reached without_landlock(std::string_view control, const host::Facts& facts) {
    return {control, Level::absent, "there is no Landlock on kernel " + facts.kernel};
}

bool has_gateway(const BackendTraits& backend, const host::Facts& facts) {
    return std::ranges::count(offered_modes(backend, facts), policy::NetworkMode::filtered) > 0;
}

Reached reached(const ControlRow& row, const BackendTraits& backend, const host::Facts& facts) {
    if (row.name == "processes" && lets_signals_out(backend, facts)) {
        return {row.name, Level::absent,
                "processes outside can be signalled: this kernel's Landlock does not keep signals inside"};
    }
    if (row.name == "network" && !has_gateway(backend, facts)) {
        return {row.name, level_with(row.name, backend.id),
                "open or isolated; filtered and proxied can't be had here"};
    }
    if (const Reach* lesser = lesser_reach(row.name, backend.id)) {
        return {row.name, lesser->level, std::string(lesser->detail)};
    }
    bool lacks_wall = row.name == "second wall" && facts.landlock_abi < landlock::kFirstUsableAbi;
    if (lacks_wall) return without_landlock(row.name, facts);
    return {row.name, row.best, std::string(row.detail)};
}

}  // namespace

std::vector<Outlook> outlooks(const host::Facts& facts) {
    std::vector<Outlook> all;
    for (const BackendTraits& backend : backends()) {
        Outlook outlook{.backend = &backend, .obstacle = obstacle_of(backend, facts)};
        if (!outlook.obstacle) outlook.modes = offered_modes(backend, facts);
        for (const ControlRow& row : control_rows()) outlook.controls.push_back(reached(row, backend, facts));
        all.push_back(std::move(outlook));
    }
    return all;
}

}  // namespace plan
