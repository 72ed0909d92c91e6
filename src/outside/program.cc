// SPDX-License-Identifier: MIT
#include "outside/program.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace outside {
namespace {

// A file that can't be read is executable for the kernel, but no interpreter could read it.
bool begins_as_script(const base::Fd& program) {
    const std::string path = "/proc/self/fd/" + std::to_string(program.get());
    base::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    char first[2];
    return file && ::read(file.get(), first, sizeof first) == sizeof first && first[0] == '#' &&
           first[1] == '!';
}

}  // namespace

base::Result<Program> Program::open(const base::Path& compared) {
    base::Fd file(::open(compared.c_str(), O_PATH | O_CLOEXEC));
    struct stat status;
    if (!file || ::fstat(file.get(), &status) != 0) return base::system_error("run " + compared.str(), errno);
    if (!S_ISREG(status.st_mode)) return base::system_error("run " + compared.str(), EACCES);
    const bool is_script = begins_as_script(file);
    return Program(std::move(file), compared.str(), is_script);
}

int execute(const Program& program, char* const* arguments, char* const* environment) {
    // By its name, a script finds its own files: /dev/fd/5 has none beside it.
    if (!program.is_script()) {
        ::syscall(SYS_execveat, program.descriptor(), "", arguments, environment, AT_EMPTY_PATH);
        // Without the call, or for an interpreter that binfmt_misc gives a name.
        if (errno != ENOSYS && errno != ENOENT) return errno;
    }
    ::execve(program.path().c_str(), arguments, environment);
    return errno;
}

}  // namespace outside
