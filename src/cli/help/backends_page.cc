// SPDX-License-Identifier: MIT
#include "cli/help/backends_page.h"

#include <vector>

#include "base/backend.h"
#include "base/format.h"
#include "plan/backend.h"
#include "policy/policy.h"
#include "selftest/judgement.h"

namespace cli {
namespace {

std::string row(const std::vector<std::string>& cells) {
    std::string line = "|";
    for (const std::string& cell : cells) line += " " + cell + " |";
    return line + "\n";
}

std::string heading(std::vector<std::string> cells) {
    std::string text = row(cells);
    for (std::string& cell : cells) cell = "---";
    return text + row(cells);
}

std::vector<std::string> names_of_backends(std::string first) {
    std::vector<std::string> names = {std::move(first)};
    for (const plan::BackendTraits& backend : plan::backends()) names.emplace_back(backend.name());
    return names;
}

std::string levels() {
    std::string text = "## Levels\n\n" + heading(names_of_backends("control"));
    for (const plan::ControlRow& control : plan::control_rows()) {
        std::vector<std::string> cells = {std::string(control.name) + (control.is_core ? " *" : "")};
        for (const plan::BackendTraits& backend : plan::backends())
            cells.emplace_back(policy::to_text(plan::level_with(control.name, backend.id)));
        text += row(cells);
    }
    text +=
        "\nhidden: it does not exist. denied: it exists and the kernel refuses. absent: not held.\n"
        "With `isolation.require = \"auto\"` a run starts only where the controls with a * reach denied.\n\n";
    text += "What is less than with native and bwrap, and why:\n\n";
    for (const plan::Reach& reach : plan::lesser_reaches()) {
        text += base::format("* {}, {}: {}; {}\n", base::to_text(reach.backend), reach.control,
                             policy::to_text(reach.level), reach.detail);
    }
    return text;
}

std::string networks() {
    using policy::NetworkMode;
    std::string text = "\n## Network modes\n\n" + heading(names_of_backends("mode"));
    for (NetworkMode mode :
         {NetworkMode::open, NetworkMode::filtered, NetworkMode::proxied, NetworkMode::isolated}) {
        std::vector<std::string> cells = {std::string(policy::to_text(mode))};
        for (const plan::BackendTraits& backend : plan::backends()) {
            bool needs_more = mode == NetworkMode::filtered || mode == NetworkMode::proxied;
            cells.emplace_back(!needs_more || backend.id == base::Backend::native ? "yes"
                               : backend.hands_connections ? "where system calls can be answered"
                                                           : "where bubblewrap is not set-uid");
        }
        text += row(cells);
    }
    return text + "\nWhere a mode can't be had, `network.fallback` decides.\n";
}

std::string exceptions() {
    std::string text =
        "\n## What the self-test expects to get through\n\n"
        "With native and bwrap nothing, but for hosts of the kinds named here.\n\n" +
        heading({"backend", "probe", "why"});
    for (const selftest::Exception& exception : selftest::exceptions()) {
        std::string backend(base::to_text(exception.backend));
        if (exception.is_for_set_uid) backend += ", set-uid";
        if (exception.below_landlock > 0)
            backend += base::format(", Landlock before ABI {}", exception.below_landlock);
        if (exception.lack != selftest::Exception::Lack::nothing)
            backend += ", where system calls can't be answered";
        text += row({backend, base::format("`{}`", exception.probe), std::string(exception.reason)});
    }
    return text;
}

}  // namespace

std::string backends_page() {
    return levels() + networks() + exceptions();
}

}  // namespace cli
