// SPDX-License-Identifier: MIT
#include "plan/print/print.h"

#include <gtest/gtest.h>

namespace {

using base::Path;

plan::Plan sample() {
    plan::Plan plan;
    plan.backend = base::Backend::bwrap;
    plan.project = Path::known("/home/ann/app");
    plan.working_directory = Path::known("/home/ann/app");
    plan.command = {"bash", "-c", "echo hi"};
    plan.rules = {
        {.path = Path::known("/home/ann/.ssh"), .access = plan::Access::hidden, .reason = {"SSH keys", {}}},
        {.path = Path::known("/home/ann/app"),
         .access = plan::Access::writable,
         .reason = {"the project", config::from_flag("--project")}}};
    plan.mounts = {{.kind = plan::MountKind::bind_readonly,
                    .target = Path::known("/usr"),
                    .source = "/usr",
                    .reason = {"programs", {}}},
                   {.kind = plan::MountKind::file,
                    .target = Path::known("/etc/passwd"),
                    .source = "content of the file",
                    .reason = {"accounts", {}}},
                   {.kind = plan::MountKind::symlink, .target = Path::known("/bin"), .source = "usr/bin"}};
    plan.environment.passed = {{"LANG", "value-of-lang", {"locale", {}}}};
    plan.environment.removed = {{"MY_TOKEN", {"*_TOKEN", {}}}};
    plan.network.reason = {"the nearest stricter mode", {}};
    plan.controls = {{.name = "credentials", .level = policy::Level::hidden, .detail = "not mounted"}};
    plan.notes = {{plan::NoteKind::protection, "something is weaker"}};
    return plan;
}

std::vector<std::string> keys(const base::Json& object) {
    std::vector<std::string> names;
    for (const auto& [name, value] : object.members()) names.push_back(name);
    return names;
}

using Names = std::vector<std::string>;

TEST(PlanJson, MembersKeepTheirOrder) {
    base::Json json = plan::to_json(sample());
    EXPECT_EQ(keys(json),
              (Names{"backend", "project", "command", "working_directory", "files", "environment", "network",
                     "processes", "system_calls", "trace", "second_wall", "limits", "controls", "notes"}));
    EXPECT_EQ(keys(*json.find("files")),
              (Names{"rules", "mounts", "grants", "placeholders", "unheld_names", "new_directories"}));
    EXPECT_EQ(keys(*json.find("environment")), (Names{"passed", "removed"}));
}

TEST(PlanJson, EveryItemCarriesReasonAndOrigin) {
    base::Json json = plan::to_json(sample());
    const base::Json& rule = json.find("files")->items("rules")[1];
    EXPECT_EQ(rule.text("path"), "/home/ann/app");
    EXPECT_EQ(rule.text("access"), "writable");
    EXPECT_EQ(rule.text("why"), "the project");
    EXPECT_EQ(rule.text("origin"), "--project");
    const base::Json& removed = json.find("environment")->items("removed")[0];
    EXPECT_EQ(removed.text("why"), "*_TOKEN");
    EXPECT_EQ(removed.text("origin"), "built-in");
}

TEST(PlanJson, ANetworkThatFellBackSaysBothModes) {
    base::Json json = plan::to_json(sample());
    EXPECT_EQ(json.find("network")->text("asked"), "filtered");
    EXPECT_EQ(json.find("network")->text("reached"), "isolated");
}

TEST(PlanPrint, NeitherValuesNorContentsAreShown) {
    for (const std::string& text : {plan::to_json(sample()).dump(), plan::to_text(sample())}) {
        EXPECT_EQ(text.find("value-of-lang"), std::string::npos);
        EXPECT_EQ(text.find("content of the file"), std::string::npos);
        EXPECT_NE(text.find("LANG"), std::string::npos);
        EXPECT_NE(text.find("MY_TOKEN"), std::string::npos);
    }
}

TEST(PlanText, ShowsEverySectionThatHasContentAndNoOther) {
    std::string text = plan::to_text(sample());
    EXPECT_NE(text.find("bash -c 'echo hi'"), std::string::npos);
    EXPECT_NE(text.find("isolated (asked: filtered)"), std::string::npos);
    EXPECT_NE(text.find("\n  hidden    /home/ann/.ssh  SSH keys     built-in\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\n  writable  /home/ann/app   the project  --project\n"), std::string::npos) << text;
    EXPECT_NE(text.find("-> usr/bin"), std::string::npos);
    EXPECT_NE(text.find("Variables held back (1)"), std::string::npos);
    EXPECT_NE(text.find("something is weaker"), std::string::npos);
    EXPECT_EQ(text.find("Directories made"), std::string::npos);
}

TEST(PlanText, TellsAPlaceThatIsKeptFromOneThatIsDiscarded) {
    plan::Plan plan = sample();
    plan.rules = {{.path = Path::known("/tmp"),
                   .access = plan::Access::writable,
                   .backing = plan::Backing::ephemeral,
                   .reason = {"temporary files", {}}}};
    EXPECT_NE(plan::to_text(plan).find("writable, discarded  /tmp"), std::string::npos);
}

TEST(PlanText, ForeignNamesCantDriveTheTerminal) {
    plan::Plan plan = sample();
    plan.project = Path::known("/home/ann/\x1b[31mred");
    plan.command = {"\x07"};
    plan.environment.removed[0].name = "\x1b]0;title\x07";
    std::string text = plan::to_text(plan);
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find('\x07'), std::string::npos);
    EXPECT_NE(text.find("/home/ann/\\x1b[31mred"), std::string::npos);
}

}  // namespace
