// SPDX-License-Identifier: MIT
#include "host/remedies.h"

#include "base/parse.h"
#include "base/text.h"

namespace host {
namespace {

constexpr std::string_view kDefaultBwrap = "/usr/bin/bwrap";
constexpr std::string_view kInstalled = "/usr/local/bin/agent-sandbox";

bool is_debian_like(const Facts& facts) {
    return facts.os_name.find("Debian") != std::string::npos ||
           facts.os_name.find("Ubuntu") != std::string::npos;
}

std::string installs(const Facts& facts, const std::string& package) {
    if (facts.os_name.empty())
        return base::format("apt install {}    # or: dnf install {}", package, package);
    return (is_debian_like(facts) ? "apt install " : "dnf install ") + package;
}

std::string bwrap_path(const Facts& facts) {
    return facts.bwrap.path.is_root() ? std::string(kDefaultBwrap) : facts.bwrap.path.str();
}

// Threat: an AppArmor profile applies to a path. In a directory that a user can write, it would open user
// namespaces to any program that this user puts there.
bool is_installed(const Facts& facts) {
    return facts.own_program.is_within(base::Path::known("/usr")) ||
           facts.own_program.is_within(base::Path::known("/opt"));
}

Way profile_for_us(const Facts& facts) {
    base::Path program = is_installed(facts) ? facts.own_program : base::Path::known(kInstalled);
    Way way{
        .title = "Load a profile for agent-sandbox",
        .explanation =
            "It lets this one program make user namespaces, and no other; what runs in its jail gets none, "
            "because a filter of system calls refuses them. Nothing else needs to be installed. Write the "
            "text below to /etc/apparmor.d/agent-sandbox first.",
        .commands = {"apparmor_parser -r /etc/apparmor.d/agent-sandbox"},
        .file = apparmor_profile("agent-sandbox", program),
        .needs_bwrap = false};
    if (!is_installed(facts))
        way.commands.insert(way.commands.begin(), "install -m 0755 agent-sandbox " + program.str());
    return way;
}

Way install_bubblewrap(const Facts& facts) {
    return {.title = "Install bubblewrap",
            .explanation = "A small program of the distribution's, without privileges of its own.",
            .commands = {installs(facts, "bubblewrap")},
            .needs_bwrap = false};
}

Way distribution_profile() {
    return {.title = "Or load the distribution's profile for bubblewrap",
            .explanation =
                "Bubblewrap may then use user namespaces, and what it starts loses the rights in them "
                "again. Every other program stays restricted.",
            .commands = {"apt install apparmor-profiles",
                         "install -m 0644 /usr/share/apparmor/extra-profiles/bwrap-userns-restrict "
                         "/etc/apparmor.d/",
                         "apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict"}};
}

Way own_profile(const Facts& facts) {
    return {.title = "Where there is no such profile, load this one",
            .explanation =
                "It lets bubblewrap make user namespaces, and no other program. Write the text below to "
                "/etc/apparmor.d/bwrap first.",
            .commands = {"apparmor_parser -r /etc/apparmor.d/bwrap"},
            .file = apparmor_profile("bwrap", base::Path::known(bwrap_path(facts)))};
}

Way setuid_for_a_group(const Facts& facts) {
    std::string path = bwrap_path(facts);
    Way way{.title = "Make bubblewrap set-user-ID root for a group",
            .explanation =
                "It works without user namespaces then, for the members of that group alone. It was "
                "written for this. The network can be open or closed in such a jail, not filtered.",
            .commands = {"groupadd --system agent-sandbox",
                         "usermod -aG agent-sandbox " + base::shell_word(facts.identity.user)}};
    if (is_debian_like(facts)) {
        way.commands.push_back("dpkg-statoverride --update --add root agent-sandbox 4750 " + path);
    } else {
        way.commands.push_back("chown root:agent-sandbox " + path);
        way.commands.push_back(base::format("chmod 4750 {}    # again after an update of the package", path));
    }
    return way;
}

Way install_firejail(const Facts& facts) {
    return {.title = "Install firejail",
            .explanation =
                "A set-user-ID program that needs no user namespaces. It is larger than bubblewrap; "
                "access can be limited to the users listed in /etc/firejail/firejail.users.",
            .commands = {installs(facts, "firejail")},
            .needs_bwrap = false};
}

// Only advice: probe_calls checks what this kernel can do.
bool can_do_without_bwrap(const Facts& facts) {
    return is_kernel_at_least(facts.kernel, 5, 4);
}

Way open_for_everyone(const Facts& facts, const std::string& setting) {
    return {.title = "Open user namespaces to everyone",
            .explanation =
                "The widest way: every program of every user may then make them. The jail is at its "
                "best with it, and the kernel shows more of itself to unprivileged programs.",
            .commands = {base::format("echo '{}' >/etc/sysctl.d/60-user-namespaces.conf", setting),
                         "sysctl --system"},
            .needs_bwrap = !can_do_without_bwrap(facts)};
}

Way newer_kernel(const std::string& option) {
    return {.title = "Start a kernel that is built with " + option,
            .explanation = "The kernels of all large distributions are.",
            .commands = {base::format("grep {} /boot/config-$(uname -r)", option)},
            .needs_bwrap = false};
}

void add_firejail(const Facts& facts, std::vector<Way>& ways) {
    if (facts.firejail.state == ProgramState::missing) ways.push_back(install_firejail(facts));
}

// No file shows the cause, but the trial failed.
std::vector<Way> ways_around_a_filter(const Facts& facts) {
    if (facts.nested_in == "agent-sandbox") return {};
    if (facts.nested_in == "container") {
        return {
            {.title = "Start the container with a seccomp profile that allows the calls that build a jail",
             .explanation =
                 "The runtime's own profile with these calls added: unshare, clone and clone3 with "
                 "namespace flags, setns, mount, umount2, pivot_root, open_tree, move_mount and "
                 "mount_setattr. They give no privileges; the container sees more of the kernel with "
                 "them. Nothing else of it needs to change.",
             .commands = {"docker run --security-opt seccomp=jail.json ...",
                          "podman run --security-opt seccomp=jail.json ..."},
             .needs_bwrap = false}};
    }
    return {{.title = "Find what refuses user namespaces",
             .explanation =
                 "No setting that is known to close them is set, so that a security module or a filter "
                 "does. Its denials stand in the kernel's log.",
             .commands = {"journalctl -k --grep 'denied|audit' --since -10min"},
             .needs_bwrap = false}};
}

std::vector<Way> ways_around_obstacle(const Facts& facts) {
    std::vector<Way> ways;
    switch (facts.namespace_obstacle) {
        case NamespaceObstacle::none:
            if (facts.user_namespace_obstacle) ways = ways_around_a_filter(facts);
            break;
        case NamespaceObstacle::apparmor:
            ways = {profile_for_us(facts), distribution_profile(), own_profile(facts)};
            add_firejail(facts, ways);
            break;
        case NamespaceObstacle::not_built_in:
            ways = {setuid_for_a_group(facts)};
            add_firejail(facts, ways);
            ways.push_back(newer_kernel("CONFIG_USER_NS"));
            break;
        case NamespaceObstacle::limit_is_zero:
            ways = {setuid_for_a_group(facts)};
            add_firejail(facts, ways);
            ways.push_back(open_for_everyone(facts, "user.max_user_namespaces = 10000"));
            break;
        case NamespaceObstacle::clone_is_restricted:
            ways = {setuid_for_a_group(facts)};
            add_firejail(facts, ways);
            ways.push_back(open_for_everyone(facts, "kernel.unprivileged_userns_clone = 1"));
            break;
    }
    return ways;
}

// Wraps at blanks to lines of at most this width.
std::string wrapped(std::string_view text, const std::string& indent) {
    constexpr size_t kWidth = 76;
    std::string lines, line = indent;
    for (std::string_view word : base::split(text, ' ')) {
        bool is_first = line == indent;
        if (!is_first && line.size() + 1 + word.size() > kWidth) {
            lines += line + "\n";
            line = indent;
            is_first = true;
        }
        line += (is_first ? "" : " ") + std::string(word);
    }
    return lines + line + "\n";
}

std::string paragraph(std::string_view text) {
    return wrapped(text, "") + "\n";
}

// Why neither this program nor bubblewrap can build the jail.
std::string cause_of(const Facts& facts) {
    auto without_remedy = [](const std::string& problem) { return problem.substr(0, problem.find("; ")); };
    if (facts.user_namespace_obstacle) {
        return base::format("user namespaces are closed to unprivileged programs ({})",
                            *facts.user_namespace_obstacle);
    }
    return base::format("{}, and {}", without_remedy(*facts.native_obstacle),
                        without_remedy(facts.bwrap.problem));
}

}  // namespace

bool works_with_bwrap(const Facts& facts) {
    return facts.bwrap.state == ProgramState::usable &&
           (facts.bwrap.is_setuid || !facts.user_namespace_obstacle);
}

std::vector<Way> ways_to_a_jail(const Facts& facts) {
    if (!facts.native_obstacle || works_with_bwrap(facts)) return {};
    bool is_missing = facts.bwrap.state == ProgramState::missing;
    std::vector<Way> ways = ways_around_obstacle(facts);
    if (!is_missing) return ways;
    if (ways.empty()) return {install_bubblewrap(facts)};
    for (Way& way : ways) {
        if (way.needs_bwrap) way.commands.insert(way.commands.begin(), installs(facts, "bubblewrap"));
    }
    return ways;
}

std::vector<Way> ways_to_landlock(const Facts& facts) {
    bool is_left_out = facts.landlock_abi == 0 && is_kernel_at_least(facts.kernel, 5, 13) &&
                       !facts.lsm_list.empty() && facts.lsm_list.find("landlock") == std::string::npos;
    if (!is_left_out) return {};
    std::string parameter = "lsm=landlock," + facts.lsm_list;
    Way way{.title = "Name Landlock among the security modules at boot",
            .explanation =
                "It is a module that programs restrict themselves with: it takes rights away and gives "
                "none. The list is the present one with landlock in front; it counts from the next "
                "start on.",
            .commands = {"grep CONFIG_SECURITY_LANDLOCK=y /boot/config-$(uname -r)"}};
    if (is_debian_like(facts)) {
        way.commands.push_back("# in /etc/default/grub, inside GRUB_CMDLINE_LINUX=\"...\": " + parameter);
        way.commands.emplace_back("update-grub");
    } else {
        way.commands.push_back("grubby --update-kernel=ALL --args=" + parameter);
    }
    return {way};
}

std::string to_text(const std::vector<Way>& ways) {
    std::string text;
    for (size_t i = 0; i < ways.size(); ++i) {
        const Way& way = ways[i];
        text += base::format("{}{}. {}\n", i > 0 ? "\n" : "", i + 1, way.title);
        text += wrapped(way.explanation, "   ");
        for (const std::string& command : way.commands) text += base::format("     {}\n", command);
        if (way.file.empty()) continue;
        text += "\n";
        for (std::string_view line : base::split(base::trim(way.file), '\n')) {
            text += line.empty() ? "\n" : base::format("     {}\n", line);
        }
    }
    return text;
}

std::string apparmor_profile(std::string_view name, const base::Path& program) {
    return base::format(
        "abi <abi/4.0>,\n"
        "include <tunables/global>\n"
        "\n"
        "profile {} {} flags=(unconfined) {{\n"
        "  userns,\n"
        "  include if exists <local/{}>\n"
        "}}\n",
        name, program.str(), name);
}

std::string admin_note(const Facts& facts) {
    std::vector<Way> jail = ways_to_a_jail(facts), wall = ways_to_landlock(facts);
    if (jail.empty() && wall.empty()) return "";
    std::string system = facts.os_name.empty() ? "Linux" : facts.os_name;
    std::string text = base::format("To the administrator of this machine ({}, kernel {}, {})\n\n",
                                    base::printable(system), base::printable(facts.kernel), facts.machine);
    text += paragraph(
        "Hello, I would like to run coding agents in agent-sandbox here. It runs a command in a "
        "jail that the kernel enforces: the command sees one project directory, no keys, no other "
        "users' files, and only the network that rules allow. The program itself is one file "
        "without privileges: not set-user-ID, no daemon, nothing to configure for others.");
    if (!jail.empty()) {
        text += paragraph(base::format("Such a jail can't be built here: {}. {}", cause_of(facts),
                                       jail.size() > 1
                                           ? "One of these ways would help. The first is the narrowest; "
                                             "please take the first that suits the site."
                                           : "This would help:"));
        text += to_text(jail) + "\n";
    }
    if (!wall.empty()) {
        text +=
            paragraph(jail.empty() ? "It works here; one layer of it is missing, which this would bring:"
                                   : "If the machine is restarted anyway, this would add a second layer:");
        text += to_text(wall) + "\n";
    }
    if (facts.namespace_obstacle == NamespaceObstacle::apparmor && !jail.empty()) {
        text += paragraph("The restriction itself can stay as it is for all other programs.");
    }
    text += paragraph(
        "To check afterwards, as an ordinary user: 'agent-sandbox doctor' says what can be enforced, "
        "and 'agent-sandbox selftest' tries to break out of a real jail. What users may ask of the "
        "program can be limited in /etc/agent-sandbox/config.toml, which must belong to root; "
        "examples are installed with it in share/agent-sandbox/admin.");
    return base::format("{}Thank you,\n{}\n", text, base::printable(facts.identity.user));
}

bool is_kernel_at_least(std::string_view release, int major, int minor) {
    int has_major = base::take_number<int>(release).value_or(0);
    if (release.starts_with('.')) release.remove_prefix(1);
    int has_minor = base::leading_number<int>(release).value_or(0);
    return has_major > major || (has_major == major && has_minor >= minor);
}

}  // namespace host
