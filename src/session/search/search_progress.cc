// SPDX-License-Identifier: MIT
#include "session/search/search_progress.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <thread>

#include "base/encoding/codec.h"
#include "base/encoding/sha256.h"
#include "base/text.h"

namespace session {

// Each field ends with NUL, because a name may contain any other byte: a title, the project, the places, and
// an end mark that shows that the file is complete.

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

template <>
struct base::OwnEncoding<std::chrono::milliseconds> {
    static void write(FieldWriter& writer, std::chrono::milliseconds time) { writer.add(time.count()); }
    static void read(FieldReader& reader, std::chrono::milliseconds& time) {
        int64_t count = 0;
        reader.get(count);
        time = std::chrono::milliseconds(count);
    }
};

template <>
inline constexpr session::LateFinding::Kind base::kLast<session::LateFinding::Kind> =
    session::LateFinding::Kind::held;
template <>
inline constexpr auto base::kFields<session::LateFinding> = std::tuple(&session::LateFinding::kind,
                                                                       &session::LateFinding::after,
                                                                       &session::LateFinding::path);

namespace session {

SearchProgress::SearchProgress() {
    ::clock_gettime(CLOCK_REALTIME_COARSE, &began_at_);
    void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) shared_ = new (memory) Shared{};
}

SearchProgress::~SearchProgress() {
    if (shared_ != nullptr) ::munmap(shared_, sizeof(Shared));
}

std::chrono::milliseconds SearchProgress::elapsed() const {
    auto since = std::chrono::steady_clock::now() - began_;
    return std::chrono::duration_cast<std::chrono::milliseconds>(since);
}

void SearchProgress::count_entries(uint64_t entries) {
    if (shared_ == nullptr) return;
    shared_->has_begun = true;
    shared_->entries += entries;
}

void SearchProgress::say_complete() {
    if (shared_ != nullptr && shared_->completed_after == 0)
        shared_->completed_after = std::max<int64_t>(1, elapsed().count());
}

void SearchProgress::say_failed() {
    if (shared_ != nullptr) shared_->has_failed = true;
}

void SearchProgress::say_unwatched() {
    if (shared_ != nullptr) shared_->is_unwatched = true;
}

void SearchProgress::add(Kind kind, const base::Path& path) {
    if (shared_ == nullptr) return;
    switch (kind) {
        case Kind::masked:
            ++shared_->masked;
            break;
        case Kind::appeared:
            ++shared_->appeared;
            break;
        case Kind::repository:
            ++shared_->repositories;
            break;
        case Kind::closed:
            ++shared_->closed;
            break;
        case Kind::replaced:
            ++shared_->replaced;
            break;
        case Kind::open:
            ++shared_->open;
            break;
        case Kind::held:
            ++shared_->held;
            break;
    }
    base::FieldWriter writer;
    base::write(writer, LateFinding{.kind = kind, .after = elapsed(), .path = path});
    const std::string line = writer.take();
    const uint32_t used = shared_->used;
    if (line.size() > kText - used) return;
    std::ranges::copy(line, shared_->text + used);
    shared_->used = used + static_cast<uint32_t>(line.size());
}

void SearchProgress::count_found(size_t places) {
    if (shared_ != nullptr) shared_->found = places;
}

void SearchProgress::count_written(size_t places) {
    if (shared_ != nullptr) shared_->written = places;
}

void SearchProgress::wait_until_written() const {
    const auto latest = std::chrono::steady_clock::now() + kLongestSearchEnd;
    auto is_waiting = [&] { return shared_ != nullptr && shared_->written != shared_->found; };
    while (is_waiting() && std::chrono::steady_clock::now() < latest)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

SearchProgress::Report SearchProgress::report() const {
    Report report;
    if (shared_ == nullptr) return report;
    report.has_begun = shared_->has_begun;
    report.has_failed = shared_->has_failed;
    report.is_unwatched = shared_->is_unwatched;
    report.is_complete = shared_->completed_after != 0;
    report.entries = shared_->entries;
    report.duration = std::chrono::milliseconds(shared_->completed_after);
    report.masked = shared_->masked;
    report.repositories = shared_->repositories;
    report.closed = shared_->closed;
    report.open = shared_->open;
    report.held = shared_->held;
    report.appeared = shared_->appeared;
    report.replaced = shared_->replaced;
    base::FieldReader reader({shared_->text, shared_->used});
    while (reader.is_good() && !reader.is_at_end()) {
        LateFinding finding;
        base::read(reader, finding);
        if (reader.is_good()) report.findings.push_back(std::move(finding));
    }
    return report;
}

}  // namespace session
