// SPDX-License-Identifier: MIT
// Labels of host names that are not ASCII, as the DNS carries them: "bücher" is "xn--bcher-kva" (RFC 3492,
// RFC 5891).
//
// Nothing is mapped here. Unicode's mapping and composition tables are large and change with its versions,
// and two programs with different versions would mean different hosts by one rule. So a character that would
// need mapping (an upper-case É, a decomposed accent, a full-width letter) is refused, and so is one outside
// the scripts of the table; such a name is written by its A-label. Letters of Latin, Greek and Cyrillic in
// one label are refused: they are look-alikes.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace network {

// The A-label of a label in UTF-8 whose ASCII letters are in lower case.
base::Result<std::string> a_label_of(std::string_view label);

// Whether a label that starts with "xn--" is what encoding gives: there is text behind it that needs an
// A-label, and no other A-label means that text.
bool is_genuine_a_label(std::string_view label);

}  // namespace network
