// SPDX-License-Identifier: MIT
// Theory of operation. The steps keep the order of the plan's mounts exactly: a later mount covers an earlier
// one. Directories below the new root that are not the host's are made here, each once. Places in files of
// the host exist already. A missing one is made only in a directory that the jail may write (the plan wants
// that in the sandbox's own directories; elsewhere it has placeholders).
#include "backends/native/render.h"

#include <linux/mount.h>

#include <algorithm>
#include <set>
#include <utility>

#include "backends/backend.h"
#include "backends/covers.h"
#include "base/inside/jail_files.h"
#include "inner/stage.h"

namespace backends::native {
namespace {

using plan::Mount;
using plan::MountKind;

constexpr uint64_t kDevice = MOUNT_ATTR_NOSUID;
constexpr uint64_t kWritable = kDevice | MOUNT_ATTR_NODEV;
constexpr uint64_t kReadonly = kWritable | MOUNT_ATTR_RDONLY;

constexpr mode_t kOpen = 0755;
constexpr mode_t kOwners = 0700;   // of directories that only lead to a mount
constexpr mode_t kContent = 0600;  // of files that cover others
constexpr mode_t kPlain = 0666;    // of files in places of our own
constexpr mode_t kProgram = 0555;
constexpr mode_t kPlace = 0444;  // of a file that is only a mount point

// Parts of /proc that the host's root could write; a jail must not.
constexpr const char* kKernelsOwn[] = {"sys", "sysrq-trigger", "irq", "bus"};

// Writable by everyone, wherever they are: programs check the mode.
bool is_everyones(std::string_view target) {
    return target == "/tmp" || target == "/var/tmp" || target == "/dev/shm";
}

class Renderer {
  public:
    Renderer(const plan::Plan& plan, const Circumstances& circumstances)
        : plan_(plan), circumstances_(circumstances), layers_(layers_of(plan.mounts)) {
        script_.steps.reserve(plan.mounts.size() * 2);
        made_by_.assign(plan.mounts.size(), -1);
        auto own = std::ranges::find(plan.mounts, base::kOwnProgramPath,
                                     [](const Mount& mount) { return std::string_view(mount.target.str()); });
        if (own != plan.mounts.end()) own_program_ = own->source;
    }

    Script render() {
        for (size_t i = 0; i < plan_.mounts.size(); ++i) {
            at_ = i;
            add(plan_.mounts[i], layers_[i]);
        }
        script_.descriptors.assign(script_.steps.size(), -1);
        return std::move(script_);
    }

  private:
    void add(const Mount& mount, const Layer& layer) {
        switch (mount.kind) {
            case MountKind::bind_readonly:
                return add_bind(mount, layer, mount.source.c_str(), kReadonly);
            case MountKind::bind_writable:
                return add_bind(mount, layer, mount.source.c_str(), kWritable);
            case MountKind::overlay:
                return add_overlay(mount, layer);
            case MountKind::bind_device:
                return add_bind(mount, layer, mount.source.c_str(), kDevice);
            case MountKind::helper_socket:
                if (auto socket = circumstances_.sockets.find(mount.source);
                    socket != circumstances_.sockets.end())
                    add_bind(mount, layer, socket->second.c_str(), kReadonly);
                return;
            case MountKind::tmpfs:
                return add_new(mount, layer, "tmpfs", MS_NOSUID | MS_NODEV,
                               is_everyones(mount.target.str()) ? "mode=01777" : "mode=0755", kOpen);
            case MountKind::queues:
                // Only the owner of the ipc namespace can mount its queues; mq_open needs no mount.
                if (!circumstances_.shares_ipc) add_new(mount, layer, "mqueue", 0, "", kOwners);
                return;
            case MountKind::proc:
                return add_proc(mount, layer);
            case MountKind::dev:
                return add_dev(mount, layer);
            case MountKind::directory:
                make_parents(mount, layer, kOpen);
                return make_directory(relative(mount), layer, kOpen);
            case MountKind::symlink:
                make_parents(mount, layer, kOwners);
                push({.act = Act::make_link, .source = mount.source.c_str(), .target = relative(mount)});
                return;
            case MountKind::file:
                if (shows_host(layer)) return add_content(mount, layer, kReadonly);
                make_parents(mount, layer, kOpen);
                push({.act = Act::make_file,
                      .source = mount.source.c_str(),
                      .length = mount.source.size(),
                      .target = relative(mount),
                      .mode = mount.is_executable ? kProgram : kPlain});
                return;
            case MountKind::private_file:
                return add_content(mount, layer, kWritable);
            case MountKind::empty_file:
                return add_content(mount, layer, kReadonly);
            case MountKind::held_link:
                return push({.act = Act::mount_link, .target = relative(mount), .attributes = kWritable});
            case MountKind::seal:
                return add_seal(mount);
        }
    }

    // ---- Mounts

    void add_bind(const Mount& mount, const Layer& layer, const char* source, uint64_t attributes) {
        make_parents(mount, layer, kOwners);
        bool is_host = shows_host(layer);
        bool is_pinned = mount.is_pinned || layer.is_in_writable;
        bool is_project = mount.target == plan_.project;
        bool is_layered = is_below_overlay(mount) && mount.source == mount.target.str();
        Step step{
            .act = Act::mount_bind,
            .source = source,
            .target = relative(mount),
            .attributes = attributes,
            .mode = kOpen,
            .inode = is_project ? plan_.project_inode : 0,
            .is_pinned = is_pinned,
            .is_in_place = is_layered || (is_host && is_pinned && lies_in_place(mount, layer, attributes)),
            .shows_host = is_host,
            .makes_place = makes_place(mount, layer),
            .is_in_layer = is_layered,
            .is_optional = is_layered && !is_layer_place(mount)};
        // Our own program covers dozens of others: a copy of the first mount needs no path lookup.
        bool is_own = attributes == kReadonly && !is_pinned && own_program_ == source;
        if (is_own && first_own_ >= 0 && is_host) {
            make_copy(step, first_own_);
        } else if (is_own && first_own_ < 0) {
            first_own_ = static_cast<int>(script_.steps.size());
        }
        push_mount(step);
    }

    // Whether the surrounding mount shows the host's files at their own paths, with the source below it. A
    // copy of what is there has the rights of the surrounding mount. That is right unless the surrounding
    // mount is stricter, or already contains a mount of the plan.
    bool lies_in_place(const Mount& mount, const Layer& layer, uint64_t attributes) const {
        const Mount& ground = plan_.mounts[*layer.ground_index];
        bool is_same = mount.target.str() == mount.source && ground.target.str() == ground.source;
        bool is_stricter = ground.kind != MountKind::bind_writable && attributes != kReadonly;
        auto next = mounted_.lower_bound(mount.target.str() + "/");
        bool is_empty = next == mounted_.end() || !next->starts_with(mount.target.str() + "/");
        return is_same && !is_stricter && attributes != kDevice && is_empty;
    }

    // The lower directory is the project itself, whatever else shows it.
    void add_overlay(const Mount& mount, const Layer& layer) {
        make_parents(mount, layer, kOwners);
        push_mount({.act = Act::mount_overlay,
                    .source = mount.source.c_str(),
                    .target = relative(mount),
                    .options = text((plan_.layer / "roots/0").str()),
                    .attributes = kWritable,
                    .mode = kOpen,
                    .inode = plan_.project_inode,
                    .is_pinned = true,
                    .shows_host = shows_host(layer)});
    }

    bool is_below_overlay(const Mount& mount) const {
        return plan_.is_layered && mount.target.is_strictly_within(plan_.project);
    }
    // The plan makes this name in the layer.
    bool is_layer_place(const Mount& mount) const {
        return std::ranges::find(plan_.layer_places, mount.target) != plan_.layer_places.end();
    }
    bool makes_place(const Mount& mount, const Layer& layer) const {
        return is_below_overlay(mount) ? is_layer_place(mount) : layer.ground == MountKind::bind_writable;
    }

    void add_new(const Mount& mount, const Layer& layer, const char* type, unsigned long flags,
                 const char* options, mode_t parents) {
        make_parents(mount, layer, parents);
        if (!shows_host(layer)) make_directory(relative(mount), layer, kOpen);
        push_mount({.act = Act::mount_new,
                    .source = type,
                    .target = relative(mount),
                    .options = options,
                    .flags = flags,
                    .mode = parents,
                    .shows_host = shows_host(layer),
                    .makes_place = makes_place(mount, layer),
                    .is_in_layer = is_below_overlay(mount),
                    .is_optional = is_below_overlay(mount) && !is_layer_place(mount)});
    }

    void add_content(const Mount& mount, const Layer& layer, uint64_t attributes) {
        make_parents(mount, layer, kOwners);
        bool is_empty = mount.kind == MountKind::empty_file;
        Step step{.act = Act::mount_content,
                  .source = is_empty ? "" : mount.source.c_str(),
                  .length = is_empty ? 0 : mount.source.size(),
                  .target = relative(mount),
                  .attributes = attributes,
                  .mode = mount.is_executable ? kProgram : kContent,
                  .shows_host = shows_host(layer) || layer.ground == MountKind::proc,
                  .makes_place = makes_place(mount, layer),
                  .is_in_layer = is_below_overlay(mount),
                  .is_optional = is_below_overlay(mount) && !is_layer_place(mount)};
        // The stage watches the covers of the project, so each has an inode of its own.
        bool is_watched = is_empty && mount.target.is_strictly_within(plan_.project) &&
                          watched_masks_++ < kMostWatchedMasks;
        // A layer may have removed its target, so it is not a source of copies.
        if (is_watched || step.is_optional) return push_mount(step);
        if (is_empty && first_empty_ >= 0) {
            make_copy(step, first_empty_);
        } else if (is_empty) {
            first_empty_ = static_cast<int>(script_.steps.size());
        }
        push_mount(step);
    }

    void make_copy(Step& step, int of) {
        step.act = Act::mount_copy;
        step.of = of;
        script_.steps[static_cast<size_t>(of)].is_kept = true;
    }

    void add_proc(const Mount& mount, const Layer& layer) {
        add_new(mount, layer, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "", kOwners);
        for (const char* name : kKernelsOwn) {
            const char* target = below(mount, name);
            push({.act = Act::mount_bind,
                  .source = target,
                  .target = target,
                  .attributes = kReadonly,
                  .is_pinned = true,
                  .is_in_place = true,
                  .shows_host = true,
                  .is_optional = true,
                  .is_for_owner = true});
        }
    }

    void add_dev(const Mount& mount, const Layer& layer) {
        add_new(mount, layer, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755", kOwners);
        for (std::string_view name : base::kDeviceNodes)
            add_device(text("/dev/" + std::string(name)), below(mount, name));
        for (const base::DeviceLink& link : base::kDeviceLinks)
            push({.act = Act::make_link, .source = link.target.data(), .target = below(mount, link.name)});
        for (std::string_view name : {base::kSharedMemory, base::kTerminals})
            push({.act = Act::make_directory,
                  .target = below(mount, name),
                  .mode = name == base::kSharedMemory ? mode_t{01777} : kOpen});
        push({.act = Act::mount_new,
              .source = "devpts",
              .target = below(mount, base::kTerminals),
              .options = "newinstance,ptmxmode=0666,mode=620",
              .flags = MS_NOSUID | MS_NOEXEC});
        made_directories_.insert({at_, below(mount, base::kSharedMemory)});
        if (!circumstances_.console.empty())
            add_device(circumstances_.console.c_str(), below(mount, base::kConsole));
    }

    void add_device(const char* source, const char* target) {
        push({.act = Act::mount_bind,
              .source = source,
              .target = target,
              .attributes = kDevice,
              .mode = kPlace});
    }

    void add_seal(const Mount& mount) {
        int of = -1;
        for (size_t i = 0; i < at_; ++i) {
            if (plan_.mounts[i].target == mount.target && made_by_[i] >= 0) of = made_by_[i];
        }
        if (of >= 0) script_.steps[static_cast<size_t>(of)].is_kept = true;
        push({.act = Act::seal, .target = relative(mount), .of = of});
    }

    // ---- Places

    // From the surrounding mount down to the target; nothing if that mount shows the host or is /proc.
    void make_parents(const Mount& mount, const Layer& layer, mode_t mode) {
        if (shows_host(layer) || layer.ground == MountKind::proc) return;
        size_t ground = layer.ground_index ? plan_.mounts[*layer.ground_index].target.str().size() : 1;
        const std::string& path = mount.target.str();
        for (size_t slash = path.find('/', std::max<size_t>(ground, 1) + (ground > 1 ? 1 : 0));
             slash != std::string::npos; slash = path.find('/', slash + 1)) {
            make_directory(text(path.substr(1, slash - 1)), layer, mode);
        }
    }

    void make_directory(const char* target, const Layer& layer, mode_t mode) {
        if (!made_directories_.insert({layer.ground_index.value_or(kRoot), target}).second) return;
        push({.act = Act::make_directory, .target = target, .mode = mode});
    }

    static const char* relative(const Mount& mount) {
        return mount.target.is_root() ? "." : mount.target.c_str() + 1;
    }

    const char* below(const Mount& mount, std::string_view name) {
        return text((mount.target / name).str().substr(1));
    }

    const char* text(std::string text) { return script_.texts.emplace_back(std::move(text)).c_str(); }

    void push(const Step& step) { script_.steps.push_back(step); }

    void push_mount(const Step& step) {
        mounted_.insert(plan_.mounts[at_].target.str());
        made_by_[at_] = static_cast<int>(script_.steps.size());
        push(step);
    }

    static constexpr size_t kRoot = static_cast<size_t>(-1);

    const plan::Plan& plan_;
    const Circumstances& circumstances_;
    std::vector<Layer> layers_;
    Script script_;
    size_t at_ = 0;                                              // the mount that is being rendered
    std::set<std::string> mounted_;                              // targets so far
    std::vector<int> made_by_;                                   // mount → the step that makes it
    std::set<std::pair<size_t, std::string>> made_directories_;  // in which mount, and where
    std::string_view own_program_;
    int first_own_ = -1;
    int first_empty_ = -1;
    size_t watched_masks_ = 0;
};

}  // namespace

Script render(const plan::Plan& plan, const Circumstances& circumstances) {
    return Renderer(plan, circumstances).render();
}

}  // namespace backends::native
