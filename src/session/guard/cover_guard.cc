// SPDX-License-Identifier: MIT
#include "session/guard/cover_guard.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "backends/cover_again.h"
#include "base/encoding/codec.h"
#include "base/file.h"
#include "base/format.h"
#include "base/text.h"

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

CoverGuard::CoverGuard(CoverWatch& covers, Placeholders& placeholders, GitOrders orders, int socket)
    : covers_(covers), placeholders_(placeholders), orders_(std::move(orders)), socket_(socket) {}

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

void CoverGuard::cover(std::set<base::Path> written) {
    // Each turn covers the names that were replaced while the turn before mounted its covers.
    for (bool is_concerned = true; is_concerned && !covers_.is_empty();) {
        std::vector<BareName> names = cover_bare_names(covers_);
        CoverWatch::News meanwhile = covers_.take();
        written.merge(meanwhile.written);
        report(std::move(names), written);
        written.clear();
        is_concerned = meanwhile.is_concerned;
        if (meanwhile.is_removed) renewal_ = Clock::now() + kBeforeRenewal;
        covers_.watch_again();
    }
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
        std::vector<std::string> keys = orders_.take_new(name.path);
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
