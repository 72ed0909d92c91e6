// SPDX-License-Identifier: MIT
// One connection to the chaperon, from the request to the command's end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/process/event_loop.h"
#include "slurm/channel/channel.h"
#include "slurm/client/command.h"
#include "slurm/client/streams.h"

namespace slurm::client {

class Session {
  public:
    // `passes_signals`: signals to this process are passed to the command.
    Session(std::string name, const std::vector<std::string>& arguments, base::Fd socket, bool passes_signals,
            Redirection redirection);

    // Sends the request and serves until the end. Nothing: the chaperon closed the connection before it sent
    // the exit status.
    std::optional<channel::Exit> run(std::string request);

  private:
    void register_sources(base::EventLoop& loop);
    void watch_signals();
    bool is_full() const { return output_.is_full() || errors_.is_full() || file_errors_.is_full(); }
    struct pollfd awaited() const;
    void attend(short events);
    void read_frames();
    void take(channel::Frame& frame);
    void take_errors(std::string_view bytes);
    void write_frames();
    void read_input();
    void read_signals();
    void take_signal(int number);
    void look_after_command();
    void begin();
    void drain();
    void lose_reader(Outlet& outlet);

    std::string name_;
    const std::vector<std::string>& arguments_;
    base::Fd socket_, signals_;
    bool passes_signals_;
    Redirection redirection_;

    channel::Decoder decoder_;
    std::string outgoing_;
    Outlet output_, errors_, file_errors_;
    ErrorSplitter splitter_;
    Terminal terminal_;
    UserCommand command_;
    std::vector<std::string> variables_;
    std::string piece_;

    size_t room_ = 0;
    bool is_input_over_ = false;
    bool has_begun_ = false;
    bool is_denied_ = false;
    bool is_closed_ = false;
    std::optional<channel::Exit> exit_;
};

// Ends this process as the command ended.
int end_like(channel::Exit exit);

}  // namespace slurm::client
