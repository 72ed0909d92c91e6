// SPDX-License-Identifier: MIT
// The work of a launch's child as plain data: made before the clone (render.h) and executed after it
// (child_after_clone.h), without any further decision and without an allocation.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace backends::native {

enum class Act : uint8_t {
    make_directory,
    make_link,      // source: its target
    make_file,      // source: its content
    mount_bind,     // source: a path of the host
    mount_overlay,  // source: the lower directory, `options` the directory that contains upper and work
    mount_copy,     // of the mount that step `of` made: the same source and attributes
    mount_content,  // source: the content of a file that exists only there
    mount_link,     // the symbolic link at the target, on itself
    mount_new,      // source: the type of a new file system, `options` its options
    seal,           // the mount of step `of` becomes read-only
};

struct Step {
    Act act = Act::make_directory;
    const char* source = "";
    size_t length = 0;         // of the content
    const char* target = "";   // below the new root, without its first slash; "." is the root itself
    const char* options = "";  // of mount_new; of mount_overlay
    unsigned long flags = 0;   // MS_… of mount_new
    uint64_t attributes = 0;   // MOUNT_ATTR_… that a mount gets
    mode_t mode = 0;           // of what is made; of mount_new: of directories that lead to it
    int of = -1;
    uint64_t inode = 0;        // that the source must have; 0: any
    bool is_pinned = false;    // no symbolic link in the path of the source is followed
    bool is_in_place = false;  // the source is the file that is at the target already
    bool shows_host = false;   // the target is in files of the host
    bool makes_place = false;  // that may be changed: a missing target is made
    bool is_in_layer = false;  // the target is below an overlay
    bool is_kept = false;      // a later step needs the mount
    // Skipped if the target does not exist: the kernel or the container lacks it, or the layer removed it.
    bool is_optional = false;
    bool is_for_owner = false;  // only if the caller could write to the target otherwise
};

struct Script {
    std::vector<Step> steps;
    std::deque<std::string> texts;  // texts of steps that are not in the plan
    std::vector<int> descriptors;   // one for each step: of the mounts that a later step needs
};

// What the child of a launch sends when a step fails: which step, on what, and why. Text through a pipe, four
// fields that each end with NUL.

// In the order in which they come.
enum class Phase : uint8_t {
    namespaces,
    control_group,
    user_map,
    privacy,
    network,
    root,
    step,   // of the script: `object` is its target, `other` its source
    layer,  // the overlay: `object` is its target, `other` the directory of the layer
    old_root,
    last_namespace,
    privileges,
};

struct Failure {
    int number = 0;  // errno; 0: none
    Phase phase = Phase::namespaces;
    const char* object = "";
    const char* other = "";

    explicit operator bool() const { return number != 0; }
};

// Writes it; allocates nothing.
void send_failure(int descriptor, const Failure& failure);

}  // namespace backends::native
