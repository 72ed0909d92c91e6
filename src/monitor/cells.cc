// SPDX-License-Identifier: MIT
#include "monitor/cells.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/parse.h"
#include "base/text.h"

namespace monitor {
namespace {

struct Range {
    uint32_t first;
    uint32_t last;
    size_t cells;
};
constexpr Range kRanges[] = {
    {0x0300, 0x036f, 0},   {0x200b, 0x200d, 0},   {0x20d0, 0x20ff, 0}, {0xfe00, 0xfe0f, 0},
    {0x1100, 0x115f, 2},   {0x2e80, 0x303e, 2},   {0x3041, 0xa4cf, 2}, {0xac00, 0xd7a3, 2},
    {0xf900, 0xfaff, 2},   {0xfe30, 0xfe6f, 2},   {0xff00, 0xff60, 2}, {0xffe0, 0xffe6, 2},
    {0x1f300, 0x1faff, 2}, {0x20000, 0x3fffd, 2},
};

size_t cells_of(uint32_t letter) {
    const Range* range = std::ranges::find_if(
        kRanges, [letter](const Range& row) { return letter >= row.first && letter <= row.last; });
    return range == std::end(kRanges) ? 1 : range->cells;
}

constexpr std::string_view kCut = "…";

// Two digits at `at`, or -1.
int two_digits(std::string_view text, size_t at) {
    if (text.size() < at + 2) return -1;
    return base::parse_number<int>(text.substr(at, 2)).value_or(-1);
}

}  // namespace

size_t cells_of(std::string_view printable) {
    size_t cells = 0;
    while (!printable.empty()) {
        base::CodePoint letter = base::first_code_point(printable);
        cells += letter.length == 0 ? 1 : cells_of(letter.value);
        printable.remove_prefix(std::max<size_t>(letter.length, 1));
    }
    return cells;
}

std::string cut(std::string_view text, size_t width) {
    // No character has more than four bytes; text far beyond the width need not be processed.
    std::string shown = base::printable(text.substr(0, width * 8 + 64));
    if (cells_of(std::string_view(shown)) <= width) return shown;
    if (width == 0) return {};
    size_t taken = 0;
    std::string_view rest = shown;
    while (!rest.empty()) {
        base::CodePoint letter = base::first_code_point(rest);
        size_t cells = letter.length == 0 ? 1 : cells_of(letter.value);
        if (taken + cells > width - 1) break;
        taken += cells;
        rest.remove_prefix(std::max<size_t>(letter.length, 1));
    }
    shown.resize(shown.size() - rest.size());
    return shown + std::string(kCut);
}

std::string padded(std::string_view text, size_t width) {
    std::string shown = cut(text, width);
    size_t cells = cells_of(std::string_view(shown));
    return shown + std::string(width - std::min(width, cells), ' ');
}

std::string padded_left(std::string_view text, size_t width) {
    std::string shown = cut(text, width);
    size_t cells = cells_of(std::string_view(shown));
    return std::string(width - std::min(width, cells), ' ') + shown;
}

std::string bytes_text(int64_t bytes) {
    constexpr std::string_view kUnits = "KMGTPE";
    if (bytes < 1000) return std::to_string(std::max<int64_t>(bytes, 0));
    double amount = static_cast<double>(bytes);
    size_t unit = 0;
    for (amount /= 1024; amount >= 999.5 && unit + 1 < kUnits.size(); ++unit) amount /= 1024;
    int64_t tenths = std::llround(amount * 10);
    std::string text =
        tenths < 100 ? base::format("{}.{}", tenths / 10, tenths % 10) : std::to_string((tenths + 5) / 10);
    return text + kUnits[unit];
}

std::string age_text(std::chrono::milliseconds age) {
    int64_t seconds = std::max<int64_t>(age.count() / 1000, 0);
    if (seconds < 60) return std::to_string(seconds) + "s";
    int64_t minutes = seconds / 60;
    if (minutes < 60) return std::to_string(minutes) + "m";
    int64_t hours = minutes / 60;
    std::string rest = std::to_string(minutes % 60);
    if (hours < 24) return base::format("{}h{}{}m", hours, rest.size() < 2 ? "0" : "", rest);
    return std::to_string(hours / 24) + "d";
}

std::chrono::milliseconds age_of(std::string_view time) {
    using namespace std::chrono;
    // 2024-02-29T23:59:59
    int century = two_digits(time, 0), year = two_digits(time, 2), month = two_digits(time, 5),
        day = two_digits(time, 8), hour = two_digits(time, 11), minute = two_digits(time, 14),
        second = two_digits(time, 17);
    if (std::min({century, year, month, day, hour, minute, second}) < 0) return 0ms;
    year_month_day date{std::chrono::year(century * 100 + year),
                        std::chrono::month(static_cast<unsigned>(month)),
                        std::chrono::day(static_cast<unsigned>(day))};
    if (!date.ok()) return 0ms;
    auto moment = sys_days(date) + hours(hour) + minutes(minute) + seconds(second);
    // Not in nanoseconds, as the clock counts: some years would overflow.
    return std::max(duration_cast<milliseconds>(floor<milliseconds>(system_clock::now()) - moment), 0ms);
}

std::string clock_text(std::string_view time) {
    bool is_clock = time.size() >= 19 && time[13] == ':' && time[16] == ':' && two_digits(time, 11) >= 0 &&
                    two_digits(time, 14) >= 0 && two_digits(time, 17) >= 0;
    return is_clock ? std::string(time.substr(11, 8)) : std::string(8, ' ');
}

std::string bar(int64_t used, int64_t limit, size_t width) {
    if (width < 3) return {};
    size_t inside = width - 2;
    double part =
        limit > 0 ? static_cast<double>(std::max<int64_t>(used, 0)) / static_cast<double>(limit) : 0;
    auto full = static_cast<size_t>(std::lround(std::min(part, 1.0) * static_cast<double>(inside)));
    return base::format("[{}{}]", std::string(full, '#'), std::string(inside - full, '-'));
}

}  // namespace monitor
