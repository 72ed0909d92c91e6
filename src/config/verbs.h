// SPDX-License-Identifier: MIT
// The words and flags of the command line that are no settings. Help and completion are made from these
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
    std::string_view words;      // what may follow, "init|show|check"; empty where that is free
    std::string_view flags;      // of its own, "--json --session=ID"; what stands after '=' names its value
    bool takes_run_flags;        // and a command
};

std::span<const Verb> verbs();
const Verb* find_verb(std::string_view name);

// In place of words: what only the machine knows.
inline constexpr std::string_view kSessionWords = "@session";  // the sessions that run
inline constexpr std::string_view kPathWords = "@path";
inline constexpr std::string_view kDirectoryWords = "@directory";
inline constexpr std::string_view kVariableWords = "@variable";
inline constexpr std::string_view kProfileWords = "@profile";
inline constexpr std::string_view kTopicWords = "@topic";  // and the verbs

// What may follow the first word of a verb.
struct FollowingWords {
    std::string_view verb;
    std::string_view first;  // empty: whatever it is
    std::string_view words;  // as in Verb
};
std::span<const FollowingWords> following_words();

inline constexpr std::string_view kSessionFlag = "--session";

// A flag of a verb's own.
struct VerbFlag {
    std::string_view flag;
    std::string_view value_name;  // empty: it takes none
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
