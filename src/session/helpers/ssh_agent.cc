// SPDX-License-Identifier: MIT
#include "session/helpers/ssh_agent.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/file.h"
#include "base/process/descriptors.h"
#include "base/text.h"
#include "session/helpers/detach_helper.h"
#include "ssh_agent/serve.h"

namespace session {
namespace {

constexpr int kAgentBacklog = 64;
constexpr size_t kLargestState = 1u << 20;

// A connection to the user's agent, without a wait for it.
base::Result<base::Fd> connect_to(const std::string& path) {
    struct sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    const std::string attempt = "connect to your ssh-agent at " + base::printable(path);
    if (path.size() >= sizeof address.sun_path) return base::system_error(attempt, ENAMETOOLONG);
    std::memcpy(address.sun_path, path.data(), path.size());
    base::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket || ::connect(socket.get(), reinterpret_cast<struct sockaddr*>(&address), sizeof address) != 0)
        return base::system_error(attempt, errno);
    return socket;
}

// The process has its own chain, and writes to the part of the record that is current at its start.
audit::Writer writer_for(const Record& record) {
    if (!record.is_open()) return {};
    Record::Share share = record.share();
    return {std::move(share.file), share.is_chained ? "ssh-agent" : "", share.seed, 0};
}

}  // namespace

base::Status SshAgent::open(const std::string& directory, const std::string& name) {
    bool is_open = socket_.open(directory, name, SOCK_STREAM) && ::listen(socket_.get(), kAgentBacklog) == 0;
    if (is_open) return base::success();
    base::Error error = base::system_error("make the socket for the ssh-agent in " + directory, errno);
    error.advice = "make room there, or remove ssh.keys";
    return error;
}

void SshAgent::get_ready(const plan::Ssh& ssh, const Record& record) {
    ssh_ = &ssh;
    record_ = &record;
}

int SshAgent::events() const {
    if (control_) return control_.get();
    return ssh_ != nullptr ? socket_.get() : -1;
}

void SshAgent::take() {
    if (!control_) return start();
    base::Result<base::PassedDescriptors> passed = base::receive_descriptors(control_.get());
    if (!passed && (errno == EAGAIN || errno == EINTR)) return;
    if (!passed || passed->note.empty()) return lose();
    const std::string_view note = passed->note;
    if (note == ssh_agent::kNeedsAgent) return pass_agent();
    if (note == ssh_agent::kState) return finish_state();
    if (note.starts_with(ssh_agent::kNotice)) {
        (void)base::write_all(
            STDERR_FILENO,
            base::format("agent-sandbox: {}\n", base::printable(note.substr(ssh_agent::kNotice.size()))));
    }
}

// If the process can't be started, the socket is closed: the jail runs without an agent.
void SshAgent::start() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
        return socket_.close();
    control_ = base::Fd(ends[0]);
    base::Fd theirs(ends[1]);
    const pid_t supervisor = ::getpid();
    process_ = ::fork();
    if (process_ != 0) {
        socket_.close();
        if (process_ < 0) control_.reset();
        return;
    }
    control_.release();
    audit::Writer record = writer_for(*record_);
    base::Fd listener = socket_.take();
    step_aside(supervisor, "asb-ssh-agent", {listener.get(), theirs.get(), record.descriptor()});
    ::_exit(ssh_agent::serve(ssh_->rules, {std::move(listener), std::move(theirs), std::move(record)}));
}

void SshAgent::pass_agent() const {
    base::Result<base::Fd> agent = connect_to(ssh_->rules.agent);
    if (agent) return send(ssh_agent::kAgent, *std::move(agent));
    send(std::string(ssh_agent::kNoAgent) + agent.error().line());
}

void SshAgent::send(std::string_view order, base::Fd descriptor) const {
    if (!control_) return;
    int passed[] = {descriptor.get()};
    (void)base::send_descriptors(control_.get(), order,
                                 descriptor ? std::span<const int>(passed) : std::span<const int>());
}

void SshAgent::ask_state(OnState on_state) {
    base::Fd file(control_ ? ::memfd_create("state", MFD_CLOEXEC) : -1);
    base::Fd ours(file ? ::fcntl(file.get(), F_DUPFD_CLOEXEC, 0) : -1);
    if (!ours) return on_state(base::Json::object());
    waiting_.push_back({std::move(on_state), std::move(ours)});
    send(ssh_agent::kState, std::move(file));
}

void SshAgent::finish_state() {
    if (waiting_.empty()) return;
    Waiting first = std::move(waiting_.front());
    waiting_.pop_front();
    ::lseek(first.answer.get(), 0, SEEK_SET);
    base::Result<std::string> text = base::read_descriptor(first.answer.get(), kLargestState);
    base::Result<base::Json> state = text ? base::Json::parse(*text) : text.error();
    first.on_state(state ? *state : base::Json::object());
}

void SshAgent::approve(uint64_t id, bool is_once) const {
    send(base::format("{}{} {}", ssh_agent::kApprove, id, is_once ? ssh_agent::kOnce : "session"));
}

void SshAgent::deny(uint64_t id, std::string_view reason) const {
    send(base::format("{}{} {}", ssh_agent::kDeny, id, reason));
}

void SshAgent::lose() {
    control_.reset();
    ssh_ = nullptr;
    std::deque<Waiting> lost = std::exchange(waiting_, {});
    for (Waiting& one : lost) one.on_state(base::Json::object());
}

void SshAgent::end() {
    control_.reset();
    socket_.close();
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
    process_ = -1;
}

}  // namespace session
