// SPDX-License-Identifier: MIT
#include "slurm/submit/credentials.h"

#include <algorithm>

#include "base/text.h"

namespace slurm {
namespace {

using chaperon::Context;
using chaperon::SessionCredential;

// git counts its variables: one of them can't be missing.
constexpr std::string_view kGitKey = "GIT_CONFIG_KEY_";
constexpr std::string_view kNoGitKey = "agentsandbox.unused";

const SessionCredential* credential_in(const Context& context, std::string_view text) {
    for (const SessionCredential& credential : context.credentials) {
        bool is_in_it = std::ranges::any_of(credential.placeholders, [&](const std::string& placeholder) {
            return text.find(placeholder) != std::string_view::npos;
        });
        if (is_in_it) return &credential;
    }
    return nullptr;
}

}  // namespace

std::optional<Denial> refuse_placeholders(const Context& context, std::span<const JobText> texts) {
    for (const JobText& text : texts) {
        const SessionCredential* credential = credential_in(context, text.text);
        if (credential == nullptr) continue;
        return Denial{
            std::string(code::credential),
            base::format("{} has the placeholder of the credential '{}', and a job gets no "
                         "credentials: it would be worth nothing there",
                         text.what, credential->name),
            base::format("do what needs '{}' in the session, before or after the job", credential->name)};
    }
    return std::nullopt;
}

std::optional<Denial> refuse_placeholders(const Context& context, const std::vector<std::string>& arguments) {
    for (const std::string& argument : arguments) {
        const JobText text{"an argument", argument};
        if (std::optional<Denial> denial = refuse_placeholders(context, std::span(&text, 1))) return denial;
    }
    return std::nullopt;
}

void leave_out_session(const Context& context, std::vector<std::string>& environment) {
    std::vector<std::string> kept;
    for (std::string& entry : environment) {
        bool is_of_session =
            credential_in(context, entry) != nullptr ||
            std::ranges::find(context.session_variables, entry) != context.session_variables.end();
        if (!is_of_session) {
            kept.push_back(std::move(entry));
        } else if (entry.starts_with(kGitKey)) {
            kept.push_back(entry.substr(0, entry.find('=') + 1).append(kNoGitKey));
        }
    }
    environment = std::move(kept);
}

void tell_about_credentials(const Context& context, std::string_view command,
                            chaperon::Conversation& conversation) {
    for (const SessionCredential& credential : context.credentials) {
        std::string variables = credential.variables.empty()
                                    ? ""
                                    : base::format(" ({} {} not set)", base::join(credential.variables, ", "),
                                                   credential.variables.size() == 1 ? "is" : "are");
        conversation.err(base::format(
            "{}: the job runs without the credential '{}'{}: its value does not leave this session; do what "
            "needs it here, before or after the job\n",
            command, credential.name, variables));
    }
}

}  // namespace slurm
