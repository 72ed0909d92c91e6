// SPDX-License-Identifier: MIT
#include "slurm/jobs/spec.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "base/encoding/base64.h"
#include "base/encoding/codec.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/text.h"

template <>
inline constexpr auto base::kFields<slurm::Record> = std::tuple(&slurm::Record::project,
                                                                &slurm::Record::command,
                                                                &slurm::Record::directory,
                                                                &slurm::Record::output, &slurm::Record::error,
                                                                &slurm::Record::input);

namespace slurm {
namespace {

constexpr std::string_view kRecordVersion = "agent-sandbox record 2";
constexpr size_t kLargest = 1u << 20;
constexpr size_t kLongestMessages = 2048;
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

// Slurm creates the file, and the job's processes outside the jail write it.
std::string messages_about(const std::string& state_directory, const std::string& job) {
    if (!is_job_number(job)) return {};
    std::string path = base::format("{}/slurm/output/{}", state_directory, job);
    base::Fd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status;
    if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
    std::string text(std::min<size_t>(kLongestMessages, static_cast<size_t>(status.st_size)), '\0');
    ssize_t count =
        ::pread(file.get(), text.data(), text.size(), status.st_size - static_cast<off_t>(text.size()));
    text.resize(count > 0 ? static_cast<size_t>(count) : 0);
    return text;
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

template <>
inline constexpr auto base::kFields<slurm::Spec> = std::tuple(
    &slurm::Spec::project, &slurm::Spec::project_inode, &slurm::Spec::options, &slurm::Spec::variables,
    &slurm::Spec::session, &slurm::Spec::is_batch, &slurm::Spec::script, &slurm::Spec::command,
    &slurm::Spec::environment, &slurm::Spec::directory, &slurm::Spec::submitted_from, &slurm::Spec::output,
    &slurm::Spec::error, &slurm::Spec::input, &slurm::Spec::appends);

namespace slurm {
namespace {

// Increase it with every change of the fields: a job may wait for days while the program is replaced.
constexpr std::string_view kSpecVersion = "agent-sandbox job 2";

constexpr size_t kLineLength = 76;
constexpr size_t kLongestInterpreterLine = 255;  // BINPRM_BUF_SIZE, less the end of the line
constexpr std::string_view kVariable = "AGENT_SANDBOX_STEP_";
constexpr size_t kVariableLength = 96 << 10;  // below MAX_ARG_STRLEN
constexpr size_t kMostVariables = 16;

base::Error damaged() {
    return {.what = "the job's description is damaged or of another version of agent-sandbox",
            .advice = "submit the job again"};
}

std::string name_of(size_t number) {
    return std::string(kVariable) + std::to_string(number);
}

}  // namespace

std::string encode(const Spec& spec) {
    return base::encode_message(kSpecVersion, spec);
}

base::Result<Spec> decode_spec(std::string_view text) {
    Spec spec;
    if (base::decode_message(kSpecVersion, text, spec) != base::Decoded::well) return damaged();
    return spec;
}

base::Result<std::string> job_file(const std::string& program, const Spec& spec,
                                   std::string_view directives) {
    bool is_odd = std::ranges::any_of(program, [](unsigned char letter) { return std::isspace(letter); });
    std::string text = base::format("#!{} {}\n", program, kEntryRole);
    if (is_odd || !program.starts_with('/') || text.size() > kLongestInterpreterLine) {
        return base::Error{.what = "the kernel can't run a job through " + base::printable(program),
                           .advice = "install agent-sandbox under a short path without spaces"};
    }
    text += directives;
    std::string code = base::to_base64(encode(spec));
    for (size_t at = 0; at < code.size(); at += kLineLength) text += code.substr(at, kLineLength) + "\n";
    if (text.size() > kLargestJobFile) {
        return base::Error{
            .what =
                base::format("the script and its environment are {} KiB as they travel, and Slurm takes 4096",
                             text.size() >> 10),
            .advice = "keep the bulk in a file that the script reads"};
    }
    return text;
}

base::Result<Spec> spec_from_job_file(std::string_view text) {
    size_t first = text.find('\n');
    if (!text.starts_with("#!") || first == std::string_view::npos) return damaged();
    std::string code;
    code.reserve(text.size());
    for (std::string_view line : base::split(text.substr(first + 1), '\n')) {
        if (!line.starts_with('#')) code += line;
    }
    std::optional<std::string> bytes = base::from_base64(code);
    if (!bytes) return damaged();
    return decode_spec(*bytes);
}

base::Result<std::vector<std::string>> step_variables(const Spec& spec) {
    std::string code = base::to_base64(encode(spec));
    std::vector<std::string> variables;
    for (size_t at = 0; at < code.size(); at += kVariableLength)
        variables.push_back(
            base::format("{}={}", name_of(variables.size()), code.substr(at, kVariableLength)));
    if (variables.size() <= kMostVariables) return variables;
    return base::Error{.what = "the step's arguments and environment are too long",
                       .advice = "keep the bulk in a file that the command reads"};
}

base::Result<std::optional<Spec>> take_step_variables(std::vector<std::string>& environment) {
    std::string code;
    bool is_there = false;
    for (size_t number = 0; number < kMostVariables; ++number) {
        std::string name = name_of(number) + "=";
        auto found = std::ranges::find_if(environment,
                                          [&](const std::string& entry) { return entry.starts_with(name); });
        if (found == environment.end()) break;
        is_there = true;
        code += found->substr(name.size());
    }
    std::erase_if(environment, [](const std::string& entry) { return entry.starts_with(kVariable); });
    if (!is_there) return std::optional<Spec>();
    std::optional<std::string> bytes = base::from_base64(code);
    if (!bytes) return damaged();
    base::Result<Spec> spec = decode_spec(*bytes);
    if (!spec) return spec.error();
    return std::optional<Spec>(*std::move(spec));
}

}  // namespace slurm
