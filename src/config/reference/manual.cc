// SPDX-License-Identifier: MIT
#include "config/reference/manual.h"

#include <algorithm>

#include "base/text.h"
#include "config/reference/reference.h"
#include "config/settings.h"
#include "config/toml_text.h"

namespace config::scdoc {

std::string escaped(std::string_view text) {
    constexpr std::string_view kSpecial = "*_\\#<";
    std::string result;
    for (char letter : text) {
        if (kSpecial.find(letter) != std::string_view::npos) result += '\\';
        result += letter;
    }
    return result;
}

std::string bold(std::string_view text) {
    return "*" + escaped(text) + "*";
}

std::string sentence(std::string_view text) {
    // Do not capitalise the name of a setting, a path or a file.
    std::string_view word = text.substr(0, text.find(' '));
    bool is_plain = word.find_first_not_of("abcdefghijklmnopqrstuvwxyz,:-") == std::string_view::npos;
    std::string result = escaped(text);
    if (!word.empty() && is_plain) result[0] = static_cast<char>(result[0] - 'a' + 'A');
    return result + ".";
}

std::string literal(std::string_view lines) {
    std::string text = "\t```\n\t";
    for (char letter : lines) {
        text += letter;
        if (letter == '\n') text += '\t';
    }
    return text + "\n\t```\n\n";
}

}  // namespace config::scdoc

namespace config {

// The settings in agent-sandbox.toml(5): each with its meaning, value, default, flag and variable, the effect
// of an administrator's value, and an example that parses (tests/config/manual_test.cc).

namespace {

using scdoc::bold;
using scdoc::escaped;

struct Example {
    std::string_view key;
    std::string_view value;
};

// Examples for settings whose built-in value is empty or does not help as an example.
constexpr Example kExamples[] = {
    {"project.parents", R"(["/home", "/lab"])"},
    {"project.read_only", "true"},
    {"project.protect", R"(["Makefile", "ci"])"},
    {"project.unprotect", R"([".vscode"])"},
    {"project.mask", R"(["secrets.yaml"])"},
    {"project.unmask", R"([".env.test"])"},
    {"home.readonly", R"([".config/nvim"])"},
    {"home.writable", R"([".cache/mytool"])"},
    {"home.seeded", R"([".config/mytool.conf"])"},
    {"home.unprotect", R"([".config/nvim", ".local/bin"])"},
    {"mounts.readonly", R"(["/data/reference", "~/notes"])"},
    {"mounts.approved", R"(["/data/reference/table.csv"])"},
    {"mounts.writable", R"(["/scratch/me"])"},
    {"mounts.hidden", R"(["/data/reference/private"])"},
    {"mounts.deny_writable", R"(["/shared/reference"])"},
    {"sockets.allow", R"(["/run/postgresql/.s.PGSQL.5432"])"},
    {"sockets.allow_dangerous", R"(["/run/docker.sock"])"},
    {"env.allow", R"(["MY_API_KEY"])"},
    {"env.set", R"({ EDITOR = "vi" })"},
    {"env.block", R"(["MY_LICENCE"])"},
    {"env.block_patterns", R"(["CORP_*", "*licence*/i"])"},
    {"isolation.bwrap", R"("/opt/bubblewrap/bin/bwrap")"},
    {"isolation.firejail", R"("/opt/firejail/bin/firejail")"},
    {"isolation.require_each", R"(["temporary files=hidden"])"},
    {"limits.processes", "200"},
    {"limits.memory", R"("4G")"},
    {"limits.open_files", "1024"},
    {"limits.file_size", R"("2G")"},
    {"limits.wall_time", R"("8h")"},
    {"limits.idle_time", R"("30m")"},
    {"devices.allow", R"(["/dev/infiniband/uverbs*"])"},
    {"devices.deny", R"(["/dev/kvm"])"},
    {"cow.layer", R"("idea")"},
    {"cow.storage", R"("/scratch/ann/layers")"},
    {"network.block", R"(["*.internal.example.org"])"},
    {"network.allow", R"(["@github", "api.example.org:443"])"},
    {"network.private", R"(["10.20.0.0/16"])"},
    {"network.udp", R"(["time.example.org:123"])"},
    {"network.dns_types", R"(["MX", "TXT", "SRV"])"},
    {"network.host_services", R"(["5432", "10.1.2.3:5432"])"},
    {"network.publish", R"(["8080", "8081:80"])"},
    {"network.upstream_proxy", R"("http://proxy.example.org:3128")"},
    {"requests.allow", R"(["GET api.github.com/repos/me/app/**"])"},
    {"requests.ask", R"(["POST api.github.com/**"])"},
    {"requests.block", R"(["@github-lasting"])"},
    {"requests.git", R"(["push github.com/me/app refs/heads/agent/*"])"},
    {"requests.opaque", R"(["pinned.example.org"])"},
    {"credentials.use", R"(["github", "anthropic"])"},
    {"credentials.never_inside", R"(["*_API_KEY"])"},
    {"ssh.keys", R"(["~/.ssh/id_ed25519.pub"])"},
    {"ssh.hosts", R"(["git@github.com"])"},
    {"ssh.sign", R"(["git"])"},
    {"agents.use", R"(["claude", "codex"])"},
    {"slurm.program", R"("/opt/agent-sandbox/bin/agent-sandbox")"},
    {"slurm.spank_options", R"(["--site-check", "--bundle="])"},
    {"modules.load", R"(["gcc/12", "python"])"},
    {"modules.command", R"("/opt/lmod/lmod/libexec/lmod")"},
    {"lock", R"(["isolation.bwrap"])"},
};

std::string value_in_example(const Setting& setting) {
    const Example* example = std::ranges::find(kExamples, setting.key, &Example::key);
    if (example != std::end(kExamples)) return std::string(example->value);
    return toml_scalar(setting, setting.fallback);
}

std::string example_of(const Setting& setting) {
    std::string_view section = section_of(setting);
    std::string head = section.empty() ? "" : base::format("[{}]\n", section);
    return base::format("{}{} = {}", head, name_in_section(setting), value_in_example(setting));
}

std::string default_of(const Setting& setting) {
    if (setting.fallback.starts_with('@'))
        return base::format("a built-in list, which {} prints", bold("agent-sandbox config show"));
    return setting.fallback.empty() ? "none" : escaped(setting.fallback);
}

std::string entry_of(const Setting& setting) {
    std::string text = base::format("{}\n\t{}\n\n", bold(setting.key), scdoc::sentence(setting.help));
    text += base::format("\tValue: {}. Default: {}.", escaped(expectation(setting)), default_of(setting));
    if (!setting.flag.empty()) text += base::format(" Option: {}.", bold(setting.flag));
    if (std::string variable = variable_of(setting); !variable.empty())
        text += base::format(" Variable: {}.", bold(variable));
    if (setting.is_dynamic)
        text += base::format(" {} applies it to running sessions.", bold("agent-sandbox reload"));
    // The text is Markdown; remove its backquotes.
    std::string meaning(meaning_for_administrator(setting.order));
    std::erase(meaning, '`');
    text += base::format("\n\n\tIn an administrator's file: {}.\n\n", escaped(meaning));
    return text + scdoc::literal(example_of(setting));
}

}  // namespace

std::string settings_manual() {
    std::string text;
    for (std::string_view section : sections()) {
        text += base::format("## [{}]\n\n", section);
        for (const Setting& setting : settings()) {
            if (section_of(setting) == section) text += entry_of(setting);
        }
    }
    text += "## At the top of a file\n\n";
    for (const Setting& setting : settings()) {
        if (section_of(setting).empty()) text += entry_of(setting);
    }
    return text;
}

}  // namespace config
