// SPDX-License-Identifier: MIT
// The tests run bash's own completion; zsh and fish only check the syntax, if they are installed.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <sstream>

#include "base/temporary_directory.h"
#include "base/text.h"
#include "config/reference/reference.h"
#include "config/settings.h"
#include "config/verbs.h"

namespace {

std::string output_of(const std::string& command) {
    std::string output;
    FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
    if (pipe == nullptr) return "popen failed";
    for (int letter = std::fgetc(pipe); letter != EOF; letter = std::fgetc(pipe))
        output += static_cast<char>(letter);
    int status = ::pclose(pipe);
    return status == 0 ? output : output + "status " + std::to_string(status);
}

bool has_program(const char* name) {
    return output_of(std::string("command -v ") + name).find('/') != std::string::npos;
}

class BashCompletion : public testing::Test {
  protected:
    BashCompletion() {
        script = directory.write("completion.bash", config::bash_completion());
        directory.write("work/data file", "");
        directory.write("work/other", "");
    }

    // The completions that bash offers for the last of `words`.
    std::vector<std::string> offered(const std::vector<std::string>& words) {
        // A character at which bash splits words is in the line without blanks around it.
        std::string array = "agent-sandbox", line = "agent-sandbox";
        bool is_joined = false;
        for (const std::string& word : words) {
            array += " " + base::shell_word(word);
            bool is_break = word == "=" || word == ":";
            line += (is_joined || is_break ? "" : " ") + word;
            is_joined = is_break || word == "@";
        }
        std::string program = "cd " + (directory / "work") + "; source " + script + "; COMP_WORDS=(" + array +
                              "); COMP_LINE=" + base::shell_word(line) +
                              "; COMP_CWORD=" + std::to_string(words.size()) +
                              "; _agent_sandbox; printf '%s\\n' \"${COMPREPLY[@]}\"";
        std::string output = output_of("bash --norc --noprofile -c " + base::shell_word(program));
        std::vector<std::string> lines;
        for (std::string_view offer : base::split(output, '\n'))
            if (!offer.empty()) lines.emplace_back(offer);
        return lines;
    }

    bool offers(const std::vector<std::string>& words, const std::string& wanted) {
        std::vector<std::string> all = offered(words);
        return std::find(all.begin(), all.end(), wanted) != all.end();
    }

    testing_support::TemporaryDirectory directory;
    std::string script;
};

using Words = std::vector<std::string>;

TEST_F(BashCompletion, IsReadByBashWithoutComplaint) {
    EXPECT_EQ(output_of("bash -n " + script), "");
}

TEST_F(BashCompletion, OffersEveryVerbAndEveryFlag) {
    Words verbs = offered({""});
    for (const config::Verb& verb : config::verbs()) {
        EXPECT_NE(std::find(verbs.begin(), verbs.end(), verb.name), verbs.end()) << verb.name;
    }
    Words flags = offered({"--"});
    for (const config::Setting& setting : config::settings()) {
        if (setting.flag.empty()) continue;
        EXPECT_NE(std::find(flags.begin(), flags.end(), setting.flag), flags.end()) << setting.flag;
    }
    for (const config::RunFlag& flag : config::run_flags()) {
        EXPECT_NE(std::find(flags.begin(), flags.end(), flag.flag), flags.end()) << flag.flag;
    }
}

TEST_F(BashCompletion, OffersTheChoicesOfAFlagAndNothingElse) {
    EXPECT_EQ(offered({"--network", ""}), (Words{"open", "filtered", "proxied", "isolated"}));
    EXPECT_EQ(offered({"--network", "is"}), (Words{"isolated"}));
    EXPECT_EQ(offered({"--network", "=", "is"}), (Words{"isolated"}));
    EXPECT_EQ(offered({"--quiet", "--home", "re"}), (Words{"read", "restricted"}));
    EXPECT_EQ(offered({"--limit", "mem"}), (Words{"memory="}));
}

TEST_F(BashCompletion, OffersFilesForPathsWithTheirBlanks) {
    EXPECT_EQ(offered({"--ro", "da"}), (Words{"data file"}));
    EXPECT_EQ(offered({"--ro", "x", "--rw", "oth"}), (Words{"other"}));
}

TEST_F(BashCompletion, KnowsTheWordsOfItsVerbs) {
    EXPECT_TRUE(offers({"config", "im"}, "import"));
    EXPECT_TRUE(offers({"config", "import", "da"}, "data file"));
    EXPECT_EQ(offered({"completion", "z"}), (Words{"zsh"}));
    EXPECT_TRUE(offers({"help", "unt"}, "untrust"));
    EXPECT_TRUE(offers({"help", "net"}, "network"));
    EXPECT_TRUE(offers({"why", "--wr"}, "--write"));
    EXPECT_EQ(offered({"why", "path", "oth"}), (Words{"other"}));
    EXPECT_EQ(offered({"why", "host", "oth"}), Words{});
    EXPECT_EQ(offered({"stop", "oth"}), Words{});
}

// Completion runs the program itself; a fake replaces it here.
TEST_F(BashCompletion, OffersTheSessionsThatRun) {
    std::string program =
        directory.write("bin/agent-sandbox", "#!/bin/sh\n[ \"$*\" = 'ps --ids' ] && echo 4f2a1b3c\n");
    ASSERT_EQ(::chmod(program.c_str(), 0700), 0);
    std::string path = ::getenv("PATH");
    ::setenv("PATH", ((directory / "bin") + ":" + path).c_str(), 1);
    EXPECT_TRUE(offers({"stop", "4f"}, "4f2a1b3c"));
    EXPECT_TRUE(offers({"inspect", ""}, "4f2a1b3c"));
    EXPECT_EQ(offered({"allow", "example.org", "--session", ""}), (Words{"4f2a1b3c"}));
    EXPECT_EQ(offered({"allow", "--session", "=", "4f"}), (Words{"4f2a1b3c"}));
    ::setenv("PATH", path.c_str(), 1);
    EXPECT_TRUE(offers({"deny", "--re"}, "--reason"));
    EXPECT_TRUE(offers({"stop", "--"}, "--now"));
}

TEST_F(BashCompletion, OffersCommandsAndThenLeavesThemAlone) {
    EXPECT_TRUE(offers({"bas"}, "bash"));
    EXPECT_TRUE(offers({"run", "--quiet", "bas"}, "bash"));
    EXPECT_TRUE(offers({"--", "bas"}, "bash"));
    EXPECT_FALSE(offers({"cat", "--netw"}, "--network"));
    EXPECT_FALSE(offers({"--", "config", "im"}, "import"));
    EXPECT_EQ(offered({"cat", "da"}), (Words{"data file"}));
}

TEST_F(BashCompletion, PutsTogetherWhatBashTakesApart) {
    EXPECT_TRUE(offers({"--limit", "memory", "=", "2G", "--netw"}, "--network"));
    EXPECT_TRUE(offers({"--allow-host", "example.org", ":", "443", "bas"}, "bash"));
    EXPECT_EQ(offered({"--allow-host", "@", "gith"}), (Words{"@github"}));
}

TEST_F(BashCompletion, AsksTheCommandsOwnCompletionWhereThereIsOne) {
    std::string program =
        "source " + script +
        "; _command_offset() { COMPREPLY=(\"from $1\"); }; COMP_WORDS=(agent-sandbox --network open git ch); "
        "COMP_LINE='agent-sandbox --network open git ch' COMP_CWORD=4; _agent_sandbox; echo "
        "\"${COMPREPLY[@]}\"";
    EXPECT_EQ(output_of("bash --norc -c " + base::shell_word(program)), "from 3\n");
}

TEST(ZshCompletion, IsReadByZsh) {
    EXPECT_TRUE(config::zsh_completion().starts_with("#compdef agent-sandbox\n"));
    if (!has_program("zsh")) GTEST_SKIP() << "zsh is not installed";
    testing_support::TemporaryDirectory directory;
    EXPECT_EQ(output_of("zsh -n " + directory.write("_agent-sandbox", config::zsh_completion())), "");
}

TEST(FishCompletion, IsReadByFish) {
    EXPECT_NE(config::fish_completion().find("-l network -x -a 'open filtered proxied isolated'"),
              std::string::npos);
    if (!has_program("fish")) GTEST_SKIP() << "fish is not installed";
    testing_support::TemporaryDirectory directory;
    EXPECT_EQ(output_of("fish -n " + directory.write("agent-sandbox.fish", config::fish_completion())), "");
}

}  // namespace
