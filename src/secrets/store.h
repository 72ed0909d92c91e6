// SPDX-License-Identifier: MIT
// The program's own store of values: secrets/NAME in the state directory, in clear text, mode 0600 in a
// directory of mode 0700. A key beside the file would protect nothing. No jail can see the state directory.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret_value.h"

namespace secrets {

// "STATE/secrets".
std::string store_directory(std::string_view state_directory);

bool is_stored(const std::string& store, std::string_view name);
// Refuses a file or a directory that others can read or write, or that is not the user's.
base::Result<base::SecretValue> read_stored(const std::string& store, std::string_view name);
// Overwrites the bytes of an earlier value.
base::Status write_stored(const std::string& store, std::string_view name, const base::SecretValue& value);
// Overwrites the value and removes the file. False: the file is missing.
base::Result<bool> remove_stored(const std::string& store, std::string_view name);

}  // namespace secrets
