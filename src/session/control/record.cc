// SPDX-License-Identifier: MIT
#include "session/control/record.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/file.h"
#include "base/text.h"

namespace session {
namespace {

constexpr unsigned kParts = 4;
constexpr std::time_t kBetweenCleanUps = 3600;
constexpr std::time_t kLongestBetween = std::time_t{24} * 3600;
constexpr const char* kLastLook = "last-look";

// If it exists already, this session made it: its first jail could not be built.
base::Fd make_file(const std::string& path) {
    return base::Fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
}

}  // namespace

base::Status Record::open(const std::string& directory, const std::string& session,
                          const RecordSettings& settings) {
    settings_ = settings;
    session_ = session;
    // The name starts with the time, so that records sort, and contains the session.
    stem_ = base::format("{}/{}-{}", directory, base::utc_stamp(::time(nullptr)), session);
    std::string path = part_path(1);
    base::Fd file = make_file(path);
    if (!file && errno == ENOENT) {
        if (base::Status made = base::make_directories(directory); !made) return made;
        file = make_file(path);
    }
    if (!file) return base::system_error("make the record " + path, errno);
    path_ = path;
    parts_ = 1;
    writer_ = audit::Writer(std::move(file), settings.is_chained ? "supervisor" : "", session,
                            settings.size / kParts);
    return base::success();
}

std::string Record::part_path(unsigned number) const {
    return stem_ + (number > 1 ? "." + std::to_string(number) : "") + ".jsonl";
}

Record::Share Record::share() const {
    return {base::Fd(::fcntl(writer_.descriptor(), F_DUPFD_CLOEXEC, 0)), settings_.is_chained, session_,
            settings_.size / kParts};
}

base::Fd Record::next_part() {
    base::Fd file = make_file(part_path(parts_ + 1));
    // If the next file can't be made, continue with the current part.
    if (!file) return share().file;
    ++parts_;
    writer_.go_on(std::move(file));
    if (parts_ > kParts) {
        unsigned oldest = parts_ - kParts + 1;
        if (::unlink(part_path(oldest).c_str()) == 0) {
            audit::Line line("journal");
            // All parts from the second on are removed by now, maybe also the lines that reported the earlier
            // ones.
            line.number("from", 2).number("part", oldest);
            line.text("reason", "the record has reached its size: its parts up to this one are dropped");
            writer_.write(std::move(line));
        }
    }
    return share().file;
}

void remove_old_records(const std::string& directory, std::time_t keep, std::time_t now) {
    if (keep <= 0) return;
    std::string mark = directory + "/" + kLastLook;
    struct stat status;
    bool has_mark = ::stat(mark.c_str(), &status) == 0 && status.st_mtime <= now;
    if (has_mark && now - status.st_mtime < kBetweenCleanUps) return;
    base::Fd marked(::open(mark.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (marked) ::futimens(marked.get(), nullptr);
    // After more than a day without a check the clock may have jumped. Keep old records until a check an hour
    // later finds them old too.
    if (has_mark && now - status.st_mtime > kLongestBetween) return;
    remove_old_logs(directory, keep, now);
}

namespace {

// Writing a file takes milliseconds, but the clock of another machine that shares the directory may differ.
constexpr std::time_t kOldestDraft = 3600;

// base::write_file_atomically gives unfinished files such names.
bool is_draft(std::string_view name) {
    constexpr std::string_view kNew = ".new.";
    size_t at = name.rfind(kNew);
    if (at == std::string_view::npos || at == 0) return false;
    std::string_view process = name.substr(at + kNew.size());
    return !process.empty() && process.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_log(std::string_view name) {
    return name.ends_with(".jsonl");
}

void remove_old_files(const std::string& directory, bool (*is_meant)(std::string_view name),
                      std::time_t longest, std::time_t now) {
    base::Fd place(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!place) return;
    base::visit_entries(place.get(), [&](const struct dirent64& entry) {
        if (!is_meant(entry.d_name)) return true;
        struct stat status;
        bool is_file = ::fstatat(place.get(), entry.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                       S_ISREG(status.st_mode);
        if (is_file && status.st_mtim.tv_sec + longest < now) ::unlinkat(place.get(), entry.d_name, 0);
        return true;
    });
}

}  // namespace

void remove_old_logs(const std::string& directory, std::time_t longest, std::time_t now) {
    remove_old_files(directory, is_log, longest, now);
}

void remove_left_drafts(const std::string& directory, std::time_t now) {
    remove_old_files(directory, is_draft, kOldestDraft, now);
}

}  // namespace session
