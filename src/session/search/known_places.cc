// SPDX-License-Identifier: MIT
// Each field ends with NUL, because a name may contain any other byte: a title, the project, the places, and
// an end mark that shows that the file is complete.
#include "session/search/known_places.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "base/encoding/sha256.h"
#include "base/format.h"
#include "base/text.h"

namespace session {
namespace {

constexpr std::string_view kTitle = "agent-sandbox known places 1";
constexpr std::string_view kEnd = "end";
constexpr size_t kMostPlaces = 20'000;
constexpr size_t kLargest = 4u << 20;

std::string directory_of(const std::string& state_directory) {
    return state_directory + "/known-places";
}

std::string name_of(const base::Path& project) {
    return base::sha256(project.str());
}

std::string content_of(int fd) {
    struct stat status;
    bool is_ours = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid() &&
                   (status.st_mode & 0022) == 0;
    if (!is_ours) return {};
    base::Result<std::string> content = base::read_descriptor(fd, kLargest);
    return content ? *std::move(content) : std::string();
}

}  // namespace

std::vector<std::string> read_known_places(const std::string& state_directory, const base::Path& project) {
    const std::string file = directory_of(state_directory) + "/" + name_of(project);
    base::Fd fd(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!fd) return {};
    const std::string content = content_of(fd.get());
    std::vector<std::string_view> fields = base::split(content, '\0');
    // The last field is the text after the last NUL.
    bool is_whole = fields.size() >= 4 && fields.back().empty() && fields[fields.size() - 2] == kEnd &&
                    fields[0] == kTitle && fields[1] == project.str();
    if (!is_whole) return {};
    std::vector<std::string> places;
    for (size_t i = 2; i + 2 < fields.size(); ++i) {
        if (!fields[i].empty() && fields[i].front() != '/') places.emplace_back(fields[i]);
    }
    return places;
}

KnownPlaces::KnownPlaces(const std::string& state_directory, const base::Path& project)
    : name_(name_of(project)), project_(project.str()) {
    const std::string directory = directory_of(state_directory);
    if (!base::make_directories(directory)) return;
    directory_ = base::Fd(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    base::Fd file(::openat(directory_.get(), name_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file) written_ = content_of(file.get());
}

void KnownPlaces::write(const std::vector<std::string>& places) {
    std::string content = std::string(kTitle) + '\0' + project_ + '\0';
    size_t count = 0;
    for (const std::string& place : places) {
        bool fits = ++count <= kMostPlaces && content.size() + place.size() + kEnd.size() + 2 <= kLargest;
        if (!fits) break;
        content += place + '\0';
    }
    content += std::string(kEnd) + '\0';
    bool is_news = content != written_ && !(places.empty() && written_.empty());
    if (!is_news || !directory_) return;
    const std::string draft = base::format(".new-{}-{}", ::getpid(), name_.substr(0, 16));
    ::unlinkat(directory_.get(), draft.c_str(), 0);
    base::Fd file(::openat(directory_.get(), draft.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    bool is_written = file && base::write_all(file.get(), content);
    if (is_written && ::renameat(directory_.get(), draft.c_str(), directory_.get(), name_.c_str()) == 0) {
        written_ = std::move(content);
    } else {
        ::unlinkat(directory_.get(), draft.c_str(), 0);
    }
}

}  // namespace session
