// SPDX-License-Identifier: MIT
// The first half of an apply: the operations for a list of changes, and a slot with the new content for each.
// Changes nothing in the project.
#pragma once

#include <vector>

#include "base/result.h"
#include "layers/apply.h"
#include "layers/changes.h"
#include "layers/journal.h"

namespace layers {

// The operations in the order in which they are performed: first directories that must become writable, then
// names, parents before children, and permissions of directories last, children before parents.
base::Result<std::vector<Operation>> operations_for(int project, const std::vector<Change>& changes);

// Fills the slots with the new content and completes the operations with what the slots hold.
base::Status fill_slots(int layer, int slots, std::vector<Operation>& operations);

// Names of files in the slots' directory.
std::string slot_name(size_t index);

}  // namespace layers
