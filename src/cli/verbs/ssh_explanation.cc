// SPDX-License-Identifier: MIT
#include "cli/verbs/ssh_explanation.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/parse.h"
#include "base/text.h"
#include "cli/verbs/agent_stub.h"

namespace cli {
namespace {

constexpr uint16_t kSshPort = 22;

// Hosts of a credential that git can use over HTTPS (share/credentials).
struct HttpsHost {
    std::string_view host, credential;
};
constexpr HttpsHost kHttpsHosts[] = {{"github.com", "github"},
                                     {"ssh.github.com", "github"},
                                     {"gitlab.com", "gitlab"},
                                     {"altssh.gitlab.com", "gitlab"}};

std::string with_home(const std::string& path) {
    const char* home = std::getenv("HOME");
    return path.starts_with("~/") && home != nullptr ? home + path.substr(1) : path;
}

bool is_socket(const std::string& path) {
    struct stat status;
    return ::stat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode);
}

bool has_agent(const SshSettings& settings) {
    if (settings.agent == "none") return false;
    if (!settings.agent.empty() && settings.agent != "SSH_AUTH_SOCK")
        return is_socket(with_home(settings.agent));
    const char* path = std::getenv("SSH_AUTH_SOCK");
    return path != nullptr && is_socket(path);
}

bool has_key(const SshSettings& settings) {
    return settings.uses_token || std::ranges::any_of(settings.keys, [](const std::string& file) {
               return ::access(with_home(file).c_str(), R_OK) == 0;
           });
}

bool is_server_there(const SshSettings& settings, const OutputOf& output_of) {
    const std::string scanner = program_behind_stub("ssh-keyscan");
    if (scanner.empty()) return false;
    std::optional<std::string> printed =
        output_of(scanner, {"ssh-keyscan", "-T", "5", "-t", "ed25519", "-p", std::to_string(settings.port),
                            "--", settings.host});
    return printed && has_greeting(*printed);
}

}  // namespace

SshSettings ssh_settings_of(std::string_view printed) {
    SshSettings settings;
    for (std::string_view line : base::split(printed, '\n')) {
        const size_t blank = line.find(' ');
        if (blank == std::string_view::npos) continue;
        const std::string_view key = line.substr(0, blank);
        const std::string_view value = base::trim(line.substr(blank + 1));
        if (key == "hostname") settings.host = value;
        if (key == "user") settings.user = value;
        if (key == "port") settings.port = base::parse_number<uint16_t>(value).value_or(0);
        if (key == "identityfile") settings.keys.emplace_back(value);
        if (key == "identityagent") settings.agent = value;
        const bool is_set = value != "none";
        if (is_set && (key == "proxycommand" || key == "proxyjump")) settings.uses_proxy = true;
        if (is_set && key == "pkcs11provider") settings.uses_token = true;
        // ssh -q; OpenSSH prints its own name of the level.
        if (key == "loglevel")
            settings.is_quiet = base::lower(value) == "quiet" || base::lower(value) == "silent";
    }
    return settings;
}

bool has_greeting(std::string_view printed) {
    constexpr std::string_view kGreeting = "SSH-2.0-", kRefusal = "SSH-2.0-agent_sandbox";
    return printed.find(kGreeting) != std::string_view::npos &&
           printed.find(kRefusal) == std::string_view::npos;
}

std::string ssh_text(const SshSettings& settings) {
    const auto* https = std::ranges::find(kHttpsHosts, settings.host, &HttpsHost::host);
    const std::string host = base::printable(settings.host);
    const std::string place = settings.port == kSshPort ? host : base::with_port(host, settings.port);
    const std::string user = settings.user.empty() ? "git" : base::printable(settings.user);
    return base::format(
        "agent-sandbox: ssh has no key for {}: your keys, known hosts and ssh-agent stay outside; set "
        "ssh.keys = [\"~/.ssh/id_ed25519.pub\"] and ssh.hosts = [\"{}@{}\"] outside, so that your agent "
        "signs for this login alone, or start the session with {}--dangerous-socket \"$SSH_AUTH_SOCK\" --env "
        "SSH_AUTH_SOCK --allow-host {}, so that all of the session uses your agent\n",
        host, user, place,
        https == std::end(kHttpsHosts)
            ? ""
            : base::format("--credential {}, so that git uses HTTPS with your token, or with ",
                           https->credential),
        place);
}

std::string ssh_explanation(const std::string& program, char** arguments, const OutputOf& output_of) {
    std::vector<std::string> words = {"ssh", "-G"};
    for (char** word = arguments + 1; *word != nullptr; ++word) {
        // A request to a master process that does not run.
        if (std::string_view(*word).starts_with("-O")) return {};
        words.emplace_back(*word);
    }
    std::optional<std::string> printed = output_of(program, std::move(words));
    if (!printed) return {};
    const SshSettings settings = ssh_settings_of(*printed);
    if (settings.host.empty() || settings.uses_proxy || settings.is_quiet) return {};
    if (has_key(settings) || has_agent(settings) || !is_server_there(settings, output_of)) return {};
    return ssh_text(settings);
}

}  // namespace cli
