// SPDX-License-Identifier: MIT
// For third-party programs that we start outside the jail and that must not start other programs.
#pragma once

namespace seccomp {

// From here on this process and its children can execute a file only through an open descriptor (execveat
// with AT_EMPTY_PATH), which is how we start the program itself. A program starts another one by name, and
// gets EPERM. Sets no_new_privs. Zero or an errno.
int forbid_execution_by_name();

}  // namespace seccomp
