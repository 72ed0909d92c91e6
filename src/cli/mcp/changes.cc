// SPDX-License-Identifier: MIT
#include "cli/mcp/changes.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <utility>

#include "base/encoding/json.h"
#include "base/process/descriptors.h"
#include "base/text.h"
#include "cli/layers/view.h"
#include "layers/store.h"

namespace cli {
namespace {

using base::Json;

constexpr size_t kMostListed = 1000;
constexpr size_t kMostBytes = 8u << 20;

base::Result<layers::Layer> layer_of(const McpSession& session) {
    base::Result<Workspace> workspace = find_workspace(session.call.caller, session.call.arguments);
    if (!workspace) return workspace.error();
    const std::string files = session.known.metadata.text("layer_files");
    for (const layers::Layer& layer : layers::Store(workspace->files.state_directory).list()) {
        if (layer.upper() == files) return layer;
    }
    return base::Error{.what = "the layer of this session can't be read"};
}

std::string_view kind_of(const layers::Change& change) {
    if (change.is_deletion()) return "deleted";
    if (change.is_addition()) return "new";
    return change.is_mode_alone ? "mode" : "changed";
}

base::Result<Json> changes_of(const McpSession& session) {
    base::Result<layers::Layer> layer = layer_of(session);
    if (!layer) return layer.error();
    base::Result<LayerView> view = look_at(session.call, *layer);
    if (!view) return view.error();
    const ChangeCounts counts = count_changes(*view);
    Json changes = Json::array();
    for (const layers::Change& change : view->changes) {
        if (is_of_repository(change.path)) continue;
        if (changes.items().size() == kMostListed) break;
        changes.push(Json::object().set("path", change.path).set("change", kind_of(change)));
    }
    return Json::object()
        .set("deleted", counts.deleted)
        .set("changed", counts.changed)
        .set("added", counts.added)
        .set("of_git", counts.in_repositories)
        .set("changes", std::move(changes));
}

class ChangesWork : public McpWork {
  public:
    ChangesWork(const McpSession& session, std::function<void()> done)
        : loop_(session.loop), done_(std::move(done)) {
        if (!start(session)) {
            loop_.later(done_);
            return;
        }
        source_ = loop_.add(base::Source{[this] { return pipe_.get(); }, [this] { take(); }});
    }
    ~ChangesWork() override {
        if (source_ != 0) loop_.remove(source_);
        if (child_ <= 0) return;
        ::kill(child_, SIGKILL);
        while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) continue;
    }

    uint64_t bytes() const override { return text_.size(); }

    mcp::CallResult result() override {
        base::Result<Json> answer = Json::parse(text_);
        if (!answer || !answer->is_object()) return {.problem = "the changes can't be listed"};
        if (std::string problem = answer->text("error"); !problem.empty())
            return {.problem = base::printable(problem)};
        return {.content = *std::move(answer), .problem = {}};
    }

  private:
    bool start(const McpSession& session) {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0) return false;
        pipe_ = base::Fd(ends[0]);
        base::Fd end(ends[1]);
        child_ = ::fork();
        if (child_ == 0) {
            // Without the end of the pipe that keeps the session running.
            base::close_others({STDERR_FILENO, end.get()});
            base::Result<Json> changes = changes_of(session);
            const Json answer = changes ? *changes : Json::object().set("error", changes.error().line());
            (void)base::write_all(end.get(), answer.dump(-1));
            ::_exit(0);
        }
        return child_ > 0;
    }

    void take() {
        std::array<char, 64u << 10> bytes;
        const ssize_t got = ::read(pipe_.get(), bytes.data(), bytes.size());
        if (got < 0 && errno == EINTR) return;
        if (got > 0 && text_.size() < kMostBytes) {
            text_.append(bytes.data(), static_cast<size_t>(got));
            return;
        }
        pipe_.reset();
        loop_.later(done_);
    }

    base::EventLoop& loop_;
    std::function<void()> done_;
    pid_t child_ = -1;
    base::Fd pipe_;
    base::EventLoop::SourceId source_ = 0;
    std::string text_;
};

}  // namespace

std::unique_ptr<McpWork> start_changes(const McpSession& session, std::function<void()> done) {
    return std::make_unique<ChangesWork>(session, std::move(done));
}

}  // namespace cli
