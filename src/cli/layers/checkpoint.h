// SPDX-License-Identifier: MIT
// Checkpoints of a layer for the verbs that make one: `checkpoint`, `rollback` and `apply`.
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"
#include "cli/verbs.h"
#include "layers/checkpoints/checkpoints.h"
#include "layers/store.h"

namespace cli {

// A running session uses the layer.
bool is_in_session(const Invocation& call, const layers::Layer& layer);

struct Saved {
    layers::Checkpoint checkpoint;
    std::chrono::milliseconds frozen{0};  // how long the session stood still; zero: none uses the layer
};
// What is saved: a text for lists.
struct SavedAs {
    std::string text;
    bool is_named = false;  // by the user
};
// The caller has the lock of the layer's checkpoints. A running session is frozen meanwhile.
base::Result<Saved> save_state(const Invocation& call, const layers::Layer& layer, const SavedAs& as);

}  // namespace cli
