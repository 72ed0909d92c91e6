// SPDX-License-Identifier: MIT
#include "tracer/messages.h"

#include "base/encoding/codec.h"

template <>
inline constexpr auto base::kFields<tracer::Summary> = std::tuple(&tracer::Summary::files,
                                                                  &tracer::Summary::system_calls,
                                                                  &tracer::Summary::commands,
                                                                  &tracer::Summary::lines,
                                                                  &tracer::Summary::hash);

namespace tracer {
namespace {

constexpr std::string_view kSummary = "summary";
constexpr std::string_view kFailed = "failed";

template <typename Type>
std::optional<Type> decode(std::string_view name, std::string_view note) {
    Type value;
    bool is_well = base::decode_message(name, note, value) == base::Decoded::well;
    return is_well ? std::optional(std::move(value)) : std::nullopt;
}

}  // namespace

std::string encode(const Summary& summary) {
    return base::encode_message(kSummary, summary);
}

std::optional<Summary> decode_summary(std::string_view note) {
    return decode<Summary>(kSummary, note);
}

std::string encode_failure(std::string_view why) {
    return base::encode_message(kFailed, std::string(why));
}

std::optional<std::string> decode_failure(std::string_view note) {
    return decode<std::string>(kFailed, note);
}

}  // namespace tracer
