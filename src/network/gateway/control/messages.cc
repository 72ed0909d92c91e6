// SPDX-License-Identifier: MIT
#include "network/gateway/control/messages.h"

#include <algorithm>
#include <utility>

#include "base/encoding/codec.h"
#include "base/process/pass_descriptors.h"
#include "base/text.h"

namespace network::gateway {
namespace {

constexpr std::string_view kStart = "start";
constexpr std::string_view kOrder = "order";
constexpr std::string_view kReply = "reply";
constexpr std::string_view kSummary = "summary";
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
    network::gateway::Order::Kind::journal;
template <>
inline constexpr auto base::kFields<network::gateway::Order> = std::tuple(&network::gateway::Order::kind,
                                                                          &network::gateway::Order::number,
                                                                          &network::gateway::Order::reason);

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
