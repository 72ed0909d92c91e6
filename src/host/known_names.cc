// SPDX-License-Identifier: MIT
// Lines: "@since identity path" for a directory, then one for each name, which begins with a letter of
// kStoredKinds. The target of a link follows on its own line, after ">". Any other line makes the whole file
// invalid.
#include "host/known_names.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "base/file.h"
#include "base/parse.h"
#include "base/text.h"

namespace host {

// Lines: the title, the user and groups, the body, and a last line, because a truncated file would hide
// findings.

namespace {

constexpr std::string_view kLastLine = "end\n";
constexpr size_t kLargestFindings = 4u << 20;

// The groups decide what can be seen and written. Computed once, because a launch needs it several times.
const std::string& asker() {
    static const std::string kAsker = [] {
        gid_t groups[1024];
        int count = ::getgroups(1024, groups);
        std::string text = base::format("{}:{}", ::geteuid(), ::getegid());
        for (int i = 0; i < count; ++i) text += "," + std::to_string(groups[i]);
        return text;
    }();
    return kAsker;
}

std::string head_of(std::string_view title) {
    return base::format("{}\n{}\n", title, asker());
}

}  // namespace

std::optional<Findings> kept_findings(const std::string& file, std::string_view title) {
    base::Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat status;
    if (!fd || ::fstat(fd.get(), &status) != 0 || status.st_uid != ::geteuid()) return std::nullopt;
    base::Result<std::string> content = base::read_descriptor(fd.get(), kLargestFindings);
    if (!content) return std::nullopt;
    const std::string head = head_of(title);
    bool is_whole = content->starts_with(head) && content->ends_with("\n" + std::string(kLastLine)) &&
                    content->size() >= head.size() + kLastLine.size();
    if (!is_whole) return std::nullopt;
    return Findings{content->substr(head.size(), content->size() - head.size() - kLastLine.size())};
}

void keep_findings(const std::string& file, std::string_view title, std::string_view body) {
    if (!base::make_directories(file.substr(0, file.rfind('/')))) return;
    base::Status written =
        base::write_file_atomically(file, head_of(title) + std::string(body) + std::string(kLastLine));
    static_cast<void>(written);
}

bool is_within(time_t longest, time_t then, time_t now) {
    return then <= now && now - then <= longest;
}

std::string stamp_text(const struct timespec& time) {
    return base::format("{}.{}", time.tv_sec, time.tv_nsec);
}

namespace {

constexpr std::string_view kTitle = "agent-sandbox names of the system 1";
constexpr size_t kMostDirectories = 256;

struct StoredKind {
    char letter;
    Kind kind;
};
constexpr StoredKind kStoredKinds[] = {{'f', Kind::file},   {'d', Kind::directory}, {'l', Kind::symlink},
                                       {'s', Kind::socket}, {'c', Kind::device},    {'o', Kind::other}};
constexpr char kAbsent = '-';

char letter_of(const KnownNames::Answer& answer) {
    return answer ? std::ranges::find(kStoredKinds, answer->kind, &StoredKind::kind)->letter : kAbsent;
}

bool fits_a_line(std::string_view text) {
    return text.find('\n') == std::string_view::npos;
}

}  // namespace

std::string identity_of(const struct stat& directory) {
    return base::format("{}:{}:{}:{}", directory.st_dev, directory.st_ino, stamp_text(directory.st_ctim),
                        stamp_text(directory.st_mtim));
}

KnownNames KnownNames::recall(const std::string& file, time_t now) {
    KnownNames known;
    known.now_ = now;
    std::optional<Findings> kept = kept_findings(file, kTitle);
    if (kept && !known.read(kept->body)) known.directories_.clear();
    return known;
}

bool KnownNames::read(std::string_view body) {
    Directory outdated;
    Directory* directory = nullptr;
    Answer* last = nullptr;
    for (size_t end = 0; !body.empty(); body.remove_prefix(std::min(end + 1, body.size()))) {
        end = std::min(body.find('\n'), body.size());
        const std::string_view line = body.substr(0, end);
        if (line.empty()) continue;
        std::string_view rest = line.substr(1);
        if (line[0] == '@') {
            size_t first = rest.find(' ');
            size_t second = first == std::string_view::npos ? first : rest.find(' ', first + 1);
            if (second == std::string_view::npos) return false;
            const std::optional<time_t> since = base::parse_number<time_t>(rest.substr(0, first));
            base::Result<base::Path> path = base::Path::parse(rest.substr(second + 1));
            if (!since || !path) return false;
            Key key(*std::move(path), rest.substr(first + 1, second - first - 1));
            bool is_young = is_within(kLongestBelief, *since, now_);
            directory = is_young ? &directories_[std::move(key)] : &outdated;
            directory->since = *since;
            last = nullptr;
            continue;
        }
        if (line[0] == '>' && last != nullptr && *last && (*last)->kind == Kind::symlink) {
            (*last)->link = rest;
            continue;
        }
        const StoredKind* kind = std::ranges::find(kStoredKinds, line[0], &StoredKind::letter);
        bool is_name = kind != std::end(kStoredKinds) || line[0] == kAbsent;
        if (directory == nullptr || !is_name || rest.empty()) return false;
        // The file is sorted.
        last = &directory->names.try_emplace(directory->names.end(), std::string(rest))->second;
        if (kind != std::end(kStoredKinds)) *last = Glance{kind->kind, {}};
    }
    return true;
}

bool KnownNames::has(const base::Path& directory) const {
    auto next = directories_.lower_bound({directory, ""});
    return next != directories_.end() && next->first.first == directory;
}

const KnownNames::Names* KnownNames::names_of(const base::Path& directory,
                                              const std::string& identity) const {
    auto known = directories_.find({directory, identity});
    return known == directories_.end() ? nullptr : &known->second.names;
}

const KnownNames::Answer* KnownNames::find(const Names& names, std::string_view name) {
    auto answer = names.find(name);
    return answer == names.end() ? nullptr : &answer->second;
}

const KnownNames::Answer* KnownNames::find(const base::Path& directory, const std::string& identity,
                                           std::string_view name) const {
    const Names* names = names_of(directory, identity);
    return names == nullptr ? nullptr : find(*names, name);
}

void KnownNames::learn(const base::Path& directory, const std::string& identity, std::string_view name,
                       const Answer& answer) {
    bool can_be_written =
        fits_a_line(directory.str()) && fits_a_line(name) &&
        (!answer || (fits_a_line(answer->link) && answer->link.empty() == (answer->kind != Kind::symlink)));
    if (!can_be_written) return;
    auto [known, is_new] = directories_.try_emplace({directory, identity});
    if (is_new) known->second.since = now_;
    if (known->second.names.try_emplace(std::string(name), answer).second) has_news_ = true;
}

void KnownNames::keep(const std::string& file) const {
    if (!has_news_) return;
    bool is_crowded = directories_.size() > kMostDirectories;
    std::string body;
    for (const auto& [key, directory] : directories_) {
        if (is_crowded && directory.since != now_) continue;
        body += "@" + std::to_string(directory.since) + " " + key.second + " " + key.first.str() + "\n";
        for (const auto& [name, answer] : directory.names) {
            body += letter_of(answer) + name + "\n";
            if (answer && answer->kind == Kind::symlink) body += ">" + answer->link + "\n";
        }
    }
    keep_findings(file, kTitle, body);
}

}  // namespace host
