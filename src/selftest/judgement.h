// SPDX-License-Identifier: MIT
// Judges the findings of the probes, and prints the report.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/backend.h"
#include "base/encoding/json.h"
#include "policy/merge.h"
#include "selftest/runner.h"

namespace selftest {

// Judges the findings of a probe. A pass counts only if a control shows that the act works outside, or if
// there is a stated reason why this host can't show it.

enum class ProbeResult {
    held,
    escaped,
    permitted,  // done, and a setting permits it
    expected,   // done, and this backend is known not to prevent it
    not_tried,  // nothing to try it on here, or the administrator does not permit such a jail
    error,      // the probe or its control failed: nothing was proved
};
std::string_view to_text(ProbeResult result);

struct Judgement {
    const Probe* probe = nullptr;
    ProbeResult result = ProbeResult::error;
    std::string detail;      // what stopped it, or what it did
    std::string no_control;  // why this host can't show that the act works outside; empty: it was shown
};

// Escapes that a backend can't prevent, each with the reason for the user.
struct Exception {
    base::Backend backend;
    std::string_view probe;  // a name, or a pattern of names
    std::string_view reason;
    int below_landlock = 0;  // only if the kernel's Landlock ABI is below this; 0: always
    // Only if the host lacks this.
    enum class Lack { nothing, own_sockets, answers } lack = Lack::nothing;
    bool is_for_set_uid = false;  // only if the backend's program is set-user-ID
};
std::span<const Exception> exceptions();

// Facts about the jail that a probe ran in.
struct Jailed {
    base::Backend backend = base::Backend::native;
    bool is_set_uid = false;  // the backend's program is set-user-ID
    int landlock = 0;
    bool has_own_sockets = true;   // abstract sockets are kept apart (plan::AbstractSockets)
    bool has_answers = true;       // a process can answer system calls of the jail
    const World* world = nullptr;  // of the probes inside
    bool intercepts = false;       // the gateway decrypts connections to the hosts of credentials
    const policy::Effective* settings = nullptr;
    std::string refusal;  // why the jail could not be built; empty: it was
};

struct Findings {
    std::optional<Finding> outside, inside;  // nothing: no report of the probe arrived
};

Judgement judge(const Probe& probe, const Findings& findings, const Jailed& jail);

struct Totals {
    size_t held = 0, escaped = 0, permitted = 0, expected = 0, not_tried = 0, errors = 0, without_control = 0;
};
Totals add_up(const std::vector<Judgement>& judgements);

// No escape, and every result is proved.
bool is_sound(const Totals& totals);

// The report of the self-test for people and for programs. The text of a probe comes from a jail, so it is
// made printable.

std::string to_text(const std::vector<Judgement>& judgements, bool is_coloured);
base::Json to_json(const std::vector<Judgement>& judgements);

// What each probe attempts.
std::string list_text(const std::vector<const Probe*>& probes, bool is_coloured);
base::Json list_json(const std::vector<const Probe*>& probes);

}  // namespace selftest
