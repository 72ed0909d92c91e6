// SPDX-License-Identifier: MIT
// The law: plans do what 'config check --admin' reports about a ceiling. Ceilings are generated from small
// vocabularies, so that their entries often overlap. Removing an entry that the report calls without effect
// changes nothing; an entry that the report keeps grants what it names.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "base/rounds.h"
#include "base/text.h"
#include "cli/report/ceiling_report.h"
#include "plan/case.h"
#include "plan/make_plan.h"
#include "plan/print/print.h"
#include "policy/policy.h"
#include "rules/engine.h"

namespace {

using config::Item;
using config::Order;
using config::Setting;
using config::Values;

constexpr std::string_view kMachine = R"(d /a/b/c
d /ab
d /d
d /home/ann/x/y/w
d /home/ann/z
f /home/ann/seed 0644 text
f /home/ann/app/secret.txt
f /home/ann/app/tools/run.cfg
c /dev/nvidia0
c /dev/kvm
c /dev/snd/pcm
s /run/one.sock
)";

const std::map<std::string_view, std::vector<std::string>> kVocabulary = {
    {"env.allow", {"A", "A_TOKEN", "B", "HTTPS_PROXY", "AGENT_SANDBOX_X", "GITHUB_TOKEN"}},
    {"env.set", {"A=1", "C=2"}},
    {"env.block", {"A", "B", "GITHUB_TOKEN"}},
    {"env.block_patterns", {"A*", "*_TOKEN", "b*/i"}},
    {"mounts.readonly", {"/a", "/a/b", "/a/b/c", "/ab", "~/x", "~/.ssh"}},
    {"mounts.writable", {"/a", "/a/b", "/a/b/c", "/d", "~/x/y"}},
    {"mounts.hidden", {"/a", "/a/b", "/d", "~/x", "~/x/y", "~/z", "/home/ann/seed", "/run/one.sock"}},
    {"mounts.deny_writable", {"/a", "/a/b", "/d", "~/x"}},
    {"home.readonly", {"x", "x/y", "z", ".ssh"}},
    {"home.writable", {"x", "x/y", "x/y/w", "z"}},
    {"home.seeded", {"seed"}},
    {"sockets.allow", {"/run/one.sock"}},
    {"devices.allow", {"/dev/nvidia0", "/dev/kvm", "/dev/snd", "/dev/snd/pcm"}},
    {"devices.deny", {"/dev/nvidia*", "/dev/kvm", "/dev/snd"}},
    {"project.mask", {"secret.txt", "*.txt", ".env"}},
    {"project.unmask", {"secret.txt", ".env"}},
    {"project.protect", {"tools/run.cfg", "tools"}},
    {"project.unprotect", {"tools/run.cfg", "tools"}},
    {"network.allow", {"a.x.org", "a.x.org:443", "b.x.org", "10.1.2.3"}},
    {"network.block", {"a.x.org", "*.x.org", "a.x.org:443"}},
    {"network.private", {"10.0.0.0/8"}},
    {"lock", {"network.mode", "home.access", "limits.processes", "isolation.allow_perf"}},
};

class Generator {
  public:
    explicit Generator(unsigned seed) : random_(seed) {}

    Values ceiling() {
        Values values;
        for (const auto& [key, words] : kVocabulary) {
            if (!chance(2)) continue;
            config::Value value{.origin = origin()};
            for (const std::string& word : words) {
                if (chance(3)) value.items.push_back({word, origin()});
            }
            if (!value.items.empty()) values[std::string(key)] = value;
        }
        for (const Setting& setting : config::settings()) {
            if (!is_generated(setting) || !chance(4)) continue;
            values[std::string(setting.key)] = {.origin = origin(), .text = scalar(setting)};
        }
        return values;
    }

    static bool is_generated(const Setting& setting) {
        // A required level that the machine does not reach stops the plan.
        bool stops_plans = setting.key == "isolation.require" || setting.key == "network.fallback" ||
                           setting.key == "devices.gpu" || setting.key == "project.read_only";
        return !config::is_list(setting.type) && !stops_plans &&
               (setting.order == Order::true_is_strict || setting.order == Order::false_is_strict ||
                setting.order == Order::choices_ascend || setting.order == Order::lower_is_strict);
    }

  private:
    size_t pick(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
    bool chance(size_t one_in) { return pick(one_in) == 0; }

    // Each entry has a line of its own, so that a warning names one entry.
    config::Origin origin() {
        return {.layer = config::Layer::admin, .file = "/etc/ceiling", .line = ++line_};
    }

    std::string scalar(const Setting& setting) {
        if (setting.type == config::Type::boolean) return chance(2) ? "true" : "false";
        if (setting.type != config::Type::choice) return std::to_string(pick(3) * 1000);
        auto choices = config::choices_of(setting);
        return std::string(choices[pick(choices.size())]);
    }

    std::mt19937 random_;
    int line_ = 0;
};

const host::MemoryTree& machine() {
    static const host::MemoryTree tree =
        test::tree_of({.tree = std::string(test::kLaptop) + std::string(kMachine)});
    return tree;
}

base::Result<policy::Effective> merged(const Values& ceiling, const Values& user = {}) {
    policy::Layers layers;
    layers.admin.push_back({.layer = config::Layer::admin, .values = ceiling});
    layers.command_line = user;
    return policy::merge(layers, test::paths());
}

base::Result<plan::Plan> planned(const policy::Effective& effective) {
    policy::Policy policy = policy::policy_from(effective);
    host::Facts facts;
    facts.identity = {.uid = 1000,
                      .gid = 1000,
                      .user = "ann",
                      .group = "ann",
                      .shell = "/bin/bash",
                      .home = base::Path::known("/home/ann")};
    facts.own_program = base::Path::known("/usr/bin/agent-sandbox");
    plan::Request request{.project = base::Path::known("/home/ann/app"),
                          .project_origin = "--project",
                          .working_directory = base::Path::known("/home/ann/app"),
                          .command = {"true"},
                          .environment = {"A=a", "A_TOKEN=a", "B=b", "HTTPS_PROXY=http://p:1", "PATH=/bin",
                                          "AGENT_SANDBOX_X=x", "GITHUB_TOKEN=t"},
                          .session = "0123456789abcdef",
                          .config_directory = base::Path::known("/home/ann/.config/agent-sandbox"),
                          .state_directory = base::Path::known("/home/ann/.local/state/agent-sandbox")};
    return plan::make_plan({request, policy, facts, machine()});
}

// ---- What an entry grants

bool is_passed(const plan::Plan& plan, std::string_view name) {
    return std::ranges::find(plan.environment.passed, name, &plan::Variable::name) !=
           plan.environment.passed.end();
}

bool is_open(const plan::Plan& plan, const std::string& entry) {
    size_t colon = entry.find(':');
    auto port = static_cast<uint16_t>(colon == std::string::npos ? 8443 : std::stoi(entry.substr(colon + 1)));
    std::string host = entry.substr(0, colon);
    auto engine = network::Engine::make(plan.network.egress.rules);
    if (!engine) return false;
    if (auto address = network::Address::parse(host)) return engine->decide({*address, port}).is_allowed();
    return engine->decide({*network::HostName::parse(host), port}).is_allowed();
}

std::string path_of(std::string_view key, const std::string& text) {
    if (key.starts_with("home.")) return "/home/ann/" + text;
    if (key.starts_with("project.")) return "/home/ann/app/" + text;
    return text.starts_with('~') ? "/home/ann" + text.substr(1) : text;
}

bool has_device(const plan::Plan& plan, const std::string& path) {
    return std::ranges::any_of(plan.mounts, [&](const plan::Mount& mount) {
        return mount.kind == plan::MountKind::bind_device && mount.target.is_within(base::Path::known(path));
    });
}

// Whether the plan gives what the entry names.
bool is_granted(const plan::Plan& plan, std::string_view key, const std::string& text) {
    std::string path = path_of(key, text);
    std::string access =
        key.starts_with("env.") || key.starts_with("network.") ? "" : test::access(plan, path);
    if (key == "env.allow") return is_passed(plan, text);
    if (key == "env.set") return is_passed(plan, text.substr(0, text.find('=')));
    if (key == "network.allow") return is_open(plan, text);
    if (key == "devices.allow") return has_device(plan, path);
    if (key == "home.seeded") return test::mount_at(plan, path) != nullptr;
    if (key == "project.unmask") return access != "masked";
    if (key == "mounts.readonly" || key == "home.readonly")
        return access == "readonly" || access == "writable";
    return access == "writable";
}

constexpr std::string_view kGrants[] = {"env.allow",       "env.set",        "network.allow",
                                        "devices.allow",   "home.seeded",    "home.readonly",
                                        "home.writable",   "sockets.allow",  "mounts.readonly",
                                        "mounts.writable", "project.unmask", "project.unprotect"};

// ---- The report

class Report {
  public:
    explicit Report(const Values& ceiling)
        : effective(*merged(ceiling)), warnings(cli::ceiling_warnings(effective, test::paths(), machine())) {}

    bool says(const Item& item, std::string_view claim) const {
        std::string start = item.origin.describe() + ": ";
        return std::ranges::any_of(warnings, [&](const std::string& warning) {
            return warning.starts_with(start) && warning.find(claim) != std::string::npos;
        });
    }

    policy::Effective effective;
    std::vector<std::string> warnings;
};

// Origins count lines, so a ceiling with one entry removed keeps the origins of the other entries.
std::string shown(const Values& ceiling) {
    auto effective = merged(ceiling);
    if (!effective) return effective.error().line();
    auto plan = planned(*effective);
    return plan ? plan::to_json(*plan).dump() : plan.error().line();
}

Values without(Values ceiling, const std::string& key, const Item& item) {
    std::vector<Item>& items = ceiling[key].items;
    std::erase_if(items, [&](const Item& known) { return known.text == item.text; });
    if (items.empty()) ceiling.erase(key);
    return ceiling;
}

TEST(CeilingInvariants, AnEntryWithoutEffectHasNoneAndEveryOtherHasOne) {
    std::map<std::string_view, int> closed, granted;
    int stopped = 0;
    for (unsigned seed = 0; seed < test::rounds(500); ++seed) {
        Values ceiling = Generator(seed).ceiling();
        Report report(ceiling);
        auto plan = planned(report.effective);
        if (!plan) {
            ++stopped;
            continue;
        }
        for (std::string_view key : kGrants) {
            auto value = ceiling.find(key);
            if (value == ceiling.end()) continue;
            for (const Item& item : value->second.items) {
                std::string what = std::string(key) + " " + item.text + " with seed " + std::to_string(seed);
                if (report.says(item, "has no effect")) {
                    Values rest = without(ceiling, std::string(key), item);
                    // A plan lists the network rules themselves; only their decisions matter here.
                    bool is_rule = key == "network.allow";
                    auto other = planned(*merged(rest));
                    if (is_rule) {
                        ASSERT_EQ(is_open(*plan, item.text), is_open(*other, item.text)) << what;
                    } else {
                        ASSERT_EQ(shown(ceiling), shown(rest)) << what;
                    }
                    ++closed[key];
                } else if (report.says(item, "is read-only")) {
                    ASSERT_EQ(test::access(*plan, path_of(key, item.text)), "readonly") << what;
                    ++closed[key];
                } else if (key == "network.allow" && plan->network.reached == policy::NetworkMode::isolated) {
                    continue;
                } else {
                    ASSERT_TRUE(is_granted(*plan, key, item.text)) << what;
                    ++granted[key];
                }
            }
        }
    }
    // If the generated plans fail, or the entries never overlap, the test proves nothing.
    EXPECT_LT(stopped, static_cast<int>(test::rounds(500)) / 4);
    if (test::rounds(500) < 500) return;  // the sanitizers run fewer rounds: too few for each key
    for (std::string_view key : kGrants) {
        EXPECT_GT(granted[key], 5) << key;
        if (key != "env.set") {
            EXPECT_GT(closed[key], 5) << key;
        }
    }
}

// ---- Scalars: what users may choose

Values asks(const Setting& setting, std::string text) {
    config::Value value{.origin = {.layer = config::Layer::command_line, .name = "--option"},
                        .text = std::move(text)};
    return {{std::string(setting.key), value}};
}

// The row of the summary below "users may:" that is about the setting, or empty.
std::string permitted_row(const std::string& summary, std::string_view key) {
    size_t end = std::min(summary.find("users may not:"), summary.size());
    for (std::string_view row : base::split(std::string_view(summary).substr(0, end), '\n')) {
        row = base::trim(row);
        if (row.starts_with(std::string(key) + " ")) return std::string(base::trim(row.substr(key.size())));
    }
    return {};
}

bool is_permitted(const Setting& setting, const std::string& row, const std::string& text) {
    if (setting.type == config::Type::boolean) return row == "true or false";
    std::vector<std::string_view> words = base::split(row, ' ');
    return std::ranges::any_of(words,
                               [&](std::string_view word) { return word == text || word == text + ","; });
}

TEST(CeilingInvariants, UsersMayChooseWhatTheSummaryListsAndNothingElse) {
    int permitted = 0, refused = 0;
    for (unsigned seed = 0; seed < test::rounds(500); ++seed) {
        Values ceiling = Generator(seed).ceiling();
        Report report(ceiling);
        std::string summary = cli::ceiling_summary(report.effective, false);
        for (const Setting& setting : config::settings()) {
            auto value = ceiling.find(setting.key);
            if (!Generator::is_generated(setting) || value == ceiling.end()) continue;
            bool has_choices = setting.type == config::Type::choice;
            if (!has_choices && setting.type != config::Type::boolean) continue;
            std::vector<std::string_view> choices = {"true", "false"};
            if (has_choices) choices = config::choices_of(setting);
            std::string row = permitted_row(summary, setting.key);
            for (std::string_view choice : choices) {
                // A user may always repeat the administrator's own value.
                if (choice == value->second.text) continue;
                bool is_taken = static_cast<bool>(merged(ceiling, asks(setting, std::string(choice))));
                ASSERT_EQ(is_permitted(setting, row, std::string(choice)), is_taken)
                    << setting.key << " = " << choice << " with seed " << seed << "\n"
                    << summary;
                ++(is_taken ? permitted : refused);
            }
        }
    }
    EXPECT_GT(permitted, 100);
    EXPECT_GT(refused, 100);
}

TEST(CeilingInvariants, AScalarThatChangesNothingChangesNothing) {
    int needless = 0;
    for (unsigned seed = 0; seed < test::rounds(500); ++seed) {
        Values ceiling = Generator(seed).ceiling();
        Report report(ceiling);
        for (const auto& [key, value] : ceiling) {
            const Setting& setting = *config::find_setting(key);
            if (config::is_list(setting.type) || !report.says({"", value.origin}, "changes nothing"))
                continue;
            ++needless;
            Values rest = ceiling;
            rest.erase(key);
            for (const char* text : {"true", "false", "0", "1", "1000000"}) {
                Values user = asks(setting, text);
                ASSERT_EQ(static_cast<bool>(merged(ceiling, user)), static_cast<bool>(merged(rest, user)))
                    << key << " = " << text << " with seed " << seed;
            }
        }
    }
    EXPECT_GT(needless, 20);
}

}  // namespace
