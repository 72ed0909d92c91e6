// SPDX-License-Identifier: MIT
#include "session/control/named_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <ctime>

#include "base/entries.h"
#include "base/format.h"

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

}  // namespace session
