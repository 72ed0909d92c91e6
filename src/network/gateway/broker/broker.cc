// SPDX-License-Identifier: MIT
#include "network/gateway/broker/broker.h"

#include <algorithm>
#include <utility>

#include "base/parse.h"
#include "base/text.h"

namespace network::gateway {
namespace {

constexpr uint16_t kUsualTls = 443;
constexpr uint16_t kUsualHttp = 80;

std::vector<std::string> placeholders_of(const exchange::BrokerSpec& spec) {
    std::vector<std::string> placeholders;
    for (const exchange::Binding& binding : spec.bindings) placeholders.emplace_back(binding.mark());
    return placeholders;
}

// The users that Basic sends before the value, so that the whole text is found in answers.
std::vector<std::string> users_of(const exchange::Binding& binding) {
    std::vector<std::string> users = {"x-access-token", "oauth2", "git"};
    for (const exchange::Put& put : binding.puts) {
        if (put.kind == exchange::Put::Kind::basic && put.name != "*") users.push_back(put.name);
    }
    return users;
}

}  // namespace

Broker::Broker(BrokerInputs&& inputs)
    : spec_(std::move(inputs.spec)),
      finder_(placeholders_of(spec_)),
      roots_(std::move(inputs.roots)),
      records_paths_(inputs.records_paths),
      intermediate_(std::move(inputs.intermediate)),
      intercepts_(intermediate_.has_value()),
      clock_(std::move(inputs.clock)),
      values_(spec_.bindings.size()) {}

base::Result<std::unique_ptr<Broker>> Broker::make(BrokerInputs inputs) {
    std::unique_ptr<Broker> made(new Broker(std::move(inputs)));
    base::Result<requests::RequestRules> rules = requests::RequestRules::make(made->spec_.requests);
    if (!rules) return rules.error();
    made->rules_ = std::make_shared<const requests::RequestRules>(*std::move(rules));
    return made;
}

void Broker::tell_once(const std::string& subject, const std::string& text) {
    // Threat: a jail uses up the notices with failed handshakes before it sends a placeholder elsewhere. So
    // findings, whose subjects begin with this word, have a quota of their own.
    auto is_finding = [](std::string_view other) { return other.starts_with("placeholder "); };
    auto is_alike = [&](const std::string& told) { return is_finding(told) == is_finding(subject); };
    bool is_full = static_cast<size_t>(std::ranges::count_if(told_, is_alike)) >= kMostNotices;
    if (is_full || !told_.insert(subject).second || !tell_) return;
    tell_(text);
}

void Broker::start(base::EventLoop& loop, std::function<void(size_t, bool)> ask,
                   std::function<void(const std::string&)> tell) {
    ask_ = std::move(ask);
    tell_ = std::move(tell);
    // Starting OpenSSL and reading the roots take long. The command starts meanwhile, and its first
    // connection comes later.
    constexpr std::chrono::milliseconds kStart{30};
    loop.after(kStart, [this] {
        if (intercepts_) (void)toward_clients();
        (void)toward_servers();
    });
    // The clock may jump, for instance while the machine sleeps: each connection looks, too.
    if (intercepts_) watch_certificate(loop);
}

void Broker::watch_certificate(base::EventLoop& loop) {
    loop.after(kBetweenCertificates, [this, &loop] {
        look_at_certificate();
        watch_certificate(loop);
    });
}

void Broker::look_at_certificate() {
    if (!server_ || !on_certificate_end_) return;
    const std::time_t now = clock_();
    if (now < certificate_end_ - kBeforeTheEnd.count() || now < next_certificate_) return;
    next_certificate_ = now + kBetweenCertificates.count();
    on_certificate_end_();
}

base::Result<std::shared_ptr<tls::ServerContext>> Broker::toward_clients() {
    look_at_certificate();
    if (server_) return server_;
    if (!intermediate_) return base::Error{.what = "there is no certificate for connections of the jail"};
    base::Result<std::shared_ptr<tls::ServerContext>> made = make_server(*intermediate_);
    if (!made) return made.error();
    server_ = *std::move(made);
    intermediate_.reset();
    return server_;
}

base::Result<std::shared_ptr<tls::ServerContext>> Broker::make_server(const tls::Intermediate& intermediate) {
    base::Result<tls::LeafIssuer> issuer = tls::LeafIssuer::make(intermediate);
    if (!issuer) return issuer.error();
    const std::time_t end = issuer->end();
    auto is_read = [this](std::string_view text) {
        base::Result<HostName> name = HostName::parse(text);
        return name && names(*name);
    };
    base::Result<std::unique_ptr<tls::ServerContext>> made =
        tls::ServerContext::make(*std::move(issuer), is_read, clock_);
    if (!made) return made.error();
    certificate_end_ = end;
    return std::shared_ptr<tls::ServerContext>(*std::move(made));
}

base::Status Broker::take_certificate(const tls::Intermediate& intermediate) {
    if (!intercepts_) return base::Error{.what = "this session does not decrypt connections"};
    base::Result<std::shared_ptr<tls::ServerContext>> made = make_server(intermediate);
    if (!made) return made.error();
    server_ = *std::move(made);
    intermediate_.reset();
    return base::success();
}

base::Status Broker::renew(const requests::RequestSettings& settings,
                           std::optional<tls::Intermediate> intermediate) {
    base::Result<requests::RequestRules> rules = requests::RequestRules::make(settings);
    if (!rules) return rules.error();
    if (intermediate) {
        if (base::Status taken = take_certificate(*std::move(intermediate)); !taken) return taken;
    }
    rules_ = std::make_shared<const requests::RequestRules>(*std::move(rules));
    spec_.requests = settings;
    return base::success();
}

void Broker::count_request(const std::vector<size_t>& used, bool is_permitted) {
    ++(is_permitted ? permitted_ : refused_);
    if (!is_permitted) return;
    for (size_t binding : used) {
        ++values_[binding].use.requests;
        values_[binding].use.last = Clock::now();
    }
}

Broker::Use Broker::use_of(size_t binding) const {
    Use use = values_[binding].use;
    use.has_failed = !values_[binding].failure.empty();
    return use;
}

bool Broker::hold(size_t before, size_t now) {
    held_ -= std::min(before, held_);
    if (now > kMostHeld - std::min(held_, kMostHeld)) return false;
    held_ += now;
    return true;
}

base::Result<tls::ClientContext*> Broker::toward_servers() {
    if (client_) return client_.get();
    base::Result<std::unique_ptr<tls::ClientContext>> made = tls::ClientContext::make(roots_);
    if (!made) return made.error();
    client_ = *std::move(made);
    std::string().swap(roots_);
    return client_.get();
}

const exchange::Binding* Broker::endpoint_of(const HostName& name) const {
    std::string_view text = name.str();
    if (!text.ends_with(exchange::kEndpointSuffix)) return nullptr;
    text.remove_suffix(exchange::kEndpointSuffix.size());
    for (const exchange::Binding& binding : spec_.bindings) {
        bool has_host = !binding.hosts.empty() && !binding.hosts.front().is_wildcard;
        if (base::lower(binding.name) == text && has_host) return &binding;
    }
    return nullptr;
}

std::optional<Broker::Way> Broker::way_to(const HostName& name, uint16_t port) const {
    if (const exchange::Binding* binding = endpoint_of(name)) {
        const requests::HostPattern& host = binding->hosts.front();
        base::Result<HostName> server = HostName::parse(host.name);
        if (port != exchange::kEndpointPort || !server) return std::nullopt;
        return Way{*std::move(server), host.port.value_or(kUsualTls), true};
    }
    if (!intercepts_ || rules_->is_opaque(name.str(), port)) return std::nullopt;
    // Another port must be named: what is spoken there may be ssh or mail.
    bool is_usual = port == kUsualTls || port == kUsualHttp;
    bool is_read = has_host([&](const requests::HostPattern& host) {
        return (is_usual || host.port) && host.matches(name.str(), port);
    });
    return is_read ? std::optional(Way{name, port, false}) : std::nullopt;
}

bool Broker::has_host(const std::function<bool(const requests::HostPattern&)>& is_meant) const {
    auto is_bound = [&](const exchange::Binding& binding) {
        return std::ranges::any_of(binding.hosts, is_meant);
    };
    return std::ranges::any_of(spec_.bindings, is_bound) || std::ranges::any_of(rules_->hosts(), is_meant);
}

bool Broker::names(const HostName& name) const {
    return intercepts_ && has_host([&](const requests::HostPattern& host) {
               uint16_t port = host.port.value_or(kUsualTls);
               return host.matches(name.str(), port) && !rules_->is_opaque(name.str(), port);
           });
}

Broker::Readiness Broker::look(size_t binding) {
    Held& held = values_[binding];
    Clock::time_point now = Clock::now();
    if (held.is_asked) return Readiness::waiting;
    bool is_old =
        (held.until && now >= *held.until) || (held.is_stale && now - held.fetched >= kPauseAfterRefusal);
    if (!held.value.is_empty() && !is_old) return Readiness::ready;
    if (!held.failure.empty() && now - held.failed < kPauseAfterFailure) return Readiness::failed;
    held.is_asked = true;
    ask_(binding, held.locks);
    return Readiness::waiting;
}

Broker::Readiness Broker::look(const std::vector<size_t>& bindings, std::string& failure) {
    Readiness all = Readiness::ready;
    for (size_t binding : bindings) {
        Readiness one = look(binding);
        if (one == Readiness::failed) {
            failure = base::format("the credential '{}' has no value: {}", spec_.bindings[binding].name,
                                   values_[binding].failure);
            return one;
        }
        if (one == Readiness::waiting) all = one;
    }
    return all;
}

void Broker::need(std::vector<size_t> bindings, std::weak_ptr<char> alive, OnValues on_values) {
    std::string failure;
    if (look(bindings, failure) != Readiness::waiting) return on_values(failure);
    waiters_.push_back({std::move(bindings), std::move(alive), std::move(on_values)});
}

void Broker::need_anew(size_t binding, std::weak_ptr<char> alive, OnValues on_values) {
    Held& held = values_[binding];
    held.locks = true;
    held.failure.clear();
    held.until = Clock::now();
    // The one that is on its way comes without the lock.
    held.is_outdated = held.is_asked;
    need({binding}, std::move(alive), std::move(on_values));
}

void Broker::take_tokens(exchange::NewTokens issued, bool is_login) {
    if (issued.tokens.empty()) return;
    logins_.pass(issued, is_login);
    for (exchange::NewToken& token : issued.tokens) {
        Held& held = values_[token.binding];
        if (!exchange::is_same_value(held.value, token.value)) retire(token.binding);
        held.value = std::move(token.value);
        held.failure.clear();
        held.is_stale = false;
        held.fetched = Clock::now();
        held.until.reset();
    }
    make_forms();
}

void Broker::take_value(size_t binding, base::Result<base::SecretValue> value,
                        std::chrono::seconds lifetime) {
    if (binding >= values_.size()) return;
    Held& held = values_[binding];
    if (std::exchange(held.is_outdated, false)) {
        if (value) value->clear();
        return ask_(binding, held.locks);
    }
    held.is_asked = held.is_stale = held.locks = false;
    Clock::time_point now = Clock::now();
    if (!value || !exchange::is_same_value(held.value, *value)) retire(binding);
    if (value) {
        held.value = *std::move(value);
        held.failure.clear();
        held.fetched = now;
        held.until = lifetime.count() > 0 ? std::optional(now + lifetime) : std::nullopt;
    } else {
        held.failure = value.error().line();
        held.failed = now;
    }
    make_forms();
    std::vector<Waiter> waiters = std::exchange(waiters_, {});
    for (Waiter& waiter : waiters) {
        if (waiter.alive.expired()) continue;
        std::string failure;
        if (look(waiter.bindings, failure) == Readiness::waiting) {
            waiters_.push_back(std::move(waiter));
        } else {
            waiter.on_values(failure);
        }
    }
}

void Broker::make_forms() {
    auto forms = std::make_shared<exchange::RedactionForms>();
    auto add = [&](size_t binding, const base::SecretValue& value) {
        if (!spec_.bindings[binding].signs()) return forms->add(value, users_of(spec_.bindings[binding]));
        // The ID of a key is not secret: answers name keys by it.
        std::optional<exchange::AwsKeys> keys = exchange::AwsKeys::split(value);
        if (!keys) return;
        forms->add(keys->secret);
        if (!keys->token.is_empty()) forms->add(keys->token);
    };
    for (size_t i = 0; i < values_.size(); ++i) {
        if (!values_[i].value.is_empty()) add(i, values_[i].value);
    }
    for (const Earlier& old : earlier_) add(old.binding, old.value);
    forms_ = forms->is_empty() ? nullptr : std::move(forms);
}

// Threat: a server that kept the value of an earlier request shows it after the value was replaced or
// dropped (tests/gateway/broker_test.cc).
void Broker::retire(size_t binding) {
    base::SecretValue old = std::move(values_[binding].value);
    values_[binding].value.clear();
    auto is_old = [&](const Earlier& earlier) { return exchange::is_same_value(earlier.value, old); };
    if (old.is_empty()) return;
    if (auto found = std::ranges::find_if(earlier_, is_old); found != earlier_.end()) {
        found->is_removed = false;
        return;
    }
    if (earlier_.size() == kMostEarlier) earlier_.erase(earlier_.begin());
    earlier_.push_back({binding, std::move(old), false});
}

void Broker::wipe_removed() {
    if (connections_ > 0) return;
    if (std::erase_if(earlier_, [](const Earlier& earlier) { return earlier.is_removed; }) > 0) make_forms();
}

void Broker::renew_later(const std::vector<size_t>& bindings) {
    for (size_t binding : bindings) values_[binding].is_stale = true;
}

void Broker::forget_values(std::optional<size_t> binding) {
    for (size_t i = 0; i < values_.size(); ++i) {
        if (binding && i != *binding) continue;
        Held& held = values_[i];
        retire(i);
        held.failure.clear();
        held.is_outdated = held.is_asked;
    }
    for (Earlier& earlier : earlier_) earlier.is_removed |= binding == earlier.binding;
    make_forms();
    wipe_removed();
}

bool Broker::enter() {
    if (connections_ >= kMostConnections) return false;
    ++connections_;
    return true;
}

void Broker::leave() {
    --connections_;
    wipe_removed();
}

}  // namespace network::gateway
