// SPDX-License-Identifier: MIT
// Theory of operation. One clone makes all namespaces, and this process is the first in each of them. The
// steps, and the power that this process has after each:
//
//   step                                          power over
//   ------------------------------------------    ----------------------------------------------------------
//   the clone                                     the new namespaces: every capability, as their maker
//   the caller is mapped to root                  the same; root inside, the caller outside
//   inotify is limited                            the same
//   nothing mounted here is visible outside       the same. Later mounts of the host are visible here (for
//                                                 instance an automounter's), never the other way
//   the control group is entered                  the same
//   the network is set up, its sockets go out     the same
//   the view is built, the old root detached      the same; from here on there is no way to the host's files
//   a second user namespace                       that one alone: what was made before belongs to the first,
//                                                 which can't be entered again from inside
//   no new privileges, no capability, not even    none; no way to gain one
//   in the bounding set
//
// If any step fails, the process exits. It is the first of its pid namespace, so all of the jail ends with
// it: its mounts and devices are in namespaces that no other process uses, and the kernel removes them.
#include "backends/native/child_after_clone.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "backends/native/mount_calls.h"
#include "backends/native/mounts_after_clone.h"
#include "backends/watch_limits_after_clone.h"
#include "network/netns/carry_out_after_clone.h"

namespace backends::native {
namespace {

Failure enter_control_group(int procs) {
    if (procs >= 0 && ::write(procs, "0", 1) != 1) return {errno, Phase::control_group};
    // The namespace's root is the cgroup that this process is in now. Kernels without it have nothing to
    // hide.
    (void)!::unshare(CLONE_NEWCGROUP);
    return {};
}

Failure set_up_network(const Work& work) {
    if (work.network == nullptr) return {};
    network::netns::CarriedOut carried = network::netns::carry_out(*work.network, work.listeners);
    return {carried.number, Phase::network, network::netns::to_text(carried.step).data()};
}

}  // namespace

Failure begin_jail(Work& work) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    work.mask = ::umask(0);
    work.self = ::open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (work.self < 0) return {errno, Phase::user_map};
    // Open it now: soon no process outside can inspect this one.
    work.mounts = ::openat(work.self, "ns/mnt", O_RDONLY | O_CLOEXEC);
    if (work.mounts < 0) return {errno, Phase::privacy};
    if (Failure failure = become_root(work.caller, work.self)) return failure;
    limit_watches();
    if (int number = mount_call(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr); number != 0)
        return {number, Phase::privacy};
    return {};
}

Failure build_jail(Work& work) {
    if (Failure failure = enter_control_group(work.cgroup)) return failure;
    if (Failure failure = set_up_network(work)) return failure;
    if (Failure failure = build_view(*work.script, work.self)) return failure;
    if (Failure failure = give_up_power(work.caller, work.self)) return failure;
    ::close(work.self);
    ::umask(work.mask);
    // Changing credentials clears PDEATHSIG; set it again.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    return {};
}

}  // namespace backends::native
