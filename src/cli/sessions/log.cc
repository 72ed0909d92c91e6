// SPDX-License-Identifier: MIT
// `log`: prints what a session did, from its record.
#include <algorithm>
#include <functional>
#include <utility>

#include "audit/show.h"
#include "audit/verify.h"
#include "base/format.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/output.h"
#include "cli/sessions/records.h"
#include "cli/sessions/sessions.h"
#include "cli/verbs.h"

namespace cli {
namespace {

constexpr size_t kEnough = 64u << 10;
constexpr unsigned kLooksBetween = 5;

// Collects lines, so that each write is large.
class Printer {
  public:
    explicit Printer(const Invocation& call) : call_(call) {}

    // False: the reader has closed the output.
    bool print(const audit::Event& event) {
        if (call_.arguments.has_own("--denied") && !event.is_refusal()) return true;
        text_ +=
            call_.arguments.wants_json ? event.text : audit::to_line(event, call_.output.colours_results());
        text_ += '\n';
        return text_.size() < kEnough || flush();
    }
    bool flush() {
        if (!text_.empty()) code_ = call_.output.result(std::exchange(text_, {}));
        return code_ == 0;
    }
    int code() const { return code_; }

  private:
    const Invocation& call_;
    std::string text_;
    int code_ = 0;
};

void tell_passed_over(const Output& output, const audit::PassedOver& passed) {
    if (passed.damaged > 0) {
        output.warning(base::counted(passed.damaged, "damaged line was passed over, at ",
                                     "damaged lines were passed over, the first at ") +
                       passed.first_damaged);
    }
    if (passed.newer > 0) {
        output.warning(base::counted(passed.newer, "line of a newer version was passed over",
                                     "lines of a newer version were passed over"));
    }
    if (passed.missing_parts > 0) {
        output.warning(base::counted(passed.missing_parts, "part of the record is not there any more",
                                     "parts of the record are not there any more"));
    }
}

// Whether the session still runs. Checks only now and then, because this costs more than reading the file.
std::function<bool()> still_running(const Invocation& call, const std::string& session) {
    return [&call, session, looks = 0U]() mutable {
        if (looks++ % kLooksBetween != 0) return true;
        base::Result<Sessions> sessions = find_sessions(call);
        return sessions && std::ranges::count(sessions->known, session, &session::Known::id) > 0;
    };
}

int verify_record(const Invocation& call, const audit::RecordFile& record) {
    // Check this before reading the record: a session that ends in between counts as running.
    bool is_running = still_running(call, record.session)();
    base::Result<audit::Verification> result = audit::verify(record.path);
    if (!result) return call.output.fail(result.error());
    result->is_running = is_running;
    std::string text =
        call.arguments.wants_json ? audit::to_json(*result).dump() + "\n" : audit::to_text(*result);
    return call.output.result(text,
                              audit::holds(*result) ? 0 : static_cast<int>(base::ExitCode::check_failed));
}

}  // namespace

int log_verb(const Invocation& call) {
    if (call.arguments.words.size() > 1) return wrong_words(call, "log takes one session");
    base::Result<audit::RecordFile> record =
        record_of(call, call.arguments.words.empty() ? "" : call.arguments.words[0]);
    if (!record) return call.output.fail(record.error());
    if (call.arguments.has_own("--verify")) return verify_record(call, *record);

    audit::Reader reader(record->path);
    if (base::Status opened = reader.open(); !opened) return call.output.fail(opened.error());
    Printer printer(call);
    if (call.arguments.has_own("--follow")) {
        audit::follow(
            reader, [&](const audit::Event& event) { return printer.print(event) && printer.flush(); },
            still_running(call, record->session));
    } else {
        while (std::optional<audit::Event> event = reader.next()) {
            if (!printer.print(*event)) break;
        }
    }
    printer.flush();
    tell_passed_over(call.output, reader.passed_over());
    return printer.code();
}

}  // namespace cli
