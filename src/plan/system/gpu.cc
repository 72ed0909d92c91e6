// SPDX-License-Identifier: MIT
// Theory of operation. A GPU is a device node for computation: /dev/nvidiaN or a DRM render node. The jail
// gets it if it exists, the caller may open it, the administrator does not deny it, and Slurm's list of the
// job's GPUs, if there is one, contains its number. Opening it also checks the device cgroup, and so respects
// what a batch system has allotted. With the first GPU of a vendor the jail gets the nodes that its driver
// needs, and with every GPU its own directory in /sys and the links to it. It does not get the whole of /sys,
// which is an inventory of the machine, nor primary nodes (/dev/dri/card*), which drive screens.
#include <algorithm>
#include <span>

#include "base/parse.h"
#include "base/text.h"
#include "plan/system/devices.h"

namespace plan {
namespace {

using host::Kind;
using Numbers = std::vector<unsigned>;

enum class Vendor { nvidia, amd, other };

struct Gpu {
    base::Path node;
    Vendor vendor = Vendor::other;
    unsigned number = 0;  // at the end of the node's name
};

struct Companion {
    Vendor vendor;
    std::string_view path;
    std::string_view why;
};

constexpr Companion kCompanionNodes[] = {
    {Vendor::nvidia, "/dev/nvidiactl", "control of the NVIDIA driver"},
    {Vendor::nvidia, "/dev/nvidia-uvm", "memory that CUDA shares with the processor"},
    {Vendor::nvidia, "/dev/nvidia-uvm-tools", "profilers of that memory"},
    {Vendor::nvidia, "/dev/nvidia-modeset", "OpenGL and Vulkan of NVIDIA"},
    {Vendor::amd, "/dev/kfd", "compute queues of ROCm"},
};

constexpr Companion kDriverPaths[] = {
    {Vendor::nvidia, "/sys/module/nvidia", "version of the NVIDIA driver"},
    {Vendor::amd, "/sys/module/amdgpu", "tells ROCm that the driver is there"},
    {Vendor::amd, "/sys/class/kfd/kfd", "topology that ROCm reads"},
};

// Programs of every vendor read these.
struct SharedPath {
    std::string_view path;
    std::string_view why;
};
constexpr SharedPath kSharedPaths[] = {
    {"/sys/devices/system/cpu", "places threads near the GPU"},
    {"/sys/devices/system/node", "places memory near the GPU"},
    {"/run/opengl-driver", "drivers of NixOS"},
};

constexpr std::string_view kLibraries[] = {
    "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
    "/usr/lib/aarch64-linux-gnu/libcuda.so.1",
    "/usr/lib64/libcuda.so.1",
    "/usr/lib/libcuda.so.1",
    "/opt/rocm/lib/libhsa-runtime64.so.1",
};
constexpr std::string_view kVariables[] = {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
                                           "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"};

// "0,2-3"; nothing where the text is not such a list.
std::optional<Numbers> number_list(std::string_view text) {
    Numbers numbers;
    for (std::string_view part : base::split(text, ',')) {
        size_t dash = std::min(part.find('-'), part.size());
        std::optional<unsigned> first = base::parse_number<unsigned>(part.substr(0, dash));
        std::optional<unsigned> last =
            dash == part.size() ? first : base::parse_number<unsigned>(part.substr(dash + 1));
        constexpr unsigned kMost = 4096;
        if (!first || !last || *last > kMost) return std::nullopt;
        for (unsigned number = *first; number <= *last; ++number) numbers.push_back(number);
    }
    return numbers;
}

bool contains(const Numbers& numbers, unsigned number) {
    return std::ranges::find(numbers, number) != numbers.end();
}

class Gpus {
  public:
    explicit Gpus(Draft& draft) : draft_(draft) {}

    base::Status add() {
        const auto& devices = draft_.policy().devices;
        if (devices.gpu == policy::Gpu::off) return base::success();
        find_nvidia();
        find_render_nodes();
        std::optional<Numbers> allotted = allotted_numbers();
        std::erase_if(found_, [&](const Gpu& gpu) { return !is_usable(gpu); });
        std::vector<Gpu> ours;
        std::ranges::copy_if(found_, std::back_inserter(ours),
                             [&](const Gpu& gpu) { return is_allotted(gpu, allotted); });
        bool is_limited_by_us = ours.size() < found_.size();
        found_ = std::move(ours);
        if (is_limited_by_us) renumber();
        if (found_.empty()) return say_that_none_is_there();
        for (const Gpu& gpu : found_) bind(gpu.node, "devices.gpu");
        add_companions();
        for (const Gpu& gpu : found_) show_in_sys(gpu, allotted.has_value());
        return base::success();
    }

  private:
    const host::Tree& tree() const { return draft_.tree(); }
    bool has(Vendor vendor) const { return std::ranges::find(found_, vendor, &Gpu::vendor) != found_.end(); }

    // Finds "nvidia" or "renderD" followed by a number in this directory.
    void find_numbered(const base::Path& directory, std::string_view prefix, Vendor vendor) {
        for (const host::Entry& entry : tree().list(directory)) {
            std::string_view name = entry.name;
            if (entry.kind != Kind::device || !name.starts_with(prefix)) continue;
            std::optional<unsigned> number = base::parse_number<unsigned>(name.substr(prefix.size()));
            if (number) found_.push_back({directory / name, vendor, *number});
        }
    }

    // Checking for the control node first avoids listing /dev on a machine without this driver.
    void find_nvidia() {
        if (tree().look(base::Path::known("/dev/nvidiactl"))) {
            find_numbered(base::Path::known("/dev"), "nvidia", Vendor::nvidia);
        }
    }

    void find_render_nodes() {
        const base::Path directory = base::Path::known("/dev/dri");
        if (!tree().look(directory)) return;
        size_t before = found_.size();
        find_numbered(directory, "renderD", Vendor::other);
        for (Gpu& gpu : std::span(found_).subspan(before)) {
            base::Result<std::string> vendor = tree().read(drm_entry(gpu) / "device/vendor", 64);
            if (!vendor) continue;
            if (base::trim(*vendor) == "0x10de") gpu.vendor = Vendor::nvidia;
            if (base::trim(*vendor) == "0x1002") gpu.vendor = Vendor::amd;
        }
    }

    static base::Path drm_entry(const Gpu& gpu) {
        return base::Path::known("/sys/class/drm") / gpu.node.name();
    }
    static bool is_render_node(const Gpu& gpu) { return gpu.node.name().starts_with("renderD"); }

    // The numbers of the job's GPU nodes. Slurm gives the number of the device file. Where GPUs are divided
    // (MIG) it counts the parts instead, and only the device cgroup can tell them apart.
    std::optional<Numbers> allotted_numbers() const {
        if (draft_.inputs.facts.slurm_job.id.empty() || is_divided()) return std::nullopt;
        for (std::string_view name : {"SLURM_STEP_GPUS", "SLURM_JOB_GPUS"}) {
            std::optional<std::string_view> value = host::variable(draft_.inputs.request.environment, name);
            if (!value || value->empty()) continue;
            std::optional<Numbers> numbers = number_list(*value);
            bool names_nodes = numbers && std::ranges::any_of(found_, [&](const Gpu& gpu) {
                                   return contains(*numbers, gpu.number);
                               });
            return names_nodes ? numbers : std::nullopt;
        }
        return std::nullopt;
    }

    // Slurm's numbers refer to one of the two nodes of a GPU: NVIDIA's render node has another number than
    // /dev/nvidiaN.
    bool is_allotted(const Gpu& gpu, const std::optional<Numbers>& allotted) const {
        if (!allotted || contains(*allotted, gpu.number)) return true;
        bool speaks_of_this_kind = std::ranges::any_of(found_, [&](const Gpu& other) {
            return other.vendor == gpu.vendor && contains(*allotted, other.number);
        });
        return !speaks_of_this_kind && gpu.vendor != Vendor::nvidia;
    }

    // CUDA counts only the GPUs that it can open. Where no cgroup closes the others, the variable counts all
    // GPUs of the machine.
    void renumber() {
        std::optional<std::string_view> value =
            host::variable(draft_.inputs.request.environment, "CUDA_VISIBLE_DEVICES");
        std::optional<Numbers> numbers = value ? number_list(*value) : std::nullopt;
        if (!numbers) return;
        Numbers ours;
        for (const Gpu& gpu : found_) {
            if (gpu.vendor == Vendor::nvidia && !is_render_node(gpu)) ours.push_back(gpu.number);
        }
        std::ranges::sort(ours);
        std::vector<std::string> positions;
        for (unsigned number : *numbers) {
            auto place = std::ranges::find(ours, number);
            if (place == ours.end()) return;
            positions.push_back(std::to_string(place - ours.begin()));
        }
        draft_.adjusted.push_back({"CUDA_VISIBLE_DEVICES",
                                   base::join(positions, ","),
                                   {"counts the GPUs that are in the jail", {}}});
    }

    bool is_usable(const Gpu& gpu) {
        if (const config::Item* deny = denying_entry(draft_, gpu.node)) {
            obstacle_ = base::format("devices.deny ({}) keeps {} outside", deny->origin.describe(),
                                     base::printable(gpu.node.str()));
            return false;
        }
        if (tree().may_write(gpu.node)) return true;
        obstacle_ = base::format(
            "you may not open {}: a job without a GPU, "
            "or a group such as render or video that you are not in",
            base::printable(gpu.node.str()));
        return false;
    }

    // Capability nodes of GPU parts are opened for reading, and users may open only those that everyone may
    // read.
    std::vector<base::Path> capability_nodes() const {
        std::vector<base::Path> nodes;
        const base::Path directory = base::Path::known("/dev/nvidia-caps");
        if (!tree().look(directory)) return nodes;
        for (const host::Entry& entry : tree().list(directory)) {
            std::optional<host::Node> node = tree().look(directory / entry.name);
            constexpr uint32_t kEveryoneReads = 0004;
            if (node && node->kind == Kind::device && (node->mode & kEveryoneReads))
                nodes.push_back(directory / entry.name);
        }
        return nodes;
    }

    // Capabilities 1 and 2 configure and monitor; higher numbers are parts of a GPU.
    bool is_divided() const {
        constexpr std::string_view kPrefix = "nvidia-cap";
        return std::ranges::any_of(capability_nodes(), [&](const base::Path& node) {
            std::optional<unsigned> number =
                node.name().starts_with(kPrefix)
                    ? base::parse_number<unsigned>(node.name().substr(kPrefix.size()))
                    : std::nullopt;
            return number && *number > 2;
        });
    }

    void bind(const base::Path& node, std::string_view why) {
        if (denying_entry(draft_, node)) return;
        bind_device(draft_, node, {std::string(why), draft_.policy().devices.gpu_origin});
    }

    void add_companions() {
        for (const Companion& companion : kCompanionNodes) {
            const base::Path node = base::Path::known(companion.path);
            if (has(companion.vendor) && tree().look(node)) bind(node, companion.why);
        }
        if (has(Vendor::nvidia)) {
            for (const base::Path& node : capability_nodes()) bind(node, "a part of a GPU");
            bool can_compute = tree().look(base::Path::known("/dev/nvidia-uvm")).has_value();
            if (!can_compute) {
                draft_.note(NoteKind::information,
                            "/dev/nvidia-uvm does not exist yet and can't be made from inside: run "
                            "'nvidia-modprobe -u' or any CUDA program outside once");
            }
        }
        for (const Companion& shown : kDriverPaths) {
            if (has(shown.vendor)) show(base::Path::known(shown.path), shown.why);
        }
        for (const SharedPath& shown : kSharedPaths) show(base::Path::known(shown.path), shown.why);
    }

    // Shows the directory, and the links on the way to it.
    void show(const base::Path& path, std::string_view why) {
        const config::Origin& origin = draft_.policy().devices.gpu_origin;
        base::Result<host::Tree::Resolved> resolved = resolve_entry(draft_, path, origin);
        if (resolved && resolved->exists)
            draft_.add_rule(resolved->path, Access::readonly, {std::string(why), origin});
    }

    void show_in_sys(const Gpu& gpu, bool is_chosen_by_number) {
        if (!is_render_node(gpu)) return show_nvidia(gpu, is_chosen_by_number);
        show(drm_entry(gpu) / "device", "what the driver tells of this GPU");
        show(drm_entry(gpu), "what the driver tells of this GPU");
        base::Result<std::string> device = tree().read(drm_entry(gpu) / "dev", 64);
        if (device)
            show(base::Path::known("/sys/dev/char") / base::trim(*device),
                 "finds the GPU by the number of its node");
    }

    // The driver lists its GPUs by PCI address; a file in each directory contains the number of the node.
    void show_nvidia(const Gpu& gpu, bool is_chosen_by_number) {
        const base::Path listed = base::Path::known("/proc/driver/nvidia/gpus");
        for (const host::Entry& entry : tree().list(listed)) {
            bool is_this = !is_chosen_by_number || minor_of(listed / entry.name) == gpu.number;
            if (is_this)
                show(base::Path::known("/sys/bus/pci/devices") / entry.name,
                     "what the driver tells of this GPU");
        }
    }

    std::optional<unsigned> minor_of(const base::Path& listed) const {
        base::Result<std::string> information = tree().read(listed / "information", 64u << 10);
        if (!information) return std::nullopt;
        for (std::string_view line : base::split(*information, '\n')) {
            constexpr std::string_view kField = "Device Minor:";
            if (line.starts_with(kField))
                return base::parse_number<unsigned>(base::trim(line.substr(kField.size())));
        }
        return std::nullopt;
    }

    base::Status say_that_none_is_there() {
        const auto& devices = draft_.policy().devices;
        std::string cause = obstacle_.empty() ? "this machine has no node of a GPU under /dev" : obstacle_;
        if (devices.gpu == policy::Gpu::on) {
            return base::Error{.what = "there is no GPU to let in: " + cause,
                               .advice = "use --gpu auto to run without one",
                               .where = devices.gpu_origin.describe()};
        }
        std::string sign = sign_of_programs();
        if (!sign.empty())
            draft_.note(NoteKind::information,
                        base::format("{}, but no GPU is in the jail: {}", sign, cause));
        return base::success();
    }

    // A sign that makes a program inside expect a GPU.
    std::string sign_of_programs() const {
        for (std::string_view name : kVariables) {
            std::optional<std::string_view> value = host::variable(draft_.inputs.request.environment, name);
            bool names_some = value && !value->empty() && *value != "-1" && *value != "NoDevFiles";
            if (names_some) return std::string(name) + " is set";
        }
        for (std::string_view library : kLibraries) {
            if (tree().look(base::Path::known(library))) return std::string(library) + " is visible";
        }
        return "";
    }

    Draft& draft_;
    std::vector<Gpu> found_;
    std::string obstacle_;  // why the last existing one is not allowed
};

}  // namespace

base::Status add_gpus(Draft& draft) {
    return Gpus(draft).add();
}

}  // namespace plan
