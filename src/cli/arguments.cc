// SPDX-License-Identifier: MIT
#include "cli/arguments.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "cli/verbs.h"
#include "config/layer.h"

namespace cli {
namespace {

constexpr std::string_view kEnvironmentFlag = "--env";
constexpr std::string_view kLimitFlag = "--limit";
constexpr std::string_view kLimits = "limits.";

constexpr RunFlag kRunFlags[] = {
    {.flag = "--project",
     .value_name = "DIR",
     .help = "the project; else the current directory",
     .words = "@directory",
     .value = &Arguments::project},
    {.flag = "--preset",
     .value_name = "NAME",
     .help = "settings under one name",
     .words = "@preset",
     .value = &Arguments::preset},
    {.flag = kLimitFlag,
     .value_name = "KEY=VALUE",
     .help = "one of limits.*: memory=2G, wall_time=10m, processes=200",
     .words = "@limit"},
    {.flag = "--dry-run", .help = "show the plan, run nothing", .mark = &Arguments::is_dry_run},
    {.flag = "--json", .help = "with --dry-run: the plan as JSON", .mark = &Arguments::wants_json},
    {.flag = "--detach",
     .help = "with a terminal of its own, which 'attach' shows; print the session's id and return",
     .mark = &Arguments::detaches},
    {.flag = "--help", .help = "explain the program", .mark = &Arguments::wants_help},
    {.flag = "--version", .help = "print the version", .mark = &Arguments::wants_version},
};

struct Letter {
    std::string_view letter;
    std::string_view flag;
};
constexpr Letter kLetters[] = {
    {"-h", "--help"}, {"-V", "--version"}, {"-q", "--quiet"}, {"-v", "--verbose"}, {"-T", "--streams"}};

bool is_from_home(std::string_view path) {
    return path == "~" || path.starts_with("~/");
}

std::string absolute(std::string_view path, const base::Path& working_directory) {
    if (path.starts_with('/') || is_from_home(path)) return std::string(path);
    return (working_directory / path).str();
}

bool is_path(config::Type type) {
    return type == config::Type::path || type == config::Type::path_list;
}

// One word of the command line, split into flag and value.
struct Option {
    std::string flag;
    std::optional<std::string> attached;  // after '='
};

Option option_of(std::string_view word) {
    size_t equals = word.starts_with("--") ? word.find('=') : std::string_view::npos;
    Option option{.flag = std::string(word.substr(0, equals))};
    if (equals != std::string_view::npos) option.attached = std::string(word.substr(equals + 1));
    for (const Letter& row : kLetters) {
        if (option.flag == row.letter) option.flag = row.flag;
    }
    return option;
}

class Parser {
  public:
    Parser(std::span<const std::string> words, const base::Path& working_directory)
        : words_(words), working_directory_(working_directory) {}

    base::Result<Arguments> parse() {
        arguments_.is_empty = words_.empty();
        base::Status parsed = parse_front();
        if (parsed) return std::move(arguments_);
        // With our own exit code, a script can distinguish our refusal from a command that exits with status
        // 2.
        base::Error error = parsed.error();
        bool is_run = !verb_ || verb_->name == "run" || verb_->name == kExecVerb;
        error.exit_code = is_run ? base::ExitCode::jail_failed : base::ExitCode::usage;
        return error;
    }

  private:
    base::Status parse_front() {
        while (next_ < words_.size() && is_option(words_[next_])) {
            if (words_[next_] == "--") {
                ++next_;
                take_rest();
                return base::success();
            }
            if (base::Status taken = take_option(); !taken) return taken;
        }
        if (next_ == words_.size()) return base::success();
        verb_ = find_verb(words_[next_]);
        if (!verb_) {
            take_rest();
            return base::success();
        }
        arguments_.verb = words_[next_++];
        return parse_after_verb();
    }

    base::Status parse_after_verb() {
        while (next_ < words_.size()) {
            if (words_[next_] == "--") {
                ++next_;
                if (verb_->name == kExecVerb) return take_command();
                break;
            }
            // What follows is a command: its options are not ours.
            if (verb_->name == "secret" && words_[next_] == "--command") {
                arguments_.own_options.push_back(words_[next_++]);
                break;
            }
            if (is_option(words_[next_]) && !is_about_option()) {
                if (base::Status taken = take_option(); !taken) return taken;
                continue;
            }
            if (verb_->takes_run_flags) break;
            arguments_.words.push_back(words_[next_++]);
        }
        take_rest();
        return base::success();
    }

    // `why slurm --container` asks about an option of Slurm, so this program must not parse it. --json is
    // ours, except directly after a command of Slurm: `why slurm squeue --json`.
    bool is_about_option() const {
        const std::vector<std::string>& words = arguments_.words;
        bool is_slurm = verb_->name == "why" && !words.empty() && words[0] == "slurm";
        bool follows_command = words.size() == 2 && !words[1].starts_with('-');
        return is_slurm && (follows_command || words_[next_] != "--json");
    }

    // A lone "-" is a word: commands take it for standard input.
    static bool is_option(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

    void take_rest() {
        arguments_.words.insert(arguments_.words.end(), words_.begin() + static_cast<ptrdiff_t>(next_),
                                words_.end());
        next_ = words_.size();
    }

    base::Status take_command() {
        arguments_.command.assign(words_.begin() + static_cast<ptrdiff_t>(next_), words_.end());
        next_ = words_.size();
        return base::success();
    }

    base::Status take_option() {
        Option option = option_of(words_[next_++]);
        if (option.flag == kLimitFlag) return take_limit(option);
        const RunFlag* flag = std::ranges::find(kRunFlags, option.flag, &RunFlag::flag);
        if (flag != std::end(kRunFlags)) return take_run_flag(option, *flag);
        if (const config::Setting* setting = config::find_flag(option.flag)) {
            return take_setting(option, *setting);
        }
        return take_own(option);
    }

    base::Status take_own(Option& option) {
        std::vector<VerbFlag> flags;
        if (verb_) flags = accepted_flags_of(*verb_);
        auto own = std::ranges::find(flags, option.flag, &VerbFlag::flag);
        if (own == flags.end()) return unknown(option);
        if (!own->value_name.empty()) {
            base::Result<std::string> value = value_of(option, own->value_name);
            if (!value) return value.error();
            arguments_.own_values.emplace_back(option.flag, *std::move(value));
        } else if (option.attached) {
            return takes_no_value(option);
        }
        arguments_.own_options.push_back(option.flag);
        return base::success();
    }

    base::Status take_run_flag(Option& option, const RunFlag& flag) {
        if (flag.mark) {
            if (option.attached) return takes_no_value(option);
            arguments_.*flag.mark = true;
            return base::success();
        }
        bool is_directory = flag.value == &Arguments::project;
        base::Result<std::string> value = value_of(option, is_directory ? "a directory" : "a name");
        if (!value) return value.error();
        arguments_.*flag.value = is_directory ? absolute(*value, working_directory_) : *std::move(value);
        return base::success();
    }

    base::Status take_setting(Option& option, const config::Setting& setting) {
        std::string raw;
        if (setting.type == config::Type::boolean) {
            raw = option.attached.value_or("true");
        } else {
            base::Result<std::string> value = value_of(option, config::expectation(setting));
            if (!value) return value.error();
            raw = *std::move(value);
        }
        if (is_path(setting.type)) raw = absolute(raw, working_directory_);
        const config::Setting* target = &setting;
        // NAME passes the caller's variable; NAME=VALUE sets a new one.
        if (option.flag == kEnvironmentFlag && raw.find('=') != std::string::npos) {
            target = config::find_setting("env.set");
        }
        return config::add_text(arguments_.settings, *target, raw, config::from_flag(option.flag));
    }

    // KEY=VALUE for any limits.KEY.
    base::Status take_limit(Option& option) {
        constexpr std::string_view kExpected = "KEY=VALUE, for instance memory=2G";
        base::Result<std::string> word = value_of(option, kExpected);
        if (!word) return word.error();
        size_t equals = word->find('=');
        if (equals == std::string::npos || equals + 1 == word->size()) {
            return usage_error(base::format("{} {} has no value", option.flag, *word),
                               base::format("write {}", kExpected));
        }
        std::string key = word->substr(0, equals);
        if (!key.starts_with(kLimits)) key.insert(0, kLimits);
        const config::Setting* setting = config::find_setting(key);
        if (!setting) return unknown_limit(key.substr(kLimits.size()));
        return config::add_text(arguments_.settings, *setting, word->substr(equals + 1),
                                config::from_flag(option.flag));
    }

    static base::Error unknown_limit(const std::string& name) {
        std::vector<std::string_view> known;
        for (const config::Setting& setting : config::settings()) {
            if (setting.key.starts_with(kLimits)) known.push_back(setting.key.substr(kLimits.size()));
        }
        std::string near = base::nearest(name, known);
        std::vector<std::string> all(known.begin(), known.end());
        return usage_error(
            base::format("there is no limit '{}'", name),
            near.empty() ? "there are: " + base::join(all, ", ") : base::format("did you mean {}?", near));
    }

    // The value after '=', or the next word. An empty value is refused: it comes from an unset variable in a
    // script.
    base::Result<std::string> value_of(Option& option, std::string_view expected) {
        if (!option.attached && next_ < words_.size()) {
            option.attached = words_[next_++];
            arguments_.last_taken = {option.flag, *option.attached};
        }
        if (option.attached && !option.attached->empty()) return *std::move(option.attached);
        return usage_error(option.flag + " needs a value", base::format("write {} after it", expected));
    }

    static base::Error usage_error(std::string what, std::string advice) {
        return {.what = std::move(what), .advice = std::move(advice)};
    }

    static base::Error takes_no_value(const Option& option) {
        return usage_error(option.flag + " takes no value",
                           base::format("leave out '={}'", *option.attached));
    }

    base::Error unknown(const Option& option) const {
        std::vector<std::string_view> known;
        for (const RunFlag& flag : kRunFlags) known.push_back(flag.flag);
        for (const config::Setting& setting : config::settings()) {
            if (!setting.flag.empty()) known.push_back(setting.flag);
        }
        if (verb_)
            std::ranges::transform(accepted_flags_of(*verb_), std::back_inserter(known), &VerbFlag::flag);
        std::string near = base::nearest(option.flag, known);
        return usage_error("unknown option " + option.flag, near.empty()
                                                                ? "agent-sandbox --help lists the options"
                                                                : base::format("did you mean {}?", near));
    }

    std::span<const std::string> words_;
    const base::Path& working_directory_;
    size_t next_ = 0;
    const Verb* verb_ = nullptr;
    Arguments arguments_;
};

}  // namespace

bool Arguments::has_own(std::string_view option) const {
    return std::ranges::find(own_options, option) != own_options.end();
}

std::string Arguments::own_value(std::string_view option) const {
    std::string last;
    for (const auto& [name, value] : own_values) {
        if (name == option) last = value;
    }
    return last;
}

std::span<const RunFlag> run_flags() {
    return kRunFlags;
}

std::string_view letter_of(std::string_view flag) {
    const Letter* row = std::ranges::find(kLetters, flag, &Letter::flag);
    return row == std::end(kLetters) ? std::string_view() : row->letter;
}

base::Result<Arguments> parse_arguments(std::span<const std::string> words,
                                        const base::Path& working_directory) {
    return Parser(words, working_directory).parse();
}

}  // namespace cli
