// SPDX-License-Identifier: MIT
#include "network/gateway/control/journal.h"

#include <algorithm>
#include <utility>

#include "base/parse.h"
#include "base/text.h"
#include "rules/address.h"

namespace network::gateway {
namespace {

audit::Line line_of(const Entry& entry) {
    audit::Line line(entry.kind);
    std::string_view allowed = entry.is_observed ? "observed" : "allow";
    line.text("verdict", entry.is_allowed ? allowed : "deny");
    line.text("protocol", entry.protocol).text("name", entry.name).text("address", entry.address);
    if (entry.port != 0) line.number("port", entry.port);
    line.text("cause", entry.cause).text("rule", entry.rule).text("origin", entry.origin);
    line.text("reason", entry.reason).text("change", entry.change);
    if (entry.sent != 0 || entry.received != 0) {
        line.number("sent", entry.sent).number("received", entry.received);
    }
    if (entry.duration.count() > 0) line.number("duration_ms", static_cast<uint64_t>(entry.duration.count()));
    return line;
}

audit::Line line_of(std::string_view kind, const QuestionEntry& question) {
    audit::Line line(kind);
    line.number("id", question.id).text("name", question.name).number("port", question.port);
    return line;
}

std::string target_of(const Entry& entry) {
    std::string target = base::printable(entry.name.empty() ? entry.address : entry.name);
    if (target.size() > audit::kLongestText) target.resize(audit::kLongestText);
    return entry.port == 0 ? target : base::with_port(target, entry.port);
}

}  // namespace

Entry entry_of(const Verdict& verdict) {
    Entry entry;
    entry.is_allowed = verdict.is_allowed();
    entry.cause = to_text(verdict.cause);
    entry.rule = verdict.rule;
    entry.origin = verdict.origin.describe();
    entry.reason = verdict.reason;
    entry.is_observed = verdict.is_observed;
    entry.change = verdict.change;
    return entry;
}

void Journal::record(const Entry& entry) {
    if (!entry.is_allowed) count_refusal(entry);
    if (!writer_) return;
    bool is_kept = entry.is_allowed && entry.kind != "lookup";
    if (!is_kept && !has_room()) {
        ++left_out_;
        return;
    }
    tell_left_out();
    write(line_of(entry));
}

bool Journal::has_room() {
    auto now = std::chrono::steady_clock::now();
    std::chrono::duration<double> passed = now - filled_;
    filled_ = now;
    room_ = std::min(kBurst, room_ + passed.count() * kPerSecond);
    if (room_ < 1) return false;
    room_ -= 1;
    return true;
}

void Journal::tell_left_out() {
    if (left_out_ == 0) return;
    audit::Line line("journal");
    line.number("count", std::exchange(left_out_, 0));
    line.text("reason", "refusals and lookups came faster than they are written: these are left out");
    write(std::move(line));
}

void Journal::finish() {
    if (writer_) tell_left_out();
}

void Journal::record_ask(const QuestionEntry& question) {
    if (writer_) write(line_of("ask", question));
}

void Journal::record_answer(const QuestionEntry& answer) {
    if (!writer_) return;
    audit::Line line = line_of("answer", answer);
    line.text("verdict", answer.is_allowed ? "allow" : "deny").text("reason", answer.reason);
    write(std::move(line));
}

void Journal::write(audit::Line line) {
    writer_.write(std::move(line));
    if (!writer_.is_full() || std::exchange(was_said_full_, true)) return;
    if (when_full_) when_full_();
}

void Journal::go_on(base::Fd next_part) {
    writer_.go_on(std::move(next_part));
    was_said_full_ = false;
}

void Journal::count_refusal(const Entry& entry) {
    ++refusals_.total;
    std::string target = target_of(entry);
    auto found = refusals_.by_target.find(target);
    if (found != refusals_.by_target.end()) {
        ++found->second;
    } else if (refusals_.by_target.size() < kMostRefusals) {
        refusals_.by_target.emplace(std::move(target), 1);
    }
}

}  // namespace network::gateway
