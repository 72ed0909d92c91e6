// SPDX-License-Identifier: MIT
#include "import/srt_keys.h"

#include <algorithm>

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

}  // namespace config
