// SPDX-License-Identifier: MIT
// The system calls for mounts. <sys/mount.h> and <linux/mount.h> can't both be included with every C library,
// and older libraries lack the newer calls: so they are called by number.
#pragma once

#include <linux/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace backends::native {

inline constexpr int kDetach = 2;  // of umount2
inline constexpr int kRecursive = 0x8000;

inline int open_tree(int directory, const char* path, unsigned flags) {
    return static_cast<int>(::syscall(SYS_open_tree, directory, path, flags));
}
inline int move_mount(int from, const char* from_path, int to, const char* to_path, unsigned flags) {
    return static_cast<int>(::syscall(SYS_move_mount, from, from_path, to, to_path, flags));
}
inline int mount_setattr(int directory, const char* path, unsigned flags, struct mount_attr* wanted,
                         size_t size) {
    return static_cast<int>(::syscall(SYS_mount_setattr, directory, path, flags, wanted, size));
}
// open_tree and mount_setattr in one, since Linux 6.15; on every architecture by this number.
inline int open_tree_with(int directory, const char* path, unsigned flags, struct mount_attr* wanted,
                          size_t size) {
    constexpr long kNumber = 467;
    return static_cast<int>(::syscall(kNumber, directory, path, flags, wanted, size));
}
// These two return zero or errno.
inline int mount_call(const char* source, const char* target, const char* type, unsigned long flags,
                      const void* options) {
    return ::syscall(SYS_mount, source, target, type, flags, options) == 0 ? 0 : errno;
}
inline int unmount_call(const char* target, int flags) {
    return ::syscall(SYS_umount2, target, flags) == 0 ? 0 : errno;
}

// "/proc/self/fd/N": the path of an open descriptor, for calls that need a path. In the host's /proc.
class DescriptorPath {
  public:
    explicit DescriptorPath(int descriptor) {
        char* end = text_ + sizeof text_ - 1;
        *end = '\0';
        char* at = end;
        unsigned rest = static_cast<unsigned>(descriptor);
        do {
            *--at = static_cast<char>('0' + rest % 10);
            rest /= 10;
        } while (rest > 0);
        char* to = text_ + kPrefixLength;
        while (at < end) *to++ = *at++;
        *to = '\0';
    }
    const char* text() const { return text_; }

  private:
    static constexpr size_t kPrefixLength = 14;
    char text_[48] = "/proc/self/fd/";
};

}  // namespace backends::native
