// SPDX-License-Identifier: MIT
// Single steps of a session. session.cc has their order.
#pragma once

#include <cstdint>
#include <functional>
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
#include "session/helpers/ssh_agent.h"
#include "session/limits/limits.h"
#include "session/limits/watch.h"
#include "session/session.h"
#include "session/supervise.h"
#include "session/terminal.h"

namespace session {

// ---- Prepare

base::Result<Placeholders> acquire_placeholders(const plan::Plan& plan, const SessionOptions& options);

// Makes the layer of a copy-on-write session, or takes up an existing one; returns its lock.
base::Result<base::Fd> open_layer(const plan::Plan& plan, layers::Layer layer);

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

std::map<std::string, std::string> sockets_of(const Notices& notices, const Chaperon& chaperon,
                                              const SshAgent& ssh_agent);

Gateway::Record shared_with_gateway(const Record& record);

// Nothing: the plan has no credentials and no request rules.
base::Result<std::optional<network::gateway::BrokerInputs>> broker_inputs(const plan::Plan& plan,
                                                                          const SessionOptions& options);

// The names that the session has certificates for, and the process that makes further ones.
LiveRules::Names live_names(const plan::Plan& plan, const SessionOptions& options);

// What the questions of the agent need.
Asks::Parts asks_parts(Control& control, const SessionOptions& options, LiveRules& live,
                       const Notices& notices, audit::Writer& record);

// Launch failed after fork: kill the half-built jail before any user code runs.
base::Error abandon(const backends::Launched& launched, const Orphans& orphans, const base::Error& error);

// ---- Serve

// The jail's mount namespace: passed by the stage, or opened in /proc if a backend's own program built the
// jail.
base::Result<base::Fd> mounts_of(base::Backend backend, pid_t stage, base::Fd handed_out);

// Fails if a limit needs a meter and the jail has no meter: a limit that is not measured would not be held.
base::Status start_watch(Watch& watch, const plan::Plan& plan,
                         const std::function<std::optional<Meter>()>& find_meter);

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

// Fails if a descriptor that the command inherits leads out of the jail.
base::Status check_inherited(const plan::Plan& plan);
// The same for one that it will have as `number`.
base::Status check_inherited(const plan::Plan& plan, int descriptor, int number);

}  // namespace session
