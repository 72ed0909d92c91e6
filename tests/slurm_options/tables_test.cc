// SPDX-License-Identifier: MIT
// The tables themselves: every row has an action and an explanation, and the rows match the options of the
// real clients.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/places.h"
#include "slurm/options/denial.h"
#include "slurm/options/option.h"

namespace slurm {
namespace {

bool is_known(std::string_view code) {
    for (const DenialCode& known : denial_codes())
        if (known.code == code) return true;
    return false;
}

TEST(Tables, EveryRowIsDecidedAndExplained) {
    for (const Command& command : commands()) {
        for (const Option& option : command.options) {
            SCOPED_TRACE(std::string(command.name) + " " + name_of(option));
            EXPECT_TRUE(!option.name.empty() || option.letter);
            if (!option.same_as.empty()) {
                const Option* other = find_option(command, option.same_as);
                ASSERT_NE(other, nullptr);
                EXPECT_EQ(other->takes, option.takes);
                EXPECT_EQ(option.letter, 0);
                continue;
            }
            EXPECT_EQ(option.action == OptionAction::refuse, !option.code.empty());
            EXPECT_EQ(option.action != OptionAction::pass, !option.reason.empty());
            if (!option.code.empty()) {
                EXPECT_TRUE(is_known(option.code));
            }
            if (option.check == Check::anything) {
                EXPECT_NE(option.action, OptionAction::pass);
            }
        }
    }
}

TEST(Tables, NoNameAndNoLetterTwice) {
    for (const Command& command : commands()) {
        std::set<std::string_view> names;
        std::set<char> letters;
        for (const Option& option : command.options) {
            SCOPED_TRACE(std::string(command.name) + " " + name_of(option));
            if (!option.name.empty()) {
                EXPECT_TRUE(names.insert(option.name).second);
            }
            if (option.letter) {
                EXPECT_TRUE(letters.insert(option.letter).second);
            }
        }
    }
}

TEST(Tables, VariablesStandForOptions) {
    for (const Command& command : commands()) {
        std::set<std::string_view> names;
        for (const Variable& variable : command.variables) {
            SCOPED_TRACE(variable.name);
            EXPECT_TRUE(names.insert(variable.name).second);
            if (!variable.option.empty()) {
                EXPECT_NE(find_option(command, variable.option), nullptr);
            }
        }
    }
}

TEST(Tables, RefusedCommandsHaveAReason) {
    for (const RefusedCommand& refused : refused_commands()) {
        SCOPED_TRACE(refused.name);
        EXPECT_EQ(find_command(refused.name), nullptr);
        EXPECT_EQ(find_refused_command(refused.name), &refused);
        EXPECT_TRUE(is_known(refused.code));
        EXPECT_FALSE(refused.reason.empty());
    }
    EXPECT_EQ(find_refused_command("sbatch"), nullptr);
}

TEST(Tables, DenialCodesAreDistinctAndSayWhat) {
    std::set<std::string_view> codes;
    for (const DenialCode& code : denial_codes()) {
        EXPECT_TRUE(codes.insert(code.code).second) << code.code;
        EXPECT_TRUE(code.code.starts_with("slurm-")) << code.code;
        EXPECT_FALSE(code.meaning.empty()) << code.code;
    }
}

// A client's own table, as tests/slurm/record-options prints it.
struct Recorded {
    struct Name {
        std::string name;
        int takes;
        int value;
    };
    std::string letters;
    std::vector<Name> names;
};

std::map<std::string, Recorded> recorded(const std::string& path) {
    std::map<std::string, Recorded> tables;
    std::ifstream file(path);
    std::string line, client;
    while (std::getline(file, line)) {
        std::istringstream fields(line);
        if (line.starts_with("  ")) {
            Recorded::Name name;
            fields >> name.name >> name.takes >> name.value;
            tables[client].names.push_back(name);
        } else {
            fields >> client;
            fields >> tables[client].letters;
        }
    }
    return tables;
}

// Later releases accept a value for these; an older client reports an error.
bool takes_more_today(const Option& option) {
    return option.name == "json" || option.name == "yaml";
}

int number_of(Takes takes) {
    return takes == Takes::nothing ? 0 : takes == Takes::value ? 1 : 2;
}

class RecordedOptions : public testing::TestWithParam<std::string_view> {};

TEST_P(RecordedOptions, NamesStandInTheClientsOrder) {
    const Command& command = *find_command(GetParam());
    const Recorded table = recorded(test::data("/slurm/data/options-22.05.list"))[std::string(command.name)];
    ASSERT_FALSE(table.names.empty());
    std::map<int, const Option*> meaning;
    size_t next = 0;
    for (const Option& option : command.options) {
        if (option.name.empty() || !option.release.empty()) continue;
        ASSERT_LT(next, table.names.size());
        const Recorded::Name& known = table.names[next++];
        EXPECT_EQ(option.name, known.name);
        if (!takes_more_today(option)) {
            EXPECT_EQ(number_of(option.takes), known.takes) << option.name;
        }
        // Two names are one option here exactly if they are one option in the client; help and usage may
        // share an effect.
        const Option* meant = find_option(command, option.name);
        const auto [before, is_new] = meaning.try_emplace(known.value, meant);
        if (!is_new && !meant->informs) {
            EXPECT_EQ(before->second, meant) << option.name;
        }
    }
    EXPECT_EQ(next, table.names.size());
    std::set<const Option*> distinct;
    for (const auto& [value, meant] : meaning) EXPECT_TRUE(distinct.insert(meant).second) << meant->name;
}

TEST_P(RecordedOptions, LettersMeanTheSame) {
    const Command& command = *find_command(GetParam());
    const Recorded table = recorded(test::data("/slurm/data/options-22.05.list"))[std::string(command.name)];
    EXPECT_EQ(command.stops_at_first_word, table.letters.starts_with('+'));
    std::map<char, int> letters;
    char last = 0;
    for (const char letter : table.letters) {
        if (letter == '+') continue;
        if (letter == ':')
            ++letters[last];
        else
            letters[last = letter] = 0;
    }
    for (const Option& option : command.options) {
        if (!option.letter) continue;
        SCOPED_TRACE(name_of(option));
        ASSERT_TRUE(letters.contains(option.letter));
        EXPECT_EQ(letters[option.letter], number_of(option.takes));
        letters.erase(option.letter);
        for (const Recorded::Name& known : table.names)
            if (known.name == option.name) {
                EXPECT_EQ(known.value, option.letter);
            }
    }
    for (const auto& [letter, takes] : letters) ADD_FAILURE() << "-" << letter << " is not in the table";
}

std::vector<std::string_view> names_of_commands() {
    std::vector<std::string_view> names;
    for (const Command& command : commands()) names.push_back(command.name);
    return names;
}

INSTANTIATE_TEST_SUITE_P(Slurm2205, RecordedOptions, testing::ValuesIn(names_of_commands()),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace slurm
