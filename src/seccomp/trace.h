// SPDX-License-Identifier: MIT
// The filter of a traced jail. A process tree can have only one listener, and of several filters the
// strictest result counts, so a second filter could never notify about a call that the first one refuses. So
// there is one filter: the finished program of this jail with two changes.
//
//   it allows a call        continues after its end, where observed calls are notified
//   it refuses a call       also notified, if refusals are traced; the listener then refuses it
//
// Calls that libraries probe for and can do without (ENOSYS), and calls that only report success, stay
// unchanged, because they are not refusals. Calls of another architecture kill the process here too.
//
// For a refused call the tracer runs the finished program itself (`verdict_of`) to get the result: there is
// no second description of the filter that could differ from it.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "seccomp/table.h"

namespace seccomp {

struct Trace {
    bool files = false, commands = false, system_calls = false;

    bool is_wanted() const { return files || commands || system_calls; }
    bool operator==(const Trace&) const = default;
};

// What a call does with a path argument.
enum class Use : uint8_t {
    none,
    look,      // existence and kind only: a file that reads as empty is good enough
    read,      // its content
    change,    // an existing file, or its name
    put,       // the same, or a new file if it is missing
    make,      // a name that must not exist yet
    by_flags,  // of open
    by_mode    // of access
};

struct NamedPath {
    int8_t directory = -1;  // argument: the directory descriptor; -1: the working directory
    int8_t path = -1;       // argument; -1: the call has no path
    Use use = Use::none;
};

// An observed call.
struct ObservedCall {
    int number = -1;  // of this architecture; -1: the call does not exist there
    NamedPath first, second;
    int8_t flags = -1;  // argument: of by_flags and by_mode
};

std::span<const ObservedCall> file_calls();
std::span<const ObservedCall> command_calls();  // execve, execveat

// The filter for a traced command. `rest` is a complete filter for the calls that this one allows, which may
// notify as well; empty: they are allowed.
std::vector<sock_filter> traced_filter(const Switches& switches, const Trace& trace,
                                       std::span<const sock_filter> rest = {});

// Installs it and returns the listener, or a negative errno. EBUSY: a process around us has a listener
// already. no_new_privs must be set.
int install_traced(const Switches& switches, const Trace& trace, std::span<const sock_filter> rest = {});

// The result of a filter program for a call: SECCOMP_RET_*. An instruction that our programs never contain
// gives kill.
uint32_t verdict_of(std::span<const sock_filter> program, const struct seccomp_data& call);

// Whether this verdict is a refusal that is reported if refusals are traced.
bool is_told(uint32_t verdict);

// The name of a call in the table; empty for any other.
std::string_view refused_name(int number);

}  // namespace seccomp
