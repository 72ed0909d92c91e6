// SPDX-License-Identifier: MIT
// The child that becomes the jail, started before the plan is made. While the supervisor reads settings and
// makes the plan, the child makes namespaces on another processor, and searches /etc for private files. So a
// launch waits for neither.
//
// Until the work comes, the child has only what the caller's shell gave to the supervisor, and runs no code
// of the user. Without such a child, launch() makes one with the plan in its memory.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>

#include "base/file.h"
#include "base/path.h"
#include "host/private_files.h"
#include "inner/launch_spec.h"
#include "network/netns/set_up.h"

namespace backends::native {

struct Script;

// The namespaces that a plan may leave out. The child has the others from its start.
struct OptionalNamespaces {
    bool network = true;
    bool ipc = true;

    bool operator==(const OptionalNamespaces&) const = default;
};

class EarlyChild {
  public:
    // Null: root's processes have other rights in a user namespace, or no process can be started.
    static std::unique_ptr<EarlyChild> start(const base::Path& searched);
    ~EarlyChild();
    EarlyChild(const EarlyChild&) = delete;
    EarlyChild& operator=(const EarlyChild&) = delete;

    // The search for private files below `searched`, as far as the child made it before its work came
    // (host/private_files.h). Waits for the child. Nothing: it has sent nothing. Call it once.
    std::optional<host::PrivateFilesWalk> take_search();

    // What the settings ask for. Call it once, as soon as they are known.
    void make_namespaces(OptionalNamespaces wanted);

    struct Work {
        const network::netns::NetworkRequest& network;
        const inner::LaunchSpec& spec;  // its descriptors are ours
        const Script& script;
        OptionalNamespaces namespaces;
        int failures = -1;   // where the child writes why it failed
        int cgroup = -1;     // -1: none
        int listeners = -1;  // -1: none
    };
    // The child builds the jail and becomes its first process. Returns its pid; from here on the caller ends
    // it. -1: there is no child, or it has other namespaces. It is ended.
    pid_t become_jail(const Work& work);

    void end();

  private:
    EarlyChild() = default;

    pid_t process_ = -1;
    base::Fd orders_, answer_;
    OptionalNamespaces made_ = {.network = false, .ipc = false};
};

}  // namespace backends::native
