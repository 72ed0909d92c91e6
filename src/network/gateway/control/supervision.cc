// SPDX-License-Identifier: MIT
#include "network/gateway/control/supervision.h"

#include <sys/epoll.h>

#include <utility>

namespace network::gateway {
namespace {

constexpr size_t kLargestRules = 4u << 20;
constexpr size_t kLargestHosts = 4u << 20;
constexpr size_t kLargestServers = 1u << 20;

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
            return say(encode(renew_rules(order.number, has_one ? descriptors[0].get() : -1)));
        case Order::Kind::state:
            return say(encode(write_state(order.number, has_one ? descriptors[0].get() : -1)));
        case Order::Kind::deny:
            return context_.questions.deny(order.number, order.reason);
        case Order::Kind::journal:
            if (has_one) context_.journal.go_on(std::move(descriptors[0]));
            return;
    }
}

void Supervision::end(bool is_asked) {
    is_asked_ = is_asked;
    context_.loop.stop();
}

Reply Supervision::renew_rules(uint64_t ticket, int file) const {
    base::Result<std::string> text = base::read_descriptor(file, kLargestRules);
    base::Result<size_t> closed = text && steering_ != nullptr
                                      ? steering_->renew(*text)
                                      : base::Result<size_t>(base::Error{.what = "the rules did not arrive"});
    if (!closed) return {.ticket = ticket, .text = {}, .failure = closed.error().line()};
    return {.ticket = ticket, .text = std::to_string(*closed), .failure = {}};
}

Reply Supervision::write_state(uint64_t ticket, int file) const {
    if (steering_ == nullptr) return {.ticket = ticket, .text = {}, .failure = "the gateway does not serve"};
    base::Status written = base::write_all(file, steering_->state());
    return {.ticket = ticket, .text = {}, .failure = written ? std::string() : written.error().line()};
}

void Supervision::renew_files(const std::vector<base::Fd>& descriptors) const {
    if (descriptors.size() != 2) return;
    base::Result<std::string> hosts = base::read_descriptor(descriptors[0].get(), kLargestHosts);
    base::Result<std::string> servers = base::read_descriptor(descriptors[1].get(), kLargestServers);
    if (hosts && servers) context_.resolver.renew({.hosts = *hosts, .resolv_conf = *servers});
}

}  // namespace network::gateway
