// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "backends/native/failure.h"
#include "backends/native/launch.h"
#include "base/format.h"
#include "base/parse.h"
#include "base/text.h"

namespace backends::native {
namespace {

constexpr std::string_view kDoctor = "run 'agent-sandbox doctor' for the cause and the fix";
constexpr std::string_view kPlan = "'agent-sandbox plan' shows the rule that asks for it";
constexpr std::string_view kAgain = "something else changed it just now; try again";

struct Row {
    Phase phase;
    std::string_view attempt;
};
constexpr Row kRows[] = {
    {Phase::namespaces, "make the namespaces of the jail"},
    {Phase::control_group, "enter the control group of the limits"},
    {Phase::user_map, "map the caller into the jail's user namespace"},
    {Phase::privacy, "take the jail's mounts apart from the host's"},
    {Phase::network, ""},  // the child sends the text
    {Phase::root, "make the root of the jail"},
    {Phase::step, ""},
    {Phase::old_root, "leave the host's root"},
    {Phase::last_namespace, "make the user namespace without power"},
    {Phase::privileges, "give up every capability"},
};

int number_in(std::string_view text) {
    return base::leading_number<int>(text).value_or(0);
}

std::string step_attempt(const std::string& target, const std::string& source) {
    std::string place = target == "." ? "/" : "/" + target;
    return source.empty() || source == target ? base::format("make {} in the jail", place)
                                              : base::format("show {} at {} in the jail", source, place);
}

// The path changed while it was used; the rule is not wrong.
bool is_of_change(int number) {
    return number == ELOOP || number == ENOENT || number == ENOTDIR || number == ESTALE;
}

}  // namespace

base::Error diagnose(std::string_view said) {
    std::vector<std::string_view> fields = base::split(said, '\0');
    if (fields.size() < 4) {
        return base::Error{.what = "the jail could not be built: it was ended while it was made",
                           .advice = std::string(kDoctor)};
    }
    auto phase = static_cast<Phase>(number_in(fields[0]));
    int number = number_in(fields[1]);
    std::string object = base::printable(fields[2]), other = base::printable(fields[3]);
    if (phase == Phase::step && number == ESTALE) {
        return base::Error{
            .what = base::format("/{} is another directory than when the job was submitted", object),
            .advice = "submit it again"};
    }
    const Row* row = std::ranges::find(kRows, phase, &Row::phase);
    std::string attempt = row == std::end(kRows) ? "build it" : std::string(row->attempt);
    if (phase == Phase::step) attempt = step_attempt(object, other);
    if (phase == Phase::network) attempt = object;
    base::Error error = base::system_error(attempt, number);
    error.what = "the jail could not be built: " + error.what;
    error.advice = phase != Phase::step ? kDoctor : is_of_change(number) ? kAgain : kPlan;
    return error;
}

}  // namespace backends::native
