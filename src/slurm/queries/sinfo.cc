// SPDX-License-Identifier: MIT
// sinfo and sdiag: about the cluster, without the names of other users.
#include "base/text.h"
#include "slurm/queries/handlers.h"
#include "slurm/queries/json_answers.h"
#include "slurm/queries/redact.h"
#include "slurm/queries/request.h"

namespace slurm::queries {
namespace {

constexpr std::string_view kUserLetters = "uU";
constexpr std::string_view kUserNames[] = {"user", "userlong"};
// --list-reasons has its own format: the reason in 20 columns, the user in 9, with --long in 12.
constexpr size_t kReasonWidth = 20;
constexpr size_t kUserWidth = 9;
constexpr size_t kLongUserWidth = 12;

std::string masked_reason(std::string_view line, std::string_view own, size_t width) {
    size_t begin = kReasonWidth + 1, end = begin + width;
    // Other lines, such as the date, have no such columns.
    if (line.size() <= end || line[begin - 1] != ' ' || line[end] != ' ') return std::string(line);
    std::string shown = masked_user(base::trim(line.substr(begin, width)), own.substr(0, width));
    shown.resize(width, ' ');
    return std::string(line.substr(0, begin)) + shown + std::string(line.substr(end));
}

Ending show_reasons(const QueryRequest& request, const Arguments& arguments) {
    size_t width = request.parsed.has("long") ? kLongUserWidth : kUserWidth;
    return request.relay(arguments, [&, width](std::string_view line) {
        return masked_reason(line, request.context.user, width);
    });
}

bool is_plain_format(std::string_view format) {
    return format.find_first_of("\n\r") == format.npos;
}

Ending show_masked(const QueryRequest& request, Arguments arguments, const MarkedFormat& format) {
    if (request.parsed.has("iterate")) {
        return request.deny(code::command, "--iterate: with columns of users the answer is given once",
                            "call sinfo again");
    }
    arguments.push_back((format.is_long ? "--Format=" : "--format=") + format.format);
    OrEnding<Captured> captured = request.capture(arguments);
    if (auto* ending = std::get_if<Ending>(&captured)) return *ending;
    auto& said = std::get<Captured>(captured);
    said.output = unmarked(said.output, format,
                           [&](std::string_view name) { return masked_user(name, request.context.user); });
    return request.answer(said);
}

}  // namespace

Ending handle_sinfo(const Context& context, const Call& call, Conversation& conversation) {
    OrEnding<QueryRequest> read = read_request(context, call, conversation);
    if (auto* ending = std::get_if<Ending>(&read)) return *ending;
    const auto& request = std::get<QueryRequest>(read);
    std::string format = request.parsed.value_of("format").value_or("");
    std::string long_format = request.parsed.value_of("Format").value_or("");
    if (!is_plain_format(format) || !is_plain_format(long_format)) {
        return request.deny(code::value, "--format: line breaks can't be in it");
    }
    if (format.find("%all") != format.npos) {
        return request.deny(code::other_users, "--format=%all: it has users' names in it", "choose columns");
    }
    base::Result<std::string> nonce = make_nonce();
    if (!nonce) return request.deny(code::unavailable, nonce.error().line());
    Arguments arguments = request.passed();
    request.add_given(arguments, {"list-reasons"});
    if (!request.parsed.words.empty())
        arguments.insert(arguments.end(), {"--", request.parsed.words.front()});
    if (request.parsed.has("json")) {
        Arguments as_json;
        request.add_given(as_json, {"json"});
        arguments.insert(arguments.begin(), as_json.begin(), as_json.end());
        return request.answer_json(arguments, [&](std::string_view document) {
            return with_masked_users(document, request.context.user);
        });
    }
    // sinfo itself refuses both formats at once.
    if (!format.empty() && !long_format.empty()) {
        arguments.insert(arguments.begin(), {"--format=%n", "--Format=nodelist"});
        return request.relay(arguments);
    }
    if (format.empty() && long_format.empty() && request.parsed.has("list-reasons")) {
        return show_reasons(request, arguments);
    }
    auto marked = format.empty() ? mark_names(long_format, kUserNames, *nonce)
                                 : mark_letters(format, kUserLetters, *nonce);
    if (marked) return show_masked(request, arguments, *marked);
    if (!format.empty()) arguments.insert(arguments.begin(), "--format=" + format);
    if (!long_format.empty()) arguments.insert(arguments.begin(), "--Format=" + long_format);
    return request.relay(arguments);
}

// The statistics of remote calls by user extend from their heading to the next blank line.
Ending handle_sdiag(const Context& context, const Call& call, Conversation& conversation) {
    OrEnding<QueryRequest> read = read_request(context, call, conversation);
    if (auto* ending = std::get_if<Ending>(&read)) return *ending;
    const auto& request = std::get<QueryRequest>(read);
    Arguments arguments = request.passed();
    if (!request.parsed.words.empty())
        arguments.insert(arguments.end(), {"--", request.parsed.words.front()});
    bool is_dropping = false;
    return request.relay(arguments, [&](std::string_view line) {
        bool was_dropping = is_dropping;
        if (line.starts_with("Remote Procedure Call statistics by user")) is_dropping = true;
        if (line == "\n") is_dropping = false;
        return was_dropping || is_dropping ? std::string() : std::string(line);
    });
}

}  // namespace slurm::queries
