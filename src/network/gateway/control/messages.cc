// SPDX-License-Identifier: MIT
#include "network/gateway/control/messages.h"

#include <algorithm>
#include <utility>

#include "base/parse.h"
#include "base/process/pass_descriptors.h"
#include "base/text.h"

namespace network::gateway {
namespace {

constexpr std::string_view kServes = "serves ";
constexpr std::string_view kFailed = "failed ";
constexpr std::string_view kRefused = "refused ";
constexpr size_t kMostTargets = 8;

constexpr std::string_view kWell = "ok";
constexpr std::string_view kBadly = "failed";

struct OrderRow {
    std::string_view word;
    Order::Kind kind;
    bool has_number;
    bool has_reason;
};
constexpr OrderRow kOrders[] = {
    {"end", Order::Kind::end, false, false},    {"files", Order::Kind::files, false, false},
    {"rules", Order::Kind::rules, true, false}, {"state", Order::Kind::state, true, false},
    {"deny", Order::Kind::deny, true, true},    {"journal", Order::Kind::journal, false, false},
};

const OrderRow* row_of(Order::Kind kind) {
    return std::ranges::find(kOrders, kind, &OrderRow::kind);
}

uint64_t number_of(std::string_view text) {
    return base::leading_number<uint64_t>(text).value_or(0);
}

// Returns the text before the next space, and removes both.
std::string_view next_word(std::string_view& text) {
    size_t blank = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, blank);
    text.remove_prefix(std::min(blank + 1, text.size()));
    return word;
}

}  // namespace

std::string encode(const Start& start) {
    if (!start.failure.empty()) {
        return std::string(kFailed) + start.failure.substr(0, base::kLongestNote - kFailed.size());
    }
    return std::string(kServes) + std::to_string(static_cast<int>(start.capture)) + " " +
           (start.has_landlock ? "1" : "0");
}

std::optional<Start> decode_start(std::string_view message) {
    if (message.starts_with(kFailed)) return Start{.failure = std::string(message.substr(kFailed.size()))};
    if (!message.starts_with(kServes) || message.size() != kServes.size() + 3) return std::nullopt;
    int capture = message[kServes.size()] - '0';
    if (capture < 0 || capture > static_cast<int>(netns::Capture::listeners)) return std::nullopt;
    return Start{.capture = static_cast<netns::Capture>(capture), .has_landlock = message.back() == '1'};
}

std::string encode(const Order& order) {
    const OrderRow& row = *row_of(order.kind);
    std::string text(row.word);
    if (row.has_number) text += " " + std::to_string(order.number);
    if (row.has_reason) text += " " + order.reason;
    return text.substr(0, base::kLongestNote);
}

std::optional<Order> decode_order(std::string_view message) {
    std::string_view word = next_word(message);
    const auto* row = std::ranges::find(kOrders, word, &OrderRow::word);
    if (row == std::end(kOrders)) return std::nullopt;
    Order order{.kind = row->kind};
    if (row->has_number) {
        std::optional<uint64_t> number = base::parse_number<uint64_t>(next_word(message));
        if (!number) return std::nullopt;
        order.number = *number;
    }
    if (row->has_reason) order.reason = std::exchange(message, {});
    return message.empty() ? std::optional(std::move(order)) : std::nullopt;
}

std::string encode(Order::Kind kind, const Reply& reply) {
    std::string text = std::string(row_of(kind)->word) + " " + std::to_string(reply.ticket) + " ";
    text += reply.failure.empty() ? kWell : kBadly;
    const std::string& rest = reply.failure.empty() ? reply.text : reply.failure;
    if (!rest.empty()) text += " " + rest;
    return text.substr(0, base::kLongestNote);
}

std::optional<Reply> decode_reply(std::string_view message) {
    std::string_view word = next_word(message);
    if (word != row_of(Order::Kind::rules)->word && word != row_of(Order::Kind::state)->word)
        return std::nullopt;
    std::optional<uint64_t> ticket = base::parse_number<uint64_t>(next_word(message));
    std::string_view outcome = next_word(message);
    if (!ticket || (outcome != kWell && outcome != kBadly)) return std::nullopt;
    Reply reply{.ticket = *ticket};
    if (outcome == kWell) {
        reply.text = message;
    } else {
        reply.failure = message.empty() ? std::string_view("the gateway said no reason") : message;
    }
    return reply;
}

Summary summary_of(const Journal::Refusals& refusals, const audit::Head& head) {
    Summary summary{.refused = refusals.total, .lines = head.lines, .hash = head.hash};
    summary.targets.assign(refusals.by_target.begin(), refusals.by_target.end());
    std::ranges::stable_sort(summary.targets, std::ranges::greater(),
                             [](const auto& row) { return row.second; });
    if (summary.targets.size() > kMostTargets) summary.targets.resize(kMostTargets);
    return summary;
}

std::string encode(const Summary& summary) {
    std::string text = std::string(kRefused) + std::to_string(summary.refused) + " " +
                       std::to_string(summary.lines) + " " + summary.hash;
    for (const auto& [target, count] : summary.targets) {
        text += "\n" + std::to_string(count) + " " + base::printable(target);
    }
    return text.substr(0, base::kLongestNote);
}

std::optional<Summary> decode_summary(std::string_view message) {
    if (!message.starts_with(kRefused)) return std::nullopt;
    std::vector<std::string_view> lines = base::split(message.substr(kRefused.size()), '\n');
    std::string_view numbers = lines.front();
    Summary summary{.refused = number_of(next_word(numbers))};
    summary.lines = number_of(next_word(numbers));
    summary.hash = numbers;
    for (size_t i = 1; i < lines.size(); ++i) {
        size_t blank = lines[i].find(' ');
        if (blank == std::string_view::npos) return std::nullopt;
        summary.targets.emplace_back(lines[i].substr(blank + 1), number_of(lines[i]));
    }
    return summary;
}

}  // namespace network::gateway
