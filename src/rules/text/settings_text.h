// SPDX-License-Identifier: MIT
// The rules as a text of fields (base/encoding/fields.h), for another process that enforces or explains them.
// Of an origin, only its layer and its description are stored: that process does not open the origin's file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding/fields.h"
#include "base/result.h"
#include "rules/engine.h"

namespace network {

void write_origin(base::FieldWriter& writer, const config::Origin& origin);
config::Origin read_origin(base::FieldReader& reader);

// As a part of a larger text.
void write_settings(base::FieldWriter& writer, const EngineSettings& settings);
EngineSettings read_settings(base::FieldReader& reader);

struct LiveSettings {
    EngineSettings rules;
    std::vector<uint16_t> passed_types;  // Egress::passed_types
};
std::string encode_settings(const EngineSettings& rules, const std::vector<uint16_t>& passed_types);
base::Result<LiveSettings> decode_settings(std::string_view text);

}  // namespace network
