// SPDX-License-Identifier: MIT
// The keys that leave an attached session (`detach.keys`), recognised among those that the user types.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace session {

class DetachKeys {
  public:
    // "ctrl-] d": keys in their order, each `ctrl-` and a character, or one character. The first is a control
    // character.
    static base::Result<DetachKeys> parse(std::string_view text);

    // The typed bytes to pass on. A beginning of the keys is held back until the next byte.
    std::string take(std::string_view typed);
    // All keys were typed. What was typed after them is dropped.
    bool are_complete() const { return matched_ == keys_.size(); }

  private:
    explicit DetachKeys(std::string keys) : keys_(std::move(keys)) {}

    std::string keys_;
    size_t matched_ = 0;
};

}  // namespace session
