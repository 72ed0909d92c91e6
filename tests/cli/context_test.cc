// SPDX-License-Identifier: MIT
#include "cli/context.h"

#include <gtest/gtest.h>

#include "config/layer.h"

namespace {

const base::Path kHome = base::Path::known("/home/ann");
const base::Path kHere = base::Path::known("/srv/app");

TEST(Context, PathsOfVerbsMayBeAbsoluteFromHomeOrRelative) {
    EXPECT_EQ(cli::path_from("/x/../y", kHome, kHere)->str(), "/y");
    EXPECT_EQ(cli::path_from("~", kHome, kHere)->str(), "/home/ann");
    EXPECT_EQ(cli::path_from("~/.ssh", kHome, kHere)->str(), "/home/ann/.ssh");
    EXPECT_EQ(cli::path_from("../lib", kHome, kHere)->str(), "/srv/lib");
    EXPECT_EQ(cli::path_from("~other", kHome, kHere)->str(), "/srv/app/~other");
}

TEST(Context, HomeIsShortenedByComponents) {
    EXPECT_EQ(cli::shortened(kHome, kHome), "~");
    EXPECT_EQ(cli::shortened(kHome / "code", kHome), "~/code");
    EXPECT_EQ(cli::shortened(base::Path::known("/home/anna"), kHome), "/home/anna");
    EXPECT_EQ(cli::shortened(kHere, base::Path()), "/srv/app");
}

TEST(Context, AProjectMustBeADirectory) {
    cli::Caller caller{.environment = {"HOME=/"}, .working_directory = base::Path()};
    cli::Arguments arguments;
    arguments.project = "/etc/passwd";
    auto file = cli::find_workspace(caller, arguments);
    ASSERT_FALSE(file.ok());
    EXPECT_EQ(file.error().what, "the project /etc/passwd is not a directory");
    arguments.project = "/no/such/place";
    auto missing = cli::find_workspace(caller, arguments);
    ASSERT_FALSE(missing.ok());
    EXPECT_EQ(missing.error().what, "the project /no/such/place does not exist");
    EXPECT_EQ(missing.error().where, "--project");
}

TEST(Context, AVariableThatIsLetThroughAndNotSetIsTold) {
    cli::Caller caller{.environment = {"HOME=/", "SET=", "EDITOR=vi"}, .working_directory = base::Path()};
    cli::Arguments arguments;
    arguments.project = "/usr/share";
    for (const char* name : {"NOSUCHVAR", "SET", "EDITOR"}) {
        ASSERT_TRUE(config::add_text(arguments.settings, *config::find_setting("env.allow"), name,
                                     config::from_flag("--env")));
    }
    auto settings = cli::load_settings(caller, arguments);
    ASSERT_TRUE(settings.ok()) << settings.error().line();
    EXPECT_EQ(settings->effective.warnings,
              std::vector<std::string>{"--env: NOSUCHVAR is not set here; write NOSUCHVAR=VALUE, or set it"});
}

}  // namespace
