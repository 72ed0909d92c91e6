// SPDX-License-Identifier: MIT
// The file of a log-in that stays outside: its lock, and new tokens. The file is replaced in one step, with
// its mode and all other fields.
//
// The lock is a directory beside the file (or beside the directory of the file), as the npm package
// proper-lockfile makes it: Claude Code and Pi use it too. It counts for ten seconds after its last change.
//
// Threat: two refreshes with the same token, of two sessions or of an agent outside, end the log-in
// (tests/egress/logins.bats).
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/secret_value.h"
#include "credentials/credential.h"
#include "secrets/outside.h"

namespace secrets {

constexpr std::chrono::seconds kLockCounts{10};
constexpr std::chrono::seconds kLongestWaitForLock{8};

// The user's own file, also where a variable of the launching shell moves it.
std::string login_file(const credentials::Credential& credential, const Surroundings& surroundings);

base::Status lock_login(const credentials::Credential& credential, const Surroundings& surroundings);
void unlock_login(const credentials::Credential& credential, const Surroundings& surroundings);

struct StoredToken {
    const credentials::Credential* credential;
    base::SecretValue value;
};
// Threat: the agent logs in with an account of its own while the user's log-in can't be read for a moment.
// With the lock, the file is looked at once more (LoginTest.AFirstLoginReplacesNone).
enum class LoginAct { renew, first };
// The tokens of one log-in. Call it with the lock.
base::Status store_login(std::span<const StoredToken> tokens, LoginAct act, const credentials::Issue& issue,
                         const Surroundings& surroundings);
// Reads lines "NUMBER VALUE".
base::Result<std::vector<StoredToken>> read_tokens(int file,
                                                   std::span<const credentials::Credential> credentials);

}  // namespace secrets
