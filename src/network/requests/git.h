// SPDX-License-Identifier: MIT
// git over HTTPS ("smart HTTP"): which requests are a fetch or a push, the refs that a push changes, and
// refusals that git prints as its own messages.
//
// A push is one POST: pkt-lines with a command for each ref, a flush packet, then the pack. The commands are
// read before a byte is forwarded. Whether an update is forced is not visible here: that needs the history.
// The older protocol without a service ("dumb HTTP") is ordinary requests by path. lfs.h reads git-LFS.
//
// Threat: a command that the reader and the server understand differently. The reader accepts only the form
// that git itself sends. Tests: tests/requests/git_test.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "network/requests/path.h"

namespace network::requests {

constexpr size_t kMaximumCommandBytes = 65536;
constexpr size_t kMaximumCommands = 1000;

enum class GitService {
    none,        // not a request of git
    fetch_refs,  // GET …/info/refs?service=git-upload-pack
    fetch,       // POST …/git-upload-pack
    push_refs,   // GET …/info/refs?service=git-receive-pack
    push,        // POST …/git-receive-pack
    unknown,     // …/info/refs of another service
    lfs_batch,   // POST …/info/lfs/objects/batch: its body decides
    lfs,         // any other request of git-LFS: its method decides
};

struct GitTarget {
    GitService service = GitService::none;
    std::vector<std::string> repository;  // segments, the last without ".git"
};

GitTarget git_target(const CanonicalPath& path);
// Whether the path is another request of git for servers that take "%2F" as a separator.
bool hides_git(const CanonicalPath& path);

struct PushCommand {
    enum class Change { create, update, remove };

    std::string ref;
    Change change = Change::update;
};

// Reads the commands of a push.
class PushReader {
  public:
    enum class State { need_more, complete, refused };

    // `received` is the body so far, without its chunks: the bytes of the last call, and more.
    State look(std::string_view received);

    // After complete. No command: git's probe before a large push, which changes nothing.
    const std::vector<PushCommand>& commands() const { return commands_; }
    bool reports_status() const { return reports_status_; }
    bool has_side_band() const { return has_side_band_; }
    std::string_view fault() const { return fault_; }  // after refused

  private:
    State refuse(std::string_view fault);
    std::string_view read_line(std::string_view line);
    std::string_view read_command(std::string_view line);
    void read_capabilities(std::string_view text);

    State state_ = State::need_more;
    size_t looked_ = 0;
    bool has_capabilities_ = false;
    bool reports_status_ = false;
    bool has_side_band_ = false;
    bool has_options_ = false;
    std::vector<PushCommand> commands_;
    std::string_view fault_;
};

// One pkt-line. The text is cut at the longest that fits.
std::string packet_line(std::string_view text);

struct GitAnswer {
    std::string content_type;
    std::string body;
};

// The answer to a refused request of this service. git prints "remote: " or "fatal: remote error: " and the
// text. For `push` use push_refusal, because the commands decide its form.
GitAnswer git_refusal(GitService service, std::string_view text);

// git prints " ! [remote rejected] REF -> REF (REASON)" for each command. `reasons` has one text for each
// command; an empty one stands for a ref that would be permitted: one refused ref refuses the whole push.
GitAnswer push_refusal(const PushReader& push, const std::vector<std::string>& reasons);

}  // namespace network::requests
