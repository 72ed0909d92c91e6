// SPDX-License-Identifier: MIT
// Threat: the agent chooses the names that it requests, and so the proposals to a user, who may follow one
// without much thought. Reading / once would otherwise propose /. (tests/audit/digest_test.cc)
#include "audit/proposal.h"

#include <algorithm>

#include "base/path.h"
#include "base/text.h"
#include "config/data.h"
#include "config/value.h"

namespace audit {
namespace {

// Settings that a proposal may change. All others decide about the whole jail, not about one refusal.
constexpr std::string_view kProposable[] = {
    "network.allow",
    "network.private",
    "network.udp",
    "network.host_services",
    "mounts.readonly",
    "mounts.writable",
    "sockets.allow",
    "devices.allow",
    "requests.allow",
    "requests.git",
    "project.unmask",
    "project.unprotect",
    "env.allow",
    "isolation.allow_nested_namespaces",
    "isolation.allow_perf",
    "isolation.allow_keyrings",
    "isolation.allow_ptrace",
};

bool is_proposable(const config::Setting* setting) {
    return setting != nullptr && std::ranges::find(kProposable, setting->key) != std::end(kProposable);
}

// One word in the form of base::shell_word; nothing if there are more words or the quote is not closed.
std::optional<std::string> unquoted(std::string_view word) {
    if (!word.starts_with('\'')) {
        if (word.empty() || word.find_first_of(" '\"\\") != std::string_view::npos) return std::nullopt;
        return std::string(word);
    }
    std::string result;
    constexpr std::string_view kQuote = "'\\''";
    for (size_t i = 1; i < word.size();) {
        if (word.substr(i).starts_with(kQuote)) {
            result += '\'';
            i += kQuote.size();
        } else if (word[i] == '\'') {
            return i + 1 == word.size() ? std::optional(result) : std::nullopt;
        } else {
            result += word[i++];
        }
    }
    return std::nullopt;
}

// The value of ["x"] or of a bare word.
std::optional<std::string> written_value(std::string_view text) {
    if (text.starts_with("[\"") && text.ends_with("\"]") && text.size() > 4) {
        text = text.substr(2, text.size() - 4);
        if (text.find_first_of("\"\\") != std::string_view::npos) return std::nullopt;
        return std::string(text);
    }
    return text == "true" ? std::optional(std::string(text)) : std::nullopt;
}

// The command that a refused request names.
constexpr std::string_view kAllow = "agent-sandbox allow ";

// "POST api.example.org/v1/x", "push example.org/me/app refs/heads/x": one request, without a pattern.
std::string objection_to_request(std::string_view entry) {
    if (entry.find('*') != std::string_view::npos) return "it would open more than was asked for";
    std::vector<std::string_view> words = base::split(entry, ' ');
    const size_t count = entry.starts_with("push ") ? 3 : 2;
    bool is_one = words.size() == count && !words[0].empty() &&
                  words[1].find('/') != std::string_view::npos && !words[1].starts_with('/');
    return is_one ? "" : "it is not one request";
}

bool is_path(config::Type type) {
    return type == config::Type::path || type == config::Type::path_list;
}

bool holds_credentials(const base::Path& path, const base::Path& home) {
    for (base::Path place = path; place.is_strictly_within(home); place = place.parent()) {
        bool is_listed =
            std::ranges::any_of(config::data_list("home/credentials"), [&](const config::DataRow& row) {
                std::string_view entry = row.entry;
                if (entry.ends_with('/')) entry.remove_suffix(1);
                return base::matches_path(entry, place.relative_to(home));
            });
        if (is_listed) return true;
    }
    return false;
}

std::string objection_to_path(std::string_view text, const UserDirectories& directories) {
    base::Result<base::Path> path = base::Path::parse(text);
    if (!path) return "it is not a path";
    if (path->is_root()) return "it is the root directory";
    if (path->depth() == 1) return "it is a whole top-level directory";
    if (directories.home) {
        if (directories.home->is_within(*path)) return "it would open the home directory";
        if (holds_credentials(*path, *directories.home)) return "it holds credentials";
    }
    bool is_above = directories.project && directories.project->is_strictly_within(*path);
    return is_above ? "it is a directory above the project" : "";
}

}  // namespace

std::optional<Proposal> proposal_in(std::string_view change) {
    Proposal proposal;
    std::optional<std::string> value;
    if (change.starts_with("--")) {
        size_t blank = change.find(' ');
        proposal.setting = config::find_flag(change.substr(0, blank));
        if (blank != std::string_view::npos) value = unquoted(change.substr(blank + 1));
    } else if (change.starts_with(kAllow)) {
        value = unquoted(change.substr(kAllow.size()));
        bool is_git = value && (value->starts_with("fetch ") || value->starts_with("push "));
        bool is_request = value && value->find(' ') != std::string::npos;
        if (is_request) proposal.setting = config::find_setting(is_git ? "requests.git" : "requests.allow");
    } else if (size_t equals = change.find(" = "); equals != std::string_view::npos) {
        proposal.setting = config::find_setting(change.substr(0, equals));
        value = written_value(change.substr(equals + 3));
    }
    if (!is_proposable(proposal.setting) || !value) return std::nullopt;
    proposal.value = *std::move(value);
    return proposal;
}

std::string objection_to(const Proposal& proposal, const UserDirectories& directories) {
    const config::Setting& setting = *proposal.setting;
    if (!config::canonical_text(setting, proposal.value)) return "it can't be written as a setting";
    // The displayed value must be the same as the written one.
    if (base::printable(proposal.value) != proposal.value)
        return "its name has characters that can't be shown";
    // A name that is too long for a line was cut there.
    if (proposal.value.ends_with("...")) return "its name is too long";
    if (is_path(setting.type)) return objection_to_path(proposal.value, directories);
    if (setting.key.starts_with("requests.")) return objection_to_request(proposal.value);
    bool is_raw = setting.key == "network.allow" && proposal.value.starts_with("raw:");
    if (is_raw) return "it would switch off the check of names in what is sent";
    bool is_wide = setting.type == config::Type::rule_list &&
                   (proposal.value.find('*') != std::string::npos || proposal.value.starts_with('@') ||
                    proposal.value.find('/') != std::string::npos);
    return is_wide ? "it would open more than was asked for" : "";
}

std::string vetted_change(const std::string& change, std::string_view origin,
                          const UserDirectories& directories) {
    bool is_the_administrators =
        !directories.admin_directory.empty() && origin.starts_with(directories.admin_directory + "/");
    if (change.empty() || is_the_administrators || origin == "administrator") return {};
    std::optional<Proposal> proposal = proposal_in(change);
    // A plain sentence, such as the place of the user's own entry, does not open anything.
    if (!proposal) return change.starts_with("--") || change.find(" = ") != std::string::npos ? "" : change;
    return objection_to(*proposal, directories).empty() ? change : "";
}

}  // namespace audit
