// SPDX-License-Identifier: MIT
// Properties of git's index with arbitrary bytes: a jailed process writes the index of a layer. The unit
// tests check them with the seeds and with damaged seeds, the fuzzer with its mutations of the seeds.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "layers/git_index.h"

namespace layers {

inline const char* broken_for_index(std::string_view bytes) {
    constexpr size_t kHead = 12, kTimes = 24;
    const std::optional<std::string> entries = staged_entries(bytes);
    if (!have_same_entries(bytes, bytes)) return "an index differs from itself";
    if (!entries) return nullptr;
    if (entries->size() > bytes.size()) return "more was read than there is";
    if (entries->empty()) return nullptr;
    (void)object_of(bytes, "a");
    std::string other(bytes);
    other[kHead] = static_cast<char>(other[kHead] ^ 1);
    if (!have_same_entries(bytes, other)) return "the time of a file is a change";
    other[kHead + kTimes] = static_cast<char>(other[kHead + kTimes] ^ 1);
    if (have_same_entries(bytes, other)) return "the mode of a file is not a change";
    return nullptr;
}

}  // namespace layers
