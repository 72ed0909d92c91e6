// SPDX-License-Identifier: MIT
#include "backends/firejail/devices.h"

#include <algorithm>

#include "base/inside/devices.h"
#include "base/parse.h"
#include "base/text.h"

namespace backends::firejail {
namespace {

const base::Path kDevices = base::Path::known("/dev");
const base::Path kRendering = base::Path::known("/dev/dri");

// Besides the nodes in /dev/dri.
bool is_nvidia(std::string_view name) {
    constexpr std::string_view kNames[] = {"nvidiactl", "nvidia-modeset", "nvidia-uvm"};
    constexpr std::string_view kNumbered = "nvidia";
    bool is_numbered =
        name.size() == kNumbered.size() + 1 && name.starts_with(kNumbered) && base::is_digit(name.back());
    return is_numbered || std::ranges::find(kNames, name) != std::end(kNames);
}

bool is_graphics(const base::Path& node) {
    return node.is_within(kRendering) || (node.parent() == kDevices && is_nvidia(node.name()));
}

// With isolation.private_ipc off the plan lists these two like devices.
bool is_shared_memory(const base::Path& node) {
    return std::ranges::count(base::kSharedDirectories, node.str()) > 0;
}

std::vector<base::Path> graphics_of(const host::Tree& tree) {
    std::vector<base::Path> nodes;
    for (const host::Entry& entry : tree.list(kDevices)) {
        if (is_nvidia(entry.name)) nodes.push_back(kDevices / entry.name);
    }
    for (const host::Entry& entry : tree.list(kRendering)) {
        if (entry.kind == host::Kind::device) nodes.push_back(kRendering / entry.name);
    }
    return nodes;
}

}  // namespace

base::Status allow_devices(const plan::Plan& plan, const host::Tree& tree, View& view) {
    std::vector<base::Path> wanted;
    for (const plan::Mount& mount : plan.mounts) {
        bool is_device = mount.kind == plan::MountKind::bind_device && mount.target.is_within(kDevices) &&
                         !is_shared_memory(mount.target);
        if (!is_device) continue;
        bool is_asked_for = mount.reason.why == "devices.allow";
        if (!is_graphics(mount.target) && is_asked_for) {
            return base::Error{.what = "firejail can't let in " + base::printable(mount.target.str()),
                               .advice = "remove the entry, or use another backend",
                               .where = mount.reason.origin.describe()};
        }
        wanted.push_back(mount.target);
    }
    view.shows_graphics = std::ranges::any_of(wanted, is_graphics);
    if (!view.shows_graphics) return base::success();
    for (const base::Path& node : graphics_of(tree)) {
        if (std::ranges::find(wanted, node) == wanted.end()) view.entries.push_back({Act::blacklist, node});
    }
    return base::success();
}

}  // namespace backends::firejail
