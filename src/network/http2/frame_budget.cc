// SPDX-License-Identifier: MIT
#include "network/http2/frame_budget.h"

#include <algorithm>

namespace network::http2 {
namespace {

enum Type : uint8_t {
    kData = 0,
    kHeaders = 1,
    kResetStream = 3,
    kPingFrame = 6,
    kWindowUpdate = 8,
    kContinuation = 9,
};
constexpr uint8_t kEndStream = 1;

}  // namespace

bool FrameBudget::take(std::string_view bytes) {
    while (!bytes.empty() && fault_.empty()) {
        size_t count = std::min(skipped_, bytes.size());
        bytes.remove_prefix(count);
        skipped_ -= count;
        if (bytes.empty()) break;
        head_[in_head_++] = static_cast<uint8_t>(bytes.front());
        bytes.remove_prefix(1);
        if (in_head_ < kHead) continue;
        in_head_ = 0;
        skipped_ = static_cast<size_t>(head_[0]) << 16 | static_cast<size_t>(head_[1]) << 8 | head_[2];
        judge();
    }
    return fault_.empty();
}

bool FrameBudget::judge() {
    const uint8_t type = head_[3], flags = head_[4];
    const bool is_empty = skipped_ == 0;
    if (type == kContinuation) {
        if (++continuations_ > kMostContinuations) return fail("a header block has too many frames");
        return !is_empty || spend(kOther);
    }
    continuations_ = 0;
    switch (type) {
        case kData:
            return !is_empty || (flags & kEndStream) != 0 || spend(kOther);
        case kHeaders:
            // Streams at once are bounded, and one that is reset is counted then.
            return true;
        case kWindowUpdate:
            // A side that receives much sends many.
            return true;
        case kResetStream:
            return spend(kReset);
        case kPingFrame:
            return spend(kPing);
        default:
            return spend(kOther);
    }
}

bool FrameBudget::spend(int cost) {
    left_ -= cost;
    return left_ >= 0 || fail("too many frames without data");
}

bool FrameBudget::fail(std::string_view fault) {
    fault_ = fault;
    return false;
}

void FrameBudget::give_back(int cost) {
    left_ = std::min(left_ + cost, kMost);
}

}  // namespace network::http2
