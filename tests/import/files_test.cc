// SPDX-License-Identifier: MIT
// Realistic files of other tools, each with the TOML that the import must produce: tests/import/data.
// UPDATE_GOLDEN=1 writes the results: read them before you commit them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "base/file.h"
#include "base/places.h"
#include "config/layer.h"
#include "import/import.h"
#include "import/properties.h"
#include "import/run_bash.h"

namespace {

const std::filesystem::path kFolder = std::filesystem::path(test::data()) / "import/data";

std::vector<std::filesystem::path> originals() {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
        if (entry.path().extension() != ".toml") files.push_back(entry.path());
    }
    std::ranges::sort(files);
    return files;
}

class ImportFiles : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(ImportFiles, BecomeWhatStandsBesideThem) {
    bool is_admin = GetParam().filename().string().starts_with("site");
    base::Result<std::string> original = base::read_file(GetParam());
    ASSERT_TRUE(original);
    base::Result<config::Imported> imported =
        config::import_file(*original, testing_support::options_for(is_admin));
    ASSERT_TRUE(imported) << imported.error().line();

    config::Layer layer = is_admin ? config::Layer::admin : config::Layer::user;
    config::ParsedFile parsed = config::parse_layer(layer, "imported.toml", imported->toml);
    EXPECT_TRUE(parsed.problems.empty()) << parsed.problems.front().line();

    std::string expected = GetParam().string() + ".toml";
    if (std::getenv("UPDATE_GOLDEN") != nullptr) {
        ASSERT_TRUE(base::write_file_atomically(expected, imported->toml, 0644));
    }
    base::Result<std::string> golden = base::read_file(expected);
    ASSERT_TRUE(golden) << expected;
    EXPECT_EQ(imported->toml, *golden);
}

// However a file is damaged, the import produces a valid file.
TEST_P(ImportFiles, StayValidWhenTheyAreDamaged) {
    base::Result<std::string> original = base::read_file(GetParam());
    ASSERT_TRUE(original);
    std::mt19937 random(29);
    for (int round = 0; round < 300; ++round) {
        std::string text = *original;
        for (int i = 0; i < 1 + round % 5 && !text.empty(); ++i) {
            size_t at = random() % text.size();
            switch (random() % 3) {
                case 0:
                    text[at] = static_cast<char>(random());
                    break;
                case 1:
                    text.erase(at, random() % 40);
                    break;
                default:
                    text.insert(at, text.substr(random() % text.size(), random() % 40));
                    break;
            }
        }
        for (auto* property : {config::imported_bash_is_valid, config::imported_srt_is_valid}) {
            const char* broken = property(text);
            ASSERT_EQ(broken, nullptr) << broken << "\n" << text;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, ImportFiles, testing::ValuesIn(originals()), [](const auto& example) {
    std::string name = example.param.filename().string();
    std::ranges::replace_if(
        name, [](char letter) { return !std::isalnum(letter); }, '_');
    return name;
});

}  // namespace
