// SPDX-License-Identifier: MIT
#include "diff/merge.h"

#include <algorithm>
#include <vector>

#include "diff/lines.h"

namespace diff {
namespace {

// One side of a merge, read from its begin to its end.
class MergeSide {
  public:
    MergeSide(const std::vector<std::string_view>& base, std::string_view text)
        : base_(base), lines_(lines_of(text)), replacements_(compare(base, lines_)) {}

    bool is_at_end() const { return next_ == replacements_.size(); }
    size_t next_begin() const { return is_at_end() ? base_.size() + 1 : replacements_[next_].before_begin; }

    // Takes the replacements that overlap or touch the lines of the base up to `end`, and moves `end`.
    bool take(size_t& end) {
        const size_t before = next_;
        while (next_begin() <= end) end = std::max(end, replacements_[next_++].before_end);
        return next_ != before;
    }

    // This side's text for the lines [begin, end) of the base; `first` is the first replacement in it.
    std::string text(size_t first, size_t begin, size_t end) const {
        const Replacement& one = replacements_[first];
        const Replacement& last = replacements_[next_ - 1];
        return joined(lines_, one.after_begin - (one.before_begin - begin),
                      last.after_end + (end - last.before_end));
    }

    size_t position() const { return next_; }

    static std::string joined(const std::vector<std::string_view>& lines, size_t begin, size_t end) {
        std::string text;
        for (size_t i = begin; i < end; ++i) text += lines[i];
        return text;
    }

  private:
    const std::vector<std::string_view>& base_;
    const std::vector<std::string_view> lines_;
    const std::vector<Replacement> replacements_;
    size_t next_ = 0;
};

}  // namespace

std::optional<std::string> merge(std::string_view base, std::string_view one, std::string_view other) {
    const std::vector<std::string_view> lines = lines_of(base);
    MergeSide first(lines, one), second(lines, other);
    std::string merged;
    size_t at = 0;
    while (!first.is_at_end() || !second.is_at_end()) {
        const size_t begin = std::min(first.next_begin(), second.next_begin());
        const size_t first_position = first.position(), second_position = second.position();
        size_t end = begin;
        for (bool grows = true; grows;) {
            const bool has_first = first.take(end), has_second = second.take(end);
            grows = has_first || has_second;
        }
        const bool is_of_first = first.position() != first_position;
        const bool is_of_second = second.position() != second_position;
        const std::string text =
            is_of_first ? first.text(first_position, begin, end) : second.text(second_position, begin, end);
        if (is_of_first && is_of_second && text != second.text(second_position, begin, end))
            return std::nullopt;
        merged += MergeSide::joined(lines, at, begin) + text;
        at = end;
    }
    return merged + MergeSide::joined(lines, at, lines.size());
}

}  // namespace diff
