// SPDX-License-Identifier: MIT
// How many rounds a property test runs with random values.
#pragma once

namespace test {

// Under a sanitizer a round takes many times as long. Finding a memory error needs fewer rounds than finding
// a rare combination, and the release build runs all of them.
constexpr unsigned rounds(unsigned all) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return all / 10;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    return all / 10;
#else
    return all;
#endif
#else
    return all;
#endif
}

}  // namespace test
