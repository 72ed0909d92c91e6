// SPDX-License-Identifier: MIT
#include "cli/modules.h"

#include "base/text.h"

namespace cli {
namespace {

using policy::HomeAccess;

// Directories that a session can write. Files from there must not run outside.
std::vector<base::Path> places_of_jail(const Settings& settings, const Caller& caller) {
    const base::Path& home = settings.workspace.identity.home;
    const policy::Policy& policy = settings.policy;
    std::vector<base::Path> places = {settings.workspace.physical_project};
    auto add = [&](const base::Path& place) {
        base::Result<host::Tree::Resolved> resolved = caller.disk.resolve(place);
        places.push_back(resolved ? resolved->path : place);
    };
    if (policy.home.access == HomeAccess::write) add(home);
    for (const config::Item& item : policy.home.writable) add(home / item.text);
    for (const config::Item& item : policy.mounts.writable) {
        if (base::Result<base::Path> place = path_from(item.text, home, home)) add(*place);
    }
    return places;
}

}  // namespace

base::Result<modules::Loaded> load_modules(const Settings& settings, const Caller& caller) {
    const auto& asked = settings.policy.modules;
    if (asked.load.empty()) return modules::Loaded{};
    modules::LoadRequest request{.writable = places_of_jail(settings, caller)};
    for (const config::Item& item : asked.load) request.names.push_back(item.text);
    if (asked.command) {
        request.command = modules::Pinned{
            .path = *asked.command, .is_administrators = asked.command_origin.layer == config::Layer::admin};
    }
    base::Result<modules::Loaded> loaded = modules::load(caller.disk, caller.environment, request);
    if (loaded) return loaded;
    base::Error error = loaded.error();
    error.where = asked.load.front().origin.describe();
    return error;
}

void use_modules(const modules::Loaded& loaded, plan::Request& request) {
    request.modules = {.set = loaded.set,
                       .search_places = loaded.search_places,
                       .environment_before = std::move(request.environment)};
    request.environment = loaded.environment;
}

void tell_modules(const modules::Loaded& loaded, plan::Plan& plan) {
    if (!loaded.withheld.empty()) {
        plan.notes.push_back({plan::NoteKind::protection,
                              base::format("module files in {} were not used: the jail can write there",
                                           base::printable(base::join(loaded.withheld, ", ")))});
    }
    if (!loaded.said.empty())
        plan.notes.push_back({plan::NoteKind::information, "the module command said: " + loaded.said});
}

}  // namespace cli
