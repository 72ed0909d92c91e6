// SPDX-License-Identifier: MIT
// Frames between a stub inside the jail and the chaperon outside: a type, a length, so many bytes. One
// connection carries one command.
//
//   stub                                                    chaperon
//   hello, then in any order argument, variable,
//   directory, script, terminal; ready              ->
//                                                   <-      room (so many more bytes of input are welcome)
//   input, input_end, signal, window                ->
//                                                   <-      output, error, raw
//                                                   <-      variable …, run (salloc: run the command now)
//   ended                                           ->
//                                                   <-      denied; exit, which is the last one
//
// Input is sent only against room that was given: the chaperon never has to leave a frame unread, so a signal
// overtakes all input that the command has not taken. Who is given no room leaves its standard input alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slurm::channel {

inline constexpr uint32_t kVersion = 1;
inline constexpr size_t kHeaderSize = 5;
inline constexpr size_t kMaximumPayload = 64u << 10;
// The input that may be on its way to a command, and what either side holds back of its output.
inline constexpr size_t kWindow = 256u << 10;

enum class Type : uint8_t {
    hello = 1,       // version (4 bytes), name of the command
    piece = 2,       // the beginning of the argument or variable that follows
    argument = 3,    //
    variable = 4,    // "NAME=value"; from the chaperon: one for the command of salloc
    directory = 5,   //
    script = 6,      // a part of it
    script_end = 7,  // there is a script, and this was all of it
    terminal = 8,    // standard input is a terminal: rows, columns (2 bytes each)
    ready = 9,       // that was the request
    input = 10,      //
    input_end = 11,  //
    signal = 12,     // its number (4 bytes)
    window = 13,     // rows, columns
    ended = 14,      // the command of salloc has ended: its status (4 bytes)
    output = 64,     //
    error = 65,      //
    room = 66,       // bytes (4 bytes)
    raw = 67,        // the terminal's bytes belong to the command from here on
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

// Payloads above the limit are cut.
std::string frame(Type type, std::string_view payload = {});
// As many frames as it takes.
std::string stream(Type type, std::string_view rest);
// An argument or a variable, with its beginning in pieces where it is long.
std::string word(Type type, std::string_view text);
std::string hello(std::string_view command);
std::string number(Type type, uint32_t value);
std::string window(Type type, Window size);
std::string exit(Exit exit);
std::string denied(const Denied& denial);

// Nothing where the payload has another shape.
std::optional<uint32_t> parse_number(std::string_view payload);
std::optional<Window> parse_window(std::string_view payload);
std::optional<Exit> parse_exit(std::string_view payload);
std::optional<Denied> parse_denied(std::string_view payload);

// Cuts a stream of bytes into frames. Holds at most one unfinished frame; a length above the limit or a type
// that nobody knows ends it for good.
class Decoder {
  public:
    // Appends the frames that these bytes complete. False: what came is no frame, now or earlier.
    bool feed(std::string_view bytes, std::vector<Frame>& frames);

  private:
    std::string pending_;
    bool is_broken_ = false;
};

}  // namespace slurm::channel
