// SPDX-License-Identifier: MIT
#include "rules/text/settings_text.h"

template <>
inline constexpr config::Layer base::kLast<config::Layer> = config::Layer::command_line;

template <>
inline constexpr auto base::kFields<network::LiveSettings> = std::tuple(&network::LiveSettings::rules,
                                                                        &network::LiveSettings::passed_types);

namespace base {

void OwnEncoding<config::Origin>::write(FieldWriter& writer, const config::Origin& origin) {
    base::write(writer, origin.layer);
    base::write(writer, origin.describe());
}

void OwnEncoding<config::Origin>::read(FieldReader& reader, config::Origin& origin) {
    origin = {};
    base::read(reader, origin.layer);
    base::read(reader, origin.name);
}

}  // namespace base

namespace network {
namespace {

constexpr std::string_view kVersion = "agent-sandbox rules 1";

}  // namespace

std::string encode_settings(const EngineSettings& rules, const std::vector<uint16_t>& passed_types) {
    return base::encode_message(kVersion, LiveSettings{rules, passed_types});
}

base::Result<LiveSettings> decode_settings(std::string_view text) {
    LiveSettings settings;
    base::Decoded decoded = base::decode_message(kVersion, text, settings);
    if (decoded == base::Decoded::other) return base::Error{.what = "the rules are of another version"};
    if (decoded == base::Decoded::damaged) return base::Error{.what = "the rules are damaged"};
    return settings;
}

}  // namespace network
