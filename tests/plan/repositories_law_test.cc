// SPDX-License-Identifier: MIT
// For every layout of repositories that a project can contain, planning succeeds, and each mount of the plan
// is possible: no target is used twice, and each target exists or a placeholder creates it.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "base/rounds.h"
#include "plan/case.h"

namespace {

using base::Path;
using test::Case;

constexpr std::string_view kProject = "/home/ann/app";

// The first node at each path, sorted by path. A node below a file or a link is left out.
class Listing {
  public:
    void directory(const std::string& path) { add(path, "d " + path); }
    void file(const std::string& path, const std::string& content = "") {
        add(path, "f " + path + " 0644 " + content);
    }
    void link(const std::string& path, const std::string& target) { add(path, "l " + path + " " + target); }

    std::string text() const {
        std::string all;
        for (const auto& [path, line] : lines_) all += line + "\n";
        return all;
    }
    char kind_of(const std::string& path) const {
        auto found = lines_.find(path);
        return found == lines_.end() ? '-' : found->second.front();
    }

  private:
    void add(const std::string& path, const std::string& line) {
        if (lines_.contains(path)) return;
        std::string above = path.substr(0, path.rfind('/'));
        if (above.size() > kProject.size()) directory(above);
        bool is_in_directory = above.size() <= kProject.size() || kind_of(above) == 'd';
        if (is_in_directory) lines_[path] = line;
    }
    std::map<std::string, std::string> lines_;
};

class Repositories {
  public:
    explicit Repositories(unsigned seed) : random_(seed) {}

    Listing grow() {
        const std::string top(kProject);
        if (pick(5) != 0) repository(top + "/.git");
        for (size_t i = 0, n = pick(7); i < n; ++i) piece(top, top + "/" + pick_name());
        return std::move(listing_);
    }

  private:
    size_t pick(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
    std::string pick_name() {
        constexpr const char* kNames[] = {"lib", "sub", "tree", "bare.git", "deep/er", "x.code-workspace"};
        return kNames[pick(std::size(kNames))];
    }
    std::string pick_target() {
        const std::string targets[] = {
            ".",     "..",        "nowhere",    "/etc",          "lib",
            "hooks", "../../sub", "../../.git", "/home/ann/app", std::string(300, 'a')};
        return targets[pick(std::size(targets))];
    }

    void repository(const std::string& git) {
        for (const char* name : {"/HEAD", "/objects/x", "/refs/x"}) {
            if (pick(12) != 0) listing_.file(git + name);
        }
        constexpr const char* kPlaces[] = {"/hooks", "/config",  "/commondir",
                                           "/info",  "/modules", "/worktrees"};
        for (const char* place : kPlaces) {
            if (pick(9) == 0) listing_.link(git + place, pick_target());
        }
        std::string config = "[core]\\n";
        if (pick(3) == 0) config += "worktree = ../../../lib\\n";
        if (pick(4) == 0) config += "hooksPath = " + pick_target() + "/h\\n";
        if (pick(4) == 0) config += "[include]\\npath = " + pick_target() + "\\n";
        if (pick(6) == 0) config += "[extensions]\\nworktreeConfig = true\\n";
        listing_.file(git + "/config", config);
        if (pick(8) == 0) listing_.file(git + "/commondir", pick_target() + "\\n");
        if (pick(4) == 0) listing_.file(git + "/objects/info/alternates", pick_target() + "\\n");
    }

    void piece(const std::string& top, const std::string& at) {
        const std::string name = at.substr(at.rfind('/') + 1);
        switch (pick(7)) {
            case 0:  // a submodule
                repository(top + "/.git/modules/" + name);
                listing_.file(at + "/.git", "gitdir: " + top + "/.git/modules/" + name + "\\n");
                return;
            case 1:  // a worktree
                listing_.file(top + "/.git/worktrees/" + name + "/commondir", "../..\\n");
                listing_.file(top + "/.git/worktrees/" + name + "/gitdir", at + "/.git\\n");
                listing_.file(at + "/.git", "gitdir: " + top + "/.git/worktrees/" + name + "\\n");
                return;
            case 2:
                return repository(at + "/.git");
            case 3:  // a bare one
                return repository(at);
            case 4:
                return listing_.link(at + "/.git", pick_target());
            case 5:
                return listing_.file(at + "/.git", "gitdir: " + pick_target() + "/.git\\n");
            case 6:
                return listing_.link(at, pick_target());
        }
    }

    std::mt19937 random_;
    Listing listing_;
};

// Whether the path exists at launch, after the placeholders are created.
bool will_be_there(const plan::Plan& plan, const Listing& listing, const std::string& path) {
    if (path == kProject || listing.kind_of(path) != '-') return true;
    return std::ranges::any_of(plan.placeholders, [&](const plan::Placeholder& placeholder) {
        return placeholder.path.is_within(Path::known(path));
    });
}

std::string broken_for(const plan::Plan& plan, const Listing& listing) {
    std::set<std::string> taken;
    const Path project = Path::known(kProject);
    for (const plan::Mount& mount : plan.mounts) {
        if (mount.kind == plan::MountKind::seal || !mount.target.is_within(project)) continue;
        const std::string& target = mount.target.str();
        if (!will_be_there(plan, listing, target)) return target + " is not there";
        bool is_link = listing.kind_of(target) == 'l';
        if (is_link != (mount.kind == plan::MountKind::held_link)) return target + " is a link, or is not";
        // The changed copy of a configuration is mounted over the read-only file itself.
        bool is_copy = mount.kind == plan::MountKind::file;
        if (!taken.insert(target + (is_copy ? " (copy)" : "")).second) return target + " is taken twice";
    }
    for (const plan::Placeholder& placeholder : plan.placeholders) {
        const std::string above = placeholder.path.parent().str();
        if (placeholder.path.name().size() > 255) return placeholder.path.str() + " is too long";
        if (!placeholder.path.is_strictly_within(project)) continue;
        if (above != kProject && listing.kind_of(above) != 'd' && listing.kind_of(above) != '-')
            return placeholder.path.str() + " lies in no directory";
    }
    return {};
}

TEST(Repositories, AlwaysHaveAPlanThatRenders) {
    size_t with_links = 0, with_copies = 0;
    for (unsigned seed = 0; seed < test::rounds(600); ++seed) {
        const Listing listing = Repositories(seed).grow();
        for (const char* backend : {"native", "bwrap"}) {
            Case example;
            example.tree = "d /usr/bin\nd /etc/x\nd /tmp\nd /var/tmp\nd /home/ann/app\n" + listing.text();
            std::string policy = "[isolation]\nbackend = \"" + std::string(backend) + "\"\n";
            // In a traced jail no process judges changes of git's configuration.
            if (seed % 2 == 1) policy += "[trace]\nfiles = true\n";
            example.toml.user = policy;
            auto plan = test::planned(example);
            ASSERT_TRUE(plan) << plan.error().line() << " with seed " << seed << "\n" << listing.text();
            ASSERT_EQ(broken_for(*plan, listing), "") << backend << " with seed " << seed << "\n"
                                                      << listing.text();
            for (const plan::Mount& mount : plan->mounts) {
                with_links += mount.kind == plan::MountKind::held_link;
                with_copies += mount.target.str().ends_with("/config") && mount.kind == plan::MountKind::file;
            }
        }
    }
    EXPECT_GT(with_links, test::rounds(200));
    EXPECT_GT(with_copies, test::rounds(10));
}

}  // namespace
