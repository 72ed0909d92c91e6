// SPDX-License-Identifier: MIT
// Single steps of a session. session.cc has their order.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "backends/backend.h"
#include "base/file.h"
#include "base/result.h"
#include "plan/plan.h"
#include "session/control/record.h"
#include "session/guard/orphans.h"
#include "session/guard/placeholders.h"
#include "session/helpers/chaperon.h"
#include "session/helpers/gateway.h"
#include "session/helpers/notices.h"
#include "session/limits/cgroup.h"
#include "session/limits/watch.h"
#include "session/session.h"
#include "session/supervise.h"
#include "session/terminal.h"

namespace session {

// ---- Prepare

base::Result<Placeholders> acquire_placeholders(const plan::Plan& plan, const SessionOptions& options);

// The name of a helper's socket on the host: in the session's own directory, if it has one.
struct SocketName {
    std::string directory;
    std::string name;
};
SocketName socket_name(const plan::Plan& plan, const SessionOptions& options, std::string_view inside,
                       std::string_view outside);

// Notices are datagrams, which a jail without namespaces can't send (src/doorman).
bool can_be_notified(const plan::Plan& plan);

// A pair of sockets between the jail and the gateway, for descriptors.
struct DescriptorChannel {
    base::Fd jails, gateways;
};
// The jail's doorman passes connections through it. Not open if the plan needs none.
base::Result<DescriptorChannel> open_handoff(const plan::Plan& plan);
// The jail's own child passes its listeners through it. Not open if the plan needs none.
base::Result<DescriptorChannel> open_listener_channel(const plan::Plan& plan);

// Opens the record and writes its first line. On a full disk the file may be made, but not written.
base::Status begin_record(Record& record, const plan::Plan& plan, const SessionOptions& options,
                          const std::string& policy);

// ---- Launch

std::map<std::string, std::string> sockets_of(const Notices& notices, const Chaperon& chaperon);

Gateway::Record shared_with_gateway(const Record& record);

// Launch failed after fork: kill the half-built jail before any user code runs.
base::Error abandon(const backends::Launched& launched, const Orphans& orphans, const base::Error& error);

// ---- Serve

// The jail's mount namespace: passed by the stage, or opened in /proc if a backend's own program built the
// jail.
base::Result<base::Fd> mounts_of(pid_t stage, base::Fd handed_out);

void start_watch(Watch& watch, const plan::Plan& plan, pid_t stage);

// The command has not started yet.
void tell_unwatched(Record& record, const base::Path& project);

// ---- Wind up

// Reads what the kernel did for a limit. When memory runs out, the kernel kills the whole cgroup at once.
void look_back(const Cgroup& cgroup, Outcome& outcome);

// The command had the terminal, so only it got the SIGINT of Ctrl-C. Send it to our whole process group, for
// instance to a script that started us, as it would get it without a jail.
void share_interrupt(const Terminal& terminal, const Outcome& outcome);

// The command may have exited with 0, because a pipe accepted the output that the file could not.
void tell_lost_output(const base::Error& error, Ending& ending);

}  // namespace session
