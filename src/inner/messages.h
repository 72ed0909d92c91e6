// SPDX-License-Identifier: MIT
// The messages between the inner stage and the supervisor over their socket, as bytes. Both ends are ours;
// after an invalid report no further one is read.
#pragma once

#include <string>
#include <string_view>

namespace inner {

// Reports of the stage, in this order. `built`: the jail is as intended; it carries descriptors: the mount
// namespace if the supervisor can't open that itself, and the listener of calls that a process outside
// answers. Then the stage waits for the ready message, after which code of the user may run. `traced`, only
// with a trace: carries the listener of the command's calls as a descriptor. `started`: the command is
// executed. `stopped` and `refused`, any number of times. `ended`. `failed` may replace the first ones.
struct Report {
    enum class Kind { built, traced, started, failed, stopped, refused, ended };
    Kind kind = Kind::built;
    // built: the version of Landlock that is used, 0: none; failed: errno; stopped: the signal; ended: exit
    // status, or signal
    int number = 0;
    bool by_signal = false;  // ended
    // failed: one of the names below; built: which descriptors come with it, in their order, a letter each
    std::string step;
    std::string object;  // failed: on what; refused: the abstract name that was to be bound

    bool operator==(const Report&) const = default;
};

inline constexpr char kMountsCome = 'm';
inline constexpr char kListenerComes = 'l';

// Steps that can fail before the command runs.
inline constexpr std::string_view kStepCheck = "check";            // the view is not the intended one
inline constexpr std::string_view kStepDirectory = "directory";    // chdir
inline constexpr std::string_view kStepKeyring = "keyring";        // the jail's own session keyring
inline constexpr std::string_view kStepPrivileges = "privileges";  // giving them up
inline constexpr std::string_view kStepWarden = "warden";    // the process that ends what the command leaves
inline constexpr std::string_view kStepDoorman = "doorman";  // the calls that the stage answers
inline constexpr std::string_view kStepTracer = "tracer";    // the calls that the tracer answers
inline constexpr std::string_view kStepFilter = "filter";    // seccomp
inline constexpr std::string_view kStepWall = "wall";        // Landlock
inline constexpr std::string_view kStepStart = "start";      // fork and its sockets
inline constexpr std::string_view kStepLimits = "limits";    // setrlimit
inline constexpr std::string_view kStepExecute = "execute";  // the command itself
inline constexpr std::string_view kStepInterpreter =
    "interpreter";  // the command exists, its interpreter does not

std::string encode(const Report& report);
// Removes one complete frame from the front of `buffer`; false if it is not complete yet.
bool take_report(std::string& buffer, Report& report);

// To the stage: a signal for the command. Signal 0 is the ready message: the keeper guards the jail and the
// gateway serves.
struct SignalRequest {
    int signal = 0;
    bool to_group = false;        // for the command's process group, not for the command alone
    bool takes_terminal = false;  // first make that group the terminal's foreground

    bool operator==(const SignalRequest&) const = default;
};
inline constexpr size_t kSignalRequestSize = 3;  // of every frame
std::string encode(const SignalRequest& request);
bool take_signal_request(std::string& buffer, SignalRequest& request);

}  // namespace inner
