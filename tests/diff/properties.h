// SPDX-License-Identifier: MIT
// Properties of a patch between two texts of arbitrary bytes. The unit tests check them with the seeds and
// with damaged seeds, the fuzzer with its mutations of the seeds.
#pragma once

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "diff/lines.h"
#include "diff/merge.h"
#include "diff/patch.h"

namespace diff {

// The second text as the replacements make it from the first.
inline std::string replaced_lines(const std::vector<std::string_view>& before,
                                  const std::vector<std::string_view>& after,
                                  const std::vector<Replacement>& replacements) {
    std::string text;
    size_t at = 0;
    for (const Replacement& one : replacements) {
        for (; at < one.before_begin; ++at) text += before[at];
        for (size_t i = one.after_begin; i < one.after_end; ++i) text += after[i];
        at = one.before_end;
    }
    for (; at < before.size(); ++at) text += before[at];
    return text;
}

// The number of the first line of a hunk, from 1: "@@ -12,7 +12,8 @@". An empty side names the line before.
inline size_t first_line_of(std::string_view head) {
    size_t number = 0, count = 1;
    const char* end = head.data() + head.size();
    auto [next, error] = std::from_chars(head.data() + 4, end, number);
    if (error == std::errc() && next != end && *next == ',') std::from_chars(next + 1, end, count);
    return count == 0 ? number + 1 : number;
}

// The second text as a program that reads the patch makes it from the first.
inline std::string patched_text(std::string_view before, std::string_view patch) {
    constexpr std::string_view kNoNewline = "\\ No newline at end of file\n";
    const std::vector<std::string_view> old_lines = lines_of(before);
    std::string text;
    size_t at = 0;
    bool is_in_hunk = false, adds = false;
    for (std::string_view line : lines_of(patch)) {
        if (line.starts_with("@@ -")) {
            is_in_hunk = true;
            for (const size_t first = first_line_of(line); at + 1 < first && at < old_lines.size(); ++at)
                text += old_lines[at];
        } else if (is_in_hunk && line == kNoNewline) {
            if (adds) text.pop_back();
        } else if (is_in_hunk) {
            adds = line.front() != '-';
            if (adds) text += line.substr(1);
            if (line.front() != '+') ++at;
        }
    }
    for (; at < old_lines.size(); ++at) text += old_lines[at];
    return text;
}

// Both texts in one input, with a byte 0xff between them.
inline const char* broken_for_texts(std::string_view bytes) {
    const size_t middle = std::min(bytes.find('\xff'), bytes.size());
    const std::string_view before = bytes.substr(0, middle);
    const std::string_view after = bytes.substr(std::min(middle + 1, bytes.size()));
    const std::vector<std::string_view> one = lines_of(before), other = lines_of(after);
    const std::vector<Replacement> replacements = compare(one, other);
    if (replaced_lines(one, other, replacements) != after)
        return "the replacements do not make the second text";

    const Side first{.exists = true, .content = before}, second{.exists = true, .content = after};
    for (BinaryFormat format : {BinaryFormat::summary, BinaryFormat::literal}) {
        const std::string text = patch("name", first, second, format);
        if (text.empty() != (before == after)) return "a patch is empty, or it is not";
        if (!text.empty() && !text.starts_with("diff --git a/name b/name\n"))
            return "a patch has another head";
        bool is_text = !is_binary(before) && !is_binary(after);
        if (is_text && !text.empty() && patched_text(before, text) != after)
            return "the patch does not make the second text";
        if (!is_text && std::ranges::count(text, '\0') > 0) return "a patch has a NUL";
    }
    if (merge(before, before, after) != after || merge(before, after, before) != after)
        return "a merge with an unchanged text is not the other text";
    if (merge(before, after, after) != after) return "a merge of the same change differs";
    const std::string name = quoted_name(before);
    if (std::ranges::any_of(name, [](char letter) { return static_cast<unsigned char>(letter) < ' '; }))
        return "a quoted name has control characters";
    return nullptr;
}

}  // namespace diff
