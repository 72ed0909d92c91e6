// SPDX-License-Identifier: MIT
#include "slurm/queries/request.h"

#include <algorithm>

#include "base/text.h"
#include "slurm/options/directives.h"

namespace slurm::queries {
namespace {

constexpr int kRefused = 1;

// Options that name clusters. After narrow_clusters() their value is ours, and they pass.
constexpr std::string_view kClusterOptions[] = {"clusters", "cluster", "allclusters", "all_clusters"};

bool names_clusters(const ParsedOption& given) {
    return std::ranges::find(kClusterOptions, given.option->name) != std::end(kClusterOptions);
}

// Two options for the same thing. The one on the command line overrides the one from a variable.
constexpr std::string_view kExclusive[][2] = {{"format", "Format"}, {"Format", "format"}};

bool is_overridden(const ParsedOption& variable, const Parsed& line) {
    if (line.has(variable.option->name)) return true;
    for (const auto& [one, other] : kExclusive) {
        if (variable.option->name == one && line.has(other)) return true;
    }
    return false;
}

bool stands_for_no_option(const Command& command, std::string_view variable) {
    std::string_view name = variable.substr(0, variable.find('='));
    return std::ranges::any_of(command.variables,
                               [&](const Variable& row) { return row.name == name && row.option.empty(); });
}

Ending tell(const UsageError& error, Conversation& conversation) {
    conversation.err(error.text);
    return {.status = error.exit_code};
}

// Replaces all options that name clusters by one that names this cluster.
std::optional<Ending> narrow_clusters(QueryRequest& request) {
    std::vector<ParsedOption>& options = request.parsed.options;
    auto first = std::ranges::find_if(options, names_clusters);
    if (first == options.end()) return {};
    const Option* option = first->option;
    std::string asked;
    for (const ParsedOption& given : options) {
        if (names_clusters(given)) asked += given.value.value_or("") + ",";
    }
    // sacct --allclusters and sreport --all_clusters take no value.
    if (option->takes == Takes::nothing)
        option = find_option(request.command, option->name == "allclusters" ? "clusters" : "cluster");
    auto narrowed = chaperon::own_cluster(option->name, asked, request.conversation);
    if (auto* denial = std::get_if<Denial>(&narrowed)) return request.conversation.deny(*denial);
    std::erase_if(options, names_clusters);
    options.push_back({option, std::get<std::string>(narrowed)});
    return {};
}

void replace_number(std::string& text, const std::string& number, const std::string& with) {
    for (size_t at = 0; (at = text.find(number, at)) != text.npos; at += with.size()) {
        text.replace(at, number.size(), with);
    }
}

}  // namespace

Ending QueryRequest::deny(std::string_view code, std::string what, std::string advice) const {
    return conversation.deny({std::string(code), std::move(what), std::move(advice)});
}

Ending QueryRequest::usage_error(std::string_view text, int status) const {
    conversation.err(text);
    return {.status = status};
}

Arguments QueryRequest::passed(std::initializer_list<std::string_view> without) const {
    Arguments arguments;
    for (const ParsedOption& given : parsed.options) {
        if (given.option->action != OptionAction::pass && !names_clusters(given)) continue;
        if (std::ranges::find(without, given.option->name) != without.end()) continue;
        append_canonical(arguments, given);
    }
    return arguments;
}

void QueryRequest::add_given(Arguments& arguments, std::initializer_list<std::string_view> names) const {
    for (const ParsedOption& given : parsed.options) {
        if (std::ranges::find(names, given.option->name) == names.end()) continue;
        append_canonical(arguments, given);
    }
}

Ending QueryRequest::relay(const Arguments& arguments) const {
    return relay(arguments, nullptr);
}

Ending QueryRequest::relay(const Arguments& arguments,
                           std::function<std::string(std::string_view line)> rewrite) const {
    Conversation::Relayed how;
    how.variables = variables;
    how.rewrite = std::move(rewrite);
    base::Result<Ending> ending = conversation.relay(command.name, arguments, how);
    if (!ending) return deny(code::unavailable, ending.error().line());
    return *ending;
}

OrEnding<Captured> QueryRequest::capture(const Arguments& arguments) const {
    base::Result<Captured> captured = conversation.capture(command.name, arguments);
    if (!captured) return deny(code::unavailable, captured.error().line());
    return *std::move(captured);
}

Ending QueryRequest::answer(const Captured& captured) const {
    if (!captured.output.empty()) conversation.out(captured.output);
    if (!captured.errors.empty()) conversation.err(captured.errors);
    return captured.ending;
}

Ending QueryRequest::answer_json(const Arguments& arguments, const RewriteJson& rewrite) const {
    OrEnding<Captured> captured = capture(arguments);
    if (auto* ending = std::get_if<Ending>(&captured)) return *ending;
    auto& said = std::get<Captured>(captured);
    if (said.ending.status != 0 || said.ending.by_signal)
        return answer({.errors = said.errors, .ending = said.ending});
    std::optional<std::string> shown = rewrite(said.output);
    if (!shown)
        return deny(code::unavailable,
                    "--json: the answer is not the JSON that is expected, so it is not shown",
                    "choose columns with a format");
    said.output = *std::move(shown);
    return answer(said);
}

std::optional<std::string> QueryRequest::list_or_word(std::string_view name) {
    const ParsedOption* given = parsed.last(name);
    if (!given) return {};
    if (given->value) return given->value;
    if (parsed.words.empty()) return {};
    std::string word = std::move(parsed.words.front());
    parsed.words.erase(parsed.words.begin());
    return word;
}

OrEnding<QueryRequest> read_request(const Context& context, const Call& call, Conversation& conversation) {
    const Command* command = find_command(call.command);
    if (!command) return conversation.deny({std::string(code::command), "not available in the jail", ""});
    Parse parse = slurm::parse(*command, call.arguments);
    if (auto* denial = std::get_if<Denial>(&parse)) return conversation.deny(*denial);
    if (auto* error = std::get_if<UsageError>(&parse)) return tell(*error, conversation);
    QueryRequest request{context, call, conversation, *command, std::get<Parsed>(std::move(parse)), {}};
    if (request.parsed.informs) {
        Arguments arguments;
        append_canonical(arguments, request.parsed.options.back());
        return request.relay(arguments);
    }
    auto variables = options_from_variables(*command, call.environment);
    if (auto* denial = std::get_if<Denial>(&variables)) return conversation.deny(*denial);
    auto& from = std::get<FromVariables>(variables);
    std::erase_if(from.options,
                  [&](const ParsedOption& given) { return is_overridden(given, request.parsed); });
    request.parsed.options.insert(request.parsed.options.begin(), from.options.begin(), from.options.end());
    std::ranges::copy_if(from.environment, std::back_inserter(request.variables),
                         [&](const std::string& text) { return stands_for_no_option(*command, text); });
    if (auto ending = narrow_clusters(request)) return *ending;
    return request;
}

JobSet::Bounds bounds_of(const Context& context) {
    JobSet::Bounds bounds;
    switch (context.scope) {
        case Scope::none:
        case Scope::user:
            break;
        case Scope::project:
            bounds.project = project_part(context.project);
            break;
        case Scope::session:
            bounds.session = context.session;
            break;
    }
    if (auto launcher = parse_job_id(context.launcher_job)) bounds.always = launcher->job;
    return bounds;
}

OrEnding<JobSet> ask_jobs(const QueryRequest& request) {
    base::Result<std::string> nonce = make_nonce();
    if (!nonce) return request.deny(code::unavailable, nonce.error().line());
    base::Result<Captured> captured =
        request.conversation.capture("squeue", question(request.context.uid, *nonce));
    if (!captured) return request.deny(code::unavailable, captured.error().line());
    if (captured->ending.status != 0 || captured->ending.by_signal) {
        request.conversation.err(captured->errors);
        return Ending{.status = kRefused};
    }
    return JobSet(read_rows(captured->output, *nonce), bounds_of(request.context));
}

std::optional<Record> record_in_scope(const Context& context, const JobSet& jobs, uint32_t job) {
    if (!jobs.contains(job)) return {};
    return find_record(context.state_directory, std::to_string(job));
}

std::string Disguise::text_of(const JobId& id) {
    if (jobs_.contains(id)) return slurm::text_of(id);
    // If there are more ids than stand-ins, several share one. The output then shows the first of them.
    auto place = static_cast<uint32_t>(std::ranges::find(hidden_, id.job) - hidden_.begin());
    if (place == hidden_.size()) hidden_.push_back(id.job);
    JobId other = id;
    other.job = stand_in(place);
    return slurm::text_of(other);
}

std::string Disguise::text_of(const std::vector<JobId>& ids) {
    std::vector<std::string> texts;
    for (const JobId& id : ids) texts.push_back(text_of(id));
    return base::join(texts, ",");
}

std::string Disguise::restored(std::string text) const {
    for (uint32_t place = 0; place < hidden_.size() && place < kStandIns; ++place) {
        replace_number(text, std::to_string(stand_in(place)), std::to_string(hidden_[place]));
    }
    return text;
}

std::string list_of(const std::vector<uint32_t>& numbers) {
    std::string list;
    for (uint32_t number : numbers) list += std::to_string(number) + ",";
    if (numbers.empty()) list += std::to_string(stand_in(1)) + ",";
    return list + std::to_string(stand_in(0));
}

bool is_own_user(const Context& context, std::string_view list) {
    return std::ranges::all_of(base::split(list, ','), [&](std::string_view name) {
        return name == context.user || name == std::to_string(context.uid);
    });
}

}  // namespace slurm::queries
