// SPDX-License-Identifier: MIT
#include "doorman/caller.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "doorman/calls.h"
#include "doorman/processes.h"

namespace doorman {
namespace {

constexpr unsigned kOfThread = O_EXCL;  // PIDFD_THREAD, Linux 6.9
constexpr uint64_t kPage = 4096;

bool is_same_directory(const std::string& one, const char* other) {
    struct stat of_one, of_other;
    return ::stat(one.c_str(), &of_one) == 0 && ::stat(other, &of_other) == 0 &&
           of_one.st_dev == of_other.st_dev && of_one.st_ino == of_other.st_ino;
}

}  // namespace

bool Caller::is_waiting() const {
    uint64_t id = notice_.id;
    return ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

std::string Caller::file(const char* name) const {
    return "/proc/" + std::to_string(thread()) + "/" + name;
}

bool Caller::is_like_us() const {
    Process process;
    return thread() > 0 && read_process(thread(), process) && process.file_user == ::geteuid() &&
           is_same_directory(file("root"), "/");
}

int Caller::take_descriptor(int number, base::Fd& descriptor) const {
    if (number < 0) return EBADF;
    // A thread may have a table of descriptors of its own. Older kernels know whole processes alone.
    base::Fd process(static_cast<int>(::syscall(kPidfdOpen, thread(), kOfThread)));
    if (!process) {
        Process identity;
        if (!read_process(thread(), identity)) return EPERM;
        process = base::Fd(static_cast<int>(::syscall(kPidfdOpen, identity.group, 0)));
    }
    if (!process) return EPERM;
    descriptor = base::Fd(static_cast<int>(::syscall(kPidfdGetfd, process.get(), number, 0)));
    return descriptor ? 0 : errno;
}

int Caller::read_memory(uint64_t address, void* place, size_t size) const {
    if (size == 0) return 0;
    struct iovec here = {place, size};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of another process
    struct iovec there = {reinterpret_cast<void*>(address), size};
    ssize_t got = ::process_vm_readv(thread(), &here, 1, &there, 1, 0);
    if (got == static_cast<ssize_t>(size)) return 0;
    return got < 0 && errno == EPERM ? EPERM : EFAULT;
}

int Caller::write_memory(uint64_t address, const void* content, size_t size) const {
    struct iovec here = {const_cast<void*>(content), size};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of another process
    struct iovec there = {reinterpret_cast<void*>(address), size};
    ssize_t put = ::process_vm_writev(thread(), &here, 1, &there, 1, 0);
    if (put == static_cast<ssize_t>(size)) return 0;
    return put < 0 && errno == EPERM ? EPERM : EFAULT;
}

int Caller::give_descriptor(int descriptor, bool closes_on_exec, uint32_t flags) const {
    struct seccomp_notif_addfd addition = {};
    addition.id = notice_.id;
    addition.flags = flags;
    addition.srcfd = static_cast<uint32_t>(descriptor);
    addition.newfd_flags = closes_on_exec ? O_CLOEXEC : 0;
    int given = ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_ADDFD, &addition);
    return given < 0 ? -errno : given;
}

int Caller::read_text(uint64_t address, size_t limit, std::string& text) const {
    text.clear();
    while (text.size() < limit) {
        // Up to the end of a page: the text may end there, and nothing follow it.
        size_t size = std::min<uint64_t>(kPage - address % kPage, limit - text.size());
        size_t before = text.size();
        text.resize(before + size);
        if (int number = read_memory(address, text.data() + before, size); number != 0) return number;
        if (size_t end = text.find('\0', before); end != std::string::npos) {
            text.resize(end);
            return 0;
        }
        address += size;
    }
    return ENAMETOOLONG;
}

}  // namespace doorman
