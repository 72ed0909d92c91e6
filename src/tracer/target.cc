// SPDX-License-Identifier: MIT
#include "tracer/target.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/file.h"
#include "base/parse.h"
#include "base/process/descriptors.h"
#include "tracer/files.h"

namespace tracer {
namespace {

// The woken process continues on the same processor, which halves the cost of a notification (Linux 6.6).
constexpr uint64_t kSyncWakeUp = 1;
constexpr unsigned long kSetFlags = SECCOMP_IOW(4, uint64_t);

struct seccomp_notif_sizes message_sizes() {
    struct seccomp_notif_sizes sizes = {};
    ::syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes);
    return sizes;
}

}  // namespace

template <typename T>
Message<T>::Message(size_t size) : words_(std::max(size, sizeof(T)) / sizeof(uint64_t) + 1) {}

template <typename T>
T& Message<T>::cleared() {
    std::ranges::fill(words_, 0);
    return *reinterpret_cast<T*>(words_.data());
}

Notices::Notices(base::Fd listener) : Notices(std::move(listener), message_sizes()) {}

Notices::Notices(base::Fd listener, const struct seccomp_notif_sizes& sizes)
    : listener_(std::move(listener)), notice_(sizes.seccomp_notif), response_(sizes.seccomp_notif_resp) {
    ::ioctl(listener_.get(), kSetFlags, kSyncWakeUp);
}

std::optional<struct seccomp_notif> Notices::next() {
    if (!(base::ready_events(listener_.get(), POLLIN) & POLLIN)) return std::nullopt;
    struct seccomp_notif& notice = notice_.cleared();
    // Fails if the calling process was killed meanwhile.
    if (::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_RECV, &notice) != 0) return std::nullopt;
    return notice;
}

int Notices::let_go_on(uint64_t id) {
    struct seccomp_notif_resp& response = response_.cleared();
    response.id = id;
    response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    return ::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, &response) == 0 ? 0 : errno;
}

int Notices::answer(uint64_t id, int value, int error) {
    struct seccomp_notif_resp& response = response_.cleared();
    response.id = id;
    response.val = value;
    response.error = -error;
    return ::ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, &response) == 0 ? 0 : errno;
}

namespace {

// The first version of what PIDFD_GET_INFO fills.
struct Information {
    uint64_t mask;
    uint64_t group;
    uint32_t ids[11];
    int32_t exit_code;
};
constexpr uint64_t kExit = 1u << 3;
constexpr unsigned long kGetInformation = _IOWR(0xFF, 11, Information);

// The state is the first field after the name, which may contain any byte; the status is the last field.
std::optional<int> status_of_dead(pid_t process) {
    base::Result<std::string> text = base::read_file("/proc/" + std::to_string(process) + "/stat", 4096);
    if (!text) return std::nullopt;
    size_t name_end = text->rfind(')');
    if (name_end == std::string::npos || name_end + 2 >= text->size()) return std::nullopt;
    char state = (*text)[name_end + 2];
    if (state != 'Z' && state != 'X') return std::nullopt;
    return std::atoi(text->c_str() + text->rfind(' ') + 1);
}

std::optional<int> status_of_reaped(int pidfd) {
    Information information = {};
    information.mask = kExit;
    bool is_known = ::ioctl(pidfd, kGetInformation, &information) == 0 && information.mask & kExit;
    return is_known ? std::optional<int>(information.exit_code) : std::nullopt;
}

}  // namespace

std::optional<int> kept_status(pid_t process, int pidfd) {
    // First the pidfd, which can't refer to another process.
    if (std::optional<int> status = status_of_reaped(pidfd)) return status;
    if (std::optional<int> status = status_of_dead(process)) return status;
    // It may have been reaped between the two calls.
    return status_of_reaped(pidfd);
}

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

namespace {

constexpr int kExecveatFlags = 4;  // its argument

std::optional<base::Path> executed_path(const Target& target, const seccomp::NamedPath& named) {
    std::optional<std::string> name = target.text(target.argument(named.path), kLongestPath);
    if (!name) return std::nullopt;
    if (name->empty()) {
        bool is_descriptor = named.directory >= 0 && target.argument(kExecveatFlags) & AT_EMPTY_PATH;
        return is_descriptor ? target.descriptor_path(static_cast<int>(target.argument(named.directory)))
                             : std::nullopt;
    }
    std::optional<base::Path> path = target.path(named.directory, named.path);
    bool can_be = path && (is_magic(*path) || target.can_execute(*path));
    return can_be ? path : std::nullopt;
}

}  // namespace

std::optional<SeenExecution> look_at_execution(const Target& target, const seccomp::ObservedCall& call) {
    std::optional<base::Path> path = executed_path(target, call.first);
    if (!path) return std::nullopt;
    std::optional<std::vector<std::string>> words = target.words(target.argument(call.first.path + 1));
    if (!words || !target.is_list(target.argument(call.first.path + 2))) return std::nullopt;
    if (words->empty()) words->push_back(path->str());
    pid_t process = target.process();
    if (process <= 0) return std::nullopt;
    base::Fd pidfd = base::open_pidfd(process);
    if (!pidfd) return std::nullopt;
    return SeenExecution{
        .process = process,
        .pidfd = std::move(pidfd),
        .command = {
            .words = *std::move(words), .directory = target.working_directory(), .started = Clock::now()}};
}

}  // namespace tracer
