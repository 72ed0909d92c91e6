// SPDX-License-Identifier: MIT
// Values on their way from a file, a variable or a flag to the merge: canonical text plus origin. The
// setting's row in the table defines the meaning of the text, so that one representation serves every type,
// every layer and every printer.
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

// All values from one source, by key.
using Values = std::map<std::string, Value, std::less<>>;

// Converts one scalar (or one list entry) to canonical form: "512M" becomes bytes, "10m" seconds, a choice is
// checked against its row. The error contains the expected form and, for a choice, the nearest one.
base::Result<std::string> canonical_text(const Setting& setting, std::string_view raw);

// Replaces "user:secret@" in an address by "***@": "http://***@proxy.example.org:3128". Use it wherever such
// a text is shown.
std::string without_secrets(std::string_view text);

}  // namespace config
