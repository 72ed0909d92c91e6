// SPDX-License-Identifier: MIT
// The guard at the top of a file for some projects, in the forms that people give it:
//   [[ "$_PROJECT_DIR" == GLOB ]] || return        [[ "$_PROJECT_DIR" != GLOB ]] && return
//   [[ ! "$_PROJECT_DIR" == GLOB ]] && { return; } if [[ "$_PROJECT_DIR" != GLOB ]]; then return; fi
//   case "$_PROJECT_DIR" in GLOB) ;; *) return ;; esac
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace config {

// GLOB as it is written, from all words of the command; nothing where it is no such guard.
std::optional<std::string> guarded_pattern(const std::vector<std::string>& words);

}  // namespace config
