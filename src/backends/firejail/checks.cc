// SPDX-License-Identifier: MIT
#include "backends/firejail/checks.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "base/format.h"
#include "base/no_links.h"

namespace backends::firejail {
namespace {

using inner::Check;

void set_identity(Check& check, const struct stat& status) {
    check.device = status.st_dev;
    check.inode = status.st_ino;
    check.type = status.st_mode & S_IFMT;
}

// Checks that the jail has something else there, or nothing that can be opened. Not needed if the host has
// nothing there either.
void add_other(std::vector<Check>& checks, const std::string& target) {
    struct stat status;
    if (::stat(target.c_str(), &status) != 0) return;
    Check check{.target = target, .is_other = true};
    set_identity(check, status);
    checks.push_back(std::move(check));
}

base::Status identify(Check& check) {
    base::Result<base::Path> path = base::Path::parse(check.target);
    if (!path) return path.error();
    base::Fd fd(base::open_without_links(*path, O_PATH));
    struct stat status;
    if (!fd || ::fstat(fd.get(), &status) != 0) {
        base::Error error =
            base::system_error(base::format("show {} in the jail", check.target), fd ? errno : -fd.get());
        error.advice = "something else changed it just now; try again";
        return error;
    }
    check.has_identity = true;
    set_identity(check, status);
    return base::success();
}

// Threat: if firejail finds no kernel threads in /proc, or a certain name in the environment of pid 1, it
// drops its privileges and executes the program outside of any jail. (tests/jail/firejail.bats)
void add_namespaces(const plan::Plan& plan, std::vector<Check>& checks) {
    add_other(checks, "/proc/self/ns/pid");
    add_other(checks, "/proc/self/ns/mnt");
    if (plan.processes.private_ipc) add_other(checks, "/proc/self/ns/ipc");
    if (plan.network.reached != policy::NetworkMode::open) add_other(checks, "/proc/self/ns/net");
}

// The last act on each path, which decides what is there in the end.
std::map<base::Path, Act> last_acts(const View& view) {
    std::map<base::Path, Act> acts;
    for (const Entry& entry : view.entries) acts[entry.path] = entry.act;
    return acts;
}

base::Status check_shown(const base::Path& path, Act act, std::vector<Check>& checks) {
    Check check{.target = path.str(), .is_readonly = act == Act::read_only};
    if (base::Status identified = identify(check); !identified) return identified;
    checks.push_back(std::move(check));
    return base::success();
}

bool exists(const base::Path& path) {
    struct stat status;
    return ::lstat(path.c_str(), &status) == 0;
}

}  // namespace

base::Result<std::vector<inner::Check>> make_checks(const plan::Plan& plan, const View& view) {
    std::vector<Check> checks;
    add_namespaces(plan, checks);
    for (const base::Path& place : view.emptied) add_other(checks, place.str());
    // If a sound server has its sockets in the host's /dev/shm, firejail shows all of it again.
    if (plan.processes.private_ipc) add_other(checks, "/dev/shm");
    if (view.filters_accounts && !view.shows_all_homes) {
        for (const char* file : {"/etc/passwd", "/etc/group"}) add_other(checks, file);
    }
    for (const auto& [path, act] : last_acts(view)) {
        if (std::ranges::find(view.emptied, path) != view.emptied.end()) continue;
        bool is_closed = act == Act::blacklist || act == Act::tmpfs;
        if (is_closed) {
            add_other(checks, path.str());
        } else if (exists(path)) {
            if (base::Status checked = check_shown(path, act, checks); !checked) return checked.error();
        }
    }
    for (const Check& check : checks) {
        bool is_another = check.target == plan.project.str() && plan.project_inode != 0 &&
                          check.has_identity && check.inode != plan.project_inode;
        if (is_another) {
            return base::Error{
                .what = plan.project.str() + " is another directory than when the job was submitted",
                .advice = "submit it again"};
        }
    }
    return checks;
}

}  // namespace backends::firejail
