// SPDX-License-Identifier: MIT
// Theory of operation. Depth first, with one open descriptor for each directory from the start to the current
// one, and none for their siblings. The depth is bounded (plan/project/project_search.h). A directory is
// watched before it is read, so that a name that appears meanwhile is either read or reported by the watch.
// Each entry is opened relative to its directory and never by a path, until it has to be covered.
#include "session/search/project_walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <optional>
#include <string>
#include <vector>

#include "base/path.h"
#include "base/text.h"
#include "plan/project/project_search.h"

namespace session {
namespace {

// Resolves a symbolic link of the project, as long as it stays in the project.

constexpr int kMostLinks = 40;

std::string text_of_link(const base::Path& path) {
    char text[PATH_MAX];
    ssize_t length = ::readlink(path.c_str(), text, sizeof text);
    return length > 0 ? std::string(text, static_cast<size_t>(length)) : std::string();
}

// The result contains no link. Nothing if the link leads out of the project or to a missing file.
std::optional<base::Path> end_of_link(const base::Path& project, const base::Path& link) {
    base::Path place = project;
    std::string rest(link.relative_to(project));
    for (int followed = 0; !rest.empty();) {
        size_t slash = rest.find('/');
        std::string component = rest.substr(0, slash);
        rest = slash == std::string::npos ? std::string() : rest.substr(slash + 1);
        place = place / component;
        if (!place.is_within(project)) return std::nullopt;
        const std::string text = text_of_link(place);
        if (text.empty()) continue;
        if (++followed > kMostLinks) return std::nullopt;
        base::Path target = text.front() == '/' ? base::Path() / text : place.parent() / text;
        if (!target.is_within(project)) return std::nullopt;
        rest = std::string(target.relative_to(project)) + (rest.empty() ? "" : "/" + rest);
        place = project;
    }
    if (place == project || ::access(place.c_str(), F_OK) != 0) return std::nullopt;
    return place;
}

using backends::Cover;
using plan::TreeKind;

// Most mounts of the guard; the kernel permits 100,000 in a namespace (fs.mount-max).
constexpr size_t kMostMounts = 20'000;

unsigned char type_of(int directory, const char* name, unsigned char told) {
    if (told != DT_UNKNOWN) return told;
    struct stat status;
    if (::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return DT_UNKNOWN;
    return static_cast<unsigned char>(IFTODT(status.st_mode));
}

}  // namespace

ProjectWalk::ProjectWalk(const plan::Plan& plan, JailMounts& mounts, NameWatch& watch,
                         SearchProgress& progress)
    : plan_(plan), mounts_(mounts), watch_(watch), progress_(progress) {
    for (const policy::Items* items : {&plan.search.mask, &plan.search.unmask}) {
        for (const config::Item& item : *items)
            has_path_entries_ = has_path_entries_ || item.text.find('/') != std::string::npos;
    }
    for (const std::string& place : plan.search.findings) note(plan.project / place);
}

void ProjectWalk::start() {
    main_ = {};
    outputs_.clear();
    is_among_outputs_ = false;
    begin(main_, plan_.project, false);
}

bool ProjectWalk::step() {
    bool has_news = !news_.levels.empty() || !appeared_.empty();
    bool has_rest = !main_.levels.empty() || !outputs_.empty();
    is_turn_of_news_ = has_news && (!has_rest || !is_turn_of_news_);
    if (is_turn_of_news_) {
        if (!news_.levels.empty()) {
            step(news_);
        } else {
            const base::Path directory = std::move(appeared_.back());
            appeared_.pop_back();
            begin(news_, directory, false);
        }
    } else if (!main_.levels.empty()) {
        step(main_);
    } else if (!outputs_.empty()) {
        is_among_outputs_ = true;
        const base::Path directory = std::move(outputs_.back());
        outputs_.pop_back();
        begin(main_, directory, true);
    }
    return has_news || has_rest;
}

void ProjectWalk::begin(Way& way, const base::Path& directory, bool is_output) {
    way.path = directory.parent().is_root() ? "" : directory.parent().str();
    push(way, mounts_.open_directory(directory), directory.name(), is_output);
}

void ProjectWalk::push(Way& way, base::Fd directory, std::string_view name, bool is_output) {
    if (!directory) return;
    const size_t before = way.path.size();
    way.path.append("/").append(name);
    if (!is_output) watch_.add(directory.get(), base::Path::known(way.path));
    way.levels.push_back({.directory = std::move(directory), .path_size = before, .is_output = is_output});
}

void ProjectWalk::Way::pop() {
    path.resize(levels.back().path_size);
    levels.pop_back();
}

void ProjectWalk::step(Way& way) {
    const Level& level = way.levels.back();
    if (!level.is_read) {
        read_more(way);
    } else if (!level.pending.empty()) {
        enter_next(way);
    } else {
        way.pop();
    }
}

void ProjectWalk::read_more(Way& way) {
    Level& level = way.levels.back();
    alignas(struct dirent64) char bytes[32768];
    ssize_t got = ::getdents64(level.directory.get(), bytes, sizeof bytes);
    if (got <= 0) {
        level.is_read = true;
        return;
    }
    uint64_t count = 0;
    for (ssize_t at = 0; at < got; ++count) {
        const auto* entry = reinterpret_cast<const struct dirent64*>(bytes + at);
        at += entry->d_reclen;
        std::string_view name = entry->d_name;
        if (name != "." && name != "..") see(way, entry->d_name, entry->d_type);
    }
    progress_.count_entries(count);
}

void ProjectWalk::enter_next(Way& way) {
    Level& level = way.levels.back();
    size_t start =
        level.pending.size() < 2 ? std::string::npos : level.pending.rfind('\0', level.pending.size() - 2);
    start = start == std::string::npos ? 0 : start + 1;
    const std::string name = level.pending.substr(start, level.pending.size() - 1 - start);
    level.pending.resize(start);
    constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    push(way, base::Fd(::openat(level.directory.get(), name.c_str(), kFlags)), name, level.is_output);
}

void ProjectWalk::see(Way& way, const char* name, unsigned char told) {
    Level& level = way.levels.back();
    const TreeKind kind = plan::kind_of_tree(name);
    if (kind == TreeKind::packages) return;
    if (kind == TreeKind::git) {
        if (!level.is_output && way.path != plan_.project.str())
            protect_repository(base::Path::known(way.path) / name, level.directory.get());
        return;
    }
    if (is_masked(way.path, name)) {
        const unsigned char type = type_of(level.directory.get(), name, told);
        return mask(base::Path::known(way.path) / name, type == DT_LNK, &way == &news_);
    }
    if (told != DT_DIR && told != DT_UNKNOWN) return;
    if (type_of(level.directory.get(), name, told) != DT_DIR) return;
    if (kind == TreeKind::output && !level.is_output) {
        outputs_.push_back(base::Path::known(way.path) / name);
        return;
    }
    bool is_too_deep = way.levels.size() >= plan::kDeepestSearched ||
                       way.path.size() + std::string_view(name).size() >= plan::kLongestSearched;
    if (is_too_deep) return close_deep(base::Path::known(way.path) / name);
    level.pending.append(name).push_back('\0');
}

bool ProjectWalk::is_masked(std::string_view directory, std::string_view name) const {
    std::string relative;
    if (has_path_entries_) {
        relative = directory.substr(std::min(directory.size(), plan_.project.str().size() + 1));
        relative.append(relative.empty() ? "" : "/").append(name);
    }
    return plan::masking_entry(plan_.search.mask, plan_.search.unmask, relative, name) != nullptr;
}

void ProjectWalk::mask(const base::Path& path, bool is_link, bool is_new) {
    std::optional<base::Path> place = path;
    if (is_link) place = end_of_link(plan_.project, path);
    if (!place) return;
    bool was_found = found_.contains(place->relative_to(plan_.project));
    note(path);
    if (is_link) note(*place);
    if (mounts_.is_covered_at_launch(place->str())) return;
    SearchProgress::Kind told = is_new ? SearchProgress::Kind::appeared : SearchProgress::Kind::masked;
    if (was_found && is_new) told = SearchProgress::Kind::replaced;
    cover(*place, Cover::Kind::nothing, told);
}

// A repository that the session itself makes, by `git clone`, stays writable: it is younger than the session.
void ProjectWalk::protect_repository(const base::Path& git, int directory) {
    bool is_new = !is_older_than_session(directory, ".git");
    if (is_new || !plan_.project_is_writable || plan_.is_layered) return;
    note(git);
    cover(git, Cover::Kind::readonly, SearchProgress::Kind::repository);
}

bool ProjectWalk::is_older_than_session(int directory, const char* name) const {
    struct statx status = {};
    if (::statx(directory, name, AT_SYMLINK_NOFOLLOW, STATX_BTIME, &status) != 0) return true;
    bool is_told = (status.stx_mask & STATX_BTIME) != 0;
    const struct timespec began = progress_.began_at();
    return !is_told || status.stx_btime.tv_sec < began.tv_sec ||
           (status.stx_btime.tv_sec == began.tv_sec && status.stx_btime.tv_nsec < began.tv_nsec);
}

void ProjectWalk::close_deep(const base::Path& directory) {
    cover(directory, Cover::Kind::nothing, SearchProgress::Kind::closed);
}

void ProjectWalk::cover(const base::Path& path, Cover::Kind kind, SearchProgress::Kind told) {
    std::string_view relative = path.relative_to(plan_.project);
    const base::Path top = plan_.project / relative.substr(0, relative.find('/'));
    if (closed_.contains(top)) return;
    JailMounts::Outcome outcome = JailMounts::Outcome::failed;
    const size_t killed = mounts_.killed();
    if (mounts_.laid() < kMostMounts) outcome = mounts_.cover(path, kind, plan_.project);
    for (size_t i = killed; i < mounts_.killed(); ++i) progress_.add(SearchProgress::Kind::held, path);
    if (outcome == JailMounts::Outcome::laid) progress_.add(told, path);
    if (outcome != JailMounts::Outcome::failed) return;
    // Too many mounts, or a file that can't be a mount point: close its whole top directory below the
    // project.
    bool is_closed = top != path && mounts_.close(top, kind) == JailMounts::Outcome::laid;
    if (is_closed) closed_.insert(top);
    progress_.add(is_closed ? SearchProgress::Kind::closed : SearchProgress::Kind::open,
                  is_closed ? top : path);
}

void ProjectWalk::note(const base::Path& path) {
    std::string_view relative = path.relative_to(plan_.project);
    if (!found_.emplace(relative).second) return;
    order_.emplace_back(relative);
    progress_.count_found(found_.size());
}

std::vector<std::string> ProjectWalk::findings() const {
    return order_;
}

void ProjectWalk::hear(const NameWatch::News& news) {
    if (!news.directory.is_within(plan_.project)) return;
    const TreeKind kind = plan::kind_of_tree(news.name);
    if (kind == TreeKind::packages || kind == TreeKind::git) return;
    const base::Path path = news.directory / news.name;
    if (is_masked(news.directory.str(), news.name)) {
        char text[1];
        bool is_link = ::readlink(path.c_str(), text, sizeof text) > 0;
        return mask(path, is_link, true);
    }
    if (news.is_directory && kind == TreeKind::ordinary) appeared_.push_back(path);
}

}  // namespace session
