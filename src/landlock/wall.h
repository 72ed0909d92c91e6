// SPDX-License-Identifier: MIT
// The second wall: a Landlock domain around the command that limits once more, independently of the mounts,
// where it may write. A mistake in one of the two is caught by the other. It also blocks signals and abstract
// Unix sockets to the outside. It does not limit reading, because the command can't open what the view does
// not show.
//
// It can't take back rights below a path that it grants: only the mount protects a protected path inside the
// writable project.
//
// Without a view it is the only wall (guards_reading): then it also limits what can be read, listed and
// executed, and a kernel without Landlock is a failure. With ABI 1 a file can't be moved or linked from one
// directory to another (EXDEV).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"

namespace landlock {

// Landlock's rights, each with the version of the interface (ABI) that introduced it. They are written out
// here because the kernel header may be older than the running kernel.

inline constexpr uint64_t kExecute = 1u << 0;
inline constexpr uint64_t kWriteFile = 1u << 1;
inline constexpr uint64_t kReadFile = 1u << 2;
inline constexpr uint64_t kReadDirectory = 1u << 3;
inline constexpr uint64_t kRemoveDirectory = 1u << 4;
inline constexpr uint64_t kRemoveFile = 1u << 5;
inline constexpr uint64_t kMakeCharacterDevice = 1u << 6;
inline constexpr uint64_t kMakeDirectory = 1u << 7;
inline constexpr uint64_t kMakeFile = 1u << 8;
inline constexpr uint64_t kMakeSocket = 1u << 9;
inline constexpr uint64_t kMakeFifo = 1u << 10;
inline constexpr uint64_t kMakeBlockDevice = 1u << 11;
inline constexpr uint64_t kMakeLink = 1u << 12;
inline constexpr uint64_t kMoveBetweenDirectories = 1u << 13;  // "refer"
inline constexpr uint64_t kTruncate = 1u << 14;
inline constexpr uint64_t kControlDevice = 1u << 15;  // "ioctl_dev"

inline constexpr uint64_t kListenTcp = 1u << 0;   // "bind_tcp"
inline constexpr uint64_t kConnectTcp = 1u << 1;  // "connect_tcp"

inline constexpr uint64_t kScopeAbstractSockets = 1u << 0;
inline constexpr uint64_t kScopeSignals = 1u << 1;

// The kernel's structure; the size that is passed cuts off the fields that an older kernel does not have.
struct RulesetAttributes {
    uint64_t files = 0;
    uint64_t network = 0;  // ABI 4. TCP rules would go here: they match ports and never addresses.
    uint64_t scoped = 0;   // ABI 6
};
size_t size_for(int abi);

// Before this version a file can't be moved or linked from one directory to another at all, which breaks
// ordinary programs (Linux 5.19 added it). That is too high a price for a second wall, but not for the only
// one.
inline constexpr int kFirstUsableAbi = 2;

// The rights that a ruleset removes everywhere and grants again for some paths. None is about reading.
uint64_t guarded_rights(int abi);
// The subset that a writable path gets: all except creating device nodes, which a jail does not need.
uint64_t rights_to_write(int abi);
// The rights for a single file, and for directories whose files are used but not created: /dev, /proc.
uint64_t rights_to_use(int abi);

// The additional rights that are removed if Landlock is the only wall: reading, listing, executing.
uint64_t rights_to_read();
// The subset of both groups that the kernel accepts for anything but a directory.
uint64_t rights_of_files(int abi);

uint64_t guarded_network(int abi);  // every TCP connection, every TCP port to listen on
uint64_t guarded_scopes(int abi);

struct Wall {
    bool is_wanted = true;
    // A process with file rules may not mount, not even in a namespace of its own. So jails that allow nested
    // namespaces have no file rules; the scopes stay.
    bool guards_files = true;
    std::vector<std::string>
        writable;                   // files and directories, with everything below; a missing one is skipped
    std::vector<std::string> used;  // the same for files that are written but not created: devices, /proc

    bool guards_reading = false;
    std::vector<std::string> readable;  // for guards_reading; writable and used paths are readable as well
    bool refuses_tcp = false;           // since ABI 4: connecting, and listening
    bool is_logged = false;             // since ABI 7: denials go to the administrator's audit log
    // False: a network namespace of their own separates them (doorman/answers/abstract_names.h). Landlock
    // compares the processes that made the two sockets, and the factory is outside the wall.
    bool keeps_abstract_sockets = true;

    bool operator==(const Wall&) const = default;
};

// The Landlock ABI of this kernel; 0 where it has none, or an outer sandbox blocks it.
int kernel_abi();

struct Built {
    int abi = 0;  // 0: no ruleset to enter
    base::Fd ruleset;
    bool is_logged = false;
    uint64_t files = 0;  // the rights that it removes
    int failure = 0;     // errno; then the command must not run
    std::string failed_at;
};

// Opens the paths and collects the rules, for a kernel with this `abi` (tests pass an older one than the
// kernel has). `reopened` are descriptors that the command inherits: it may open the files behind them again
// under /proc/self/fd, where the mounts of the jail do not apply.
Built build(const Wall& wall, int abi, const std::vector<int>& reopened);

// Adds a descriptor that a later command inherits; zero or an errno. Processes that have entered already get
// no further right.
int add_reopened(const Built& built, int descriptor);

// Restricts this process and all its future children; zero or an errno. no_new_privs must be set.
int enter(const Built& built);

// For our own helpers that read data of untrusted programs: after their start they need no file at all.

// From here on this process can't open or create a file, listen on a TCP port, signal another process or
// connect to an abstract socket, as far as the kernel's version supports it. Open descriptors stay usable.
// Zero or an errno; ENOSYS and EOPNOTSUPP without Landlock. no_new_privs must be set.
int give_up_files();

}  // namespace landlock
