// SPDX-License-Identifier: MIT
// Numbers of system calls that one of our architectures does not have (-1), or that are newer than the
// headers at hand.
#pragma once

#include <sys/syscall.h>

namespace doorman {

#ifdef SYS_open  // the old calls, all of them or none
inline constexpr int kOpen = SYS_open;
inline constexpr int kChmod = SYS_chmod;
inline constexpr int kChown = SYS_chown;
inline constexpr int kLchown = SYS_lchown;
inline constexpr int kUtime = SYS_utime;
inline constexpr int kUtimes = SYS_utimes;
inline constexpr int kFutimesat = SYS_futimesat;
#else
inline constexpr int kOpen = -1;
inline constexpr int kChmod = -1;
inline constexpr int kChown = -1;
inline constexpr int kLchown = -1;
inline constexpr int kUtime = -1;
inline constexpr int kUtimes = -1;
inline constexpr int kFutimesat = -1;
#endif

// Since Linux 5.1 new calls have one number everywhere.
inline constexpr int kPidfdSendSignal = 424;
inline constexpr int kPidfdOpen = 434;
inline constexpr int kOpenat2 = 437;
inline constexpr int kPidfdGetfd = 438;
inline constexpr int kProcessMrelease = 448;
inline constexpr int kFchmodat2 = 452;
inline constexpr int kSetxattrat = 463;
inline constexpr int kRemovexattrat = 466;
inline constexpr int kFileSetattr = 469;

}  // namespace doorman
