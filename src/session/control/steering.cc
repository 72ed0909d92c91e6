// SPDX-License-Identifier: MIT
#include "session/control/steering.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/encoding/base64.h"
#include "base/encoding/codec.h"
#include "base/parse.h"
#include "base/process/descriptors.h"
#include "base/text.h"
#include "plan/system/limits.h"
#include "rules/rules_text.h"
#include "session/limits/limits.h"
#include "session/limits/watch.h"
#include "ssh_agent/questions.h"

// Theory of operation. Making a policy reads files, which is slow if they are on a network file system. The
// supervisor must not wait for that, because it serves the terminal and the limits. So it forks a process,
// which has everything that the first plan was made from. This process makes the new policy and sends it
// through a pipe:
//
//   request → fork: the policy anew → rules to the gateway → connections judged again → reply, record
//
// Changes are made one after the other.

template <>
inline constexpr auto base::kFields<base::Error> = std::tuple(&base::Error::what, &base::Error::advice,
                                                              &base::Error::where);

namespace session {
namespace {

// The part of Replanned that is sent first. The rules of the network follow as a message of their own
// (rules/rules_text.h).
struct Made {
    std::string policy;
    std::vector<std::string> restart;
    std::vector<std::string> ports;  // "8080:80"
    bool has_requests = false;
    std::string requests;  // Replanned::Requests::settings, in lines of a safe alphabet
    std::vector<std::string> names;
    std::string note;
};

}  // namespace
}  // namespace session

template <>
inline constexpr auto base::kFields<session::Made> = std::tuple(
    &session::Made::policy, &session::Made::restart, &session::Made::ports, &session::Made::has_requests,
    &session::Made::requests, &session::Made::names, &session::Made::note);

namespace session {
namespace {

constexpr size_t kMostChanges = 64;
constexpr std::string_view kMade = "made";
constexpr std::string_view kFailed = "failed";

// From the forked planner to its parent, which is the same program.
std::string encode_replanned(const base::Result<Replanned>& replanned) {
    if (!replanned) return base::encode_message(kFailed, replanned.error());
    std::vector<std::string> ports;
    for (const network::Published& port : replanned->egress.published) ports.push_back(to_text(port));
    Made made{.policy = replanned->policy,
              .restart = replanned->restart,
              .ports = std::move(ports),
              .has_requests = replanned->requests.has_value(),
              .requests = {},
              .names = {},
              .note = replanned->note};
    if (replanned->requests) {
        made.requests = base::to_base64(replanned->requests->settings);
        made.names = replanned->requests->names;
    }
    return base::encode_message(kMade, made) +
           network::encode_settings(replanned->egress.rules, replanned->egress.passed_types);
}

base::Result<Replanned> decode_replanned(const std::string& text) {
    base::Error error;
    base::Decoded failure = base::decode_message(kFailed, text, error);
    if (failure == base::Decoded::well && !error.what.empty()) return error;
    if (failure != base::Decoded::other) return base::Error{.what = "the policy could not be read again"};

    Made made;
    base::FieldReader reader(text);
    bool is_made = reader.next() == kMade;
    base::read(reader, made);
    base::Result<network::LiveSettings> settings = network::decode_settings(reader.rest());
    std::vector<config::Item> entries;
    for (const std::string& port : made.ports)
        entries.push_back({port, config::from_flag(std::string(network::kPublishVerb))});
    base::Result<std::vector<network::Published>> ports = network::parse_published(entries);
    std::optional<std::string> requests = base::from_base64(made.requests);
    if (!is_made || !reader.is_good() || !settings || !ports || !requests)
        return base::Error{.what = "the new rules came damaged"};
    Replanned replanned{.egress = {},
                        .policy = std::move(made.policy),
                        .restart = std::move(made.restart),
                        .note = std::move(made.note),
                        .requests = {}};
    if (made.has_requests)
        replanned.requests = {.settings = *std::move(requests), .names = std::move(made.names)};
    replanned.egress.published = *std::move(ports);
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
    if (is_watching_maker_) control_.forget(certificates_.maker->descriptor());
    if (planner_ <= 0) return;
    ::kill(planner_, SIGKILL);
    while (::waitpid(planner_, nullptr, 0) < 0 && errno == EINTR) continue;
}

void LiveRules::add(LiveRule rule, OnDone on_done) {
    std::string action(to_text(rule.kind));
    enqueue({std::move(action), std::move(rule), std::move(on_done)});
}

void LiveRules::unpublish(uint16_t host_port, OnDone on_done) {
    enqueue({"unpublish", {LiveRule::Kind::publish, std::to_string(host_port)}, std::move(on_done)});
}

std::string_view to_text(LiveRule::Kind kind) {
    switch (kind) {
        case LiveRule::Kind::allow:
            return "allow";
        case LiveRule::Kind::block:
            return "block";
        case LiveRule::Kind::publish:
            return "publish";
    }
    return "";
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

// The latest rule for a target counts. A port that is not published any more has no rule.
std::vector<LiveRule> LiveRules::wanted() const {
    std::vector<LiveRule> wanted = rules_;
    const Change& change = changes_.front();
    if (change.action == "reload") return wanted;
    auto is_port = [](const LiveRule& rule) { return rule.kind == LiveRule::Kind::publish; };
    std::erase_if(wanted, [&](const LiveRule& rule) {
        bool is_same = is_port(rule) ? rule.target.substr(0, rule.target.find(':')) ==
                                           change.rule.target.substr(0, change.rule.target.find(':'))
                                     : rule.target == change.rule.target;
        return is_port(rule) == is_port(change.rule) && is_same;
    });
    if (change.action != "unpublish") wanted.push_back(change.rule);
    return wanted;
}

void LiveRules::begin() {
    if (changes_.front().action == "unpublish") {
        auto port = base::parse_port(changes_.front().rule.target);
        return ports_.close(port.value_or(0), [this](const base::Status& closed) {
            if (!closed) return finish(closed.error());
            rules_ = wanted();
            finish(Changed{});
        });
    }
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
    changes_.front().action == "publish" ? open_port(*replanned) : certify(*replanned);
}

// First the port, because another program may have it.
void LiveRules::open_port(const Replanned& replanned) {
    std::optional<uint16_t> wanted_port = base::parse_port(
        std::string_view(changes_.front().rule.target).substr(0, changes_.front().rule.target.find(':')));
    auto port = std::ranges::find(replanned.egress.published, wanted_port.value_or(0),
                                  &network::Published::host_port);
    if (port == replanned.egress.published.end())
        return finish(base::Error{.what = "the policy does not publish the port"});
    ports_.open(*port, replanned.egress, [this, replanned](const base::Status& opened) {
        opened ? certify(replanned) : finish(opened.error());
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

namespace {

base::Json accepted() {
    return base::Json::object().set("ok", true);
}

base::Json json_of(const LiveRules& live) {
    base::Json rules = base::Json::array();
    for (const LiveRule& rule : live.rules()) {
        rules.push(base::Json::object().set("action", to_text(rule.kind)).set("target", rule.target));
    }
    return rules;
}

}  // namespace

Steering::Steering(Control& control, Parts parts)
    : parts_(std::move(parts)),
      questions_({.gateway = parts_.gateway,
                  .asks = parts_.asks,
                  .ssh_agent = parts_.ssh_agent,
                  .allow_host = [this](const base::Json& change, const Reply& reply) {
                      this->change(LiveRule::Kind::allow, change, reply);
                  }}) {
    using base::Json;
    control.handle("status", [this](const Json&, const Reply& reply) { tell_status(reply); });
    control.handle("stop", [this](const Json& request, const Reply& reply) { stop(request, reply); });
    control.handle("allow", [this](const Json& request, const Reply& reply) {
        change(LiveRule::Kind::allow, request, reply);
    });
    control.handle("block", [this](const Json& request, const Reply& reply) {
        change(LiveRule::Kind::block, request, reply);
    });
    control.handle("publish", [this](const Json& request, const Reply& reply) { publish(request, reply); });
    control.handle("reload", [this](const Json&, const Reply& reply) { reload(reply); });
    control.handle("forget",
                   [this](const Json& request, const Reply& reply) { forget_value(request, reply); });
    control.handle("approve", [this](const Json& request, const Reply& reply) {
        questions_.answer(true, request, reply);
    });
    control.handle("deny", [this](const Json& request, const Reply& reply) {
        questions_.answer(false, request, reply);
    });
}

// The current memory, processes and time; the other limits only if they are set.
base::Json Steering::limits() const {
    base::Json limits = base::Json::array();
    std::optional<Meter> meter = parts_.meter();
    for (const plan::NamedLimit& named : plan::named_limits()) {
        uint64_t value = (parts_.plan.limits.*named.field).value;
        base::Json limit = base::Json::object();
        limit.set("name", named.key).set("value", static_cast<int64_t>(value));
        limit.set("text", value > 0 ? plan::limit_text(named, parts_.plan.limits) : "");
        if (named.key == "limits.memory" && meter) {
            // The quick sum: an exact one is only needed for a limit that is nearly reached.
            limit.set("used", static_cast<int64_t>(meter->memory(UINT64_MAX)));
        } else if (named.key == "limits.processes" && meter) {
            limit.set("used", static_cast<int64_t>(meter->processes()));
        } else if (named.key == "limits.wall_time") {
            auto passed = std::chrono::steady_clock::now() - began_;
            limit.set("used", int64_t{std::chrono::duration_cast<std::chrono::seconds>(passed).count()});
        } else if (value == 0) {
            continue;
        }
        limits.push(std::move(limit));
    }
    return limits;
}

void Steering::tell_status(const Reply& reply) {
    auto uptime = std::chrono::steady_clock::now() - began_;
    base::Json status = accepted();
    status.set("session", parts_.directory.metadata());
    status.set("uptime_ms", int64_t{std::chrono::duration_cast<std::chrono::milliseconds>(uptime).count()});
    status.set("limits", limits()).set("live", json_of(parts_.live)).set("policy", parts_.live.policy());
    if (base::Json commands = parts_.commands(); !commands.items().empty())
        status.set("commands", std::move(commands));
    questions_.ask_state([status, reply](const base::Json& state) mutable {
        for (const auto& [key, value] : state.members()) status.set(key, value);
        reply(status);
    });
}

void Steering::stop(const base::Json& request, const Reply& reply) {
    reply(accepted());
    parts_.stop(request.truth("now"));
}

void Steering::publish(const base::Json& request, const Reply& reply) {
    using policy::NetworkMode;
    std::string target = request.text("target");
    base::Result<std::vector<network::Published>> ports =
        network::parse_published({{target, config::from_flag(std::string(network::kPublishVerb))}});
    if (!ports) return reply(refusal(ports.error()));
    const network::Published& port = ports->front();
    NetworkMode mode = parts_.plan.network.reached;
    if (mode == NetworkMode::open) {
        return reply(refusal({.what = "the network of this session is open, so its ports are the host's own",
                              .advice = base::format("connect to 127.0.0.1:{}", port.jail_port)}));
    }
    if (parts_.gateway.process() < 0) {
        return reply(refusal({.what = "this session has no gateway that could publish a port",
                              .advice = base::format("start it with --publish {}, or with another network "
                                                     "than isolated",
                                                     to_text(port))}));
    }
    auto done = [this, reply](const base::Result<LiveRules::Changed>& changed) {
        if (!changed) return reply(refusal(changed.error()));
        reply(accepted().set("policy", parts_.live.policy()));
    };
    if (request.truth("end")) return parts_.live.unpublish(port.host_port, done);
    parts_.live.add({LiveRule::Kind::publish, to_text(port)}, done);
}

void Steering::change(LiveRule::Kind kind, const base::Json& request, const Reply& reply) {
    std::string target = request.text("target");
    if (target.empty()) return reply(refusal({.what = "no host is named", .advice = {}, .where = {}}));
    parts_.live.add({kind, target}, [this, reply](const base::Result<LiveRules::Changed>& changed) {
        if (!changed) return reply(refusal(changed.error()));
        base::Json done = accepted().set("closed", static_cast<int64_t>(changed->closed));
        if (!changed->note.empty()) done.set("note", changed->note);
        reply(done.set("policy", parts_.live.policy()));
    });
}

void Steering::reload(const Reply& reply) {
    parts_.live.reload([this, reply](const base::Result<LiveRules::Changed>& changed) {
        if (!changed) return reply(refusal(changed.error()));
        base::Json restart = base::Json::array();
        for (const std::string& setting : changed->restart) restart.push(setting);
        base::Json done = accepted().set("closed", static_cast<int64_t>(changed->closed));
        reply(done.set("restart", std::move(restart)).set("policy", parts_.live.policy()));
    });
}

// `secret add` and `secret remove` of the user: the next request gets the value anew.
void Steering::forget_value(const base::Json& request, const Reply& reply) {
    const std::vector<network::exchange::Binding>& bindings = parts_.plan.broker.spec.bindings;
    auto found = std::ranges::find(bindings, request.text("credential"), &network::exchange::Binding::name);
    bool is_used = found != bindings.end() && parts_.gateway.process() > 0;
    if (is_used) parts_.gateway.forget_values(static_cast<size_t>(found - bindings.begin()));
    reply(accepted().set("used", is_used));
}

}  // namespace session
