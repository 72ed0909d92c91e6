// SPDX-License-Identifier: MIT
// The entries of a directory, with only the system calls that read it.
#pragma once

#include <dirent.h>

#include <functional>

namespace base {

// Calls `visit` for every entry of the open directory except "." and "..", until it returns false. False
// where not all entries could be read. A descriptor can be read through only once.
bool visit_entries(int directory, const std::function<bool(const struct dirent64&)>& visit);

}  // namespace base
