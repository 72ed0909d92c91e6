// SPDX-License-Identifier: MIT
#include "slurm/options/denial.h"

#include <algorithm>

#include "base/text.h"

namespace slurm {
namespace {

using enum DenialClass;

constexpr DenialCode kCodes[] = {
    {code::identity, policy, "another user, group or security context than one's own"},
    {code::host_environment, policy, "the login environment or the limits of the host would enter a job"},
    {code::outside_code, policy, "a program that would run outside the jail"},
    {code::outside_file, policy, "a file that Slurm would open outside the jail"},
    {code::multi_prog, policy, "a list of programs that Slurm, not the jail, would start"},
    {code::network, policy, "an option of the interconnect, or a display that would be forwarded"},
    {code::credential, policy, "the placeholder of a credential in a job"},
    {code::mail, policy, "mail to another address than the account's own"},
    {code::other_cluster, policy, "another cluster: its nodes do not know this jail"},
    {code::heterogeneous, policy, "heterogeneous jobs are not made from inside the jail"},
    {code::administration, policy, "changes or views that are the administrator's"},
    {code::other_users, policy, "what belongs to other users"},
    {code::not_in_scope, policy, "a job that this session may not see or touch"},
    {code::command, policy, "a command, or a part of one, that is not available in the jail"},
    {code::unknown_option, policy, "an option that is not in the table, so the sandbox can't judge it"},
    {code::value, policy, "a value that an option may not have here"},
    {code::too_large, policy, "arguments, environment or a script above the limits"},
    {code::busy, fault, "no process could be started for the call; it may be made again"},
    {code::unavailable, fault, "the process outside the jail that makes the calls is gone or has failed"},
};

std::string_view ending_of(DenialClass is) {
    switch (is) {
        case policy:
            return "this is policy, not a fault: do not retry or work around it, ask the user";
        case fault:
            return "this is a fault, not policy: try again later, and tell the user if it stays";
    }
    return "";
}

}  // namespace

std::span<const DenialCode> denial_codes() {
    return kCodes;
}

std::string text_of(const Denial& denial, std::string_view command) {
    const auto* row = std::find_if(std::begin(kCodes), std::end(kCodes),
                                   [&](const DenialCode& known) { return known.code == denial.code; });
    const DenialClass is = row == std::end(kCodes) ? policy : row->is;
    std::string text = base::printable(command) + ": ";
    text += is == policy ? "refused" : "failed";
    text += base::format(" [{}]: {}", denial.code, base::printable(denial.what));
    if (!denial.advice.empty()) text += base::format(" ({})", base::printable(denial.advice));
    return base::format("{}; {}", text, ending_of(is));
}

}  // namespace slurm
