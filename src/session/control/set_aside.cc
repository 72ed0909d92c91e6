// SPDX-License-Identifier: MIT
// Theory of operation. An entry is a directory with two names: "about", which tells where the thing was, and
// "item", the thing itself. "about" is written first, so that a process that is killed leaves either the
// thing at its old place or a complete entry.
//
//   same file system   one rename moves the thing; a directory with a million entries takes no longer
//   another one        the thing gets a name in its own directory that no tool reads (one rename), then it is
//                      copied, and removed when the copy is complete. A large one is not copied, and stays
//                      under that name.
//   no entry possible  (disk full, no permission): the same rename, and the report names the place
#include "session/control/set_aside.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/encoding/codec.h"
#include "base/file.h"
#include "base/no_links.h"
#include "base/text.h"
#include "session/control/tree_copy.h"

template <>
inline constexpr auto base::kFields<session::Aside> =
    std::tuple(&session::Aside::path, &session::Aside::project, &session::Aside::why,
               &session::Aside::session, &session::Aside::time, &session::Aside::place);

namespace session {
namespace {

constexpr const char* kAbout = "about";
constexpr const char* kItem = "item";
constexpr int kMostAsides = 10'000;   // of one session, in the state directory
constexpr int kNumberedNames = 100;   // in a directory of the project; the jail can take them all
constexpr size_t kSessionDigits = 8;  // of the session's id
constexpr CopyLimits kAtTheEnd = {.entries = 2'000, .bytes = 64u << 20};

// The C library of old systems has no wrapper. Not every file system has the flag.
int move_to_free_name(int from, const char* old_name, int to, const char* new_name) {
    if (::syscall(SYS_renameat2, from, old_name, to, new_name, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return -1;
    struct stat status;
    if (::fstatat(to, new_name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
        errno = EEXIST;
        return -1;
    }
    return ::renameat(from, old_name, to, new_name);
}

// A directory moves to another parent only if its owner may write in it.
struct WritableForMove {
    WritableForMove(int parent, const char* name)
        : file(::openat(parent, name, O_PATH | O_NOFOLLOW | O_CLOEXEC)), open(file.get()) {}

    base::Fd file;
    OpenForMove open;
};

bool set_mode(int directory, mode_t mode) {
    const std::string path = "/proc/self/fd/" + std::to_string(directory);
    return ::chmod(path.c_str(), mode & 07777) == 0;
}

base::Fd open_store(int parent, const char* name) {
    return base::Fd(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// The name of a thing that stays in its directory: no tool reads it, and no entry of project.protect
// matches it. Threat: the jail takes the names first, as many as it likes. It can't foresee the random ones
// (tests/jail/new_names.bats).
std::string neutral_name(std::string_view name, int attempt) {
    while (name.starts_with('.')) name.remove_prefix(1);
    std::string number = std::to_string(attempt);
    if (attempt > kNumberedNames) {
        uint64_t random = 0;
        if (::getrandom(&random, sizeof random, 0) == sizeof random) number = std::to_string(random);
    }
    return base::format(".agent-sandbox.aside-{}-{}", number, name.substr(0, 200));
}

}  // namespace

OpenForMove::OpenForMove(int directory) : directory_(directory) {
    struct stat status;
    bool is_shut = directory >= 0 && ::fstat(directory, &status) == 0 && S_ISDIR(status.st_mode) &&
                   (status.st_mode & S_IRWXU) != S_IRWXU && status.st_uid == ::geteuid();
    if (!is_shut) return;
    mode_ = status.st_mode;
    has_changed_ = set_mode(directory, mode_ | S_IRWXU);
}

OpenForMove::~OpenForMove() {
    if (has_changed_) set_mode(directory_, mode_);
}

std::optional<AsideStore::Entry> AsideStore::make_entry(const std::string& session) const {
    if (!base::make_directories(place_)) return std::nullopt;
    base::Fd store = open_store(AT_FDCWD, place_.c_str());
    if (!store) return std::nullopt;
    for (int number = 1; number <= kMostAsides; ++number) {
        std::string id = base::format("{}-{}", session.substr(0, kSessionDigits), number);
        if (::mkdirat(store.get(), id.c_str(), 0700) == 0)
            return Entry{id, open_store(store.get(), id.c_str())};
        if (errno != EEXIST) return std::nullopt;
    }
    return std::nullopt;
}

bool AsideStore::write_about(const Entry& entry, const Aside& about) const {
    base::FieldWriter writer;
    base::write(writer, about);
    return base::write_file_atomically(base::format("{}/{}/{}", place_, entry.id, kAbout), writer.take())
        .ok();
}

void AsideStore::drop(const std::string& id) const {
    base::remove_tree(base::format("{}/{}", place_, id));
}

MovedName AsideStore::take(int parent, Aside about) {
    const std::string name(about.path.name());
    std::optional<Entry> entry = make_entry(about.session);
    if (!entry) return rename_in_project(parent, about, nullptr);
    base::Result<base::Path> item = base::Path::parse(base::format("{}/{}/{}", place_, entry->id, kItem));
    if (item) about.place = *item;
    if (!item || !write_about(*entry, about)) {
        drop(entry->id);
        return rename_in_project(parent, about, nullptr);
    }
    WritableForMove writable(parent, name.c_str());
    if (move_to_free_name(parent, name.c_str(), entry->directory.get(), kItem) == 0)
        return {.path = about.path, .why = about.why, .place = about.place};
    if (errno == ENOENT) {
        // Something else removed it at this moment.
        drop(entry->id);
        return {.path = about.path, .why = about.why};
    }
    return rename_in_project(parent, about, &*entry);
}

// Takes the name away where it is, then tries to copy the thing into the entry.
MovedName AsideStore::rename_in_project(int parent, const Aside& about, const Entry* entry) {
    MovedName moved{.path = about.path, .why = about.why};
    const std::string name(about.path.name());
    std::string neutral;
    int number = EEXIST;
    for (int attempt = 1; number == EEXIST; ++attempt) {
        neutral = neutral_name(name, attempt);
        number = move_to_free_name(parent, name.c_str(), parent, neutral.c_str()) == 0 ? 0 : errno;
    }
    if (number == ENOENT) {
        if (entry != nullptr) drop(entry->id);
        return moved;
    }
    if (number != 0) {
        if (entry != nullptr) drop(entry->id);
        moved.place = about.path;
        moved.is_left = true;
        moved.problem = std::strerror(number);
        return moved;
    }
    Aside renamed = about;
    renamed.place = about.path.parent() / neutral;
    moved.place = renamed.place;
    if (entry == nullptr) {
        moved.problem = "the state directory can't take it";
        return moved;
    }
    (void)write_about(*entry, renamed);
    const std::string part = std::string(kItem) + ".part";
    if (base::Status copied = copy_tree({parent, neutral}, {entry->directory.get(), part}, kAtTheEnd);
        !copied) {
        remove_at(entry->directory.get(), part);
        moved.problem = copied.error().what;
        return moved;
    }
    bool is_complete = ::renameat(entry->directory.get(), part.c_str(), entry->directory.get(), kItem) == 0 &&
                       write_about(*entry, about);
    if (!is_complete) {
        moved.problem = "the state directory can't take it";
        return moved;
    }
    remove_at(parent, neutral);
    moved.place = about.place;
    return moved;
}

std::vector<Aside> AsideStore::list() const {
    std::vector<Aside> found;
    base::Fd store = open_store(AT_FDCWD, place_.c_str());
    if (!store) return found;
    base::visit_entries(store.get(), [&](const struct dirent64& entry) {
        base::Result<std::string> text =
            base::read_file(base::format("{}/{}/{}", place_, entry.d_name, kAbout), 64u << 10);
        if (!text) return true;
        base::FieldReader reader(*text);
        Aside aside;
        base::read(reader, aside);
        struct stat status;
        bool is_there = reader.is_good() && ::lstat(aside.place.c_str(), &status) == 0;
        if (!is_there) return true;
        aside.id = entry.d_name;
        found.push_back(std::move(aside));
        return true;
    });
    std::ranges::sort(found, [](const Aside& a, const Aside& b) {
        return a.time != b.time ? a.time > b.time : a.id < b.id;
    });
    return found;
}

base::Status AsideStore::put_back(const Aside& entry) const {
    const base::Path directory = entry.path.parent();
    auto failure = [&](base::Error error) {
        error.exit_code = base::ExitCode::check_failed;
        return error;
    };
    if (base::Status made = base::make_directories_without_links(directory, 0755); !made)
        return failure(made.error());
    base::Fd to(base::open_without_links(directory, O_PATH | O_DIRECTORY));
    if (!to) return failure(base::system_error("open " + directory.str(), -to.get()));
    base::Fd from(base::open_without_links(entry.place.parent(), O_PATH | O_DIRECTORY));
    if (!from) return failure(base::system_error("open " + entry.place.parent().str(), -from.get()));
    const std::string name(entry.path.name()), draft = ".agent-sandbox.release-" + entry.id;
    auto taken = [&] {
        return failure(
            {.what = base::format("{} exists: nothing was changed", base::printable(entry.path.str())),
             .advice = "move or remove it first"});
    };
    struct stat status;
    if (::fstatat(to.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) return taken();
    remove_at(to.get(), draft);
    base::Status copied = copy_tree({from.get(), std::string(entry.place.name())}, {to.get(), draft}, {});
    if (!copied) {
        remove_at(to.get(), draft);
        return failure(copied.error());
    }
    WritableForMove writable(to.get(), draft.c_str());
    if (move_to_free_name(to.get(), draft.c_str(), to.get(), name.c_str()) != 0) {
        const int number = errno;
        remove_at(to.get(), draft);
        return number == EEXIST ? taken()
                                : failure(base::system_error("put back " + entry.path.str(), number));
    }
    return remove(entry);
}

base::Status AsideStore::remove(const Aside& entry) const {
    base::Fd from(base::open_without_links(entry.place.parent(), O_PATH | O_DIRECTORY));
    if (from) remove_at(from.get(), std::string(entry.place.name()));
    drop(entry.id);
    struct stat status;
    if (::lstat(entry.place.c_str(), &status) != 0) return base::success();
    return base::Error{.what = "can't remove " + base::printable(entry.place.str()),
                       .exit_code = base::ExitCode::check_failed};
}

void AsideStore::remove_old(std::time_t now) const {
    base::Fd store = open_store(AT_FDCWD, place_.c_str());
    if (!store) return;
    std::vector<std::string> old;
    base::visit_entries(store.get(), [&](const struct dirent64& entry) {
        struct stat status;
        bool is_old = ::fstatat(store.get(), entry.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                      status.st_mtim.tv_sec + kLongestAside < now;
        if (is_old) old.emplace_back(entry.d_name);
        return true;
    });
    for (const std::string& id : old) drop(id);
}

}  // namespace session
