// SPDX-License-Identifier: MIT
#include "ssh_agent/serve.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "base/encoding/json.h"
#include "base/parse.h"
#include "base/process/descriptors.h"
#include "base/process/event_loop.h"
#include "base/process/own_process.h"
#include "base/text.h"
#include "landlock/wall.h"
#include "seccomp/allow_list.h"
#include "ssh_agent/client.h"
#include "ssh_agent/questions.h"

namespace ssh_agent {
namespace {

constexpr size_t kMostClients = 64;
constexpr size_t kMostWaiting = 2 * kMostClients;
constexpr size_t kMostNotices = 8;      // different ones
constexpr size_t kMostLines = 5000;     // of refusals in the record
constexpr size_t kLongestReason = 256;  // of the user

// What is needed for the sockets that there are, for OpenSSL to verify, and to write the record. No call
// opens a file, a socket or a program.
constexpr int kCalls[] = {
    SYS_recvfrom,   SYS_sendto, SYS_recvmsg, SYS_sendmsg,        SYS_read,         SYS_write,
    SYS_accept4,    SYS_close,  SYS_fcntl,   SYS_lseek,          SYS_getrandom,    SYS_clock_gettime,
    SYS_brk,        SYS_munmap, SYS_mremap,  SYS_madvise,        SYS_futex,        SYS_getpid,
    SYS_gettid,     SYS_tgkill, SYS_exit,    SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_restart_syscall,
    SYS_exit_group, SYS_fstat,  SYS_ppoll,
#ifdef SYS_poll
    SYS_poll
#endif
};

// Threat: a client exploits this process, which parses what the jail sends. It has the descriptors that it
// was given, and can open no other (tests/egress/ssh_agent.bats).
bool confine() {
    ::prctl(PR_SET_DUMPABLE, 0);
    struct rlimit none = {0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
    int number = landlock::give_up_files();
    if (number != 0 && number != ENOSYS && number != EOPNOTSUPP) return false;
    std::vector<seccomp::Allowed> calls = {{SYS_mmap, 2, {PROT_EXEC}, true},
                                           {SYS_mprotect, 2, {PROT_EXEC}, true}};
    for (int call : kCalls) calls.push_back({.number = call});
    return seccomp::install_allow_list(calls) == 0;
}

class Server {
  public:
    Server(const Rules& rules, ServerInputs inputs);
    void run();

  private:
    using Clock = Questions::Clock;

    void accept();
    void take_order();
    void obey(std::string_view order, std::vector<base::Fd>& descriptors);
    void pass_agent(base::Fd agent, std::string_view obstacle);
    void request_agent(const Client& client);
    std::optional<bool> ask(const Client& client, const Use& use);
    void finish_question(const std::optional<Questions::Answered>& answered, bool is_allowed,
                         std::string_view why);
    void report(const Decision& decision, bool is_allowed);
    void refuse(const Use& use, const std::string& reason, const std::string& change);
    void tell(const std::string& text);
    void say(std::string_view message) const;
    void close(const Client& client);
    void expire();
    int time_left() const;
    std::string state() const;

    const Rules& rules_;
    ServerInputs inputs_;
    base::EventLoop loop_;
    Client::Host host_;
    Questions questions_;
    std::map<uint64_t, std::unique_ptr<Client>> clients_;
    std::deque<uint64_t> waiting_;  // for a connection to the user's agent
    std::set<std::string> told_;
    uint64_t last_client_ = 0;
    size_t lines_ = 0;
};

// The readers of questions expect a host.
std::string name_of(const Use& use) {
    return use.host != nullptr ? use.host->name : "ssh-agent";
}

uint16_t port_of(const Use& use) {
    return use.host != nullptr ? use.host->port : 0;
}

// The members of the record that a question and a signature share.
audit::Line line_of(std::string_view kind, const Use& use) {
    audit::Line line(kind);
    line.text("name", name_of(use)).number("port", port_of(use));
    line.text("target", use.target).text("key", use.key);
    return line;
}

Server::Server(const Rules& rules, ServerInputs inputs)
    : rules_(rules),
      inputs_(std::move(inputs)),
      host_{.loop = loop_,
            .request_agent = [this](Client& client) { request_agent(client); },
            .ask = [this](Client& client, const Use& use) { return ask(client, use); },
            .report = [this](const Decision& decision, bool is_allowed) { report(decision, is_allowed); },
            .close = [this](Client& client) { close(client); }} {
    loop_.add({[this] { return inputs_.control.get(); }, [this] { take_order(); }});
    loop_.add({[this] { return clients_.size() < kMostClients ? inputs_.listener.get() : -1; },
               [this] { accept(); }});
    loop_.add_check([this] { return time_left(); }, [this] { expire(); });
}

void Server::run() {
    loop_.run();
}

void Server::accept() {
    base::Fd socket(::accept4(inputs_.listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) return;
    const uint64_t id = ++last_client_;
    clients_.emplace(id, std::make_unique<Client>(id, std::move(socket), rules_, host_));
}

void Server::close(const Client& client) {
    const uint64_t id = client.id();
    questions_.cancel(id);
    loop_.later([this, id] { clients_.erase(id); });
}

void Server::say(std::string_view message) const {
    (void)base::send_descriptors(inputs_.control.get(), message, {});
}

void Server::request_agent(const Client& client) {
    // Requests of clients that have gone count, too: without a limit they would fill the socket.
    const bool is_sent =
        waiting_.size() < kMostWaiting && base::send_descriptors(inputs_.control.get(), kNeedsAgent, {}).ok();
    if (is_sent) return waiting_.push_back(client.id());
    loop_.later([this, id = client.id()] {
        auto found = clients_.find(id);
        if (found != clients_.end()) found->second->take_agent({});
    });
}

void Server::take_order() {
    base::Result<base::PassedDescriptors> passed = base::receive_descriptors(inputs_.control.get());
    if (!passed && (errno == EAGAIN || errno == EINTR)) return;
    if (!passed || passed->note.empty()) return loop_.stop();
    obey(passed->note, passed->descriptors);
}

void Server::obey(std::string_view order, std::vector<base::Fd>& descriptors) {
    const bool has_one = descriptors.size() == 1;
    if (order == kAgent) return pass_agent(has_one ? std::move(descriptors[0]) : base::Fd(), "");
    if (order.starts_with(kNoAgent)) return pass_agent({}, order.substr(kNoAgent.size()));
    if (order == kState) {
        if (has_one) (void)base::write_all(descriptors[0].get(), state());
        return say(kState);
    }
    const bool is_approval = order.starts_with(kApprove);
    if (!is_approval && !order.starts_with(kDeny)) return;
    order.remove_prefix(is_approval ? kApprove.size() : kDeny.size());
    const size_t blank = std::min(order.find(' '), order.size());
    const uint64_t id = base::parse_number<uint64_t>(order.substr(0, blank)).value_or(0);
    std::string_view rest = order.substr(std::min(blank + 1, order.size()));
    if (is_approval) {
        const bool is_once = rest == kOnce;
        return finish_question(questions_.approve(id, is_once), true, is_once ? kOnce : "");
    }
    std::string reason = base::printable(rest.substr(0, kLongestReason));
    finish_question(questions_.deny(id, reason), false,
                    "the user denied it" + (reason.empty() ? "" : ": " + reason));
}

void Server::pass_agent(base::Fd agent, std::string_view obstacle) {
    if (waiting_.empty()) return;
    const uint64_t id = waiting_.front();
    waiting_.pop_front();
    if (!agent && !obstacle.empty()) tell(base::format("ssh: {}", base::printable(obstacle)));
    auto found = clients_.find(id);
    if (found != clients_.end()) found->second->take_agent(std::move(agent));
}

// ---- Questions

std::optional<bool> Server::ask(const Client& client, const Use& use) {
    if (!use.is_each_asked) {
        if (std::optional<Questions::Earlier> earlier = questions_.earlier(use)) {
            if (earlier->is_approved) return true;
            refuse(use, "the user denied it" + (earlier->reason.empty() ? "" : ": " + earlier->reason), "");
            return false;
        }
    } else if (std::optional<Questions::Earlier> earlier = questions_.earlier(use)) {
        refuse(use, "the user denied it", "");
        return false;
    }
    std::optional<uint64_t> id = questions_.hold(use, client.id(), Clock::now());
    if (!id) {
        refuse(use, "too many questions wait for the user's answer", "");
        return false;
    }
    if (*id != 0 && inputs_.record && lines_++ < kMostLines)
        inputs_.record.write(line_of("ask", use).number("id", *id));
    return std::nullopt;
}

void Server::finish_question(const std::optional<Questions::Answered>& answered, bool is_allowed,
                             std::string_view why) {
    if (!answered) return;
    if (inputs_.record) {
        audit::Line line = line_of("answer", answered->use);
        line.text("verdict", is_allowed ? "allow" : "deny").text("reason", why);
        inputs_.record.write(std::move(line));
    }
    for (uint64_t id : answered->waiting) {
        auto found = clients_.find(id);
        if (found != clients_.end()) found->second->answer_question(is_allowed);
    }
}

int Server::time_left() const {
    std::optional<Clock::time_point> oldest = questions_.oldest();
    if (!oldest) return -1;
    auto left = std::chrono::ceil<std::chrono::milliseconds>(*oldest + rules_.ask_time - Clock::now());
    return static_cast<int>(std::max<int64_t>(left.count(), 0));
}

void Server::expire() {
    std::optional<Questions::Answered> late = questions_.expire(Clock::now(), rules_.ask_time);
    if (late) finish_question(late, false, "no answer came in time; try once more");
}

std::string Server::state() const {
    base::Json pending = base::Json::array();
    const Clock::time_point now = Clock::now();
    using std::chrono::duration_cast, std::chrono::milliseconds;
    for (const auto& [id, question] : questions_.list()) {
        base::Json row = base::Json::object();
        row.set("id", id).set("name", name_of(question.use)).set("port", port_of(question.use));
        row.set("target", question.use.target).set("key", question.use.key);
        const auto age = duration_cast<milliseconds>(now - question.since);
        const auto left = std::max(milliseconds(0), milliseconds(rules_.ask_time) - age);
        row.set("age_ms", int64_t{age.count()}).set("left_ms", int64_t{left.count()});
        pending.push(std::move(row));
    }
    return base::Json::object().set("pending", std::move(pending)).dump(-1);
}

// ---- The record, and lines for the user

void Server::report(const Decision& decision, bool is_allowed) {
    if (!is_allowed) return refuse(decision.use, decision.reason, decision.change);
    if (inputs_.record) inputs_.record.write(line_of("signature", decision.use).text("verdict", "allow"));
}

// A jail can cause as many refusals as it likes: the record gets kMostLines of them, the user each text once.
void Server::refuse(const Use& use, const std::string& reason, const std::string& change) {
    if (reason.empty()) return;
    if (inputs_.record && lines_++ < kMostLines) {
        audit::Line line = line_of("signature", use);
        line.text("verdict", "deny").text("reason", reason).text("change", change);
        inputs_.record.write(std::move(line));
    }
    tell(base::format("ssh: {}{}{}", use.target.empty() ? "" : use.target + ": ", reason,
                      change.empty() ? "" : "; " + change + " permits it"));
}

void Server::tell(const std::string& text) {
    if (told_.size() >= kMostNotices || !told_.insert(text).second) return;
    say(std::string(kNotice) + text);
}

}  // namespace

int serve(const Rules& rules, ServerInputs inputs) {
    base::forget_environment();
    // Threat: a client is served before the process is confined.
    if (!confine()) return 1;
    Server(rules, std::move(inputs)).run();
    return 0;
}

}  // namespace ssh_agent
