// SPDX-License-Identifier: MIT
#include "layers/store.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <tuple>

#include "base/encoding/codec.h"
#include "base/no_links.h"
#include "base/parse.h"
#include "base/text.h"
#include "layers/apply.h"
#include "layers/clone/clone.h"
#include "layers/clone/listing.h"
#include "layers/journal.h"
#include "layers/tree.h"

template <>
inline constexpr auto base::kFields<layers::About> = std::tuple(&layers::About::id, &layers::About::name,
                                                                &layers::About::project,
                                                                &layers::About::project_inode,
                                                                &layers::About::start, &layers::About::boot,
                                                                &layers::About::host, &layers::About::places);

namespace layers {
namespace {

constexpr std::string_view kLayerFormat = "agent-sandbox layer 1";
constexpr const char* kAbout = "/about";
constexpr const char* kStorage = "/storage";
constexpr const char* kSynced = "/synced";
constexpr const char* kMounts = "/mounts";
constexpr const char* kAll = "/all";  // an apply that left nothing in the layer
constexpr size_t kFewestDigits = 4;
constexpr int kLockPauseMs = 20, kLockAttempts = 100;  // two seconds
constexpr int kFewAttempts = 25;                       // half a second

std::string this_boot() {
    base::Result<std::string> id = base::read_file("/proc/sys/kernel/random/boot_id");
    return id ? std::string(base::trim(*id)) : "";
}

std::string this_host() {
    struct utsname name;
    return ::uname(&name) == 0 ? name.nodename : "";
}

// Empty: the files are in the layer's own directory.
std::string storage_of(const std::string& directory) {
    base::Result<std::string> text = base::read_file(directory + kStorage);
    return text && text->starts_with('/') ? *text : "";
}

std::optional<Layer> read_layer(const std::string& directory) {
    base::Result<std::string> text = base::read_file(directory + kAbout);
    if (!text) return std::nullopt;
    base::FieldReader reader(*text);
    Layer layer{.directory = directory, .storage = storage_of(directory)};
    if (reader.next() != kLayerFormat) return std::nullopt;
    base::read(reader, layer.about);
    layer.is_clone = base::file_exists(layer.root() + kClone);
    return reader.is_complete() ? std::optional(std::move(layer)) : std::nullopt;
}

// Without fsync: a launch must not wait for the disk. mark_synced() makes it durable.
base::Status write_about(const Layer& layer) {
    base::FieldWriter writer;
    writer.add(kLayerFormat);
    base::write(writer, layer.about);
    const std::string path = layer.directory + kAbout, temporary = path + ".tmp";
    base::Fd file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return base::system_error("write " + base::printable(temporary), errno);
    if (base::Status written = base::write_all(file.get(), writer.take()); !written) return written;
    if (::rename(temporary.c_str(), path.c_str()) != 0)
        return base::system_error("write " + base::printable(path), errno);
    return base::success();
}

base::Status make(const std::string& directory, mode_t mode) {
    if (::mkdir(directory.c_str(), mode) == 0 || errno == EEXIST) return base::success();
    return base::system_error("make " + base::printable(directory), errno);
}

base::Result<base::Fd> open_lock(const Layer& layer) {
    base::Fd lock(
        ::open((layer.directory + "/lock").c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!lock) return base::system_error("lock the layer " + base::printable(layer.about.title()), errno);
    return lock;
}

// The keeper of an earlier session may have the lock for a moment.
bool take_lock(int lock, int attempts) {
    for (int attempt = 1; ::flock(lock, LOCK_EX | LOCK_NB) != 0; ++attempt) {
        if (attempt >= attempts) return false;
        ::poll(nullptr, 0, kLockPauseMs);
    }
    return true;
}

bool is_locked(const Layer& layer) {
    base::Result<base::Fd> lock = open_lock(layer);
    return lock && ::flock(lock->get(), LOCK_EX | LOCK_NB) != 0;
}

// git replaces its index by a rename and never writes to the old file, so a second name keeps it. On another
// file system a small one is copied.
void keep_index(const Layer& layer) {
    constexpr size_t kLargestCopy = 1u << 20;
    const std::string index = (layer.about.project / ".git/index").str();
    if (::linkat(AT_FDCWD, index.c_str(), AT_FDCWD, layer.index().c_str(), 0) == 0 || errno == ENOENT) return;
    base::Result<std::string> content = base::read_file(index, kLargestCopy);
    base::Fd copy(content ? ::open(layer.index().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)
                          : -1);
    if (copy) (void)base::write_all(copy.get(), *content);
}

// Both return whether the layer is new.
base::Result<bool> begin_overlay(const std::string& root, mode_t mode) {
    const bool is_new = ::mkdir((root + "/upper").c_str(), 0700) == 0;
    // The root of an overlay has the permissions of its upper directory.
    if (is_new && ::chmod((root + "/upper").c_str(), mode & 07777) != 0)
        return base::system_error("make the layer", errno);
    // The kernel refuses the working directory of an earlier `volatile` mount.
    if (!is_new) base::remove_tree(root + "/work");
    if (base::Status made = make(root + "/work", 0700); !made) return made.error();
    return is_new;
}

base::Result<bool> begin_clone(const Layer& layer, const std::string& root) {
    if (base::file_exists(root + kClone)) return false;
    CloneRequest request{.project = layer.about.project, .root = root};
    if (!layer.is_bounded) request.bounds.reset();
    base::Status made = make_clone(request);
    if (!made) return made.error();
    return true;
}

// Threat: another user who can rename entries of the directory puts files into a layer.
base::Status check_storage(const Layer& layer) {
    if (layer.storage.empty()) return base::success();
    const std::string parent = parent_of(layer.storage);
    if (base::Status made = base::make_directories(parent); !made) return made;
    struct stat status;
    if (::stat(parent.c_str(), &status) != 0)
        return base::system_error("read " + base::printable(parent), errno);
    if (status.st_uid == ::geteuid() && (status.st_mode & 0022) == 0) return base::success();
    return base::Error{
        .what = base::format("{} (cow.storage) must be a directory of yours that no other user "
                             "can write to",
                             base::printable(parent)),
        .advice = base::format("'chmod go-w {}', or name another directory", base::shell_word(parent))};
}

base::Error in_use(const Layer& layer) {
    const std::string title = base::printable(layer.about.title());
    return base::Error{
        .what = base::format("a session uses the layer {}", title),
        .advice = "'agent-sandbox ps' lists it; wait until it ends, or use 'agent-sandbox stop'"};
}

std::string place_of_layer(const Layer& layer) {
    return base::format("{} ({})", base::printable(layer.about.title()),
                        base::printable(layer.about.project.str()));
}

base::Error several(const std::vector<Layer>& found, std::string what) {
    std::vector<std::string> titles;
    for (const Layer& layer : found) titles.push_back(place_of_layer(layer));
    return base::Error{.what = std::move(what) + ": " + base::join(titles, ", "),
                       .advice = "name one of them",
                       .exit_code = base::ExitCode::usage};
}

}  // namespace

std::string_view to_text(State state) {
    switch (state) {
        case State::running:
            return "running";
        case State::waiting:
            return "waiting";
        case State::half_applied:
            return "half applied";
        case State::applied:
            return "applied";
        case State::elsewhere:
            return "of another machine";
    }
    return "";
}

std::string Layer::applied(unsigned number) const {
    return directory + "/applied/" + std::to_string(number);
}

bool is_layer_name(std::string_view name) {
    constexpr size_t kLongest = 64;
    auto is_good = [](char letter) {
        return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '.' || letter == '_' ||
               letter == '-';
    };
    return !name.empty() && name.size() <= kLongest && name.front() != '.' && name.front() != '-' &&
           std::ranges::all_of(name, is_good);
}

std::string physical_path(const std::string& path) {
    std::string physical(PATH_MAX, '\0');
    if (::realpath(path.c_str(), physical.data()) != nullptr) return physical.substr(0, physical.find('\0'));
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos || slash == 0) return path;
    return physical_path(path.substr(0, slash)) + path.substr(slash);
}

Store::Store(const std::string& state_directory) : root_(physical_path(state_directory) + "/layers") {}

std::vector<Layer> Store::list() const {
    std::vector<Layer> layers;
    base::Fd root(::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!root) return layers;
    base::visit_entries(root.get(), [&](const struct dirent64& entry) {
        if (std::optional<Layer> layer = read_layer(root_ + "/" + entry.d_name))
            layers.push_back(*std::move(layer));
        return true;
    });
    std::ranges::sort(layers, std::ranges::greater{}, [](const Layer& layer) { return layer.about.start; });
    return layers;
}

std::optional<Layer> Store::named(std::string_view name, const base::Path& project) const {
    for (Layer& layer : list()) {
        if (layer.about.name == name && layer.about.project == project) return std::move(layer);
    }
    return std::nullopt;
}

base::Result<Layer> Store::find(std::string_view text, const base::Path& project) const {
    std::vector<Layer> found, here;
    for (Layer& layer : list()) {
        bool is_meant = !text.empty() && (layer.about.name == text ||
                                          (text.size() >= kFewestDigits && layer.about.id.starts_with(text)));
        bool is_here = project.is_within(layer.about.project);
        // A name may be used in several projects.
        if (is_here && (text.empty() || is_meant)) here.push_back(layer);
        if (is_meant) found.push_back(std::move(layer));
    }
    if (here.size() == 1) return here.front();
    if (!here.empty())
        return several(
            here, text.empty() ? "several layers belong to this project" : "several layers have this name");
    if (found.size() == 1) return found.front();
    if (!found.empty()) return several(found, "several layers have this name");
    return base::Error{.what = text.empty()
                                   ? base::format("no layer belongs to {}", base::printable(project.str()))
                                   : base::format("no layer is called {}", base::printable(text)),
                       .advice = "'agent-sandbox layers' lists them",
                       .exit_code = base::ExitCode::check_failed};
}

std::optional<Layer> Store::with_id(std::string_view id, const base::Path& project) const {
    for (Layer& layer : list()) {
        if (layer.about.id == id && layer.about.project == project) return std::move(layer);
    }
    return std::nullopt;
}

void Store::remove_expired(int64_t seconds, int64_t now) const {
    for (const Layer& layer : list()) {
        if (state_of(layer) != State::applied) continue;
        int64_t last = 0;
        for (unsigned number : applies_of(layer)) {
            struct stat status;
            if (::stat((layer.applied(number) + kAll).c_str(), &status) == 0)
                last = std::max<int64_t>(last, status.st_mtime);
        }
        if (last + seconds < now) remove_layer(layer);
    }
}

base::Result<base::Fd> Store::lock_project(uint64_t device, uint64_t inode) const {
    const std::string directory = root_ + "/locks";
    if (base::Status made = base::make_directories(directory); !made) return made.error();
    const std::string path = base::format("{}/{}-{}", directory, device, inode);
    base::Fd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!lock) return base::system_error("lock the project", errno);
    for (int attempt = 0; ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0; ++attempt) {
        if (attempt >= kLockAttempts) {
            base::Result<std::string> holder = base::read_descriptor(lock.get());
            return base::Error{
                .what = base::format("process {} applies changes to this project",
                                     holder ? base::printable(base::trim(*holder)) : "(unknown)"),
                .advice = "wait until it has ended",
                .exit_code = base::ExitCode::check_failed};
        }
        ::poll(nullptr, 0, kLockPauseMs);
    }
    const std::string own = std::to_string(::getpid()) + "\n";
    if (::ftruncate(lock.get(), 0) == 0) (void)!::pwrite(lock.get(), own.data(), own.size(), 0);
    return lock;
}

base::Result<base::Fd> open_for_session(const Layer& layer, uint32_t mode) {
    const base::Path directory = base::Path::known(layer.directory);
    if (base::Status made = base::make_directories(directory.parent().str()); !made) return made.error();
    const std::string root = layer.root();
    if (base::Status good = check_storage(layer); !good) return good.error();
    for (const std::string& each : {layer.directory, layer.place(), layer.place() + "/roots", root}) {
        if (base::Status made = make(each, 0700); !made) return made.error();
    }
    if (!layer.storage.empty()) {
        if (base::Status noted = base::write_file_atomically(layer.directory + kStorage, layer.storage);
            !noted)
            return noted.error();
    }
    base::Result<base::Fd> lock = open_lock(layer);
    if (!lock) return lock.error();
    if (!take_lock(lock->get(), kFewAttempts)) return in_use(layer);
    if (state_of(layer) == State::half_applied)
        return base::Error{.what = base::format("an apply of the layer {} was interrupted",
                                                base::printable(layer.about.title())),
                           .advice = base::format("run 'agent-sandbox apply --resume {}', or --undo",
                                                  base::printable(layer.about.title()))};
    ::unlink((layer.directory + kSynced).c_str());
    unmark_all_applied(layer);
    base::Result<bool> is_new = layer.is_clone ? begin_clone(layer, root) : begin_overlay(root, mode);
    if (!is_new) return is_new.error();
    if (*is_new) keep_index(layer);
    Layer own = layer;
    own.about.boot = this_boot();
    own.about.host = this_host();
    if (base::Status written = write_about(own); !written) return written.error();
    return lock;
}

void release(base::Fd lock) {
    // For every process that has inherited the descriptor.
    if (lock) ::flock(lock.get(), LOCK_UN);
}

base::Result<base::Fd> lock_for_command(const Layer& layer) {
    base::Result<base::Fd> lock = open_lock(layer);
    if (!lock) return lock.error();
    if (!take_lock(lock->get(), kFewAttempts)) return in_use(layer);
    return lock;
}

std::vector<unsigned> applies_of(const Layer& layer) {
    std::vector<unsigned> numbers;
    base::Fd directory(::open((layer.directory + "/applied").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory) return numbers;
    base::visit_entries(directory.get(), [&](const struct dirent64& entry) {
        if (std::optional<unsigned> number = base::parse_number<unsigned>(entry.d_name))
            numbers.push_back(*number);
        return true;
    });
    std::ranges::sort(numbers);
    return numbers;
}

State state_of(const Layer& layer) {
    bool is_applied = false;
    for (unsigned number : applies_of(layer)) {
        if (is_interrupted(layer.applied(number))) return State::half_applied;
        is_applied = is_applied || base::file_exists(layer.applied(number) + kAll);
    }
    if (!layer.about.host.empty() && layer.about.host != this_host()) return State::elsewhere;
    if (is_locked(layer)) return State::running;
    return is_applied ? State::applied : State::waiting;
}

void mark_all_applied(const Layer& layer, unsigned number) {
    (void)write_synced(layer.applied(number), kAll + 1, "");
}

void unmark_all_applied(const Layer& layer) {
    for (unsigned number : applies_of(layer)) ::unlink((layer.applied(number) + kAll).c_str());
}

// Each session writes the record of the layer as a new file.
std::string use_of(const Layer& layer) {
    std::string text;
    for (const std::string& path : {layer.directory + kAbout, layer.present()}) {
        struct stat status;
        const bool exists = ::lstat(path.c_str(), &status) == 0;
        text += exists ? base::format("{}.", status.st_ino) : ".";
        if (exists && S_ISREG(status.st_mode))
            text += base::format("{}.{} ", status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
    }
    return text;
}

void note_mounts(const Layer& layer, int mounts) {
    struct stat status;
    if (::fstat(mounts, &status) != 0) return;
    base::Fd file(::open((layer.directory + kMounts).c_str(),
                         O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file) (void)base::write_all(file.get(), std::to_string(status.st_ino));
}

uint64_t noted_mounts(const Layer& layer) {
    base::Result<std::string> text = base::read_file(layer.directory + kMounts);
    return text ? base::parse_number<uint64_t>(*text).value_or(0) : 0;
}

// Another session may take the layer up at any moment, with a new working directory: each step needs the
// lock, and the record of a session in between is a new file.
void mark_synced(const std::string& directory) {
    const Layer layer{.directory = directory, .storage = storage_of(directory)};
    const std::string place = layer.place();
    struct stat before, after;
    {
        base::Result<base::Fd> lock = open_lock(layer);
        if (!lock || !take_lock(lock->get(), kLockAttempts)) return;
        // The kernel leaves a directory without permissions in it, which `rm -r` can't remove.
        base::remove_tree(place + "/roots/0/work");
        if (::stat((directory + kAbout).c_str(), &before) != 0) return;
    }
    base::Fd opened(::open(place.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!opened || ::syncfs(opened.get()) != 0) return;
    base::Result<base::Fd> lock = open_lock(layer);
    if (!lock || !take_lock(lock->get(), kLockAttempts)) return;
    bool is_same = ::stat((directory + kAbout).c_str(), &after) == 0 && after.st_ino == before.st_ino;
    if (is_same) (void)write_synced(directory, kSynced + 1, "");
}

bool may_be_damaged(const Layer& layer) {
    return !base::file_exists(layer.directory + kSynced) && layer.about.boot != this_boot();
}

void remove_layer(const Layer& layer) {
    for (unsigned number : applies_of(layer)) remove_applied(layer.applied(number));
    // First: without it the layer is not listed, whatever is left of it.
    ::unlink((layer.directory + kAbout).c_str());
    if (!layer.storage.empty()) base::remove_tree(layer.storage);
    base::remove_tree(layer.directory);
}

}  // namespace layers
