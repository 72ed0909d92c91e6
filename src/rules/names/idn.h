// SPDX-License-Identifier: MIT
// Labels of host names that are not ASCII, in the DNS's form: "bücher" is "xn--bcher-kva" (RFC 3492, RFC
// 5891).
//
// No character is mapped. Unicode's mapping and composition tables are large and change between versions.
// With different versions, two programs would read one rule as different hosts. So a character that needs
// mapping (an upper-case É, a decomposed accent, a full-width letter) is refused, and so is one outside the
// table's scripts. Users write such a name by its A-label. Letters of Latin, Greek and Cyrillic in one label
// are refused: they look alike.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace network {

// The A-label of a label in UTF-8 whose ASCII letters are in lower case.
base::Result<std::string> a_label_of(std::string_view label);

// Whether a label that starts with "xn--" is the result of encoding: it decodes to text that needs an
// A-label, and no other A-label decodes to that text.
bool is_genuine_a_label(std::string_view label);

}  // namespace network
