// SPDX-License-Identifier: MIT
#include "cli/overview.h"

#include "base/table.h"
#include "base/text.h"
#include "cli/output.h"

namespace cli {
namespace {

using base::printable;
using base::Style;

std::string project_text(const plan::Plan& plan, const base::Path& home) {
    return shortened(plan.project, home) + (plan.project_is_writable ? " (writable)" : " (read-only)");
}

// Another mode than the one asked for is the first thing to wonder about when something can't be reached.
std::string network_text(const plan::Plan& plan) {
    std::string text(policy::to_text(plan.network.reached));
    if (plan.network.asked == plan.network.reached) return text;
    return text + " (asked: " + std::string(policy::to_text(plan.network.asked)) + ")";
}

std::string held_back_text(const plan::Plan& plan) {
    size_t count = plan.environment.removed.size();
    return std::to_string(count) + (count == 1 ? " variable" : " variables") + " held back";
}

std::string what_happens_here(const Planned& planned, bool is_coloured) {
    const plan::Plan& plan = planned.plan;
    base::Table table;
    table.add({{"backend"}, {printable(plan.backend)}});
    table.add({{"project"}, {printable(project_text(plan, planned.facts.identity.home))}});
    table.add({{"network"}, {network_text(plan)}});
    table.add({{"environment"}, {held_back_text(plan)}});
    return base::styled("A command started here would get", Style::bold, is_coloured) + "\n" +
           table.text(2, is_coloured);
}

std::string what_stands_in_the_way(const base::Error& error, bool is_coloured) {
    return base::styled("A command would not be started here", Style::bold, is_coloured) + "\n  " +
           printable(error.line()) + "\n";
}

std::string things_to_try(bool is_coloured) {
    base::Table table;
    table.add({{"agent-sandbox bash"}, {"look around in the jail", Style::dim}});
    table.add({{"agent-sandbox plan"}, {"see everything that it shows and holds back", Style::dim}});
    table.add({{"agent-sandbox doctor"}, {"see what this machine can enforce", Style::dim}});
    return base::styled("Try", Style::bold, is_coloured) + "\n" + table.text(2, is_coloured);
}

}  // namespace

std::string start_line(const plan::Plan& plan, const base::Path& home) {
    std::string agent = plan.agent.empty() ? "" : plan.agent + " · ";
    return agent + plan.backend + " · " + project_text(plan, home) + " · network " + network_text(plan) +
           " · " + held_back_text(plan);
}

int print_overview(const Invocation& call) {
    bool is_coloured = call.output.colours_results();
    base::Result<Planned> planned = make_plan(call.caller, call.arguments, "", {});
    std::string text = "agent-sandbox runs a command in a jail that the Linux kernel enforces.\n\n";
    text += planned ? what_happens_here(*planned, is_coloured)
                    : what_stands_in_the_way(planned.error(), is_coloured);
    return call.output.result(text + "\n" + things_to_try(is_coloured) + "\nMore: agent-sandbox --help\n");
}

}  // namespace cli
