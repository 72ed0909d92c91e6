// SPDX-License-Identifier: MIT
#include "cli/mcp/inside.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/encoding/json.h"
#include "base/file.h"
#include "base/inside/jail_files.h"
#include "base/parse.h"
#include "base/process/own_process.h"
#include "base/result.h"
#include "base/text.h"
#include "mcp/framing.h"

namespace cli {
namespace {

using base::Json;
using Words = std::vector<std::string>;

constexpr size_t kCopyChunk = 64u << 10;
constexpr size_t kMostEntryBytes = 256u << 10;
constexpr unsigned kUsualMode = 0666, kModeBits = 0777;
constexpr std::string_view kSuffix = ".XXXXXX";

base::Status hold(const Words& /*words*/) {
    const std::string line = base::own_path(base::kOwnProgram) + "\n";
    if (base::Status said = base::write_all(STDOUT_FILENO, line); !said) return said;
    base::rest();
    std::array<char, 64> bytes;
    ssize_t got = 1;
    while (got > 0 || (got < 0 && errno == EINTR)) got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    return base::success();
}

// ---- read

std::string_view kind_of(unsigned char type) {
    switch (type) {
        case DT_REG:
            return "file";
        case DT_DIR:
            return "directory";
        case DT_LNK:
            return "link";
        default:
            return "other";
    }
}

base::Status print_directory(int directory, uint64_t offset, uint64_t length) {
    std::vector<std::pair<std::string, std::string_view>> found;
    bool is_complete = base::visit_entries(directory, [&](const struct dirent64& entry) {
        found.emplace_back(entry.d_name, kind_of(entry.d_type));
        return true;
    });
    if (!is_complete) return base::Error{.what = "not all entries could be read"};
    std::ranges::sort(found);
    Json entries = Json::array();
    size_t bytes = 0;
    for (size_t at = offset; at < found.size() && entries.items().size() < length; ++at) {
        bytes += found[at].first.size();
        if (bytes > kMostEntryBytes) break;
        entries.push(Json::object().set("name", found[at].first).set("kind", found[at].second));
    }
    Json head = Json::object().set("total", found.size()).set("entries", std::move(entries));
    return base::write_all(STDOUT_FILENO, head.dump(-1) + "\n");
}

// Files of /proc have no size, but a content.
base::Status print_file(int file, uint64_t offset, uint64_t length, uint64_t size) {
    std::string bytes(length, '\0');
    size_t count = 0;
    while (count < bytes.size()) {
        const ssize_t got =
            ::pread(file, bytes.data() + count, bytes.size() - count, static_cast<off_t>(offset + count));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return base::system_error("read it", errno);
        if (got == 0) break;
        count += static_cast<size_t>(got);
    }
    bytes.resize(count);
    const uint64_t total = count == 0 ? size : std::max<uint64_t>(size, offset + count);
    const Json head = Json::object().set("total", static_cast<int64_t>(total));
    return base::write_all(STDOUT_FILENO, head.dump(-1) + "\n" + bytes);
}

// Threat: a FIFO would block, and a device may act when it is opened or read.
base::Status read_path(const Words& words) {
    const auto offset = base::leading_number<uint64_t>(words[1]);
    const auto length = base::leading_number<uint64_t>(words[2]);
    if (!offset || !length || *offset > INT64_MAX - kCopyChunk || *length > kMostEntryBytes)
        return base::Error{.what = "the offset or length is not a number"};
    struct stat status;
    if (::stat(words[0].c_str(), &status) != 0) return base::system_error("read " + words[0], errno);
    bool is_readable = S_ISREG(status.st_mode) || S_ISDIR(status.st_mode);
    base::Fd file(is_readable ? ::open(words[0].c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1);
    if (is_readable && !file) return base::system_error("read " + words[0], errno);
    if (file && ::fstat(file.get(), &status) != 0) return base::system_error("read " + words[0], errno);
    if (file && S_ISDIR(status.st_mode)) return print_directory(file.get(), *offset, *length);
    if (file && S_ISREG(status.st_mode))
        return print_file(file.get(), *offset, *length, static_cast<uint64_t>(status.st_size));
    return base::Error{.what = base::format("{} is neither a file nor a directory", words[0]),
                       .advice = "'why' explains whether the jail covers it"};
}

// ---- write

// A link is followed as any process of the jail follows it. A new name stays as it is.
base::Result<std::string> target_of(const std::string& path) {
    char place[PATH_MAX];
    if (::realpath(path.c_str(), place) != nullptr) return std::string(place);
    struct stat status;
    const int number = errno;
    if (number == ENOENT && ::lstat(path.c_str(), &status) != 0 && errno == ENOENT) return path;
    return base::system_error("write " + path, number);
}

int rename_to_new(const std::string& from, const std::string& to) {
    if (::syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS) return errno;
    if (::link(from.c_str(), to.c_str()) != 0) return errno;
    ::unlink(from.c_str());
    return 0;
}

base::Status write_beside(const std::string& path, std::string_view content, bool is_new) {
    struct stat status;
    const bool is_there = ::stat(path.c_str(), &status) == 0;
    if (is_there && is_new) return base::system_error("write " + path, EEXIST);
    if (is_there && !S_ISREG(status.st_mode))
        return base::Error{.what = base::format("{} is not a file", path)};
    std::string temporary = path + std::string(kSuffix);
    base::Fd file(::mkostemp(temporary.data(), O_CLOEXEC));
    if (!file) return base::system_error("write beside " + path, errno);
    const mode_t mask = ::umask(0);
    const mode_t mode = is_there ? status.st_mode & kModeBits : kUsualMode & ~mask;
    base::Status written = base::write_all(file.get(), content);
    if (written && ::fchmod(file.get(), mode) != 0) written = base::system_error("write " + path, errno);
    if (written) {
        int number = is_new ? rename_to_new(temporary, path) : 0;
        if (!is_new && ::rename(temporary.c_str(), path.c_str()) != 0) number = errno;
        if (number != 0) written = base::system_error("write " + path, number);
    }
    if (!written) ::unlink(temporary.c_str());
    return written;
}

base::Status append_to(const std::string& path, std::string_view content) {
    base::Fd file(
        ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, kUsualMode));
    struct stat status;
    if (!file || ::fstat(file.get(), &status) != 0) return base::system_error("write " + path, errno);
    if (!S_ISREG(status.st_mode)) return base::Error{.what = base::format("{} is not a file", path)};
    return base::write_all(file.get(), content);
}

base::Status write_path(const Words& words) {
    base::Result<std::string> content = base::read_descriptor(STDIN_FILENO, mcp::kLongestLine);
    if (!content) return content.error();
    if (words[0] == "append") return append_to(words[1], *content);
    base::Result<std::string> target = target_of(words[1]);
    if (!target) return target.error();
    return write_beside(*target, *content, words[0] == "create");
}

// ---- keep

base::Status copy_input(int file) {
    std::string bytes(kCopyChunk, '\0');
    while (true) {
        const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return base::system_error("read the output", errno);
        if (got == 0) return base::success();
        base::Status written = base::write_all(file, {bytes.data(), static_cast<size_t>(got)});
        if (!written) return written;
    }
}

base::Status keep(const Words& /*words*/) {
    const char* place = std::getenv("TMPDIR");
    std::string path = base::format("{}/agent-sandbox-output{}", place && *place ? place : "/tmp", kSuffix);
    base::Fd file(::mkostemp(path.data(), O_CLOEXEC));
    if (!file) return base::system_error("make a file for the output in " + path, errno);
    if (base::Status copied = copy_input(file.get()); !copied) {
        ::unlink(path.c_str());
        return copied;
    }
    return base::write_all(STDOUT_FILENO, Json::object().set("path", path).dump(-1) + "\n");
}

struct Task {
    std::string_view name;
    size_t words;
    base::Status (*perform)(const Words&);
};
constexpr Task kTasks[] = {
    {"hold", 0, hold}, {"read", 3, read_path}, {"write", 2, write_path}, {"keep", 0, keep}};

}  // namespace

int run_mcp_inside(int argc, char** argv) {
    const Words words(argv + std::min(argc, 3), argv + argc);
    const Task* task = std::ranges::find(kTasks, argc > 2 ? argv[2] : "", &Task::name);
    if (task == std::end(kTasks) || words.size() != task->words)
        return static_cast<int>(base::ExitCode::usage);
    base::Status done = task->perform(words);
    if (done) return 0;
    std::fputs((base::printable(done.error().line()) + "\n").c_str(), stderr);
    return static_cast<int>(base::ExitCode::check_failed);
}

}  // namespace cli
