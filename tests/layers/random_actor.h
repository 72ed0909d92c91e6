// SPDX-License-Identifier: MIT
// Random operations on a tree, as programs in a jail do them.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace testing_support {

namespace fs = std::filesystem;

class Actor {
  public:
    Actor(std::string root, unsigned seed) : root_(std::move(root)), random_(seed) {}

    void act(int count) {
        for (int i = 0; i < count; ++i) {
            try {
                act_once();
            } catch (const fs::filesystem_error&) {
                // Many random operations are impossible, outside as inside.
            }
        }
    }

  private:
    size_t any(size_t count) { return random_() % count; }

    std::vector<fs::path> entries() const {
        std::vector<fs::path> all{root_};
        for (const auto& entry : fs::recursive_directory_iterator(root_)) all.push_back(entry.path());
        std::ranges::sort(all);
        return all;
    }

    void act_once() {
        static const std::vector<std::string> kNames{"a",        "b",  "c",  "d e", "f\ng",
                                                     "\xc3\xbc", ".h", "-x", "\xff"};
        std::vector<fs::path> all = entries(), directories;
        for (const fs::path& path : all) {
            if (fs::is_directory(fs::symlink_status(path))) directories.push_back(path);
        }
        const fs::path target = directories[any(directories.size())] / kNames[any(kNames.size())];
        const fs::path one = all.size() == 1 ? target : all[1 + any(all.size() - 1)];
        const bool is_file = fs::is_regular_file(fs::symlink_status(one));
        const fs::perms modes[] = {fs::perms(0600), fs::perms(0644), fs::perms(0755)};
        switch (any(12)) {
            case 0:
            case 1:
                fs::create_directory(target);
                break;
            case 2:
            case 3:
            case 4:
                if (!fs::is_symlink(fs::symlink_status(target)))
                    std::ofstream(target, std::ios::app)
                        << std::string(any(300), static_cast<char>('a' + any(26)));
                break;
            case 5:
                fs::create_symlink(any(2) == 0 ? "a" : "../missing", target);
                break;
            case 6:
            case 7:
                fs::remove_all(one);
                break;
            case 8:
                fs::rename(one, target);
                break;
            case 9:
                if (is_file) fs::permissions(one, modes[any(3)]);
                break;
            case 10:
                if (is_file) fs::create_hard_link(one, target);
                break;
            default:
                if (fs::is_directory(fs::symlink_status(one)))
                    fs::permissions(one, any(2) == 0 ? fs::perms(0700) : fs::perms(0755));
        }
    }

    std::string root_;
    std::mt19937 random_;
};

}  // namespace testing_support
