// SPDX-License-Identifier: MIT
// Theory of operation. Making a policy reads files, which is slow if they are on a network file system. The
// supervisor must not wait for that, because it serves the terminal and the limits. So it forks a process,
// which has everything that the first plan was made from. This process makes the new policy and sends it
// through a pipe:
//
//   request → fork: the policy anew → rules to the gateway → connections judged again → reply, record
//
// Changes are made one after the other.
#include "session/control/live_rules.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/encoding/codec.h"
#include "base/parse.h"
#include "base/process/descriptors.h"
#include "base/text.h"
#include "rules/text/settings_text.h"

template <>
inline constexpr auto base::kFields<base::Error> = std::tuple(&base::Error::what, &base::Error::advice,
                                                              &base::Error::where);
// The rules of the network follow as a message of their own (rules/text/settings_text.h).
template <>
inline constexpr auto base::kFields<session::Replanned> = std::tuple(&session::Replanned::policy,
                                                                     &session::Replanned::restart);

namespace session {
namespace {

constexpr size_t kMostChanges = 64;
constexpr std::string_view kMade = "made";
constexpr std::string_view kFailed = "failed";

// From the forked planner to its parent, which is the same program.
std::string encode_replanned(const base::Result<Replanned>& replanned) {
    if (!replanned) return base::encode_message(kFailed, replanned.error());
    return base::encode_message(kMade, *replanned) +
           network::encode_settings(replanned->egress.rules, replanned->egress.passed_types);
}

base::Result<Replanned> decode_replanned(const std::string& text) {
    base::Error error;
    base::Decoded failure = base::decode_message(kFailed, text, error);
    if (failure == base::Decoded::well && !error.what.empty()) return error;
    if (failure != base::Decoded::other) return base::Error{.what = "the policy could not be read again"};

    Replanned replanned;
    base::FieldReader reader(text);
    bool is_made = reader.next() == kMade;
    base::read(reader, replanned);
    base::Result<network::LiveSettings> settings = network::decode_settings(reader.rest());
    if (!is_made || !reader.is_good() || !settings) return base::Error{.what = "the new rules came damaged"};
    replanned.egress.rules = std::move(settings->rules);
    replanned.egress.passed_types = std::move(settings->passed_types);
    return replanned;
}

[[noreturn]] void plan_and_answer(const Replan& replan, const std::vector<LiveRule>& rules, int answer,
                                  pid_t supervisor) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != supervisor) ::_exit(1);
    base::close_others({answer});
    base::fill_standard_descriptors();
    (void)base::write_all(answer, encode_replanned(replan(rules)));
    ::_exit(0);
}

}  // namespace

LiveRules::~LiveRules() {
    if (planner_ <= 0) return;
    ::kill(planner_, SIGKILL);
    while (::waitpid(planner_, nullptr, 0) < 0 && errno == EINTR) continue;
}

void LiveRules::add(LiveRule rule, OnDone on_done) {
    std::string action = rule.is_allowed ? "allow" : "block";
    enqueue({std::move(action), std::move(rule), std::move(on_done)});
}

void LiveRules::reload(OnDone on_done) {
    enqueue({"reload", {}, std::move(on_done)});
}

void LiveRules::enqueue(Change change) {
    if (!replan_) {
        return change.on_done(base::Error{.what = "this session can't be changed while it runs"});
    }
    if (gateway_.process() < 0) {
        return change.on_done(base::Error{.what = "this session has no network that could be changed",
                                          .advice = "start it with --network filtered or proxied"});
    }
    if (changes_.size() >= kMostChanges) {
        return change.on_done(base::Error{.what = "too many changes at once", .advice = "try again"});
    }
    changes_.push_back(std::move(change));
    if (changes_.size() == 1) begin();
}

// The latest rule for a target counts.
std::vector<LiveRule> LiveRules::wanted() const {
    std::vector<LiveRule> wanted = rules_;
    const Change& change = changes_.front();
    if (change.action == "reload") return wanted;
    std::erase_if(wanted, [&](const LiveRule& rule) { return rule.target == change.rule.target; });
    wanted.push_back(change.rule);
    return wanted;
}

void LiveRules::begin() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return finish(base::system_error("make a pipe", errno));
    answer_ = base::Fd(ends[0]);
    base::Fd theirs(ends[1]);
    received_.clear();
    pid_t supervisor = ::getpid();
    planner_ = ::fork();
    if (planner_ < 0) return finish(base::system_error("start a process", errno));
    if (planner_ == 0) plan_and_answer(replan_, wanted(), theirs.get(), supervisor);
    ::fcntl(answer_.get(), F_SETFL, O_NONBLOCK);
    control_.watch(answer_.get(), [this] { hear_planner(); });
}

void LiveRules::hear_planner() {
    char bytes[16384];
    ssize_t got = ::read(answer_.get(), bytes, sizeof bytes);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got > 0) {
        received_.append(bytes, static_cast<size_t>(got));
        return;
    }
    control_.forget(answer_.get());
    answer_.reset();
    while (::waitpid(planner_, nullptr, 0) < 0 && errno == EINTR) continue;
    planner_ = -1;
    apply(decode_replanned(received_));
}

void LiveRules::apply(base::Result<Replanned> replanned) {
    if (!replanned) return finish(replanned.error());
    gateway_.send_rules(replanned->egress, [this, policy = replanned->policy,
                                            restart = replanned->restart](base::Result<std::string> closed) {
        if (!closed) return finish(closed.error());
        rules_ = wanted();
        policy_ = policy;
        Changed changed{.restart = restart};
        changed.closed = base::leading_number<decltype(changed.closed)>(*closed).value_or(changed.closed);
        finish(changed);
    });
}

void LiveRules::finish(const base::Result<Changed>& changed) {
    Change change = std::move(changes_.front());
    changes_.pop_front();
    audit::Line line("policy");
    line.text("action", change.action).text("target", change.rule.target);
    if (changed) {
        line.text("verdict", "allow").text("policy", policy_).number("closed", changed->closed);
        if (!changed->restart.empty()) line.texts("restart", changed->restart);
    } else {
        line.text("verdict", "deny").text("reason", changed.error().line());
    }
    record_.write(std::move(line));
    change.on_done(changed);
    if (!changes_.empty()) begin();
}

}  // namespace session
