// SPDX-License-Identifier: MIT
// What the program says. Results of verbs go to standard output; everything else goes to standard error, one
// line each, "agent-sandbox: " in front. Whatever came from outside is made printable here, so that no file
// name, no variable and nothing from a jail can drive the user's terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/style.h"

namespace cli {

class Output {
  public:
    struct Stream {
        int descriptor;
        bool is_terminal = false;
        bool is_coloured = false;
    };

    // Colour only on a terminal, and never where NO_COLOR says so.
    static Output standard(const std::vector<std::string>& environment);
    Output(Stream results, Stream messages) : results_(results), messages_(messages) {}

    // Quiet silences information; never errors, never what weakens the protection.
    void set_quiet(bool is_quiet) { is_quiet_ = is_quiet; }
    void set_verbose(bool is_verbose) { is_verbose_ = is_verbose; }

    void detail(std::string_view text) const;       // only when verbose
    void information(std::string_view text) const;  // on a terminal, or when verbose
    void warning(std::string_view text) const;
    void protection(std::string_view text) const;
    void error(const base::Error& error) const;

    // For `return output.fail(error)`: says it and gives its exit code.
    int fail(const base::Error& error) const;

    // Writes a verb's result as it is and returns `exit_code`, or that of a failed write.
    int result(std::string_view text, int exit_code = 0) const;

    // How wide prose may be: the terminal, up to a measure that can be read; without one, that measure.
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
