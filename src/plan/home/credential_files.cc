// SPDX-License-Identifier: MIT
// Files of credentials (`files` and `fields` of [credential.NAME]): the user's own file is hidden, and the
// jail gets a copy with placeholders. What programs in the jail write to the copy ends with the jail. A file
// that is the source of a value is hidden too, and a program that is a source is read-only. This is so for
// every credential that a file of settings defines, because another session may use it. Without such a table
// and without credentials nothing here looks at a file.
//
// Threat: the jail reads the token that its user has in ~/.npmrc or ~/.docker/config.json
// (tests/egress/credential_files.bats). A session without the credential reads the file of its token, or
// replaces the program that a later session runs outside (tests/jail/credential_sources.bats).
#include <algorithm>
#include <optional>
#include <span>

#include "base/parse.h"
#include "base/text.h"
#include "credentials/file_copy.h"
#include "host/facts.h"
#include "network/exchange/spec.h"
#include "plan/draft.h"
#include "plan/home/registry_files.h"
#include "plan/network/broker.h"
#include "plan/pins.h"

namespace plan {
namespace {

constexpr size_t kLargestCredentialFile = 1u << 20;

// A file of one or several credentials.
struct CredentialFile {
    base::Path path;       // of the user's own file
    base::Path place;      // of the copy, inside
    std::string relative;  // the usual path, in the home directory
    std::vector<credentials::FilledField> fields;
    std::vector<std::string> names;  // of the credentials
    config::Origin origin;
    std::string_view variable;  // that moved the file; empty: it is at its usual path
    std::string value;          // of the variable, inside

    bool is_moved() const { return !variable.empty(); }
    std::string_view usual_name() const { return std::string_view(relative).substr(relative.rfind('/') + 1); }
    Reason reason() const {
        return {
            base::format("a file of the credential {}: a copy holds its placeholder, changes are discarded",
                         base::join(names, ", ")),
            origin};
    }
};

// The user's own file, where the environment of the caller says that it is. The copy is at the same path if
// that is in the home directory, and at the usual path otherwise.
void follow_variable(const Draft& draft, CredentialFile& file) {
    const base::Path& home = draft.inputs.facts.identity.home;
    for (const credentials::MovedFile& moved : credentials::moved_files()) {
        if (file.relative != moved.relative) continue;
        std::optional<std::string_view> value =
            host::variable(draft.inputs.request.policy_environment(), moved.variable);
        base::Result<base::Path> literal = base::Path::parse(value.value_or(""));
        if (!literal) continue;
        bool is_in_home = literal->is_within(home);
        base::Path own = is_in_home ? draft.home / literal->relative_to(home) : *literal;
        if (!moved.name.empty()) own = own / moved.name;
        if (own == file.path) return;
        file.path = own;
        file.variable = moved.variable;
        file.value = literal->str();
        if (is_in_home) {
            file.place = std::move(own);
            return;
        }
        base::Path usual = home / file.relative;
        file.value = moved.name.empty() ? usual.str() : usual.parent().str();
        return;
    }
}

// npm looks for the token by the address of the registry. Without interception that is the session's own
// name.
std::optional<credentials::FileField> field_of_endpoint(const Draft& draft,
                                                        const credentials::Credential& credential,
                                                        const credentials::FileField& field) {
    bool uses_endpoint = !draft.plan.broker.spec.intercepts && !credential.base_url_variable.empty();
    const std::string usual = base::format("//{}/", credential.hosts.front().name);
    if (!uses_endpoint || !field.key.starts_with(usual)) return std::nullopt;
    credentials::FileField own = field;
    own.key = base::format("//{}{}/{}", base::lower(credential.name), network::exchange::kEndpointSuffix,
                           field.key.substr(usual.size()));
    return own;
}

std::vector<CredentialFile> credential_files(const Draft& draft) {
    std::vector<CredentialFile> files;
    const Brokered* brokered = draft.inputs.brokered;
    if (brokered == nullptr) return files;
    for (size_t i = 0; i < brokered->credentials.size(); ++i) {
        const credentials::Credential& credential = brokered->credentials[i];
        for (const std::string& text : credential.files) {
            std::string relative = text.substr(2);  // after "~/"
            auto file = std::ranges::find(files, relative, &CredentialFile::relative);
            if (file == files.end()) {
                base::Path usual = draft.home / relative;
                files.push_back({usual, usual, relative, {}, {}, credential.origin, {}, {}});
                file = files.end() - 1;
                follow_variable(draft, *file);
            }
            file->names.push_back(credential.name);
            for (const credentials::FileField& field : credential.shown)
                file->fields.push_back({field, "", true});
            for (const credentials::FileField& field : credential.fields) {
                file->fields.push_back({field, brokered->placeholders[i]});
                if (std::optional<credentials::FileField> own = field_of_endpoint(draft, credential, field))
                    file->fields.push_back({*std::move(own), brokered->placeholders[i]});
            }
        }
    }
    return files;
}

bool may_exist(const Draft& draft, const CredentialFile& file) {
    return file.is_moved() || draft.home_names.may_exist(file.relative);
}

// The file itself, without a link on the way: another file in its place would be copied.
bool is_users_own_file(const Draft& draft, const CredentialFile& file) {
    if (!may_exist(draft, file)) return false;
    base::Result<host::Tree::Resolved> resolved = draft.tree().resolve(file.path);
    if (!resolved || !resolved->exists || resolved->path != file.path) return false;
    std::optional<host::Node> node = draft.tree().look(file.path);
    return node && node->kind == host::Kind::file;
}

// The settings of package managers have a stricter copy, with known keys alone.
std::string text_for(const CredentialFile& file, std::string_view content, credentials::FileCopy copy) {
    std::optional<std::string> known = registry_settings(file.relative, content);
    return known ? *known + copy.fields_alone : std::move(copy.text);
}

// Reports a file that is there and is not copied.
void tell_of_link(Draft& draft, const CredentialFile& file) {
    if (!may_exist(draft, file)) return;
    base::Result<host::Tree::Resolved> resolved = draft.tree().resolve(file.path);
    if (!resolved || !resolved->exists || resolved->path == file.path) return;
    draft.note(NoteKind::information,
               base::format("{} (a file of the credential {}) is behind a symbolic link and is not copied",
                            base::printable(file.path.str()), base::join(file.names, ", ")));
}

void lay_file(Draft& draft, const CredentialFile& file) {
    const bool exists = is_users_own_file(draft, file);
    if (!exists) tell_of_link(draft, file);
    const bool is_ordinary = draft.policy().home.access == policy::HomeAccess::tmpwrite;
    const PathRule* parent = draft.rules.decide(file.place.parent());
    const bool is_parted = parent != nullptr && parent->backing == Backing::ephemeral;
    // In a directory of the host a file needs something to be mounted on.
    if (draft.home_is_real && !exists) return;
    if (draft.home_is_real && file.place != file.path) {
        draft.note(
            NoteKind::information,
            base::format("{} (a file of the credential {}) is outside of the home directory and is not "
                         "copied ({})",
                         base::printable(file.path.str()), base::join(file.names, ", "), file.variable));
        return;
    }
    base::Result<std::string> content = exists ? draft.tree().read(file.path, kLargestCredentialFile)
                                               : base::Result<std::string>(std::string());
    if (!content) return;
    std::optional<credentials::FileCopy> copy =
        credentials::copy_with_placeholders(file.usual_name(), *content, file.fields);
    if (!copy) return;
    if (file.is_moved()) draft.added.push_back({std::string(file.variable), file.value, file.reason()});
    std::erase_if(draft.after_rules, [&](const Mount& mount) { return mount.target == file.place; });
    draft.after_rules.push_back(Mount{
        .kind = is_ordinary || is_parted || draft.home_is_real ? MountKind::file : MountKind::private_file,
        .target = file.place,
        .source = text_for(file, *content, *std::move(copy)),
        .reason = file.reason()});
}

// Files that the source of a value reads: the file itself, or those that the arguments of a command name.
std::vector<std::string_view> files_of(const credentials::Source& source) {
    using Kind = credentials::Source::Kind;
    if (source.kind == Kind::file) return {source.text};
    std::vector<std::string_view> files;
    if (source.kind != Kind::command || source.words.empty()) return files;
    for (std::string_view word : std::span(source.words).subspan(1)) {
        size_t equals = word.starts_with('-') ? word.find('=') : std::string_view::npos;
        if (equals != std::string_view::npos) word.remove_prefix(equals + 1);
        if (word.starts_with('/') || word.starts_with("~/")) files.push_back(word);
    }
    return files;
}

const PathRule* shown_rule(const Draft& draft, const base::Path& path) {
    const PathRule* rule = draft.rules.decide_unsettled(path);
    bool is_shown = rule != nullptr && rule->backing == Backing::host && rule->access != Access::hidden;
    return is_shown ? rule : nullptr;
}

base::Result<host::Tree::Resolved> resolved_at(const Draft& draft, std::string_view text) {
    base::Result<base::Path> literal = text.starts_with("~/")
                                           ? base::Result<base::Path>(draft.home / text.substr(2))
                                           : base::Path::parse(text);
    return literal ? draft.tree().resolve(*literal) : base::Result<host::Tree::Resolved>(literal.error());
}

std::optional<host::Tree::Resolved> existing(const Draft& draft, std::string_view text) {
    base::Result<host::Tree::Resolved> resolved = resolved_at(draft, text);
    return resolved && resolved->exists ? std::optional(*std::move(resolved)) : std::nullopt;
}

// The jail must not lead a link on the way to the source elsewhere: a later session would follow it.
void close_source(Draft& draft, const host::Tree::Resolved& source, Access access, const Reason& reason) {
    draft.add_rule(source.path, access, reason);
    keep_links(draft, source, reason);
}

void keep_readonly(Draft& draft, const host::Tree::Resolved& source, const Reason& reason) {
    bool is_changeable = is_host_writable(shown_rule(draft, source.path)) ||
                         std::ranges::any_of(source.links, [&](const host::Tree::Link& link) {
                             return is_host_writable(shown_rule(draft, link.path));
                         });
    if (!is_changeable) return;
    close_source(draft, source, Access::readonly, reason);
    draft.kept_readonly.push_back(source.path);
}

// Threat: a session with a writable home makes the missing file of a source, and a later one sends what it
// reads there, so that its requests are those of another account (tests/jail/credential_sources.bats). A
// placeholder holds the first missing name of the path.
void hold_missing_source(Draft& draft, const credentials::DefinedSource& defined, std::string_view text) {
    base::Result<host::Tree::Resolved> resolved = resolved_at(draft, text);
    if (!resolved || resolved->exists || resolved->path.is_within(draft.project)) return;
    base::Path missing = resolved->path;
    while (!missing.is_root() && !draft.tree().look(missing.parent())) missing = missing.parent();
    bool can_make = is_in_jails_hand(draft, missing.parent()) && draft.tree().may_write(missing.parent());
    if (missing.is_root() || !can_make) return;
    const Reason reason{base::format("the source of the credential {}", defined.credential), defined.origin};
    keep_links(draft, *resolved, reason);
    auto is_held = [&](const Placeholder& held) { return held.path == missing; };
    if (std::ranges::none_of(draft.plan.placeholders, is_held))
        draft.plan.placeholders.push_back({missing, reason, std::nullopt});
    draft.rules.add(
        PathRule{.path = missing, .access = Access::readonly, .holds_name = true, .reason = reason});
}

// A file that gives a value is as secret as the value. What assembles /etc hides private files there.
void hide_source(Draft& draft, const credentials::DefinedSource& defined, std::string_view text) {
    std::optional<host::Tree::Resolved> source = existing(draft, text);
    if (!source && defined.source.kind == credentials::Source::Kind::file)
        hold_missing_source(draft, defined, text);
    if (!source) return;
    const Reason reason{base::format("the source of the credential {}", defined.credential), defined.origin};
    // A command's argument may be a directory or a file of the system.
    bool is_command = defined.source.kind == credentials::Source::Kind::command;
    std::optional<host::Node> node = is_command ? draft.tree().look(source->path) : std::nullopt;
    bool is_file_at_home = node && node->kind == host::Kind::file && source->path.is_within(draft.home);
    if (is_command && !is_file_at_home) {
        bool holds_others = draft.home.is_within(source->path) || draft.project.is_within(source->path);
        if (!holds_others) keep_readonly(draft, *source, reason);
        return;
    }
    if (shown_rule(draft, source->path) != nullptr) close_source(draft, *source, Access::hidden, reason);
}

// The program of a command, and each of its name on the caller's PATH: the first one runs outside.
void keep_program(Draft& draft, const credentials::DefinedSource& defined) {
    const credentials::Source& source = defined.source;
    if (source.kind != credentials::Source::Kind::command || source.words.empty()) return;
    const Reason reason{base::format("runs outside as the source of the credential {}", defined.credential),
                        defined.origin};
    const std::string& name = source.words.front();
    if (name.starts_with('/')) {
        if (std::optional<host::Tree::Resolved> program = existing(draft, name))
            keep_readonly(draft, *program, reason);
    }
    if (name.find('/') != std::string::npos) return;
    std::string_view search = host::variable(draft.inputs.request.environment, "PATH").value_or("");
    for (std::string_view directory : base::split(search, ':')) {
        if (!directory.starts_with('/') || directory.starts_with("/usr/")) continue;
        std::optional<host::Tree::Resolved> program = existing(draft, base::format("{}/{}", directory, name));
        if (program) keep_readonly(draft, *program, reason);
    }
}

void close_defined(Draft& draft, const credentials::DefinedSource& defined) {
    for (std::string_view text : files_of(defined.source)) hide_source(draft, defined, text);
    keep_program(draft, defined);
    for (const std::string& text : defined.files) {
        std::optional<host::Tree::Resolved> file = existing(draft, text);
        if (!file || shown_rule(draft, file->path) == nullptr) continue;
        const Reason reason{base::format("a file of the credential {}", defined.credential), defined.origin};
        close_source(draft, *file, Access::hidden, reason);
    }
}

}  // namespace

base::Status hide_credential_files(Draft& draft) {
    for (const credentials::DefinedSource& defined : draft.inputs.defined) close_defined(draft, defined);
    if (draft.inputs.brokered == nullptr) return base::success();
    for (const credentials::Credential& credential : draft.inputs.brokered->credentials)
        close_defined(draft, {credential.name, credential.source, {}, credential.origin});
    for (const CredentialFile& file : credential_files(draft)) {
        if (file.path.is_within(draft.project))
            return base::Error{.what = base::format(
                                   "{} is a file of the credential {} and is in the project, where the jail "
                                   "can replace it",
                                   base::printable(file.path.str()), base::join(file.names, ", ")),
                               .advice = "keep it elsewhere in the home directory",
                               .where = file.origin.describe()};
        if (is_users_own_file(draft, file)) draft.add_rule(file.path, Access::hidden, file.reason());
    }
    return base::success();
}

void lay_credential_files(Draft& draft) {
    for (const CredentialFile& file : credential_files(draft)) lay_file(draft, file);
}

}  // namespace plan
