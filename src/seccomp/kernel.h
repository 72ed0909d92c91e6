// SPDX-License-Identifier: MIT
// Numbers of the kernel's interface that the table needs. They are written out because they are the same on
// every supported architecture, and the build has the headers of only one.
#pragma once

#include <cstdint>

namespace seccomp {

// CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET.
inline constexpr uint64_t kNamespaceFlags[] = {0x00000080, 0x00020000, 0x02000000, 0x04000000,
                                               0x08000000, 0x10000000, 0x20000000, 0x40000000};

inline constexpr uint64_t kTiocsti = 0x5412;
inline constexpr uint64_t kTioclinux = 0x541c;

inline constexpr uint64_t kFamilyInet = 2;
inline constexpr uint64_t kFamilyInet6 = 10;
inline constexpr uint64_t kFamilyNetlink = 16;
inline constexpr uint64_t kHighestAllowedFamily = kFamilyNetlink;
inline constexpr uint64_t kSocketTypeMask = 0xf;
inline constexpr uint64_t kSocketRaw = 3;
inline constexpr uint64_t kSocketPacket = 10;

inline constexpr uint64_t kSetUserId = 04000;
inline constexpr uint64_t kSetGroupId = 02000;
inline constexpr uint64_t kCreate = 0100;          // O_CREAT
inline constexpr uint64_t kTemporary = 020000000;  // the bit of O_TMPFILE

inline constexpr uint64_t kLimitCore = 4;  // RLIMIT_CORE

// MMAP_PAGE_ZERO, ADDR_COMPAT_LAYOUT, READ_IMPLIES_EXEC, ADDR_LIMIT_32BIT, SHORT_INODE, WHOLE_SECONDS,
// STICKY_TIMEOUTS, ADDR_LIMIT_3GB.
inline constexpr uint64_t kDangerousPersonalities[] = {0x0100000, 0x0200000, 0x0400000, 0x0800000,
                                                       0x1000000, 0x2000000, 0x4000000, 0x8000000};

}  // namespace seccomp
