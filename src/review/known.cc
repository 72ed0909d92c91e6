// SPDX-License-Identifier: MIT
// The record is text: a line with the time of the review, then one line for each path, a part of its SHA-256.
// Not a weaker hash: the jail chooses names, and must not find one that counts as seen.
#include "review/known.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/encoding/sha256.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/text.h"
#include "review/walk.h"

namespace review {

// A line for each run: the name of the project's record, and the two times. The file is changed in place
// under a lock, and the oldest half is dropped above a size.

namespace {

constexpr size_t kMostBytes = 256u << 10;  // about four thousand runs

struct RunsFile {
    std::string file;
    std::string_view project;
};

RunsFile runs_file_of(const std::string& record) {
    size_t slash = record.rfind('/');
    return {record.substr(0, slash) + "/runs", std::string_view(record).substr(slash + 1)};
}

base::Fd open_locked(const std::string& file, int flags) {
    base::Fd fd(::open(file.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (fd && ::flock(fd.get(), LOCK_EX) != 0) fd.reset();
    return fd;
}

// Without the file, the next review only misses these runs.
void replace(const base::Fd& fd, std::string_view content) {
    if (::ftruncate(fd.get(), 0) == 0 && ::lseek(fd.get(), 0, SEEK_SET) == 0)
        (void)base::write_all(fd.get(), content);
}

std::optional<Run> parse_run(std::string_view line, std::string_view project) {
    std::vector<std::string_view> words = base::split(line, ' ');
    if (words.size() != 3 || words[0] != project) return std::nullopt;
    std::optional<timespec> started = parse_time(words[1]);
    std::optional<timespec> ended = parse_time(words[2]);
    if (!started || !ended) return std::nullopt;
    return Run{*started, *ended};
}

}  // namespace

void add_unreviewed(const std::string& record, const timespec& started) {
    const RunsFile list = runs_file_of(record);
    if (!base::make_directories(list.file.substr(0, list.file.rfind('/')))) return;
    base::Fd fd = open_locked(list.file, O_RDWR | O_CREAT | O_APPEND);
    if (!fd) return;
    // The exact clock: file systems may stamp a file with it (multigrain timestamps, Linux 6.13).
    timespec now = {};
    ::clock_gettime(CLOCK_REALTIME, &now);
    struct stat status;
    if (::fstat(fd.get(), &status) == 0 && static_cast<size_t>(status.st_size) > kMostBytes) {
        base::Result<std::string> text = base::read_descriptor(fd.get());
        size_t half = text ? text->find('\n', text->size() / 2) : std::string::npos;
        replace(fd,
                half == std::string::npos ? std::string_view() : std::string_view(*text).substr(half + 1));
    }
    (void)base::write_all(fd.get(),
                          base::format("{} {} {}\n", list.project, time_text(started), time_text(now)));
}

std::vector<Run> take_unreviewed(const std::string& record) {
    std::vector<Run> runs;
    if (record.empty()) return runs;
    const RunsFile list = runs_file_of(record);
    base::Fd fd = open_locked(list.file, O_RDWR);
    if (!fd) return runs;
    base::Result<std::string> text = base::read_descriptor(fd.get());
    if (!text) return runs;
    std::string others;
    for (std::string_view line : base::split(*text, '\n')) {
        std::optional<Run> run = parse_run(line, list.project);
        if (run) runs.push_back(*run);
        if (!run && !line.empty()) others += std::string(line) + "\n";
    }
    if (!runs.empty()) replace(fd, others);
    return runs;
}

namespace {

constexpr size_t kDigits = 20;
constexpr size_t kLargestRecord = 64u << 20;

std::string digest_of(const base::Path& path) {
    return base::sha256(path.str()).substr(0, kDigits);
}

bool is_at_most(const timespec& time, const timespec& limit) {
    return std::tie(time.tv_sec, time.tv_nsec) <= std::tie(limit.tv_sec, limit.tv_nsec);
}

}  // namespace

std::string time_text(const timespec& time) {
    return base::format("{}.{}", time.tv_sec, time.tv_nsec);
}

std::optional<timespec> parse_time(std::string_view text) {
    size_t dot = text.find('.');
    if (dot == text.npos) return std::nullopt;
    auto seconds = base::parse_number<time_t>(text.substr(0, dot));
    auto nanoseconds = base::parse_number<long>(text.substr(dot + 1));
    if (!seconds || !nanoseconds) return std::nullopt;
    return timespec{.tv_sec = *seconds, .tv_nsec = *nanoseconds};
}

Known::Known(std::string file, const timespec& started)
    : file_(std::move(file)), started_(started), runs_(take_unreviewed(file_)) {
    if (file_.empty()) return;
    base::Result<std::string> text = base::read_file(file_, kLargestRecord);
    if (!text) return;
    std::string_view rest = *text;
    std::string_view head = rest.substr(0, rest.find('\n'));
    std::optional<timespec> reviewed = parse_time(head);
    if (!reviewed) return;
    reviewed_ = *reviewed;
    rest.remove_prefix(std::min(head.size() + 1, rest.size()));
    for (std::string_view line : base::split(rest, '\n')) {
        if (line.size() == kDigits) before_.emplace(line);
    }
    has_record_ = true;
}

bool Known::is_new(const base::Path& path, const struct stat& status) {
    bool has_file = !file_.empty();
    std::string digest = has_file ? digest_of(path) : std::string();
    if (has_file) now_.insert(digest);
    if (has_changed(status, started_)) return true;
    auto is_of = [&](const Run& run) {
        return has_changed(status, run.started) && is_at_most(status.st_ctim, run.ended);
    };
    if (std::ranges::any_of(runs_, is_of)) return true;
    return is_older_than_review(status) && !before_.contains(digest);
}

// Threat: renaming another directory over the one with the file keeps the times of both files
// (tests/review/git_programs_test.cc).
bool Known::is_new_or_replaced(const base::Path& path, const struct stat& status) {
    bool is_new_path = is_new(path, status);
    if (file_.empty()) return is_new_path;
    const std::string identity =
        base::sha256(path.str() + '\0' + std::to_string(status.st_ino) + '\0' + time_text(status.st_ctim))
            .substr(0, kDigits);
    now_.insert(identity);
    return is_new_path || (is_older_than_review(status) && !before_.contains(identity));
}

std::optional<bool> Known::has_entry(const base::Path& file, std::string_view entry) {
    auto digest = [&](std::string_view part) {
        return base::sha256(file.str() + '\0' + std::string(part)).substr(0, kDigits);
    };
    const std::string mark = digest(""), own = digest(entry);
    if (!file_.empty()) now_.insert({mark, own});
    if (!before_.contains(mark)) return std::nullopt;
    return before_.contains(own);
}

bool Known::is_older_than_review(const struct stat& status) const {
    return has_record_ && is_at_most(status.st_ctim, reviewed_);
}

void Known::save(bool is_complete) const {
    if (file_.empty()) return;
    std::string text;
    if (is_complete) {
        // The exact clock: file systems may stamp a file with it (multigrain timestamps, Linux 6.13).
        timespec now = {};
        ::clock_gettime(CLOCK_REALTIME, &now);
        text = time_text(now) + "\n";
        for (const std::string& digest : now_) text += digest + "\n";
    }
    // Without the record the next review uses only times, as the first one does.
    base::Status made = base::make_directories(file_.substr(0, file_.rfind('/')));
    if (made) (void)base::write_file_atomically(file_, text);
}

}  // namespace review
