// SPDX-License-Identifier: MIT
// Signed commits and tags: the user's git may ask for a signature of each, and the key is outside. With
// ssh.sign the filtered ssh-agent signs. Without it git inside makes them unsigned, instead of failing.
#include <algorithm>
#include <optional>

#include "base/encoding/base64.h"
#include "base/parse.h"
#include "base/text.h"
#include "plan/draft.h"
#include "plan/project/git.h"
#include "ssh_agent/rules.h"

namespace plan {
namespace {

constexpr size_t kLargestGitFile = 1u << 20, kLargestPublicKey = 64u << 10;
constexpr std::string_view kGitNamespace = "git";  // of SSHSIG, for commits and tags

// What the configurations of the user and of the repository ask for.
struct Signing {
    bool of_commits = false, of_tags = false, of_annotated = false;
    std::string format = "openpgp", key;
    bool has_ssh_program = false;

    bool is_asked() const { return of_commits || of_tags || of_annotated; }
};

bool is_true(std::string_view value) {
    const std::string word = base::lower(value);
    return word == "true" || word == "yes" || word == "on" || word == "1";
}

// The path of a key or of an included file.
base::Path named_path(const Draft& draft, std::string_view value, const base::Path& from) {
    if (value.starts_with("~/")) return draft.home / value.substr(2);
    return value.starts_with('/') ? base::Path() / value : from / value;
}

class SigningReader {
  public:
    explicit SigningReader(const Draft& draft) : draft_(draft) {}

    // As git reads: a later setting counts. Files that a condition includes count, too: the setting that
    // follows from them has no effect where the condition is false.
    void read(const base::Path& file, bool follows_includes = true) {
        base::Result<host::Tree::Resolved> resolved = draft_.tree().resolve(file);
        if (!resolved || !resolved->exists) return;
        base::Result<std::string> text = draft_.tree().read(resolved->path, kLargestGitFile);
        if (!text) return;
        for (const GitSetting& setting : parse_git_config(*text)) {
            bool is_include = setting.key == "include.path" ||
                              (setting.key.starts_with("includeif.") && setting.key.ends_with(".path"));
            if (is_include && follows_includes && !setting.value.empty()) {
                read(named_path(draft_, setting.value, file.parent()), false);
            } else {
                take(setting);
            }
        }
    }

    Signing signing;

  private:
    void take(const GitSetting& setting) {
        if (setting.key == "commit.gpgsign") signing.of_commits = is_true(setting.value);
        if (setting.key == "tag.gpgsign") signing.of_tags = is_true(setting.value);
        if (setting.key == "tag.forcesignannotated") signing.of_annotated = is_true(setting.value);
        if (setting.key == "gpg.format") signing.format = base::lower(setting.value);
        if (setting.key == "user.signingkey") signing.key = setting.value;
        if (setting.key == "gpg.ssh.program") signing.has_ssh_program = true;
    }

    const Draft& draft_;
};

bool can_be_read_inside(const Draft& draft, const base::Path& path) {
    base::Result<host::Tree::Resolved> resolved = draft.tree().resolve(path);
    const PathRule* rule = resolved && resolved->exists ? draft.rules.decide(resolved->path) : nullptr;
    return rule != nullptr && rule->backing == Backing::host &&
           (rule->access == Access::readonly || rule->access == Access::writable);
}

bool is_literal(std::string_view key) {
    return key.starts_with("key::") || key.starts_with("ssh-");
}

// The user has shown the key or the socket of an agent to the jail. Then git inside signs as outside.
bool has_key_inside(const Draft& draft, const Signing& signing) {
    const bool is_ssh = signing.format == "ssh";
    const std::string agent(
        host::variable(draft.inputs.request.policy_environment(), "SSH_AUTH_SOCK").value_or(""));
    bool has_agent =
        std::ranges::any_of(draft.policy().sockets.allow_dangerous, [&](const config::Item& item) {
            return is_ssh ? item.text == agent : item.text.find("gnupg") != std::string::npos;
        });
    if (has_agent) return true;
    if (!is_ssh) return can_be_read_inside(draft, draft.home / ".gnupg");
    return !signing.key.empty() && !is_literal(signing.key) &&
           can_be_read_inside(draft, named_path(draft, signing.key, draft.project));
}

std::optional<ssh_agent::Key> key_of(const Draft& draft, const Signing& signing) {
    std::string_view key = signing.key;
    if (is_literal(key)) {
        if (key.starts_with("key::")) key.remove_prefix(5);
        base::Result<ssh_agent::Key> parsed = ssh_agent::parse_public_key(key);
        return parsed ? std::optional(*parsed) : std::nullopt;
    }
    const base::Path named = named_path(draft, key, draft.project);
    for (const std::string& path : {named.str(), named.str() + ".pub"}) {
        base::Result<host::Tree::Resolved> file = draft.tree().resolve(base::Path() / path);
        if (!file || !file->exists) continue;
        base::Result<std::string> text = draft.tree().read(file->path, kLargestPublicKey);
        if (!text) continue;
        if (base::Result<ssh_agent::Key> parsed = ssh_agent::parse_public_key(*text)) return *parsed;
    }
    return std::nullopt;
}

// The key with which the filter signs for git; nothing: it does not.
std::optional<ssh_agent::Key> key_of_agent(const Draft& draft, const Signing& signing) {
    const Ssh& ssh = draft.plan.ssh;
    if (signing.format != "ssh" || !ssh.is_open) return std::nullopt;
    if (std::ranges::find(ssh.rules.sign, kGitNamespace) == ssh.rules.sign.end()) return std::nullopt;
    if (signing.key.empty()) return ssh.rules.keys.front();
    std::optional<ssh_agent::Key> wanted = key_of(draft, signing);
    if (!wanted ||
        std::ranges::find(ssh.rules.keys, wanted->blob, &ssh_agent::Key::blob) == ssh.rules.keys.end())
        return std::nullopt;
    return wanted;
}

void sign_with(Draft& draft, const Signing& signing, const ssh_agent::Key& key) {
    const Reason reason{"your ssh-agent signs commits and tags", draft.policy().ssh.sign.front().origin};
    draft.git_settings.push_back(
        {"user.signingKey",
         base::format("key::{} {}", ssh_agent::type_of(key.blob), base::to_base64(key.blob)), reason});
    if (signing.has_ssh_program) draft.git_settings.push_back({"gpg.ssh.program", "ssh-keygen", reason});
}

std::string advice_for(const Draft& draft, const Signing& signing) {
    if (signing.format != "ssh")
        return "sign them outside: git rebase --force-rebase --gpg-sign BRANCH-THEY-START-FROM";
    const bool is_permitted = std::ranges::any_of(
        draft.policy().ssh.sign, [](const config::Item& item) { return item.text == kGitNamespace; });
    if (!is_permitted)
        return "your ssh-agent signs them with ssh.sign = [\"git\"] and the public key in ssh.keys";
    if (!draft.plan.ssh.is_open) return "the jail has no ssh-agent";
    return "the key of user.signingKey is not in ssh.keys";
}

void leave_unsigned(Draft& draft, const Signing& signing) {
    const Reason reason{"the key that signs is outside", {}};
    if (signing.of_commits) draft.git_settings.push_back({"commit.gpgSign", "false", reason});
    if (signing.of_tags) draft.git_settings.push_back({"tag.gpgSign", "false", reason});
    if (signing.of_annotated) draft.git_settings.push_back({"tag.forceSignAnnotated", "false", reason});
    // Shown with --quiet, too: a setting of the user has no effect.
    draft.note(NoteKind::protection,
               base::format("git inside does not sign {}, because the key is outside; {}",
                            signing.of_commits ? "commits" : "tags", advice_for(draft, signing)));
}

}  // namespace

void settle_signatures(Draft& draft) {
    SigningReader reader(draft);
    reader.read(base::Path::known("/etc/gitconfig"));
    reader.read(draft.home / ".config/git/config");
    reader.read(draft.home / ".gitconfig");
    reader.read(draft.project / ".git/config");
    const Signing& signing = reader.signing;
    if (!signing.is_asked() && signing.key.empty()) return;
    if (has_key_inside(draft, signing)) return;
    if (std::optional<ssh_agent::Key> key = key_of_agent(draft, signing))
        return sign_with(draft, signing, *key);
    if (signing.is_asked()) leave_unsigned(draft, signing);
}

}  // namespace plan
