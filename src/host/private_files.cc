// SPDX-License-Identifier: MIT
#include "host/private_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/encoding/codec.h"
#include "base/encoding/sha256.h"
#include "base/file.h"
#include "base/text.h"

template <>
inline constexpr auto base::kFields<host::PrivateFilesWalk::State> =
    std::tuple(&host::PrivateFilesWalk::State::found, &host::PrivateFilesWalk::State::pending);

namespace host {
namespace {

constexpr int kOpenDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
constexpr std::string_view kListTitle = "agent-sandbox private files 2";

bool is_everyones(const struct stat& status) {
    mode_t wanted = S_ISDIR(status.st_mode) ? S_IROTH | S_IXOTH : S_IROTH;
    return (status.st_mode & wanted) == wanted;
}

}  // namespace

// Threat: what was not looked at is shown (tests/admin/resource_faults.bats).
void PrivateFilesWalk::give_up_on(const base::Path& path, int number) {
    if (base::is_closed_or_gone(number) || problem_) return;
    problem_ = base::system_error("look for private files in " + path.str(), number);
}

void PrivateFilesWalk::look_at(int directory, const base::Path& path, const char* name) {
    struct stat status;
    if (::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return;
    bool is_directory = S_ISDIR(status.st_mode);
    if (is_everyones(status)) {
        if (is_directory) state_.pending.push_back(path / name);
    } else if (::faccessat(directory, name, is_directory ? X_OK : R_OK, AT_EACCESS) == 0) {
        state_.found.push_back(path / name);
    }
}

void PrivateFilesWalk::look_into_next() {
    const base::Path path = std::move(state_.pending.back());
    state_.pending.pop_back();
    base::Fd directory(::open(path.c_str(), kOpenDirectory));
    if (!directory) return give_up_on(path, errno);
    errno = 0;
    bool is_read = base::visit_entries(directory.get(), [&](const struct dirent64& entry) {
        if (entry.d_type != DT_LNK) look_at(directory.get(), path, entry.d_name);
        return true;
    });
    if (!is_read) give_up_on(path, errno);
}

base::Result<std::vector<base::Path>> PrivateFilesWalk::finish() {
    while (!is_over()) look_into_next();
    if (problem_) return *problem_;
    std::ranges::sort(state_.found);
    return state_.found;
}

std::string PrivateFilesWalk::encode() const {
    return problem_ ? std::string() : base::encode_message(kListTitle, state_);
}

std::optional<PrivateFilesWalk> PrivateFilesWalk::decode(std::string_view text) {
    State state;
    if (base::decode_message(kListTitle, text, state) != base::Decoded::well) return std::nullopt;
    return PrivateFilesWalk(std::move(state));
}

base::Result<std::vector<base::Path>> find_private_files(const base::Path& root) {
    return PrivateFilesWalk(root).finish();
}

// Nodes of a cluster share a home directory, and each has its own /etc.
static std::string list_of_this_machine(const std::string& state_directory) {
    struct utsname machine = {};
    ::uname(&machine);
    return base::format("{}/private-files/{}", state_directory,
                        base::sha256(std::string_view(machine.nodename)).substr(0, 16));
}

std::optional<std::vector<base::Path>> recall_private_files(const std::string& state_directory) {
    base::Result<std::string> text = base::read_file(list_of_this_machine(state_directory));
    PrivateFilesWalk::State kept;
    bool is_whole = text && base::decode_message(kListTitle, *text, kept) == base::Decoded::well;
    return is_whole ? std::optional(std::move(kept.found)) : std::nullopt;
}

void keep_private_files(const std::string& state_directory, const std::vector<base::Path>& found) {
    // Without the file the next launch waits for its search.
    if (base::make_directories(state_directory + "/private-files"))
        (void)base::write_file_atomically(
            list_of_this_machine(state_directory),
            base::encode_message(kListTitle, PrivateFilesWalk::State{found, {}}));
}

}  // namespace host
