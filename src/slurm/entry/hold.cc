// SPDX-License-Identifier: MIT
#include "slurm/entry/hold.h"

#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/file.h"

namespace slurm {

int run_hold() {
    std::string told;
    for (char** variable = environ; variable && *variable; ++variable) (told += *variable) += '\0';
    told += '\0';
    if (!base::write_all(STDOUT_FILENO, told)) return 1;
    unsigned char status = 0;
    for (;;) {
        unsigned char byte;
        ssize_t got = ::read(STDIN_FILENO, &byte, 1);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return status;
        status = byte;
    }
}

}  // namespace slurm
