// SPDX-License-Identifier: MIT
// Compares the parser with glibc's getopt_long, for random command lines made from the real options.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "base/places.h"
#include "slurm_options/properties.h"

namespace slurm {
namespace {

class Dice {
  public:
    explicit Dice(unsigned seed) : engine_(seed) {}
    size_t below(size_t limit) { return std::uniform_int_distribution<size_t>(0, limit - 1)(engine_); }
    bool one_in(size_t chances) { return below(chances) == 0; }

  private:
    std::mt19937 engine_;
};

std::string random_text(Dice& dice) {
    static const char* const texts[] = {"",    "4", "a b",   "-n",  "--", "=",
                                        "x=y", "-", "--uid", "1,2", ":",  "a\xffz"};
    return texts[dice.below(std::size(texts))];
}

std::string random_letters(const Command& command, Dice& dice) {
    std::string text = "-";
    for (size_t i = 0; i <= dice.below(4); ++i) {
        const Option& option = command.options[dice.below(command.options.size())];
        text += option.letter ? option.letter : static_cast<char>('!' + dice.below(90));
    }
    return dice.one_in(3) ? text + random_text(dice) : text;
}

std::string random_name(const Command& command, Dice& dice) {
    const Option& option = command.options[dice.below(command.options.size())];
    std::string name(option.release.empty() ? option.name : "");
    if (dice.one_in(2)) name.resize(dice.below(name.size() + 1));
    if (dice.one_in(20)) name += "z";
    if (dice.one_in(3)) name += "=" + random_text(dice);
    return "--" + name;
}

std::vector<std::string> random_arguments(const Command& command, Dice& dice) {
    std::vector<std::string> arguments;
    for (size_t left = dice.below(7); left > 0; --left) {
        switch (dice.below(8)) {
            case 0:
                arguments.push_back(random_text(dice));
                break;
            case 1:
                arguments.emplace_back("word");
                break;
            case 2:
            case 3:
            case 4:
                arguments.push_back(random_letters(command, dice));
                break;
            default:
                arguments.push_back(random_name(command, dice));
        }
    }
    return arguments;
}

std::string shown(const Command& command, const std::vector<std::string>& arguments) {
    std::string text(command.name);
    for (const std::string& argument : arguments) text += " <" + argument + ">";
    return text;
}

TEST(Getopt, EveryCommandLineIsReadAsGlibcReadsIt) {
    Dice dice(1);
    for (const Command& command : commands()) {
        for (int i = 0; i < 1000; ++i) {
            const auto arguments = random_arguments(command, dice);
            const char* broken = broken_against_glibc(command, arguments);
            ASSERT_EQ(broken, nullptr) << broken << ": " << shown(command, arguments);
            broken = broken_when_emitted(command, arguments);
            ASSERT_EQ(broken, nullptr) << broken << ": " << shown(command, arguments);
        }
    }
}

TEST(Getopt, ComplaintsAreGlibcsOwnWords) {
    Dice dice(2);
    int complaints = 0;
    for (const Command& command : commands()) {
        const Unjudged unjudged(command);
        for (int i = 0; i < 200; ++i) {
            const auto arguments = random_arguments(command, dice);
            const Parse result = parse(unjudged.command(), arguments);
            const auto* error = std::get_if<UsageError>(&result);
            if (!error) continue;
            testing::internal::CaptureStderr();
            (void)parsed_by_glibc(unjudged.command(), arguments);
            const std::string said = testing::internal::GetCapturedStderr();
            ASSERT_EQ(error->text.substr(0, said.size()), said) << shown(command, arguments);
            const std::string hint =
                "Try \"" + std::string(command.name) + " --help\" for more information\n";
            ASSERT_EQ(error->text.substr(said.size()), command.hints_at_help ? hint : "");
            ++complaints;
        }
    }
    EXPECT_GT(complaints, 500);
}

class Seeds : public testing::TestWithParam<std::pair<const char*, const char* (*)(std::string_view)>> {};

TEST_P(Seeds, KeepTheClaims) {
    const auto [folder, broken_for] = GetParam();
    size_t files = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(test::data("/fuzz/slurm/corpus/") + folder)) {
        std::ifstream file(entry.path(), std::ios::binary);
        std::stringstream bytes;
        bytes << file.rdbuf();
        const char* broken = broken_for(bytes.str());
        EXPECT_EQ(broken, nullptr) << broken << ": " << entry.path();
        ++files;
    }
    EXPECT_GT(files, 0u);
}

INSTANTIATE_TEST_SUITE_P(Slurm, Seeds,
                         testing::Values(std::pair{"arguments", &broken_for_arguments},
                                         std::pair{"directives", &broken_for_directives}));

}  // namespace
}  // namespace slurm
