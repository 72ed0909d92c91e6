// SPDX-License-Identifier: MIT
// All output of the program. Results of verbs go to standard output. Everything else goes to standard error,
// one line each, with "agent-sandbox: " in front. This file makes text from outside printable, so that file
// names, variables and text from a jail cannot send control sequences to the user's terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/table.h"

namespace cli {

// The exit code of a check that found something.
inline constexpr int kFailed = static_cast<int>(base::ExitCode::check_failed);

class Output {
  public:
    struct Stream {
        int descriptor;
        bool is_terminal = false;
        bool is_coloured = false;
    };

    // Colour only on a terminal, and never if NO_COLOR is set.
    static Output standard(const std::vector<std::string>& environment);
    Output(Stream results, Stream messages) : results_(results), messages_(messages) {}

    // Quiet drops information, but never errors or messages about weaker protection.
    void set_quiet(bool is_quiet) { is_quiet_ = is_quiet; }
    void set_verbose(bool is_verbose) { is_verbose_ = is_verbose; }

    void detail(std::string_view text) const;       // only when verbose
    void information(std::string_view text) const;  // on a terminal, or when verbose
    void warning(std::string_view text) const;
    void protection(std::string_view text) const;
    void error(const base::Error& error) const;

    // For `return output.fail(error)`: prints the error and returns its exit code.
    int fail(const base::Error& error) const;

    // Writes a verb's result unchanged and returns `exit_code`, or the code of a failed write.
    int result(std::string_view text, int exit_code = 0) const;

    // The width for prose: that of the terminal, at most kReadable; kReadable without a terminal.
    size_t width_of_results() const;
    bool colours_results() const { return results_.is_coloured; }
    bool is_quiet() const { return is_quiet_; }
    bool has_terminal() const { return messages_.is_terminal; }

  private:
    void message(std::string_view text, base::Style style) const;

    Stream results_;
    Stream messages_;
    bool is_quiet_ = false;
    bool is_verbose_ = false;
};

}  // namespace cli
