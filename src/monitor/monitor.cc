// SPDX-License-Identifier: MIT
#include "monitor/monitor.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/parse.h"
#include "base/text.h"
#include "monitor/gather.h"
#include "monitor/screen.h"
#include "monitor/terminal.h"
#include "session/control/known_sessions.h"

namespace monitor {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kRound{500};
constexpr milliseconds kPatience{250};  // of the live screen, which must react to keys
constexpr milliseconds kPatienceOnce{2000};
constexpr milliseconds kNoticeStays{4000};
constexpr int kSignalled = 128;

class Monitor {
  public:
    Monitor(const Setup& setup, Terminal& terminal)
        : gatherer_(setup.places, kPatience), terminal_(terminal), is_coloured_(setup.is_coloured) {
        screen_.home = setup.home;
    }

    int run() {
        Clock::time_point next{};
        while (!is_done_ && terminal_.ending_signal() == 0) {
            if (Clock::now() >= next) {
                gatherer_.refresh(screen_);
                next = Clock::now() + kRound;
            }
            if (Clock::now() >= notice_until_) screen_.notice.clear();
            draw();
            auto left = std::chrono::duration_cast<milliseconds>(next - Clock::now());
            for (Key key : keys_in(terminal_.read_keys(std::max(left, milliseconds(0))))) press(key);
        }
        int signal = terminal_.ending_signal();
        return signal == 0 ? 0 : kSignalled + signal;
    }

  private:
    // After a change of size the content of the screen is undefined: clear it.
    void draw() {
        Size size = terminal_.size();
        if (size != size_) {
            shown_.clear();
            terminal_.write("\x1b[2J");
            size_ = size;
        }
        std::vector<Row> rows = render(screen_, size.width, size.height);
        if (std::string changes = repaint(shown_, rows, is_coloured_); !changes.empty())
            terminal_.write(changes);
        shown_ = std::move(rows);
    }

    void press(Key key) {
        if (!screen_.question.empty()) return answer(key);
        switch (key) {
            case Key::up:
                if (screen_.selected > 0) select(screen_.selected - 1);
                break;
            case Key::down:
                if (screen_.selected + 1 < screen_.entries.size()) select(screen_.selected + 1);
                break;
            case Key::approve:
                answer_oldest("approve", "approved ");
                break;
            case Key::deny:
                answer_oldest("deny", "denied ");
                break;
            case Key::stop:
                if (const session::Known* known = selected()) {
                    asked_about_ = known->id;
                    screen_.question =
                        base::format("end session {}?", known->id.substr(0, session::kShortId));
                }
                break;
            case Key::help:
                screen_.shows_help = !screen_.shows_help;
                break;
            case Key::quit:
                is_done_ = true;
                break;
            case Key::yes:
            case Key::no:
                break;
        }
    }

    void answer(Key key) {
        screen_.question.clear();
        if (key == Key::quit) is_done_ = true;
        if (key != Key::yes) return;
        // The session of the question, whatever is selected by now.
        auto known = std::ranges::find(gatherer_.known(), asked_about_, &session::Known::id);
        if (known == gatherer_.known().end()) return;
        ask(*known, base::Json::object().set("do", "stop").set("now", false),
            base::format("asked {} to end", asked_about_.substr(0, session::kShortId)));
    }

    // Read the refusals of the other session at once, not in half a second.
    void select(size_t index) {
        screen_.selected = index;
        gatherer_.refresh(screen_);
    }

    const session::Known* selected() const {
        if (screen_.selected >= screen_.entries.size()) return nullptr;
        auto known =
            std::ranges::find(gatherer_.known(), screen_.entries[screen_.selected].id, &session::Known::id);
        return known == gatherer_.known().end() ? nullptr : &*known;
    }

    void answer_oldest(const char* verb, const char* done) {
        const session::Known* known = selected();
        if (!known) return;
        const base::Json::Array& pending = screen_.entries[screen_.selected].status.items("pending");
        if (pending.empty()) return tell("this session waits for no answer");
        // An approval of an agent's request can last longer than the session: it takes a number.
        if (!pending[0].text("asks").empty())
            return tell(base::format("answer a request of the agent with: agent-sandbox {} {}", verb,
                                     pending[0].number("id")));
        std::string what = done + question_text(pending[0]);
        ask(*known, base::Json::object().set("do", verb).set("id", pending[0].number("id")), std::move(what));
        gatherer_.refresh(screen_);
    }

    void ask(const session::Known& known, const base::Json& request, std::string done) {
        base::Result<base::Json> reply = session::ask_session(known, request, kPatienceOnce);
        tell(reply ? std::move(done) : reply.error().line());
    }

    void tell(std::string notice) {
        screen_.notice = std::move(notice);
        notice_until_ = Clock::now() + kNoticeStays;
    }

    Gatherer gatherer_;
    Terminal& terminal_;
    bool is_coloured_;
    Screen screen_;
    Size size_{0, 0};
    std::vector<Row> shown_;
    std::string asked_about_;
    Clock::time_point notice_until_{};
    bool is_done_ = false;
};

}  // namespace

base::Result<int> run(const Setup& setup) {
    Terminal terminal;
    if (base::Status taken = terminal.take_over(STDIN_FILENO, STDOUT_FILENO); !taken) return taken.error();
    return Monitor(setup, terminal).run();
}

std::string print_once(const Setup& setup, size_t width, size_t height) {
    Screen screen{.home = setup.home, .is_interactive = false};
    Gatherer(setup.places, kPatienceOnce).refresh(screen);
    std::string text;
    for (const Row& row : render(screen, width, height))
        text += base::styled(row.text, row.style, setup.is_coloured) + "\n";
    return text;
}

std::string print_json(const Setup& setup) {
    return Gatherer(setup.places, kPatienceOnce).statuses().dump() + "\n";
}

}  // namespace monitor
