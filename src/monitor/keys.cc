// SPDX-License-Identifier: MIT
#include "monitor/keys.h"

#include <algorithm>
#include <iterator>

namespace monitor {
namespace {

struct Spelling {
    std::string_view bytes;
    Key key;
};
constexpr Spelling kSpellings[] = {
    {"\x1b[A", Key::up},   {"\x1bOA", Key::up}, {"k", Key::up},      {"\x1b[B", Key::down},
    {"\x1bOB", Key::down}, {"j", Key::down},    {"a", Key::approve}, {"d", Key::deny},
    {"s", Key::stop},      {"?", Key::help},    {"q", Key::quit},    {"\x03", Key::quit},
    {"\x04", Key::quit},   {"y", Key::yes},     {"Y", Key::yes},     {"n", Key::no},
    {"N", Key::no},
};

// The length of an escape sequence that is not one of our keys, so that its letters are not taken for keys.
size_t sequence_length(std::string_view bytes) {
    if (bytes[0] != '\x1b' || bytes.size() < 2) return 1;
    if (bytes[1] == 'O') return std::min<size_t>(3, bytes.size());
    if (bytes[1] != '[') return 2;
    size_t end = 2;
    while (end < bytes.size() && (bytes[end] < '@' || bytes[end] > '~')) ++end;
    return std::min(end + 1, bytes.size());
}

}  // namespace

std::vector<Key> keys_in(std::string_view bytes) {
    std::vector<Key> keys;
    while (!bytes.empty()) {
        const Spelling* found = std::ranges::find_if(
            kSpellings, [&](const Spelling& spelling) { return bytes.starts_with(spelling.bytes); });
        if (found != std::end(kSpellings)) keys.push_back(found->key);
        bytes.remove_prefix(found != std::end(kSpellings) ? found->bytes.size() : sequence_length(bytes));
    }
    return keys;
}

}  // namespace monitor
