// SPDX-License-Identifier: MIT
// Native and bubblewrap build the same jail from every plan, inside and on the host. A plan that one of them
// can't build, the other one does not build either.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/places.h"
#include "base/temporary_directory.h"
#include "differential/compare.h"
#include "differential/random_plan.h"
#include "session/running.h"

namespace {

namespace fs = std::filesystem;
using differential::kScratch;
using testing_support::Running;

constexpr uint64_t kPlans = 40, kAltered = 8, kRepeated = 4;

struct Seen {
    int status = 0;
    std::string said;
    std::string host;  // the scratch tree afterwards
};

class RandomPlans : public testing::Test {
  protected:
    Seen look(uint64_t seed, const std::string& backend, bool is_altered = false) {
        plant();
        std::vector<std::string> words = {std::to_string(seed), backend, directory_ / "state",
                                          directory_ / "scratch", test::beside(WALKER)};
        if (is_altered) words.emplace_back("altered");
        Running running(std::move(words));
        Seen seen;
        seen.status = running.wait();
        seen.said = running.said();
        seen.host = listing();
        return seen;
    }

    // Set another seed to explore: DIFFERENTIAL_SEED=1000 build/tests/test_differential.
    static uint64_t first_seed() {
        const char* text = std::getenv("DIFFERENTIAL_SEED");
        return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
    }

  private:
    void plant() {
        fs::path scratch = directory_ / "scratch";
        fs::remove_all(scratch);
        fs::create_directory(scratch);
        for (const differential::ScratchEntry& entry : kScratch) {
            std::string path = directory_ / ("scratch/" + std::string(entry.name));
            if (entry.kind == 'l') {
                fs::create_symlink(entry.content, path);
                continue;
            }
            if (entry.kind == 'd') fs::create_directory(path);
            if (entry.kind == 'f') directory_.write("scratch/" + std::string(entry.name), entry.content);
            ::chmod(path.c_str(), entry.mode);
        }
    }

    std::string listing() {
        std::vector<std::string> lines;
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory_ / "scratch")) {
            struct stat status;
            ::lstat(entry.path().c_str(), &status);
            lines.push_back(entry.path().string() + " " + std::to_string(status.st_mode) + " " +
                            (S_ISREG(status.st_mode) ? std::to_string(status.st_size) : ""));
        }
        std::ranges::sort(lines);
        std::string text;
        for (const std::string& line : lines) text += line + "\n";
        return text;
    }

    testing_support::TemporaryDirectory directory_;
};

TEST_F(RandomPlans, AreTheSameJailWithEitherBackend) {
    uint64_t built = 0;
    for (uint64_t seed = first_seed(); seed < first_seed() + kPlans; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Seen first = look(seed, "bwrap"), second = look(seed, "native");
        EXPECT_EQ(first.status, second.status) << first.said.substr(0, 300) << "\nand\n"
                                               << second.said.substr(0, 300);
        EXPECT_EQ(first.host, second.host) << "what the launch makes on the host differs";
        if (first.status != second.status) continue;
        if (first.status != 0) {
            EXPECT_EQ(first.status, 125);
            EXPECT_EQ(std::ranges::count(second.said, '\n'), 1) << second.said;
            continue;
        }
        ++built;
        EXPECT_EQ(differential::differences(first.said, second.said), "");
    }
    EXPECT_GT(built, kPlans * 3 / 4) << "most of the plans could not be built, and showed nothing";
}

// The control: the comparison finds a jail that does not match the plan.
TEST_F(RandomPlans, AnAlteredPlanIsFound) {
    int found = 0, compared = 0;
    for (uint64_t seed = 0; seed < kAltered; ++seed) {
        Seen first = look(seed, "bwrap"), second = look(seed, "bwrap", true);
        if (first.status != 0) continue;
        ++compared;
        found += second.status != 0 || !differential::differences(first.said, second.said).empty();
    }
    EXPECT_GT(compared, static_cast<int>(kAltered / 2));
    EXPECT_EQ(found, compared);
}

TEST_F(RandomPlans, OneBackendTwiceIsTheSame) {
    for (uint64_t seed = 0; seed < kRepeated; ++seed) {
        Seen first = look(seed, "bwrap"), second = look(seed, "bwrap");
        EXPECT_EQ(first.host, second.host);
        EXPECT_EQ(differential::differences(first.said, second.said), "");
    }
}

}  // namespace
