// SPDX-License-Identifier: MIT
// Answers rename(), renameat() and renameat2(), and calls that remove a name. Most of them continue in the
// kernel after one look at the name. That is safe although the caller can change the name in its memory
// afterwards: names that must not be replaced are mount points, which no rename replaces and no call removes.
// So an answer can permit more than the kernel, and never has to refuse what the kernel would do.
#pragma once

#include "doorman/caller.h"
#include "doorman/doorman.h"

namespace doorman {

Answer answer_rename(const Caller& caller, const Hooks& hooks);
Answer answer_removal(const Caller& caller, const Hooks& hooks);

}  // namespace doorman
