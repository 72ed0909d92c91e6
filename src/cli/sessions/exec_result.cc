// SPDX-License-Identifier: MIT
#include "cli/sessions/exec_result.h"

#include <utility>

#include "base/text.h"
#include "session/session.h"

namespace cli {
namespace {

using base::Json;

// Json::dump replaces bytes that are not UTF-8.
void add_stream(Json& result, const std::string& name, const base::BoundedText& output) {
    const std::string text = output.text();
    result.set(name, text);
    result.set(name + "_bytes", static_cast<int64_t>(output.bytes()));
    result.set(name + "_truncated", output.is_cut());
    result.set(name + "_replaced", !base::is_valid_utf8(text));
}

}  // namespace

RefusedMeanwhile::RefusedMeanwhile(const session::Known& known, audit::UserDirectories directories)
    : directories_(std::move(directories)) {
    const std::string record = known.metadata.text("log");
    if (record.empty()) return;
    reader_.emplace(record);
    if (reader_->open()) {
        reader_->skip_to_end();
    } else {
        reader_.reset();
    }
}

Json RefusedMeanwhile::take() {
    if (!reader_) return {};
    audit::Gathering gathering(directories_);
    while (std::optional<audit::Event> event = reader_->next()) gathering.add(*event);
    Json entries = Json::array();
    const audit::Digest digest = std::move(gathering).finish({});
    for (const audit::DigestEntry& entry : digest.entries) entries.push(to_json(entry));
    return entries;
}

Json exec_result(const session::AddedEnding& ending, const session::CapturedOutput& output) {
    Json result = Json::object().set("exit_status", ending.exit_code);
    result.set("signal", ending.by_signal ? Json(ending.exit_code - session::kSignalBase) : Json());
    result.set("ended_with_session", ending.with_session);
    result.set("duration_ms", static_cast<int64_t>(ending.duration.count()));
    add_stream(result, "stdout", output.out);
    add_stream(result, "stderr", output.err);
    return result;
}

}  // namespace cli
