// SPDX-License-Identifier: MIT
// Theory of operation. Common lines at the start and at the end of a range are removed first. The rest is
// compared by the greedy algorithm of Myers (1986), which needs time and memory in the square of the number
// of differences. Beyond kMostDifferences the range is divided at lines that occur once in each text (the
// "patience" method), and each part is compared again. A part without such lines counts as replaced.
#include "diff/lines.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

namespace diff {
namespace {

constexpr int64_t kMostDifferences = 600;

struct Range {
    size_t before_begin, before_end, after_begin, after_end;

    size_t before_size() const { return before_end - before_begin; }
    size_t after_size() const { return after_end - after_begin; }
};

class Comparison {
  public:
    Comparison(const std::vector<std::string_view>& before, const std::vector<std::string_view>& after)
        : keeps_(before.size(), kNone), after_size_(after.size()) {
        std::unordered_map<std::string_view, uint32_t> numbers;
        auto number = [&](std::string_view line) {
            return numbers.try_emplace(line, static_cast<uint32_t>(numbers.size())).first->second;
        };
        for (std::string_view line : before) before_.push_back(number(line));
        for (std::string_view line : after) after_.push_back(number(line));
    }

    std::vector<Replacement> run() {
        compare({0, before_.size(), 0, after_.size()});
        std::vector<Replacement> replacements;
        size_t at_before = 0, at_after = 0;
        auto add = [&](size_t before_end, size_t after_end) {
            if (at_before < before_end || at_after < after_end)
                replacements.push_back({at_before, before_end, at_after, after_end});
        };
        for (size_t i = 0; i < keeps_.size(); ++i) {
            if (keeps_[i] == kNone) continue;
            add(i, keeps_[i]);
            at_before = i + 1;
            at_after = keeps_[i] + 1;
        }
        add(keeps_.size(), after_size_);
        return replacements;
    }

  private:
    static constexpr size_t kNone = static_cast<size_t>(-1);

    // An explicit stack: a text may divide into very many parts, one within the other.
    void compare(Range whole) {
        std::vector<Range> waiting{whole};
        while (!waiting.empty()) {
            Range range = waiting.back();
            waiting.pop_back();
            trim(range);
            if (range.before_size() == 0 || range.after_size() == 0 || compare_by_myers(range)) continue;
            divide(range, waiting);
        }
    }

    void trim(Range& range) {
        while (range.before_size() > 0 && range.after_size() > 0 &&
               before_[range.before_begin] == after_[range.after_begin])
            keeps_[range.before_begin++] = range.after_begin++;
        while (range.before_size() > 0 && range.after_size() > 0 &&
               before_[range.before_end - 1] == after_[range.after_end - 1])
            keeps_[--range.before_end] = --range.after_end;
    }

    // False where the texts differ too much.
    bool compare_by_myers(const Range& range) {
        const auto rows = static_cast<int64_t>(range.before_size());
        const auto columns = static_cast<int64_t>(range.after_size());
        const int64_t most = std::min(rows + columns, kMostDifferences);
        std::vector<int64_t> furthest(static_cast<size_t>(2 * most + 3), 0);
        const int64_t middle = most + 1;
        std::vector<std::vector<int64_t>> trace;
        for (int64_t differences = 0; differences <= most; ++differences) {
            for (int64_t k = -differences; k <= differences; k += 2) {
                const int64_t* around = &furthest[static_cast<size_t>(middle + k)];
                bool goes_down = k == -differences || (k != differences && around[-1] < around[1]);
                int64_t row = goes_down ? around[1] : around[-1] + 1;
                int64_t column = row - k;
                while (row < rows && column < columns && is_same(range, row, column)) ++row, ++column;
                furthest[static_cast<size_t>(middle + k)] = row;
                if (row >= rows && column >= columns) {
                    walk_back(range, trace, differences);
                    return true;
                }
            }
            trace.emplace_back(furthest.begin() + (middle - differences - 1),
                               furthest.begin() + (middle + differences + 2));
        }
        return false;
    }

    bool is_same(const Range& range, int64_t row, int64_t column) const {
        return before_[range.before_begin + static_cast<size_t>(row)] ==
               after_[range.after_begin + static_cast<size_t>(column)];
    }

    // trace[d] has the furthest rows for k = -d-1 … d+1, after step d.
    void walk_back(const Range& range, const std::vector<std::vector<int64_t>>& trace, int64_t differences) {
        auto row = static_cast<int64_t>(range.before_size());
        auto column = static_cast<int64_t>(range.after_size());
        auto keep_down_to = [&](int64_t start_row, int64_t start_column) {
            while (row > start_row && column > start_column) {
                --row, --column;
                keeps_[range.before_begin + static_cast<size_t>(row)] =
                    range.after_begin + static_cast<size_t>(column);
            }
        };
        for (int64_t d = differences; d > 0; --d) {
            const std::vector<int64_t>& last = trace[static_cast<size_t>(d - 1)];
            auto at = [&](int64_t k) { return last[static_cast<size_t>(k + d)]; };
            int64_t k = row - column;
            bool goes_down = k == -d || (k != d && at(k - 1) < at(k + 1));
            int64_t previous = goes_down ? k + 1 : k - 1;
            int64_t previous_row = at(previous);
            keep_down_to(goes_down ? previous_row : previous_row + 1,
                         goes_down ? previous_row - previous + 1 : previous_row - previous);
            row = previous_row;
            column = previous_row - previous;
        }
        keep_down_to(0, 0);
    }

    // Pairs of lines that occur once in each part, in the longest common order.
    void divide(const Range& range, std::vector<Range>& waiting) {
        struct Count {
            uint32_t before = 0, after = 0;
            size_t after_place = 0;
        };
        std::unordered_map<uint32_t, Count> counts;
        for (size_t i = range.before_begin; i < range.before_end; ++i) ++counts[before_[i]].before;
        for (size_t i = range.after_begin; i < range.after_end; ++i) {
            Count& count = counts[after_[i]];
            ++count.after;
            count.after_place = i;
        }
        struct Pair {
            size_t before, after, previous;
        };
        std::vector<Pair> pairs;
        std::vector<size_t> ends;  // ends[n]: the pair that ends the best sequence of n + 1 pairs
        for (size_t i = range.before_begin; i < range.before_end; ++i) {
            const Count& count = counts[before_[i]];
            if (count.before != 1 || count.after != 1) continue;
            auto place = std::ranges::lower_bound(ends, count.after_place, {},
                                                  [&](size_t pair) { return pairs[pair].after; });
            size_t previous = place == ends.begin() ? kNone : *(place - 1);
            pairs.push_back({i, count.after_place, previous});
            if (place == ends.end()) {
                ends.push_back(pairs.size() - 1);
            } else {
                *place = pairs.size() - 1;
            }
        }
        if (ends.empty()) return;
        Range rest = range;
        for (size_t pair = ends.back(); pair != kNone; pair = pairs[pair].previous) {
            keeps_[pairs[pair].before] = pairs[pair].after;
            waiting.push_back(
                {pairs[pair].before + 1, rest.before_end, pairs[pair].after + 1, rest.after_end});
            rest.before_end = pairs[pair].before;
            rest.after_end = pairs[pair].after;
        }
        waiting.push_back(rest);
    }

    std::vector<uint32_t> before_, after_;
    std::vector<size_t> keeps_;  // line of the first text → the same line of the second, or kNone
    size_t after_size_;
};

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        size_t newline = text.find('\n');
        size_t length = newline == std::string_view::npos ? text.size() : newline + 1;
        lines.push_back(text.substr(0, length));
        text.remove_prefix(length);
    }
    return lines;
}

std::vector<Replacement> compare(const std::vector<std::string_view>& before,
                                 const std::vector<std::string_view>& after) {
    return Comparison(before, after).run();
}

}  // namespace diff
