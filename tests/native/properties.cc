// SPDX-License-Identifier: MIT
#include "native/properties.h"

#include <linux/mount.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/covers.h"
#include "backends/native/mount_table.h"
#include "backends/native/render.h"
#include "base/file.h"
#include "base/text.h"

namespace backends::native {
namespace {

using plan::Mount;
using plan::MountKind;

// A letter for each kind, in the same order.
constexpr std::string_view kLetters = "rwxtdlfpeP DqhS";
constexpr MountKind kKinds[] = {
    MountKind::bind_readonly, MountKind::bind_writable, MountKind::bind_device, MountKind::tmpfs,
    MountKind::directory,     MountKind::symlink,       MountKind::file,        MountKind::private_file,
    MountKind::empty_file,    MountKind::proc,          MountKind::proc,        MountKind::dev,
    MountKind::queues,        MountKind::helper_socket, MountKind::seal,
};

// Plans create links and directories only in places of the jail's own. Neither is a mount, so removing them
// does not move the other mounts.
void leave_out_what_no_plan_has(plan::Plan& plan) {
    std::vector<Layer> layers = layers_of(plan.mounts);
    std::vector<Mount> kept;
    for (size_t i = 0; i < plan.mounts.size(); ++i) {
        MountKind kind = plan.mounts[i].kind;
        bool is_link = kind == MountKind::symlink || kind == MountKind::directory;
        bool is_nowhere = (is_link && shows_host(layers[i])) || layers[i].ground == MountKind::proc;
        if (!is_nowhere) kept.push_back(std::move(plan.mounts[i]));
    }
    plan.mounts = std::move(kept);
}

plan::Plan read_plan(std::string_view bytes) {
    plan::Plan plan;
    for (std::string_view line : base::split(bytes, '\n')) {
        size_t tab = line.find('\t');
        size_t letter = line.empty() ? std::string_view::npos : kLetters.find(line[0]);
        if (letter == std::string_view::npos || plan.mounts.size() > 200) continue;
        base::Result<base::Path> target =
            base::Path::parse(line.substr(1, tab == std::string_view::npos ? tab : tab - 1));
        if (!target) continue;
        // No plan mounts at the root. A plan mounts only helper sockets that exist, so the source is always
        // set.
        if (target->is_root() && kKinds[letter] != MountKind::seal) continue;
        std::string source(tab == std::string_view::npos ? "" : line.substr(tab + 1));
        if (kKinds[letter] == MountKind::helper_socket) source = "notify";
        plan.mounts.push_back(Mount{.kind = kKinds[letter],
                                    .target = *std::move(target),
                                    .source = std::move(source),
                                    .is_pinned = line.size() % 2 == 0});
    }
    leave_out_what_no_plan_has(plan);
    return plan;
}

bool is_mount(const Step& step) {
    return step.act == Act::mount_bind || step.act == Act::mount_copy || step.act == Act::mount_content ||
           step.act == Act::mount_new || step.act == Act::mount_overlay;
}

std::string absolute(const Step& step) {
    return std::strcmp(step.target, ".") == 0 ? "/" : "/" + std::string(step.target);
}

bool is_within(std::string_view path, std::string_view above) {
    return above == "/" || path == above ||
           (path.starts_with(above) && path.size() > above.size() && path[above.size()] == '/');
}

// The latest mount that contains the path or is at the path; null for the root.
const Step* ground_of(const Script& script, size_t index) {
    std::string path = absolute(script.steps[index]);
    for (size_t i = index; i-- > 0;) {
        const Step& step = script.steps[i];
        if (!is_mount(step)) continue;
        if (is_within(path, absolute(step))) return &step;
    }
    return nullptr;
}

const char* broken_name(const Step& step) {
    std::string_view target = step.target;
    if (target.empty() || target.front() == '/') return "a target is relative to the new root";
    for (std::string_view part : base::split(target, '/')) {
        if (part == ".." || (part == "." && target != ".")) return "a target does not climb";
    }
    return nullptr;
}

const char* broken_reference(const Script& script, size_t index) {
    const Step& step = script.steps[index];
    if (step.act == Act::mount_copy && step.of < 0) return "a copy is a copy of something";
    if (step.of < 0) return nullptr;
    auto of = static_cast<size_t>(step.of);
    if (of >= index) return "a step refers to an earlier one";
    if (!is_mount(script.steps[of])) return "a step refers to a mount";
    if (!script.steps[of].is_kept) return "a mount that is referred to is kept";
    if (step.act == Act::seal && absolute(script.steps[of]) != absolute(step))
        return "a seal is of its own target";
    return nullptr;
}

// Threat: a file that is created in a directory of the host is created on the host.
const char* broken_making(const plan::Plan& plan, const Script& script, size_t index) {
    const Step& step = script.steps[index];
    bool is_made =
        step.act == Act::make_directory || step.act == Act::make_link || step.act == Act::make_file;
    bool makes_place = is_mount(step) && step.act != Act::mount_new && !step.shows_host;
    if (!is_made && !makes_place) return nullptr;
    const Step* ground = ground_of(script, index);
    if (ground != nullptr && ground->act == Act::mount_copy && ground->of >= 0)
        ground = &script.steps[static_cast<size_t>(ground->of)];
    // The backend binds devices and parts of /proc too; they are not in the plan and contain no files of the
    // host.
    bool is_host = ground != nullptr && std::ranges::any_of(plan.mounts, [&](const Mount& mount) {
                       return ground->act == Act::mount_bind && mount.source.c_str() == ground->source;
                   });
    return is_host ? "nothing is made in files of the host" : nullptr;
}

const char* broken_rights(const plan::Plan& plan, const Step& step) {
    if (step.act != Act::mount_bind) return nullptr;
    if (!(step.attributes & MOUNT_ATTR_NOSUID)) return "no program of the host gains rights";
    for (const Mount& mount : plan.mounts) {
        bool is_this = mount.source.c_str() == step.source;
        if (!is_this) continue;
        if (mount.kind != MountKind::bind_device && !(step.attributes & MOUNT_ATTR_NODEV))
            return "devices are shown as devices alone";
        if (mount.kind == MountKind::bind_readonly && !(step.attributes & MOUNT_ATTR_RDONLY))
            return "what is read-only is";
        if (mount.is_pinned && !step.is_pinned) return "what is pinned stays so";
    }
    return nullptr;
}

}  // namespace

const char* broken_for_plan(const plan::Plan& plan) {
    Circumstances circumstances{.sockets = {{"notify", "/host/notify"}}, .console = "/dev/pts/0"};
    Script script = render(plan, circumstances);
    if (script.descriptors.size() != script.steps.size()) return "there is a descriptor for each step";
    for (size_t i = 0; i < script.steps.size(); ++i) {
        if (const char* broken = broken_name(script.steps[i])) return broken;
        if (const char* broken = broken_reference(script, i)) return broken;
        if (const char* broken = broken_making(plan, script, i)) return broken;
        if (const char* broken = broken_rights(plan, script.steps[i])) return broken;
    }
    return nullptr;
}

const char* broken_for_mounts(std::string_view bytes) {
    return broken_for_plan(read_plan(bytes));
}

namespace {

// What one line of the table contains, read the plain way: nothing if it is malformed or too long.
std::optional<std::pair<std::string, std::string>> place_and_options(std::string_view line) {
    std::vector<std::string_view> fields = base::split(line, ' ');
    if (fields.size() < 6 || fields[4].empty()) return std::nullopt;
    if (fields[4].size() >= sizeof MountLine::place || fields[5].size() >= sizeof MountLine::options)
        return std::nullopt;
    auto is_octal = [](char digit) { return digit >= '0' && digit <= '7'; };
    std::string place;
    for (size_t at = 0; at < fields[4].size(); ++at) {
        std::string_view digits = fields[4].substr(at + 1, 3);
        bool is_escape = fields[4][at] == '\\' && digits.size() == 3 && std::ranges::all_of(digits, is_octal);
        if (is_escape) {
            place += static_cast<char>(std::stoi(std::string(digits), nullptr, 8));
            at += 3;
        } else {
            place += fields[4][at];
        }
    }
    return std::pair(std::string(place.c_str()), std::string(std::string(fields[5]).c_str()));
}

}  // namespace

const char* broken_for_mount_table(std::string_view bytes) {
    base::Fd file(::memfd_create("table", MFD_CLOEXEC));
    if (!file || !base::write_all(file.get(), bytes) || ::lseek(file.get(), 0, SEEK_SET) != 0) return nullptr;
    MountTable table(file.get());
    static MountLine line;
    while (!bytes.empty()) {
        size_t end = bytes.find('\n');
        auto expected =
            end == std::string_view::npos ? std::nullopt : place_and_options(bytes.substr(0, end));
        int got = table.next(line);
        if (!expected) return got < 0 ? nullptr : "a malformed line is accepted";
        if (got != 1) return "a line is refused";
        if (line.place != expected->first) return "a place is read differently";
        if (line.options != expected->second) return "options are read differently";
        bytes.remove_prefix(end + 1);
    }
    return table.next(line) == 0 ? nullptr : "the end is not found";
}

}  // namespace backends::native
