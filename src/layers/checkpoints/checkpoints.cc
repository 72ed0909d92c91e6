// SPDX-License-Identifier: MIT
#include "layers/checkpoints/checkpoints.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <tuple>
#include <utility>

#include "base/encoding/codec.h"
#include "base/no_links.h"
#include "base/parse.h"
#include "base/text.h"
#include "layers/checkpoints/copy.h"
#include "layers/clone/listing.h"

template <>
inline constexpr auto base::kFields<layers::Checkpoint> = std::tuple(&layers::Checkpoint::time,
                                                                     &layers::Checkpoint::is_named,
                                                                     &layers::Checkpoint::text);

namespace layers {
namespace {

constexpr std::string_view kCheckpointFormat = "agent-sandbox checkpoint 1";

std::string directory_of(const Layer& layer) {
    return layer.place() + "/checkpoints";
}
std::string directory_of(const Layer& layer, unsigned number) {
    return base::format("{}/{}", directory_of(layer), number);
}
std::string new_directory(const Layer& layer) {
    return directory_of(layer) + "/new";
}

base::Result<base::Fd> open_directory(const std::string& path) {
    base::Fd directory(base::open_without_links(base::Path::known(path), O_RDONLY | O_DIRECTORY));
    if (!directory) return base::system_error("open " + base::printable(path), -directory.get());
    return directory;
}

std::optional<Checkpoint> read_checkpoint(const Layer& layer, unsigned number) {
    base::Result<std::string> text = base::read_file(directory_of(layer, number) + "/about");
    if (!text) return std::nullopt;
    base::FieldReader reader(*text);
    Checkpoint checkpoint;
    if (reader.next() != kCheckpointFormat) return std::nullopt;
    base::read(reader, checkpoint);
    checkpoint.number = number;
    return reader.is_complete() ? std::optional(std::move(checkpoint)) : std::nullopt;
}

// Copies the files of a layer from one directory that contains them to another one.
struct FilesCopy {
    std::string from, to;
    bool can_change = false;  // the copy is used by sessions
};
base::Status copy_files(const Layer& layer, const FilesCopy& files, CopyRequest request) {
    const std::string from = layer.files_in(files.from), to = layer.files_in(files.to);
    if (layer.is_clone && ::mkdir((files.to + kClone).c_str(), 0700) != 0)
        return base::system_error("make " + base::printable(files.to), errno);
    if (::mkdir(to.c_str(), 0700) != 0) return base::system_error("make " + base::printable(to), errno);
    base::Result<base::Fd> source = open_directory(from), target = open_directory(to);
    if (!source) return source.error();
    if (!target) return target.error();
    request.from = source->get();
    request.to = target->get();
    if (base::Status copied = copy_upper(request); !copied || !layer.is_clone) return copied;
    base::Result<Listing> listing = Listing::load(files.from + kClone);
    if (!listing) return listing.error();
    return listing->carried_over(source->get(), target->get(), files.can_change).save(files.to + kClone);
}

}  // namespace

std::string Layer::checkpoint_upper(unsigned number) const {
    return files_in(directory_of(*this, number));
}

std::vector<Checkpoint> checkpoints_of(const Layer& layer) {
    std::vector<Checkpoint> all;
    base::Fd directory(::open(directory_of(layer).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory) return all;
    base::visit_entries(directory.get(), [&](const struct dirent64& entry) {
        std::optional<unsigned> number = base::parse_number<unsigned>(entry.d_name);
        std::optional<Checkpoint> known = number ? read_checkpoint(layer, *number) : std::nullopt;
        if (known) all.push_back(*std::move(known));
        return true;
    });
    std::ranges::sort(all, {}, &Checkpoint::number);
    return all;
}

base::Result<Checkpoint> find_checkpoint(const Layer& layer, unsigned number) {
    std::optional<Checkpoint> known = number > 0 ? read_checkpoint(layer, number) : std::nullopt;
    if (known) return *std::move(known);
    const std::string title = base::printable(layer.about.title());
    return base::Error{.what = base::format("the layer {} has no checkpoint {}", title, number),
                       .advice = base::format("'agent-sandbox rollback --list {}' lists them", title),
                       .exit_code = base::ExitCode::check_failed};
}

base::Result<base::Fd> lock_checkpoints(const Layer& layer) {
    if (base::Status made = base::make_directories(directory_of(layer)); !made) return made.error();
    base::Fd lock(
        ::open((directory_of(layer) + "/lock").c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!lock) return base::system_error("lock the checkpoints", errno);
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
        return base::Error{.what = base::format("another command uses the checkpoints of the layer {}",
                                                base::printable(layer.about.title())),
                           .advice = "wait until it has ended",
                           .exit_code = base::ExitCode::check_failed};
    return lock;
}

base::Result<NewCheckpoint> NewCheckpoint::make(const Layer& layer,
                                                std::optional<std::chrono::steady_clock::time_point> end) {
    remove_unfinished(layer);
    if (::mkdir(new_directory(layer).c_str(), 0700) != 0)
        return base::system_error("make a checkpoint", errno);
    NewCheckpoint made(layer);
    const std::vector<Checkpoint> earlier = checkpoints_of(layer);
    base::Fd previous;
    if (!earlier.empty())
        previous = base::Fd(base::open_without_links(
            base::Path::known(layer.checkpoint_upper(earlier.back().number)), O_RDONLY | O_DIRECTORY));
    base::Status copied = copy_files(layer, {.from = layer.root(), .to = new_directory(layer)},
                                     {.previous = previous.get(), .end = end});
    if (!copied) {
        made.is_pending_ = !took_too_long(copied.error());
        return copied.error();
    }
    return made;
}

NewCheckpoint::NewCheckpoint(NewCheckpoint&& other) noexcept
    : layer_(std::move(other.layer_)), is_pending_(std::exchange(other.is_pending_, false)) {}

NewCheckpoint::~NewCheckpoint() {
    if (is_pending_) base::remove_tree(new_directory(layer_));
}

base::Result<Checkpoint> NewCheckpoint::keep(std::string_view text, bool is_named) {
    const std::vector<Checkpoint> earlier = checkpoints_of(layer_);
    Checkpoint checkpoint{.number = earlier.empty() ? 1 : earlier.back().number + 1,
                          .time = ::time(nullptr),
                          .is_named = is_named,
                          .text = std::string(text)};
    base::FieldWriter writer;
    writer.add(kCheckpointFormat);
    base::write(writer, checkpoint);
    const std::string directory = new_directory(layer_);
    if (base::Status written = base::write_file_atomically(directory + "/about", writer.take()); !written)
        return written.error();
    // The copies are on the disk before the name counts.
    base::Result<base::Fd> opened = open_directory(directory);
    if (!opened) return opened.error();
    if (::syncfs(opened->get()) != 0) return base::system_error("sync the checkpoint", errno);
    if (::rename(directory.c_str(), directory_of(layer_, checkpoint.number).c_str()) != 0)
        return base::system_error("make a checkpoint", errno);
    is_pending_ = false;
    return checkpoint;
}

void remove_unfinished(const Layer& layer) {
    base::remove_tree(new_directory(layer));
}

void remove_surplus_checkpoints(const Layer& layer) {
    std::vector<Checkpoint> all = checkpoints_of(layer);
    std::erase_if(all, [](const Checkpoint& checkpoint) { return checkpoint.is_named; });
    for (size_t i = 0; i + kMostCheckpoints < all.size(); ++i)
        base::remove_tree(directory_of(layer, all[i].number));
}

base::Status list_restored(const Layer& layer, unsigned number) {
    if (!layer.is_clone) return base::success();
    const std::string from = directory_of(layer, number), to = layer.root();
    base::Result<base::Fd> source = open_directory(layer.files_in(from));
    base::Result<base::Fd> target = open_directory(layer.files_in(to));
    if (!source) return source.error();
    if (!target) return target.error();
    base::Result<Listing> listing = Listing::load(from + kClone);
    if (!listing) return listing.error();
    return listing->carried_over(source->get(), target->get(), true).save(to + kClone);
}

base::Status restore_at_rest(const Layer& layer, unsigned number) {
    const std::string root = layer.root(), fresh = root + "/new";
    const std::string name = layer.is_clone ? kClone : "/upper";
    base::remove_tree(fresh);
    base::Status copied = base::make_directories(fresh);
    if (copied)
        copied =
            copy_files(layer, {.from = directory_of(layer, number), .to = fresh, .can_change = true}, {});
    base::Result<base::Fd> opened = open_directory(layer.place());
    if (copied && opened && ::syncfs(opened->get()) != 0)
        copied = base::system_error("sync the layer", errno);
    if (copied &&
        ::renameat2(AT_FDCWD, (fresh + name).c_str(), AT_FDCWD, (root + name).c_str(), RENAME_EXCHANGE) != 0)
        copied = base::system_error("exchange the files of the layer", errno);
    base::remove_tree(fresh);
    if (copied) unmark_all_applied(layer);
    return copied;
}

}  // namespace layers
