// SPDX-License-Identifier: MIT
#include "tracer/target.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/parse.h"

namespace tracer {
namespace {

constexpr uint64_t kPage = 4096;

std::string link_text(const std::string& link) {
    char text[kLongestPath];
    ssize_t length = ::readlink(link.c_str(), text, sizeof text);
    return length > 0 ? std::string(text, static_cast<size_t>(length)) : std::string();
}

std::optional<base::Path> absolute(const std::string& text) {
    if (!text.starts_with('/')) return std::nullopt;  // a pipe, a socket
    return base::Path() / text;
}

}  // namespace

std::string Target::file(const std::string& name) const {
    return "/proc/" + std::to_string(thread()) + "/" + name;
}

pid_t Target::process() const {
    base::Result<std::string> status = base::read_file(file("status"), 1u << 16);
    if (!status) return -1;
    constexpr std::string_view kField = "\nTgid:\t";
    size_t at = status->find(kField);
    if (at == std::string::npos) return -1;
    return base::leading_number<pid_t>(std::string_view(*status).substr(at + kField.size())).value_or(-1);
}

bool Target::read(uint64_t address, void* place, size_t size) const {
    struct iovec here = {place, size};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of another process
    struct iovec there = {reinterpret_cast<void*>(address), size};
    ssize_t got = ::process_vm_readv(thread(), &here, 1, &there, 1, 0);
    if (got < 0 && errno == EPERM) is_memory_closed_ = true;
    return got == static_cast<ssize_t>(size);
}

std::optional<std::string> Target::text(uint64_t address, size_t longest) const {
    std::string text;
    while (text.size() < longest) {
        // Read up to the end of a page: the text may end there, and the next page may not be mapped.
        size_t size = std::min<uint64_t>(kPage - address % kPage, longest - text.size());
        size_t before = text.size();
        text.resize(before + size);
        if (!read(address, text.data() + before, size)) return std::nullopt;
        if (size_t end = text.find('\0', before); end != std::string::npos) {
            text.resize(end);
            return text;
        }
        address += size;
    }
    return text;
}

std::optional<std::vector<std::string>> Target::words(uint64_t address) const {
    std::vector<std::string> words;
    for (; address != 0 && words.size() < kMostWords; address += sizeof address) {
        uint64_t word = 0;
        if (!read(address, &word, sizeof word)) return std::nullopt;
        if (word == 0) break;
        std::optional<std::string> text = this->text(word, kLongestWord);
        if (!text) return std::nullopt;
        words.push_back(*std::move(text));
    }
    return words;
}

bool Target::is_list(uint64_t address) const {
    uint64_t word = 0;
    return address == 0 || read(address, &word, sizeof word);
}

std::string Target::working_directory() const {
    return link_text(file("cwd"));
}

std::optional<base::Path> Target::descriptor_path(int descriptor) const {
    if (descriptor == AT_FDCWD) return absolute(working_directory());
    if (descriptor < 0) return std::nullopt;
    return absolute(link_text(file("fd/" + std::to_string(descriptor))));
}

// ".." after a symbolic link is resolved lexically, which may differ from the kernel's result: at worst the
// record has a line about a wrong path.
std::optional<base::Path> Target::path(int directory, int argument) const {
    std::optional<std::string> name = text(this->argument(argument), kLongestPath);
    if (!name || name->empty()) return std::nullopt;
    if (name->starts_with('/')) return absolute(*name);
    int descriptor = directory < 0 ? AT_FDCWD : static_cast<int>(this->argument(directory));
    std::optional<base::Path> start = descriptor_path(descriptor);
    return start ? std::optional(*start / *name) : std::nullopt;
}

// O_PATH: really opening a pipe or a device would make the tracer wait.
base::Fd Target::open(const base::Path& path) const {
    base::Fd root(::open(file("root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!root) return {};
    struct open_how how = {};
    how.flags = O_PATH | O_CLOEXEC;
    how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
    return base::Fd(static_cast<int>(
        ::syscall(SYS_openat2, root.get(), path.relative_to(base::Path()).data(), &how, sizeof how)));
}

Inside Target::look(const base::Path& path) const {
    if (path.is_root()) return Inside::something;
    return open(path) ? Inside::something : Inside::nothing;
}

bool Target::can_execute(const base::Path& path) const {
    base::Fd found = open(path);
    struct stat status;
    if (!found || ::fstat(found.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
    return ::access(("/proc/self/fd/" + std::to_string(found.get())).c_str(), X_OK) == 0;
}

}  // namespace tracer
