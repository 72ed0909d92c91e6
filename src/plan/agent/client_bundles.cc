// SPDX-License-Identifier: MIT
// Theory of operation. A client's configuration opens hosts, so it counts only where no jail can have written
// it. This code reads files of the user and of the system that this jail can't write, never the project's.
#include "plan/agent/client_bundles.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "plan/draft.h"
#include "plan/home/registry_files.h"
#include "rules/bundle.h"

namespace plan {
namespace {

struct Client {
    std::string_view bundle;
    std::vector<std::string> (*read)(std::string_view);
    std::string_view files;      // separated by blanks; those from ~ are the caller's
    std::string_view variables;  // that hold URLs
};

// Of a line that has this element alone, behind opening tags at most.
std::optional<std::string_view> element_in(std::string_view line, std::string_view tag) {
    const size_t found = line.find(tag);
    if (found == std::string_view::npos) return std::nullopt;
    line.remove_prefix(found + tag.size());
    return line.substr(0, line.find('<'));
}

// The addresses of mirrors and repositories, from the copy that the jail has: it has an element in each line.
std::vector<std::string> maven_entries(std::string_view settings_xml) {
    std::vector<std::string> entries;
    std::string entry;
    bool replaces_default = false, is_blocked = false;
    const std::string copy = maven_settings(settings_xml).value_or("");
    for (std::string_view line : base::split(copy, '\n')) {
        if (auto url = element_in(line, "<url>")) entry = network::entry_of_url(*url);
        if (auto of = element_in(line, "<mirrorOf>"))
            replaces_default = replaces_default || *of == "*" || *of == "central";
        if (auto blocked = element_in(line, "<blocked>")) is_blocked = *blocked == "true";
        if (line != "</mirror>" && line != "</repository>" && line != "</pluginRepository>") continue;
        if (!entry.empty() && !is_blocked) entries.push_back(std::move(entry));
        entry.clear();
        is_blocked = false;
    }
    if (!entries.empty() && !replaces_default)
        entries.insert(entries.end(), {"repo.maven.apache.org", "repo1.maven.org"});
    return entries;
}

constexpr Client kClients[] = {
    {"npm", network::npm_entries, "~/.npmrc /etc/npmrc /usr/etc/npmrc /usr/local/etc/npmrc",
     "npm_config_registry NPM_CONFIG_REGISTRY"},
    {"pip", network::pip_entries,
     "~/.config/pip/pip.conf ~/.pip/pip.conf /etc/pip.conf /etc/xdg/pip/pip.conf",
     "PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_FIND_LINKS"},
    {"conda", network::conda_entries,
     "~/.condarc ~/.conda/.condarc ~/.config/conda/.condarc /etc/conda/.condarc", "CONDA_CHANNEL_ALIAS"},
    {"cargo", network::cargo_entries, "~/.cargo/config.toml ~/.cargo/config", ""},
    {"maven", maven_entries, "~/.m2/settings.xml /etc/maven/settings.xml", ""},
    {"apt", network::apt_entries, "/etc/apt/sources.list", ""},
};

constexpr std::string_view kAptDirectory = "/etc/apt/sources.list.d";
constexpr size_t kLargestClientFile = 1u << 20;

bool is_named(const Draft& draft, std::string_view bundle) {
    auto names = [&](const policy::Items& items) {
        return std::ranges::any_of(items, [&](const config::Item& item) {
            return item.text.starts_with('@') && std::string_view(item.text).substr(1) == bundle;
        });
    };
    return names(draft.policy().network.allow) || names(draft.policy().network.udp);
}

class ScriptReader {
  public:
    ScriptReader(Draft& draft, const Client& client) : draft_(draft), client_(client) {}

    std::vector<std::string> entries() {
        for (std::string_view file : base::split(client_.files, ' ')) {
            bool is_callers = file.starts_with("~/");
            read(is_callers ? draft_.inputs.facts.identity.home / file.substr(2) : base::Path::known(file));
        }
        if (client_.bundle == "apt") {
            const base::Path directory = base::Path::known(kAptDirectory);
            for (const host::Entry& entry : draft_.tree().list(directory)) {
                if (entry.name.ends_with(".list") || entry.name.ends_with(".sources"))
                    read(directory / entry.name);
            }
        }
        if (client_.variables.empty()) return std::move(entries_);
        for (std::string_view name : base::split(client_.variables, ' ')) {
            std::optional<std::string_view> value =
                host::variable(draft_.inputs.request.policy_environment(), name);
            if (!value) continue;
            for (std::string_view word : base::split(*value, ' ')) add(network::entry_of_url(word));
        }
        return std::move(entries_);
    }

  private:
    void read(const base::Path& file) {
        base::Result<host::Tree::Resolved> place = draft_.tree().resolve(file);
        if (!place || !place->exists) return;
        const PathRule* rule = draft_.rules.decide(place->path);
        bool is_jails =
            place->path.is_within(draft_.project) ||
            (rule != nullptr && rule->access == Access::writable && rule->backing == Backing::host);
        base::Result<std::string> text = draft_.tree().read(place->path, kLargestClientFile);
        if (!text) return;
        std::vector<std::string> found = client_.read(*text);
        if (is_jails && !found.empty()) {
            draft_.note(
                NoteKind::information,
                base::format("{} can be written in the jail: the hosts that it names are not opened by @{}",
                             file.str(), client_.bundle));
            return;
        }
        for (std::string& entry : found) add(std::move(entry));
    }

    void add(std::string entry) {
        if (!entry.empty() && std::ranges::find(entries_, entry) == entries_.end())
            entries_.push_back(std::move(entry));
    }

    Draft& draft_;
    const Client& client_;
    std::vector<std::string> entries_;
};

}  // namespace

std::vector<network::Bundle> client_bundles(Draft& draft) {
    std::vector<network::Bundle> bundles;
    for (const Client& client : kClients) {
        if (!is_named(draft, client.bundle)) continue;
        std::vector<std::string> entries = ScriptReader(draft, client).entries();
        if (!entries.empty()) bundles.push_back({std::string(client.bundle), std::move(entries)});
    }
    return bundles;
}

}  // namespace plan
