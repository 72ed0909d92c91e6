// SPDX-License-Identifier: MIT
// The law: a merge is never wider than the administrator's layer, whatever the other layers contain. Layers
// are generated from small vocabularies, so that they often overlap. The comparison is implemented here from
// the meaning of each setting, without the code under test.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/rounds.h"
#include "policy/layers.h"

namespace {

using config::Item;
using config::Order;
using config::Setting;
using config::Type;

class Generator {
  public:
    explicit Generator(unsigned seed) : random_(seed) {}

    config::Values values(config::Layer layer, bool is_admin) {
        config::Values result;
        for (const Setting& setting : config::settings()) {
            if (!chance(is_admin ? 3 : 4)) continue;
            if (setting.order == Order::admin_only && !is_admin) continue;
            if (setting.type == Type::path) continue;
            config::Value value{.origin = {.layer = layer, .file = "generated", .line = 1}};
            if (config::is_list(setting.type)) {
                for (size_t i = 0, n = 1 + pick(3); i < n; ++i)
                    add_once(value, {entry(setting), value.origin});
            } else {
                value.text = scalar(setting);
            }
            result[std::string(setting.key)] = value;
        }
        return result;
    }

  private:
    size_t pick(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
    bool chance(size_t one_in) { return pick(one_in) == 0; }

    static void add_once(config::Value& value, Item item) {
        for (const Item& known : value.items) {
            if (known.text == item.text) return;
        }
        value.items.push_back(std::move(item));
    }

    std::string word(std::initializer_list<const char*> words) {
        return *(words.begin() + pick(words.size()));
    }

    std::string scalar(const Setting& setting) {
        if (setting.type == Type::boolean) return word({"true", "false"});
        if (setting.type == Type::choice) {
            auto choices = config::choices_of(setting);
            return std::string(choices[pick(choices.size())]);
        }
        return std::to_string(pick(5));
    }

    std::string entry(const Setting& setting) {
        if (setting.key == "lock")
            return std::string(config::settings()[pick(config::settings().size())].key);
        switch (setting.type) {
            case Type::path_list:
                return word({"/a", "/a/b", "/a/b/c", "/ab", "/d", "~/x", "~/x/y"});
            case Type::home_list:
                return word({"x", "x/y", "z", "x/y/w"});
            case Type::project_list:
                return word({".env", ".git/hooks", "secrets", "*.pem"});
            case Type::name_list:
                return word({"A", "A_TOKEN", "B"});
            case Type::pattern_list:
                return word({"A*", "*_TOKEN", "b*/i"});
            case Type::level_list:
                return word({"files=denied", "temporary files=hidden", "mail=cooperative"});
            case Type::rule_list:
                return word({"*", "*.x.org", "a.x.org", "a.x.org:443", "10.0.0.0/8", "10.1.2.3", "443"});
            case Type::assignments:
                return word({"A=1", "B=2", "A_TOKEN=3"});
            default:
                return "";
        }
    }

    std::mt19937 random_;
};

base::Path as_path(const Setting& setting, const std::string& text) {
    base::Path home = base::Path::known("/home/ann");
    if (setting.type == Type::home_list) return home / text;
    if (text.starts_with("~")) return home / text.substr(1);
    return base::Path::known(text);
}

// How `effective` violates `admin`, or empty.
std::string violation(const Setting& setting, const config::Values& admin,
                      const policy::Effective& effective) {
    auto said = admin.find(setting.key);
    const config::Value& now = effective.values.find(setting.key)->second;
    bool is_locked = false;
    if (auto lock = admin.find("lock"); lock != admin.end()) {
        is_locked = std::ranges::any_of(lock->second.items,
                                        [&](const Item& item) { return item.text == setting.key; });
    }
    auto from_below = [](const Item& item) { return item.origin.layer > config::Layer::admin; };
    if (is_locked &&
        (std::ranges::any_of(now.items, from_below) ||
         (!config::is_list(setting.type) && said != admin.end() && now.text != said->second.text))) {
        return "locked, and changed";
    }
    if (setting.order == Order::admin_only && std::ranges::any_of(now.items, from_below))
        return "administrator's only";
    if (said == admin.end()) return "";
    auto choices = config::choices_of(setting);
    auto rank = [&](const std::string& text) { return std::ranges::find(choices, text) - choices.begin(); };
    switch (setting.order) {
        case Order::true_is_strict:
            return said->second.text == "true" && now.text != "true" ? "true did not stick" : "";
        case Order::false_is_strict:
            return said->second.text == "false" && now.text != "false" ? "false did not stick" : "";
        case Order::choices_ascend:
            return rank(now.text) < rank(said->second.text) ? "less strict" : "";
        case Order::list_restricts:
            for (const Item& item : said->second.items) {
                bool is_kept = std::ranges::any_of(
                    now.items, [&](const Item& other) { return other.text == item.text; });
                if (!is_kept) return "an entry was lost";
            }
            return "";
        case Order::parents_narrow:
            for (const Item& item : now.items) {
                bool is_below = std::ranges::any_of(said->second.items, [&](const Item& limit) {
                    return as_path(setting, item.text).is_within(as_path(setting, limit.text));
                });
                if (!is_below) return "a parent outside";
            }
            return now.items.empty() ? "no parent left" : "";
        case Order::neutral:
        case Order::trusted:
        case Order::lower_is_strict:
        case Order::list_grants:
        case Order::admin_only:
            return "";
    }
    return "";
}

std::string grant_violation(const config::Values& admin, const policy::Effective& effective) {
    for (std::string_view writable : {"home.writable", "mounts.writable"}) {
        const Setting& setting = *config::find_setting(writable);
        for (const Item& item : effective.items(writable)) {
            if (item.origin.layer <= config::Layer::admin) continue;
            for (std::string_view key : {"home.readonly", "mounts.readonly", "mounts.deny_writable"}) {
                auto limits = admin.find(key);
                if (limits == admin.end()) continue;
                for (const Item& limit : limits->second.items) {
                    if (as_path(setting, item.text)
                            .is_within(as_path(*config::find_setting(key), limit.text))) {
                        return item.text + " became writable below " + limit.text;
                    }
                }
            }
        }
    }
    auto blocked_names = admin.find("env.block");
    for (std::string_view key : {"env.allow", "env.set"}) {
        for (const Item& item : effective.items(key)) {
            if (item.origin.layer <= config::Layer::admin || blocked_names == admin.end()) continue;
            for (const Item& blocked : blocked_names->second.items) {
                if (item.text.substr(0, item.text.find('=')) == blocked.text)
                    return item.text + " passes a block";
            }
        }
    }
    auto blocked_hosts = admin.find("network.block");
    for (const Item& item : effective.items("network.allow")) {
        if (item.origin.layer <= config::Layer::admin || blocked_hosts == admin.end()) continue;
        for (const Item& blocked : blocked_hosts->second.items) {
            if (blocked.text == "*" || blocked.text == item.text) return item.text + " passes a block";
        }
    }
    return "";
}

TEST(MergeInvariants, NoMergeIsWiderThanTheAdministratorsLayer) {
    int merged = 0, refused = 0;
    for (unsigned seed = 0; seed < test::rounds(20'000); ++seed) {
        Generator generate(seed);
        policy::Layers layers;
        layers.admin.push_back(
            {.layer = config::Layer::admin, .values = generate.values(config::Layer::admin, true)});
        layers.user.push_back(
            {.layer = config::Layer::user, .values = generate.values(config::Layer::user, false)});
        if (seed % 2) {
            layers.project.push_back(
                {{.layer = config::Layer::project, .values = generate.values(config::Layer::project, false)},
                 "d",
                 seed % 4 == 1});
        }
        if (seed % 3 == 0)
            layers.preset.push_back(
                {.layer = config::Layer::preset, .values = generate.values(config::Layer::preset, false)});
        layers.command_line = generate.values(config::Layer::command_line, false);
        auto effective = policy::merge(layers, test::paths());
        if (!effective) {
            ++refused;
            continue;
        }
        ++merged;
        const config::Values& admin = layers.admin[0].values;
        for (const Setting& setting : config::settings()) {
            ASSERT_EQ(violation(setting, admin, *effective), "") << setting.key << " with seed " << seed;
        }
        ASSERT_EQ(grant_violation(admin, *effective), "") << "with seed " << seed;
    }
    // If no generated layers merge, or none conflict with the ceiling, the test proves nothing.
    EXPECT_GT(merged, 50);
    EXPECT_GT(refused, 50);
}

}  // namespace
