// SPDX-License-Identifier: MIT
// Theory of operation. The socket has a name on the host only until the jail is built: the mount keeps the
// socket, and the name is removed. After a notice the socket is not looked at for a second; a jail that
// floods it fills the kernel's short queue and then waits itself, at no cost to us. Of what has gathered, the
// last is told.
#include "session/notices.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>

#include "session/notice.h"

namespace session {
namespace {

constexpr std::chrono::seconds kRest{1};
constexpr int kMostAtOnce = 1024;  // more than the queue holds
// A start takes milliseconds; another machine that shares the directory may have another idea of the time.
constexpr time_t kSurelyLeft = 3600;

std::string place_of(const std::string& state_directory) {
    return state_directory + "/notify";
}

base::Fd open_place(const std::string& place) {
    return base::Fd(::open(place.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// By way of the directory's descriptor: an address has room for 107 bytes, a path may be longer.
bool bind_in(int socket, int directory, const std::string& name) {
    struct sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::string path = "/proc/self/fd/" + std::to_string(directory) + "/" + name;
    if (path.size() >= sizeof address.sun_path) return false;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return ::bind(socket, reinterpret_cast<const struct sockaddr*>(&address), sizeof address) == 0;
}

// Descriptors that come with a datagram are closed by the kernel: there is no room for them.
std::optional<std::string> last_of(int socket) {
    std::optional<std::string> last;
    char bytes[kLargestNotice];
    for (int count = 0; count < kMostAtOnce; ++count) {
        ssize_t got = ::recv(socket, bytes, sizeof bytes, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) break;
        last = std::string(bytes, static_cast<size_t>(got));
    }
    return last;
}

}  // namespace

void Notices::open(const std::string& state_directory, const std::string& session) {
    if (!has_terminal()) return;
    std::string place = place_of(state_directory);
    directory_ = open_place(place);
    if (!directory_) {
        if (!base::make_directories(place)) return;
        directory_ = open_place(place);
    }
    socket_ = base::Fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!directory_ || !socket_ || !bind_in(socket_.get(), directory_.get(), session)) {
        socket_.reset();
        return;
    }
    name_ = session;
    path_ = place + "/" + session;
}

void Notices::forget_name() {
    if (path_.empty()) return;
    ::unlinkat(directory_.get(), name_.c_str(), 0);
    directory_.reset();
    path_.clear();
}

int Notices::events(Clock::time_point now) const {
    return now < rests_until_ ? -1 : socket_.get();
}

int Notices::wait(Clock::time_point now) const {
    if (!socket_ || now >= rests_until_) return -1;
    return static_cast<int>(
               std::chrono::duration_cast<std::chrono::milliseconds>(rests_until_ - now).count()) +
           1;
}

void Notices::take(Clock::time_point now) {
    std::optional<std::string> notice = last_of(socket_.get());
    if (!notice) return;
    ring_terminal(*notice);
    rests_until_ = now + kRest;
}

void Notices::finish() {
    if (!socket_) return;
    take(Clock::now());
    socket_.reset();
}

void remove_left_sockets(const std::string& state_directory) {
    DIR* stream = ::opendir(place_of(state_directory).c_str());
    if (stream == nullptr) return;
    int directory = ::dirfd(stream);
    time_t now = ::time(nullptr);
    while (const struct dirent* entry = ::readdir(stream)) {
        struct stat status;
        if (::fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (S_ISSOCK(status.st_mode) && now - status.st_mtime > kSurelyLeft)
            ::unlinkat(directory, entry->d_name, 0);
    }
    ::closedir(stream);
}

}  // namespace session
