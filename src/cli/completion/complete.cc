// SPDX-License-Identifier: MIT
#include "cli/completion/complete.h"

#include <optional>

#include "base/text.h"

namespace cli {
namespace {

using Kind = Completion::Kind;

// What stands before the word at the cursor, read as the parser reads it (cli/arguments.cc), but without
// errors.
struct Line {
    const Verb* verb = nullptr;
    std::vector<std::string> words;  // of the verb
    std::string_view flag;           // the word at the cursor is its value
    std::optional<size_t> command;   // begins at this word
};

bool takes_command(const Verb* verb) {
    return !verb || verb->takes_run_flags;
}

// `why slurm --container` is about an option of Slurm.
bool is_about_slurm(const Line& line) {
    return line.verb && line.verb->name == "why" && !line.words.empty() && line.words[0] == "slurm";
}

Line read_line(std::span<const std::string> before) {
    Line line;
    for (size_t i = 0; i < before.size(); ++i) {
        const std::string& word = before[i];
        if (word == "--") {
            if (!takes_command(line.verb)) continue;
            line.command = i + 1;
            return line;
        }
        if (word.size() > 1 && word.front() == '-' && !is_about_slurm(line)) {
            bool is_attached = word.starts_with("--") && word.find('=') != std::string::npos;
            if (is_attached || !entries_of_flag(line.verb, word).takes_value) continue;
            if (++i == before.size()) line.flag = word;
            continue;
        }
        if (!takes_command(line.verb)) {
            line.words.push_back(word);
            continue;
        }
        const Verb* verb = line.verb ? nullptr : find_verb(word);
        if (!verb) {
            line.command = i;
            return line;
        }
        line.verb = verb;
    }
    return line;
}

void offer(std::span<const std::string_view> entries, const MachineNames& names, Completion& completion) {
    for (std::string_view entry : entries) {
        if (entry == kFiles) completion.kind = Kind::files;
        if (entry == kDirectories) completion.kind = Kind::directories;
        if (entry == kFiles || entry == kDirectories) return;
        if (entry == kLimitKeys) completion.kind = Kind::openings;
        for (Candidate& candidate : candidates_for(entry, names))
            completion.candidates.push_back(std::move(candidate));
    }
}

Completion complete_word_of_verb(const Line& line, const std::string& current, const MachineNames& names) {
    Completion completion;
    if (is_about_slurm(line)) {
        completion.candidates = slurm_candidates(std::span(line.words).subspan(1), current.starts_with('-'));
        return completion;
    }
    offer(entries_after(*line.verb, line.words), names, completion);
    for (Candidate& candidate : completion.candidates) {
        if (candidate.help.empty()) candidate.help = help_in_details(*line.verb, candidate.word);
    }
    return completion;
}

}  // namespace

Completion complete(std::span<const std::string> words, const MachineNames& names) {
    const std::string current = words.empty() ? "" : words.back();
    size_t last = words.empty() ? 0 : words.size() - 1;
    Line line = read_line(words.first(last));
    Completion completion;
    if (line.command) {
        completion.kind = *line.command == last ? Kind::programs : Kind::command;
        completion.index = *line.command;
        return completion;
    }
    size_t equals = current.starts_with("--") ? current.find('=') : std::string::npos;
    if (line.flag.empty() && equals != std::string::npos && !is_about_slurm(line)) {
        line.flag = std::string_view(current).substr(0, equals);
        completion.front = current.substr(0, equals + 1);
    }
    if (!line.flag.empty()) {
        offer(entries_of_flag(line.verb, line.flag).entries, names, completion);
    } else if (current.starts_with('-') && !is_about_slurm(line)) {
        completion.kind = Kind::flags;
        completion.candidates = flags_for(line.verb);
    } else if (takes_command(line.verb)) {
        completion.kind = Kind::programs;
        if (!line.verb) completion.candidates = candidates_for("@verb", names);
    } else {
        return complete_word_of_verb(line, current, names);
    }
    return completion;
}

}  // namespace cli
