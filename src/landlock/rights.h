// SPDX-License-Identifier: MIT
// Landlock's rights, each with the version of the interface (ABI) that introduced it. They are written out
// here because the kernel header may be older than the running kernel.
#pragma once

#include <cstddef>
#include <cstdint>

namespace landlock {

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

}  // namespace landlock
