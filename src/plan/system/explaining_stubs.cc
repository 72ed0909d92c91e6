// SPDX-License-Identifier: MIT
#include "plan/system/explaining_stubs.h"

#include <algorithm>

#include "base/inside/jail_files.h"
#include "base/text.h"
#include "plan/draft.h"
#include "plan/print/own_sandbox.h"

namespace plan {
namespace {

bool is_installed(const Draft& draft, std::string_view name) {
    constexpr std::string_view kPlaces[] = {"/usr/bin", "/usr/local/bin"};
    return std::ranges::any_of(kPlaces, [&](std::string_view place) {
        return draft.tree().glance(base::Path::known(place) / name).has_value();
    });
}

// The start has a line about the command itself.
bool is_told(const Draft& draft, std::string_view name) {
    return !draft.plan.command.empty() && base::base_name(draft.plan.command.front()) == name &&
           !line_about_own_sandbox(draft.plan).empty();
}

}  // namespace

void add_explaining_stubs(Draft& draft) {
    for (const ExplainedProgram& program : kExplainedPrograms) {
        if (is_told(draft, program.name) || !is_installed(draft, program.name)) continue;
        draft.assembled.push_back(Mount{.kind = MountKind::symlink,
                                        .target = draft.own / base::kStubs / program.name,
                                        .source = draft.own_program().str(),
                                        .reason = {std::string(program.why), {}}});
    }
}

}  // namespace plan
