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
#include <memory>
#include <optional>
#include <utility>

#include "audit/writer.h"
#include "backends/bubblewrap/launch.h"
#include "base/process/descriptors.h"
#include "base/process/own_process.h"
#include "network/gateway/gateway.h"
#include "network/netns/set_up.h"
#include "rules/rules_text.h"

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

std::vector<base::Fd> listed(base::Fd descriptor) {
    std::vector<base::Fd> list;
    list.push_back(std::move(descriptor));
    return list;
}

}  // namespace

Gateway::~Gateway() {
    end();
}

base::Status Gateway::start(const network::Egress& egress, Source source, Record record,
                            std::optional<network::gateway::BrokerInputs> broker) {
    int pair[2];
    // Non-blocking: neither process ever waits for the other, even if the other is stuck.
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0) {
        return base::system_error("make a socket", errno);
    }
    control_ = base::Fd(pair[0]);
    has_connector_ = !egress.published.empty();
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
    ::_exit(network::gateway::run(egress, {await_listeners, std::move(writer), std::move(theirs),
                                           std::move(source.handed), std::move(broker)}));
}

Gateway::News Gateway::take() {
    base::Result<base::PassedDescriptors> passed = base::receive_descriptors(control_.get());
    std::string_view note = passed ? std::string_view(passed->note) : std::string_view();
    if (note == network::gateway::kAskForFiles) {
        pass_files();
        return News::none;
    }
    if (note == network::gateway::kAskForJournal) return News::journal_full;
    if (note == network::gateway::kAskForCertificate) {
        if (on_certificate_end_) on_certificate_end_();
        return News::none;
    }
    if (std::optional<network::gateway::ValueRequest> wanted = network::gateway::decode_value_request(note)) {
        if (on_value_) on_value_(*wanted);
        return News::none;
    }
    if (std::optional<network::gateway::RefreshOver> over = network::gateway::decode_refresh_over(note)) {
        if (on_refresh_over_) on_refresh_over_(*over);
        return News::none;
    }
    if (std::optional<network::gateway::TokensIssued> issued = network::gateway::decode_tokens_issued(note)) {
        if (on_tokens_ && passed->descriptors.size() == 1)
            on_tokens_(*std::move(issued), std::move(passed->descriptors.front()));
        return News::none;
    }
    if (std::optional<network::gateway::ProgramRequest> wanted =
            network::gateway::decode_program_request(note)) {
        pass_program(*wanted);
        return News::none;
    }
    if (std::optional<network::gateway::Reply> reply = network::gateway::decode_reply(note)) {
        hear_reply(*reply, std::move(passed->descriptors));
        return News::none;
    }
    if (std::optional<network::gateway::Notice> notice = network::gateway::decode_notice(note)) {
        (void)base::write_all(STDERR_FILENO, "agent-sandbox: " + notice->text + "\n");
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

void Gateway::send_rules(const network::Egress& egress, std::optional<RequestRules> requests,
                         OnReply on_reply) {
    base::Result<base::Fd> file =
        base::memory_file("rules", network::encode_settings(egress.rules, egress.passed_types));
    if (!file) return on_reply(file.error());
    std::vector<base::Fd> files = listed(*std::move(file));
    if (requests) {
        base::Result<base::Fd> settings = base::memory_file("requests", requests->settings);
        if (!settings) return on_reply(settings.error());
        files.push_back(*std::move(settings));
        if (requests->intermediate) files.push_back(std::move(requests->intermediate));
    }
    request({.kind = network::gateway::Order::Kind::rules}, files, {.on_reply = std::move(on_reply)});
}

void Gateway::pass_certificate(base::Fd intermediate) const {
    if (!control_ || !intermediate) return;
    int passed[] = {intermediate.get()};
    (void)base::send_descriptors(
        control_.get(), network::gateway::encode({.kind = network::gateway::Order::Kind::certificate}),
        passed);
}

void Gateway::ask_state(OnReply on_reply) {
    base::Fd file(::memfd_create("state", MFD_CLOEXEC));
    base::Fd ours(file ? ::fcntl(file.get(), F_DUPFD_CLOEXEC, 0) : -1);
    if (!ours) return on_reply(base::system_error("make a memory file", errno));
    request({.kind = network::gateway::Order::Kind::state}, listed(std::move(file)),
            {std::move(on_reply), std::move(ours)});
}

void Gateway::PendingReply::fail(base::Error error) const {
    on_socket ? on_socket(std::move(error)) : on_reply(std::move(error));
}

void Gateway::request(network::gateway::Order order, const std::vector<base::Fd>& passed,
                      PendingReply pending) {
    bool can_answer = control_ && !is_asked_;
    if (!can_answer) return pending.fail(base::Error{.what = std::string(kGone)});
    order.number = ++last_ticket_;
    std::vector<int> descriptors;
    for (const base::Fd& one : passed) descriptors.push_back(one.get());
    base::Status sent = base::send_descriptors(control_.get(), network::gateway::encode(order), descriptors);
    if (!sent) return pending.fail(sent.error());
    pending_.emplace(order.number, std::move(pending));
}

void Gateway::publish(const network::Published& published, base::Fd listener, OnReply on_reply) {
    if (has_connector_) return pass_port(published, std::move(listener), {}, std::move(on_reply));
    // The connector enters the jail's network through one of the gateway's sockets there.
    auto kept = std::make_shared<base::Fd>(std::move(listener));
    auto on_socket = [=, this](base::Result<base::Fd> inside) {
        if (!inside) return on_reply(inside.error());
        base::Result<base::Fd> connector = network::netns::connector_for(
            inside->get(), [supervisor = ::getpid()](const std::vector<int>& descriptors) {
                step_aside(supervisor, "asb-connector", descriptors);
            });
        if (!connector) return on_reply(connector.error());
        pass_port(published, std::move(*kept), *std::move(connector), on_reply);
    };
    request({.kind = network::gateway::Order::Kind::socket}, {}, {.on_socket = on_socket});
}

void Gateway::pass_port(const network::Published& published, base::Fd listener, base::Fd connector,
                        OnReply on_reply) {
    bool is_first = bool(connector);
    std::vector<base::Fd> passed = listed(std::move(listener));
    if (is_first) passed.push_back(std::move(connector));
    auto done = [this, is_first, on_reply = std::move(on_reply)](base::Result<std::string> reply) {
        has_connector_ = has_connector_ || (is_first && reply);
        on_reply(std::move(reply));
    };
    request({.kind = network::gateway::Order::Kind::publish, .reason = network::to_text(published)}, passed,
            {.on_reply = done});
}

void Gateway::unpublish(uint16_t host_port, OnReply on_reply) {
    request({.kind = network::gateway::Order::Kind::unpublish, .reason = std::to_string(host_port)}, {},
            {.on_reply = std::move(on_reply)});
}

void Gateway::hear_reply(const network::gateway::Reply& reply, std::vector<base::Fd> passed) {
    auto found = pending_.find(reply.ticket);
    if (found == pending_.end()) return;
    // Remove the request before the callback runs: the callback may send another one.
    PendingReply pending = std::move(found->second);
    pending_.erase(found);
    if (!reply.failure.empty()) return pending.fail(base::Error{.what = reply.failure});
    if (pending.on_socket) {
        if (passed.size() != 1) return pending.fail(base::Error{.what = "no socket arrived"});
        return pending.on_socket(std::move(passed.front()));
    }
    if (!pending.answer) return pending.on_reply(reply.text);
    ::lseek(pending.answer.get(), 0, SEEK_SET);
    pending.on_reply(base::read_descriptor(pending.answer.get()));
}

void Gateway::fail_pending() {
    std::map<uint64_t, PendingReply> failed = std::exchange(pending_, {});
    for (auto& [ticket, pending] : failed) pending.fail(base::Error{.what = std::string(kGone)});
}

void Gateway::deny(uint64_t id, std::string_view reason) {
    if (!control_) return;
    network::gateway::Order order{
        .kind = network::gateway::Order::Kind::deny, .number = id, .reason = std::string(reason)};
    (void)base::send_descriptors(control_.get(), network::gateway::encode(order), {});
}

void Gateway::approve(uint64_t id, bool is_once) const {
    if (!control_) return;
    network::gateway::Order order{.kind = network::gateway::Order::Kind::approve,
                                  .number = id,
                                  .reason = std::string(is_once ? network::gateway::kOnce : "")};
    (void)base::send_descriptors(control_.get(), network::gateway::encode(order), {});
}

void Gateway::pass_value(size_t credential, const base::Result<base::Fd>& value, int64_t lifetime) const {
    if (!control_) return;
    network::gateway::Order order{.kind = network::gateway::Order::Kind::value,
                                  .number = credential,
                                  .reason = value ? std::to_string(lifetime) : value.error().line()};
    std::vector<int> passed;
    if (value) passed.push_back(value->get());
    (void)base::send_descriptors(control_.get(), network::gateway::encode(order), passed);
}

void Gateway::pass_program(network::gateway::ProgramRequest wanted) const {
    network::gateway::Order order{.kind = network::gateway::Order::Kind::program,
                                  .number = wanted.number,
                                  .reason = find_program_ ? find_program_(wanted.port) : std::string()};
    (void)base::send_descriptors(control_.get(), network::gateway::encode(order), {});
}

void Gateway::forget_values(std::optional<size_t> credential) const {
    if (!control_) return;
    network::gateway::Order order{.kind = network::gateway::Order::Kind::forget,
                                  .number = credential ? *credential + 1 : 0};
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
        while (base::await_events(control_.get(), POLLIN, kLongestGatewayEnd) != 0) {
            base::Result<base::PassedDescriptors> passed = base::receive_descriptors(control_.get());
            if (!passed || passed->note.empty()) break;
            if (auto said = network::gateway::decode_summary(passed->note)) summary = *std::move(said);
            // New tokens of the last moment: the old ones are not valid any more.
            auto issued = network::gateway::decode_tokens_issued(passed->note);
            if (issued && on_tokens_ && passed->descriptors.size() == 1)
                on_tokens_(*std::move(issued), std::move(passed->descriptors.front()));
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
