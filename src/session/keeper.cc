// SPDX-License-Identifier: MIT
#include "session/keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <thread>

#include "base/descriptors.h"
#include "base/own_place.h"
#include "base/pass_descriptors.h"
#include "base/path.h"
#include "base/remove_tree.h"
#include "base/rest.h"
#include "base/text.h"
#include "session/known_sessions.h"
#include "session/left_builders.h"
#include "session/named_socket.h"
#include "session/old_logs.h"
#include "session/record.h"
#include "session/trash.h"

namespace session {
namespace {

constexpr int kLongestDeath = 10'000;  // milliseconds
// Of the covers, where nothing can be watched: a user has only so many watches.
constexpr int kBetweenLooks = 1000;  // milliseconds
constexpr std::chrono::milliseconds kBeforeRenewal{20};
// How a name is told of to the supervisor: one of these, the path, and a NUL.
constexpr char kCovered = '+';
constexpr char kBare = '-';
constexpr size_t kLongestTelling = 16'384;  // at once
// What the supervisor says to its keeper: with descriptors, what to guard; or that it may go.
constexpr char kGuard = 'g';
constexpr char kDone = 'd';
constexpr char kDoneWithJobs = 'j';
constexpr char kKilled = '\0';  // what no supervisor says
// Between two looks for jobs that have ended, each twice as long as the one before.
constexpr std::chrono::milliseconds kFirstPause{20};
constexpr std::chrono::milliseconds kLongestPause{2560};

bool becomes_readable(int fd, int timeout) {
    struct pollfd watched = {fd, POLLIN, 0};
    bool has_rested = false;
    int ready = 0;
    while ((ready = base::poll_and_rest(&watched, 1, timeout, has_rested)) < 0 && errno == EINTR) continue;
    return ready > 0;
}

// In a process of its own, which is in the jail's namespaces afterwards. What lay bare, as it is told of;
// without a pipe it is covered and not told.
std::string cover_bare_names(const CoverWatch& covers) {
    int ends[2] = {-1, -1};
    (void)!::pipe2(ends, O_CLOEXEC);
    base::Fd reader(ends[0]), writer(ends[1]);
    pid_t child = ::fork();
    if (child == 0) {
        std::string told;
        for (const backends::Uncovered& one :
             backends::cover_again(covers.mount_namespace(), covers.covers()))
            told += (one.is_covered_again ? kCovered : kBare) + one.path.str() + '\0';
        (void)base::write_all(writer.get(), told);
        ::_exit(0);
    }
    writer.reset();
    base::Result<std::string> told = base::read_descriptor(reader.get());
    while (child > 0 && ::waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
    return told ? *std::move(told) : std::string();
}

// Covers what lies bare, at once. Placeholders that somebody removed come back a moment later: whoever
// removes all of the project, and every placeholder first, must come to its end.
class Guard {
  public:
    Guard(Kept& kept, int life) : kept_(kept), life_(life) {}

    // Milliseconds until something is to be done without an event; -1: never.
    int patience() const {
        if (kept_.covers.is_empty()) return -1;
        if (renewal_ != kNever) {
            auto left = std::chrono::ceil<std::chrono::milliseconds>(renewal_ - Clock::now());
            return std::max(0, static_cast<int>(left.count()));
        }
        return kept_.covers.sees_all() ? -1 : kBetweenLooks;
    }

    void hear() {
        CoverWatch::News news = kept_.covers.take();
        if (!news.is_concerned) return;
        cover();
        if (news.is_removed) renewal_ = Clock::now() + kBeforeRenewal;
    }

    void look() {
        renewal_ = kNever;
        kept_.placeholders.renew();
        cover();
    }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr Clock::time_point kNever = Clock::time_point::max();

    void cover() {
        if (kept_.covers.is_empty()) return;
        tell(cover_bare_names(kept_.covers));
        kept_.covers.watch_again();
    }

    // Each name once, whatever becomes of it afterwards, and a second time when it could not be covered: the
    // supervisor listens at the end, and only so much waits for it.
    void tell(std::string_view bare) {
        std::string news;
        for (std::string_view line : base::split(bare, '\0')) {
            if (!line.empty() && told_.emplace(line).second) news.append(line).push_back('\0');
        }
        for (size_t end = 0; !news.empty(); news.erase(0, end)) {
            end = news.rfind('\0', kLongestTelling - 1) + 1;
            (void)!::send(life_, news.data(), end, MSG_NOSIGNAL | MSG_DONTWAIT);
        }
    }

    Kept& kept_;
    int life_;
    std::set<std::string, std::less<>> told_;
    Clock::time_point renewal_ = kNever;  // of the placeholders
};

// Returns what the supervisor said last; one that was killed said nothing.
char attend(Kept& kept, int life, base::Fd& stage) {
    Guard guard(kept, life);
    bool has_rested = false;
    while (true) {
        // What happens before the mounts are known stays there to be heard.
        bool has_covers = !kept.covers.is_empty();
        struct pollfd watched[] = {{life, POLLIN, 0},
                                   {has_covers ? kept.covers.events() : -1, POLLIN, 0},
                                   {has_covers ? stage.get() : -1, POLLIN, 0}};
        int ready = base::poll_and_rest(watched, std::size(watched), guard.patience(), has_rested);
        if (ready < 0 && errno != EINTR) return kKilled;
        // The jail is dead: nothing is to be covered any more, and no placeholder is to come back.
        if (watched[2].revents != 0) kept.covers.say_over();
        if (watched[1].revents != 0) guard.hear();
        if (ready == 0) guard.look();
        if (watched[0].revents == 0) continue;
        base::Result<base::PassedDescriptors> said = base::receive_descriptors(life);
        if (!said || said->note.empty()) return kKilled;
        if (said->note[0] != kGuard) return said->note[0];
        stage = std::move(said->descriptors.front());
        if (said->descriptors.size() > 1) {
            kept.covers.set_mount_namespace(std::move(said->descriptors[1]));
        } else {
            kept.covers.close();  // nobody can lay them again
        }
    }
}

// Neither the caller's terminal nor a kill of its group is to reach this process, and it holds nothing of the
// caller's open. The terminal can be set right only from within its session.
void step_aside(const Kept& kept, int life) {
    // One that was stopped has its work to do all the same.
    ::prctl(PR_SET_PDEATHSIG, SIGCONT);
    if (kept.terminal) {
        ::setpgid(0, 0);
    } else {
        ::setsid();
    }
    (void)!::chdir("/");
    // Not the lock of the session's directory, which says that the supervisor lives.
    base::close_others({kept.placeholders.descriptor(), kept.placeholders.project_descriptor(),
                        kept.terminal.descriptor(), kept.place.descriptor(), kept.covers.events(), life});
    base::fill_standard_descriptors();
}

}  // namespace

base::Status Keeper::start(Kept kept) {
    if (base::Result<base::Path> own = base::Path::parse(kept.directory.path()); own)
        runtime_place_ = own->parent().parent().str();
    if (kept.is_empty()) return base::success();
    int ends[2];
    // Not a pipe: writing to one whose reader was killed would leave a SIGPIPE behind.
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return base::system_error("make a socket", errno);
    base::Fd life(ends[0]);
    life_ = base::Fd(ends[1]);
    process_ = ::fork();
    if (process_ < 0) {
        life_.reset();
        return base::system_error("start the process that looks after the session", errno);
    }
    if (process_ != 0) return base::success();
    step_aside(kept, life.get());
    base::Fd stage;
    // A jail that is still alive keeps its mount points; the next launch takes them away. So it is where
    // nobody knows the jail yet.
    char said = attend(kept, life.get(), stage);
    if (said == kKilled && stage && becomes_readable(stage.get(), kLongestDeath)) {
        kept.terminal.recover_for_the_dead();
        kept.placeholders.release();
        if (kept.cgroup) kept.cgroup->remove();
        kept.place.remove();
        if (!kept.directory.is_empty()) base::remove_tree(kept.directory.path());
    }
    // Last: whoever killed the supervisor may be about to kill this process too.
    kept.covers.close();
    tidy();
    if (said == kDoneWithJobs) outlast_jobs(kept.placeholders);
    ::_exit(0);
}

base::Status Keeper::guard(int stage, const base::Fd& mounts) {
    if (!life_ || stage == -ENOSYS) return base::success();
    if (stage < 0) return base::system_error("watch over the jail", -stage);
    const int passed[] = {stage, mounts.get()};
    if (base::send_descriptors(life_.get(), std::string_view(&kGuard, 1),
                               std::span(passed).first(mounts ? 2 : 1)))
        return base::success();
    return base::Error{.what = "the process that looks after the session was killed; nothing was run",
                       .advice = "try again"};
}

void Keeper::dismiss(bool has_jobs) {
    if (is_dismissed_) return;
    is_dismissed_ = true;
    const char word = has_jobs ? kDoneWithJobs : kDone;
    // Without a keeper, or with one that was killed, it is done here and now.
    if (!life_ || ::send(life_.get(), &word, 1, MSG_NOSIGNAL) != 1) tidy();
}

std::vector<backends::Uncovered> Keeper::uncovered() const {
    std::string told;
    char bytes[kLongestTelling];
    for (ssize_t got; life_ && (got = ::recv(life_.get(), bytes, sizeof bytes, MSG_DONTWAIT)) > 0;)
        told.append(bytes, static_cast<size_t>(got));
    std::map<std::string_view, bool> seen;
    for (std::string_view line : base::split(told, '\0')) {
        if (line.empty()) continue;
        // What could not be covered once was open from then on.
        bool& is_covered = seen.try_emplace(line.substr(1), true).first->second;
        is_covered = is_covered && line[0] == kCovered;
    }
    std::vector<backends::Uncovered> uncovered;
    for (const auto& [text, is_covered] : seen) {
        if (base::Result<base::Path> path = base::Path::parse(text))
            uncovered.push_back({*std::move(path), is_covered});
    }
    return uncovered;
}

void Keeper::tidy() const {
    empty_trash(state_directory_);
    remove_old_records(state_directory_ + "/sessions", keep_, ::time(nullptr));
    for (std::string_view helper : {"notify", "slurm/sockets"})
        remove_left_sockets(state_directory_ + "/" + std::string(helper));
    remove_left_drafts(state_directory_, ::time(nullptr));
    remove_left_places(std::string(base::kPlaceParent));
    // Whoever looks removes those of sessions that were killed before they had a keeper.
    if (!runtime_place_.empty()) (void)known_sessions({runtime_place_});
    if (looks_for_builders_) end_left_builders();
}

// Slurm kills all processes of a step, the keeper of its session among them. One that dies while this session
// ends held the placeholders when they were released, and leaves them to nobody.
void Keeper::outlast_jobs(Placeholders& placeholders) const {
    // Whoever waits for the terminal's last user is not to wait for this.
    base::close_others({placeholders.descriptor(), placeholders.project_descriptor()});
    base::fill_standard_descriptors();
    for (auto pause = kFirstPause; pause <= kLongestPause && !placeholders.release_rest(); pause *= 2)
        std::this_thread::sleep_for(pause);
    empty_trash(state_directory_);
}

}  // namespace session
