// SPDX-License-Identifier: MIT
#include "backends/covers.h"

#include <algorithm>
#include <optional>

#include "backends/layers.h"
#include "base/inside/paths_inside.h"

namespace backends {
namespace {

using plan::Mount;
using plan::MountKind;

// A cover whose source is elsewhere on the host can't be mounted again: no path in the jail leads there.
std::optional<Cover::Kind> kind_of(const Mount& mount, const Layer& layer, const base::Path& outside,
                                   std::string_view our_program) {
    switch (mount.kind) {
        case MountKind::bind_readonly:
            if (mount.source == our_program) return Cover::Kind::our_program;
            return mount.source == outside.str() ? std::optional(Cover::Kind::readonly) : std::nullopt;
        case MountKind::bind_writable:
            return mount.source == outside.str() ? std::optional(Cover::Kind::writable) : std::nullopt;
        // The plan mounts a changed copy to hide the file itself.
        case MountKind::private_file:
        case MountKind::file:
        case MountKind::empty_file:
            return Cover::Kind::nothing;
        case MountKind::tmpfs:
            return layer.is_sealed ? std::optional(Cover::Kind::nothing) : std::nullopt;
        case MountKind::bind_device:
        case MountKind::directory:
        case MountKind::symlink:
        case MountKind::proc:
        case MountKind::dev:
        case MountKind::queues:
        case MountKind::helper_socket:
        case MountKind::held_link:
        case MountKind::seal:
            return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace

std::vector<Cover> covers_of(const plan::Plan& plan) {
    std::vector<Cover> covers;
    const std::vector<Layer> layers = layers_of(plan.mounts);
    const base::Path own = base::Path::known(base::kOwnDirectory) / base::kOwnProgram;
    auto program = std::ranges::find(plan.mounts, own, &Mount::target);
    const std::string_view our_program = program != plan.mounts.end() ? program->source : std::string_view();
    for (size_t i = 0; i < plan.mounts.size(); ++i) {
        const Mount& mount = plan.mounts[i];
        if (!shows_host(layers[i]) || layers[i].is_covered || mount.target == own) continue;
        const Mount& ground = plan.mounts[*layers[i].ground_index];
        base::Result<base::Path> source = base::Path::parse(ground.source);
        if (!source || mount.target == ground.target) continue;
        const base::Path outside = *source / mount.target.relative_to(ground.target);
        if (std::optional<Cover::Kind> kind = kind_of(mount, layers[i], outside, our_program))
            covers.push_back({mount.target, outside, *kind});
    }
    return covers;
}

}  // namespace backends
