// SPDX-License-Identifier: MIT
// Keeps a program that tries again and again from filling the record: one line per second and subject. Pure.
#pragma once

#include <chrono>
#include <string>
#include <unordered_map>

namespace network::gateway {

class OncePerSecond {
  public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr size_t kMost = 4096;

    bool admits(const std::string& subject, Time now) {
        auto found = last_.find(subject);
        if (found != last_.end() && now - found->second < std::chrono::seconds(1)) return false;
        if (found == last_.end() && last_.size() >= kMost) make_room(now);
        last_[subject] = now;
        return true;
    }

  private:
    void make_room(Time now) {
        std::erase_if(last_,
                      [&](const auto& entry) { return now - entry.second >= std::chrono::seconds(1); });
        // So many different ones within a second: rather some lines twice than none.
        if (last_.size() >= kMost) last_.clear();
    }
    std::unordered_map<std::string, Time> last_;
};

}  // namespace network::gateway
