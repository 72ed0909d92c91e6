// SPDX-License-Identifier: MIT
// Assembles a request from frames. Every part has a limit, and its content is untrusted.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slurm/channel/frame.h"

namespace slurm::channel {

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
