// SPDX-License-Identifier: MIT
#include "backends/native/powers_after_clone.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "backends/native/script.h"

namespace backends::native {
namespace {

int write_to(int self, const char* name, const char* text, size_t length) {
    int file = ::openat(self, name, O_WRONLY | O_CLOEXEC);
    if (file < 0) return errno;
    int number = ::write(file, text, length) == static_cast<ssize_t>(length) ? 0 : errno;
    ::close(file);
    return number;
}

size_t add_number(char* to, unsigned number) {
    char digits[16];
    size_t count = 0;
    do {
        digits[count++] = static_cast<char>('0' + number % 10);
        number /= 10;
    } while (number > 0);
    for (size_t i = 0; i < count; ++i) to[i] = digits[count - 1 - i];
    return count;
}

// "INSIDE OUTSIDE 1"
int write_map(int self, const char* name, unsigned inside, unsigned outside) {
    char text[48];
    size_t length = add_number(text, inside);
    text[length++] = ' ';
    length += add_number(text + length, outside);
    text[length++] = ' ';
    text[length++] = '1';
    text[length++] = '\n';
    return write_to(self, name, text, length);
}

struct Map {
    unsigned user_inside, user_outside, group_inside, group_outside;
};

int write_maps(int self, const Map& map) {
    if (int number = write_map(self, "uid_map", map.user_inside, map.user_outside); number != 0)
        return number;
    // With setgroups a process could drop a group that a file's mode excludes: so the kernel requires "deny"
    // first.
    if (int number = write_to(self, "setgroups", "deny", 4); number != 0) return number;
    return write_map(self, "gid_map", map.group_inside, map.group_outside);
}

bool holds_any_capability() {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
    if (::syscall(SYS_capget, &header, data) != 0) return true;
    for (const auto& part : data) {
        if (part.effective != 0 || part.permitted != 0 || part.inheritable != 0) return true;
    }
    return false;
}

int drop_capabilities() {
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    unsigned long number = 0;
    while (::prctl(PR_CAPBSET_DROP, number, 0, 0, 0) == 0) ++number;
    // EINVAL marks the first unknown capability; a kernel without any capability does not exist.
    if (errno != EINVAL || number == 0) return errno;
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
    if (::syscall(SYS_capset, &header, none) != 0) return errno;
    return holds_any_capability() ? EPERM : 0;
}

}  // namespace

Failure become_root(const CallerIds& caller, int self) {
    return {write_maps(self, {0, caller.user, 0, caller.group}), Phase::user_map};
}

Failure give_up_power(const CallerIds& caller, int self) {
    if (::unshare(CLONE_NEWUSER) != 0) return {errno, Phase::last_namespace};
    if (int number = write_maps(self, {caller.user, 0, caller.group, 0}); number != 0)
        return {number, Phase::last_namespace};
    return {drop_capabilities(), Phase::privileges};
}

namespace {

struct iovec field(const char* text) {
    return {const_cast<char*>(text), std::strlen(text) + 1};
}

// Enough for every errno and every phase.
struct Digits {
    char text[8];
};

Digits digits_of(unsigned number) {
    Digits digits = {};
    size_t count = 1;
    for (unsigned rest = number; rest >= 10 && count < sizeof digits.text - 1; rest /= 10) ++count;
    for (size_t i = count; i-- > 0; number /= 10) digits.text[i] = static_cast<char>('0' + number % 10);
    return digits;
}

}  // namespace

void send_failure(int descriptor, const Failure& failure) {
    Digits phase = digits_of(static_cast<unsigned>(failure.phase));
    Digits number = digits_of(static_cast<unsigned>(failure.number));
    struct iovec fields[] = {field(phase.text), field(number.text), field(failure.object),
                             field(failure.other)};
    (void)!::writev(descriptor, fields, 4);
}

}  // namespace backends::native
