// SPDX-License-Identifier: MIT
#include "network/gateway/control/messages.h"

#include <algorithm>
#include <utility>

#include "base/encoding/codec.h"
#include "base/parse.h"
#include "base/process/descriptors.h"
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
    if (entry.requests != 0) line.number("requests", entry.requests);
    if (entry.duration.count() > 0) line.number("duration_ms", static_cast<uint64_t>(entry.duration.count()));
    return line;
}

audit::Line line_of(const RequestEntry& entry) {
    audit::Line line("request");
    std::string_view allowed = entry.is_observed ? "observed" : "allow";
    line.text("verdict", entry.is_allowed ? allowed : "deny");
    line.text("name", entry.name).number("port", entry.port);
    line.text("method", entry.method).text("path", entry.path);
    if (entry.status != 0) line.number("status", static_cast<uint64_t>(entry.status));
    line.text("cause", entry.code).text("rule", entry.rule).text("origin", entry.origin);
    line.text("reason", entry.reason).text("change", entry.change).text("credential", entry.credential);
    if (entry.is_finding) line.truth("finding", true);
    line.number("sent", entry.sent).number("received", entry.received);
    if (entry.duration.count() > 0) line.number("duration_ms", static_cast<uint64_t>(entry.duration.count()));
    return line;
}

audit::Line line_of(std::string_view kind, const QuestionEntry& question) {
    audit::Line line(kind);
    line.number("id", question.id).text("name", question.name).number("port", question.port);
    line.text("method", question.method).text("path", question.path);
    line.text("detail", question.detail).text("credential", question.credential);
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
    if (!is_kept && !room_.take()) {
        ++left_out_;
        return;
    }
    tell_left_out();
    write(line_of(entry));
}

bool Journal::record_request(const RequestEntry& entry) {
    if (!entry.is_allowed) count_refusal({.name = entry.name, .port = entry.port});
    if (!writer_) return true;
    bool has_room = entry.is_allowed ? request_room_.take() : room_.take();
    if (!has_room) {
        if (!entry.is_allowed) ++left_out_;
        return !entry.is_allowed;
    }
    tell_left_out();
    write(line_of(entry));
    return true;
}

bool Journal::leaves_out_requests() const {
    return writer_ && !request_room_.has_room();
}

bool Journal::Room::has_room() const {
    std::chrono::duration<double> passed = std::chrono::steady_clock::now() - filled;
    return left + passed.count() * kPerSecond >= 1;
}

bool Journal::Room::take() {
    auto now = std::chrono::steady_clock::now();
    std::chrono::duration<double> passed = now - filled;
    filled = now;
    left = std::min(kBurst, left + passed.count() * kPerSecond);
    if (left < 1) return false;
    left -= 1;
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

namespace {

constexpr std::string_view kStart = "start";
constexpr std::string_view kOrder = "order";
constexpr std::string_view kReply = "reply";
constexpr std::string_view kSummary = "summary";
constexpr std::string_view kValueRequest = "value?";
constexpr std::string_view kProgramRequest = "program?";
constexpr std::string_view kRefreshOver = "refresh-over";
constexpr std::string_view kTokensIssued = "tokens";
constexpr std::string_view kNotice = "notice";
constexpr size_t kMostTargets = 8;
// Leaves room for the other fields of a message, which are numbers and a hash.
constexpr size_t kLongestText = base::kLongestNote - 256;

}  // namespace
}  // namespace network::gateway

template <>
inline constexpr network::netns::Capture base::kLast<network::netns::Capture> =
    network::netns::Capture::listeners;
template <>
inline constexpr auto base::kFields<network::gateway::Start> =
    std::tuple(&network::gateway::Start::failure, &network::gateway::Start::capture,
               &network::gateway::Start::has_landlock);

template <>
inline constexpr network::gateway::Order::Kind base::kLast<network::gateway::Order::Kind> =
    network::gateway::Order::Kind::program;
template <>
inline constexpr auto base::kFields<network::gateway::Order> = std::tuple(&network::gateway::Order::kind,
                                                                          &network::gateway::Order::number,
                                                                          &network::gateway::Order::reason);

template <>
inline constexpr auto base::kFields<network::gateway::Notice> = std::tuple(&network::gateway::Notice::text);

template <>
inline constexpr auto base::kFields<network::gateway::ValueRequest> =
    std::tuple(&network::gateway::ValueRequest::number, &network::gateway::ValueRequest::locks);

template <>
inline constexpr auto base::kFields<network::gateway::RefreshOver> =
    std::tuple(&network::gateway::RefreshOver::number, &network::gateway::RefreshOver::has_tokens);

template <>
inline constexpr auto base::kFields<network::gateway::TokensIssued> =
    std::tuple(&network::gateway::TokensIssued::expires_in, &network::gateway::TokensIssued::scope,
               &network::gateway::TokensIssued::is_login);

template <>
inline constexpr auto base::kFields<network::gateway::ProgramRequest> =
    std::tuple(&network::gateway::ProgramRequest::number, &network::gateway::ProgramRequest::port);

template <>
inline constexpr auto base::kFields<network::gateway::Reply> = std::tuple(&network::gateway::Reply::ticket,
                                                                          &network::gateway::Reply::text,
                                                                          &network::gateway::Reply::failure);

template <>
inline constexpr auto base::kFields<network::gateway::Summary> =
    std::tuple(&network::gateway::Summary::refused, &network::gateway::Summary::targets,
               &network::gateway::Summary::lines, &network::gateway::Summary::hash);

namespace network::gateway {
namespace {

// A field can't contain a NUL, and a message has a largest size.
void shorten(std::string& text, size_t room = kLongestText) {
    text.resize(std::min({text.size(), text.find('\0'), room}));
}

template <typename Type>
std::optional<Type> decode(std::string_view name, std::string_view message) {
    Type value;
    bool is_well = base::decode_message(name, message, value) == base::Decoded::well;
    return is_well ? std::optional(std::move(value)) : std::nullopt;
}

}  // namespace

std::string encode(Notice notice) {
    notice.text = base::printable(notice.text);
    shorten(notice.text);
    return base::encode_message(kNotice, notice);
}

std::optional<Notice> decode_notice(std::string_view message) {
    return decode<Notice>(kNotice, message);
}

std::string encode(ValueRequest request) {
    return base::encode_message(kValueRequest, request);
}

std::optional<ValueRequest> decode_value_request(std::string_view message) {
    return decode<ValueRequest>(kValueRequest, message);
}

std::string encode(RefreshOver over) {
    return base::encode_message(kRefreshOver, over);
}

std::optional<RefreshOver> decode_refresh_over(std::string_view message) {
    return decode<RefreshOver>(kRefreshOver, message);
}

std::string encode(TokensIssued issued) {
    shorten(issued.scope);
    return base::encode_message(kTokensIssued, issued);
}

std::optional<TokensIssued> decode_tokens_issued(std::string_view message) {
    return decode<TokensIssued>(kTokensIssued, message);
}

std::string encode(ProgramRequest request) {
    return base::encode_message(kProgramRequest, request);
}

std::optional<ProgramRequest> decode_program_request(std::string_view message) {
    return decode<ProgramRequest>(kProgramRequest, message);
}

std::string encode(Start start) {
    shorten(start.failure);
    return base::encode_message(kStart, start);
}

std::optional<Start> decode_start(std::string_view message) {
    return decode<Start>(kStart, message);
}

std::string encode(Order order) {
    shorten(order.reason);
    return base::encode_message(kOrder, order);
}

std::optional<Order> decode_order(std::string_view message) {
    return decode<Order>(kOrder, message);
}

std::string encode(Reply reply) {
    shorten(reply.failure);
    shorten(reply.text, kLongestText - reply.failure.size());
    return base::encode_message(kReply, reply);
}

std::optional<Reply> decode_reply(std::string_view message) {
    return decode<Reply>(kReply, message);
}

Summary summary_of(const Journal::Refusals& refusals, const audit::Head& head) {
    Summary summary{.refused = refusals.total, .lines = head.lines, .hash = head.hash};
    summary.targets.assign(refusals.by_target.begin(), refusals.by_target.end());
    std::ranges::stable_sort(summary.targets, std::ranges::greater(),
                             [](const auto& row) { return row.second; });
    if (summary.targets.size() > kMostTargets) summary.targets.resize(kMostTargets);
    return summary;
}

std::string encode(Summary summary) {
    constexpr size_t kLongestCount = 21;  // with the ends of both fields
    size_t room = kLongestText, kept = 0;
    for (auto& [target, count] : summary.targets) {
        target = base::printable(target);
        shorten(target, kLongestText / 2);
        if (target.size() + kLongestCount > room) break;
        room -= target.size() + kLongestCount;
        ++kept;
    }
    summary.targets.resize(kept);
    return base::encode_message(kSummary, summary);
}

std::optional<Summary> decode_summary(std::string_view message) {
    return decode<Summary>(kSummary, message);
}

}  // namespace network::gateway
