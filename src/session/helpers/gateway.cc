// SPDX-License-Identifier: MIT
#include "session/helpers/gateway.h"
#include "session/helpers/detach_helper.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <utility>

#include "audit/writer.h"
#include "backends/bubblewrap/launch.h"
#include "base/process/own_arguments.h"
#include "base/process/pass_descriptors.h"
#include "network/gateway/gateway.h"
#include "network/netns/set_up.h"
#include "rules/text/settings_text.h"

namespace session {
namespace {

constexpr std::chrono::milliseconds kLongestGatewayEnd{500};
constexpr std::string_view kGone = "the network's gateway has ended";

base::Result<network::netns::Listeners> listeners_of(Gateway::Source& source,
                                                     const network::netns::NetworkRequest& request) {
    if (source.listeners) {
        base::Fd listeners = std::move(source.listeners);
        return network::netns::receive(listeners.get(), request);
    }
    base::Result<pid_t> jailed = backends::bubblewrap::jailed_process(source.information.get());
    source.information.reset();
    if (!jailed) return jailed.error();
    return network::netns::set_up(*jailed, request);
}

}  // namespace

Gateway::~Gateway() {
    end();
}

base::Status Gateway::start(const network::Egress& egress, Source source, Record record) {
    int pair[2];
    // Non-blocking: neither process ever waits for the other, even if the other is stuck.
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
    step_aside(supervisor, "asb-gateway",
               {theirs.get(), source.information.get(), source.listeners.get(), source.handed.get(),
                record.file.get()});
    base::forget_environment();
    auto await_listeners = [&](const network::netns::NetworkRequest& request) {
        return listeners_of(source, request);
    };
    audit::Writer writer(std::move(record.file), record.is_chained ? "gateway" : "", record.seed,
                         record.part_size);
    ::_exit(network::gateway::run(
        egress, {await_listeners, std::move(writer), std::move(theirs), std::move(source.handed)}));
}

Gateway::News Gateway::take() {
    base::Result<base::PassedDescriptors> passed = base::receive_descriptors(control_.get());
    std::string_view note = passed ? std::string_view(passed->note) : std::string_view();
    if (note == network::gateway::kAskForFiles) {
        pass_files();
        return News::none;
    }
    if (note == network::gateway::kAskForJournal) return News::journal_full;
    if (std::optional<network::gateway::Reply> reply = network::gateway::decode_reply(note)) {
        hear_reply(*reply);
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

void Gateway::send_rules(const network::Egress& egress, OnReply on_reply) {
    base::Result<base::Fd> file =
        base::memory_file("rules", network::encode_settings(egress.rules, egress.passed_types));
    if (!file) return on_reply(file.error());
    request(network::gateway::Order::Kind::rules, *std::move(file), {.on_reply = std::move(on_reply)});
}

void Gateway::ask_state(OnReply on_reply) {
    base::Fd file(::memfd_create("state", MFD_CLOEXEC));
    base::Fd ours(file ? ::fcntl(file.get(), F_DUPFD_CLOEXEC, 0) : -1);
    if (!ours) return on_reply(base::system_error("make a memory file", errno));
    request(network::gateway::Order::Kind::state, std::move(file), {std::move(on_reply), std::move(ours)});
}

void Gateway::request(network::gateway::Order::Kind kind, base::Fd file, PendingReply pending) {
    bool can_answer = control_ && !is_asked_;
    if (!can_answer) return pending.on_reply(base::Error{.what = std::string(kGone)});
    uint64_t ticket = ++last_ticket_;
    int passed[] = {file.get()};
    std::string note = network::gateway::encode(network::gateway::Order{.kind = kind, .number = ticket});
    base::Status sent = base::send_descriptors(control_.get(), note, passed);
    if (!sent) return pending.on_reply(sent.error());
    pending_.emplace(ticket, std::move(pending));
}

void Gateway::hear_reply(const network::gateway::Reply& reply) {
    auto found = pending_.find(reply.ticket);
    if (found == pending_.end()) return;
    // Remove the request before the callback runs: the callback may send another one.
    PendingReply pending = std::move(found->second);
    pending_.erase(found);
    if (!reply.failure.empty()) return pending.on_reply(base::Error{.what = reply.failure});
    if (!pending.answer) return pending.on_reply(reply.text);
    ::lseek(pending.answer.get(), 0, SEEK_SET);
    pending.on_reply(base::read_descriptor(pending.answer.get()));
}

void Gateway::fail_pending() {
    std::map<uint64_t, PendingReply> failed = std::exchange(pending_, {});
    for (auto& [ticket, pending] : failed) pending.on_reply(base::Error{.what = std::string(kGone)});
}

void Gateway::deny(uint64_t id, std::string_view reason) {
    if (!control_) return;
    network::gateway::Order order{
        .kind = network::gateway::Order::Kind::deny, .number = id, .reason = std::string(reason)};
    (void)base::send_descriptors(control_.get(), network::gateway::encode(order), {});
}

void Gateway::pass_journal(base::Fd part) {
    if (!control_ || !part) return;
    int passed[] = {part.get()};
    (void)base::send_descriptors(
        control_.get(), network::gateway::encode({.kind = network::gateway::Order::Kind::journal}), passed);
}

// Sends the host's current files. The gateway can't open them itself, and asks again after the network
// changed.
void Gateway::pass_files() const {
    base::Fd hosts(::open("/etc/hosts", O_RDONLY | O_CLOEXEC | O_NOCTTY));
    base::Fd servers(::open("/etc/resolv.conf", O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (!hosts || !servers) return;
    int passed[] = {hosts.get(), servers.get()};
    (void)base::send_descriptors(
        control_.get(), network::gateway::encode({.kind = network::gateway::Order::Kind::files}), passed);
}

void Gateway::ask_to_end() {
    if (is_asked_ || !control_ || !is_serving_) return;
    std::string note = network::gateway::encode({.kind = network::gateway::Order::Kind::end});
    is_asked_ = static_cast<bool>(base::send_descriptors(control_.get(), note, {}));
    if (is_asked_) fail_pending();
}

network::gateway::Summary Gateway::finish() {
    network::gateway::Summary summary;
    ask_to_end();
    if (control_ && is_asked_) {
        struct pollfd watched = {control_.get(), POLLIN, 0};
        while (::poll(&watched, 1, static_cast<int>(kLongestGatewayEnd.count())) > 0) {
            base::Result<base::PassedDescriptors> passed = base::receive_descriptors(control_.get());
            if (!passed || passed->note.empty()) break;
            if (auto said = network::gateway::decode_summary(passed->note)) summary = *std::move(said);
        }
    }
    end();
    return summary;
}

// A gateway without a control socket must not serve any longer.
void Gateway::end() {
    control_.reset();
    fail_pending();
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
    process_ = -1;
}

}  // namespace session
