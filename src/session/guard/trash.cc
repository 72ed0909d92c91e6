// SPDX-License-Identifier: MIT
#include "session/guard/trash.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "base/file.h"
#include "base/inside/jail_files.h"
#include "base/no_links.h"
#include "base/text.h"

namespace session {
namespace {

constexpr mode_t kMode = 0444;

int write_content(int fd, std::string_view content) {
    return content.empty() || base::write_all(fd, content) ? 0 : EIO;
}

int make_in_place(int parent, const char* name, std::string_view content) {
    base::Fd file(::openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMode));
    return file ? write_content(file.get(), content) : errno;
}

// Errors that tell nothing about the file.
bool is_lack(int number) {
    return number == EMFILE || number == ENFILE || number == ENOMEM || number == EIO;
}

}  // namespace

int make_placeholder_file(int parent, const char* name, std::string_view content) {
    base::Fd file(::openat(parent, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, kMode));
    // Not every file system supports O_TMPFILE.
    if (!file) return make_in_place(parent, name, content);
    if (int number = write_content(file.get(), content)) return number;
    std::string nameless = "/proc/self/fd/" + std::to_string(file.get());
    if (::linkat(AT_FDCWD, nameless.c_str(), parent, name, AT_SYMLINK_FOLLOW) == 0) return 0;
    return errno == EEXIST ? EEXIST : make_in_place(parent, name, content);
}

Occupant look_at_placeholder_file(int parent, const char* name) {
    base::Fd file(::openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file) return is_lack(errno) ? Occupant::unknown : Occupant::other;
    struct stat status;
    if (::fstat(file.get(), &status) != 0) return Occupant::unknown;
    if (!S_ISREG(status.st_mode)) return Occupant::other;
    // In the trash its name is the end of its path.
    if (std::string_view(name).ends_with(base::kSpareConfig)) return Occupant::placeholder;
    char bytes[512];  // more than any of them
    ssize_t got = ::read(file.get(), bytes, sizeof bytes);
    if (got < 0) return Occupant::unknown;
    std::string_view content(bytes, static_cast<size_t>(got));
    bool is_neutral = std::ranges::find(base::kNeutralFiles, content) != std::end(base::kNeutralFiles);
    return is_neutral ? Occupant::placeholder : Occupant::other;
}

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
    return base::format("{}.{}.{}", ::getpid(), now.tv_sec, now.tv_nsec);
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

void remove_or_put_back(int bag, const std::string& name, bool is_surely_file) {
    if (!is_surely_file && ::unlinkat(bag, name.c_str(), AT_REMOVEDIR) == 0) return;
    int problem = is_surely_file ? ENOTDIR : errno;
    if (problem == ENOTDIR) {
        Occupant occupant = look_at_placeholder_file(bag, name.c_str());
        if (occupant == Occupant::unknown) return;
        if (occupant == Occupant::placeholder && ::unlinkat(bag, name.c_str(), 0) == 0) return;
    }
    if (problem == ENOTEMPTY || problem == EEXIST || problem == ENOTDIR) put_back(bag, name);
}

base::Fd open_directory(int parent, const char* name) {
    return base::Fd(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

}  // namespace

void Trash::open_bag() {
    is_tried_ = true;
    std::string place = place_of(state_directory_);
    std::string bag = place + "/" + unique_name();
    bool is_made = ::mkdir(bag.c_str(), 0700) == 0;
    bool is_first = !is_made && errno == ENOENT;
    if (is_first && (::mkdir(place.c_str(), 0700) == 0 || errno == EEXIST))
        is_made = ::mkdir(bag.c_str(), 0700) == 0;
    if (is_made) bag_ = open_directory(AT_FDCWD, bag.c_str());
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
    // Another file system: do not try again for the next ones.
    if (errno == EXDEV) bag_.reset();
    return false;
}

void empty_trash(const std::string& state_directory) {
    base::Fd place = open_directory(AT_FDCWD, place_of(state_directory).c_str());
    if (!place) return;
    base::visit_entries(place.get(), [&](const struct dirent64& found) {
        base::Fd bag = open_directory(place.get(), found.d_name);
        if (!bag) return true;
        base::visit_entries(bag.get(), [&](const struct dirent64& entry) {
            remove_or_put_back(bag.get(), entry.d_name, entry.d_type == DT_REG);
            return true;
        });
        ::unlinkat(place.get(), found.d_name, AT_REMOVEDIR);
        return true;
    });
}

}  // namespace session
