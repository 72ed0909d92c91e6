// SPDX-License-Identifier: MIT
// Counts the frames of the other side before nghttp2 reads them. A frame that moves no data costs a part of a
// budget, which is filled again each second.
//
// Threat: floods of small frames that cost the gateway more than their sender: streams that are reset as soon
// as they are opened, header blocks in CONTINUATION frames without end, PING, SETTINGS, PRIORITY and empty
// DATA. Tests: tests/http2/frame_budget_test.cc, tests/egress/http2_floods.bats.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace network::http2 {

class FrameBudget {
  public:
    static constexpr int kMost = 10000;  // when nothing was used for some seconds
    static constexpr int kEachSecond = 2000;
    static constexpr int kPing = 1;  // gRPC measures with them
    static constexpr int kReset = 50;
    static constexpr int kOther = 10;
    static constexpr int kMostContinuations = 8;
    static constexpr size_t kPreface = 24;  // bytes that a client sends before its frames

    explicit FrameBudget(size_t preface) : skipped_(preface) {}

    // False: the connection must be closed.
    bool take(std::string_view bytes);
    // This side had to reset a stream.
    bool take_reset() { return spend(kReset); }
    // Once a second.
    void refill() { give_back(kEachSecond); }
    // This side sent data, which clients answer with a PING.
    void note_data() { give_back(kPing); }

    std::string_view fault() const { return fault_; }

  private:
    static constexpr size_t kHead = 9;

    bool judge();
    bool spend(int cost);
    void give_back(int cost);
    bool fail(std::string_view fault);

    size_t skipped_;  // bytes until the next head
    std::array<uint8_t, kHead> head_{};
    size_t in_head_ = 0;
    int continuations_ = 0;
    int left_ = kMost;
    std::string_view fault_;
};

}  // namespace network::http2
