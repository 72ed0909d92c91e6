// SPDX-License-Identifier: MIT
// A lookup is two queries, one per address family, and a list of the callers that wait for it. It waits for a
// place, runs, and ends. It is removed from the maps before any callback runs, so that a callback may start a
// new lookup or cancel another ticket.
#include "network/gateway/names/resolver.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

#include "network/gateway/names/resolver_query.h"
#include "network/wire/bytes.h"

namespace network::gateway {
namespace {

using Outcome = ResolverQuery::Outcome;

// The result of a lookup and how long it is valid; no lifetime: do not cache it.
struct Conclusion {
    Resolution resolution;
    std::optional<std::chrono::seconds> lifetime;
};

void append(std::vector<Address>& addresses, const Address& address) {
    if (std::ranges::find(addresses, address) == addresses.end()) addresses.push_back(address);
}

Conclusion conclude(const Outcome& v4, const Outcome& v6) {
    using Kind = Resolution::Outcome;
    Conclusion conclusion;
    Resolution& resolution = conclusion.resolution;
    for (const wire::Ipv4& bytes : v4.reply.ipv4) append(resolution.addresses, Address::from_v4(bytes));
    for (const wire::Ipv6& bytes : v6.reply.ipv6) append(resolution.addresses, Address::from_v6(bytes));
    bool are_both_answered = v4.is_answered && v6.is_answered;

    if (!resolution.addresses.empty()) {
        resolution.outcome = Kind::found;
        uint32_t time_to_live = UINT32_MAX;
        if (!v4.reply.ipv4.empty()) time_to_live = std::min(time_to_live, v4.reply.time_to_live);
        if (!v6.reply.ipv6.empty()) time_to_live = std::min(time_to_live, v6.reply.time_to_live);
        // Half an answer is better than none. Lifetime 0: the cache keeps it for its shortest time only.
        conclusion.lifetime = std::chrono::seconds(are_both_answered ? time_to_live : 0);
        return conclusion;
    }
    bool is_unknown = (v4.is_answered && v4.reply.code == wire::DnsCode::no_such_name) ||
                      (v6.is_answered && v6.reply.code == wire::DnsCode::no_such_name);
    if (is_unknown || are_both_answered) {
        resolution.outcome = is_unknown ? Kind::no_such_name : Kind::no_address;
        conclusion.lifetime = std::chrono::seconds(0);
        return conclusion;
    }
    resolution.outcome = Kind::failed;
    resolution.reason = v4.is_answered ? v6.reason : v4.reason;
    return conclusion;
}

}  // namespace

struct Resolver::State {
    // A lookup of a name, or one query that is passed on.
    struct Work {
        std::optional<HostName> name;
        std::vector<Ticket> askers;
        std::vector<std::unique_ptr<ResolverQuery>> queries;
        std::optional<Outcome> v4, v6;
        uint64_t generation = 0;
        bool is_started = false;
        bool is_over = false;
    };
    using WorkPointer = std::shared_ptr<Work>;
    struct Asker {
        WorkPointer work;
        Done done;
        DoneRaw done_raw;
        uint16_t id = 0;
    };

    explicit State(base::EventLoop& its_loop) : loop(its_loop) {}

    base::EventLoop& loop;
    HostsTable hosts;
    std::shared_ptr<const ServerSettings> settings;
    uint64_t generation = 0;
    size_t next_server = 0;
    AnswerCache cache;

    std::unordered_map<HostName, WorkPointer> lookups;  // waiting and running
    std::deque<WorkPointer> waiting;
    size_t at_work = 0;
    std::map<Ticket, Asker> askers;
    Ticket last_ticket = 0;
    std::function<void()> when_unanswered;

    void take(const ResolverFiles& files);
    std::optional<Resolution> known(const HostName& name);
    bool is_full() const { return at_work >= kMostAtWork && waiting.size() >= kMostAtWork; }
    Ticket enlist(const WorkPointer& work, Asker asker);
    void add_query(const WorkPointer& work, const wire::DnsQuestion& question, bool has_edns,
                   std::function<void(Work&, Outcome)> act);
    void admit(const WorkPointer& work);
    void start(Work& work);
    void start_waiting();
    void close(const WorkPointer& work);
    void end_lookup(const WorkPointer& work);
    void end_question(const WorkPointer& work, const Outcome& outcome);
    void tell(const WorkPointer& work, const std::function<void(Asker&)>& say);
};

void Resolver::State::take(const ResolverFiles& files) {
    hosts = parse_hosts(files.hosts);
    ServerSettings read = parse_resolv_conf(files.resolv_conf);
    read.port = files.server_port;
    settings = std::make_shared<const ServerSettings>(std::move(read));
    next_server = 0;
    cache.clear();
    ++generation;
}

// Without a query to a server.
std::optional<Resolution> Resolver::State::known(const HostName& name) {
    if (is_localhost(name)) return Resolution{.outcome = Resolution::Outcome::no_such_name};
    if (auto listed = hosts.find(name); listed != hosts.end())
        return Resolution{.outcome = Resolution::Outcome::found, .addresses = listed->second, .reason = {}};
    const Resolution* kept = cache.find(name, base::EventLoop::Clock::now());
    return kept ? std::optional(*kept) : std::nullopt;
}

Resolver::Ticket Resolver::State::enlist(const WorkPointer& work, Asker asker) {
    Ticket ticket = ++last_ticket;
    asker.work = work;
    work->askers.push_back(ticket);
    askers.emplace(ticket, std::move(asker));
    return ticket;
}

void Resolver::State::add_query(const WorkPointer& work, const wire::DnsQuestion& question, bool has_edns,
                                std::function<void(Work&, Outcome)> act) {
    // The work owns the query, so the query cannot outlive its target.
    auto done = [target = work.get(), act = std::move(act)](Outcome outcome) {
        act(*target, std::move(outcome));
    };
    work->queries.push_back(
        std::make_unique<ResolverQuery>(loop, settings, question, has_edns, std::move(done)));
}

void Resolver::State::admit(const WorkPointer& work) {
    work->generation = generation;
    if (at_work < kMostAtWork) {
        start(*work);
    } else {
        waiting.push_back(work);
    }
}

void Resolver::State::start(Work& work) {
    ++at_work;
    work.is_started = true;
    size_t first = settings->rotates ? next_server++ : 0;
    for (const auto& query : work.queries) query->start(first);
}

void Resolver::State::start_waiting() {
    while (at_work < kMostAtWork && !waiting.empty()) {
        WorkPointer next = std::move(waiting.front());
        waiting.pop_front();
        start(*next);
    }
}

// Removes the work from the maps. Its queries live until the current events are over: one of them may be the
// caller.
void Resolver::State::close(const WorkPointer& work) {
    work->is_over = true;
    if (work->name) lookups.erase(*work->name);
    if (work->is_started) {
        --at_work;
    } else {
        std::erase(waiting, work);
    }
    loop.bury(work);
    start_waiting();
}

void Resolver::State::tell(const WorkPointer& work, const std::function<void(Asker&)>& say) {
    for (Ticket ticket : std::vector(work->askers)) {
        auto found = askers.find(ticket);
        if (found == askers.end()) continue;  // an earlier callback has cancelled it
        Asker asker = std::move(found->second);
        askers.erase(found);
        say(asker);
    }
}

void Resolver::State::end_lookup(const WorkPointer& work) {
    Conclusion conclusion = conclude(*work->v4, *work->v6);
    if (conclusion.lifetime && work->generation == generation)
        cache.keep(*work->name, conclusion.resolution, *conclusion.lifetime, base::EventLoop::Clock::now());
    close(work);
    tell(work, [&](Asker& asker) { asker.done(conclusion.resolution); });
    if (conclusion.resolution.outcome == Resolution::Outcome::failed && when_unanswered) when_unanswered();
}

void Resolver::State::end_question(const WorkPointer& work, const Outcome& outcome) {
    close(work);
    tell(work, [&](Asker& asker) {
        if (!outcome.is_answered) return asker.done_raw({});
        std::string message;
        wire::append_u16(message, asker.id);
        message += std::string_view(outcome.message).substr(message.size());
        asker.done_raw(message);
    });
    if (!outcome.is_answered && when_unanswered) when_unanswered();
}

Resolver::Resolver(base::EventLoop& loop, const ResolverFiles& files)
    : state_(std::make_unique<State>(loop)) {
    state_->take(files);
}

Resolver::~Resolver() = default;

void Resolver::renew(const ResolverFiles& files) {
    state_->take(files);
}

void Resolver::when_unanswered(std::function<void()> act) {
    state_->when_unanswered = std::move(act);
}

Resolver::Ticket Resolver::look_up(const HostName& name, Done done) {
    if (std::optional<Resolution> known = state_->known(name)) {
        done(*known);
        return 0;
    }
    if (auto found = state_->lookups.find(name); found != state_->lookups.end())
        return state_->enlist(found->second, {.work = {}, .done = std::move(done), .done_raw = {}});
    std::optional<wire::DnsName> wire_name = wire::DnsName::from_host_name(name.str());
    if (!wire_name || state_->is_full()) {
        done({.outcome = Resolution::Outcome::failed,
              .addresses = {},
              .reason = wire_name ? "too many lookups at once" : "a name that DNS can't carry"});
        return 0;
    }
    auto work = std::make_shared<State::Work>();
    work->name = name;
    State& state = *state_;
    auto take_half = [&state](std::optional<Outcome> State::Work::*half) {
        return [&state, half](State::Work& its_work, Outcome outcome) {
            its_work.*half = std::move(outcome);
            if (!its_work.v4 || !its_work.v6) return;
            if (auto mine = state.lookups.find(*its_work.name); mine != state.lookups.end())
                state.end_lookup(State::WorkPointer(mine->second));
        };
    };
    state.add_query(work, {.name = *wire_name, .type = wire::DnsType::a}, true, take_half(&State::Work::v4));
    state.add_query(work, {.name = *wire_name, .type = wire::DnsType::aaaa}, true,
                    take_half(&State::Work::v6));
    state.lookups.emplace(name, work);
    Ticket ticket = state.enlist(work, {.work = {}, .done = std::move(done), .done_raw = {}});
    state.admit(work);
    return ticket;
}

Resolver::Ticket Resolver::ask(const wire::DnsQuery& query, DoneRaw done) {
    if (!query.question || state_->is_full()) {
        done({});
        return 0;
    }
    auto work = std::make_shared<State::Work>();
    State& state = *state_;
    Ticket ticket = state.enlist(work, {.work = {}, .done = {}, .done_raw = std::move(done), .id = query.id});
    state.add_query(work, *query.question, query.edns.has_value(),
                    [&state, ticket](State::Work&, const Outcome& outcome) {
                        if (auto asker = state.askers.find(ticket); asker != state.askers.end())
                            state.end_question(State::WorkPointer(asker->second.work), outcome);
                    });
    state.admit(work);
    return ticket;
}

void Resolver::cancel(Ticket& ticket) {
    auto found = state_->askers.find(std::exchange(ticket, 0));
    if (found == state_->askers.end()) return;
    State::WorkPointer work = std::move(found->second.work);
    Ticket gone = found->first;
    state_->askers.erase(found);
    std::erase(work->askers, gone);
    // Nothing waits for this lookup any more: end it and free its sockets.
    if (!work->askers.empty() || work->is_over) return;
    work->queries.clear();
    state_->close(work);
}

const Resolution* AnswerCache::find(const HostName& name, Time now) {
    auto found = by_name_.find(name);
    if (found == by_name_.end()) return nullptr;
    if (found->second->until > now) return &found->second->resolution;
    entries_.erase(found->second);
    by_name_.erase(found);
    return nullptr;
}

void AnswerCache::keep(const HostName& name, Resolution resolution, std::chrono::seconds lifetime, Time now) {
    if (auto found = by_name_.find(name); found != by_name_.end()) {
        entries_.erase(found->second);
        by_name_.erase(found);
    }
    if (entries_.size() >= kMost) {
        by_name_.erase(entries_.front().name);
        entries_.pop_front();
    }
    Time until = now + std::clamp(lifetime, kShortest, kLongest);
    entries_.push_back({name, std::move(resolution), until});
    by_name_.emplace(name, std::prev(entries_.end()));
}

void AnswerCache::clear() {
    by_name_.clear();
    entries_.clear();
}

}  // namespace network::gateway
