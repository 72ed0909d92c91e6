// SPDX-License-Identifier: MIT
#include "session/gateway.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <ctime>
#include <span>

#include "backends/bubblewrap/launch.h"
#include "base/descriptors.h"
#include "base/own_arguments.h"
#include "base/pass_descriptors.h"
#include "inner/signals.h"
#include "network/gateway/gateway.h"
#include "network/netns/set_up.h"
#include "session/old_logs.h"

namespace session {
namespace {

constexpr std::chrono::milliseconds kLongestFarewell{500};
// Slurm signals every process of a step, not the command alone.
constexpr int kUnheard[] = {SIGPIPE, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM};

base::Result<base::Fd> open_journal(const std::string& path) {
    std::string directory = path.substr(0, path.rfind('/'));
    if (base::Status made = base::make_directories(directory); !made) return made.error();
    base::Fd file(
        ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return base::system_error("make the network's log " + path, errno);
    return file;
}

// Neither the caller's terminal nor a kill of its group reaches it; it ends with the supervisor.
void step_aside(pid_t supervisor, std::initializer_list<int> kept) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != supervisor) ::_exit(0);
    ::prctl(PR_SET_NAME, "asb-gateway");
    ::setsid();
    inner::block_only(inner::signal_bits(kUnheard));
    (void)!::chdir("/");
    base::close_others(kept);
    base::fill_standard_descriptors();
    base::forget_environment();
}

base::Result<network::netns::Listeners> listeners_of(Gateway::Source& source,
                                                     const network::netns::Wanted& wanted) {
    if (source.listeners) {
        base::Fd listeners = std::move(source.listeners);
        return network::netns::receive(listeners.get(), wanted);
    }
    base::Result<pid_t> jailed = backends::bubblewrap::jailed_process(source.information.get());
    source.information.reset();
    if (!jailed) return jailed.error();
    return network::netns::set_up(*jailed, wanted);
}

}  // namespace

Gateway::~Gateway() {
    end();
}

base::Status Gateway::start(const network::Egress& egress, Source source, const std::string& journal) {
    base::Result<base::Fd> file = open_journal(journal);
    if (!file) return file.error();
    journal_ = journal;
    int pair[2];
    // Not blocking: neither of the two ever waits for the other, whatever became of it.
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0) {
        return base::system_error("make a socket", errno);
    }
    control_ = base::Fd(pair[0]);
    base::Fd theirs(pair[1]);
    pid_t supervisor = ::getpid();
    process_ = ::fork();
    if (process_ < 0) return base::system_error("start the network's gateway", errno);
    if (process_ > 0) return base::success();

    control_.release();
    step_aside(supervisor, {theirs.get(), source.information.get(), source.listeners.get(),
                            source.handed.get(), file->get()});
    auto await_listeners = [&](const network::netns::Wanted& wanted) {
        // There is time: the namespaces are being made.
        remove_old_logs(journal.substr(0, journal.rfind('/')), ::time(nullptr));
        return listeners_of(source, wanted);
    };
    ::_exit(network::gateway::run(
        egress, {await_listeners, *std::move(file), std::move(theirs), std::move(source.handed)}));
}

Gateway::News Gateway::take() {
    base::Result<base::PassedDescriptors> passed = base::receive_descriptors(control_.get());
    std::string_view note = passed ? std::string_view(passed->note) : std::string_view();
    if (note == network::gateway::kAskForFiles) {
        pass_files();
        return News::none;
    }
    std::optional<network::gateway::Start> started = network::gateway::decode_start(note);
    if (started && started->failure.empty()) {
        is_serving_ = true;
        return News::serves;
    }
    end();
    if (is_serving_) {
        was_lost_ = true;
        return News::lost;
    }
    failure_ = started ? started->failure : "the network's gateway ended before it served";
    return News::failed;
}

// The host's files as they are now; after a change of network the gateway asks again, and can't open them
// itself.
void Gateway::pass_files() const {
    base::Fd hosts(::open("/etc/hosts", O_RDONLY | O_CLOEXEC | O_NOCTTY));
    base::Fd servers(::open("/etc/resolv.conf", O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (!hosts || !servers) return;
    int passed[] = {hosts.get(), servers.get()};
    (void)base::send_descriptors(control_.get(), network::gateway::kFiles, passed);
}

void Gateway::ask_to_end() {
    if (is_asked_ || !control_ || !is_serving_) return;
    is_asked_ = static_cast<bool>(base::send_descriptors(control_.get(), network::gateway::kEnd, {}));
}

network::gateway::Summary Gateway::finish() {
    network::gateway::Summary summary;
    ask_to_end();
    if (control_ && is_asked_) {
        struct pollfd watched = {control_.get(), POLLIN, 0};
        while (::poll(&watched, 1, static_cast<int>(kLongestFarewell.count())) > 0) {
            base::Result<base::PassedDescriptors> passed = base::receive_descriptors(control_.get());
            if (!passed || passed->note.empty()) break;
            if (auto said = network::gateway::decode_summary(passed->note)) summary = *std::move(said);
        }
    }
    end();
    struct stat status;
    bool is_empty = !journal_.empty() && ::stat(journal_.c_str(), &status) == 0 && status.st_size == 0;
    if (is_empty) ::unlink(journal_.c_str());
    return summary;
}

// One that no longer speaks to us must not go on serving either.
void Gateway::end() {
    control_.reset();
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
    process_ = -1;
}

}  // namespace session
