// SPDX-License-Identifier: MIT
// bubblewrap mounts by path: it turns even a source that is given as a descriptor back into a path. So we
// open the source here without following a link, and the inner stage compares what is mounted with what was
// opened. The descriptor need not stay open: a reused inode number belongs to a new file of the same writer,
// at the same place and of the same type.
#include "backends/bubblewrap/checks.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "backends/layers.h"
#include "base/format.h"
#include "base/no_links.h"

namespace backends::bubblewrap {
namespace {

using plan::Mount;
using plan::MountKind;

bool is_bind(MountKind kind) {
    return kind == MountKind::bind_readonly || kind == MountKind::bind_writable;
}

bool needs_check(const Mount& mount, const Layer& layer) {
    bool is_mount = is_bind(mount.kind) || mount.kind == MountKind::tmpfs ||
                    mount.kind == MountKind::private_file || mount.kind == MountKind::empty_file;
    return is_mount && !layer.is_covered && (mount.is_pinned || layer.is_in_writable);
}

base::Status identify(const std::string& source, inner::Check& check) {
    base::Result<base::Path> path = base::Path::parse(source);
    if (!path) return path.error();
    base::Fd fd(base::open_without_links(*path, O_PATH));
    struct stat status;
    if (!fd || ::fstat(fd.get(), &status) != 0) {
        base::Error error =
            base::system_error(base::format("show {} in the jail", source), fd ? errno : -fd.get());
        error.advice = "something else changed it just now; try again";
        return error;
    }
    check.has_identity = true;
    check.device = status.st_dev;
    check.inode = status.st_ino;
    check.type = status.st_mode & S_IFMT;
    return base::success();
}

}  // namespace

base::Result<std::vector<inner::Check>> make_checks(const plan::Plan& plan) {
    std::vector<inner::Check> checks;
    std::vector<Layer> layers = layers_of(plan.mounts);
    for (size_t i = 0; i < plan.mounts.size(); ++i) {
        const Mount& mount = plan.mounts[i];
        if (!needs_check(mount, layers[i])) continue;
        inner::Check check{.target = mount.target.str()};
        check.is_readonly = mount.kind == MountKind::bind_readonly || mount.kind == MountKind::empty_file ||
                            layers[i].is_sealed;
        if (is_bind(mount.kind)) {
            if (base::Status identified = identify(mount.source, check); !identified)
                return identified.error();
        }
        bool is_another = mount.target == plan.project && plan.project_inode != 0 && check.has_identity &&
                          check.inode != plan.project_inode;
        if (is_another) {
            return base::Error{
                .what = plan.project.str() + " is another directory than when the job was submitted",
                .advice = "submit it again"};
        }
        checks.push_back(std::move(check));
    }
    return checks;
}

}  // namespace backends::bubblewrap
