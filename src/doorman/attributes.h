// SPDX-License-Identifier: MIT
// Modes, owners, times, extended attributes and lengths of files by path: carried out on the opened object
// where it lies in a place that may be changed, refused elsewhere.
#pragma once

#include "doorman/caller.h"
#include "doorman/orders.h"

namespace doorman {

Answer answer_attributes(const Caller& caller, const Orders& orders);

}  // namespace doorman
