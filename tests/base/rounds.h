// SPDX-License-Identifier: MIT
// How often a law is tried with values made by chance.
#pragma once

namespace test {

// Under a sanitizer a round costs many times as much; memory errors need fewer of them than a rare
// combination does, and the released code goes through all.
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
