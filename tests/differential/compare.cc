// SPDX-License-Identifier: MIT
// The only table of allowed differences between backends. Each row gives the reason why a process inside
// can't use the difference.
#include "differential/compare.h"

#include <algorithm>
#include <iterator>
#include <regex>
#include <vector>

#include "base/text.h"

namespace differential {
namespace {

struct Allowance {
    const char* pattern;
    const char* replacement;
    const char* reason;
};

constexpr Allowance kAllowances[] = {
    {R"(^propagation (.*): (master|private)$)", "propagation $1: private",
     "bubblewrap leaves the jail's mounts as receivers of the host's, native cuts the tie; neither sends "
     "anything"},
    {R"(^(mount / .*: tmpfs root /)newroot)", "$1",
     "bubblewrap's root is a directory of its scratch file system, which is gone"},
    {R"(^(mount .*: tmpfs root )/\S+//deleted)", "$1<content>",
     "a file with given content had a name while it was made, which is gone"},
    {R"(^(mount .*: tmpfs .* super rw),mode=\d+)", "$1",
     "the mode that a file system was mounted with; the one that its root has now is compared"},
    {R"(^variable AGENT_SANDBOX_BACKEND=(bwrap|native):)",
     "variable AGENT_SANDBOX_BACKEND=<backend>:", "its name"},
    {R"(^(path /run/agent-sandbox/summary: .*) size \d+ (.*) hash \w+$)", "$1 $2",
     "it names the backend; tests/jail/differential.bats compares the rest"},
    {R"(^(content /proc/1/cmdline: ok )(/run/agent-sandbox/)?agent-sandbox(\\x00| )inner-stage(\\x00\d+)?(\\x00)*$)",
     "$1<stage>", "bubblewrap executes the stage with the number of a descriptor, native goes on as it"},
};

using Lines = std::vector<std::string>;

Lines sorted_lines(std::string_view text) {
    Lines lines;
    for (std::string_view line : base::split(text, '\n')) lines.emplace_back(line);
    std::ranges::sort(lines);
    return lines;
}

Lines only_in(const Lines& one, const Lines& other) {
    Lines lines;
    std::ranges::set_difference(one, other, std::back_inserter(lines));
    return lines;
}

void settle(Lines& lines) {
    for (const Allowance& allowance : kAllowances) {
        const std::regex pattern(allowance.pattern);
        for (std::string& line : lines) line = std::regex_replace(line, pattern, allowance.replacement);
    }
    std::ranges::sort(lines);
}

}  // namespace

std::string differences(std::string_view first, std::string_view second) {
    Lines left = sorted_lines(first), right = sorted_lines(second);
    // Apply the table to the differing lines only: patterns are slow, and most lines are equal.
    Lines left_only = only_in(left, right), right_only = only_in(right, left);
    settle(left_only);
    settle(right_only);
    Lines lines;
    for (const std::string& line : only_in(left_only, right_only)) lines.push_back(line + "   <- first");
    for (const std::string& line : only_in(right_only, left_only)) lines.push_back(line + "   <- second");
    // Sort, so that the two sides of one fact are adjacent.
    std::ranges::sort(lines);
    std::string text;
    for (const std::string& line : lines) text += line + '\n';
    return text;
}

}  // namespace differential
