// SPDX-License-Identifier: MIT
#include "network/gateway/names/resolver_query.h"

#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/parse.h"
#include "base/text.h"
#include "network/gateway/sockets.h"
#include "network/wire/bytes.h"

namespace network::gateway {
namespace {

std::vector<std::string_view> words_of(std::string_view line) {
    constexpr std::string_view kBlank = " \t\r\f\v";
    std::vector<std::string_view> words;
    for (;;) {
        size_t begin = line.find_first_not_of(kBlank);
        if (begin == std::string_view::npos) return words;
        line.remove_prefix(begin);
        words.push_back(line.substr(0, line.find_first_of(kBlank)));
        line.remove_prefix(words.back().size());
    }
}

std::string_view without_comment(std::string_view line, std::string_view marks) {
    return line.substr(0, line.find_first_of(marks));
}

// The number behind a key: 3 for "timeout:3" and "timeout:".
std::optional<int> option(std::string_view word, std::string_view key, int most) {
    if (!word.starts_with(key)) return std::nullopt;
    word.remove_prefix(key.size());
    const std::optional<int> value = base::parse_number<int>(word);
    if (!value) return std::nullopt;
    return std::clamp(*value, 1, most);
}

void read_options(const std::vector<std::string_view>& words, ServerSettings& settings) {
    for (std::string_view word : words) {
        if (auto timeout = option(word, "timeout:", ServerSettings::kMostSeconds))
            settings.time_per_try = std::chrono::seconds(*timeout);
        if (auto rounds = option(word, "attempts:", ServerSettings::kMostRounds)) settings.rounds = *rounds;
        if (word == "rotate") settings.rotates = true;
    }
}

}  // namespace

HostsTable parse_hosts(std::string_view text) {
    HostsTable table;
    for (std::string_view line : base::split(text, '\n')) {
        std::vector<std::string_view> words = words_of(without_comment(line, "#"));
        if (words.size() < 2) continue;
        base::Result<Address> address = Address::parse(words.front());
        if (!address) continue;
        for (size_t i = 1; i < words.size(); ++i) {
            base::Result<HostName> name = HostName::parse(words[i]);
            if (!name) continue;
            std::vector<Address>& addresses = table[*name];
            if (std::ranges::find(addresses, *address) == addresses.end()) addresses.push_back(*address);
        }
    }
    for (auto& [name, addresses] : table)
        std::ranges::stable_partition(addresses, [](const Address& address) { return address.is_v4(); });
    return table;
}

ServerSettings parse_resolv_conf(std::string_view text) {
    ServerSettings settings;
    for (std::string_view line : base::split(text, '\n')) {
        // A comment must be on a line of its own, but some files have one after an address.
        std::vector<std::string_view> words = words_of(without_comment(line, "#;"));
        if (words.size() < 2) continue;
        if (words.front() == "options") read_options(words, settings);
        if (words.front() != "nameserver") continue;
        base::Result<Address> address = Address::parse(words[1]);
        if (address && settings.servers.size() < ServerSettings::kMostServers)
            settings.servers.push_back(*address);
    }
    if (settings.servers.empty()) settings.servers.push_back(*Address::parse("127.0.0.1"));
    return settings;
}

namespace {

constexpr size_t kLargestAnswer = 4096;  // we request 1232; a larger one is truncated and malformed
constexpr size_t kLengthBytes = 2;       // before each message over TCP

bool is_soon(int number) {
    return number == EAGAIN || number == EWOULDBLOCK || number == EINTR;
}

base::Fd connected_socket(int type, const Address& server, uint16_t port) {
    SocketAddress address(Endpoint{server, port});
    base::Fd socket(::socket(address.family(), type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket) return {};
    if (::connect(socket.get(), &address.any, address.length) != 0 && errno != EINPROGRESS) return {};
    return socket;
}

std::string_view words_for(wire::DnsCode code) {
    switch (code) {
        case wire::DnsCode::server_failure:
            return " could not find out";
        case wire::DnsCode::refused:
            return " refuses to answer";
        default:
            return " answers with an error";
    }
}

}  // namespace

ResolverQuery::ResolverQuery(base::EventLoop& loop, std::shared_ptr<const ServerSettings> settings,
                             wire::DnsQuestion question, bool has_edns, Done done)
    : loop_(loop),
      settings_(std::move(settings)),
      question_(std::move(question)),
      has_edns_(has_edns),
      done_(std::move(done)) {}

ResolverQuery::~ResolverQuery() {
    close();
    if (whole_timer_ != 0) loop_.cancel(whole_timer_);
}

void ResolverQuery::start(size_t first_server) {
    first_server_ = first_server;
    whole_timer_ = loop_.after(kLongest, [this] {
        whole_timer_ = 0;
        finish({.reason = step_ == Step::idle ? reason_ : "no answer from " + server().str()});
    });
    // Through a timer, so that the caller has stored its state before the query can fail.
    try_timer_ = loop_.after(std::chrono::milliseconds(0), [this] {
        try_timer_ = 0;
        if (!open_udp()) try_next("cannot reach " + server().str());
    });
}

const Address& ResolverQuery::server() const {
    return settings_->servers[(first_server_ + tries_) % settings_->servers.size()];
}

void ResolverQuery::try_next(std::string reason) {
    for (;;) {
        reason_ = std::move(reason);
        close();
        ++tries_;
        if (tries_ >= settings_->servers.size() * static_cast<size_t>(settings_->rounds)) {
            finish({.reason = reason_});
            return;
        }
        if (open_udp()) return;
        reason = "cannot reach " + server().str();
    }
}

bool ResolverQuery::renew_id() {
    return ::getrandom(&id_, sizeof id_, 0) == sizeof id_;
}

bool ResolverQuery::open_udp() {
    base::Fd socket = connected_socket(SOCK_DGRAM, server(), settings_->port);
    if (!socket || !renew_id()) return false;
    std::string query = wire::write_dns_query(id_, question_, has_edns_);
    if (::send(socket.get(), query.data(), query.size(), MSG_NOSIGNAL) < 0) return false;
    step_ = Step::udp;
    open(std::move(socket), EPOLLIN);
    return true;
}

void ResolverQuery::open_tcp() {
    close();
    base::Fd socket = connected_socket(SOCK_STREAM, server(), settings_->port);
    if (!socket || !renew_id()) {
        try_next(base::format("cannot reach {} over TCP", server().str()));
        return;
    }
    received_.clear();
    step_ = Step::tcp_connecting;
    open(std::move(socket), EPOLLOUT);
}

void ResolverQuery::open(base::Fd socket, uint32_t events) {
    socket_ = std::move(socket);
    slot_ = loop_.watch(socket_.get(), events, *this);
    restart_timer();
}

void ResolverQuery::restart_timer() {
    if (try_timer_ != 0) loop_.cancel(try_timer_);
    try_timer_ = loop_.after(settings_->time_per_try, [this] {
        try_timer_ = 0;
        try_next("no answer from " + server().str());
    });
}

void ResolverQuery::close() {
    step_ = Step::idle;
    if (try_timer_ != 0) loop_.cancel(try_timer_);
    if (!socket_) return;
    loop_.forget(std::exchange(slot_, nullptr), socket_.get());
    socket_.reset();
}

void ResolverQuery::finish(Outcome outcome) {
    close();
    if (whole_timer_ != 0) loop_.cancel(whole_timer_);
    if (Done done = std::exchange(done_, nullptr)) done(std::move(outcome));
}

void ResolverQuery::on_ready(uint32_t, int) {
    switch (step_) {
        case Step::udp:
            return read_udp();
        case Step::tcp_connecting:
            return send_tcp();
        case Step::tcp_reading:
            return read_tcp();
        case Step::idle:
            return;
    }
}

void ResolverQuery::read_udp() {
    char buffer[kLargestAnswer];
    // Every message may finish the query or open another socket.
    for (size_t try_at_start = tries_; step_ == Step::udp && tries_ == try_at_start;) {
        ssize_t count = ::recv(socket_.get(), buffer, sizeof buffer, 0);
        if (count < 0 && is_soon(errno)) return;
        if (count < 0) {
            // An ICMP error: no program listens there, or there is no route.
            try_next(base::format("cannot reach {} ({})", server().str(), std::strerror(errno)));
            return;
        }
        take(std::string(buffer, static_cast<size_t>(count)));
    }
}

void ResolverQuery::send_tcp() {
    int fault = 0;
    socklen_t length = sizeof fault;
    ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &fault, &length);
    std::string frame = wire::dns_frame(wire::write_dns_query(id_, question_, has_edns_));
    ssize_t sent = fault == 0 ? ::send(socket_.get(), frame.data(), frame.size(), MSG_NOSIGNAL) : -1;
    // The first few hundred bytes on a new connection always fit.
    if (sent != static_cast<ssize_t>(frame.size())) {
        try_next(base::format("cannot reach {} over TCP", server().str()));
        return;
    }
    step_ = Step::tcp_reading;
    loop_.change(slot_, socket_.get(), EPOLLIN);
}

void ResolverQuery::read_tcp() {
    char buffer[16384];
    ssize_t count = ::recv(socket_.get(), buffer, sizeof buffer, 0);
    if (count < 0 && is_soon(errno)) return;
    if (count <= 0) {
        try_next(server().str() + " ended the connection before its answer");
        return;
    }
    received_.append(buffer, static_cast<size_t>(count));
    if (received_.size() < kLengthBytes) return;
    size_t length = wire::Cursor(received_).u16();
    if (received_.size() < kLengthBytes + length) return;
    std::string message = received_.substr(kLengthBytes, length);
    received_.erase(0, kLengthBytes + length);
    take(std::move(message));
}

void ResolverQuery::take(std::string message) {
    using Kind = wire::DnsReply::Kind;
    wire::DnsReply reply = wire::parse_dns_reply(message, id_, question_);
    bool is_udp = step_ == Step::udp;
    if (reply.kind == Kind::not_ours) {
        // Over TCP only the server itself can have sent it.
        if (!is_udp) try_next(server().str() + " answers another question");
        return;
    }
    if (reply.kind == Kind::truncated && is_udp) return open_tcp();
    if (reply.kind != Kind::answer)
        return try_next(server().str() + " sends something that is not an answer");
    if (reply.code != wire::DnsCode::no_error && reply.code != wire::DnsCode::no_such_name)
        return try_next(server().str() + std::string(words_for(reply.code)));
    finish({.is_answered = true, .reply = std::move(reply), .message = std::move(message), .reason = {}});
}

}  // namespace network::gateway
