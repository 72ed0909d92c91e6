// SPDX-License-Identifier: MIT
#include "plan/network/mail.h"

#include <algorithm>

#include "base/inside/jail_files.h"
#include "base/parse.h"
#include "base/text.h"
#include "config/data.h"
#include "plan/draft.h"

namespace plan {
namespace {

// Where systems install mailers, whether or not PATH contains the directory.
constexpr std::string_view kMailPlaces[] = {"/usr/bin",      "/usr/sbin", "/usr/lib",       "/usr/libexec",
                                            "/bin",          "/sbin",     "/usr/local/bin", "/usr/local/sbin",
                                            "/var/qmail/bin"};

std::vector<base::Path> mail_places(const Draft& draft) {
    std::vector<base::Path> found;
    auto add = [&](std::string_view text) {
        base::Result<base::Path> literal = base::Path::parse(text);
        base::Result<host::Tree::Resolved> place =
            literal ? draft.tree().resolve(*literal) : base::Result<host::Tree::Resolved>(base::Error{});
        if (!place || !place->exists || std::ranges::find(found, place->path) != found.end()) return;
        found.push_back(place->path);
    };
    std::optional<std::string_view> path = host::variable(draft.inputs.request.environment, "PATH");
    if (path)
        for (std::string_view text : base::split(*path, ':')) add(text);
    for (std::string_view text : kMailPlaces) add(text);
    return found;
}

// The jail can replace a file where it can write, and where links may change during the launch nothing is
// mounted. Elsewhere only a file that has a mailer's name itself is covered: a link may lead to a program
// with many other uses.
bool can_be_covered(const Draft& draft, const base::Path& file) {
    std::optional<host::Glance> node = draft.tree().glance(file);
    if (!node || node->kind != host::Kind::file || !is_mailer_name(file.name())) return false;
    if (file.is_within(draft.home) || file.is_within(draft.project)) return false;
    const PathRule* rule = draft.rules.decide(file);
    return rule != nullptr && rule->access == Access::readonly && rule->backing == Backing::host;
}

}  // namespace

bool is_mailer_name(std::string_view base_name) {
    return std::ranges::any_of(config::data_list("network/mailers"), [&](const config::DataRow& row) {
        if (!base_name.starts_with(row.entry)) return false;
        std::string_view rest = base_name.substr(row.entry.size());
        bool has_version = rest.size() > 1 && rest[0] == '-' && base::is_digit(rest[1]);
        return rest.empty() || (rest.size() > 1 && rest[0] == '.') || has_version;
    });
}

void close_mail(Draft& draft) {
    draft.assembled.push_back(Mount{.kind = MountKind::symlink,
                                    .target = draft.own / base::kStubs / base::kOwnProgram,
                                    .source = draft.own_program().str(),
                                    .reason = {"agent-sandbox why and notify, inside", {}}});
    if (!draft.plan.network.closes_mail) return;
    const config::Origin& origin = draft.policy().network.mail_block_origin;
    const std::string own_program = draft.inputs.facts.own_program.str();
    std::vector<base::Path> covered;
    for (const base::Path& place : mail_places(draft)) {
        for (const config::DataRow& row : config::data_list("network/mailers")) {
            if (!draft.tree().glance(place / row.entry)) continue;
            base::Result<host::Tree::Resolved> file = draft.tree().resolve(place / row.entry);
            bool is_new = file && std::ranges::find(covered, file->path) == covered.end();
            if (!is_new || !can_be_covered(draft, file->path)) continue;
            covered.push_back(file->path);
            draft.after_rules.push_back(
                Mount{.kind = MountKind::bind_readonly,
                      .target = file->path,
                      .source = own_program,
                      .reason = {"mail is closed, and this says so: " + std::string(row.reason), origin}});
        }
    }
    for (const config::DataRow& row : config::data_list("network/mailers")) {
        draft.assembled.push_back(Mount{.kind = MountKind::symlink,
                                        .target = draft.own / base::kStubs / row.entry,
                                        .source = draft.own_program().str(),
                                        .reason = {"mail is closed, and this says so", origin}});
    }
}

}  // namespace plan
