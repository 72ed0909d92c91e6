// SPDX-License-Identifier: MIT
#include "session/control/session_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "audit/writer.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/text.h"
#include "session/directories.h"

namespace session {
namespace {

// A start takes milliseconds, but the clock of another machine that shares the directory may differ.
constexpr time_t kOldestSocket = 3600;

base::Fd open_place(const std::string& place) {
    return base::Fd(::open(place.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// Binds through the directory's descriptor: an address has room for 107 bytes, and a path may be longer.
bool bind_in(int socket, int directory, const std::string& name) {
    struct sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::string path = base::format("/proc/self/fd/{}/{}", directory, name);
    if (path.size() >= sizeof address.sun_path) return false;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return ::bind(socket, reinterpret_cast<const struct sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

bool NamedSocket::open(const std::string& place, const std::string& name, int type) {
    directory_ = open_place(place);
    if (!directory_) {
        if (!base::make_directories(place)) return false;
        directory_ = open_place(place);
    }
    socket_ = base::Fd(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!directory_ || !socket_ || !bind_in(socket_.get(), directory_.get(), name)) {
        socket_.reset();
        return false;
    }
    name_ = name;
    path_ = place + "/" + name;
    return true;
}

void NamedSocket::forget_name() {
    if (path_.empty()) return;
    ::unlinkat(directory_.get(), name_.c_str(), 0);
    directory_.reset();
    path_.clear();
}

void remove_left_sockets(const std::string& place) {
    base::Fd directory = open_place(place);
    if (!directory) return;
    time_t now = ::time(nullptr);
    base::visit_entries(directory.get(), [&](const struct dirent64& entry) {
        struct stat status;
        bool is_socket = ::fstatat(directory.get(), entry.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                         S_ISSOCK(status.st_mode);
        if (is_socket && now - status.st_mtime > kOldestSocket) ::unlinkat(directory.get(), entry.d_name, 0);
        return true;
    });
}

namespace {

constexpr int kControlBacklog = 16;
constexpr const char* kFilesOfSession[] = {"lock", "session.json", "session.json.new", "control", "log"};

}  // namespace

std::string host_name() {
    char name[256] = {};
    return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

uint64_t start_ticks_of(int pid) {
    base::Result<std::string> text = base::read_file(base::format("/proc/{}/stat", pid));
    if (!text) return 0;
    // The name in parentheses may contain any byte. Of the fields after it, the 20th is the 22nd of the line.
    size_t name_end = text->rfind(')');
    if (name_end == std::string::npos || name_end + 2 > text->size()) return 0;
    std::vector<std::string_view> fields = base::split(std::string_view(*text).substr(name_end + 2), ' ');
    constexpr size_t kStartTime = 19;
    if (fields.size() <= kStartTime) return 0;
    return base::leading_number<uint64_t>(fields[kStartTime]).value_or(0);
}

std::string boot_id() {
    base::Result<std::string> text = base::read_file("/proc/sys/kernel/random/boot_id");
    return text ? std::string(base::trim(*text)) : "";
}

base::Status SessionDirectory::make(const std::string& place, const std::string& session,
                                    const base::Json& metadata, const std::string& record) {
    std::string path = session_directory_path(place, session);
    if (::mkdir(path.c_str(), 0700) != 0) return base::system_error("make " + path, errno);
    path_ = path;
    metadata_ = base::Json::object();
    metadata_.set("v", 1).set("session", session).set("pid", static_cast<int>(::getpid()));
    metadata_.set("start_ticks", static_cast<int64_t>(start_ticks_of(::getpid())));
    metadata_.set("boot", boot_id()).set("host", host_name()).set("started", audit::time_text());
    for (const auto& [key, value] : metadata.members()) metadata_.set(key, value);
    metadata_.set("log", record);
    if (base::Status filled = fill(record); !filled) {
        remove();
        return filled;
    }
    return base::success();
}

base::Status SessionDirectory::fill(const std::string& record) {
    directory_ = base::Fd(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!directory_) return base::system_error("open " + path_, errno);
    int here = directory_.get();
    lock_ = base::Fd(::openat(here, "lock", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!lock_) return base::system_error(base::format("make {}/lock", path_), errno);
    // Without locks, other processes use the pid to check whether the session lives.
    (void)::flock(lock_.get(), LOCK_EX | LOCK_NB);
    if (!control_.open(path_, "control", SOCK_SEQPACKET) || ::listen(control_.get(), kControlBacklog) != 0)
        return base::system_error(base::format("make {}/control", path_), errno);
    if (!record.empty() && ::symlinkat(record.c_str(), here, "log") != 0)
        return base::system_error(base::format("make {}/log", path_), errno);
    return write_metadata();
}

void SessionDirectory::update(std::string_view key, base::Json value) {
    if (path_.empty()) return;
    metadata_.set(std::string(key), std::move(value));
    (void)write_metadata();
}

base::Status SessionDirectory::write_metadata() const {
    int here = directory_.get();
    ::unlinkat(here, "session.json.new", 0);
    base::Fd file(::openat(here, "session.json.new", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file) return base::system_error(base::format("make {}/session.json", path_), errno);
    if (base::Status written = base::write_all(file.get(), metadata_.dump(-1) + "\n"); !written)
        return written;
    if (::renameat(here, "session.json.new", here, "session.json") != 0)
        return base::system_error(base::format("make {}/session.json", path_), errno);
    return base::success();
}

// Only these names are in the directory, and we made them.
void SessionDirectory::remove() {
    if (path_.empty()) return;
    if (directory_) {
        for (const char* name : kFilesOfSession) ::unlinkat(directory_.get(), name, 0);
    }
    ::rmdir(path_.c_str());
    path_.clear();
    control_.close();
    lock_.reset();
    directory_.reset();
}

}  // namespace session
