// SPDX-License-Identifier: MIT
#include "session/guard/cover_guard.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "backends/covers.h"
#include "base/encoding/codec.h"
#include "base/file.h"
#include "base/no_links.h"
#include "base/text.h"
#include "plan/backend.h"
#include "plan/project/git.h"

namespace session {
namespace {

constexpr size_t kLargeConfiguration = 1u << 20;

std::set<std::pair<std::string, std::string>> orders_in(const base::Path& path) {
    std::set<std::pair<std::string, std::string>> settings;
    base::Fd file(base::open_without_links(path, O_RDONLY | O_NONBLOCK));
    if (!file) return settings;
    base::Result<std::string> text = base::read_descriptor(file.get(), kLargeConfiguration);
    if (!text) return settings;
    for (plan::GitSetting& setting : plan::parse_git_config(*text)) {
        if (plan::program_row(setting) != nullptr)
            settings.emplace(std::move(setting.key), std::move(setting.value));
    }
    return settings;
}

}  // namespace

bool is_git_configuration(const base::Path& path) {
    return path.name() == "config" || path.name() == "config.worktree";
}

void GitProgramSettings::read(const std::vector<backends::Cover>& covers) {
    for (const backends::Cover& cover : covers) {
        if (cover.kind == backends::Cover::Kind::readonly && is_git_configuration(cover.outside))
            known_.emplace(cover.outside, orders_in(cover.outside));
    }
}

std::vector<std::string> GitProgramSettings::take_new(const base::Path& path) {
    std::vector<std::string> keys;
    auto known = known_.find(path);
    if (known == known_.end()) return keys;
    Settings now = orders_in(path);
    for (const auto& setting : now) {
        bool is_new = !known->second.contains(setting);
        if (is_new && std::ranges::find(keys, setting.first) == keys.end()) keys.push_back(setting.first);
    }
    known->second = std::move(now);
    return keys;
}

namespace {

constexpr uint32_t kWatched = IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM | IN_ONLYDIR;

}  // namespace

CoverWatch::CoverWatch(const plan::Plan& plan) {
    if (!plan::traits_of(plan.backend).has_namespaces) return;
    covers_ = backends::covers_of(plan);
    const base::Path head = plan.project / plan::kBareHead;
    bool is_new = std::ranges::any_of(plan.unheld_names, [&](const plan::UnheldName& name) {
        return name.path == head && name.first_missing;
    });
    if (is_new) head_ = head;
    list_names();
    if (!covers_.empty()) watch_again();
}

void CoverWatch::list_names() {
    names_.clear();
    for (const backends::Cover& cover : covers_) names_[cover.outside.parent()].emplace(cover.outside.name());
    if (head_) names_[head_->parent()].emplace(head_->name());
}

void CoverWatch::set_mount_namespace(base::Fd mount_namespace) {
    if (!covers_.empty()) mount_namespace_ = std::move(mount_namespace);
}

void CoverWatch::forget(const base::Path& path) {
    std::erase_if(covers_, [&](const backends::Cover& cover) { return cover.outside.is_within(path); });
    list_names();
}

void CoverWatch::watch_again() {
    watched_.clear();
    renamed_.clear();
    if (!events_) events_ = base::Fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    sees_all_ = static_cast<bool>(events_);
    for (const auto& [directory, names] : names_) {
        bool has_configuration = std::ranges::any_of(
            names, [&](const std::string& name) { return is_git_configuration(directory / name); });
        // For a directory that is watched already, inotify returns the same number again.
        int number = ::inotify_add_watch(events_.get(), directory.c_str(),
                                         has_configuration ? kWatched | IN_MODIFY : kWatched);
        if (number >= 0) watched_.insert_or_assign(number, directory);
        // If the user can't list a directory, only other users can replace entries there: do not poll it.
        bool is_elsewhere = number < 0 && (errno == ENOENT || errno == ENOTDIR || errno == EACCES);
        sees_all_ = sees_all_ && (number >= 0 || is_elsewhere);
    }
}

CoverWatch::News CoverWatch::take() {
    alignas(struct inotify_event) char bytes[16384];
    News news;
    // More than the kernel's queue holds. Threat: a jail makes names faster than this loop reads them
    // (tests/jail/floods.bats).
    constexpr int kMostReads = 64;
    for (int reads = 0; reads < kMostReads; ++reads) {
        const ssize_t got = ::read(events_.get(), bytes, sizeof bytes);
        if (got <= 0) break;
        for (ssize_t at = 0; at < got;) {
            const auto* event = reinterpret_cast<const struct inotify_event*>(bytes + at);
            at += static_cast<ssize_t>(sizeof *event + event->len);
            auto directory = watched_.find(event->wd);
            bool is_lost = (event->mask & (IN_Q_OVERFLOW | IN_IGNORED)) != 0;
            // Threat: so many events that the one about HEAD is lost.
            has_new_head_ = has_new_head_ || is_lost;
            bool is_named = directory != watched_.end() && event->len > 0 &&
                            names_[directory->second].contains(std::string_view(event->name));
            bool is_removal = (event->mask & (IN_DELETE | IN_MOVED_FROM)) != 0;
            bool is_head = is_named && head_ && directory->second / event->name == *head_;
            if (is_head) {
                has_new_head_ = has_new_head_ || (event->mask & (IN_CREATE | IN_MOVED_TO)) != 0;
                continue;
            }
            if (is_named) note_writing(directory->second / event->name, event->mask, news);
            is_named = is_named && (event->mask & IN_MODIFY) == 0;
            news.is_concerned = news.is_concerned || is_lost || is_named;
            news.is_removed = news.is_removed || is_lost || (is_named && is_removal);
        }
    }
    return news;
}

void CoverWatch::note_writing(const base::Path& path, uint32_t event, News& news) {
    if (!is_git_configuration(path)) return;
    if ((event & IN_MOVED_TO) != 0) renamed_.insert(path);
    if ((event & IN_CREATE) != 0) renamed_.erase(path);  // its creator writes it next
    if ((event & IN_MODIFY) != 0 && renamed_.contains(path)) news.written.insert(path);
}

void CoverWatch::close() {
    events_.reset();
    mount_namespace_.reset();
}

}  // namespace session

template <>
inline constexpr auto base::kFields<session::BareName> = std::tuple(&session::BareName::path,
                                                                    &session::BareName::is_covered_again,
                                                                    &session::BareName::may_be_held,
                                                                    &session::BareName::detail);

namespace session {
namespace {

// Time between two checks where a directory can't be watched: the kernel limits the watches of a user.
constexpr int kBetweenLooks = 1000;  // milliseconds
// A removed placeholder comes back after this time, so that `rm -r` of the whole project can finish.
constexpr std::chrono::milliseconds kBeforeRenewal{20};
// Most reports of one name with a detail; the record would fill up otherwise.
constexpr int kMostReports = 20;
// In a row, without attention to anything else.
constexpr int kMostTurns = 10;

// Runs in a child, because a process that enters the jail's namespaces to mount there can't leave them again.
// If pipe2 fails, the names are covered but not reported.
std::vector<BareName> cover_bare_names(const CoverWatch& covers) {
    int ends[2] = {-1, -1};
    (void)!::pipe2(ends, O_CLOEXEC);
    base::Fd reader(ends[0]), writer(ends[1]);
    pid_t child = ::fork();
    if (child == 0) {
        std::string report;
        for (const backends::Uncovered& one :
             backends::cover_again(covers.mount_namespace(), covers.covers())) {
            std::string killed = base::join(one.killed, ", ");
            report += encode({one.path, one.is_covered_again, one.may_be_held, std::move(killed)});
        }
        (void)base::write_all(writer.get(), report);
        ::_exit(0);
    }
    writer.reset();
    base::Result<std::string> report = base::read_descriptor(reader.get());
    while (child > 0 && ::waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
    return report ? decode_bare_names(*report) : std::vector<BareName>();
}

// Threat: a link that was made while the name was uncovered shows the file in later sessions
// (tests/jail/holders.bats).
bool has_another_name(const base::Path& path) {
    struct stat status;
    return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink > 1;
}

}  // namespace

std::string encode(const BareName& name) {
    base::FieldWriter writer;
    base::write(writer, name);
    return writer.take();
}

std::vector<BareName> decode_bare_names(std::string_view bytes) {
    std::vector<BareName> names;
    base::FieldReader reader(bytes);
    while (reader.is_good() && !reader.is_at_end()) {
        BareName name;
        base::read(reader, name);
        if (reader.is_good()) names.push_back(std::move(name));
    }
    return names;
}

CoverGuard::CoverGuard(CoverWatch& covers, Placeholders& placeholders, GitProgramSettings programs,
                       int socket)
    : covers_(covers), placeholders_(placeholders), programs_(std::move(programs)), socket_(socket) {}

int CoverGuard::patience() const {
    if (covers_.is_empty()) return -1;
    if (renewal_ != kNever) {
        auto left = std::chrono::ceil<std::chrono::milliseconds>(renewal_ - Clock::now());
        return std::max(0, static_cast<int>(left.count()));
    }
    return covers_.sees_all() ? -1 : kBetweenLooks;
}

void CoverGuard::take_events() {
    CoverWatch::News news = covers_.take();
    if (!news.is_concerned) return;
    cover(std::move(news.written));
    if (news.is_removed) renewal_ = Clock::now() + kBeforeRenewal;
}

void CoverGuard::look() {
    renewal_ = kNever;
    placeholders_.renew();
    cover({});
}

// Threat: the jail's main command writes a file that was replaced outside and exits before the event is read
// (tests/jail/holders.bats: the main command …). The jail's mounts exist as long as this process has them
// open, so the names that were uncovered are found as before.
void CoverGuard::finish() {
    is_jail_dead_ = true;
    if (covers_.sees_all()) {
        take_events();
    } else {
        cover({});
    }
    (void)!::send(socket_, kNoMoreReports.data(), kNoMoreReports.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

std::set<base::Path> CoverGuard::cover(std::set<base::Path> written) {
    std::set<base::Path> bare;
    // Each turn covers the names that were replaced while the turn before mounted its covers. Threat: a jail
    // that makes names all the time would keep this process from everything else.
    bool is_concerned = true;
    for (int turn = 0; turn < kMostTurns && is_concerned && !covers_.is_empty(); ++turn) {
        std::vector<BareName> names = cover_bare_names(covers_);
        for (const BareName& name : names) bare.insert(name.path);
        CoverWatch::News meanwhile = covers_.take();
        written.merge(meanwhile.written);
        report(std::move(names), written);
        written.clear();
        is_concerned = meanwhile.is_concerned;
        if (meanwhile.is_removed) renewal_ = Clock::now() + kBeforeRenewal;
        covers_.watch_again();
    }
    if (is_concerned && !covers_.is_empty()) renewal_ = std::min(renewal_, Clock::now());
    return bare;
}

void CoverGuard::report(std::vector<BareName> names, const std::set<base::Path>& written) {
    std::string bytes;
    auto send = [&] {
        if (!bytes.empty()) (void)!::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        bytes.clear();
    };
    for (BareName& name : names) {
        name.may_be_held = name.may_be_held && !is_jail_dead_;
        std::vector<std::string> details;
        if (!name.detail.empty())
            details.push_back(base::format("process {} inside had opened it and was killed", name.detail));
        if (written.contains(name.path)) details.emplace_back("it was written inside");
        std::vector<std::string> keys = programs_.take_new(name.path);
        for (std::string& key : keys) key = base::printable(key);
        if (!keys.empty()) details.push_back("new settings in it run programs: " + base::join(keys, ", "));
        if (has_another_name(name.path))
            details.emplace_back("it has another name (a hard link); 'find -samefile' finds it");
        if (name.may_be_held) details.emplace_back("a process inside may still have it open");
        name.detail = base::join(details, "; ");
        if (!is_worth_reporting(name)) continue;
        std::string one = encode(name);
        if (bytes.size() + one.size() > kLongestReport) send();
        bytes += one;
    }
    send();
}

// The supervisor reports a name without a detail only at the end of the session. One message is enough, and a
// second one if the name could not be covered.
bool CoverGuard::is_worth_reporting(const BareName& name) {
    if (name.detail.empty()) return told_.insert(encode(name)).second;
    return name.may_be_held || ++reported_[name.path] <= kMostReports;
}

}  // namespace session
