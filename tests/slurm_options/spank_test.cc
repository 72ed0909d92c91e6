// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "slurm/options/option.h"
#include "slurm/options/parse.h"

namespace slurm {
namespace {

using Words = std::vector<std::string>;

TEST(SpankOptions, AreLongNamesWithTheirKindOfValue) {
    for (const char* text : {"--site", "--site=", "--site[=]", "--site-image", "--a.b_c="})
        EXPECT_TRUE(is_spank_option(text)) << text;
    for (const char* text :
         {"", "-s", "site", "--", "--=", "--site=x", "--site[=", "--site=[=]", "--a b", "--a/b"})
        EXPECT_FALSE(is_spank_option(text)) << text;
}

std::string emitted(const char* command, const Words& arguments) {
    const Parse result = parse(*find_command(command), arguments);
    const auto* parsed = std::get_if<Parsed>(&result);
    const auto* denial = std::get_if<Denial>(&result);
    if (!parsed) return denial ? denial->code : "not parsed";
    std::string all;
    for (const std::string& word : emit(*parsed)) all += word + "|";
    return all;
}

// Empty: as it should be; otherwise the first line that is not.
std::string fault_with_site_options() {
    const std::string unknown = emitted("sbatch", {"--site-image=x"});
    if (unknown.empty() || unknown.find("--site-image") != std::string::npos) return "unknown before";
    add_spank_options({});
    if (emitted("sbatch", {"--site-image=x"}) != unknown) return "an empty list adds nothing";
    const Words options = {"--site-image=", "--site-flag", "--site-maybe[=]", "--bad option", "--uid="};
    const std::string refused = emitted("sbatch", {"--uid=0"});
    add_spank_options(options);
    for (const char* command : {"sbatch", "srun", "salloc"}) {
        if (emitted(command, {"--site-image", "x", "--site-flag", "--site-maybe", "--site-maybe=y", "-n1"}) !=
            "--site-image=x|--site-flag|--site-maybe|--site-maybe=y|--ntasks=1|")
            return command;
    }
    if (emitted("sbatch", {"--uid=0"}) != refused) return "a row of Slurm's own decides";
    if (emitted("squeue", {"--site-flag"}).find("--site-flag") != std::string::npos) return "squeue";
    return "";
}

// In a process of its own: the tables stay changed.
TEST(SpankOptions, ArePassedOnByTheCommandsThatStartJobs) {
    EXPECT_EXIT(
        {
            const std::string fault = fault_with_site_options();
            std::fputs(fault.c_str(), stderr);
            std::exit(fault.empty() ? 0 : 1);
        },
        testing::ExitedWithCode(0), "^$");
}

}  // namespace
}  // namespace slurm
