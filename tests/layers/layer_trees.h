// SPDX-License-Identifier: MIT
// Trees for the tests of layers: a project, an upper directory as the kernel writes it, and a directory for
// an apply. On memory where that supports attributes, because an apply syncs its file system.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/no_links.h"
#include "base/path.h"
#include "layers/apply.h"
#include "layers/changes.h"

namespace testing_support {

namespace fs = std::filesystem;

class LayerTrees {
  public:
    LayerTrees() {
        std::string pattern = place() + "/agent-sandbox-layers.XXXXXX";
        if (!::mkdtemp(pattern.data())) std::abort();
        root_ = pattern;
        for (const char* name : {"project", "upper", "work", "applied"})
            fs::create_directory(root_ + "/" + name);
    }
    ~LayerTrees() { base::remove_tree(root_); }
    LayerTrees(const LayerTrees&) = delete;
    LayerTrees& operator=(const LayerTrees&) = delete;

    const std::string& root() const { return root_; }
    std::string project(const std::string& name = "") const { return root_ + "/project" + below(name); }
    std::string upper(const std::string& name = "") const { return root_ + "/upper" + below(name); }
    std::string applied() const { return root_ + "/applied/1"; }

    void write(const std::string& path, const std::string& content, unsigned mode = 0644) const {
        fs::create_directories(fs::path(path).parent_path());
        std::ofstream(path, std::ios::binary) << content;
        fs::permissions(path, fs::perms(mode));
    }
    void whiteout(const std::string& name) const {
        fs::create_directories(fs::path(upper(name)).parent_path());
        if (::mknod(upper(name).c_str(), S_IFCHR, makedev(0, 0)) != 0) std::abort();
    }
    void opaque(const std::string& name) const {
        fs::create_directories(upper(name));
        if (::setxattr(upper(name).c_str(), "user.overlay.opaque", "y", 1, 0) != 0) std::abort();
    }

    // An ACL that lets user 12345 read: owner, that user, group, mask, others. False: the file system has
    // none.
    static bool set_acl(const std::string& path, const char* name = "system.posix_acl_access") {
        struct Part {
            uint16_t tag, permissions;
            uint32_t id;
        };
        struct {
            uint32_t version = 2;
            Part parts[5] = {{1, 6, ~0u}, {2, 4, 12345}, {4, 4, ~0u}, {16, 4, ~0u}, {32, 0, ~0u}};
        } acl;
        static_assert(sizeof acl == 44);
        return ::setxattr(path.c_str(), name, &acl, sizeof acl, 0) == 0;
    }
    static bool has_acl(const std::string& path, const char* name = "system.posix_acl_access") {
        return ::getxattr(path.c_str(), name, nullptr, 0) == 44;
    }

    // A project and a layer with one change of each kind.
    void fill() const {
        for (int i = 1; i <= 3; ++i) {
            const std::string number = std::to_string(i);
            write(project("src/f" + number), "text " + number);
            write(project("src/deep/g" + number), "deep " + number);
            write(project("gone/x/h" + number), number);
            write(project("replaced/r" + number), number);
        }
        write(project("to_file/inner"), "inner");
        write(project("to_directory"), "file");
        write(project("na me\nline"), "x");
        write(project("shut/file"), "shut");
        write(project("shut_gone/file"), "shut");
        fs::create_symlink("src/f1", project("link"));
        fs::permissions(project("shut"), fs::perms(0555));
        fs::permissions(project("shut_gone"), fs::perms(0555));

        write(upper("src/f1"), "text 1 and more");
        write(upper("src/f2"), "text 2", 0755);
        whiteout("src/f3");
        write(upper("src/f4"), "new");
        whiteout("gone");
        whiteout("shut_gone");
        write(upper("to_file"), "now a file");
        write(upper("to_directory/in"), "in");
        fs::create_symlink("/etc/passwd", upper("link"));
        opaque("replaced");
        write(upper("replaced/only"), "new");
        write(upper("replaced/r1"), "1");
        write(upper("new/a/b/q"), "q", 0600);
        fs::create_hard_link(upper("new/a/b/q"), upper("new/a/b/q2"));
        fs::permissions(upper("new/a"), fs::perms(0555));
        write(upper("na me\nline"), "xy");
        write(upper("shut/file"), "opened");
        write(upper("shut/more"), "more");
        fs::permissions(upper("shut"), fs::perms(0555));
        fs::create_directories(upper("src/deep"));
        fs::permissions(upper("src/deep"), fs::perms(0711));
    }

    base::Result<std::vector<layers::Change>> changes(int64_t start = INT64_MAX) const {
        base::Fd layer = open(upper()), below = open(project());
        return layers::find_changes({.layer = layer.get(), .project = below.get(), .start = start});
    }

    // Everything that can be applied, with its slots where the program would choose them.
    base::Result<layers::Journal> apply(bool in_project = false) const {
        base::Fd layer = open(upper()), below = open(project());
        const int64_t scanned = now();
        base::Result<std::vector<layers::Change>> all =
            layers::find_changes({.layer = layer.get(), .project = below.get(), .start = INT64_MAX});
        if (!all) return all.error();
        std::erase_if(*all, [](const layers::Change& change) { return !change.obstacle.empty(); });
        fs::create_directory(applied());
        const base::Path path = base::Path::known(project());
        return layers::apply({.layer = layer.get(),
                              .project = below.get(),
                              .project_path = path,
                              .directory = applied(),
                              .slots = in_project ? project(std::string(layers::kStage) + "/id.1")
                                                  : layers::choose_slots(path, applied(), "id.1"),
                              .scanned = scanned},
                             *all);
    }

    static int64_t now() {
        struct timespec time;
        ::clock_gettime(CLOCK_REALTIME, &time);
        return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    }

    static base::Fd open(const std::string& path) {
        return base::Fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    }

  private:
    static std::string below(const std::string& name) { return name.empty() ? "" : "/" + name; }

    static std::string place() {
        std::string pattern = "/dev/shm/agent-sandbox-try.XXXXXX";
        if (!::mkdtemp(pattern.data())) return fs::temp_directory_path().string();
        bool has_attributes = ::setxattr(pattern.c_str(), "user.try", "y", 1, 0) == 0;
        ::rmdir(pattern.c_str());
        return has_attributes ? "/dev/shm" : fs::temp_directory_path().string();
    }

    std::string root_;
};

// A tree as text: each entry with its kind, its mode and its content.
inline std::string picture(const std::string& root) {
    std::vector<std::string> lines;
    std::vector<std::string> waiting{""};
    while (!waiting.empty()) {
        const std::string directory = waiting.back();
        waiting.pop_back();
        for (const fs::directory_entry& entry : fs::directory_iterator(root + directory)) {
            const std::string name = directory + "/" + entry.path().filename().string();
            if (name == std::string("/") + layers::kStage) continue;
            struct stat status;
            ::lstat(entry.path().c_str(), &status);
            std::ostringstream line;
            line << name << '\0' << std::oct << (status.st_mode & 01777) << '\0';
            if (S_ISLNK(status.st_mode)) {
                line.str(name + " -> " + fs::read_symlink(entry.path()).string());
            } else if (S_ISDIR(status.st_mode)) {
                line << "directory";
                waiting.push_back(name);
            } else {
                line << base::read_file(entry.path()).value();
            }
            lines.push_back(line.str());
        }
    }
    std::ranges::sort(lines);
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
}

}  // namespace testing_support
