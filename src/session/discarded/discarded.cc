// SPDX-License-Identifier: MIT
#include "session/discarded/discarded.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>

#include "base/encoding/codec.h"
#include "base/file.h"
#include "base/no_links.h"

template <>
inline constexpr auto base::kFields<session::DiscardedPath> =
    std::tuple(&session::DiscardedPath::path, &session::DiscardedPath::files, &session::DiscardedPath::bytes,
               &session::DiscardedPath::is_counted, &session::DiscardedPath::is_stored,
               &session::DiscardedPath::unreadable, &session::DiscardedPath::obstacle);

template <>
inline constexpr auto base::kFields<session::Discarded> =
    std::tuple(&session::Discarded::session, &session::Discarded::project, &session::Discarded::home,
               &session::Discarded::ended, &session::Discarded::paths, &session::Discarded::is_complete);

namespace session {
namespace {

constexpr std::string_view kVersion = "agent-sandbox discarded 1";

std::string store_of(const std::string& state_directory) {
    return state_directory + "/discarded";
}

std::string about_of(const std::string& directory) {
    return directory + "/about";
}

// The directories of sessions, with the time of their last change.
struct KeptDirectory {
    std::string directory;
    std::time_t changed = 0;
};

std::vector<KeptDirectory> directories_in(const std::string& place) {
    std::vector<KeptDirectory> found;
    base::Fd opened(::open(place.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!opened) return found;
    base::visit_entries(opened.get(), [&](const struct dirent64& entry) {
        struct stat status;
        bool is_directory = ::fstatat(opened.get(), entry.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                            S_ISDIR(status.st_mode);
        if (is_directory) found.push_back({place + "/" + entry.d_name, status.st_mtim.tv_sec});
        return true;
    });
    return found;
}

std::optional<Discarded> read_about(const std::string& directory) {
    base::Result<std::string> text = base::read_file(about_of(directory));
    Discarded discarded;
    if (!text || base::decode_message(kVersion, *text, discarded) != base::Decoded::well) return std::nullopt;
    return discarded;
}

uint64_t stored_bytes(const Discarded& discarded) {
    return std::accumulate(
        discarded.paths.begin(), discarded.paths.end(), uint64_t{0},
        [](uint64_t sum, const DiscardedPath& one) { return one.is_stored ? sum + one.bytes : sum; });
}

}  // namespace

std::string stored_home(const std::string& state_directory, const std::string& session) {
    return store_of(state_directory) + "/" + session + "/home";
}

base::Status write_about(const std::string& state_directory, const Discarded& discarded) {
    const std::string directory = store_of(state_directory) + "/" + discarded.session;
    if (base::Status made = base::make_directories(directory); !made) return made;
    return base::write_file_atomically(about_of(directory), base::encode_message(kVersion, discarded));
}

std::optional<Discarded> stored_by(const std::string& state_directory, const std::string& session) {
    return read_about(store_of(state_directory) + "/" + session);
}

std::vector<Discarded> read_discarded(const std::string& state_directory, std::time_t now) {
    remove_old_discarded(state_directory, now);
    std::vector<Discarded> all;
    for (const KeptDirectory& found : directories_in(store_of(state_directory))) {
        std::optional<Discarded> discarded = read_about(found.directory);
        if (discarded && discarded->until() > now) all.push_back(*std::move(discarded));
    }
    std::ranges::stable_sort(all, std::ranges::greater(), &Discarded::ended);
    return all;
}

void remove_old_discarded(const std::string& state_directory, std::time_t now) {
    for (const KeptDirectory& found : directories_in(store_of(state_directory))) {
        // Writing `about` is the last change of the directory. A clock that was set back keeps nothing for
        // ever.
        bool is_recent = found.changed + kDiscardedStay > now && found.changed <= now + kDiscardedStay;
        if (is_recent) continue;
        // First: the removal changes the directory, and another process would take it for a new one.
        ::unlink(about_of(found.directory).c_str());
        base::remove_tree(found.directory);
    }
}

void limit_discarded(const std::string& state_directory, uint64_t bytes) {
    std::vector<KeptDirectory> all = directories_in(store_of(state_directory));
    std::ranges::stable_sort(all, std::ranges::greater(), &KeptDirectory::changed);
    uint64_t sum = 0;
    for (const KeptDirectory& found : all) {
        std::optional<Discarded> discarded = read_about(found.directory);
        if (!discarded) continue;  // another session stores its files at this moment
        sum += stored_bytes(*discarded);
        if (sum > bytes) base::remove_tree(found.directory);
    }
}

}  // namespace session
