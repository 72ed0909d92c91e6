// SPDX-License-Identifier: MIT
#include "host/private_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <ctime>
#include <memory>
#include <optional>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "host/kept_findings.h"

namespace host {
namespace {

constexpr std::string_view kTitle = "agent-sandbox private files 2";
constexpr time_t kLongestTrust = 60;  // that no directory has changed, in seconds

struct Found {
    time_t began = 0;
    // All that were read, with their stamps from before, to notice changes.
    std::vector<std::pair<std::string, base::Path>> directories;
    std::vector<base::Path> hidden;
    std::optional<base::Error> problem;
};

struct CloseDirectory {
    void operator()(DIR* directory) const { ::closedir(directory); }
};

// Threat: what was not looked at is shown, and for an hour, since the answer is kept
// (tests/admin/resource_faults.bats).
void give_up_on(const base::Path& path, int number, Found& found) {
    if (base::is_closed_or_gone(number) || found.problem) return;
    found.problem = base::system_error("look for private files in " + path.str(), number);
}

void walk(int parent, const base::Path& path, Found& found) {
    base::Fd fd(::openat(parent, parent == AT_FDCWD ? path.c_str() : std::string(path.name()).c_str(),
                         O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (!fd) return give_up_on(path, errno, found);
    int number = fd.get();
    std::unique_ptr<DIR, CloseDirectory> directory(::fdopendir(fd.release()));
    struct stat before;
    if (!directory || ::fstat(number, &before) != 0) return give_up_on(path, errno, found);
    found.directories.emplace_back(stamp_text(before.st_ctim), path);
    errno = 0;
    for (const dirent* entry; (entry = ::readdir(directory.get())) != nullptr; errno = 0) {
        std::string_view name = entry->d_name;
        if (name == "." || name == ".." || entry->d_type == DT_LNK) continue;
        struct stat status;
        if (::fstatat(number, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
        bool is_directory = S_ISDIR(status.st_mode);
        mode_t everyones = is_directory ? S_IROTH | S_IXOTH : S_IROTH;
        if ((status.st_mode & everyones) == everyones) {
            if (is_directory) walk(number, path / name, found);
            continue;
        }
        bool is_readable = ::faccessat(number, entry->d_name, is_directory ? X_OK : R_OK, AT_EACCESS) == 0;
        if (is_readable) found.hidden.push_back(path / name);
    }
    if (errno != 0) give_up_on(path, errno, found);
}

std::string change_stamp_of(const std::string& directory) {
    struct stat status;
    return ::stat(directory.c_str(), &status) == 0 ? stamp_text(status.st_ctim) : std::string();
}

struct Answer {
    time_t found = 0;
    std::vector<base::Path> hidden;
    std::vector<std::pair<std::string_view, std::string>> directories;  // with their stamps
};

// Lines: "T time" of the walk; "D stamp path" for each directory; "H path" for each finding.
std::optional<Answer> parse(std::string_view body) {
    Answer answer;
    for (std::string_view line : base::split(body, '\n')) {
        if (line.empty()) continue;
        std::string_view value = line.size() > 2 ? line.substr(2) : std::string_view();
        size_t blank = value.find(' ');
        if (line.starts_with("T ")) {
            auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), answer.found);
            if (error != std::errc() || end != value.data() + value.size()) return std::nullopt;
        } else if (line.starts_with("H ")) {
            base::Result<base::Path> path = base::Path::parse(value);
            if (!path) return std::nullopt;
            answer.hidden.push_back(*std::move(path));
        } else if (line.starts_with("D ") && blank != std::string_view::npos) {
            answer.directories.emplace_back(value.substr(0, blank), value.substr(blank + 1));
        } else {
            return std::nullopt;
        }
    }
    return answer;
}

std::optional<std::vector<base::Path>> recall(const base::Path& root, const std::string& kept_in) {
    std::optional<Findings> kept = kept_findings(kept_in, kTitle);
    std::optional<Answer> answer = kept ? parse(kept->body) : std::nullopt;
    time_t now = ::time(nullptr);
    if (!answer || !is_within(kLongestBelief, answer->found, now)) return std::nullopt;
    bool is_full_check = !is_within(kLongestTrust, kept->touched, now);
    std::set<std::string> looked_at = {root.str()};
    for (const base::Path& path : answer->hidden) looked_at.insert(path.parent().str());
    for (const auto& [stamp, directory] : answer->directories) {
        bool is_due = looked_at.erase(directory) > 0 || is_full_check;
        if (is_due && change_stamp_of(directory) != stamp) return std::nullopt;
    }
    if (!looked_at.empty()) return std::nullopt;
    if (is_full_check) touch_findings(kept_in);
    return std::move(answer->hidden);
}

void remember(const std::string& kept_in, const Found& found) {
    std::string body = "T " + std::to_string(found.began) + "\n";
    for (const auto& [stamp, directory] : found.directories) {
        // A name with a line break can't be written down: then there is nothing to recall.
        if (directory.str().find('\n') != std::string::npos) return;
        body += "D " + stamp + " " + directory.str() + "\n";
    }
    for (const base::Path& path : found.hidden) {
        if (path.str().find('\n') != std::string::npos) return;
        body += "H " + path.str() + "\n";
    }
    keep_findings(kept_in, kTitle, body);
}

}  // namespace

base::Result<std::vector<base::Path>> find_private_files(const base::Path& root, const std::string& kept_in) {
    if (std::optional<std::vector<base::Path>> known = recall(root, kept_in)) return *known;
    Found found;
    found.began = ::time(nullptr);
    walk(AT_FDCWD, root, found);
    if (found.problem) return *found.problem;
    remember(kept_in, found);
    return found.hidden;
}

}  // namespace host
