// SPDX-License-Identifier: MIT
#include "host/private_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <ctime>
#include <memory>
#include <optional>

#include "base/file.h"
#include "base/text.h"

namespace host {
namespace {

constexpr std::string_view kVersion = "agent-sandbox private files 1";
constexpr std::string_view kLastLine = "end";
constexpr time_t kLongestUse = 3600;

struct Findings {
    std::vector<base::Path> directories;  // all that were read, to notice changes
    std::vector<base::Path> hidden;
};

struct CloseDirectory {
    void operator()(DIR* directory) const { ::closedir(directory); }
};

std::string change_stamp(const struct stat& status) {
    return std::to_string(status.st_ctim.tv_sec) + "." + std::to_string(status.st_ctim.tv_nsec);
}

void walk(int parent, const base::Path& path, Findings& findings) {
    base::Fd fd(::openat(parent, parent == AT_FDCWD ? path.c_str() : std::string(path.name()).c_str(),
                         O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (!fd) return;
    int number = fd.get();
    std::unique_ptr<DIR, CloseDirectory> directory(::fdopendir(fd.release()));
    if (!directory) return;
    findings.directories.push_back(path);
    while (const dirent* entry = ::readdir(directory.get())) {
        std::string_view name = entry->d_name;
        if (name == "." || name == ".." || entry->d_type == DT_LNK) continue;
        struct stat status;
        if (::fstatat(number, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
        bool is_directory = S_ISDIR(status.st_mode);
        mode_t everyones = is_directory ? S_IROTH | S_IXOTH : S_IROTH;
        if ((status.st_mode & everyones) == everyones) {
            if (is_directory) walk(number, path / name, findings);
            continue;
        }
        bool is_readable = ::faccessat(number, entry->d_name, is_directory ? X_OK : R_OK, AT_EACCESS) == 0;
        if (is_readable) findings.hidden.push_back(path / name);
    }
}

// Who asks: the groups decide what is readable.
std::string asker() {
    gid_t groups[1024];
    int count = ::getgroups(1024, groups);
    std::string text = std::to_string(::geteuid()) + ":" + std::to_string(::getegid());
    for (int i = 0; i < count; ++i) text += "," + std::to_string(groups[i]);
    return text;
}

// Lines: version, asker; "D stamp path" for each directory; "H path" for each finding; a last line, because a
// file that lost its end would show what it should hide.
std::optional<std::vector<base::Path>> recall(const std::string& cache_file, const std::string& who) {
    base::Fd file(::open(cache_file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat status;
    if (!file || ::fstat(file.get(), &status) != 0 || status.st_uid != ::geteuid()) return std::nullopt;
    time_t age = ::time(nullptr) - status.st_mtim.tv_sec;
    if (age < 0 || age > kLongestUse) return std::nullopt;
    base::Result<std::string> content = base::read_descriptor(file.get(), 4u << 20);
    if (!content) return std::nullopt;
    std::vector<std::string_view> lines = base::split(*content, '\n');
    if (lines.size() < 4 || lines[0] != kVersion || lines[1] != who) return std::nullopt;
    if (!lines.back().empty() || lines[lines.size() - 2] != kLastLine) return std::nullopt;
    std::vector<base::Path> hidden;
    for (size_t i = 2; i + 2 < lines.size(); ++i) {
        std::string_view line = lines[i];
        if (line.starts_with("H ")) {
            base::Result<base::Path> path = base::Path::parse(line.substr(2));
            if (!path) return std::nullopt;
            hidden.push_back(*std::move(path));
            continue;
        }
        size_t blank = line.find(' ', 2);
        if (!line.starts_with("D ") || blank == std::string_view::npos) return std::nullopt;
        struct stat now;
        if (::stat(std::string(line.substr(blank + 1)).c_str(), &now) != 0) return std::nullopt;
        if (change_stamp(now) != line.substr(2, blank - 2)) return std::nullopt;
    }
    return hidden;
}

void remember(const std::string& cache_file, const std::string& who, const Findings& findings) {
    std::string content = std::string(kVersion) + "\n" + who + "\n";
    for (const base::Path& directory : findings.directories) {
        struct stat status;
        // A name with a line break can't be written down: then there is nothing to recall.
        if (directory.str().find('\n') != std::string::npos || ::stat(directory.c_str(), &status) != 0)
            return;
        content += "D " + change_stamp(status) + " " + directory.str() + "\n";
    }
    for (const base::Path& path : findings.hidden) {
        if (path.str().find('\n') != std::string::npos) return;
        content += "H " + path.str() + "\n";
    }
    content += std::string(kLastLine) + "\n";
    if (!base::make_directories(cache_file.substr(0, cache_file.rfind('/')))) return;
    base::Status written = base::write_file_atomically(cache_file, content);
    static_cast<void>(written);  // without a cache the next launch looks again
}

}  // namespace

std::vector<base::Path> find_private_files(const base::Path& root, const std::string& cache_file) {
    const std::string who = asker();
    if (std::optional<std::vector<base::Path>> known = recall(cache_file, who)) return *known;
    Findings findings;
    walk(AT_FDCWD, root, findings);
    remember(cache_file, who, findings);
    return findings.hidden;
}

}  // namespace host
