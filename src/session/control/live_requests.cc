// SPDX-License-Identifier: MIT
// The part of a live change that is about requests: their rules, and certificates for the hosts that they
// name.
#include <poll.h>

#include <algorithm>
#include <utility>

#include "base/parse.h"
#include "base/process/descriptors.h"
#include "config/data.h"
#include "session/control/steering.h"

namespace session {
namespace {

constexpr std::chrono::milliseconds kLongestSigning{1000};

}  // namespace

bool is_about_requests(const LiveRule& rule) {
    if (rule.kind == LiveRule::Kind::publish) return false;
    if (!rule.target.starts_with('@')) return rule.target.find(' ') != std::string::npos;
    return !config::data_list("requests/" + rule.target.substr(1)).empty();
}

// Rules that name further hosts need an intermediate certificate for them.
void LiveRules::certify(const Replanned& replanned) {
    bool has_new_names = replanned.requests && certificates_.maker &&
                         !std::ranges::includes(certificates_.names, replanned.requests->names);
    if (!has_new_names) return send_rules(replanned);
    issue(replanned.requests->names, [this, replanned](base::Result<base::Fd> intermediate) {
        intermediate ? send_rules(replanned, *std::move(intermediate)) : finish(intermediate.error());
    });
}

void LiveRules::issue(const std::vector<std::string>& names,
                      CertificateMaker::OnIntermediate on_intermediate) {
    certificates_.maker->issue(names, std::move(on_intermediate));
    if (is_watching_maker_ || certificates_.maker->events() < 0) return;
    // A session without a control socket has no loop here. The answer takes milliseconds.
    if (control_.events() < 0) {
        if (base::await_events(certificates_.maker->descriptor(), POLLIN, kLongestSigning) != 0)
            certificates_.maker->hear();
        return;
    }
    is_watching_maker_ = true;
    control_.watch(certificates_.maker->events(), [this] { hear_maker(); });
}

void LiveRules::hear_maker() {
    const int socket = certificates_.maker->descriptor();
    certificates_.maker->hear();
    if (certificates_.maker->events() >= 0) return;
    control_.forget(socket);
    is_watching_maker_ = false;
}

// Threat: a gateway that is taken over lets the supervisor sign without end. It chooses neither the names nor
// the moment (tests/session/live_rules_test.cc).
void LiveRules::renew_certificate() {
    const auto now = std::chrono::steady_clock::now();
    if (!certificates_.maker || certificates_.names.empty() || now < next_certificate_) return;
    next_certificate_ = now + kBetweenCertificates;
    issue(certificates_.names, [this](base::Result<base::Fd> intermediate) {
        if (intermediate) gateway_.pass_certificate(*std::move(intermediate));
    });
}

void LiveRules::send_rules(const Replanned& replanned, base::Fd intermediate) {
    if (changes_.front().action == "reload") gateway_.forget_values();
    std::optional<Gateway::RequestRules> requests;
    if (replanned.requests)
        requests = {.settings = replanned.requests->settings, .intermediate = std::move(intermediate)};
    auto on_reply = [this, replanned](base::Result<std::string> closed) {
        if (!closed) return finish(closed.error());
        rules_ = wanted();
        policy_ = replanned.policy;
        if (replanned.requests) certificates_.names = replanned.requests->names;
        Changed changed{.restart = replanned.restart, .note = replanned.note};
        changed.closed = base::leading_number<decltype(changed.closed)>(*closed).value_or(changed.closed);
        finish(changed);
    };
    gateway_.send_rules(replanned.egress, std::move(requests), std::move(on_reply));
}

}  // namespace session
