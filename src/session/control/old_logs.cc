// SPDX-License-Identifier: MIT
#include "session/control/old_logs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string_view>

#include "base/entries.h"
#include "base/file.h"

namespace session {

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
