// SPDX-License-Identifier: MIT
// The directories of layers, below the state directory, which no jail can read:
//
//   layers/ID/about                 what it belongs to (About)
//   layers/ID/storage               where `roots` and `checkpoints` are, if not here
//   layers/ID/lock                  locked while a session uses the layer, or a command changes it
//   layers/ID/roots/0/upper, work   of the overlay
//   layers/ID/roots/0/clone/        or the clone (clone/clone.h)
//   layers/ID/index                 git's index of the project at the start, if it has one
//   layers/ID/synced                every file was on the disk after the end of the session
//   layers/ID/applied/N/            an apply (journal.h)
//   layers/ID/checkpoints/N/        an earlier state (checkpoints.h)
//   layers/ID/mounts                which mount namespace the running session has
//   layers/locks/PROJECT            locked while changes are applied to this project
//
// The overlay is mounted with `volatile`, so that neither fsync inside nor the end of the jail waits for the
// disk. After a crash of the machine the files of a layer may be incomplete: the boot id of another boot
// without `synced` shows that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/path.h"
#include "base/result.h"

namespace layers {

struct About {
    std::string id;    // of the session that made it
    std::string name;  // by the user; may be empty
    base::Path project;
    uint64_t project_inode = 0;
    int64_t start = 0;  // nanoseconds since 1970: what changed outside since may be a conflict
    std::string boot;
    std::string host;                 // name of the machine
    std::vector<std::string> places;  // names that the launch makes in the layer, which are not changes

    // As the user writes it: the name, or the first digits of the id.
    std::string title() const { return name.empty() ? id.substr(0, 4) : name; }
};

struct Layer {
    About about;
    std::string directory;
    std::string storage;      // the directory with its files, if that is another one
    unsigned checkpoint = 0;  // look at this one in place of the present state
    bool is_clone = false;    // a copy of the whole project; else the upper directory of an overlay
    bool is_bounded = true;   // a new clone of a large project is an error

    // The files: the upper directory of the overlay, or the clone.
    std::string upper() const { return checkpoint == 0 ? present() : checkpoint_upper(checkpoint); }
    std::string present() const { return files_in(root()); }
    std::string place() const { return storage.empty() ? directory : storage; }
    std::string root() const { return place() + "/roots/0"; }
    std::string checkpoint_upper(unsigned number) const;
    // Of a clone: where its listing is.
    std::string clone() const { return upper().substr(0, upper().rfind('/')); }
    // In a directory that contains the files of a layer, such as a checkpoint.
    std::string files_in(const std::string& parent) const {
        return parent + (is_clone ? "/clone/tree" : "/upper");
    }
    std::string index() const { return directory + "/index"; }
    std::string applied(unsigned number) const;
};

enum class State { running, waiting, half_applied, applied, elsewhere };
std::string_view to_text(State state);

class Store {
  public:
    // Its own path has no symbolic link, whatever leads to the state directory: layers are opened without
    // following one.
    explicit Store(const std::string& state_directory);

    // Every layer that can be read, the newest first.
    std::vector<Layer> list() const;

    // The layer that a user means: by name, or by four or more digits of its id. Empty: the only one of this
    // project.
    base::Result<Layer> find(std::string_view text, const base::Path& project) const;
    // The layer of this name and project; nothing: no layer has it.
    std::optional<Layer> named(std::string_view name, const base::Path& project) const;

    // The layer with this whole id, of this project.
    std::optional<Layer> with_id(std::string_view id, const base::Path& project) const;

    // Removes layers that were applied completely, with the originals, if that is longer ago than this. A
    // layer that waits is never removed.
    void remove_expired(int64_t seconds, int64_t now) const;

    base::Path directory_of(std::string_view id) const {
        return base::Path::known(root_ + "/" + std::string(id));
    }

    // For one apply at a time. Waits two seconds; then the error names the process that has it.
    base::Result<base::Fd> lock_project(uint64_t device, uint64_t inode) const;

  private:
    std::string root_;
};

// Where a path leads, without symbolic links; also one whose last components are missing.
std::string physical_path(const std::string& path);

// A name of a layer: letters, digits, ".", "_" and "-", not a dot at the start, at most 64 characters.
bool is_layer_name(std::string_view name);

// For a session: makes the layer, or takes up an existing one, and locks it. The lock ends with the
// descriptor. `mode` is that of the project's directory.
base::Result<base::Fd> open_for_session(const Layer& layer, uint32_t mode);

void release(base::Fd lock);

// For a command that changes the layer. An error: a session uses it.
base::Result<base::Fd> lock_for_command(const Layer& layer);

State state_of(const Layer& layer);

// Differs after another session has begun to use the layer, or a rollback has exchanged its files.
std::string use_of(const Layer& layer);

// For a session: notes the mount namespace of its jail, of which this is a descriptor.
void note_mounts(const Layer& layer, int mounts);
// The inode of that namespace; zero: not known.
uint64_t noted_mounts(const Layer& layer);

// The numbers of its applies, ascending.
std::vector<unsigned> applies_of(const Layer& layer);

// The layer has nothing left that this apply has not written.
void mark_all_applied(const Layer& layer, unsigned number);

// The layer has other content now than when everything was applied.
void unmark_all_applied(const Layer& layer);

// After the end of a session: syncs the file system of the layer and records that.
void mark_synced(const std::string& directory);
// The machine crashed before the files of the layer were on the disk.
bool may_be_damaged(const Layer& layer);

// With everything in it, also originals beside the project.
void remove_layer(const Layer& layer);

}  // namespace layers
