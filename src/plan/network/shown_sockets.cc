// SPDX-License-Identifier: MIT
// Sockets in directories that the user shows with mounts.*: a process can connect to a Unix socket through a
// read-only bind too.
//
// Threat: `--ro /run/docker.sock`, or a directory that contains it, would allow what only
// sockets.allow_dangerous may allow, and bypass an administrator's lock on it (tests/jail/sockets.bats,
// tests/plan/view_test.cc). So a socket or a directory of dangerous sockets is refused as a mount, and
// dangerous sockets below a shown directory are hidden.
#include <algorithm>

#include "base/text.h"
#include "config/data.h"
#include "plan/draft.h"

namespace plan {
namespace {

using config::Item;

constexpr std::string_view kList = "sockets/dangerous";

// Where services and sessions create their sockets. Elsewhere only full paths of the list are checked:
// searching a directory of data for sockets would take too long.
constexpr std::string_view kRuntimePlaces[] = {"/run", "/tmp"};
constexpr int kDepth = 4;
// Of one directory. A larger one is shown without a search, like a directory of data.
constexpr size_t kMostSockets = 4096;

bool is_acknowledged(const Draft& draft, const base::Path& path) {
    return std::ranges::any_of(draft.policy().sockets.allow_dangerous, [&](const Item& item) {
        base::Result<base::Path> named = absolute_entry(draft, item);
        base::Result<host::Tree::Resolved> physical = named ? draft.tree().resolve(*named) : named.error();
        return physical && physical->path == path;
    });
}

void hide(Draft& draft, const base::Path& path, const config::DataRow& row) {
    if (is_acknowledged(draft, path)) return;
    draft.add_rule(path, Access::hidden, {std::string(row.reason) + "; --dangerous-socket lets one in", {}});
}

// Hides everything that a row matches, to this depth. `sockets_only`: a row matches the directory itself, and
// the user has named it.
void hide_below(Draft& draft, const base::Path& directory, int depth, bool sockets_only) {
    const std::vector<host::Entry>& entries = draft.tree().list(directory);
    if (entries.size() > kMostSockets) return;
    for (const host::Entry& entry : entries) {
        base::Path path = directory / entry.name;
        const config::DataRow* row = matching_row(kList, path);
        bool is_meant = row != nullptr && (!sockets_only || entry.kind == host::Kind::socket);
        if (is_meant) {
            hide(draft, path, *row);
        } else if (entry.kind == host::Kind::directory && depth > 1) {
            hide_below(draft, path, depth - 1, sockets_only);
        }
    }
}

bool is_runtime_place(const base::Path& path) {
    return std::ranges::any_of(
        kRuntimePlaces, [&](std::string_view place) { return path.is_within(base::Path::known(place)); });
}

// "/var/lib/lxd" of "/var/lib/lxd/**": rows with a full path.
void hide_named_places(Draft& draft, const base::Path& shown) {
    for (const config::DataRow& row : config::data_list(kList)) {
        std::string_view place = row.entry.substr(0, row.entry.find("/**"));
        if (place.find('*') != place.npos || !place.starts_with('/')) continue;
        base::Path path = base::Path::known(place);
        if (path.is_strictly_within(shown) && draft.tree().look(path)) hide(draft, path, row);
    }
}

}  // namespace

base::Status close_shown_sockets(Draft& draft, const Item& item, const base::Path& shown) {
    std::optional<host::Node> node = draft.tree().look(shown);
    if (!node) return base::success();
    const config::DataRow* row = matching_row(kList, shown);
    if (node->kind == host::Kind::socket) {
        return entry_error(
            item, base::printable(shown.str()) + " is a Unix socket, which read-only does not close",
            row == nullptr
                ? "use sockets.allow or --socket"
                : "use sockets.allow_dangerous or --dangerous-socket: " + std::string(row->reason));
    }
    if (node->kind != host::Kind::directory) return base::success();
    if (row != nullptr && is_runtime_place(shown)) {
        return entry_error(
            item, base::format("{} holds sockets: {}", base::printable(shown.str()), row->reason),
            "name the one that is needed under sockets.allow_dangerous or with --dangerous-socket");
    }
    hide_named_places(draft, shown);
    hide_below(draft, shown, row != nullptr ? kDepth : 1, true);
    for (std::string_view name : kRuntimePlaces) {
        base::Path place = base::Path::known(name);
        if (shown.is_within(place)) hide_below(draft, shown, kDepth, false);
        if (place.is_strictly_within(shown)) hide_below(draft, place, kDepth, false);
    }
    return base::success();
}

}  // namespace plan
