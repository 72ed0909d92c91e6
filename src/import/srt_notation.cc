// SPDX-License-Identifier: MIT
#include "import/srt_notation.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "base/path.h"
#include "base/text.h"

namespace config {
namespace {

using enum SrtPart;

constexpr std::string_view kNotLinux = "it counts on macOS or Windows alone";
constexpr std::string_view kOwnPrograms = "not needed: no other program takes part";
constexpr std::string_view kEncrypted =
    "what is encrypted is not opened here: rules decide about names and ports";
constexpr std::string_view kNoInjection =
    "secrets are not put into requests here: the jail has them or it has not";
constexpr std::string_view kClaude = "Claude Code's own: it goes on to count inside the jail";

// As of sandbox-runtime 0.0.78 and Claude Code 2.
constexpr SrtKey kKeys[] = {
    {"network", section, ""},
    {"network.allowedDomains", allowed_domains, ""},
    {"network.deniedDomains", denied_domains, ""},
    {"network.deniedResolvedAddresses", denied_addresses, ""},
    {"network.parentProxy", parent_proxy, ""},
    {"network.deniedDomainReasons", left_out, "a refusal names its rule and where that is written"},
    {"network.strictAllowlist", left_out, "not needed: the user is not asked unless network.ask says so"},
    {"network.allowManagedDomainsOnly", left_out,
     "the administrator's file is a ceiling: lock = [\"network.allow\"] there"},
    {"network.allowUnixSockets", left_out,
     "sandbox-runtime ignores it on Linux; a socket that is wanted is named in sockets.allow"},
    {"network.allowAllUnixSockets", switched_off,
     "sockets of the host are let in one by one, in sockets.allow; the jail's own always work"},
    {"network.allowLocalBinding", switched_off,
     "not needed: the jail has a loopback of its own; network.publish shows a port outside"},
    {"network.allowMachLookup", left_out, kNotLinux},
    {"network.httpProxyPort", left_out,
     "the gateway filters by itself; a site's proxy stands in network.upstream_proxy"},
    {"network.socksProxyPort", left_out,
     "the gateway filters by itself; a site's proxy stands in network.upstream_proxy"},
    {"network.mitmProxy", left_out, kEncrypted},
    {"network.tlsTerminate", left_out, kEncrypted},
    {"network.filterRequest", left_out, kEncrypted},

    {"filesystem", section, ""},
    {"filesystem.denyRead", deny_read, ""},
    {"filesystem.allowRead", allow_read, ""},
    {"filesystem.allowWrite", allow_write, ""},
    {"filesystem.denyWrite", deny_write, ""},
    {"filesystem.allowGitConfig", git_config, ""},
    {"filesystem.disabled", switched_off,
     "there is no jail without rules for files; home.access = \"write\" shows the home directory"},
    {"filesystem.allowManagedReadPathsOnly", left_out,
     "the administrator's file is a ceiling: lock = [\"mounts.readonly\"] there"},

    {"credentials", section, ""},
    {"credentials.files", credential_files, ""},
    {"credentials.envVars", credential_variables, ""},
    {"credentials.allowPlaintextInject", switched_off, kNoInjection},
    {"credentials.awsPairs", left_out, kNoInjection},
    {"credentials.sigv4", left_out, kNoInjection},

    {"ignoreViolations", left_out,
     "'agent-sandbox digest --not-needed WHAT' silences a refusal that does not matter"},
    {"enableWeakerNestedSandbox", switched_off,
     "not needed: 'agent-sandbox doctor' says what can be had in a container, and isolation.require how "
     "little is enough"},
    {"enableWeakerNetworkIsolation", switched_off, kNotLinux},
    {"allowAppleEvents", switched_off, kNotLinux},
    {"allowPty", switched_off, kNotLinux},
    {"windows", left_out, kNotLinux},
    {"ripgrep", left_out, kOwnPrograms},
    {"mandatoryDenySearchDepth", left_out, "the project is searched to a depth that is fixed"},
    {"seccomp", left_out, kOwnPrograms},
    {"bwrapPath", left_out,
     "not needed: the program builds the jail itself; isolation.bwrap names a bubblewrap to use instead"},
    {"socatPath", left_out, kOwnPrograms},
    {"javaAgentJarPath", left_out, "not needed: no client has to know of the gateway"},
    {"git", left_out, "not needed: files have the same owner inside as outside"},

    {"enabled", left_out, "not needed: what agent-sandbox starts is in the jail"},
    {"failIfUnavailable", left_out, "not needed: without a jail nothing is started"},
    {"autoAllowBashIfSandboxed", left_out, kClaude},
    {"allowUnsandboxedCommands", left_out,
     "nothing runs outside: the whole agent is in the jail, not single commands"},
    {"excludedCommands", left_out,
     "nothing runs outside: the whole agent is in the jail, not single commands"},
};

}  // namespace

const SrtKey* find_srt_key(std::string_view path) {
    const SrtKey* key = std::ranges::find(kKeys, path, &SrtKey::path);
    return key == std::end(kKeys) ? nullptr : key;
}

bool is_srt_section(std::string_view key) {
    const SrtKey* row = find_srt_key(key);
    return row != nullptr && row->part == SrtPart::section;
}

bool is_path_within(std::string_view path, std::string_view directory) {
    return path == directory || (path.starts_with(directory) && path[directory.size()] == '/');
}

namespace {

using Region = SrtRegion;

// Every jail has these, and they are never writable.
constexpr std::array<std::string_view, 10> kSystem = {"/usr", "/bin", "/sbin", "/lib", "/lib64",
                                                      "/opt", "/etc", "/proc", "/sys", "/run"};
constexpr std::array<std::string_view, 4> kTemporary = {"/tmp", "/var/tmp", "/private/tmp", "/dev/shm"};
bool is_in(std::string_view path, std::span<const std::string_view> directories) {
    return std::ranges::any_of(directories, [&](std::string_view one) { return is_path_within(path, one); });
}

// A path with "..", or in an unknown user's home directory, could be any path. If it is denied, it covers
// everything.
bool is_uncertain(std::string_view path) {
    std::vector<std::string_view> parts = base::split(path, '/');
    bool is_of_other = path.starts_with('~') && path != "~" && !path.starts_with("~/");
    bool is_rooted = path.starts_with('/') || path.starts_with('~');
    return is_of_other || (is_rooted && std::ranges::find(parts, "..") != parts.end());
}

// Turns "/data//x/./y" into /data/x/y, and a path in the home directory into one with ~.
std::string plain_path(std::string_view path, std::string_view home) {
    std::string plain(path.substr(0, path.starts_with('~') ? 1 : 0));
    for (std::string_view part : base::split(path.substr(plain.size()), '/')) {
        if (!part.empty() && part != ".") plain += base::format("/{}", part);
    }
    if (!home.empty() && home != "/" && is_path_within(plain, home)) plain = "~" + plain.substr(home.size());
    return plain.empty() ? "/" : plain;
}

}  // namespace

std::string fixed_part_of_path(const std::string& path) {
    if (!base::has_wildcard(path)) return path;
    std::string fixed;
    for (std::string_view part : base::split(path, '/')) {
        if (base::has_wildcard(part)) break;
        if (!part.empty()) fixed += (part == "~" ? "" : "/") + std::string(part);
    }
    return fixed.empty() ? "/" : fixed;
}

SrtSpot classify_srt_path(std::string_view raw, std::string_view home) {
    // "src/**" and "src/" mean src; Claude Code wrote "//data" for /data.
    while (raw.ends_with("/**")) raw.remove_suffix(3);
    while (raw.size() > 1 && raw.ends_with('/')) raw.remove_suffix(1);
    while (raw.starts_with("//")) raw.remove_prefix(1);
    while (raw.starts_with("./")) raw.remove_prefix(2);
    bool is_anywhere = raw.starts_with("**/");
    // A name without a slash already matches at any depth.
    if (is_anywhere && raw.find('/', 3) == std::string_view::npos) raw.remove_prefix(3);
    if (is_uncertain(raw)) return {Region::root, std::string(raw)};
    bool is_rooted = raw.starts_with('/') || raw.starts_with('~');
    std::string path = is_rooted ? plain_path(raw, home) : std::string(raw);
    if (path.empty() || path == "." || path == "**") return {Region::project, path};
    if (path == "~") return {Region::home, path};
    if (path.starts_with("~/")) return {Region::in_home, path};
    if (path == "/") return {Region::root, path};
    if (!path.starts_with('/')) return {Region::in_project, path, is_anywhere};
    if (is_in(path, kTemporary)) return {Region::temporary, path};
    if (is_path_within(path, "/dev")) return {Region::device, path};
    if (is_in(path, kSystem)) return {Region::system, path};
    return {Region::elsewhere, path};
}

bool SrtPlaces::hold(const std::string& path) const {
    if (paths_.contains("/")) return true;
    for (size_t end = path.size(); end != std::string::npos && end > 0; end = path.rfind('/', end - 1)) {
        if (paths_.contains(path.substr(0, end))) return true;
    }
    return false;
}

}  // namespace config
