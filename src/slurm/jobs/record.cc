// SPDX-License-Identifier: MIT
#include "slurm/jobs/record.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/encoding/codec.h"
#include "base/entries.h"
#include "base/file.h"
#include "base/format.h"
#include "base/parse.h"

template <>
inline constexpr auto base::kFields<slurm::Record> = std::tuple(&slurm::Record::command,
                                                                &slurm::Record::directory,
                                                                &slurm::Record::output, &slurm::Record::error,
                                                                &slurm::Record::input);

namespace slurm {
namespace {

constexpr std::string_view kRecordVersion = "agent-sandbox record 1";
constexpr size_t kLargest = 1u << 20;
// No site allows a job to wait and run for longer.
constexpr long kLongestJob = 90L * 24 * 3600;

std::string place_of(const std::string& state_directory) {
    return state_directory + "/slurm/jobs";
}

}  // namespace

bool is_job_number(std::string_view job) {
    return !job.empty() && job.size() <= 10 && std::ranges::all_of(job, base::is_digit);
}

base::Status keep_record(const std::string& state_directory, const std::string& job, const Record& record) {
    if (!is_job_number(job)) return base::Error{.what = base::format("'{}' is not a job", job)};
    if (base::Status made = base::make_directories(place_of(state_directory)); !made) return made;
    return base::write_file_atomically(place_of(state_directory) + "/" + job,
                                       base::encode_message(kRecordVersion, record));
}

std::optional<Record> find_record(const std::string& state_directory, const std::string& job) {
    if (!is_job_number(job)) return std::nullopt;
    base::Result<std::string> text = base::read_file(place_of(state_directory) + "/" + job, kLargest);
    if (!text) return std::nullopt;
    Record record;
    if (base::decode_message(kRecordVersion, *text, record) != base::Decoded::well) return std::nullopt;
    return record;
}

void remove_old_records(const std::string& state_directory, long now) {
    base::Fd place(::open(place_of(state_directory).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!place) return;
    base::visit_entries(place.get(), [&](const struct dirent64& entry) {
        struct stat status;
        bool is_record = ::fstatat(place.get(), entry.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                         S_ISREG(status.st_mode);
        if (is_record && now - status.st_mtime > kLongestJob) ::unlinkat(place.get(), entry.d_name, 0);
        return true;
    });
}

}  // namespace slurm
