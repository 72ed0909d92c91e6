// SPDX-License-Identifier: MIT
// Values as they travel from a file, a variable or a flag to the merge: canonical text plus origin. The
// setting's row in the table says what the text means, so that one representation serves every type, every
// layer and every printer.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/origin.h"
#include "config/settings.h"

namespace config {

// One entry of a list, or one "NAME=VALUE" of an assignment list.
struct Item {
    std::string text;
    Origin origin;
};

struct Value {
    Origin origin;
    std::string text;         // scalars: "true", "42", bytes, seconds, a choice, a text
    std::vector<Item> items;  // lists
};

// All that one source says, by key.
using Values = std::map<std::string, Value, std::less<>>;

// Brings one scalar (or one list entry) into canonical form: "512M" becomes bytes, "10m" seconds, a choice is
// checked against its row. The error says what is expected and, for a choice, which one was probably meant.
base::Result<std::string> canonical_text(const Setting& setting, std::string_view raw);

// A text without the "user:secret@" that an address may hold: "http://***@proxy.example.org:3128". For every
// place that shows one.
std::string without_secrets(std::string_view text);

}  // namespace config
