// SPDX-License-Identifier: MIT
// Theory of operation. The steps and what a crash during each of them leaves:
//
//   1. stage    copies of every new content in slots, synced     the project is as it was; the next apply of
//               once                                             the layer removes the slots
//   2. journal  becomes valid by one rename                      the same, or as below
//   3. commit   one atomic rename for each name                  resume() or undo()
//   4. done     everything is synced, `done` is written          the same; nothing is left to perform
//
// A failure in 1 or 2 (a full disk) removes the slots. A failure in 3 takes everything back.
#include "layers/apply.h"

#include <fcntl.h>
#include <linux/stat.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/encoding/codec.h"
#include "base/no_links.h"
#include "base/text.h"
#include "layers/commit.h"
#include "layers/stage.h"
#include "layers/tree.h"

namespace layers {
namespace {

constexpr const char* kJournal = "journal";
constexpr const char* kDone = "done";
constexpr const char* kPlace = "place";
constexpr const char* kRestored = "restored";  // beside the directories of the applies
constexpr const char* kIgnore = ".gitignore";
constexpr size_t kLargestRestored = 256u << 20;

// Entries can be renamed only within one mount. Nothing: the kernel does not report the mount (before 5.8).
std::optional<uint64_t> mount_of(const std::string& path) {
    struct statx status = {};
    constexpr unsigned kMountId = 0x1000;  // STATX_MNT_ID, which older headers lack
    if (::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, kMountId, &status) != 0) return std::nullopt;
    return (status.stx_mask & kMountId) != 0 ? std::optional<uint64_t>(status.stx_mnt_id) : std::nullopt;
}

bool is_callers_own(const std::string& path) {
    struct stat status;
    return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() &&
           (status.st_mode & 0022) == 0 && ::access(path.c_str(), W_OK) == 0;
}

base::Error nothing_changed(base::Error error) {
    error.what = "nothing was changed: " + error.what;
    return error;
}

std::string path_of(const base::Fd& directory) {
    return base::format("/proc/self/fd/{}", directory.get());
}

// Threat: slots in the project are below a name that a plain session can make a link to any directory of the
// user (tests/admin/layers.bats).
void remove_slots(const base::Path& slots) {
    base::Fd parent(base::open_without_links(slots.parent(), O_RDONLY | O_DIRECTORY));
    if (!parent) return;
    base::remove_tree(base::format("{}/{}", path_of(parent), slots.name()));
    if (slots.parent().name() != kStage) return;
    // Beside the project, or in it: the directory of all such slots, if this was the last.
    base::Fd above(base::open_without_links(slots.parent().parent(), O_RDONLY | O_DIRECTORY));
    ::unlinkat(parent.get(), kIgnore, 0);
    if (above) ::unlinkat(above.get(), kStage, AT_REMOVEDIR);
}

base::Status fill(const Applying& request, Journal& journal) {
    if (base::Status written = write_synced(request.directory, kPlace, request.slots); !written)
        return written;
    const base::Path slots_path = base::Path::known(request.slots);
    if (base::Status made = base::make_directories_without_links(slots_path.parent(), 0700); !made)
        return made;
    base::Fd parent(base::open_without_links(slots_path.parent(), O_RDONLY | O_DIRECTORY));
    const std::string name(slots_path.name());
    if (!parent)
        return base::system_error("open " + base::printable(slots_path.parent().str()), -parent.get());
    if (::mkdirat(parent.get(), name.c_str(), 0700) != 0)
        return base::system_error("make " + base::printable(request.slots), errno);
    base::Fd slots(open_below(parent.get(), name, O_RDONLY | O_DIRECTORY));
    if (!slots) return base::system_error("open " + base::printable(request.slots), -slots.get());
    if (slots_path.is_strictly_within(request.project_path)) {
        // Programs that read the project ignore it.
        if (base::Status hidden = write_synced(path_of(parent), kIgnore, "*\n"); !hidden) return hidden;
    }
    if (base::Status filled = fill_slots(request.layer, slots.get(), journal.operations); !filled)
        return filled;
    // One call for all files: it takes an eighth of the time of a call for each.
    if (::syncfs(slots.get()) != 0) return base::system_error("sync the new files", errno);
    return save_journal(request.directory, journal);
}

base::Status finish(const std::string& directory, const Commit& commit) {
    if (base::Status synced = commit.sync(); !synced) return synced;
    return write_synced(directory, kDone, "");
}

base::Error interrupted(const base::Error& cause, const base::Error& also) {
    return base::Error{
        .what = base::format("the changes are half applied: {}; then: {}", cause.line(), also.line()),
        .advice = "'agent-sandbox apply --resume' or 'apply --undo' finishes it"};
}

std::string parent_directory(const std::string& directory) {
    return base::Path::known(directory).parent().str();
}

void remember_restored(const std::string& directory, const Journal& journal) {
    const std::string parent = parent_directory(directory);
    std::map<std::string, Written> all = restored_below(parent);
    auto add = [&](const Operation& operation, const Identity& back) {
        all[operation.path] = {back.inode, back.modified};
    };
    for (const Operation& operation : journal.operations) {
        if (operation.act == Act::mode) add(operation, operation.fresh);
    }
    // The directory whose mode was set may have been new, in place of another entry.
    for (const Operation& operation : journal.operations) {
        if (operation.act == Act::exchange || operation.act == Act::remove) add(operation, operation.old);
    }
    base::FieldWriter writer;
    for (const auto& [path, file] : all) {
        writer.add(path);
        writer.add(file.inode);
        writer.add(file.modified);
    }
    (void)write_synced(parent, kRestored, writer.take());
}

}  // namespace

std::map<std::string, Written> restored_below(const std::string& parent) {
    std::map<std::string, Written> all;
    base::Result<std::string> text = base::read_file(parent + "/" + kRestored, kLargestRestored);
    if (!text) return all;
    base::FieldReader reader(*text);
    while (!reader.is_at_end() && reader.is_good()) {
        std::string path;
        Written file;
        reader.get(path);
        reader.get(file.inode);
        reader.get(file.modified);
        if (reader.is_good()) all[path] = file;
    }
    return all;
}

std::string choose_slots(const base::Path& project, const std::string& directory, const std::string& name) {
    const std::optional<uint64_t> mount = mount_of(project.str());
    if (mount && mount_of(directory) == mount) return directory + "/slots";
    const base::Path parent = project.parent();
    const bool is_beside =
        mount && !parent.is_root() && mount_of(parent.str()) == mount && is_callers_own(parent.str());
    return ((is_beside ? parent : project) / kStage / name).str();
}

base::Result<Journal> apply(const Applying& request, const std::vector<Change>& changes) {
    struct stat status;
    if (::fstat(request.project, &status) != 0) return base::system_error("read the project", errno);
    Journal journal{.project = request.project_path,
                    .project_inode = status.st_ino,
                    .slots = request.slots,
                    .scanned = request.scanned};
    base::Result<std::vector<Operation>> operations = operations_for(request.project, changes);
    if (!operations) return nothing_changed(operations.error());
    journal.operations = *std::move(operations);
    if (base::Status filled = fill(request, journal); !filled) {
        remove_applied(request.directory);
        return nothing_changed(filled.error());
    }
    base::Result<Commit> commit = Commit::open(journal);
    if (!commit) return commit.error();
    if (base::Status done = commit->perform(); !done) {
        if (base::Status back = undo(request.directory); !back)
            return interrupted(done.error(), back.error());
        return nothing_changed(done.error());
    }
    if (base::Status done = finish(request.directory, *commit); !done) return done.error();
    return journal;
}

bool is_interrupted(const std::string& directory) {
    return base::file_exists(directory + "/" + kJournal) && !is_done(directory);
}

bool is_done(const std::string& directory) {
    return base::file_exists(directory + "/" + kDone);
}

base::Result<Progress> progress_of(const std::string& directory) {
    base::Result<Journal> journal = load_journal(directory);
    if (!journal) return journal.error();
    base::Result<Commit> commit = Commit::open(*journal);
    if (!commit) return commit.error();
    return Progress{commit->performed(), journal->operations.size()};
}

base::Status resume(const std::string& directory) {
    base::Result<Journal> journal = load_journal(directory);
    if (!journal) return journal.error();
    base::Result<Commit> commit = Commit::open(*journal);
    if (!commit) return commit.error();
    if (base::Status done = commit->perform(); !done) return done;
    return finish(directory, *commit);
}

base::Status undo(const std::string& directory, const std::vector<std::string>& excused) {
    base::Result<Journal> journal = load_journal(directory);
    if (!journal) return journal.error();
    base::Result<Commit> commit = Commit::open(*journal);
    if (!commit) return commit.error();
    std::vector<std::string> changed = commit->changed_since();
    std::erase_if(changed,
                  [&](const std::string& path) { return std::ranges::find(excused, path) != excused.end(); });
    if (!changed.empty()) {
        for (std::string& path : changed) path = base::printable(path);
        return base::Error{
            .what = "nothing was undone: these files were changed after the changes were applied: " +
                    base::join(changed, ", "),
            .advice = base::format("the originals are in {}", base::printable(journal->slots)),
            .exit_code = base::ExitCode::check_failed};
    }
    // From here on the apply is not complete. A crash leaves it to the next resume() or undo().
    if (::unlink((directory + "/" + kDone).c_str()) != 0 && errno != ENOENT)
        return base::system_error("remove " + base::printable(directory) + "/done", errno);
    if (base::Status back = commit->take_back(excused); !back) return back;
    if (base::Status synced = commit->sync(); !synced) return synced;
    remember_restored(directory, *journal);
    remove_applied(directory);
    return base::success();
}

base::Result<std::map<std::string, Written>> written_by(const std::string& directory) {
    base::Result<Journal> journal = load_journal(directory);
    if (!journal) return journal.error();
    std::map<std::string, Written> written;
    for (const Operation& operation : journal->operations) {
        if (operation.act != Act::remove)
            written[operation.path] = {operation.fresh.inode, operation.fresh.modified};
    }
    return written;
}

void remove_applied(const std::string& directory) {
    // The journal goes first: without it nothing is to be finished.
    ::unlink((directory + "/" + kJournal).c_str());
    (void)sync_directory(directory);
    if (base::Result<std::string> place = base::read_file(directory + "/" + kPlace)) {
        base::Result<base::Path> slots = base::Path::parse(*place);
        if (slots) remove_slots(*slots);
    }
    base::remove_tree(directory);
}

}  // namespace layers
