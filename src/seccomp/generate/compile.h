// SPDX-License-Identifier: MIT
// From the table to a filter program, through libseccomp. Used at build time and by the tests, never by the
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

// Instructions as the kernel takes them, 8 bytes each.
base::Result<std::vector<uint64_t>> compile(Architecture architecture, const Switches& switches);

// The number of a call on that architecture, also of one that is newer than the library; nothing where it has
// none.
std::optional<int> number_of(Architecture architecture, const Row& row);

// Every call that the library or the table knows on any of the architectures, sorted.
std::vector<std::string> collect_names();

}  // namespace seccomp
