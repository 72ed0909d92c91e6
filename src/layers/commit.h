// SPDX-License-Identifier: MIT
// The second half of an apply: performs the operations of a journal, or takes them back. Each operation is
// atomic, and the inodes at its name and in its slot show whether it has been performed.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "layers/journal.h"

namespace layers {

class Commit {
  public:
    // Opens the project, which must be the one of the journal, and the slots.
    static base::Result<Commit> open(const Journal& journal);

    // In their order; those that have been performed are left out. Stops at the first that can't be.
    base::Status perform() const;
    // In the reverse order. What was changed since it was written is an error, except at these names.
    base::Status take_back(const std::vector<std::string>& excused) const;
    // Names that were changed since they were written, so that take_back() would lose something.
    std::vector<std::string> changed_since() const;
    size_t performed() const;

    // Everything that was done is on the disk.
    base::Status sync() const;

  private:
    Commit(const Journal& journal, base::Fd project, base::Fd slots)
        : journal_(&journal), project_(std::move(project)), slots_(std::move(slots)) {}

    bool is_performed(size_t index) const;
    base::Status perform_one(size_t index) const;
    base::Status take_back_one(size_t index, bool is_excused) const;
    base::Status put(size_t index) const;
    base::Status exchange(size_t index) const;
    base::Status remove(size_t index) const;
    bool is_gone_by_plan(const Operation& mode) const;
    base::Status change_mode(const Operation& operation, uint32_t mode) const;
    bool has_newer_content(const std::string& slot) const;

    const Journal* journal_;
    base::Fd project_, slots_;
};

}  // namespace layers
