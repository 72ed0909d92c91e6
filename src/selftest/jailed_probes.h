// SPDX-License-Identifier: MIT
// Runs the probes in a jail: as the session's own command, or through `exec` in a session that waits, because
// every restriction must hold for an added command, too.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "selftest/selftest.h"
#include "session/session.h"

namespace selftest {

// The exit status if the jail can be built at the next try: a planned file has changed meanwhile (EX_TEMPFAIL
// of sysexits.h).
inline constexpr int kMayPass = 75;

// For the child that becomes the session. It prints the reason if the jail can't be built: the probes have
// not used standard output then.
[[noreturn]] void become_session(const Jail& jail, const session::SessionOptions& options);

// The same with the probes as an added command. The session's own command is the role kWaiting.
[[noreturn]] void become_client_of_session(const Jail& jail, const session::SessionOptions& options,
                                           const std::vector<std::string>& probes);

// The role of the session's own command.
inline constexpr std::string_view kWaiting = "wait";
int run_waiting();

}  // namespace selftest
