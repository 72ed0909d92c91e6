// SPDX-License-Identifier: MIT
#include "modules/answer.h"

#include <gtest/gtest.h>

namespace modules {
namespace {

std::string value_of(const Answer& answer, const std::string& name) {
    std::string found = "(unset)";
    for (const Change& change : answer.changes) {
        if (change.name == name) found = change.value.value_or("(removed)");
    }
    return found;
}

TEST(Answer, ReadsWhatLmodWrites) {
    base::Result<Answer> answer = parse_answer(
        "import os\n"
        "os.environ[\"ROOT\"] = \"/opt/a b\\\"q\\\\b$HOME`id`\";\n"
        "os.environ[\"GONE\"] = ''\n"
        "del os.environ[\"GONE\"]\n"
        "os.environ[\"LINES\"] = \"a\\\nb\\9c'd\\0139\";\n"
        "os.environ[\"UTF\"] = \"é\";\n"
        "_mlstatus = True\n");
    ASSERT_TRUE(answer) << answer.error().line();
    EXPECT_FALSE(answer->has_failed);
    EXPECT_EQ(value_of(*answer, "ROOT"), "/opt/a b\"q\\b$HOME`id`");
    EXPECT_EQ(value_of(*answer, "GONE"), "(removed)");
    EXPECT_EQ(value_of(*answer, "LINES"), "a\nb\tc'd\r9");
    EXPECT_EQ(value_of(*answer, "UTF"), "é");
}

TEST(Answer, ReadsWhatEnvironmentModulesWrites) {
    base::Result<Answer> answer = parse_answer(
        "import os\n"
        "os.environ['ROOT'] = '/opt/t\\'c\"l\\m $HOME'\n"
        "os.environ['LINES'] = 'a\nb\tc'\n"
        "os.chdir('/elsewhere')\n"
        "_mlstatus = True\n");
    ASSERT_TRUE(answer) << answer.error().line();
    EXPECT_EQ(value_of(*answer, "ROOT"), "/opt/t'c\"l\\m $HOME");
    EXPECT_EQ(value_of(*answer, "LINES"), "a\nb\tc");
}

TEST(Answer, BelievesTheCommandThatItFailed) {
    EXPECT_TRUE(parse_answer("_mlstatus = False\n")->has_failed);
    EXPECT_FALSE(parse_answer("")->has_failed);
}

TEST(Answer, RefusesWhatIsNoAssignment) {
    for (const char* text : {
             "noise\n",
             "import subprocess\n",
             "subprocess.Popen(['xrdb', '-merge'])\n",
             "os.environ[\"A\"] = \"1\"; os.system('id')\n",
             "os.environ[\"A\"] = open('/etc/passwd').read()\n",
             "os.environ[\"A\"] = \"without end",
             "os.environ[\"A=B\"] = \"1\"\n",
             "os.environ[\"\"] = \"1\"\n",
             "os.environ[\"A\"] = \"\\0\"\n",
             "os.environ[\"A\"] = \"\\999\"\n",
             "del os.environ[A]\n",
         }) {
        EXPECT_FALSE(parse_answer(text)) << text;
    }
}

TEST(Answer, ShowsTheLineWithoutItsEscapes) {
    base::Result<Answer> answer = parse_answer("import os\n\033]2;title\a\n");
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().what.find('\033'), std::string::npos);
    EXPECT_NE(answer.error().what.find("title"), std::string::npos);
}

}  // namespace
}  // namespace modules
