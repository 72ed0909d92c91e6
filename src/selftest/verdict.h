// SPDX-License-Identifier: MIT
// What the findings of a probe mean. A pass counts only beside a control that shows the act to work outside,
// or beside a stated reason why this host can't show it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/merge.h"
#include "selftest/probe.h"

namespace selftest {

enum class Verdict {
    held,
    escaped,
    permitted,  // done, and a setting permits it
    expected,   // done, and this backend is known not to prevent it
    not_tried,  // this host has nothing to try it on, or the administrator permits no such jail
    error,      // the probe or its control failed: nothing was proved
};
std::string_view to_text(Verdict verdict);

struct Judgement {
    const Probe* probe = nullptr;
    Verdict verdict = Verdict::error;
    std::string detail;      // by what it was stopped, or what it did
    std::string no_control;  // why this host can't show that the act works outside; empty: it was shown
};

// Escapes that a backend can't prevent, each with the reason that a user is told.
struct Exception {
    std::string_view backend;
    std::string_view probe;  // a name, or a pattern of names
    std::string_view reason;
    int below_landlock = 0;  // only where the kernel's Landlock is older than this; 0: always
};
std::span<const Exception> exceptions();

// What is known about the jail that a probe ran in.
struct Jailed {
    std::string backend;
    int landlock = 0;
    const policy::Effective* settings = nullptr;
    std::string refusal;  // why there was no such jail; empty: there was one
};

struct Findings {
    std::optional<Finding> outside, inside;  // nothing: the probe was never heard of
};

Judgement judge(const Probe& probe, const Findings& findings, const Jailed& jail);

struct Totals {
    size_t held = 0, escaped = 0, permitted = 0, expected = 0, not_tried = 0, errors = 0, without_control = 0;
};
Totals add_up(const std::vector<Judgement>& judgements);

// Nothing escaped and nothing was left unproved.
bool is_sound(const Totals& totals);

}  // namespace selftest
