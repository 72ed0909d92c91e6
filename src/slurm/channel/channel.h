// SPDX-License-Identifier: MIT
// The channel between a stub inside the jail and the chaperon outside: frames, and the request that they
// make up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slurm::channel {

// Frames between a stub inside the jail and the chaperon outside: a type, a length, the payload. One
// connection carries one command.
//
//   stub                                                    chaperon
//   hello, then in any order argument, variable,
//   directory, script, terminal; ready              ->
//                                                   <-      room (more bytes of input may be sent)
//   input, input_end, signal, window                ->
//                                                   <-      output, error, raw
//                                                   <-      variable …, run (salloc: run the command now)
//   ended                                           ->
//                                                   <-      denied; exit, which is the last one
//
// The stub sends input only up to the room that it was given. So the chaperon never leaves a frame unread,
// and a signal overtakes all input that the command has not read. A stub without room does not read its
// standard input.

inline constexpr uint32_t kVersion = 1;
inline constexpr size_t kHeaderSize = 5;
inline constexpr size_t kMaximumPayload = 64u << 10;
// The limit of input on its way to a command, and of output that either side buffers.
inline constexpr size_t kWindow = 256u << 10;

enum class Type : uint8_t {
    hello = 1,       // version (4 bytes), name of the command
    piece = 2,       // the beginning of the argument or variable that follows
    argument = 3,    //
    variable = 4,    // "NAME=value"; from the chaperon: one for the command of salloc
    directory = 5,   //
    script = 6,      // a part of the script
    script_end = 7,  // the script is complete; also sent for an empty one
    terminal = 8,    // standard input is a terminal: rows, columns (2 bytes each)
    ready = 9,       // the request is complete
    input = 10,      //
    input_end = 11,  //
    signal = 12,     // its number (4 bytes)
    window = 13,     // rows, columns
    ended = 14,      // the command of salloc has ended: its status (4 bytes)
    output = 64,     //
    error = 65,      //
    room = 66,       // bytes (4 bytes)
    raw = 67,        // from here on the terminal's bytes are for the command
    denied = 68,     // code, NUL, what, NUL, advice
    run = 69,        //
    exit = 70,       // 0: status, 1: signal (1 byte); the number (4 bytes)
};

struct Frame {
    Type type = Type::hello;
    std::string payload;
};

struct Window {
    uint16_t rows = 0, columns = 0;
};

struct Exit {
    int number = 0;
    bool is_signal = false;
};

struct Denied {
    std::string code, what, advice;
};

// Payloads above the limit are truncated.
std::string frame(Type type, std::string_view payload = {});
// Splits the bytes into frames.
std::string stream(Type type, std::string_view rest);
// An argument or a variable. The beginning of a long one is sent in pieces.
std::string word(Type type, std::string_view text);
std::string hello(std::string_view command);
std::string number(Type type, uint32_t value);
std::string window(Type type, Window size);
std::string exit(Exit exit);
std::string denied(const Denied& denial);

// Nothing if the payload is malformed.
std::optional<uint32_t> parse_number(std::string_view payload);
std::optional<Window> parse_window(std::string_view payload);
std::optional<Exit> parse_exit(std::string_view payload);
std::optional<Denied> parse_denied(std::string_view payload);

// Splits a stream of bytes into frames. Stores at most one incomplete frame. After a length above the limit
// or an unknown type it accepts no more bytes.
class Decoder {
  public:
    // Appends the frames that these bytes complete. False: the stream is malformed, now or earlier.
    bool feed(std::string_view bytes, std::vector<Frame>& frames);

  private:
    std::string pending_;
    bool is_broken_ = false;
};

// Assembles a request from frames. Every part has a limit, and its content is untrusted.

inline constexpr size_t kMaximumArguments = 256u << 10;    // in total, plus one byte for the end of each
inline constexpr size_t kMaximumEnvironment = 256u << 10;  // the same
inline constexpr size_t kMaximumScript = 4u << 20;         // Slurm's own default
inline constexpr size_t kMaximumDirectory = 4096;
inline constexpr size_t kMaximumCommand = 32;

// Codes of a denial for a malformed or too large request.
inline constexpr std::string_view kTooLarge = "slurm-too-large";
inline constexpr std::string_view kBadProtocol = "slurm-unavailable";

struct StubRequest {
    std::string command;  // lower-case letters
    std::vector<std::string> arguments;
    std::vector<std::string> environment;  // "NAME=value"
    std::string directory;                 // absolute
    std::optional<std::string> script;
    std::optional<Window> terminal;
};

// The request as frames, with "ready".
std::string render(const StubRequest& request);

// The text for a part that is too large, on either side: "the script is larger than 4 MiB".
std::string too_large(std::string_view part, size_t limit);

class Assembler {
  public:
    enum class Progress { more, complete, failed };

    Progress take(Frame frame);

    // After complete.
    StubRequest& request() { return request_; }
    // After failed: the code and the text of the denial.
    std::string_view code() const { return code_; }
    const std::string& what() const { return what_; }
    // The script has begun to arrive: it may take longer than the rest of a request.
    bool is_in_script() const { return request_.script.has_value(); }

  private:
    Progress fail(std::string_view code, std::string what);
    Progress take_hello(std::string_view payload);
    Progress take_word(const Frame& frame);
    Progress take_script(const Frame& frame);
    Progress take_directory(std::string payload);
    Progress take_ready();

    StubRequest request_;
    std::string piece_;
    size_t arguments_size_ = 0;
    size_t environment_size_ = 0;
    bool is_script_complete_ = false;
    bool is_over_ = false;
    std::string_view code_;
    std::string what_;
};

}  // namespace slurm::channel
