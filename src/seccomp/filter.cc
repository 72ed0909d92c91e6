// SPDX-License-Identifier: MIT
#include "seccomp/filter.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/text.h"

namespace seccomp {

int install(const Switches& switches) {
    std::span<const sock_filter> filter = filter_for(switches);
    sock_fprog program = {.len = static_cast<unsigned short>(filter.size()),
                          .filter = const_cast<sock_filter*>(filter.data())};
    // Without the flag, kernels before 5.16 also disable some speculation of the processor, which makes every
    // program slower; newer ones leave that to the program, and so do we. Linux 4.17 has the flag.
    for (unsigned flags : {unsigned{SECCOMP_FILTER_FLAG_SPEC_ALLOW}, 0u}) {
        if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) == 0) return 0;
        if (errno != EINVAL) break;
    }
    return errno;
}

namespace {

std::string answer_of(const Row& row) {
    if (row.error == 0) return "not done, though answered as done";
    return "refused with " + std::string(error_name(row.error));
}

void add_once(std::string& text, const std::string& part) {
    if (text.find(part) != std::string::npos) return;
    text += (text.empty() ? "" : "; ") + part;
}

bool is_known(std::string_view name) {
    return std::ranges::binary_search(known_names(), name);
}

std::string why_no_row_refuses(std::string_view name) {
    if (is_known(name)) return "no row of the filter refuses it";
    std::string why =
        "no row of the filter refuses it, and no system call of that name was known when this program was "
        "built";
    std::string near = base::nearest(name, known_names());
    return near.empty() ? why : base::format("{}; did you mean {}?", why, near);
}

// Names the rows that a setting has lifted, because the user may ask why the call works.
std::string why_lifted(const std::vector<const Row*>& lifted) {
    std::string why;
    for (const Row* row : lifted)
        add_once(why, base::format("{} allows it: {}", setting_of(row->lifted_by), row->reason));
    return why;
}

void judge_exceptions(FilterResult& result, const std::vector<const Row*>& counting) {
    result.summary = "allowed with exceptions";
    for (const Row* row : counting) {
        add_once(result.why, base::format("{} for {}, because: {}", answer_of(*row), row->when, row->reason));
        std::string_view setting = setting_of(row->lifted_by);
        if (!setting.empty()) add_once(result.why, std::string(setting) + " = true lifts that");
    }
}

}  // namespace

FilterResult explain(std::string_view name, const Switches& switches) {
    std::vector<const Row*> counting = rows_for(name);
    auto first_lifted = std::ranges::stable_partition(
        counting, [&](const Row* row) { return !switches.lifts(row->lifted_by); });
    std::vector<const Row*> lifted(first_lifted.begin(), first_lifted.end());
    counting.erase(first_lifted.begin(), first_lifted.end());

    FilterResult result{.summary = "allowed"};
    if (counting.empty()) {
        result.why = lifted.empty() ? why_no_row_refuses(name) : why_lifted(lifted);
        result.is_known = !lifted.empty() || is_known(name);
        if (!lifted.empty()) result.setting = setting_of(lifted.front()->lifted_by);
        return result;
    }
    const Row& row = *counting.front();
    if (row.conditions.empty()) {
        result.is_allowed = false;
        result.summary = answer_of(row);
        result.why = row.reason;
    } else {
        judge_exceptions(result, counting);
    }
    result.setting = setting_of(row.lifted_by);
    return result;
}

}  // namespace seccomp
