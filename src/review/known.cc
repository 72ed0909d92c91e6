// SPDX-License-Identifier: MIT
// The record is text: a line with the time of the review, then one line for each path, a part of its SHA-256.
// Not a weaker hash: the jail chooses names, and must not find one that counts as seen.
#include "review/known.h"

#include <algorithm>
#include <tuple>

#include "base/encoding/sha256.h"
#include "base/file.h"
#include "base/format.h"
#include "base/parse.h"
#include "base/text.h"
#include "review/walk.h"

namespace review {
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
