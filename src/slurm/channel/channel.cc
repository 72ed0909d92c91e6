// SPDX-License-Identifier: MIT
#include "slurm/channel/channel.h"

#include <algorithm>

namespace slurm::channel {
namespace {

void append_number(std::string& bytes, uint32_t value, int width = 4) {
    for (int shift = 8 * (width - 1); shift >= 0; shift -= 8)
        bytes += static_cast<char>(value >> shift & 0xff);
}

uint32_t number_in(std::string_view bytes) {
    uint32_t value = 0;
    for (char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
    return value;
}

bool is_known(uint8_t type) {
    return (type >= static_cast<uint8_t>(Type::hello) && type <= static_cast<uint8_t>(Type::ended)) ||
           (type >= static_cast<uint8_t>(Type::output) && type <= static_cast<uint8_t>(Type::exit));
}

void append_frame(std::string& bytes, Type type, std::string_view payload) {
    payload = payload.substr(0, kMaximumPayload);
    bytes += static_cast<char>(type);
    append_number(bytes, static_cast<uint32_t>(payload.size()));
    bytes += payload;
}

}  // namespace

std::string frame(Type type, std::string_view payload) {
    std::string bytes;
    append_frame(bytes, type, payload);
    return bytes;
}

std::string stream(Type type, std::string_view rest) {
    std::string bytes;
    for (; !rest.empty(); rest.remove_prefix(std::min(rest.size(), kMaximumPayload)))
        append_frame(bytes, type, rest);
    return bytes;
}

std::string word(Type type, std::string_view text) {
    size_t beginning = text.empty() ? 0 : (text.size() - 1) / kMaximumPayload * kMaximumPayload;
    return stream(Type::piece, text.substr(0, beginning)) + frame(type, text.substr(beginning));
}

std::string hello(std::string_view command) {
    std::string payload;
    append_number(payload, kVersion);
    payload += command;
    return frame(Type::hello, payload);
}

std::string number(Type type, uint32_t value) {
    std::string payload;
    append_number(payload, value);
    return frame(type, payload);
}

std::string window(Type type, Window size) {
    std::string payload;
    append_number(payload, size.rows, 2);
    append_number(payload, size.columns, 2);
    return frame(type, payload);
}

std::string exit(Exit exit) {
    std::string payload(1, exit.is_signal ? '\1' : '\0');
    append_number(payload, static_cast<uint32_t>(exit.number));
    return frame(Type::exit, payload);
}

std::string denied(const Denied& denial) {
    // Each part is short enough that the others fit too.
    constexpr size_t kLongest = kMaximumPayload / 4;
    std::string payload = denial.code.substr(0, kLongest);
    payload += '\0';
    payload += denial.what.substr(0, kLongest);
    payload += '\0';
    payload += denial.advice.substr(0, kLongest);
    return frame(Type::denied, payload);
}

std::optional<uint32_t> parse_number(std::string_view payload) {
    if (payload.size() != 4) return std::nullopt;
    return number_in(payload);
}

std::optional<Window> parse_window(std::string_view payload) {
    if (payload.size() != 4) return std::nullopt;
    return Window{static_cast<uint16_t>(number_in(payload.substr(0, 2))),
                  static_cast<uint16_t>(number_in(payload.substr(2)))};
}

std::optional<Exit> parse_exit(std::string_view payload) {
    if (payload.size() != 5 || static_cast<unsigned char>(payload[0]) > 1) return std::nullopt;
    uint32_t value = number_in(payload.substr(1));
    if (value > 0xff) return std::nullopt;
    return Exit{static_cast<int>(value), payload[0] == '\1'};
}

std::optional<Denied> parse_denied(std::string_view payload) {
    size_t first = payload.find('\0');
    if (first == std::string_view::npos) return std::nullopt;
    size_t second = payload.find('\0', first + 1);
    if (second == std::string_view::npos) return std::nullopt;
    return Denied{std::string(payload.substr(0, first)),
                  std::string(payload.substr(first + 1, second - first - 1)),
                  std::string(payload.substr(second + 1))};
}

bool Decoder::feed(std::string_view bytes, std::vector<Frame>& frames) {
    if (is_broken_) return false;
    // pending_ contains at most the current frame, however many bytes are fed at once.
    while (!bytes.empty()) {
        size_t wanted = kHeaderSize;
        if (pending_.size() >= kHeaderSize) wanted += number_in(std::string_view(pending_).substr(1, 4));
        size_t taken = std::min(wanted - pending_.size(), bytes.size());
        pending_ += bytes.substr(0, taken);
        bytes.remove_prefix(taken);
        if (pending_.size() < kHeaderSize) break;
        size_t length = number_in(std::string_view(pending_).substr(1, 4));
        if (!is_known(static_cast<uint8_t>(pending_[0])) || length > kMaximumPayload) {
            is_broken_ = true;
            return false;
        }
        if (pending_.size() < kHeaderSize + length) continue;
        frames.push_back({static_cast<Type>(pending_[0]), pending_.substr(kHeaderSize)});
        pending_.clear();
    }
    return true;
}

namespace {

bool has_nul(std::string_view text) {
    return text.find('\0') != std::string_view::npos;
}

bool is_command_name(std::string_view name) {
    return !name.empty() && name.size() <= kMaximumCommand &&
           std::ranges::all_of(name, [](char letter) { return letter >= 'a' && letter <= 'z'; });
}

bool is_variable(std::string_view text) {
    size_t equals = text.find('=');
    return equals != std::string_view::npos && equals > 0;
}

}  // namespace

std::string render(const StubRequest& request) {
    std::string bytes = hello(request.command);
    for (const std::string& argument : request.arguments) bytes += word(Type::argument, argument);
    for (const std::string& variable : request.environment) bytes += word(Type::variable, variable);
    bytes += frame(Type::directory, request.directory);
    if (request.terminal) bytes += window(Type::terminal, *request.terminal);
    if (request.script) bytes += stream(Type::script, *request.script) + frame(Type::script_end);
    bytes += frame(Type::ready);
    return bytes;
}

std::string too_large(std::string_view part, size_t limit) {
    bool is_mebibytes = limit >= (1u << 20);
    return std::string(part) + " larger than " + std::to_string(limit >> (is_mebibytes ? 20 : 10)) +
           (is_mebibytes ? " MiB" : " KiB");
}

Assembler::Progress Assembler::fail(std::string_view code, std::string what) {
    is_over_ = true;
    code_ = code;
    what_ = std::move(what);
    return Progress::failed;
}

Assembler::Progress Assembler::take(Frame frame) {
    if (is_over_) return fail(kBadProtocol, "a frame came after the request");
    if (request_.command.empty() && frame.type != Type::hello)
        return fail(kBadProtocol, "the request does not begin with its command");
    switch (frame.type) {
        case Type::hello:
            return take_hello(frame.payload);
        case Type::piece:
        case Type::argument:
        case Type::variable:
            return take_word(frame);
        case Type::directory:
            return take_directory(std::move(frame.payload));
        case Type::script:
        case Type::script_end:
            return take_script(frame);
        case Type::terminal:
            request_.terminal = parse_window(frame.payload);
            if (!request_.terminal) return fail(kBadProtocol, "a window size has the wrong length");
            return Progress::more;
        case Type::ready:
            return take_ready();
        case Type::input:
        case Type::input_end:
        case Type::signal:
        case Type::window:
        case Type::ended:
        case Type::output:
        case Type::error:
        case Type::room:
        case Type::raw:
        case Type::denied:
        case Type::run:
        case Type::exit:
            break;
    }
    return fail(kBadProtocol, "a frame does not belong into a request");
}

Assembler::Progress Assembler::take_hello(std::string_view payload) {
    if (!request_.command.empty()) return fail(kBadProtocol, "the request begins twice");
    if (payload.size() < 4) return fail(kBadProtocol, "the greeting is too short");
    if (parse_number(payload.substr(0, 4)) != kVersion)
        return fail(kBadProtocol, "the program inside the sandbox is of another version");
    payload.remove_prefix(4);
    if (!is_command_name(payload)) return fail(kBadProtocol, "the command's name is not one of Slurm's");
    request_.command = payload;
    return Progress::more;
}

Assembler::Progress Assembler::take_word(const Frame& frame) {
    // Check the size before storing a piece. Its kind is not known yet, but both kinds have the same limit.
    static_assert(kMaximumArguments == kMaximumEnvironment);
    if (piece_.size() + frame.payload.size() > kMaximumArguments)
        return fail(kTooLarge, too_large("an argument or a variable is", kMaximumArguments));
    piece_ += frame.payload;
    if (frame.type == Type::piece) return Progress::more;

    if (has_nul(piece_)) return fail(kBadProtocol, "a word holds a NUL byte");
    bool is_argument = frame.type == Type::argument;
    if (!is_argument && !is_variable(piece_)) return fail(kBadProtocol, "a variable has no name");
    size_t& size = is_argument ? arguments_size_ : environment_size_;
    size_t limit = is_argument ? kMaximumArguments : kMaximumEnvironment;
    size += piece_.size() + 1;
    if (size > limit)
        return fail(kTooLarge, too_large(is_argument ? "the arguments are" : "the environment is", limit));
    auto& words = is_argument ? request_.arguments : request_.environment;
    words.push_back(std::move(piece_));
    piece_.clear();
    return Progress::more;
}

Assembler::Progress Assembler::take_directory(std::string payload) {
    if (payload.size() > kMaximumDirectory || has_nul(payload) || !payload.starts_with('/') ||
        !request_.directory.empty())
        return fail(kBadProtocol, "the directory is not an absolute path");
    request_.directory = std::move(payload);
    return Progress::more;
}

Assembler::Progress Assembler::take_script(const Frame& frame) {
    if (is_script_complete_) return fail(kBadProtocol, "the script goes on after its end");
    if (!request_.script) request_.script.emplace();
    if (request_.script->size() + frame.payload.size() > kMaximumScript)
        return fail(kTooLarge, too_large("the script is", kMaximumScript));
    *request_.script += frame.payload;
    is_script_complete_ = frame.type == Type::script_end;
    return Progress::more;
}

Assembler::Progress Assembler::take_ready() {
    if (request_.directory.empty()) return fail(kBadProtocol, "the request has no directory");
    if (!piece_.empty()) return fail(kBadProtocol, "the request ends within a word");
    if (request_.script && !is_script_complete_) return fail(kBadProtocol, "the script has no end");
    is_over_ = true;
    return Progress::complete;
}

}  // namespace slurm::channel
