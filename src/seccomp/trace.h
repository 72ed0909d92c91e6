// SPDX-License-Identifier: MIT
// The filter of a jail that is traced. A process tree can have one listener, and of several filters the
// strictest answer counts, so that a refusal would never be notified by a second filter. So there is one: the
// ready program of this jail with two changes.
//
//   it allows a call        goes on behind its end, where the calls that are observed are notified
//   it refuses a call       notified as well, where refusals are traced; the listener then refuses it
//
// What libraries probe for and do without (ENOSYS), and what is answered as if it were done, stays as it is:
// nobody is refused anything there. Foreign architectures are killed as ever.
//
// What the tracer answers to a refused call it asks the ready program itself (`verdict_of`): there is no
// second description of the filter that could differ from it.
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

// What a call does with one of the paths that it names.
enum class Use : uint8_t {
    none,
    look,      // whether it is there, and what: a file that reads as empty is no disappointment
    read,      // its content
    change,    // what is there, or its name
    put,       // the same, or a new one where there is none
    make,      // a name that must not be there yet
    by_flags,  // of open
    by_mode    // of access
};

struct NamedPath {
    int8_t directory = -1;  // argument: the descriptor that it is relative to; -1: the working directory
    int8_t path = -1;       // argument; -1: there is none
    Use use = Use::none;
};

// A call that is observed.
struct ObservedCall {
    int number = -1;  // of this architecture; -1: it has no such call
    NamedPath first, second;
    int8_t flags = -1;  // argument: of by_flags and by_mode
};

std::span<const ObservedCall> file_calls();
std::span<const ObservedCall> command_calls();  // execve, execveat

// The filter for a command that is traced.
std::vector<sock_filter> traced_filter(const Switches& switches, const Trace& trace);

// Installs it: the listener, or a negative errno. EBUSY: something around us listens already. no_new_privs
// must be set.
int install_traced(const Switches& switches, const Trace& trace);

// What a filter program answers to a call: SECCOMP_RET_*. An instruction that none of ours has: killed.
uint32_t verdict_of(std::span<const sock_filter> program, const struct seccomp_data& call);

// Whether this verdict is a refusal that is told where refusals are traced.
bool is_told(uint32_t verdict);

// The name of a call that a row of the table is about; empty for any other.
std::string_view refused_name(int number);

}  // namespace seccomp
