// SPDX-License-Identifier: MIT
// A small machine for plan tests: a tree in memory, a policy from TOML, a request.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "plan/make_plan.h"
#include "plan/rules.h"
#include "policy/layers.h"

namespace test {

inline constexpr std::string_view kLaptop = R"(d /usr/bin
l /bin usr/bin
d /lib
f /etc/hosts 0644 127.0.0.1
f /etc/passwd 0644 root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/bash\nbob:x:1001:1001::/home/bob:/bin/bash
f /etc/group 0644 root:x:0:\nann:x:1000:\nlab:x:2000:ann,bob
d /tmp
d /var/tmp
d /home/ann/.ssh
f /home/ann/.netrc
f /home/ann/.bashrc
f /home/ann/.gitconfig 0644 [user]\nname = Ann\n[credential]\nhelper = store\n
d /home/ann/app/src
f /home/ann/app/.git/HEAD
d /home/ann/app/.git/objects
d /home/ann/app/.git/refs
f /home/ann/app/.git/hooks/pre-commit.sample
f /home/ann/app/.git/info/exclude
f /home/ann/app/.git/config
f /home/ann/app/.env
f /home/ann/app/.env.example
d /home/ann/other
d /home/bob
)";

struct Case {
    std::string tree = std::string(kLaptop);
    Toml toml;
    std::string project = "/home/ann/app";
    std::vector<std::string> environment = {"HOME=/home/ann", "PATH=/usr/bin"};
    std::vector<std::string> private_etc = {};
    std::string slurm_job = {};
    bool closes_user_namespaces = false;             // and has a set-uid bubblewrap instead
    std::string agent = {};                          // the text of a profile
    std::string second_agent = {};                   // of another one in force
    std::string other_agent = {};                    // and of a profile that is not run
    std::function<void(host::Facts&)> machine = {};  // changes the facts
    std::string config_home = "/home/ann/.config";
    std::string state_home = "/home/ann/.local/state";
    plan::LoadedModules modules = {};
    bool holds_all = true;  // project.hold, unless a test is about it
    const plan::Brokered* brokered = nullptr;
    std::vector<std::string> command = {"true"};
};

inline host::MemoryTree tree_of(const Case& example) {
    auto tree = host::MemoryTree::parse(example.tree);
    if (!tree) ADD_FAILURE() << tree.error().line();
    return *std::move(tree);
}

inline base::Result<plan::Plan> planned(const Case& example) {
    host::MemoryTree tree = tree_of(example);
    std::vector<config::Profile> agents;
    for (const std::string* text_of : {&example.agent, &example.second_agent, &example.other_agent}) {
        const std::string& text = *text_of;
        if (text.empty()) continue;
        std::string name = text_of == &example.second_agent ? "second" : "tiny";
        auto profile = config::parse_profile({name, "profile " + name, text});
        if (!profile) return profile.error();
        agents.push_back(*std::move(profile));
    }
    Toml toml = example.toml;
    if (!example.agent.empty()) toml.profile = &agents.front().layer;
    size_t in_force = !example.agent.empty() + !example.second_agent.empty();
    auto effective = merged(toml);
    if (!effective) return effective.error();
    policy::Policy policy = policy::policy_from(*effective);
    if (example.holds_all) policy.project.hold = policy::Hold::all;
    host::Facts facts;
    facts.kernel = "6.12.0";
    facts.identity = {.uid = 1000,
                      .gid = 1000,
                      .user = "ann",
                      .group = "ann",
                      .shell = "/bin/bash",
                      .home = base::Path::known("/home/ann")};
    facts.bwrap = {.state = host::ProgramState::usable, .path = base::Path::known("/usr/bin/bwrap")};
    if (example.closes_user_namespaces) {
        facts.bwrap.is_setuid = true;
        facts.user_namespace_obstacle = "user.max_user_namespaces is 0";
        facts.native_obstacle =
            "agent-sandbox itself can't make user namespaces: user.max_user_namespaces is 0; ask";
    }
    if (example.machine) example.machine(facts);
    facts.own_program = base::Path::known("/usr/bin/agent-sandbox");
    facts.slurm_job.id = example.slurm_job;
    for (const std::string& path : example.private_etc) facts.private_etc.push_back(base::Path::known(path));
    plan::Request request{.project = base::Path::known(example.project),
                          .project_origin = "--project",
                          .working_directory = base::Path::known(example.project),
                          .command = example.command,
                          .environment = example.environment,
                          .session = "0123456789abcdef",
                          .config_directory = base::Path::known(example.config_home) / "agent-sandbox",
                          .state_directory = base::Path::known(example.state_home) / "agent-sandbox"};
    request.modules = example.modules;
    std::span<const config::Profile> all(agents);
    return plan::make_plan({request,
                            policy,
                            facts,
                            tree,
                            all.first(in_force),
                            all.subspan(in_force),
                            {},
                            {},
                            true,
                            example.brokered});
}

// The access that the plan gives to a path; "absent" if no rule applies.
inline std::string access(const plan::Plan& plan, std::string_view path) {
    const plan::PathRule* rule = plan::deciding_rule(plan.rules, base::Path::known(path));
    return rule ? std::string(plan::to_text(rule->access)) : "absent";
}

inline const plan::Mount* mount_at(const plan::Plan& plan, std::string_view target) {
    for (const plan::Mount& mount : plan.mounts) {
        if (mount.target.str() == target && mount.kind != plan::MountKind::seal) return &mount;
    }
    return nullptr;
}

inline bool holds(const plan::Plan& plan, std::string_view path) {
    for (const plan::Placeholder& placeholder : plan.placeholders) {
        if (placeholder.path.str() == path) return true;
    }
    return false;
}

}  // namespace test
