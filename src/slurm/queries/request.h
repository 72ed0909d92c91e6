// SPDX-License-Identifier: MIT
// The common start of every handler: parses the command line by the command's table, gets the jobs in the
// session's scope, and replaces ids that are out of scope.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/parse.h"
#include "slurm/chaperon/conversation.h"
#include "slurm/jobs/spec.h"
#include "slurm/options/parse.h"
#include "slurm/scope/identity.h"
#include "slurm/scope/rows.h"

namespace slurm::queries {

using chaperon::Call;
using chaperon::Captured;
using chaperon::Context;
using chaperon::Conversation;
using chaperon::Ending;
using chaperon::Scope;
using Arguments = std::vector<std::string>;

// A step of a handler. If it has already answered, it returns the ending.
template <typename T>
using OrEnding = std::variant<T, Ending>;

struct QueryRequest {
    const Context& context;
    const Call& call;
    Conversation& conversation;
    const Command& command;
    // Options from variables come first, as Slurm reads them.
    Parsed parsed;
    // Variables that are not options.
    std::vector<std::string> variables;

    Ending deny(std::string_view code, std::string what, std::string advice = "") const;
    Ending usage_error(std::string_view text, int status = 1) const;

    // The options that pass, except those in `without`.
    Arguments passed(std::initializer_list<std::string_view> without = {}) const;
    // Adds each of these options that was given, whatever its action.
    void add_given(Arguments& arguments, std::initializer_list<std::string_view> names) const;

    Ending relay(const Arguments& arguments) const;
    // Rewrites each line with `rewrite`.
    Ending relay(const Arguments& arguments, std::function<std::string(std::string_view line)> rewrite) const;
    OrEnding<Captured> capture(const Arguments& arguments) const;
    Ending answer(const Captured& captured) const;
    // Answers with the rewritten output of --json, or with a denial if it could not be parsed.
    using RewriteJson = std::function<std::optional<std::string>(std::string_view document)>;
    Ending answer_json(const Arguments& arguments, const RewriteJson& rewrite) const;

    // For an option with an optional list: getopt reads "-j 17" as "-j" and a word, the client as a list.
    std::optional<std::string> list_or_word(std::string_view name);
};

// Answers the calls that need no handler: usage errors, refused options, --help and --version.
OrEnding<QueryRequest> read_request(const Context& context, const Call& call, Conversation& conversation);

JobSet::Bounds bounds_of(const Context& context);

// The user's jobs, with the bounds of the session's scope. Runs one query to squeue. If it fails, Slurm's own
// message is the answer.
OrEnding<JobSet> ask_jobs(const QueryRequest& request);

// The stored paths of a job in scope.
std::optional<Record> record_in_scope(const Context& context, const JobSet& jobs, uint32_t job);

// Replaces ids that are out of scope by ids that no job has, and restores the requested ids in Slurm's
// output.
class Disguise {
  public:
    explicit Disguise(const JobSet& jobs) : jobs_(jobs) {}

    std::string text_of(const JobId& id);
    std::string text_of(const std::vector<JobId>& ids);
    std::string restored(std::string text) const;

  private:
    const JobSet& jobs_;
    std::vector<uint32_t> hidden_;
};

// "17,18,67108864": the jobs in scope and one that does not exist, so that Slurm reads a list even if there
// are no jobs or only one.
std::string list_of(const std::vector<uint32_t>& numbers);

// Linux accepts no argument above 128 KiB.
// Why a query is refused.
inline constexpr std::string_view kNamesOthers = "names users who are not concerned";
inline constexpr std::string_view kAdministration = "this is the administrator's";

inline constexpr size_t kLongestList = 120'000;

// Whether every user name or number in a comma-separated list is the user's own.
bool is_own_user(const Context& context, std::string_view list);

// Finds a row by its name or a unique prefix of at least three letters, in upper or lower case. Null: not
// found.
template <typename Row>
const Row* find_by_beginning(std::span<const Row> rows, std::string_view name) {
    const Row* found = nullptr;
    for (const Row& row : rows) {
        if (base::equals_ignoring_case(row.name, name)) return &row;
        if (name.size() < 3 || !base::starts_ignoring_case(row.name, name)) continue;
        if (found) return nullptr;
        found = &row;
    }
    return found;
}

}  // namespace slurm::queries
