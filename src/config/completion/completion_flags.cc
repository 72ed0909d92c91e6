// SPDX-License-Identifier: MIT
#include "config/completion/completion_flags.h"

#include "base/text.h"
#include "config/data.h"
#include "config/reference/topics.h"
#include "config/settings.h"
#include "config/verbs.h"

namespace config {
namespace {

constexpr std::string_view kLimits = "limits.";

// "memory=", and so on.
std::vector<std::string> limits() {
    std::vector<std::string> words;
    for (const Setting& setting : settings()) {
        if (setting.key.starts_with(kLimits))
            words.push_back(std::string(setting.key.substr(kLimits.size())) + "=");
    }
    return words;
}

// Bundles of hosts, in the form of a rule.
std::vector<std::string> bundles() {
    std::vector<std::string> words;
    for (const DataRow& row : data_list("network/bundles")) words.push_back("@" + std::string(row.entry));
    return words;
}

struct FlagOffer {
    std::string_view flag;
    Completes what;
};
// Flags whose type alone does not determine the completion.
constexpr FlagOffer kFlagOffers[] = {{"--env", Completes::variables}, {"--agent", Completes::profiles}};

Offer offer_of(const Setting& setting) {
    for (const FlagOffer& row : kFlagOffers) {
        if (row.flag == setting.flag) return {.what = row.what};
    }
    switch (setting.type) {
        case Type::choice:
            return {Completes::words, words_of(setting.choices)};
        case Type::path:
        case Type::path_list:
        case Type::home_list:
        case Type::project_list:
            return {.what = Completes::paths};
        case Type::rule_list:
            if (setting.key == "network.allow" || setting.key == "network.block")
                return {Completes::words, bundles()};
            return {};
        case Type::boolean:
        case Type::integer:
        case Type::size:
        case Type::duration:
        case Type::text:
        case Type::name_list:
        case Type::pattern_list:
        case Type::level_list:
        case Type::assignments:
        case Type::file_texts:
            return {};
    }
    return {};
}

Offer offer_of(FlagValue value) {
    switch (value) {
        case FlagValue::none:
            return {};
        case FlagValue::directory:
            return {.what = Completes::directories};
        case FlagValue::preset:
            return {.what = Completes::presets};
        case FlagValue::limit:
            return {Completes::openings, limits()};
    }
    return {};
}

struct WordKind {
    std::string_view words;
    Completes what;
};
constexpr WordKind kWordKinds[] = {
    {kSessionWords, Completes::sessions},      {kPathWords, Completes::paths},
    {kDirectoryWords, Completes::directories}, {kVariableWords, Completes::variables},
    {kProfileWords, Completes::profiles},
};

Offer offer_of(std::string_view words) {
    if (words.empty()) return {};
    for (const WordKind& row : kWordKinds) {
        if (row.words == words) return {.what = row.what};
    }
    if (words != kTopicWords) return {Completes::words, words_of(words)};
    std::vector<std::string> names;
    for (const Topic& topic : topics()) names.emplace_back(topic.name);
    for (const Verb& verb : verbs()) names.emplace_back(verb.name);
    return {Completes::words, std::move(names)};
}

std::string joined_names(std::string_view separator, bool all) {
    std::vector<std::string> names;
    for (const Verb& verb : verbs()) {
        if (all || verb.takes_run_flags) names.emplace_back(verb.name);
    }
    return base::join(names, separator);
}

}  // namespace

std::vector<std::string> words_of(std::string_view bars) {
    std::vector<std::string> words;
    if (bars.empty()) return words;
    for (std::string_view word : base::split(bars, '|')) words.emplace_back(word);
    return words;
}

std::string verb_names(std::string_view separator) {
    return joined_names(separator, true);
}

std::string running_verb_names(std::string_view separator) {
    return joined_names(separator, false);
}

std::vector<Flag> all_flags() {
    std::vector<Flag> flags;
    for (const RunFlag& row : run_flags()) {
        flags.push_back({.name = std::string(row.flag),
                         .help = std::string(row.help),
                         .takes_value = row.value != FlagValue::none,
                         .value = offer_of(row.value)});
    }
    for (const Setting& setting : settings()) {
        if (setting.flag.empty()) continue;
        flags.push_back({.name = std::string(setting.flag),
                         .help = std::string(setting.help),
                         .takes_value = setting.type != Type::boolean,
                         .value = offer_of(setting)});
    }
    return flags;
}

std::vector<Flag> own_flags_of(std::string_view verb) {
    std::vector<Flag> flags;
    const Verb* row = find_verb(verb);
    if (!row) return flags;
    for (const VerbFlag& flag : flags_of(*row)) {
        flags.push_back({.name = std::string(flag.flag), .takes_value = !flag.value_name.empty()});
        if (flag.flag == kSessionFlag) flags.back().value.what = Completes::sessions;
    }
    return flags;
}

std::vector<Position> verb_positions() {
    std::vector<Position> positions;
    for (const Verb& verb : verbs()) {
        if (verb.takes_run_flags) continue;
        if (Offer first = offer_of(verb.words); first.what != Completes::nothing)
            positions.push_back({verb.name, "", std::move(first)});
        for (const FollowingWords& row : following_words()) {
            if (row.verb == verb.name)
                positions.push_back({verb.name, row.first.empty() ? "*" : row.first, offer_of(row.words)});
        }
    }
    return positions;
}

std::string_view question_for(Completes what) {
    switch (what) {
        case Completes::sessions:
            return "agent-sandbox ps --ids 2>/dev/null";
        case Completes::presets:
            return "agent-sandbox completion --presets 2>/dev/null";
        case Completes::profiles:
            return "agent-sandbox completion --profiles 2>/dev/null";
        case Completes::nothing:
        case Completes::words:
        case Completes::openings:
        case Completes::paths:
        case Completes::directories:
        case Completes::variables:
            return {};
    }
    return {};
}

}  // namespace config
