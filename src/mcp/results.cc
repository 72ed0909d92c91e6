// SPDX-License-Identifier: MIT
#include "mcp/results.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/encoding/base64.h"
#include "base/text.h"

namespace mcp {
namespace {

using base::Json;

constexpr size_t kLongestReason = 500;
constexpr size_t kLongestPath = 4096;
constexpr size_t kLongestCharacter = 4;  // of UTF-8, in bytes

std::optional<Json> object_in(std::string_view text) {
    if (depth_of(text) > kDeepest) return std::nullopt;
    base::Result<Json> parsed = Json::parse(text);
    if (!parsed || !parsed->is_object()) return std::nullopt;
    return *std::move(parsed);
}

CallResult problem(std::string text) {
    return {.problem = std::move(text)};
}

CallResult unreadable() {
    return problem("the part of agent-sandbox inside the jail gave an answer that can't be read");
}

void add_stream(Json& result, const std::string& name, const StreamOutput& stream) {
    result.set(name, stream.text.text());
    result.set(name + "_bytes", static_cast<int64_t>(stream.text.bytes()));
}

Json file_of(const StreamOutput& stream) {
    return stream.file.empty() ? Json() : Json(stream.file);
}

// The bytes as text, if they are UTF-8. Where the file goes on, a part of a character may be cut off: the
// next read begins with it.
std::optional<std::string_view> text_in(std::string_view bytes, bool goes_on) {
    const size_t most = goes_on ? std::min(kLongestCharacter - 1, bytes.size()) : 0;
    for (size_t cut = 0; cut <= most; ++cut) {
        std::string_view text = bytes.substr(0, bytes.size() - cut);
        if ((cut == 0 || !text.empty()) && base::is_valid_utf8(text)) return text;
    }
    return std::nullopt;
}

}  // namespace

Json run_result(const RunOutcome& outcome) {
    Json result = Json::object().set("exit_status", outcome.exit_status);
    add_stream(result, "stdout", outcome.out);
    add_stream(result, "stderr", outcome.err);
    result.set("timed_out", outcome.has_timed_out);
    result.set("truncated", outcome.out.text.is_cut() || outcome.err.text.is_cut());
    result.set("stdout_file", file_of(outcome.out)).set("stderr_file", file_of(outcome.err));
    for (const StreamOutput* stream : {&outcome.out, &outcome.err}) {
        if (!stream->problem.empty()) result.set("file_problem", stream->problem);
    }
    return result.set("refused", outcome.refused);
}

std::string problem_in(const FromInside& answer) {
    std::string_view text = base::trim(answer.errors);
    text = text.substr(0, text.find('\n'));
    if (text.empty())
        return base::format("the part of agent-sandbox inside the jail ended with status {}",
                            answer.exit_status);
    return base::printable(text.substr(0, kLongestReason));
}

CallResult read_result(const ReadCall& call, const FromInside& answer) {
    if (answer.exit_status != 0) return problem(problem_in(answer));
    const size_t end = answer.output.find('\n');
    if (end == std::string_view::npos) return unreadable();
    std::optional<Json> head = object_in(answer.output.substr(0, end));
    if (!head) return unreadable();
    Json result = Json::object().set("path", call.path);
    result.set("total", head->number("total")).set("offset", call.offset);
    if (const Json* entries = head->find("entries"); entries != nullptr && entries->is_array()) {
        result.set("length", entries->items().size()).set("entries", *entries);
        return {.content = std::move(result), .problem = {}};
    }
    const std::string_view bytes = answer.output.substr(end + 1);
    const std::optional<std::string_view> text =
        text_in(bytes, call.offset + static_cast<int64_t>(bytes.size()) < head->number("total"));
    result.set("length", text ? text->size() : bytes.size());
    text ? result.set("text", *text) : result.set("base64", base::to_base64(bytes));
    return {.content = std::move(result), .problem = {}};
}

CallResult write_result(const WriteCall& call, const FromInside& answer) {
    if (answer.exit_status != 0) return problem(problem_in(answer));
    Json result = Json::object().set("path", call.path).set("written", call.content.size());
    return {.content = std::move(result), .problem = {}};
}

// The exit status is that of `why`: 1 where the answer is no.
CallResult why_result(const FromInside& answer) {
    std::optional<Json> said = answer.exit_status <= 1 ? object_in(answer.output) : std::nullopt;
    if (!said) return problem(problem_in(answer));
    for (const char* key : {"verdict", "change"}) said->set(key, said->text(key));
    said->set("allowed", said->truth("allowed"));
    return {.content = *std::move(said), .problem = {}};
}

std::string kept_path(const FromInside& answer) {
    std::optional<Json> kept = answer.exit_status == 0 ? object_in(answer.output) : std::nullopt;
    std::string path = kept ? kept->text("path") : "";
    return path.size() <= kLongestPath ? path : "";
}

}  // namespace mcp
