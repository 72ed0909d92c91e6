// SPDX-License-Identifier: MIT
#include "backends/layers.h"

#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace backends {
namespace {

using plan::Mount;
using plan::MountKind;

bool makes_mount(MountKind kind, const Layer& layer) {
    switch (kind) {
        case MountKind::bind_readonly:
        case MountKind::bind_writable:
        case MountKind::bind_device:
        case MountKind::tmpfs:
        case MountKind::private_file:
        case MountKind::empty_file:
        case MountKind::proc:
        case MountKind::queues:
        case MountKind::helper_socket:
        case MountKind::dev:
            return true;
        case MountKind::file:
            return shows_host(layer);
        case MountKind::directory:
        case MountKind::symlink:
        case MountKind::held_link:
        case MountKind::seal:
            return false;
    }
    return false;
}

// Calls `look` with the path and each of its ancestors up to the root: a thousand mounts must not become a
// million comparisons.
template <typename Look>
void climb(std::string_view path, Look look) {
    while (true) {
        look(path);
        if (path.size() <= 1) return;
        size_t slash = path.rfind('/');
        path = path.substr(0, slash == 0 ? 1 : slash);
    }
}

void look_below(const std::vector<Mount>& mounts, std::vector<Layer>& layers) {
    std::unordered_map<std::string_view, size_t> latest;  // target → index of the last mount there
    for (size_t i = 0; i < mounts.size(); ++i) {
        std::optional<size_t> ground;
        climb(mounts[i].target.str(), [&](std::string_view path) {
            auto found = latest.find(path);
            if (found == latest.end()) return;
            // A mount hides those that were made inside its target before it: the latest one is visible.
            if (!ground || found->second > *ground) ground = found->second;
            if (mounts[found->second].kind == MountKind::bind_writable) layers[i].is_in_writable = true;
        });
        layers[i].ground_index = ground;
        if (ground) layers[i].ground = mounts[*ground].kind;
        if (makes_mount(mounts[i].kind, layers[i])) latest[mounts[i].target.str()] = i;
    }
}

void look_above(const std::vector<Mount>& mounts, std::vector<Layer>& layers) {
    std::unordered_set<std::string_view> later, sealed;
    for (size_t i = mounts.size(); i-- > 0;) {
        std::string_view target = mounts[i].target.str();
        climb(target, [&](std::string_view path) { layers[i].is_covered |= later.contains(path); });
        layers[i].is_sealed = sealed.contains(target);
        if (makes_mount(mounts[i].kind, layers[i])) later.insert(target);
        if (mounts[i].kind == MountKind::seal) sealed.insert(target);
    }
}

}  // namespace

bool shows_host(const Layer& layer) {
    return layer.ground == MountKind::bind_readonly || layer.ground == MountKind::bind_writable ||
           layer.ground == MountKind::bind_device;
}

std::vector<Layer> layers_of(const std::vector<Mount>& mounts) {
    std::vector<Layer> layers(mounts.size());
    look_below(mounts, layers);
    look_above(mounts, layers);
    return layers;
}

}  // namespace backends
