// SPDX-License-Identifier: MIT
#include "session/trash.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>

#include "base/no_links.h"
#include "session/placeholder_file.h"

namespace session {
namespace {

constexpr char kSlash = '%';  // in the name of an entry
constexpr size_t kLongestName = 255;

// The C library of old systems has no wrapper.
int move_without_replacing(int from, const char* old_name, int to, const char* new_name) {
    return static_cast<int>(::syscall(SYS_renameat2, from, old_name, to, new_name, RENAME_NOREPLACE));
}

std::string place_of(const std::string& state_directory) {
    return state_directory + "/trash";
}

std::string unique_name() {
    struct timespec now = {};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return std::to_string(::getpid()) + "." + std::to_string(now.tv_sec) + "." + std::to_string(now.tv_nsec);
}

bool can_be_a_name(const std::string& path) {
    return path.size() <= kLongestName && path.find(kSlash) == std::string::npos;
}

std::string swapped(std::string text, char from, char to) {
    std::ranges::replace(text, from, to);
    return text;
}

void put_back(int bag, const std::string& name) {
    base::Result<base::Path> path = base::Path::parse(swapped(name, kSlash, '/'));
    if (!path) return;
    base::Fd parent(base::open_without_links(path->parent(), O_PATH | O_DIRECTORY));
    if (!parent) return;
    move_without_replacing(bag, name.c_str(), parent.get(), std::string(path->name()).c_str());
}

void remove_or_put_back(int bag, const std::string& name) {
    if (::unlinkat(bag, name.c_str(), AT_REMOVEDIR) == 0) return;
    int problem = errno;
    bool is_file = problem == ENOTDIR && is_placeholder_file(bag, name.c_str());
    if (is_file && ::unlinkat(bag, name.c_str(), 0) == 0) return;
    if (problem == ENOTEMPTY || problem == EEXIST || problem == ENOTDIR) put_back(bag, name);
}

void for_each_entry(int directory, const std::function<void(const std::string&)>& visit) {
    DIR* stream = ::fdopendir(::fcntl(directory, F_DUPFD_CLOEXEC, 3));
    if (stream == nullptr) return;
    while (const struct dirent* entry = ::readdir(stream)) {
        std::string name = entry->d_name;
        if (name != "." && name != "..") visit(name);
    }
    ::closedir(stream);
}

base::Fd open_directory(int parent, const char* name) {
    return base::Fd(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

}  // namespace

void Trash::open_bag() {
    is_tried_ = true;
    std::string place = place_of(state_directory_);
    if (::mkdir(place.c_str(), 0700) != 0 && errno != EEXIST) return;
    std::string bag = place + "/" + unique_name();
    if (::mkdir(bag.c_str(), 0700) == 0) bag_ = open_directory(AT_FDCWD, bag.c_str());
}

bool Trash::take(int parent, const base::Path& path) {
    if (!can_be_a_name(path.str())) return false;
    if (!is_tried_) open_bag();
    if (!bag_) return false;
    std::string name(path.name());
    if (move_without_replacing(parent, name.c_str(), bag_.get(), swapped(path.str(), '/', kSlash).c_str()) ==
        0) {
        return true;
    }
    // The next ones are spared the attempt.
    if (errno == EXDEV) bag_.reset();
    return false;
}

void empty_trash(const std::string& state_directory) {
    base::Fd place = open_directory(AT_FDCWD, place_of(state_directory).c_str());
    if (!place) return;
    for_each_entry(place.get(), [&](const std::string& bag_name) {
        base::Fd bag = open_directory(place.get(), bag_name.c_str());
        if (!bag) return;
        for_each_entry(bag.get(), [&](const std::string& name) { remove_or_put_back(bag.get(), name); });
        ::unlinkat(place.get(), bag_name.c_str(), AT_REMOVEDIR);
    });
}

}  // namespace session
