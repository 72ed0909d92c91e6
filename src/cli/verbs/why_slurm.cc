// SPDX-License-Identifier: MIT
// `why slurm`: explains how the jail handles a command or an option of Slurm.
#include "cli/verbs/why_slurm.h"

#include <algorithm>

#include "base/text.h"
#include "slurm/options/denial.h"
#include "slurm/options/parse.h"

namespace cli {
namespace {

using plan::Explanation;

std::string meaning_of(std::string_view code) {
    std::span<const slurm::DenialCode> codes = slurm::denial_codes();
    auto row = std::ranges::find(codes, code, &slurm::DenialCode::code);
    return row == codes.end() ? std::string() : std::string(row->meaning);
}

Explanation refused(std::string subject, std::string_view code, const std::string& why) {
    return {.subject = std::move(subject),
            .verdict = base::format("refused [{}]", code),
            .reason = {.why = base::format("{} ({})", why, meaning_of(code))}};
}

Explanation explain_command(const std::string& name) {
    std::string subject = base::printable(name);
    if (const slurm::RefusedCommand* command = slurm::find_refused_command(name))
        return refused(subject, command->code, std::string(command->reason));
    if (slurm::find_command(name) != nullptr) {
        return {
            .subject = subject,
            .is_allowed = true,
            .verdict = "available",
            .reason = {.why = "a process outside the jail runs it, with the options that are in its table"}};
    }
    return refused(subject, slurm::code::command, "there is no such command in the jail");
}

// "--name=value", "--name", "-x" or "-xvalue", if one word is enough.
std::optional<slurm::ParsedOption> given_by(const slurm::Command& command, std::string_view word) {
    if (word.starts_with("--")) {
        size_t equals = word.find('=');
        const slurm::Option* option = slurm::find_option(command, word.substr(2, equals - 2));
        if (option == nullptr) return std::nullopt;
        slurm::ParsedOption given{.option = option, .value = std::nullopt};
        if (equals != std::string_view::npos) given.value = std::string(word.substr(equals + 1));
        return given;
    }
    auto row = std::ranges::find(command.options, word[1], &slurm::Option::letter);
    if (row == command.options.end()) return std::nullopt;
    const slurm::Option* option = row->same_as.empty() ? &*row : slurm::find_option(command, row->same_as);
    if (option == nullptr) return std::nullopt;
    slurm::ParsedOption given{.option = option, .value = std::nullopt};
    if (word.size() > 2) given.value = std::string(word.substr(2));
    return given;
}

Explanation explain_given(const slurm::Command& command, const slurm::ParsedOption& given) {
    std::string subject = base::format("{} {}", command.name, slurm::name_of(*given.option));
    if (std::optional<slurm::Denial> denial = slurm::judge(given)) {
        Explanation answer = refused(subject, denial->code, base::printable(denial->what));
        if (!denial->advice.empty()) answer.reason.why += "; " + base::printable(denial->advice);
        return answer;
    }
    Explanation answer{.subject = subject, .is_allowed = true};
    bool passes = given.option->action == slurm::OptionAction::pass;
    answer.verdict = passes ? "passes" : "passes in another form";
    answer.reason.why = passes ? "Slurm gets it as it is" : std::string(given.option->reason);
    if (answer.reason.why.empty()) answer.reason.why = "the jail gives it its meaning";
    return answer;
}

Explanation explain_option(const slurm::Command& command, const std::string& word) {
    if (std::optional<slurm::ParsedOption> given = given_by(command, word))
        return explain_given(command, *given);
    return refused(base::format("{} {}", command.name, base::printable(word)), slurm::code::unknown_option,
                   base::format("it is not in the table of {}", command.name));
}

// Several commands may have the option: return the strictest verdict; on a tie, that of the first command.
Explanation explain_anywhere(const std::string& word) {
    std::optional<Explanation> answer;
    for (const slurm::Command& command : slurm::commands()) {
        std::optional<slurm::ParsedOption> given = given_by(command, word);
        if (!given) continue;
        Explanation found = explain_given(command, *given);
        if (!answer || (answer->is_allowed && !found.is_allowed)) answer = std::move(found);
    }
    if (answer) return *std::move(answer);
    return refused(base::printable(word), slurm::code::unknown_option, "no command's table has it");
}

bool is_option(std::string_view word) {
    return word.size() > 1 && word.front() == '-' && word != "--";
}

}  // namespace

base::Result<Explanation> explain_slurm(const plan::Slurm& slurm, std::span<const std::string> words) {
    bool has_command = !words.empty() && !is_option(words[0]);
    bool is_understood = words.size() == 1 || (words.size() == 2 && has_command && is_option(words[1]));
    if (!is_understood) {
        return base::Error{.what = "why slurm takes a command, an option, or a command and an option",
                           .advice = "for instance: why slurm sbatch --uid",
                           .exit_code = base::ExitCode::usage};
    }
    Explanation answer;
    if (!has_command) {
        answer = explain_anywhere(words[0]);
    } else if (words.size() == 1) {
        answer = explain_command(words[0]);
    } else if (const slurm::Command* command = slurm::find_command(words[0])) {
        answer = explain_option(*command, words[1]);
    } else {
        answer = explain_command(words[0]);
    }
    if (!slurm.is_open && answer.is_allowed) {
        answer.is_allowed = false;
        answer.verdict = "closed";
        answer.reason.why = "Slurm is closed to this jail: it is turned off, or there is none here";
    }
    return answer;
}

}  // namespace cli
