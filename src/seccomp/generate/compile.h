// SPDX-License-Identifier: MIT
// Compiles the table to a filter program with libseccomp. Used at build time and by the tests, never by the
// program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "seccomp/table.h"

namespace seccomp {

enum class Architecture { x86_64, aarch64 };

inline constexpr Architecture kArchitectures[] = {Architecture::x86_64, Architecture::aarch64};

// Instructions in the kernel's format, 8 bytes each.
base::Result<std::vector<uint64_t>> compile(Architecture architecture, const Switches& switches);

// The number of a call on that architecture, also if it is newer than libseccomp; nothing where it does not
// exist.
std::optional<int> number_of(Architecture architecture, const Row& row);

// Every call that libseccomp or the table has on any of the architectures, sorted.
std::vector<std::string> collect_names();

}  // namespace seccomp
