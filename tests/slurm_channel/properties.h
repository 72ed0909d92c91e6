// SPDX-License-Identifier: MIT
// Properties of the channel for any bytes that a process in the jail may send.
#pragma once

#include <string_view>
#include <vector>

#include "slurm/channel/channel.h"

namespace slurm::channel {

inline const char* broken_for_request(const StubRequest& request) {
    size_t size = 0;
    for (const std::string& argument : request.arguments) {
        size += argument.size() + 1;
        if (argument.find('\0') != std::string::npos) return "an argument has no NUL byte";
    }
    if (size > kMaximumArguments) return "arguments are bounded";
    size = 0;
    for (const std::string& variable : request.environment) {
        size += variable.size() + 1;
        if (variable.find('\0') != std::string::npos) return "a variable has no NUL byte";
        if (variable.find('=') == std::string::npos || variable[0] == '=') return "a variable has a name";
    }
    if (size > kMaximumEnvironment) return "the environment is bounded";
    if (request.script && request.script->size() > kMaximumScript) return "the script is bounded";
    if (request.command.empty() || request.command.size() > kMaximumCommand) return "a command has a name";
    if (!request.directory.starts_with('/')) return "the directory is absolute";

    std::vector<Frame> frames;
    Decoder decoder;
    Assembler again;
    if (!decoder.feed(render(request), frames)) return "what is rendered can be read";
    for (Frame& frame : frames) {
        switch (again.take(std::move(frame))) {
            case Assembler::Progress::more:
                continue;
            case Assembler::Progress::failed:
                return "what was a request is one again";
            case Assembler::Progress::complete:
                break;
        }
        const StubRequest& other = again.request();
        bool is_same = other.command == request.command && other.arguments == request.arguments &&
                       other.environment == request.environment && other.directory == request.directory &&
                       other.script == request.script &&
                       other.terminal.has_value() == request.terminal.has_value();
        return is_same ? nullptr : "a request is the same after a journey";
    }
    return "a request has an end";
}

inline const char* broken_for_frames(std::string_view input) {
    // All bytes at once and byte by byte must give the same frames.
    std::vector<Frame> at_once, slowly;
    Decoder fast, slow;
    bool is_read = fast.feed(input, at_once);
    bool is_read_slowly = true;
    for (char byte : input) is_read_slowly = slow.feed({&byte, 1}, slowly) && is_read_slowly;
    if (is_read != is_read_slowly) return "how bytes are cut does not matter";
    if (at_once.size() != slowly.size()) return "how bytes are cut does not change the frames";
    for (size_t index = 0; index < at_once.size(); ++index) {
        if (at_once[index].type != slowly[index].type || at_once[index].payload != slowly[index].payload)
            return "how bytes are cut does not change a frame";
        if (at_once[index].payload.size() > kMaximumPayload) return "a frame is bounded";
    }
    Assembler assembler;
    for (Frame& frame : at_once) {
        switch (assembler.take(std::move(frame))) {
            case Assembler::Progress::more:
                continue;
            case Assembler::Progress::failed:
                return assembler.code().empty() || assembler.what().empty() ? "a refusal has a reason"
                                                                            : nullptr;
            case Assembler::Progress::complete:
                return broken_for_request(assembler.request());
        }
    }
    return nullptr;
}

// The other direction: frames that a stub reads, and the values that either side decodes from a frame.
inline const char* broken_for_answers(std::string_view input) {
    std::vector<Frame> frames;
    Decoder decoder;
    decoder.feed(input, frames);
    auto payload_of = [](const std::string& bytes) { return std::string_view(bytes).substr(kHeaderSize); };
    for (const Frame& one : frames) {
        if (auto value = parse_number(one.payload);
            value && payload_of(number(one.type, *value)) != one.payload)
            return "a number is written as it was read";
        if (auto size = parse_window(one.payload); size && payload_of(window(one.type, *size)) != one.payload)
            return "a window is written as it was read";
        if (auto ending = parse_exit(one.payload); ending && payload_of(exit(*ending)) != one.payload)
            return "an exit is written as it was read";
        if (auto denial = parse_denied(one.payload)) {
            auto again = parse_denied(payload_of(denied(*denial)));
            if (!again || again->code != denial->code || again->what != denial->what ||
                again->advice != denial->advice)
                return "a denial is the same after a journey";
        }
    }
    return nullptr;
}

}  // namespace slurm::channel
