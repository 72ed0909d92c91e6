// SPDX-License-Identifier: MIT
#include "network/gateway/control/supervision.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/encoding/json.h"
#include "base/parse.h"
#include "base/secret_value.h"
#include "base/text.h"
#include "network/gateway/broker/broker.h"
#include "network/requests/settings_text.h"
#include "network/wire/http/http_exchange.h"
#include "rules/rules_text.h"

namespace network::gateway {
namespace {

// Brackets are the only characters of a question that a URL path cannot contain.
std::string with_brackets(std::string text) {
    for (auto [escape, letter] : {std::pair("%5B", "["), std::pair("%5D", "]")}) {
        size_t at = text.find(escape);
        if (at != std::string::npos) text.replace(at, 3, letter);
    }
    return text;
}

}  // namespace

std::string explanation(const GatewayContext& context, const std::string& subject, bool answers_head) {
    base::Result<Question> question = parse_question(with_brackets(subject));
    if (!question) {
        return wire::http_refusal(
            {.status = 400, .rule = {}, .reason = question.error().line(), .answers_head = answers_head});
    }
    Verdict verdict = context.engine.decide(*question);
    const auto* name = std::get_if<HostName>(&question->host);
    if (verdict.decision == Decision::ask && name != nullptr)
        verdict = context.approvals.denial_of({*name, question->port}).value_or(verdict);

    base::Json object = base::Json::object();
    object.set("subject", to_text(*question));
    object.set("allowed", verdict.is_allowed());
    object.set("decision", verdict.is_observed ? std::string_view("observed") : to_text(verdict.decision));
    object.set("rule", verdict.rule);
    object.set("origin", verdict.origin.describe());
    object.set("reason", verdict.reason);
    object.set("change", verdict.change);
    return wire::http_answer(object.dump(-1) + "\n", answers_head);
}

namespace {

// A port of `wanted` that is not in `had`; both are sorted.
std::optional<uint16_t> first_new(const std::vector<uint16_t>& wanted, const std::vector<uint16_t>& had) {
    for (uint16_t port : wanted)
        if (!std::ranges::binary_search(had, port)) return port;
    return std::nullopt;
}

base::Error needs_restart(std::string what) {
    return base::Error{.what = std::move(what) + " takes a restart of the session"};
}

base::Json json_of(const ConnectionFacts& facts) {
    base::Json object = base::Json::object();
    object.set("id", facts.id).set("name", facts.name).set("address", facts.address);
    object.set("port", facts.port).set("protocol", facts.protocol);
    object.set("sent", facts.sent).set("received", facts.received).set("age_ms", facts.age.count());
    return object;
}

// False: it is not added, because it does not fit.
bool push_within(base::Json& list, base::Json row, size_t& room) {
    size_t size = row.dump(-1).size() + 1;
    if (size > room) return false;
    room -= size;
    list.push(std::move(row));
    return true;
}

// Counts, and names that the user chose: at most 32 credentials.
void add_requests(const Broker& broker, base::Json& object) {
    base::Json credentials = base::Json::array();
    for (size_t i = 0; i < broker.bindings().size(); ++i) {
        Broker::Use use = broker.use_of(i);
        base::Json row = base::Json::object();
        row.set("name", broker.bindings()[i].name).set("requests", use.requests);
        if (use.requests > 0) {
            auto age = std::chrono::duration_cast<std::chrono::milliseconds>(Broker::Clock::now() - use.last);
            row.set("last_ms", age.count());
        }
        if (use.has_failed) row.set("failed", true);
        credentials.push(std::move(row));
    }
    object.set("requests",
               base::Json::object().set("permitted", broker.permitted()).set("refused", broker.refused()));
    object.set("credentials", std::move(credentials));
}

base::Json json_of(const Approvals::Pending& question) {
    base::Json object = base::Json::object();
    object.set("id", question.id).set("name", question.what.name.str()).set("port", question.what.port);
    if (const std::optional<AskedRequest>& request = question.what.request) {
        object.set("method", request->method).set("path", request->path);
        if (!request->detail.empty()) object.set("detail", request->detail);
        if (!request->credential.empty()) object.set("credential", request->credential);
    }
    object.set("age_ms", question.age.count()).set("left_ms", question.left.count());
    return object;
}

}  // namespace

// Listeners are created in the jail's network before it starts. The gateway cannot enter that network again.
base::Status Steering::check_ports(const Egress& wanted) const {
    if (std::optional<uint16_t> port = first_new(wanted.udp_ports, rules_.egress.udp_ports))
        return needs_restart("UDP port " + std::to_string(*port));
    if (!rules_.tcp_ports) return base::success();
    if (std::optional<uint16_t> port = first_new(wanted.tcp_ports, *rules_.tcp_ports))
        return needs_restart(base::format("port {} (this kernel has no nf_tables)", *port));
    return base::success();
}

base::Result<size_t> Steering::renew(std::string_view text, std::optional<RequestChange> requests) {
    base::Result<LiveSettings> settings = decode_settings(text);
    if (!settings) return settings.error();
    if (settings->rules.mode != rules_.egress.rules.mode) return needs_restart("network.mode");
    base::Result<Engine> engine = Engine::make(settings->rules);
    if (!engine) return engine.error();
    Egress wanted;
    wanted.rules = std::move(settings->rules);
    if (base::Status found = find_ports(wanted); !found) return found.error();
    if (base::Status checked = check_ports(wanted); !checked) return checked.error();
    if (requests) {
        if (context_.broker == nullptr) return needs_restart("a rule about requests");
        base::Status renewed = context_.broker->renew(requests->settings, std::move(requests->intermediate));
        if (!renewed) return renewed.error();
    }

    rules_.engine = *std::move(engine);
    rules_.egress.rules = std::move(wanted.rules);
    rules_.egress.passed_types = std::move(settings->passed_types);
    name_server_.judge_again();
    // Connections first: those that the answered questions release need no second check.
    size_t closed = acceptor_.judge_again() + datagrams_.judge_again();
    context_.approvals.judge_again();
    return closed;
}

std::string Steering::state() const {
    std::vector<ConnectionFacts> facts = acceptor_.list();
    std::ranges::move(datagrams_.list(), std::back_inserter(facts));
    // Threat: long names and paths of the jail's choice make a reply that is too large for the control
    // socket, and hide the questions (tests/gateway/approvals_test.cc).
    base::Json connections = base::Json::array();
    size_t room = kConnectionBytes;
    for (const ConnectionFacts& one : facts) {
        if (connections.items().size() == kMostListed || !push_within(connections, json_of(one), room)) break;
    }
    base::Json pending = base::Json::array();
    room = kPendingBytes;
    for (const Approvals::Pending& question : context_.approvals.pending()) {
        if (!push_within(pending, json_of(question), room)) break;
    }
    base::Json object = base::Json::object();
    object.set("connections", std::move(connections)).set("connection_count", facts.size());
    object.set("pending", std::move(pending)).set("refused", context_.journal.refusals().total);
    if (context_.broker != nullptr) add_requests(*context_.broker, object);
    return object.dump(-1);
}

namespace {

constexpr size_t kLargestRules = 4u << 20;
constexpr size_t kLargestHosts = 4u << 20;
constexpr size_t kLargestServers = 1u << 20;
constexpr size_t kLargestCertificate = 1u << 20;

}  // namespace

Supervision::Supervision(GatewayContext& context, base::Fd control)
    : context_(context), control_(std::move(control)) {
    slot_ = context_.loop.watch(control_.get(), EPOLLIN, *this);
}

Supervision::~Supervision() {
    context_.loop.forget(slot_, control_.get());
}

void Supervision::say(std::string_view message) const {
    (void)base::send_descriptors(control_.get(), message, {});
}

void Supervision::ask_for_files() {
    constexpr std::chrono::seconds kPause{2};
    base::EventLoop::Clock::time_point now = base::EventLoop::Clock::now();
    if (now < next_request_) return;
    next_request_ = now + kPause;
    say(kAskForFiles);
}

void Supervision::on_ready(uint32_t, int) {
    base::Result<base::PassedDescriptors> passed = base::receive_descriptors(control_.get());
    std::optional<Order> order = passed ? decode_order(passed->note) : std::nullopt;
    // The supervisor has exited, or sent a message that is not ours.
    if (!order) return end(false);
    obey(*order, passed->descriptors);
}

void Supervision::obey(const Order& order, std::vector<base::Fd>& descriptors) {
    bool has_one = descriptors.size() == 1;
    switch (order.kind) {
        case Order::Kind::end:
            return end(true);
        case Order::Kind::files:
            return renew_files(descriptors);
        case Order::Kind::rules:
            return say(encode(renew_rules(order.number, descriptors)));
        case Order::Kind::state:
            return say(encode(write_state(order.number, has_one ? descriptors[0].get() : -1)));
        case Order::Kind::deny:
            return context_.approvals.deny(order.number, order.reason);
        case Order::Kind::approve:
            return context_.approvals.approve(order.number, order.reason == kOnce);
        case Order::Kind::journal:
            if (has_one) context_.journal.go_on(std::move(descriptors[0]));
            return;
        case Order::Kind::socket:
            return pass_socket(order.number);
        case Order::Kind::publish:
            return say(encode(publish(order, descriptors)));
        case Order::Kind::unpublish:
            return say(encode(unpublish(order)));
        case Order::Kind::value:
            return take_value(order, descriptors);
        case Order::Kind::forget:
            if (context_.broker == nullptr) return;
            return context_.broker->forget_values(
                order.number == 0 ? std::nullopt : std::optional<size_t>(order.number - 1));
        case Order::Kind::certificate:
            return take_certificate(descriptors);
        case Order::Kind::program:
            if (context_.broker != nullptr) context_.broker->clients().take(order.number, order.reason);
            return;
    }
}

// All tokens fit into the pipe: it takes 64 KiB, and one value has at most 16.
void Supervision::pass_tokens(const exchange::NewTokens& issued, bool is_login) const {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
    base::Fd read(ends[0]), write(ends[1]);
    for (const exchange::NewToken& token : issued.tokens) {
        base::SecretValue line;
        line.append(std::to_string(token.binding) + " ").append(token.value).append("\n");
        (void)line.reveal([&](std::string_view bytes) { return base::write_all(write.get(), bytes); });
    }
    write.reset();
    TokensIssued note{.expires_in = static_cast<uint64_t>(std::max<int64_t>(0, issued.expires_in)),
                      .scope = base::printable(issued.scope),
                      .is_login = is_login};
    int passed[] = {read.get()};
    (void)base::send_descriptors(control_.get(), encode(std::move(note)), passed);
}

void Supervision::end(bool is_asked) {
    is_asked_ = is_asked;
    context_.loop.stop();
}

namespace {

base::Result<tls::Intermediate> read_intermediate(int file) {
    base::Result<std::string> bytes = base::read_descriptor(file, kLargestCertificate);
    if (!bytes) return bytes.error();
    base::Result<tls::Intermediate> intermediate = tls::decode_intermediate(*bytes);
    base::wipe(*bytes);
    return intermediate;
}

}  // namespace

base::Result<size_t> Supervision::read_rules(const std::vector<base::Fd>& files) const {
    const base::Error missing{.what = "the rules did not arrive"};
    if (steering_ == nullptr || files.empty() || files.size() > 3) return missing;
    base::Result<std::string> text = base::read_descriptor(files[0].get(), kLargestRules);
    if (!text) return missing;
    if (files.size() == 1) return steering_->renew(*text);
    base::Result<std::string> about_requests = base::read_descriptor(files[1].get(), kLargestRules);
    if (!about_requests) return missing;
    base::Result<requests::RequestSettings> settings = requests::decode_settings(*about_requests);
    if (!settings) return settings.error();
    Steering::RequestChange change{.settings = *std::move(settings), .intermediate = {}};
    if (files.size() == 3) {
        base::Result<tls::Intermediate> intermediate = read_intermediate(files[2].get());
        if (!intermediate) return intermediate.error();
        change.intermediate = *std::move(intermediate);
    }
    return steering_->renew(*text, std::move(change));
}

Reply Supervision::renew_rules(uint64_t ticket, const std::vector<base::Fd>& files) const {
    base::Result<size_t> closed = read_rules(files);
    if (!closed) return {.ticket = ticket, .text = {}, .failure = closed.error().line()};
    return {.ticket = ticket, .text = std::to_string(*closed), .failure = {}};
}

Reply Supervision::write_state(uint64_t ticket, int file) const {
    if (steering_ == nullptr) return {.ticket = ticket, .text = {}, .failure = "the gateway does not serve"};
    base::Status written = base::write_all(file, steering_->state());
    return {.ticket = ticket, .text = {}, .failure = written ? std::string() : written.error().line()};
}

void Supervision::pass_socket(uint64_t ticket) const {
    if (inside_ < 0) return say(encode(Reply{ticket, {}, "the gateway has no socket in the jail's network"}));
    int passed[] = {inside_};
    (void)base::send_descriptors(control_.get(), encode(Reply{.ticket = ticket}), passed);
}

Reply Supervision::publish(const Order& order, std::vector<base::Fd>& descriptors) const {
    base::Result<std::vector<Published>> ports =
        parse_published({{order.reason, config::from_flag(std::string(kPublishVerb))}});
    bool is_complete = publish_ != nullptr && ports && ports->size() == 1 && !descriptors.empty() &&
                       (descriptors.size() == 2 || publish_->has_connector());
    if (!is_complete) return {order.number, {}, "the port did not arrive"};
    if (descriptors.size() == 2) publish_->connect_by(std::move(descriptors[1]));
    publish_->listen(std::move(descriptors[0]), ports->front());
    return {.ticket = order.number};
}

Reply Supervision::unpublish(const Order& order) const {
    std::optional<uint16_t> port = base::parse_port(order.reason);
    bool was_open = publish_ != nullptr && port && publish_->end(*port);
    return {order.number, {}, was_open ? std::string() : "the port is not published"};
}

void Supervision::take_value(const Order& order, const std::vector<base::Fd>& descriptors) const {
    if (context_.broker == nullptr) return;
    if (descriptors.size() != 1)
        return context_.broker->take_value(order.number, base::Error{.what = order.reason}, {});
    base::Result<std::string> bytes =
        base::read_descriptor(descriptors[0].get(), base::SecretValue::kMaximum + 2);
    base::Result<base::SecretValue> value =
        bytes ? base::SecretValue::make(*std::move(bytes)) : base::Result<base::SecretValue>(bytes.error());
    std::chrono::seconds lifetime(base::parse_number<uint32_t>(order.reason).value_or(0));
    context_.broker->take_value(order.number, std::move(value), lifetime);
}

// On a failure the old certificate is used to its end, and the gateway asks again.
void Supervision::take_certificate(const std::vector<base::Fd>& descriptors) const {
    if (context_.broker == nullptr || descriptors.size() != 1) return;
    base::Result<tls::Intermediate> intermediate = read_intermediate(descriptors[0].get());
    if (intermediate) (void)context_.broker->take_certificate(*std::move(intermediate));
}

void Supervision::renew_files(const std::vector<base::Fd>& descriptors) const {
    if (descriptors.size() != 2) return;
    base::Result<std::string> hosts = base::read_descriptor(descriptors[0].get(), kLargestHosts);
    base::Result<std::string> servers = base::read_descriptor(descriptors[1].get(), kLargestServers);
    if (hosts && servers) context_.resolver.renew({.hosts = *hosts, .resolv_conf = *servers});
}

}  // namespace network::gateway
