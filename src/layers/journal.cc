// SPDX-License-Identifier: MIT
#include "layers/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <tuple>

#include "base/encoding/codec.h"
#include "base/file.h"
#include "base/text.h"

template <>
inline constexpr layers::Act base::kLast<layers::Act> = layers::Act::mode;
template <>
inline constexpr auto base::kFields<layers::Identity> = std::tuple(&layers::Identity::inode,
                                                                   &layers::Identity::modified,
                                                                   &layers::Identity::is_directory);
template <>
inline constexpr auto base::kFields<layers::Operation> =
    std::tuple(&layers::Operation::act, &layers::Operation::path, &layers::Operation::fresh,
               &layers::Operation::old, &layers::Operation::mode_before, &layers::Operation::mode_after);
template <>
inline constexpr auto base::kFields<layers::Journal> = std::tuple(&layers::Journal::project,
                                                                  &layers::Journal::project_inode,
                                                                  &layers::Journal::slots,
                                                                  &layers::Journal::scanned,
                                                                  &layers::Journal::operations);

namespace layers {
namespace {

constexpr std::string_view kFormat = "agent-sandbox journal 1";
constexpr size_t kLargest = 1u << 30;

}  // namespace

base::Status sync_directory(const std::string& directory) {
    base::Fd opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!opened || ::fsync(opened.get()) != 0)
        return base::system_error("sync " + base::printable(directory), errno);
    return base::success();
}

base::Status write_synced(const std::string& directory, const std::string& name, std::string_view content) {
    const std::string path = directory + "/" + name, temporary = path + ".tmp";
    base::Fd file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return base::system_error("write " + base::printable(temporary), errno);
    if (base::Status written = base::write_all(file.get(), content); !written) return written;
    if (::fsync(file.get()) != 0) return base::system_error("sync " + base::printable(temporary), errno);
    if (::rename(temporary.c_str(), path.c_str()) != 0)
        return base::system_error("write " + base::printable(path), errno);
    return sync_directory(directory);
}

base::Status save_journal(const std::string& directory, const Journal& journal) {
    base::FieldWriter writer;
    writer.add(kFormat);
    base::write(writer, journal);
    return write_synced(directory, "journal", writer.take());
}

base::Result<Journal> load_journal(const std::string& directory) {
    base::Result<std::string> text = base::read_file(directory + "/journal", kLargest);
    if (!text) return text.error();
    base::FieldReader reader(*text);
    Journal journal;
    bool is_known = reader.next() == kFormat;
    if (is_known) base::read(reader, journal);
    if (!is_known || !reader.is_complete())
        return base::Error{.what = base::format("{}/journal is damaged", base::printable(directory)),
                           .advice = "compare the project with the files in that directory by hand"};
    return journal;
}

}  // namespace layers
