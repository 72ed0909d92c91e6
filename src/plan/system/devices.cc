// SPDX-License-Identifier: MIT
#include "plan/system/devices.h"

#include <algorithm>

#include "base/path.h"
#include "base/text.h"
#include "config/data.h"

namespace plan {
namespace {

using config::Item;

const base::Path kDeviceDirectory = base::Path::known("/dev");

base::Path physical(const Draft& draft, const base::Path& path) {
    base::Result<host::Tree::Resolved> resolved = draft.tree().resolve(path);
    return resolved ? resolved->path : path;
}

// A node, or all nodes of a directory, so that a denied one can be left out of it.
void collect_nodes(const Draft& draft, const base::Path& path, std::vector<base::Path>& nodes) {
    std::optional<host::Node> node = draft.tree().look_through(path);
    if (!node) return;
    if (node->kind == host::Kind::device) nodes.push_back(path);
    std::optional<host::Node> itself = draft.tree().look(path);
    bool is_plain_directory = itself && itself->kind == host::Kind::directory;
    if (!is_plain_directory) return;
    for (const host::Entry& entry : draft.tree().list(path)) collect_nodes(draft, path / entry.name, nodes);
}

// The nodes that an entry of devices.allow matches; its last component may be a wildcard.
std::vector<base::Path> nodes_of(const Draft& draft, const base::Path& pattern) {
    std::vector<base::Path> nodes;
    if (!base::has_wildcard(pattern.name())) {
        collect_nodes(draft, pattern, nodes);
        return nodes;
    }
    for (const host::Entry& entry : draft.tree().list(pattern.parent())) {
        if (base::matches_name(pattern.name(), entry.name))
            collect_nodes(draft, pattern.parent() / entry.name, nodes);
    }
    return nodes;
}

const config::DataRow* never_row(const Draft& draft, const base::Path& node) {
    const config::DataRow* row = matching_row("devices/never", node);
    return row != nullptr ? row : matching_row("devices/never", physical(draft, node));
}

base::Status allow_node(Draft& draft, const Item& item, const base::Path& node) {
    if (!physical(draft, node).is_within(kDeviceDirectory)) {
        return entry_error(item, base::printable(node.str()) + " leads out of /dev",
                           "name the device node itself");
    }
    if (const Item* deny = denying_entry(draft, node)) {
        draft.note(NoteKind::information, base::format("{} is not let in: devices.deny ({}) wins over {}",
                                                       base::printable(node.str()), deny->origin.describe(),
                                                       item.origin.describe()));
        return base::success();
    }
    if (const config::DataRow* never = never_row(draft, node)) {
        return entry_error(item,
                           base::format("{} is never let in: {}", base::printable(node.str()), never->reason),
                           "remove the entry");
    }
    bind_device(draft, node, {"devices.allow", item.origin});
    return base::success();
}

}  // namespace

const Item* denying_entry(const Draft& draft, const base::Path& node) {
    const base::Path spellings[] = {node, physical(draft, node)};
    for (const Item& item : draft.policy().devices.deny) {
        base::Result<base::Path> entry = absolute_entry(draft, item);
        for (const base::Path& spelling : spellings) {
            if (base::matches_path(item.text, spelling.str())) return &item;
            if (entry && spelling.is_within(physical(draft, *entry))) return &item;
        }
    }
    return nullptr;
}

void bind_device(Draft& draft, const base::Path& node, const Reason& reason) {
    bool is_bound = std::ranges::any_of(draft.assembled, [&](const Mount& mount) {
        return mount.kind == MountKind::bind_device && mount.target == node;
    });
    if (is_bound) return;
    draft.assembled.push_back(Mount{.kind = MountKind::bind_device,
                                    .target = node,
                                    .source = physical(draft, node).str(),
                                    .reason = reason});
    draft.add_rule(node, Access::writable, reason, Backing::assembled);
}

base::Status add_devices(Draft& draft) {
    for (const Item& item : draft.policy().devices.allow) {
        base::Result<base::Path> pattern = absolute_entry(draft, item);
        if (!pattern) return pattern.error();
        if (!pattern->is_strictly_within(kDeviceDirectory)) {
            return entry_error(item, base::printable(item.text) + " is not below /dev", "name a device node");
        }
        std::vector<base::Path> nodes = nodes_of(draft, *pattern);
        // A pattern may list the devices of many machines; this machine may have none of them.
        if (nodes.empty() && !base::has_wildcard(pattern->name())) {
            return entry_error(item, "no device matches " + base::printable(item.text), "remove the entry");
        }
        if (nodes.empty())
            draft.note(NoteKind::information,
                       base::format("{}: no device of this machine matches {}", item.origin.describe(),
                                    base::printable(item.text)));
        for (const base::Path& node : nodes) {
            if (base::Status allowed = allow_node(draft, item, node); !allowed) return allowed;
        }
    }
    return add_gpus(draft);
}

}  // namespace plan
