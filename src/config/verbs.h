// SPDX-License-Identifier: MIT
// The words and flags of the command line that are not settings. Help and completion are generated from these
// tables and from the table of settings.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace config {

struct Verb {
    std::string_view name;
    std::string_view arguments;  // as help shows them
    std::string_view help;       // one sentence, no full stop
    std::string_view words;      // words that may follow, "init|show|check"; empty if any may
    std::string_view flags;      // its own flags, "--json --session=ID"; a name after '=' is the value
    bool takes_run_flags;        // and a command
};

std::span<const Verb> verbs();
const Verb* find_verb(std::string_view name);

// Placeholders for words that depend on the machine.
inline constexpr std::string_view kSessionWords = "@session";  // the running sessions
inline constexpr std::string_view kPathWords = "@path";
inline constexpr std::string_view kDirectoryWords = "@directory";
inline constexpr std::string_view kVariableWords = "@variable";
inline constexpr std::string_view kProfileWords = "@profile";
inline constexpr std::string_view kTopicWords = "@topic";  // and the verbs

// The words that may follow the first word of a verb.
struct FollowingWords {
    std::string_view verb;
    std::string_view first;  // empty: any word
    std::string_view words;  // as in Verb
};
std::span<const FollowingWords> following_words();

inline constexpr std::string_view kSessionFlag = "--session";

// A flag that belongs to one verb.
struct VerbFlag {
    std::string_view flag;
    std::string_view value_name;  // empty: it takes no value
};
std::vector<VerbFlag> flags_of(const Verb& verb);

enum class FlagValue { none, directory, preset, limit };

// Flags of a run that are not settings.
struct RunFlag {
    std::string_view flag;
    FlagValue value;
    std::string_view value_name;
    std::string_view help;
};

std::span<const RunFlag> run_flags();

}  // namespace config
