// SPDX-License-Identifier: MIT
// The terminal of the monitor: the full screen, and its keys.
#pragma once

#include <signal.h>
#include <termios.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace monitor {

// Takes a terminal over for a full screen, and restores it, whatever ends the program except SIGKILL.

struct Size {
    size_t width = 80;
    size_t height = 24;
    bool operator==(const Size&) const = default;
};
// 80x24 if the terminal does not report its size.
Size size_of_terminal(int descriptor);

class Terminal {
  public:
    Terminal() = default;
    ~Terminal() { give_back(); }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    base::Status take_over(int input, int output);
    void give_back();

    void write(std::string_view text) const;
    Size size() const { return size_of_terminal(output_); }

    // The bytes that were typed within this time, perhaps none; a signal or a new size ends the wait.
    std::string read_keys(std::chrono::milliseconds patience);
    // The signal that ends the program; zero: none. A closed terminal counts as SIGHUP.
    int ending_signal() const;

  private:
    int input_ = -1;
    int output_ = -1;
    bool is_gone_ = false;
    struct termios before_ = {};
    sigset_t mask_before_ = {};
};

// Keys as terminals send them.

enum class Key { up, down, approve, deny, stop, help, quit, yes, no };

// Other bytes are skipped. A sequence that is cut in two is lost; users press keys one at a time.
std::vector<Key> keys_in(std::string_view bytes);

}  // namespace monitor
