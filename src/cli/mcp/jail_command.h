// SPDX-License-Identifier: MIT
// One command inside the session, with its input, its bounded output and its limit of time, in a loop that
// serves several. If its output is longer than the bound, a second command inside writes the whole of it to a
// file there; the command waits while that file is slower.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bounded_text.h"
#include "base/file.h"
#include "base/process/event_loop.h"
#include "base/result.h"
#include "session/control/known_sessions.h"
#include "session/exec/added_process.h"

namespace cli {

class JailCommand {
  public:
    struct Want {
        std::vector<std::string> command;
        std::string directory = {};
        std::string input = {};
        bool has_more_input = false;         // add_input() follows
        size_t most_output = 0;              // of each stream
        std::vector<std::string> keep = {};  // writes its input to a file; empty: nothing does
        std::chrono::seconds longest{0};     // 0: no limit
    };

    // `done` is called once, in a later turn of the loop: by then the object may be gone.
    JailCommand(base::EventLoop& loop, const session::Known& known, Want want, std::function<void()> done);
    ~JailCommand();
    JailCommand(const JailCommand&) = delete;
    JailCommand& operator=(const JailCommand&) = delete;

    void add_input(std::string_view bytes);
    void end_input();
    bool takes_input() const { return input_.size() - sent_ < kMostPending; }

    uint64_t bytes() const { return out_.text.bytes() + err_.text.bytes(); }

    // When done.
    const std::optional<base::Error>& failure() const { return failure_; }
    const session::AddedEnding& ending() const { return ending_; }
    bool has_timed_out() const { return has_timed_out_; }
    const base::BoundedText& out() const { return out_.text; }
    const base::BoundedText& err() const { return err_.text; }
    // The commands that wrote the whole output; null: it was not longer.
    const JailCommand* kept_out() const { return out_.kept.get(); }
    const JailCommand* kept_err() const { return err_.kept.get(); }

  private:
    static constexpr size_t kMostPending = 64u << 10;
    struct Capture {
        explicit Capture(size_t most) : text(most), bound(most) {}
        base::Fd pipe;
        base::BoundedText text;
        size_t bound;
        std::unique_ptr<JailCommand> kept;
        bool is_kept = false;
    };

    base::Status start();
    void watch();
    void hear();
    void read_some(Capture& capture);
    void read_rest(Capture& capture);
    void keep(Capture& capture, std::string_view bytes);
    void send_input();
    void take_timeout(int signal);
    void end();
    void finish_if_over();

    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for what the loop calls later
    base::EventLoop& loop_;
    const session::Known& known_;
    Want want_;
    std::function<void()> done_;
    std::optional<session::AddedProcess> process_;
    base::Fd stdin_;
    std::string input_;
    size_t sent_ = 0;
    bool is_input_over_ = false;
    Capture out_, err_;
    std::vector<base::EventLoop::SourceId> sources_;
    base::EventLoop::TimerId timer_ = 0;
    bool has_timed_out_ = false;
    bool is_over_ = false, is_finished_ = false;
    session::AddedEnding ending_;
    std::optional<base::Error> failure_;
};

}  // namespace cli
