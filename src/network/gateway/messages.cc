// SPDX-License-Identifier: MIT
#include "network/gateway/messages.h"

#include <algorithm>
#include <charconv>

#include "base/pass_descriptors.h"
#include "base/text.h"

namespace network::gateway {
namespace {

constexpr std::string_view kServes = "serves ";
constexpr std::string_view kFailed = "failed ";
constexpr std::string_view kRefused = "refused ";
constexpr size_t kMostTargets = 8;

uint64_t number_of(std::string_view text) {
    uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
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
    return Start{.capture = static_cast<netns::Capture>(message[kServes.size()] - '0'),
                 .has_landlock = message.back() == '1'};
}

Summary summary_of(const Journal::Refusals& refusals) {
    Summary summary{.refused = refusals.total};
    summary.targets.assign(refusals.by_target.begin(), refusals.by_target.end());
    std::ranges::stable_sort(summary.targets, std::ranges::greater(),
                             [](const auto& row) { return row.second; });
    if (summary.targets.size() > kMostTargets) summary.targets.resize(kMostTargets);
    return summary;
}

std::string encode(const Summary& summary) {
    std::string text = std::string(kRefused) + std::to_string(summary.refused);
    for (const auto& [target, count] : summary.targets) {
        text += "\n" + std::to_string(count) + " " + base::printable(target);
    }
    return text.substr(0, base::kLongestNote);
}

std::optional<Summary> decode_summary(std::string_view message) {
    if (!message.starts_with(kRefused)) return std::nullopt;
    std::vector<std::string_view> lines = base::split(message.substr(kRefused.size()), '\n');
    Summary summary{.refused = number_of(lines.front())};
    for (size_t i = 1; i < lines.size(); ++i) {
        size_t blank = lines[i].find(' ');
        if (blank == std::string_view::npos) return std::nullopt;
        summary.targets.emplace_back(lines[i].substr(blank + 1), number_of(lines[i]));
    }
    return summary;
}

}  // namespace network::gateway
