// SPDX-License-Identifier: MIT
// Modes, owners, times, extended attributes and lengths of files by path: carried out on the opened object
// where it lies in a place that may be changed, refused elsewhere.
#pragma once

#include "doorman/answered_calls.h"
#include "doorman/caller.h"

namespace doorman {

Answer answer_attributes(const Caller& caller, const AnsweredCalls& calls);

}  // namespace doorman
