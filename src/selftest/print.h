// SPDX-License-Identifier: MIT
// The report of the self-test for people and for programs. The text of a probe comes from a jail, so it is
// made printable.
#pragma once

#include <string>
#include <vector>

#include "base/encoding/json.h"
#include "selftest/judgement.h"

namespace selftest {

std::string to_text(const std::vector<Judgement>& judgements, bool is_coloured);
base::Json to_json(const std::vector<Judgement>& judgements);

// What each probe attempts.
std::string list_text(const std::vector<const Probe*>& probes, bool is_coloured);
base::Json list_json(const std::vector<const Probe*>& probes);

}  // namespace selftest
