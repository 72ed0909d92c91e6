// SPDX-License-Identifier: MIT
// The last output of a detached session's terminal, for the next client that attaches. The bytes come from
// the jail, and the client's terminal obeys them a second time. So a replay has no sequence that a terminal
// answers, and none that acts outside the screen:
//
//   Threat: an answer is typed into the jail, where the program that asked has long read its answer; and a
//   replayed clipboard sequence would replace the clipboard again (tests/session/replay_test.cc,
//   tests/jail/attach.bats).
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace session {

// Output without questions to the terminal: status and attribute reports, strings for other purposes than
// titles and links, and bells. A sequence without an end at the end of the text is dropped, too.
std::string without_questions(std::string_view output);

class Replay {
  public:
    static constexpr size_t kMost = 256u << 10;

    void add(std::string_view output);
    // At most kMost bytes and a few for the terminal's modes. Older output is cut at the start of a line.
    std::string text();

  private:
    void drop(size_t count);

    std::string kept_;
    bool is_cut_ = false;
    std::string begun_;          // an unfinished sequence at the end of what was dropped
    std::map<int, bool> modes_;  // private modes (DECSET) where kept_ begins
};

}  // namespace session
