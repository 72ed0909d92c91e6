// SPDX-License-Identifier: MIT
// Theory of operation: arguments are read from the front, one at a time. A word either ends the options (for
// clients whose getopt string begins with "+") or is stored; after "--" everything is a word. An option with
// a required value takes the rest of its own argument or the whole next one, whatever it contains. A long
// name may be abbreviated as long as it is unique; aliases of the same option do not make it ambiguous. These
// are glibc's rules, and tests/slurm_options compares with glibc itself.
#include "slurm/options/parse.h"

#include <algorithm>

#include "base/parse.h"
#include "base/text.h"

namespace slurm {
namespace {

bool begins_another_component(Colon colon, const std::vector<std::string>& words) {
    switch (colon) {
        case Colon::is_a_word:
            return false;
        case Colon::separates_in_front:
            return !words.empty() && words.front() == ":";
        case Colon::separates:
            return std::find(words.begin(), words.end(), ":") != words.end();
    }
    return false;
}

class Parser {
  public:
    Parser(const Command& command, std::span<const std::string> arguments, Source source)
        : command_(command), arguments_(arguments), source_(source) {}

    Parse parse();

  private:
    using Problem = std::optional<std::variant<Denial, UsageError>>;

    Problem read_long(std::string_view text);
    Problem read_letters(std::string_view letters);
    Problem add(const Option& option, std::optional<std::string> value);

    // The long option for a name, which may be abbreviated.
    std::variant<const Option*, UsageError> look_up(std::string_view name, std::string_view text) const;
    const Option* look_up_letter(char letter) const;
    const Option& meant_by(const Option& option) const;
    bool is_same(const Option& a, const Option& b) const;
    UsageError usage_error(const std::string& complaint) const;

    const Command& command_;
    std::span<const std::string> arguments_;
    Source source_;
    size_t next_ = 0;
    Parsed parsed_;
};

UsageError Parser::usage_error(const std::string& complaint) const {
    const std::string name(command_.name);
    std::string text = base::format("{}: {}\n", name, complaint);
    if (command_.hints_at_help) text += base::format("Try \"{} --help\" for more information\n", name);
    return {std::move(text), command_.usage_exit_code};
}

const Option& Parser::meant_by(const Option& option) const {
    if (option.same_as.empty()) return option;
    const Option* other = find_option(command_, option.same_as);
    return other ? *other : option;
}

// getopt treats two names as one option if they take the same values and have the same effect.
bool Parser::is_same(const Option& a, const Option& b) const {
    return a.takes == b.takes && &meant_by(a) == &meant_by(b);
}

std::variant<const Option*, UsageError> Parser::look_up(std::string_view name, std::string_view text) const {
    for (const Option& option : command_.options)
        if (!option.name.empty() && option.name == name) return &option;

    const Option* found = nullptr;
    std::vector<const Option*> others;
    for (const Option& option : command_.options) {
        if (option.name.empty() || !option.release.empty() || !option.name.starts_with(name)) continue;
        if (!found)
            found = &option;
        else if (!is_same(*found, option))
            others.push_back(&option);
    }
    if (!found) return usage_error(base::format("unrecognized option '--{}'", text));
    if (others.empty()) return found;

    std::string complaint = base::format("option '--{}' is ambiguous; possibilities:", text);
    others.insert(others.begin(), found);
    for (const Option* option : others) complaint += base::format(" '--{}'", option->name);
    return usage_error(complaint);
}

const Option* Parser::look_up_letter(char letter) const {
    if (letter == 0) return nullptr;
    for (const Option& option : command_.options)
        if (option.letter == letter) return &option;
    return nullptr;
}

Parser::Problem Parser::add(const Option& option, std::optional<std::string> value) {
    ParsedOption given{&meant_by(option), std::move(value)};
    auto denial = source_ == Source::users_own ? std::nullopt : judge(given);
    if (denial) return *denial;
    if (given.option->informs && source_ == Source::directives) return std::nullopt;
    parsed_.informs = given.option->informs;
    parsed_.options.push_back(std::move(given));
    return std::nullopt;
}

// `text` is the part after "--".
Parser::Problem Parser::read_long(std::string_view text) {
    const size_t equals = text.find('=');
    const auto found = look_up(text.substr(0, equals), text);
    if (const auto* error = std::get_if<UsageError>(&found)) return *error;
    const Option& option = *std::get<const Option*>(found);

    if (equals != text.npos) {
        if (option.takes == Takes::nothing)
            return usage_error(base::format("option '--{}' doesn't allow an argument", option.name));
        return add(option, std::string(text.substr(equals + 1)));
    }
    if (option.takes != Takes::value) return add(option, std::nullopt);
    if (next_ == arguments_.size())
        return usage_error(base::format("option '--{}' requires an argument", option.name));
    return add(option, arguments_[next_++]);
}

// `letters` is the part after "-": flags, optionally followed by one option with its value.
Parser::Problem Parser::read_letters(std::string_view letters) {
    for (size_t at = 0; at < letters.size() && !parsed_.informs; ++at) {
        const Option* option = look_up_letter(letters[at]);
        const std::string quoted = base::format("'{}'", letters[at]);
        if (!option) return usage_error("invalid option -- " + quoted);
        if (option->takes == Takes::nothing) {
            if (auto problem = add(*option, std::nullopt)) return problem;
            continue;
        }
        const std::string_view rest = letters.substr(at + 1);
        if (!rest.empty()) return add(*option, std::string(rest));
        if (option->takes == Takes::maybe) return add(*option, std::nullopt);
        if (next_ == arguments_.size()) return usage_error("option requires an argument -- " + quoted);
        return add(*option, arguments_[next_++]);
    }
    return std::nullopt;
}

Parse Parser::parse() {
    while (next_ < arguments_.size() && !parsed_.informs) {
        const std::string_view argument = arguments_[next_];
        if (argument.size() < 2 || argument[0] != '-') {
            if (command_.stops_at_first_word) break;
            parsed_.words.emplace_back(argument);
            ++next_;
            continue;
        }
        ++next_;
        if (argument == "--") break;
        const Problem problem =
            argument[1] == '-' ? read_long(argument.substr(2)) : read_letters(argument.substr(1));
        if (!problem) continue;
        if (const auto* denial = std::get_if<Denial>(&*problem)) return *denial;
        return std::get<UsageError>(*problem);
    }
    parsed_.words.insert(parsed_.words.end(), arguments_.begin() + static_cast<ptrdiff_t>(next_),
                         arguments_.end());
    if (source_ == Source::command_line && !parsed_.informs &&
        begins_another_component(command_.colon, parsed_.words))
        return Denial{
            std::string(code::heterogeneous),
            "\":\" begins another component, and heterogeneous jobs are not made from inside the jail",
            "submit the components as jobs of their own"};
    return std::move(parsed_);
}

bool is_control(char letter) {
    const auto byte = static_cast<unsigned char>(letter);
    return byte < ' ' || byte == 0x7f;
}

bool is_word_letter(char letter) {
    return base::is_name_character(letter) || letter == '-' || letter == '.' || letter == '+';
}

// The fault of a value. Empty: no fault.
std::string_view complaint_about(Check check, std::string_view value) {
    if (check == Check::anything) return "";
    if (std::any_of(value.begin(), value.end(), is_control)) return "no control characters here";
    switch (check) {
        case Check::anything:
        case Check::text:
            return "";
        case Check::word:
            return std::all_of(value.begin(), value.end(), is_word_letter) ? "" : "only a plain name here";
        case Check::word_list:
            return std::all_of(value.begin(), value.end(),
                               [](char letter) { return letter == ',' || is_word_letter(letter); })
                       ? ""
                       : "only plain names with commas between them here";
        case Check::job_name:
            return value.find('/') == value.npos ? "" : "no \"/\" here, since the name becomes part of files";
        case Check::nodes:
            return value.find('/') == value.npos ? "" : "Slurm would open a file of that name itself";
    }
    return "";
}

}  // namespace

std::optional<Denial> judge(const ParsedOption& given) {
    const Option& option = *given.option;
    if (option.action == OptionAction::refuse)
        return Denial{std::string(option.code), base::format("{}: {}", name_of(option), option.reason), ""};
    if (!given.value) return std::nullopt;
    const std::string_view complaint = complaint_about(option.check, *given.value);
    if (complaint.empty()) return std::nullopt;
    const auto code = option.check == Check::nodes ? code::outside_file : code::value;
    return Denial{std::string(code), base::format("{}: {}", name_of(option), complaint), ""};
}

Parse parse(const Command& command, std::span<const std::string> arguments, Source source) {
    return Parser(command, arguments, source).parse();
}

const ParsedOption* Parsed::last(std::string_view name) const {
    const auto found = std::find_if(options.rbegin(), options.rend(),
                                    [&](const ParsedOption& given) { return given.option->name == name; });
    return found == options.rend() ? nullptr : &*found;
}

std::optional<std::string> Parsed::value_of(std::string_view name) const {
    const ParsedOption* given = last(name);
    if (!given) return std::nullopt;
    return given->value.value_or("");
}

size_t Parsed::count(std::string_view name) const {
    return static_cast<size_t>(std::count_if(options.begin(), options.end(), [&](const ParsedOption& given) {
        return given.option->name == name;
    }));
}

void append_canonical(std::vector<std::string>& arguments, const ParsedOption& given) {
    std::string name = name_of(*given.option);
    if (given.value && !given.option->name.empty()) {
        arguments.push_back(base::format("{}={}", name, *given.value));
        return;
    }
    arguments.push_back(std::move(name));
    if (given.value) arguments.push_back(*given.value);
}

std::vector<std::string> emit(const Parsed& parsed) {
    std::vector<std::string> arguments;
    for (const ParsedOption& given : parsed.options)
        if (given.option->action == OptionAction::pass) append_canonical(arguments, given);
    return arguments;
}

}  // namespace slurm
