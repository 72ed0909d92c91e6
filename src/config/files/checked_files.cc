// SPDX-License-Identifier: MIT
#include "config/files/checked_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "base/no_links.h"
#include "base/text.h"

namespace config {
namespace {

using base::Error;
using base::Fd;
using base::Result;

enum class Expected { file, directory };

Error refused(const std::string& path, std::string problem, std::string advice) {
    return Error{.what = path + " " + std::move(problem), .advice = std::move(advice), .where = path};
}

std::string permission_advice(const std::string& path, mode_t forbidden) {
    return base::format("run 'chmod {} {}'", forbidden & 020 ? "go-w" : "o-w", path);
}

std::optional<Error> problem_of(int fd, const std::string& path, Expected expected,
                                const Believable& believable) {
    struct stat status;
    if (::fstat(fd, &status) != 0) return base::system_error("look at " + path, errno);
    bool is_directory = S_ISDIR(status.st_mode);
    if (expected == Expected::directory && !is_directory) {
        return refused(path, "is not a directory", "remove it or make it a directory");
    }
    if (expected == Expected::file && !S_ISREG(status.st_mode)) {
        return refused(path, "is not a file", "remove it or make it a file");
    }
    if (believable.owner && status.st_uid != *believable.owner) {
        return refused(
            path, base::format("is owned by uid {}, so that its rules can't be believed", status.st_uid),
            base::format("an administrator runs 'chown {} {}'",
                         *believable.owner == 0 ? "root" : std::to_string(*believable.owner), path));
    }
    if ((status.st_mode & believable.forbidden) != 0) {
        return refused(path, "can be written by others, so that its rules can't be believed",
                       permission_advice(path, believable.forbidden));
    }
    return std::nullopt;
}

// A descriptor that passed the check; an empty one if the name does not exist. A dangling link is an error,
// because its author meant a file.
Result<Fd> open_checked(int directory, const std::string& name, const std::string& path, Expected expected,
                        const Believable& believable) {
    int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    Fd fd(::openat(directory, name.c_str(), flags));
    if (!fd) {
        int reason = errno;
        struct stat status;
        bool is_absent = reason == ENOENT &&
                         ::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 &&
                         errno == ENOENT;
        if (is_absent) return Fd();
        Error error = base::system_error("read " + path, reason);
        error.advice = reason == ENOENT ? "it is a link to nowhere: remove it or repair it"
                                        : "make it readable for everybody who may use this program";
        bool is_absolute = path.starts_with('/');
        if (reason != EACCES || !is_absolute) return error;
        return base::with_shut_directory(std::move(error), (base::Path() / path).parent());
    }
    if (auto problem = problem_of(fd.get(), path, expected, believable)) return *problem;
    return fd;
}

Error changed_meanwhile(const std::string& path) {
    return refused(path, "was changed while it was read", "start again");
}

// The kernel's timestamps are too coarse to detect a write in the same moment, so a very new file may be
// incomplete.
bool is_fresh(const struct stat& status) {
    constexpr int64_t kMoment = 50'000'000;  // nanoseconds
    struct timespec now = {};
    ::clock_gettime(CLOCK_REALTIME, &now);
    int64_t age =
        (int64_t{now.tv_sec} - status.st_mtim.tv_sec) * 1'000'000'000 + now.tv_nsec - status.st_mtim.tv_nsec;
    return age >= 0 && age < kMoment;
}

// Nothing if the file was written during the read or within the last 50 ms.
Result<std::optional<std::string>> read_once(int fd, const std::string& path, size_t limit) {
    struct stat before, after;
    if (::lseek(fd, 0, SEEK_SET) != 0 || ::fstat(fd, &before) != 0)
        return base::system_error("look at " + path, errno);
    Result<std::string> text = base::read_descriptor(fd, limit);
    if (!text) return Error{.what = path + ": " + text.error().what, .advice = text.error().advice};
    if (::fstat(fd, &after) != 0) return base::system_error("look at " + path, errno);
    bool is_same = before.st_size == after.st_size && before.st_mtim.tv_sec == after.st_mtim.tv_sec &&
                   before.st_mtim.tv_nsec == after.st_mtim.tv_nsec;
    if (!is_same || is_fresh(after)) return std::optional<std::string>();
    return std::optional(*std::move(text));
}

Result<std::optional<FileText>> read_at(int directory, const std::string& name, const std::string& path,
                                        const Believable& believable) {
    Result<Fd> fd = open_checked(directory, name, path, Expected::file, believable);
    if (!fd) return fd.error();
    if (!*fd) return std::optional<FileText>();
    Result<std::string> text = read_settled(fd->get(), path, kLargestConfiguration);
    if (!text) return text.error();
    // An editor may have truncated the file before it writes the content.
    if (text->empty() && !believable.may_be_empty) {
        return refused(path, "is empty: perhaps it is being written",
                       "start again; an administrator who means no rules removes it");
    }
    return std::optional(FileText{path, *std::move(text)});
}

}  // namespace

Result<std::string> read_settled(int fd, const std::string& path, size_t limit) {
    constexpr struct timespec kPause = {.tv_sec = 0, .tv_nsec = 60'000'000};
    // Try again, so that a user who has just written the file does not have to start twice.
    constexpr int kLooks = 3;
    for (int look = 0; look < kLooks; ++look) {
        if (look > 0) ::nanosleep(&kPause, nullptr);
        Result<std::optional<std::string>> text = read_once(fd, path, limit);
        if (!text) return text.error();
        if (*text) return **std::move(text);
    }
    return changed_meanwhile(path);
}

Result<std::vector<std::string>> list_toml_files(int directory) {
    std::vector<std::string> names;
    Fd copy(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    DIR* stream = copy ? ::fdopendir(copy.get()) : nullptr;
    if (stream == nullptr) return base::system_error("list a directory", errno);
    copy.release();
    errno = 0;
    while (const dirent* entry = ::readdir(stream)) {
        std::string_view name = entry->d_name;
        if (!name.starts_with('.') && name.ends_with(".toml")) names.emplace_back(name);
        errno = 0;
    }
    int problem = errno;
    ::closedir(stream);
    if (problem != 0) return base::system_error("list a directory", problem);
    std::ranges::sort(names);
    return names;
}

Result<std::vector<FileText>> read_configuration(const std::string& directory, const Believable& believable) {
    std::vector<FileText> files;
    Result<Fd> top = open_checked(AT_FDCWD, directory, directory, Expected::directory, believable);
    if (!top) return top.error();
    if (!*top) return files;

    Result<std::optional<FileText>> main =
        read_at(top->get(), "config.toml", directory + "/config.toml", believable);
    if (!main) return main.error();
    if (*main) files.push_back(**std::move(main));

    std::string more = directory + "/conf.d";
    Result<Fd> parts = open_checked(top->get(), "conf.d", more, Expected::directory, believable);
    if (!parts) return parts.error();
    if (!*parts) return files;
    Result<std::vector<std::string>> names = list_toml_files(parts->get());
    if (!names) return refused(more, "can't be listed: " + names.error().what, "make it readable");
    for (const std::string& name : *names) {
        Result<std::optional<FileText>> part = read_at(parts->get(), name, more + "/" + name, believable);
        if (!part) return part.error();
        if (!*part) return changed_meanwhile(more);
        files.push_back(**std::move(part));
    }
    return files;
}

Result<std::optional<FileText>> read_one(const std::string& directory, const std::string& name,
                                         const Believable& believable) {
    Result<Fd> top = open_checked(AT_FDCWD, directory, directory, Expected::directory, believable);
    if (!top) return top.error();
    if (!*top) return std::optional<FileText>();
    return read_at(top->get(), name, directory + "/" + name, believable);
}

}  // namespace config
