// SPDX-License-Identifier: MIT
#include "plan/print/own_sandbox.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace plan {
namespace {

enum class Kind { browser, containers, namespaces };

struct Program {
    std::string_view name;
    Kind kind;
};
constexpr Program kPrograms[] = {
    {"brave-browser", Kind::browser},
    {"chrome", Kind::browser},
    {"chromium", Kind::browser},
    {"chromium-browser", Kind::browser},
    {"electron", Kind::browser},
    {"google-chrome", Kind::browser},
    {"google-chrome-stable", Kind::browser},
    {"headless_shell", Kind::browser},
    {"microsoft-edge", Kind::browser},
    {"vivaldi", Kind::browser},
    {"buildah", Kind::containers},
    {"podman", Kind::containers},
    {"bwrap", Kind::namespaces},
    {"flatpak", Kind::namespaces},
};

constexpr std::string_view kSetting = "isolation.allow_nested_namespaces = true";

bool has_word(const std::vector<std::string>& command, std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(command, [&](std::string_view word) {
        return std::ranges::any_of(words, [&](std::string_view one) { return word.starts_with(one); });
    });
}

std::string_view name_in(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

const Program* known_program(std::string_view name) {
    const auto* found = std::ranges::find(kPrograms, name, &Program::name);
    return found == std::end(kPrograms) ? nullptr : found;
}

std::string line_for(const Program& program, const Plan& plan) {
    bool is_open = plan.system_calls.allow_nested_namespaces;
    switch (program.kind) {
        case Kind::browser:
            if (is_open || has_word(plan.command, {"--no-sandbox"})) return {};
            return base::format(
                "{} makes a sandbox of its own, with namespaces that the jail refuses: add --no-sandbox to "
                "{}, or set {} (less protection)",
                program.name, program.name, kSetting);
        case Kind::containers:
            return line_about_containers(plan.command);
        case Kind::namespaces:
            if (is_open) return {};
            return base::format(
                "{} makes namespaces of its own, which the jail refuses: set {} (less protection)",
                program.name, kSetting);
    }
    return {};
}

}  // namespace

std::string line_about_own_sandbox(const Plan& plan) {
    if (plan.command.empty()) return {};
    const Program* program = known_program(name_in(plan.command.front()));
    return program == nullptr ? std::string() : line_for(*program, plan);
}

std::string line_about_containers(const std::vector<std::string>& command) {
    // The service outside makes the containers.
    if (command.empty() || has_word(command, {"--remote", "--url", "--connection"})) return {};
    const std::string name = base::printable(name_in(command.front()));
    return base::format(
        "{} can't make containers in the jail, because they need set-user-ID programs and namespaces: run it "
        "outside, or use its service with --dangerous-socket SOCKET and {} --remote",
        name, name);
}

RefusedNamespaces refused_namespaces(std::string_view program) {
    const Program* known = known_program(program);
    const std::string name = base::printable(program);
    switch (known == nullptr ? Kind::namespaces : known->kind) {
        case Kind::browser:
            return {
                .line = base::format("{} was refused namespaces for a sandbox of its own: add --no-sandbox "
                                     "to {}, or set {} (less protection)",
                                     name, name, kSetting),
                .reason =
                    base::format("it makes a sandbox of its own: add --no-sandbox, or set {}", kSetting),
                .change = {}};
        case Kind::containers:
            return {
                .line = base::format("{} was refused namespaces for containers: run it outside, or use its "
                                     "service with --dangerous-socket SOCKET and {} --remote",
                                     name, name),
                .reason = "it can't make containers in the jail: run it outside, or use its service",
                .change = {}};
        case Kind::namespaces:
            return {
                .line = base::format("{} was refused namespaces of its own; if it failed because of that, "
                                     "set {} (less protection)",
                                     name, kSetting),
                .reason = "the jail refuses namespaces of its own",
                .change = std::string(kSetting)};
    }
    return {};
}

}  // namespace plan
