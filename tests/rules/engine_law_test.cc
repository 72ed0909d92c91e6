// SPDX-License-Identifier: MIT
// Laws over generated rules. The rules come from small vocabularies, so that they often overlap. The matching
// is implemented here a second time, from the grammar and by scanning all rules, without the tables under
// test.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "base/rounds.h"
#include "rules/engine.h"

namespace network {
namespace {

using config::Item;
using config::Layer;
using policy::NetworkMode;

constexpr const char* kEntries[] = {"a.x.org",
                                    "a.x.org:443",
                                    "b.x.org",
                                    "x.org",
                                    "*.x.org",
                                    "*.a.x.org",
                                    "*.x.org:443",
                                    "b.*.x.org",
                                    "*",
                                    "443",
                                    "80-500",
                                    "8080",
                                    "udp:443",
                                    "udp:*",
                                    "udp:a.x.org",
                                    "203.0.0.0/8",
                                    "203.0.113.0/24",
                                    "203.0.113.7",
                                    "203.0.113.0/24:443",
                                    "2001:db8::/32",
                                    "0.0.0.0/0",
                                    "::/0",
                                    "[2001:db8::1]:80",
                                    "a.x.org:80-500",
                                    "25",
                                    "a.x.org:25"};
constexpr const char* kNames[] = {"a.x.org",   "b.x.org",     "c.x.org", "x.org",
                                  "b.a.x.org", "c.b.a.x.org", "y.org",   "webhook.site"};
constexpr const char* kAddresses[] = {"203.0.113.7", "203.0.113.8", "203.1.1.1",
                                      "8.8.8.8",     "2001:db8::1", "2606:4700::1"};
constexpr uint16_t kPorts[] = {25, 80, 443, 8080, 22};

class Generator {
  public:
    explicit Generator(unsigned seed) : random_(seed) {}

    std::vector<Item> items(Layer layer, size_t most) {
        std::vector<Item> list;
        for (size_t i = pick(most + 1); i > 0; --i)
            list.push_back({one_of(kEntries), {.layer = layer, .file = "generated"}});
        return list;
    }

    template <typename T, size_t N>
    T one_of(const T (&choices)[N]) {
        return choices[pick(N)];
    }
    size_t pick(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }

  private:
    std::mt19937 random_;
};

bool name_matches(std::string_view pattern, std::string_view name) {
    if (pattern == "b.*.x.org") {
        return name.starts_with("b.") && name.ends_with(".x.org") && std::ranges::count(name, '.') == 3;
    }
    if (pattern.starts_with("*."))
        return name.size() > pattern.size() - 1 && name.ends_with(pattern.substr(1));
    return pattern == name;
}

bool matches(const Rule& rule, const HostName* name, const Address* address, uint16_t port,
             Transport transport) {
    bool is_closing_or_udp = rule.side == Side::block || rule.is_udp_only;
    if (transport == Transport::udp ? !is_closing_or_udp : rule.is_udp_only) return false;
    if (port < rule.ports.first || port > rule.ports.last) return false;
    switch (rule.target) {
        case Target::host:
        case Target::wildcard:
            return name && name_matches(rule.name, name->str());
        case Target::network:
            return address && rule.prefix.contains(*address);
        case Target::any:
        case Target::port:
            return true;
    }
    return false;
}

// Scans all rules of both lists in the order of the specification.
bool is_allowed_by_the_book(const EngineSettings& settings, const HostName* name, const Address* address,
                            uint16_t port, Transport transport) {
    std::vector<Rule> matching;
    bool is_port_lifted = false;
    for (Side side : {Side::block, Side::allow}) {
        for (const Item& item : side == Side::block ? settings.block : settings.allow) {
            Rule rule = *parse_rule(item.text, side);
            rule.origin = item.origin;
            if (!matches(rule, name, address, port, transport)) continue;
            bool is_admins = item.origin.layer == Layer::admin;
            if (side == Side::allow && is_admins && (rule.target == Target::port || !rule.ports.is_any()))
                is_port_lifted = true;
            bool says_nothing = side == Side::allow && !name && rule.target != Target::network;
            if (!says_nothing) matching.push_back(rule);
        }
    }
    if (port == 25 && !is_port_lifted) return false;
    auto best_of = [&](bool only_admin) {
        const Rule* best = nullptr;
        for (const Rule& rule : matching) {
            if (only_admin && rule.origin.layer != Layer::admin) continue;
            bool is_first = !best || rule.specificity() > best->specificity();
            bool wins_tie = best && rule.specificity() == best->specificity() && rule.side == Side::block;
            if (is_first || wins_tie) best = &rule;
        }
        return best;
    };
    const Rule* admins = best_of(true);
    if (admins && admins->side == Side::block) return false;
    if (const Rule* best = best_of(false)) return best->side == Side::allow;
    return name && transport == Transport::tcp && settings.mode == NetworkMode::filtered;
}

TEST(EngineInvariants, TheTablesAnswerAsAWalkOverAllRulesWould) {
    Generator generate(1);
    for (unsigned round = 0; round < test::rounds(3000); ++round) {
        EngineSettings settings{.mode = round % 2 ? NetworkMode::filtered : NetworkMode::proxied,
                                .has_shipped_list = false};
        for (Layer layer : {Layer::admin, Layer::user}) {
            for (Item& item : generate.items(layer, 4)) settings.block.push_back(item);
            for (Item& item : generate.items(layer, 4)) settings.allow.push_back(item);
        }
        Engine engine = *Engine::make(settings);
        for (int asked = 0; asked < 20; ++asked) {
            uint16_t port = generate.one_of(kPorts);
            Transport transport = generate.pick(4) == 0 ? Transport::udp : Transport::tcp;
            bool is_literal = generate.pick(3) == 0;
            std::string host = is_literal ? generate.one_of(kAddresses) : generate.one_of(kNames);
            Question question{*parse_host(host), port, transport};
            bool expected = is_allowed_by_the_book(settings, std::get_if<HostName>(&question.host),
                                                   std::get_if<Address>(&question.host), port, transport);
            ASSERT_EQ(engine.decide(question).is_allowed(), expected)
                << host << " " << port << " round " << round;
        }
    }
}

// Whatever a user writes, targets that the administrator's rules close stay closed: names, literals, lookups
// and resolved addresses.
TEST(EngineInvariants, NoUserPassesAnAdministratorsBlock) {
    Generator generate(2);
    unsigned blocked = 0;
    for (unsigned round = 0; round < test::rounds(1000); ++round) {
        EngineSettings alone{.are_literals_open = round % 2 == 0, .has_shipped_list = round % 8 == 0};
        alone.block = generate.items(Layer::admin, 4);
        alone.allow = generate.items(Layer::admin, 2);
        EngineSettings with_user = alone;
        for (Layer layer :
             {Layer::user, Layer::project, Layer::preset, Layer::environment, Layer::command_line}) {
            for (Item& item : generate.items(layer, 4)) with_user.allow.push_back(item);
        }
        Engine admin = *Engine::make(alone), both = *Engine::make(with_user);
        auto is_admins = [](const Verdict& verdict) {
            return !verdict.is_allowed() && verdict.origin.layer == Layer::admin;
        };
        for (const char* text : kNames) {
            HostName name = *HostName::parse(text);
            Address address = *Address::parse(generate.one_of(kAddresses));
            for (uint16_t port : kPorts) {
                for (Transport transport : {Transport::tcp, Transport::udp}) {
                    if (is_admins(admin.decide({name, port, transport}))) {
                        ++blocked;
                        ASSERT_FALSE(both.decide({name, port, transport}).is_allowed())
                            << text << ":" << port;
                        ASSERT_FALSE(both.decide_resolved(name, address, port, transport).is_allowed())
                            << text << ":" << port;
                    }
                    if (is_admins(admin.decide_resolved(name, address, port, transport))) {
                        ASSERT_FALSE(both.decide_resolved(name, address, port, transport).is_allowed())
                            << text << ":" << port;
                    }
                    if (is_admins(admin.decide({address, port, transport}))) {
                        ASSERT_FALSE(both.decide({address, port, transport}).is_allowed())
                            << address.str() << ":" << port;
                    }
                }
            }
        }
    }
    EXPECT_GT(blocked, test::rounds(10000)) << "the vocabulary meets often enough to say something";
}

TEST(EngineInvariants, AnotherBlockNeverOpens) {
    Generator generate(3);
    for (unsigned round = 0; round < test::rounds(2000); ++round) {
        EngineSettings settings{.mode = round % 2 ? NetworkMode::filtered : NetworkMode::proxied,
                                .has_shipped_list = round % 8 == 0};
        settings.block = generate.items(Layer::user, 3);
        settings.allow = generate.items(Layer::user, 5);
        EngineSettings narrower = settings;
        for (Item& item : generate.items(Layer::user, 2)) narrower.block.push_back(item);
        Engine before = *Engine::make(settings), after = *Engine::make(narrower);
        for (const char* text : kNames) {
            Question question{*parse_host(text), generate.one_of(kPorts), Transport::tcp};
            bool opened = !before.decide(question).is_allowed() && after.decide(question).is_allowed();
            ASSERT_FALSE(opened) << text;
        }
    }
}

TEST(EngineInvariants, ALookupIsAnsweredExactlyWhereAPortIsOpen) {
    Generator generate(4);
    for (unsigned round = 0; round < test::rounds(30); ++round) {
        EngineSettings settings{.mode = round % 2 ? NetworkMode::filtered : NetworkMode::proxied};
        settings.block = generate.items(Layer::user, 3);
        settings.allow = generate.items(Layer::user, 2);
        Engine engine = *Engine::make(settings);
        HostName name = *HostName::parse(generate.one_of(kNames));
        bool is_some_open = false;
        for (unsigned port = 1; port <= 65535 && !is_some_open; ++port) {
            for (Transport transport : {Transport::tcp, Transport::udp}) {
                is_some_open = is_some_open ||
                               engine.decide({name, static_cast<uint16_t>(port), transport}).is_allowed();
            }
        }
        ASSERT_EQ(engine.decide_lookup(name).is_allowed(), is_some_open) << name.str() << " round " << round;
    }
}

// Not a benchmark: a table that scanned its rules would need a hundred times as long for the large set as for
// the small one.
TEST(EngineInvariants, AskingCostsTheSameWithTenThousandRules) {
    auto nanoseconds_each = [](size_t count) {
        EngineSettings settings;
        for (size_t i = 0; i < count; ++i) {
            std::string number = std::to_string(i);
            config::Origin origin{.layer = Layer::user};
            settings.block.push_back({"host" + number + ".example.org", origin});
            settings.block.push_back({"*.zone" + number + ".example.org", origin});
            settings.block.push_back({std::to_string(11 + i % 100) + "." + std::to_string(i / 100 % 100) +
                                          ".0.0/16:" + std::to_string(1000 + i),
                                      origin});
            settings.block.push_back({std::to_string(10000 + i), origin});
        }
        Engine engine = *Engine::make(settings);
        HostName name = *HostName::parse("a.b.c.d.zone1.example.net");
        Address address = *Address::parse("11.1.2.3");
        auto best = std::chrono::nanoseconds::max();
        for (int attempt = 0; attempt < 20; ++attempt) {
            auto start = std::chrono::steady_clock::now();
            for (int i = 0; i < 200; ++i)
                EXPECT_TRUE(engine.decide_resolved(name, address, 443).is_allowed());
            best = std::min(best, std::chrono::duration_cast<std::chrono::nanoseconds>(
                                      std::chrono::steady_clock::now() - start) /
                                      200);
        }
        return best.count();
    };
    auto few = nanoseconds_each(25), many = nanoseconds_each(2500);
    RecordProperty("few", std::to_string(few));
    RecordProperty("many", std::to_string(many));
    EXPECT_LT(many, 10 * few) << few << " ns with 100 rules, " << many << " ns with 10,000";
}

}  // namespace
}  // namespace network
