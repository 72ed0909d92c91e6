// SPDX-License-Identifier: MIT
// The desktop's keyring (Secret Service), through the program secret-tool.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/secret_value.h"
#include "secrets/outside.h"

namespace secrets {

// The attributes under which `secret add` stores a value: "service=agent-sandbox", "credential=NAME".
std::vector<std::string> keyring_attributes(const std::string& name);

// False: this machine has no keyring that can be used, and the caller takes another place. The desktop may
// ask for the keyring's password.
bool store_in_keyring(const std::string& name, const base::SecretValue& value,
                      const Surroundings& surroundings);
bool remove_from_keyring(const std::string& name, const Surroundings& surroundings);

}  // namespace secrets
