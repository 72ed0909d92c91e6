// SPDX-License-Identifier: MIT
// Earlier states of a layer:
//
//   checkpoints/lock         held while a command makes or uses one
//   checkpoints/N/about      when it was made, and its text
//   checkpoints/N/upper      a copy of the upper directory; files that did not change are one with those of
//                            the checkpoint before it
//   checkpoints/new          one that is being made, or was when the program was killed
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "layers/store.h"

namespace layers {

struct Checkpoint {
    unsigned number = 0;
    int64_t time = 0;       // seconds since 1970
    bool is_named = false;  // by the user: it is never removed to make room
    std::string text;
};

inline constexpr size_t kMostCheckpoints = 20;

// By number.
std::vector<Checkpoint> checkpoints_of(const Layer& layer);
base::Result<Checkpoint> find_checkpoint(const Layer& layer, unsigned number);

// For one command at a time. An error: another one has it.
base::Result<base::Fd> lock_checkpoints(const Layer& layer);

// A copy of the present state, which must not change meanwhile. It counts only after keep(), and is removed
// without it. The error after `end` is the one that took_too_long() reports, and leaves the copy to
// remove_unfinished(): its removal takes long, too.
class NewCheckpoint {
  public:
    static base::Result<NewCheckpoint> make(
        const Layer& layer, std::optional<std::chrono::steady_clock::time_point> end = std::nullopt);
    NewCheckpoint(NewCheckpoint&&) noexcept;
    NewCheckpoint& operator=(NewCheckpoint&&) = delete;
    NewCheckpoint(const NewCheckpoint&) = delete;
    NewCheckpoint& operator=(const NewCheckpoint&) = delete;
    ~NewCheckpoint();

    base::Result<Checkpoint> keep(std::string_view text, bool is_named);

  private:
    explicit NewCheckpoint(Layer layer) : layer_(std::move(layer)) {}
    Layer layer_;
    bool is_pending_ = true;
};

// What a copy has left that was not finished. Before a session is frozen, and after that.
void remove_unfinished(const Layer& layer);

// The oldest that the user has not named, above kMostCheckpoints.
void remove_surplus_checkpoints(const Layer& layer);

// After restore_through() for a clone.
base::Status list_restored(const Layer& layer, unsigned number);

// Makes the layer, which no session uses, as it was at this checkpoint. Atomic.
base::Status restore_at_rest(const Layer& layer, unsigned number);

}  // namespace layers
