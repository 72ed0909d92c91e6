// SPDX-License-Identifier: MIT
#include "tracer/messages.h"

#include "base/encoding/fields.h"

namespace tracer {
namespace {

constexpr std::string_view kSummary = "summary";
constexpr std::string_view kFailed = "failed";

}  // namespace

std::string encode(const Summary& summary) {
    base::FieldWriter writer;
    writer.add(kSummary);
    for (uint64_t number : {summary.files, summary.system_calls, summary.commands, summary.lines})
        writer.add(number);
    writer.add(std::string_view(summary.hash));
    return writer.take();
}

std::optional<Summary> decode_summary(std::string_view note) {
    base::FieldReader reader(note);
    if (reader.next() != kSummary) return std::nullopt;
    Summary summary;
    for (uint64_t* number : {&summary.files, &summary.system_calls, &summary.commands, &summary.lines})
        reader.get(*number);
    reader.get(summary.hash);
    return reader.is_complete() ? std::optional(summary) : std::nullopt;
}

std::string encode_failure(std::string_view why) {
    base::FieldWriter writer;
    writer.add(kFailed);
    writer.add(why);
    return writer.take();
}

std::optional<std::string> decode_failure(std::string_view note) {
    base::FieldReader reader(note);
    if (reader.next() != kFailed) return std::nullopt;
    std::string why;
    reader.get(why);
    return reader.is_complete() ? std::optional(why) : std::nullopt;
}

}  // namespace tracer
