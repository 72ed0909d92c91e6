// SPDX-License-Identifier: MIT
#include "slurm/jobs/spec.h"

#include <algorithm>
#include <cctype>

#include "base/encoding/base64.h"
#include "base/encoding/codec.h"
#include "base/format.h"
#include "base/text.h"

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
