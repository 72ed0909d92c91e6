// SPDX-License-Identifier: MIT
#include "mcp/tools.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/encoding/base64.h"
#include "base/text.h"

namespace mcp {
namespace {

using base::Json;

// No file is longer, and an offset plus a length stays a number.
constexpr int64_t kFarthest = int64_t{1} << 60;
constexpr std::string_view kModes[] = {"create", "replace", "append"};
constexpr std::string_view kSubjects[] = {"path", "host", "env", "syscall"};

base::Error wrong(std::string text) {
    return base::Error{.what = std::move(text)};
}

// ---- Arguments

// Absent: the default stays. Null counts as absent, because some clients send it.
const Json* given(const Json& arguments, std::string_view key) {
    const Json* value = arguments.find(key);
    return value == nullptr || value->is_null() ? nullptr : value;
}

// A path or word becomes an argument of a program, which can't contain NUL.
base::Status take_word(const Json& arguments, std::string_view key, std::string& place) {
    const Json* value = given(arguments, key);
    if (value == nullptr) return base::success();
    if (value->as_text() == nullptr) return wrong(base::format("'{}' must be a text", key));
    if (value->as_text()->find('\0') != std::string::npos)
        return wrong(base::format("'{}' contains a NUL character", key));
    place = *value->as_text();
    return base::success();
}

struct Bounds {
    int64_t least, most;
};

// Fractions are read as null by the JSON reader, so a member that is there and null may be one.
base::Status take_number(const Json& arguments, std::string_view key, Bounds bounds, int64_t& place) {
    const Json* value = arguments.find(key);
    if (value == nullptr) return base::success();
    const int64_t* number = value->as_number();
    if (number == nullptr || *number < bounds.least || *number > bounds.most)
        return wrong(
            base::format("'{}' must be a whole number from {} to {}", key, bounds.least, bounds.most));
    place = *number;
    return base::success();
}

base::Status check_names(const Json& arguments, std::span<const std::string_view> known) {
    for (const auto& [key, value] : arguments.members()) {
        if (std::ranges::find(known, key) == known.end())
            return wrong(base::format("the argument '{}' is unknown", base::printable(key)));
    }
    return base::success();
}

base::Result<std::vector<std::string>> command_in(const Json& arguments) {
    const Json* value = given(arguments, "command");
    std::vector<std::string> words;
    if (value != nullptr && value->as_text() != nullptr) words = {"/bin/sh", "-c", *value->as_text()};
    if (value != nullptr) {
        for (const Json& item : value->items()) {
            if (item.as_text() == nullptr) return wrong("each word of 'command' must be a text");
            words.push_back(*item.as_text());
        }
    }
    if (words.empty() || words.front().empty())
        return wrong("'command' must be a list of words, or one text for sh -c");
    bool has_nul =
        std::ranges::any_of(words, [](const auto& word) { return word.find('\0') != std::string::npos; });
    if (has_nul) return wrong("'command' contains a NUL character");
    return words;
}

base::Result<ToolCall> read_run(const Json& arguments) {
    base::Result<std::vector<std::string>> command = command_in(arguments);
    if (!command) return command.error();
    RunCall call{.command = *std::move(command)};
    if (base::Status taken = take_word(arguments, "cwd", call.directory); !taken) return taken.error();
    if (base::Status taken = take_number(arguments, "timeout_s", {1, kLongestTimeout}, call.timeout_s);
        !taken)
        return taken.error();
    const Json* input = given(arguments, "stdin");
    if (input != nullptr && input->as_text() == nullptr) return wrong("'stdin' must be a text");
    if (input != nullptr) call.input = *input->as_text();
    return ToolCall(std::move(call));
}

base::Result<ToolCall> read_read(const Json& arguments) {
    ReadCall call;
    if (base::Status taken = take_word(arguments, "path", call.path); !taken) return taken.error();
    if (call.path.empty()) return wrong("'path' is missing");
    if (base::Status taken = take_number(arguments, "offset", {0, kFarthest}, call.offset); !taken)
        return taken.error();
    if (base::Status taken = take_number(arguments, "length", {1, kMostOfOutput}, call.length); !taken)
        return taken.error();
    return ToolCall(std::move(call));
}

base::Result<ToolCall> read_write(const Json& arguments) {
    WriteCall call;
    if (base::Status taken = take_word(arguments, "path", call.path); !taken) return taken.error();
    if (call.path.empty()) return wrong("'path' is missing");
    if (base::Status taken = take_word(arguments, "mode", call.mode); !taken) return taken.error();
    if (std::ranges::count(kModes, call.mode) == 0) return wrong("'mode' must be create, replace or append");
    const Json* content = given(arguments, "content");
    const Json* encoded = given(arguments, "content_base64");
    if ((content == nullptr) == (encoded == nullptr))
        return wrong("one of 'content' and 'content_base64' is necessary");
    const Json& value = content ? *content : *encoded;
    if (value.as_text() == nullptr) return wrong("the content must be a text");
    if (content != nullptr) {
        call.content = *content->as_text();
        return ToolCall(std::move(call));
    }
    std::optional<std::string> bytes = base::from_base64(*encoded->as_text());
    if (!bytes) return wrong("'content_base64' is not base64");
    call.content = *std::move(bytes);
    return ToolCall(std::move(call));
}

base::Result<ToolCall> read_why(const Json& arguments) {
    WhyCall call;
    for (std::string_view subject : kSubjects) {
        std::string name;
        if (base::Status taken = take_word(arguments, subject, name); !taken) return taken.error();
        if (name.empty()) continue;
        if (!call.name.empty())
            return wrong("only one of path, host, env and syscall can be explained at once");
        call.subject = subject;
        call.name = std::move(name);
    }
    if (call.name.empty()) return wrong("one of path, host, env and syscall is necessary");
    // It becomes a word of a command line.
    if (call.name.starts_with('-')) return wrong(base::format("'{}' can't begin with '-'", call.subject));
    const Json* write = given(arguments, "write");
    if (write != nullptr && write->as_truth() == nullptr) return wrong("'write' must be true or false");
    call.is_write = write != nullptr && *write->as_truth();
    return ToolCall(std::move(call));
}

base::Result<ToolCall> read_changes(const Json& /*arguments*/) {
    return ToolCall(ChangesCall{});
}

// ---- Descriptions

Json property(std::string_view type, std::string_view text) {
    return Json::object().set("type", type).set("description", text);
}

Json object_schema(Json properties, Json required) {
    return Json::object()
        .set("type", "object")
        .set("properties", std::move(properties))
        .set("required", std::move(required));
}

Json names(std::span<const std::string_view> list) {
    Json array = Json::array();
    for (std::string_view name : list) array.push(name);
    return array;
}

struct Hints {
    bool is_read_only, is_destructive, reaches_network;
};

struct Argument {
    std::string_view name, type, help;
};

struct Tool {
    std::string_view name, title, help;
    Hints hints;
    std::span<const Argument> arguments;
    std::span<const std::string_view> required;
    std::span<const Argument> results;
    base::Result<ToolCall> (*read)(const Json&);
    bool needs_layer = false;
};

constexpr Argument kRunArguments[] = {
    {"command", "", "the program and its arguments, or one text for sh -c"},
    {"cwd", "string", "the directory in which it starts, relative to the session's"},
    {"timeout_s", "integer", "seconds until it is ended; 120 if not given"},
    {"stdin", "string", "its standard input; empty if not given"},
};
constexpr Argument kRunResults[] = {
    {"stdout", "string", "at most 256 KiB: of longer output the first and the last half"},
    {"stderr", "string", "likewise"},
    {"exit_status", "integer", "128 and the number after a signal"},
    {"timed_out", "boolean", "the command was ended, because timeout_s was over"},
    {"truncated", "boolean", "a stream was longer; stdout_file and stderr_file have the whole"},
    {"stdout_file", "", "path of the whole output, or null"},
    {"stderr_file", "", "path of the whole output, or null"},
    {"refused", "", "what the jail refused meanwhile, each with its rule and the change that would allow it"},
};
constexpr Argument kReadArguments[] = {
    {"path", "string", "a file or directory, relative to the session's directory"},
    {"offset", "integer", "the first byte, or the first entry of a directory; 0 if not given"},
    {"length", "integer", "how many bytes, or entries; at most 262144"},
};
constexpr Argument kReadResults[] = {
    {"path", "string", "as given"},
    {"total", "integer", "the size of the file in bytes, or the number of entries"},
    {"offset", "integer", "of the first byte or entry here"},
    {"length", "integer", "how many bytes or entries are here"},
};
constexpr Argument kWriteArguments[] = {
    {"path", "string", "the file, relative to the session's directory"},
    {"content", "string", "the text to write"},
    {"content_base64", "string", "bytes to write, in place of content"},
    {"mode", "string", "create (the file must be missing), replace or append; replace if not given"},
};
constexpr Argument kWriteResults[] = {
    {"path", "string", "as given"},
    {"written", "integer", "bytes"},
};
constexpr Argument kWhyArguments[] = {
    {"path", "string", "a path"},
    {"host", "string", "a host, HOST or HOST:PORT"},
    {"env", "string", "the name of a variable"},
    {"syscall", "string", "the name of a system call"},
    {"write", "boolean", "with path: may it be written"},
};
constexpr Argument kWhyResults[] = {
    {"allowed", "boolean", "the verdict"},
    {"verdict", "string", "the verdict in words"},
    {"change", "string", "the smallest change that would allow it; the user makes it, outside"},
};
constexpr Argument kChangesResults[] = {
    {"deleted", "integer", "files"},
    {"changed", "integer", "files"},
    {"added", "integer", "files"},
    {"changes", "array", "path and kind of each, at most 1000"},
};
constexpr std::string_view kCommand[] = {"command"}, kPath[] = {"path"};

constexpr Tool kTools[] = {
    {"run",
     "Run a command",
     "Runs a command in the jail and returns its output and exit status. The jail "
     "refuses what its rules do not allow; 'refused' lists it. Background processes "
     "keep running until the session ends.",
     {false, true, true},
     kRunArguments,
     kCommand,
     kRunResults,
     read_run},
    {"read",
     "Read a file or directory",
     "Reads a part of a file, as text or base64, or lists a directory, as "
     "processes of the jail see it.",
     {true, false, false},
     kReadArguments,
     kPath,
     kReadResults,
     read_read},
    {"write",
     "Write a file",
     "Writes a file in the jail. create and replace write a new file and rename it; "
     "append adds to the end.",
     {false, true, false},
     kWriteArguments,
     kPath,
     kWriteResults,
     read_write},
    {"why",
     "Explain a verdict",
     "Explains whether the jail allows a path, host, variable or system call, which "
     "rule decides, and the smallest change that would allow it. Only the user can "
     "make that change, outside of the jail.",
     {true, false, false},
     kWhyArguments,
     {},
     kWhyResults,
     read_why},
    {"changes",
     "List the changes",
     "Lists what this session has changed in the project. The user applies or "
     "discards it later, outside of the jail.",
     {true, false, false},
     {},
     {},
     kChangesResults,
     read_changes,
     true},
};

Json properties_of(std::span<const Argument> arguments) {
    Json properties = Json::object();
    for (const Argument& one : arguments) {
        Json about =
            one.type.empty() ? Json::object().set("description", one.help) : property(one.type, one.help);
        if (one.name == "mode") about.set("enum", names(kModes));
        if (one.name == "command") {
            Json words = Json::object().set("type", "array");
            words.set("items", Json::object().set("type", "string"));
            about.set("anyOf", Json::array().push(words).push(Json::object().set("type", "string")));
        }
        properties.set(std::string(one.name), std::move(about));
    }
    return properties;
}

Json required_results(const Tool& tool) {
    Json all = Json::array();
    for (const Argument& one : tool.results) all.push(one.name);
    return all;
}

Json describe(const Tool& tool, const Offer& offer, bool has_result_schemas) {
    Json hints = Json::object()
                     .set("title", tool.title)
                     .set("readOnlyHint", tool.hints.is_read_only)
                     .set("destructiveHint", tool.hints.is_destructive)
                     .set("openWorldHint", tool.hints.reaches_network && offer.has_network);
    Json about = Json::object().set("name", tool.name).set("title", tool.title).set("description", tool.help);
    Json schema = object_schema(properties_of(tool.arguments), names(tool.required));
    about.set("inputSchema", schema.set("additionalProperties", false));
    if (has_result_schemas)
        about.set("outputSchema", object_schema(properties_of(tool.results), required_results(tool)));
    return about.set("annotations", std::move(hints));
}

bool is_offered(const Tool& tool, const Offer& offer) {
    return !tool.needs_layer || offer.has_layer;
}

}  // namespace

Json tool_list(const Offer& offer, bool has_result_schemas) {
    Json tools = Json::array();
    for (const Tool& tool : kTools) {
        if (is_offered(tool, offer)) tools.push(describe(tool, offer, has_result_schemas));
    }
    return Json::object().set("tools", std::move(tools));
}

base::Result<ToolCall> read_call(const Offer& offer, std::string_view name, const Json& arguments) {
    const Tool* tool = std::ranges::find(kTools, name, &Tool::name);
    if (tool == std::end(kTools) || !is_offered(*tool, offer))
        return wrong(base::format("the tool '{}' is unknown", base::printable(name)));
    if (!arguments.is_object()) return wrong("'arguments' must be an object");
    std::vector<std::string_view> known;
    for (const Argument& one : tool->arguments) known.push_back(one.name);
    if (base::Status checked = check_names(arguments, known); !checked) return checked.error();
    return tool->read(arguments);
}

}  // namespace mcp
