// SPDX-License-Identifier: MIT
// Sockets in what a person shows with mounts.*: a read-only bind of a Unix socket can still be connected to.
//
// Threat: `--ro /run/docker.sock`, or a directory with it, would let in what only sockets.allow_dangerous
// may, and walk around an administrator's lock on that (tests/jail/sockets.bats,
// tests/plan/view_test.cc). A socket is therefore never a mount, a directory of dangerous ones is
// none, and those below a shown directory are hidden in it.
#include <algorithm>

#include "base/text.h"
#include "config/data.h"
#include "plan/draft.h"

namespace plan {
namespace {

using config::Item;

constexpr std::string_view kList = "sockets/dangerous";

// Where services and sessions keep their sockets. Elsewhere only the places that the list names in full are
// looked for: nobody searches a directory of data for sockets.
constexpr std::string_view kRuntimePlaces[] = {"/run", "/tmp"};
constexpr int kDepth = 4;
// Of one directory; a place with more is shown without a search, as one with data is.
constexpr size_t kMostEntries = 4096;

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

// Everything that a row takes, to this depth; `sockets_only` where a row means the directory itself and a
// person has named it.
void hide_below(Draft& draft, const base::Path& directory, int depth, bool sockets_only) {
    const std::vector<host::Entry>& entries = draft.tree().list(directory);
    if (entries.size() > kMostEntries) return;
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

// "/var/lib/lxd" of "/var/lib/lxd/**": rows that name their place in full.
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
            item, base::printable(shown.str()) + " holds sockets: " + std::string(row->reason),
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
