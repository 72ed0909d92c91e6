// SPDX-License-Identifier: MIT
#include "slurm/submit/parsed_submit.h"

#include <algorithm>

#include "base/parse.h"
#include "base/text.h"
#include "slurm/options/directives.h"
#include "slurm/scope/identity.h"

namespace slurm {
namespace {

using chaperon::Call;
using chaperon::Context;
using chaperon::Conversation;
using chaperon::Ending;

Answered complain(const UsageError& error, Conversation& conversation) {
    conversation.err(error.text);
    return Ending{.status = error.exit_code};
}

// Either the parsed options, or the answer.
std::variant<Parsed, Answered> settle(Parse parse, Conversation& conversation) {
    if (const auto* denial = std::get_if<Denial>(&parse)) return conversation.deny(*denial);
    if (const auto* error = std::get_if<UsageError>(&parse)) return complain(*error, conversation);
    return std::get<Parsed>(std::move(parse));
}

std::variant<Parsed, Answered> read_directives(const Command& command, std::string_view script,
                                               std::string_view name, Conversation& conversation) {
    auto read = directives_of(script, name);
    if (const auto* denial = std::get_if<Denial>(&read)) return conversation.deny(*denial);
    if (const auto* error = std::get_if<UsageError>(&read)) return complain(*error, conversation);
    const auto& directives = std::get<Directives>(read);
    conversation.err(directives.notice);
    return settle(parse_directives(command, directives), conversation);
}

bool is_among(const std::vector<ParsedOption>& options, const Option* option) {
    return std::ranges::find(options, option, &ParsedOption::option) != options.end();
}

const ParsedOption* last_of(std::span<const ParsedOption> options, std::string_view name) {
    const ParsedOption* last = nullptr;
    for (const ParsedOption& given : options) {
        if (given.option->name == name) last = &given;
    }
    return last;
}

// The bare account name, or the account at any host. The host never reaches Slurm: it writes to the account.
bool is_own_address(const Context& context, std::string_view address) {
    if (!address.starts_with(context.user)) return false;
    address.remove_prefix(context.user.size());
    return address.empty() || (address.starts_with('@') && address.find('@', 1) == address.npos);
}

// Threat: Slurm sends the mail outside the jail, with a subject from the job's name, where every other way to
// send one is closed. An own address is common in scripts, so where mail is closed it is dropped and told;
// the address itself never passes. (tests/slurm/attacks.bats: Slurm sends no mail)
std::optional<Denial> add_mail(const Context& context, const ParsedSubmit& submit, Conversation& conversation,
                               std::vector<std::string>& arguments) {
    std::optional<std::string> type = submit.value_of("mail-type");
    std::optional<std::string> user = submit.value_of("mail-user");
    bool asks_for_none = !type || type->empty() || base::equals_ignoring_case(*type, "NONE");
    if (user && !is_own_address(context, *user)) {
        return Denial{std::string(code::mail), "--mail-user: Slurm would write to another user",
                      "leave it out: Slurm writes to the account's own address"};
    }
    if (asks_for_none) return std::nullopt;
    if (context.mail_is_closed) {
        conversation.err(
            base::format("{}: --mail-type is left out, because mail is closed in this session; "
                         "network.mail_block = \"off\" in your own file opens it\n",
                         submit.command));
        return std::nullopt;
    }
    if (user && *user != context.user)
        conversation.err(
            base::format("{}: --mail-user is left out: Slurm writes to {}\n", submit.command, context.user));
    arguments.push_back("--mail-type=" + *type);
    return std::nullopt;
}

// Two options in Slurm's own table, with the same meaning.
constexpr std::string_view kClusterOptions[] = {"clusters", "cluster"};

std::optional<Denial> add_cluster(const ParsedSubmit& submit, Conversation& conversation,
                                  std::vector<std::string>& arguments) {
    std::string asked;
    for (std::string_view option : kClusterOptions) {
        if (std::optional<std::string> value = submit.value_of(option)) asked += *value + ",";
    }
    if (asked.empty()) return std::nullopt;
    auto narrowed = chaperon::own_cluster(kClusterOptions[0], asked, conversation);
    if (const auto* denial = std::get_if<Denial>(&narrowed)) return *denial;
    arguments.push_back("--clusters=" + std::get<std::string>(narrowed));
    return std::nullopt;
}

}  // namespace

std::optional<std::string> ParsedSubmit::value_of(std::string_view option) const {
    std::span<const ParsedOption> given(line.options);
    const ParsedOption* found = last_of(given.subspan(directives), option);
    if (found == nullptr) found = last_of(from_variables, option);
    if (found == nullptr) found = last_of(given.first(directives), option);
    if (found == nullptr) return std::nullopt;
    return found->value.value_or("");
}

std::variant<ParsedSubmit, Answered> read_call(const Call& call, std::string_view script,
                                               Conversation& conversation) {
    const Command& command = *find_command(call.command);
    auto line = settle(parse(command, call.arguments), conversation);
    if (const auto* answered = std::get_if<Answered>(&line)) return *answered;
    ParsedSubmit submit{.command = std::string(command.name), .line = std::get<Parsed>(std::move(line))};
    if (submit.line.informs) return submit;

    auto variables = options_from_variables(command, call.environment);
    if (const auto* denial = std::get_if<Denial>(&variables)) return conversation.deny(*denial);
    auto& read = std::get<FromVariables>(variables);
    submit.variables = std::move(read.environment);
    submit.from_variables = std::move(read.options);
    if (script.empty()) return submit;

    std::string name = submit.line.words.empty() ? "" : submit.line.words.front();
    auto directives = read_directives(command, script, name, conversation);
    if (const auto* answered = std::get_if<Answered>(&directives)) return *answered;
    std::vector<ParsedOption> merged = std::get<Parsed>(std::move(directives)).options;
    // On the real command line these directives would override the variables.
    std::erase_if(merged,
                  [&](const ParsedOption& given) { return is_among(submit.from_variables, given.option); });
    submit.directives = merged.size();
    merged.insert(merged.end(), submit.line.options.begin(), submit.line.options.end());
    submit.line.options = std::move(merged);
    return submit;
}

std::optional<Denial> add_common(const Context& context, const ParsedSubmit& submit,
                                 Conversation& conversation, std::vector<std::string>& arguments) {
    if (std::optional<Denial> denial = add_cluster(submit, conversation, arguments)) return denial;
    if (std::optional<Denial> denial = add_mail(context, submit, conversation, arguments)) return denial;
    base::Result<std::string> comment =
        append_tag(submit.value_of("comment").value_or(""), make_tag(context.session, context.project));
    if (!comment) return Denial{std::string(code::value), "--comment: " + comment.error().what, ""};
    arguments.push_back("--comment=" + *comment);
    return std::nullopt;
}

void add_name(const ParsedSubmit& submit, std::string_view otherwise, std::vector<std::string>& arguments) {
    std::string name = submit.value_of("job-name").value_or("");
    if (name.empty()) {
        // Slurm does not check a name that it takes from a file, so replace the characters that an option may
        // not have.
        for (char letter : otherwise)
            name += letter == '/' || !::isprint(static_cast<unsigned char>(letter)) ? '_' : letter;
    }
    arguments.push_back("--job-name=" + name);
}

Spec spec_for(const Context& context) {
    return Spec{.project = context.project.str(),
                .project_inode = context.project_inode,
                .options = context.job_options,
                .variables = context.job_variables,
                .session = context.session};
}

std::string directory_of(const Call& call, const ParsedSubmit& submit) {
    std::string wanted = submit.value_of("chdir").value_or("");
    if (wanted.empty()) return call.directory;
    return wanted.starts_with('/') ? wanted : call.directory + "/" + wanted;
}

Answered inform(const Call& call, const ParsedSubmit& submit, Conversation& conversation) {
    return answer(conversation.relay(call.command, emit(submit.line), {}), conversation);
}

Answered answer(const base::Result<Ending>& relayed, Conversation& conversation) {
    return relayed ? *relayed : conversation.deny(fault(relayed.error()));
}

Denial fault(const base::Error& error) {
    return {std::string(code::unavailable), error.what, error.advice};
}

std::string base_name(std::string_view path) {
    size_t slash = path.rfind('/');
    return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

}  // namespace slurm
