// SPDX-License-Identifier: MIT
// For programs of others that we start outside the jail and that have no business starting anything.
#pragma once

namespace seccomp {

// From here on this process and its children can execute a file only by an open descriptor (execveat with
// AT_EMPTY_PATH), which is how we start the program itself; a program that starts another one does it by a
// name, and gets EPERM. Sets no_new_privs. Zero or an errno.
int forbid_execution_by_name();

}  // namespace seccomp
