// SPDX-License-Identifier: MIT
// What the inner stage and the supervisor say to each other over their socket, as bytes. Both ends are ours;
// a frame that makes no sense ends the session.
#pragma once

#include <string>
#include <string_view>

namespace inner {

// From the stage, in this order: `built` once the jail is as it was meant, with its mount namespace as a
// descriptor where the supervisor can't find that; then it waits for the word, and something of the user's
// may run. Where that is traced, `traced` with the listener of its calls as a descriptor; `started` once the
// command is executed; `stopped`, any number of times; `ended`. `failed` may take the place of the first
// ones.
struct Report {
    enum class Kind : char {
        built = 'P',
        traced = 'L',
        started = 'S',
        failed = 'F',
        stopped = 'T',
        ended = 'E'
    };
    Kind kind = Kind::built;
    // built: the version of Landlock that the second wall uses, 0 where there is none; failed: errno;
    // stopped: the signal; ended: exit status, or signal
    int number = 0;
    bool by_signal = false;  // ended
    std::string step;        // failed: one of the names below
    std::string object;      // failed: on what

    bool operator==(const Report&) const = default;
};

// Steps that can fail before the command runs.
inline constexpr std::string_view kStepOrders = "orders";
inline constexpr std::string_view kStepCheck = "check";            // the view is not the one that was meant
inline constexpr std::string_view kStepDirectory = "directory";    // chdir
inline constexpr std::string_view kStepKeyring = "keyring";        // a session keyring of the jail's own
inline constexpr std::string_view kStepPrivileges = "privileges";  // giving them up
inline constexpr std::string_view kStepWarden = "warden";          // whoever ends what the command leaves
inline constexpr std::string_view kStepDoorman = "doorman";        // the calls that the stage is asked about
inline constexpr std::string_view kStepTracer = "tracer";          // the calls that are notified outside
inline constexpr std::string_view kStepFilter = "filter";          // seccomp
inline constexpr std::string_view kStepWall = "wall";              // Landlock
inline constexpr std::string_view kStepStart = "start";            // fork and what belongs to it
inline constexpr std::string_view kStepLimits = "limits";          // setrlimit
inline constexpr std::string_view kStepExecute = "execute";        // the command itself
inline constexpr std::string_view kStepInterpreter =
    "interpreter";  // the command is there, its interpreter is not

std::string encode(const Report& report);
// Takes one complete frame off the front of `buffer`; false while there is none.
bool take_report(std::string& buffer, Report& report);

// To the stage: a signal for the command. Signal 0 is the word to start: whoever guards the jail from outside
// and carries its traffic is there.
struct Request {
    int signal = 0;
    bool to_group = false;        // for the command's process group, not for the command alone
    bool takes_terminal = false;  // first make that group the terminal's foreground

    bool operator==(const Request&) const = default;
};
inline constexpr size_t kRequestSize = 3;  // of every frame
std::string encode(const Request& request);
bool take_request(std::string& buffer, Request& request);

}  // namespace inner
