// SPDX-License-Identifier: MIT
// The content of every jail's /dev, without the nodes that devices.allow adds. bubblewrap's --dev makes the
// same entries.
#pragma once

#include <algorithm>
#include <string_view>

namespace base {

// Nodes of the host that every program may use. /dev/ptmx and /dev/pts are not among them. A new terminal can
// only be used through its name there, and the caller's other terminals have the same kind of name and owner:
// a process that can open the host's /dev/pts can type into the caller's shells. The jail inherits the
// caller's own terminal, which is /dev/tty.
inline constexpr std::string_view kDeviceNodes[] = {"null", "zero", "full", "random", "urandom", "tty"};

struct DeviceLink {
    std::string_view name, target;
};
inline constexpr DeviceLink kDeviceLinks[] = {{"stdin", "/proc/self/fd/0"},  {"stdout", "/proc/self/fd/1"},
                                              {"stderr", "/proc/self/fd/2"}, {"fd", "/proc/self/fd"},
                                              {"core", "/proc/kcore"},       {"ptmx", "pts/ptmx"}};

// Directories of the jail's own, for shared memory and pseudo-terminals.
inline constexpr std::string_view kSharedMemory = "shm", kTerminals = "pts";
// The terminal that the command writes to, if it writes to one.
inline constexpr std::string_view kConsole = "console";

// The name of an entry above.
constexpr bool is_common_device(std::string_view name) {
    return std::ranges::count(kDeviceNodes, name) > 0 ||
           std::ranges::count(kDeviceLinks, name, &DeviceLink::name) > 0 || name == kSharedMemory ||
           name == kTerminals || name == kConsole;
}

// The directories through which processes share memory and messages: private to the jail, or the host's.
inline constexpr std::string_view kSharedDirectories[] = {"/dev/shm", "/dev/mqueue"};

}  // namespace base
