// SPDX-License-Identifier: MIT
// Properties of any command line and any script. The rules of getopt are not implemented a second time: glibc
// itself parses the same options.
#pragma once

#include <getopt.h>

#include <string>
#include <string_view>
#include <vector>

#include "slurm/options/directives.h"
#include "slurm/options/parse.h"

namespace slurm {

// The options of a command as getopt alone sees them: no option is refused, and none ends the line early.
class Unjudged {
  public:
    explicit Unjudged(const Command& command)
        : options_(command.options.begin(), command.options.end()), command_(command) {
        for (Option& option : options_) {
            option.action = OptionAction::pass;
            option.check = Check::anything;
            option.informs = false;
        }
        command_.options = options_;
        command_.colon = Colon::is_a_word;
    }
    Unjudged(const Unjudged&) = delete;
    Unjudged& operator=(const Unjudged&) = delete;

    const Command& command() const { return command_; }

  private:
    std::vector<Option> options_;
    Command command_;
};

// The result of glibc's getopt_long; empty if it reports an error.
inline std::optional<Parsed> parsed_by_glibc(const Command& command, std::vector<std::string> arguments) {
    std::string letters = command.stops_at_first_word ? "+" : "";
    std::vector<struct option> names;
    constexpr int first_value = 1000;
    for (const Option& option : command.options) {
        const int takes = option.takes == Takes::nothing ? 0 : option.takes == Takes::value ? 1 : 2;
        if (option.letter) letters += option.letter + std::string(static_cast<size_t>(takes), ':');
        if (option.name.empty() || !option.release.empty()) continue;
        const auto which = find_option(command, option.name) - command.options.data();
        names.push_back({option.name.data(), takes, nullptr, first_value + static_cast<int>(which)});
    }
    names.push_back({});

    std::string name(command.name);
    std::vector<char*> pointers = {name.data()};
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    const int count = static_cast<int>(pointers.size());
    pointers.push_back(nullptr);

    Parsed parsed;
    optind = 0;
    for (int found;
         (found = getopt_long(count, pointers.data(), letters.c_str(), names.data(), nullptr)) != -1;) {
        if (found == '?') return std::nullopt;
        ParsedOption given{nullptr, std::nullopt};
        for (const Option& option : command.options)
            if (found >= first_value ? &option == &command.options[static_cast<size_t>(found - first_value)]
                                     : option.letter == found)
                given.option = &option;
        if (optarg) given.value = optarg;
        parsed.options.push_back(std::move(given));
    }
    for (int i = optind; i < count; ++i) parsed.words.emplace_back(pointers[static_cast<size_t>(i)]);
    return parsed;
}

// getopt_long does not get the full names of other releases.
inline bool names_another_release(const Command& command, const std::vector<std::string>& arguments) {
    for (const std::string& argument : arguments)
        for (const Option& option : command.options)
            if (!option.release.empty() && argument.substr(0, argument.find('=')) == name_of(option))
                return true;
    return false;
}

inline const char* broken_against_glibc(const Command& judged, const std::vector<std::string>& arguments) {
    const Unjudged unjudged(judged);
    for (const std::string& argument :
         arguments)  // getopt_long does not get the full names of other releases
        for (const Option& option : judged.options)
            if (!option.release.empty() && argument.substr(0, argument.find('=')) == name_of(option))
                return nullptr;
    opterr = 0;
    const auto expected = parsed_by_glibc(unjudged.command(), arguments);
    opterr = 1;
    const Parse result = parse(unjudged.command(), arguments);
    const auto* parsed = std::get_if<Parsed>(&result);
    if (!expected) return parsed ? "what getopt complains about was accepted" : nullptr;
    if (!parsed) return "what getopt accepts was not";
    if (parsed->options != expected->options) return "other options than getopt's";
    if (parsed->words != expected->words) return "other words than getopt's";
    return nullptr;
}

// getopt reads the emitted arguments as the same options, without further words and without anything refused.
inline const char* broken_when_emitted(const Command& command, const std::vector<std::string>& arguments) {
    if (names_another_release(command, arguments)) return nullptr;
    const Parse result = parse(command, arguments);
    const auto* parsed = std::get_if<Parsed>(&result);
    if (!parsed) return nullptr;
    const std::vector<std::string> emitted = emit(*parsed);
    const auto again = parsed_by_glibc(command, emitted);
    if (!again) return "getopt complains about what is emitted";
    if (!again->words.empty()) return "a word is emitted";
    std::vector<ParsedOption> passed;
    for (const ParsedOption& given : parsed->options)
        if (given.option->action == OptionAction::pass) passed.push_back(given);
    if (again->options != passed) return "what is emitted means something else";
    for (const ParsedOption& given : again->options)
        if (given.option->action != OptionAction::pass || judge(given)) return "something refused is emitted";
    return nullptr;
}

// The first byte selects the command; line breaks separate the arguments.
inline const char* broken_for_arguments(std::string_view bytes) {
    if (bytes.empty() || bytes.find('\0', 1) != bytes.npos) return nullptr;
    const Command& command = commands()[static_cast<unsigned char>(bytes[0]) % commands().size()];
    std::vector<std::string> arguments;
    for (std::string_view rest = bytes.substr(1); !rest.empty();) {
        const size_t end = rest.find('\n');
        arguments.emplace_back(rest.substr(0, end));
        rest = end == rest.npos ? "" : rest.substr(end + 1);
    }
    if (const char* broken = broken_against_glibc(command, arguments)) return broken;
    const auto found = options_from_variables(command, arguments);
    if (const auto* variables = std::get_if<FromVariables>(&found))
        for (const ParsedOption& given : variables->options)
            if (judge(given)) return "a variable brings in something refused";
    return broken_when_emitted(command, arguments);
}

inline const char* broken_for_directives(std::string_view script) {
    const auto result = directives_of(script, "script");
    const auto* directives = std::get_if<Directives>(&result);
    if (!directives) return nullptr;
    std::string quoted = "#!/bin/sh\n";
    for (const std::string& word : directives->words) {
        if (word.empty()) return "an empty word";
        quoted += "#SBATCH \"";
        for (const char letter : word)
            quoted += (letter == '"' || letter == '\\' ? "\\" : "") + std::string(1, letter);
        quoted += "\"\n";
    }
    const auto again = directives_of(quoted + "true\n#SBATCH --uid=0\n", "script");
    if (!std::holds_alternative<Directives>(again)) return "quoted words are not read";
    if (std::get<Directives>(again).words != directives->words) return "quoted words are read as others";
    (void)parse_directives(*find_command("sbatch"), *directives);
    (void)check_script(script);
    return nullptr;
}

}  // namespace slurm
