// SPDX-License-Identifier: MIT
// bubblewrap executes its options in order and a later one wins, so the order of the plan's mounts is kept
// exactly.
#include "backends/bubblewrap/render.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <initializer_list>

#include "backends/covers.h"
#include "base/no_links.h"
#include "base/text.h"

namespace backends::bubblewrap {
namespace {

using plan::Mount;
using plan::MountKind;
using Arguments = std::vector<std::string>;

void add(Arguments& arguments, std::initializer_list<std::string_view> words) {
    for (std::string_view word : words) arguments.emplace_back(word);
}

void add_namespaces(Arguments& arguments, const plan::Plan& plan, const Opened& opened) {
    if (opened.unshares_user) add(arguments, {"--unshare-user"});
    add(arguments, {"--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"});
    if (plan.processes.private_ipc && !opened.shares_ipc) add(arguments, {"--unshare-ipc"});
    if (plan.network.reached != policy::NetworkMode::open) add(arguments, {"--unshare-net"});
    // As mapped root a command would keep every capability over its namespaces.
    add(arguments, {"--cap-drop", "ALL"});
}

void add_mount(Arguments& arguments, const Mount& mount, const Layer& layer, int content,
               const Opened& opened) {
    const std::string& target = mount.target.str();
    switch (mount.kind) {
        case MountKind::bind_readonly:
            return add(arguments, {"--ro-bind", mount.source, target});
        case MountKind::bind_writable:
            return add(arguments, {"--bind", mount.source, target});
        // The plan has an overlay only for the native backend.
        case MountKind::overlay:
            return;
        case MountKind::bind_device:
            return add(arguments, {"--dev-bind", mount.source, target});
        case MountKind::tmpfs:
            return add(arguments, {"--tmpfs", target});
        case MountKind::directory:
            return add(arguments, {"--dir", target});
        case MountKind::symlink:
            return add(arguments, {"--symlink", mount.source, target});
        case MountKind::file:
            if (mount.is_executable) add(arguments, {"--perms", "0555"});
            // --file writes to the target: right on a tmpfs of ours, never on the host, where a mount covers
            // it instead.
            return add(arguments,
                       {shows_host(layer) ? "--ro-bind-data" : "--file", std::to_string(content), target});
        case MountKind::private_file:
            return add(arguments, {"--bind-data", std::to_string(content), target});
        case MountKind::empty_file:
            return add(arguments, {"--ro-bind-data", std::to_string(content), target});
        case MountKind::queues:
            // Only the owner of the ipc namespace can mount its queues; mq_open needs no mount.
            if (!opened.shares_ipc) add(arguments, {"--mqueue", target});
            return;
        case MountKind::helper_socket:
            if (auto socket = opened.sockets.find(mount.source); socket != opened.sockets.end())
                add(arguments, {"--ro-bind", socket->second, target});
            return;
        case MountKind::held_link:
            return;  // the plan asks for it only where the backend can do it
        case MountKind::proc:
            return add(arguments, {"--proc", target});
        case MountKind::dev:
            return add(arguments, {"--dev", target});
        case MountKind::seal:
            return add(arguments, {"--remount-ro", target});
    }
}

}  // namespace

bool has_content(MountKind kind) {
    return kind == MountKind::file || kind == MountKind::private_file || kind == MountKind::empty_file;
}

std::vector<std::string> render(const plan::Plan& plan, const Opened& opened) {
    Arguments arguments;
    add(arguments, {"--die-with-parent", "--as-pid-1"});
    add_namespaces(arguments, plan, opened);
    if (opened.information >= 0) add(arguments, {"--info-fd", std::to_string(opened.information)});
    std::vector<Layer> layers = layers_of(plan.mounts);
    auto content = opened.contents.begin();
    for (size_t i = 0; i < plan.mounts.size(); ++i) {
        add_mount(arguments, plan.mounts[i], layers[i], has_content(plan.mounts[i].kind) ? *content++ : -1,
                  opened);
    }
    // The inner stage enters the working directory itself, so that it can report why that failed.
    add(arguments, {"--chdir", "/"});
    return arguments;
}

// bubblewrap mounts by path: it turns even a source that is given as a descriptor back into a path. So we
// open the source here without following a link, and the inner stage compares what is mounted with what was
// opened. The descriptor need not stay open: a reused inode number belongs to a new file of the same writer,
// at the same place and of the same type.

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
