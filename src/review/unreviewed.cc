// SPDX-License-Identifier: MIT
// A line for each run: the name of the project's record, and the two times. The file is changed in place
// under a lock, and the oldest half is dropped above a size.
#include "review/unreviewed.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>

#include "base/file.h"
#include "base/format.h"
#include "base/text.h"
#include "review/known.h"

namespace review {
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

}  // namespace review
