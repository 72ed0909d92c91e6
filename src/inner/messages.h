// SPDX-License-Identifier: MIT
// The messages between the inner stage and the supervisor over their socket, as bytes. Both ends are ours;
// after an invalid report no further one is read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inner/launch_spec.h"

namespace inner {

// Reports of the stage, in this order. `built`: the jail is as intended; it carries descriptors: the mount
// namespace if the supervisor can't open that itself, the listener of calls that a process outside answers,
// the private home directory, and the /proc of the jail's pid namespace. Then the stage waits for the ready
// message, after which code of the user may run. `traced`, only with a trace: carries the listener of the
// command's calls as a descriptor. `started`: the command is executed. `stopped` and `refused`, any number of
// times. `opened`, once for each masked file that was opened. `nested`, once for each program that was
// refused namespaces of its own. `ended`. `failed` may replace the first ones.
struct Report {
    enum class Kind { built, traced, started, failed, stopped, refused, opened, ended, nested };
    Kind kind = Kind::built;
    // built: the version of Landlock that is used, 0: none; failed: errno; stopped: the signal; ended: exit
    // status, or signal
    int number = 0;
    bool by_signal = false;  // ended
    // failed: one of the names below; built: which descriptors come with it, in their order, a letter each
    std::string step;
    // failed: on what; refused: the abstract name that was to be bound; opened: the file; nested: the program
    std::string object;
    // started, failed, ended: of this added command; -1: of the session's own. `started` has its pid inside.
    int slot = -1;

    bool operator==(const Report&) const = default;
};

inline constexpr char kMountsCome = 'm';
inline constexpr char kListenerComes = 'l';
inline constexpr char kHomeComes = 'h';
inline constexpr char kProcComes = 'p';

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
    int slot = -1;                // for this added command instead
    // Starts an added command in this slot. The frame has four descriptors: a memory file with an
    // AddedRequest, and the command's 0, 1 and 2.
    bool starts = false;

    bool operator==(const SignalRequest&) const = default;
};
inline constexpr size_t kSignalRequestSize = 3;  // of every frame
std::string encode(const SignalRequest& request);
bool take_signal_request(std::string& buffer, SignalRequest& request);

// A command that `exec` adds to a running session.
struct AddedRequest {
    std::vector<std::string> command;
    std::vector<std::string> environment;  // "NAME=value", in addition to the session's
    std::string directory;                 // relative to the session's working directory; empty: that one
    bool has_terminal = false;             // its standard input becomes its controlling terminal
    uint64_t ignored_signals = 0;          // by the process that asks; bit n-1 stands for signal n

    bool operator==(const AddedRequest&) const = default;
};
inline constexpr int kMostAdded = 64;                      // at once
inline constexpr size_t kLargestAddedWords = 48u << 10;    // bytes of command and environment together
inline constexpr size_t kLargestAddedRequest = 64u << 10;  // bytes of the memory file
inline constexpr size_t kAddedDescriptors = 4;
std::string encode(const AddedRequest& request);
// Nothing: damaged, too large, or without a command.
std::optional<AddedRequest> decode_added(std::string_view text);

// Sends reports to the supervisor.

void send_report(const LaunchSpec& spec, const Report& report);

// The same with descriptors, at most kMostReported; zero or an errno.
inline constexpr size_t kMostReported = 4;
int send_report_with(const LaunchSpec& spec, const Report& report, std::span<const int> descriptors);

// Reports which step failed on what. Returns the exit status for a stage that ends because of it.
int report_failure(const LaunchSpec& spec, std::string_view step, std::string_view object, int number);

}  // namespace inner
