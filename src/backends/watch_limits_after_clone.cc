// SPDX-License-Identifier: MIT
#include "backends/watch_limits_after_clone.h"

#include <fcntl.h>
#include <unistd.h>

namespace backends {
namespace {

struct Limit {
    const char* of_user;  // the user's limit, as the first user namespace has it
    const char* of_jail;  // shows the user namespace of the process that opens it
    unsigned long usual;  // where the limit can't be read
    unsigned long share;  // the jail gets this part
    unsigned long least;
};

// An administrator raises the limits for programs that need more, so the jail gets a part of them and not a
// fixed number. A program takes few instances, but a watch for each directory or file that it watches: a jail
// gets half of those, and each guard takes at most a quarter.
constexpr Limit kLimits[] = {
    {"/proc/sys/fs/inotify/max_user_instances", "/proc/sys/user/max_inotify_instances", 128, 4, 16},
    {"/proc/sys/fs/inotify/max_user_watches", "/proc/sys/user/max_inotify_watches", 8192, 2, 1024},
};

unsigned long read_number(const char* path, unsigned long otherwise) {
    char text[24];
    int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return otherwise;
    ssize_t length = ::read(file, text, sizeof text);
    ::close(file);
    unsigned long number = 0;
    for (ssize_t i = 0; i < length && text[i] >= '0' && text[i] <= '9'; ++i)
        number = number * 10 + static_cast<unsigned long>(text[i] - '0');
    return length > 0 ? number : otherwise;
}

void write_number(const char* path, unsigned long number) {
    char text[24];
    char* begin = text + sizeof text;
    do {
        *--begin = static_cast<char>('0' + number % 10);
        number /= 10;
    } while (number > 0);
    int file = ::open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    (void)!::write(file, begin, static_cast<size_t>(text + sizeof text - begin));
    ::close(file);
}

}  // namespace

void limit_watches() {
    for (const Limit& limit : kLimits) {
        unsigned long number = read_number(limit.of_user, limit.usual) / limit.share;
        write_number(limit.of_jail, number < limit.least ? limit.least : number);
    }
}

}  // namespace backends
