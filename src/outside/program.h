// SPDX-License-Identifier: MIT
// Executes programs outside of any jail, with the user's rights. Every such execution of this program goes
// through execute(): tests/structure/executions finds the others.
//
// Threat: a jail replaces the program between the check and the execution, or leads it elsewhere by PATH. So
// a program is found once, compared with the places that a jail can write, and executed as the file that was
// compared (tests/jail/outside.bats).
#pragma once

#include <string>

#include "base/file.h"
#include "base/path.h"
#include "base/result.h"

namespace outside {

// An open program that no jail can have replaced.
class Program {
  public:
    // For a path that the caller has compared: no directory on the way to it is writable from a jail.
    static base::Result<Program> open(const base::Path& compared);

    const std::string& path() const { return path_; }
    int descriptor() const { return file_.get(); }
    // The kernel opens a script twice, and the second time by a name.
    bool is_script() const { return is_script_; }

  private:
    Program(base::Fd file, std::string path, bool is_script)
        : file_(std::move(file)), path_(std::move(path)), is_script_(is_script) {}
    base::Fd file_;
    std::string path_;
    bool is_script_ = false;
};

// Returns only if it fails, with the error number. Makes system calls alone, so a child may call it. The
// caller builds the whole environment, and chooses the working directory.
int execute(const Program& program, char* const* arguments, char* const* environment);

}  // namespace outside
