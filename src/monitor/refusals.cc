// SPDX-License-Identifier: MIT
#include "monitor/refusals.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/entries.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/text.h"

namespace monitor {
namespace {

constexpr std::string_view kEnding = ".jsonl";
constexpr off_t kTail = 64 << 10;  // some hundred lines

// STAMP-ID.jsonl is the first part, STAMP-ID.7.jsonl the seventh. Zero: not a part of this record.
unsigned part_number(std::string_view name, std::string_view stem) {
    if (!name.starts_with(stem) || !name.ends_with(kEnding)) return 0;
    if (name.size() == stem.size() + kEnding.size()) return 1;
    if (name.size() < stem.size() + kEnding.size() + 2 || name[stem.size()] != '.') return 0;
    std::string_view digits = name.substr(stem.size() + 1, name.size() - stem.size() - 1 - kEnding.size());
    return base::parse_number<unsigned>(digits).value_or(0);
}

base::Fd open_newest_part(const std::string& record) {
    size_t slash = record.rfind('/');
    if (slash == std::string::npos || !record.ends_with(kEnding)) return {};
    base::Fd directory(::open(record.substr(0, slash).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory) return {};
    std::string stem = record.substr(slash + 1, record.size() - slash - 1 - kEnding.size());
    std::string newest;
    unsigned highest = 0;
    base::visit_entries(directory.get(), [&](const struct dirent64& entry) {
        unsigned number = part_number(entry.d_name, stem);
        if (number > highest) {
            highest = number;
            newest = entry.d_name;
        }
        return true;
    });
    if (newest.empty()) return {};
    base::Fd file(
        ::openat(directory.get(), newest.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    struct stat status;
    bool is_file = file && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode);
    return is_file ? std::move(file) : base::Fd();
}

// The last complete lines.
std::string tail_of(int file) {
    struct stat status;
    if (::fstat(file, &status) != 0) return {};
    off_t from = std::max<off_t>(status.st_size - kTail, 0);
    std::string text(static_cast<size_t>(std::min<off_t>(status.st_size, kTail)), '\0');
    ssize_t got = ::pread(file, text.data(), text.size(), from);
    text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (from > 0) text.erase(0, text.find('\n') == std::string::npos ? text.size() : text.find('\n') + 1);
    return text;
}

}  // namespace

std::vector<base::Json> recent_refusals(const std::string& record, size_t most) {
    std::vector<base::Json> refusals;
    base::Fd file = open_newest_part(record);
    if (!file) return refusals;
    std::string text = tail_of(file.get());
    std::vector<std::string_view> lines = base::split(text, '\n');
    for (auto line = lines.rbegin(); line != lines.rend() && refusals.size() < most; ++line) {
        // Most lines are about allowed connections: do not parse them.
        if (line->find("\"deny\"") == std::string_view::npos) continue;
        base::Result<base::Json> event = base::Json::parse(*line);
        // The answer to a question is followed by a separate line for the refusal.
        bool is_refusal = event && event->text("verdict") == "deny" && event->text("kind") != "answer";
        if (is_refusal) refusals.push_back(*std::move(event));
    }
    return refusals;
}

}  // namespace monitor
