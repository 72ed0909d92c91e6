// SPDX-License-Identifier: MIT
// Abstract names of Unix sockets in a jail that shares the host's network namespace (answered_calls.h).
// Either every Unix socket is made in another network namespace, or abstract names can't be bound.
#pragma once

#include "doorman/answered_calls.h"
#include "doorman/caller.h"
#include "doorman/hooks.h"

namespace doorman {

// AbstractNames::apart: socket() and socketpair() of the Unix family.
Answer answer_socket(const Caller& caller, int factory);

// AbstractNames::refused: bind().
Answer answer_bind(const Caller& caller, const AnsweredCalls& calls, const Hooks& hooks);

}  // namespace doorman
