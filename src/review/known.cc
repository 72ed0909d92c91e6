// SPDX-License-Identifier: MIT
// The record is text: a line with the time of the review, then one line for each path, a part of its SHA-256.
// Not a weaker hash: the jail chooses names, and must not find one that counts as seen.
#include "review/known.h"

#include <tuple>

#include "base/encoding/sha256.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/text.h"
#include "review/walk.h"

namespace review {
namespace {

constexpr size_t kDigits = 20;
constexpr size_t kLargest = 64u << 20;

std::string digest_of(const base::Path& path) {
    return base::sha256(path.str()).substr(0, kDigits);
}

}  // namespace

Known::Known(std::string file, const timespec& started) : file_(std::move(file)), started_(started) {
    if (file_.empty()) return;
    base::Result<std::string> text = base::read_file(file_, kLargest);
    if (!text) return;
    std::string_view rest = *text;
    std::string_view head = rest.substr(0, rest.find('\n'));
    size_t dot = head.find('.');
    if (dot == head.npos) return;
    auto seconds = base::parse_number<time_t>(head.substr(0, dot));
    auto nanoseconds = base::parse_number<long>(head.substr(dot + 1));
    if (!seconds || !nanoseconds) return;
    reviewed_ = {.tv_sec = *seconds, .tv_nsec = *nanoseconds};
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
    const timespec& changed = status.st_ctim;
    bool is_older =
        std::tie(changed.tv_sec, changed.tv_nsec) <= std::tie(reviewed_.tv_sec, reviewed_.tv_nsec);
    return has_record_ && is_older && !before_.contains(digest);
}

void Known::save(bool is_complete) const {
    if (file_.empty()) return;
    std::string text;
    if (is_complete) {
        // The exact clock: file systems may stamp a file with it (multigrain timestamps, Linux 6.13).
        timespec now = {};
        ::clock_gettime(CLOCK_REALTIME, &now);
        text = std::to_string(now.tv_sec) + "." + std::to_string(now.tv_nsec) + "\n";
        for (const std::string& digest : now_) text += digest + "\n";
    }
    // Without the record the next review uses only times, as the first one does.
    base::Status made = base::make_directories(file_.substr(0, file_.rfind('/')));
    if (made) (void)base::write_file_atomically(file_, text);
}

}  // namespace review
