// SPDX-License-Identifier: MIT
// What is in a directory, with no system call beyond those that read it.
#pragma once

#include <dirent.h>

#include <functional>

namespace base {

// Calls `visit` for every entry of the open directory but "." and "..", until it says false. False where not
// all could be read; a directory can be gone through once.
bool visit_entries(int directory, const std::function<bool(const struct dirent64&)>& visit);

}  // namespace base
