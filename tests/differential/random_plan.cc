// SPDX-License-Identifier: MIT
// Theory of operation. While mounts are drawn, a model of the view records which names exist and whether they
// belong to the host. A target that the model offers exists already, or can be created in a directory of the
// jail or in a writable one of the host. In read-only files of the host a target is never missing, as in
// every plan from make_plan. Sometimes a mount is drawn that is impossible, and then no backend may build the
// jail.
#include "differential/random_plan.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <random>
#include <ranges>
#include <string_view>
#include <vector>

#include "base/inside/jail_files.h"
#include "inner/stage.h"

namespace differential {

const ScratchEntry kScratch[20] = {
    {"project", 'd', 0755, ""},
    {"project/file", 'f', 0644, "a file\n"},
    {"project/sub", 'd', 0755, ""},
    {"project/sub/deep", 'd', 0700, ""},
    {"project/sub/deep/secret", 'f', 0600, "secret\n"},
    {"project/sub/program", 'f', 0755, "#!/bin/sh\n"},
    {"project/two words", 'd', 0755, ""},
    {"project/two words/a\nline", 'f', 0640, "line\n"},
    {"project/back\\slash", 'd', 0711, ""},
    {"project/empty", 'd', 0755, ""},
    {"data", 'd', 0755, ""},
    {"data/one", 'd', 0755, ""},
    {"data/one/file", 'f', 0444, "one\n"},
    {"data/one/two", 'd', 0755, ""},
    {"data/one/two/three", 'd', 0755, ""},
    {"data/one/two/three/file", 'f', 0644, "three\n"},
    {"data/gr\xc3\xbc\xc3\x9f", 'f', 0644, "umlaut\n"},
    {"data/nothing", 'f', 0644, ""},
    {"data/link", 'l', 0, "one/two"},
    {"data/dangling", 'l', 0, "nowhere"},
};

namespace {

using base::Path;
using plan::Mount;
using plan::MountKind;

struct Node {
    // As in ScratchEntry; c: a file with content from the plan. It has no name, so it can't be a mount point.
    char kind = 'd';
    bool is_host = false;
    bool is_writable = false;  // a host directory: every backend creates missing targets in it
};

class Draw {
  public:
    Draw(uint64_t seed, std::string scratch, plan::Plan& plan)
        : random_(seed), scratch_(std::move(scratch)), plan_(plan) {
        view_["/"] = {};
        view_["/t"] = {};
        add(MountKind::directory, "/t");
        if (chance(70)) show_in_place(chance(50) ? MountKind::bind_writable : MountKind::bind_readonly, "");
    }

    void draw(int count) {
        for (int i = 0; i < count; ++i) draw_one();
        draw_seals();
    }

  private:
    size_t below(size_t bound) { return std::uniform_int_distribution<size_t>(0, bound - 1)(random_); }
    bool chance(size_t percent) { return below(100) < percent; }

    void add(MountKind kind, const std::string& target, std::string source = {}, bool is_pinned = false) {
        plan_.mounts.push_back(Mount{.kind = kind,
                                     .target = Path::known(target),
                                     .source = std::move(source),
                                     .is_pinned = is_pinned,
                                     .is_executable = kind == MountKind::file && chance(50)});
    }

    // ---- The model

    void forget_below(const std::string& path) {
        std::erase_if(view_, [&](const auto& entry) { return entry.first.starts_with(path + "/"); });
        std::erase_if(sealable_, [&](const std::string& target) { return target.starts_with(path + "/"); });
    }

    // Directories created on the way belong to the same side as the nearest existing one.
    void make(const std::string& path, Node node) {
        Path nearest = Path::known(path).parent();
        while (!view_.contains(nearest.str())) nearest = nearest.parent();
        Node way = view_[nearest.str()];
        for (Path above = Path::known(path).parent(); above != nearest; above = above.parent())
            view_[above.str()] = {.kind = 'd', .is_host = way.is_host, .is_writable = way.is_writable};
        view_[path] = node;
    }

    // What a bind of this entry ("": the whole tree) shows at the target.
    void show(const std::string& entry, const std::string& target, MountKind kind) {
        bool is_writable = kind == MountKind::bind_writable;
        forget_below(target);
        make(target, {.kind = 'd', .is_host = true, .is_writable = is_writable});
        for (const ScratchEntry& one : kScratch) {
            std::string_view name = one.name;
            std::string prefix = entry.empty() ? "" : entry + "/";
            if (name == entry) make(target, {.kind = one.kind, .is_host = true, .is_writable = is_writable});
            if (!name.starts_with(prefix)) continue;
            make(target + "/" + std::string(name.substr(prefix.size())),
                 {.kind = one.kind, .is_host = true, .is_writable = is_writable});
        }
    }

    std::string place_of(const std::string& entry) const {
        return entry.empty() ? scratch_ : scratch_ + "/" + entry;
    }

    void show_in_place(MountKind kind, const std::string& entry) {
        add(kind, place_of(entry), place_of(entry), chance(60));
        show(entry, place_of(entry), kind);
    }

    // An existing name of this kind; or a name that does not exist yet, usually in a directory of the jail.
    std::string target_of(char kind, bool is_own = false) {
        std::vector<std::string> there, own;
        for (const auto& [path, node] : view_) {
            bool is_ours = path.starts_with("/t/") || path.starts_with(scratch_);
            if (is_ours && node.kind == kind) there.push_back(path);
        }
        for (const auto& [path, node] : view_) {
            if (node.kind == 'd' && !node.is_host && (path == "/t" || path.starts_with("/t/")))
                own.push_back(path);
        }
        for (const auto& [path, node] : view_) {
            if (node.kind == 'd' && node.is_writable && !is_own && chance(10)) own.push_back(path);
        }
        if (!there.empty() && chance(60)) return there[below(there.size())];
        static constexpr const char* kNames[] = {"a", "b", "c d", "e/f", "g/h/i", "\xe2\x98\x83", "j\\k"};
        std::string parent = own[below(own.size())];
        for (int i = 0; i < 20; ++i) {
            std::string path = parent + "/" + kNames[below(std::size(kNames))];
            bool is_free = !view_.contains(path) && is_way(Path::known(path).parent(), parent);
            if (is_free) return path;
        }
        return parent + "/" + std::to_string(view_.size());
    }

    // Whether no component below `from`, a directory, is a file, a link, or the host's.
    bool is_way(const Path& path, const std::string& from = "/") const {
        for (Path above = path; above.str() != from; above = above.parent()) {
            auto node = view_.find(above.str());
            if (node != view_.end() && (node->second.kind != 'd' || node->second.is_host)) return false;
        }
        return true;
    }

    const ScratchEntry& entry_of(char kind) {
        for (;;) {
            const ScratchEntry& entry = kScratch[below(std::size(kScratch))];
            if (entry.kind == kind) return entry;
        }
    }

    // ---- Mounts

    // The kinds of mounts, with their weights in percent.
    struct Weight {
        size_t weight;
        void (Draw::*draw)();
    };

    void draw_one() {
        static constexpr Weight kWeights[] = {
            {1, &Draw::draw_impossible}, {30, &Draw::draw_bind},    {15, &Draw::draw_in_place},
            {15, &Draw::draw_tmpfs},     {15, &Draw::draw_private}, {10, &Draw::draw_empty},
            {14, &Draw::draw_own},
        };
        size_t drawn = below(100);
        for (const Weight& row : kWeights) {
            if (drawn < row.weight) return (this->*row.draw)();
            drawn -= row.weight;
        }
    }

    MountKind any_bind() {
        static constexpr MountKind kBinds[] = {MountKind::bind_readonly, MountKind::bind_writable,
                                               MountKind::bind_device};
        return kBinds[below(std::size(kBinds))];
    }

    void draw_bind() {
        char kind = chance(60) ? 'd' : 'f';
        const ScratchEntry& entry = entry_of(kind);
        std::string target = target_of(kind);
        MountKind bind = any_bind();
        add(bind, target, place_of(entry.name), chance(50));
        show(entry.name, target, bind);
    }

    void draw_in_place() {
        const ScratchEntry& entry = entry_of(chance(60) ? 'd' : 'f');
        auto there = view_.find(place_of(entry.name));
        if (there == view_.end() ? !is_way(Path::known(place_of(entry.name)))
                                 : there->second.kind != entry.kind)
            return;
        show_in_place(any_bind(), entry.name);
    }

    void draw_tmpfs() {
        std::string target = target_of('d');
        add(MountKind::tmpfs, target);
        forget_below(target);
        make(target, {});
        sealable_.push_back(target);
    }

    void draw_private() { draw_content(MountKind::private_file); }
    void draw_empty() { draw_content(MountKind::empty_file); }

    void draw_content(MountKind kind) {
        std::string target = target_of('f');
        add(kind, target, kind == MountKind::private_file ? "private content of " + target : "");
        make(target, {.kind = 'c'});
    }

    // An entry in a directory of the jail, or a file mounted over a file of the host.
    void draw_own() {
        size_t choice = below(3);
        std::string target = target_of(choice == 0 ? 'd' : 'f', true);
        bool is_there = view_.contains(target);
        if (choice == 2 && is_there && view_[target].is_host) {
            add(MountKind::file, target, "laid over\n");
            return make(target, {.kind = 'c'});
        }
        if (is_there) return;
        if (choice == 0) add(MountKind::directory, target);
        if (choice == 1) add(MountKind::symlink, target, chance(50) ? "/t" : "no such\nplace");
        if (choice == 2) add(MountKind::file, target, std::string(below(3) * 5000, 'x'));
        make(target, {.kind = "dlf"[choice]});
    }

    // A bind with a missing source, or of a file to a directory or the reverse. The last two are possible if
    // the target does not exist yet.
    void draw_impossible() {
        size_t choice = below(3);
        std::string target = target_of(choice == 1 ? 'f' : 'd');
        std::string source = choice == 0 ? scratch_ + "/data/no such source"
                                         : place_of(entry_of(choice == 1 ? 'd' : 'f').name);
        add(MountKind::bind_readonly, target, source);
        forget_below(target);
        make(target, {.kind = 'c'});
    }

    // The deepest first, as in make_plan. A target that was covered in the meantime is now another mount, so
    // skip it.
    void draw_seals() {
        std::ranges::sort(sealable_);
        sealable_.erase(std::ranges::unique(sealable_).begin(), sealable_.end());
        std::ranges::stable_sort(sealable_, [](const std::string& a, const std::string& b) {
            return Path::known(a).depth() > Path::known(b).depth();
        });
        for (const std::string& target : sealable_) {
            auto node = view_.find(target);
            bool is_seen = node != view_.end() && node->second.kind == 'd' && !node->second.is_host;
            if (is_seen && is_way(Path::known(target)) && chance(60)) add(MountKind::seal, target);
        }
        add(MountKind::seal, "/");
    }

    std::mt19937_64 random_;
    std::string scratch_;
    plan::Plan& plan_;
    std::map<std::string, Node> view_;
    std::vector<std::string> sealable_;
};

std::string own_program() {
    char buffer[4096];
    ssize_t length = ::readlink("/proc/self/exe", buffer, sizeof buffer);
    return std::string(buffer, static_cast<size_t>(std::max<ssize_t>(length, 0)));
}

// Changes the plan as a bug in a backend would.
void alter(plan::Plan& plan) {
    for (Mount& mount : std::views::reverse(plan.mounts)) {
        switch (mount.kind) {
            case MountKind::private_file:
                mount.source += ".";
                return;
            case MountKind::bind_readonly:
                mount.kind = MountKind::bind_writable;
                return;
            case MountKind::bind_writable:
            case MountKind::bind_device:
                mount.kind = MountKind::bind_readonly;
                return;
            default:
                break;
        }
    }
}

}  // namespace

plan::Plan random_plan(uint64_t seed, const std::string& scratch, const std::string& walker,
                       bool is_altered) {
    plan::Plan plan;
    plan.project = Path::known(scratch + "/project");
    plan.working_directory = Path();
    plan.network.reached = plan.network.egress.rules.mode = policy::NetworkMode::isolated;
    auto add = [&](MountKind kind, std::string_view target, std::string source) {
        plan.mounts.push_back(
            Mount{.kind = kind, .target = Path::known(target), .source = std::move(source)});
    };
    add(MountKind::proc, "/proc", "");
    add(MountKind::dev, "/dev", "");
    add(MountKind::bind_readonly, base::kOwnProgramPath, own_program());
    add(MountKind::bind_readonly, "/run/agent-sandbox/walker", walker);
    Draw draw(seed, scratch, plan);
    draw.draw(4 + static_cast<int>(seed % 22));
    if (is_altered) alter(plan);
    plan.second_wall.is_wanted = seed % 2 == 0;
    plan.second_wall.writable = {Path::known("/t")};
    plan.second_wall.used = {Path::known("/dev"), Path::known("/proc")};
    plan.environment.passed = {{.name = "SEED", .value = std::to_string(seed)}};
    plan.command = {"/run/agent-sandbox/walker"};
    return plan;
}

}  // namespace differential
