// SPDX-License-Identifier: MIT
// What every handler begins with: the line read by the command's table, the jobs that the session may know
// of, and ids that are replaced where it may not.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "slurm/chaperon/conversation.h"
#include "slurm/options/parse.h"
#include "slurm/scope/ids.h"
#include "slurm/scope/rows.h"

namespace slurm::queries {

using chaperon::Call;
using chaperon::Captured;
using chaperon::Context;
using chaperon::Conversation;
using chaperon::Ending;
using chaperon::Scope;
using Arguments = std::vector<std::string>;

// A step of a handler that may already have answered.
template <typename T>
using OrEnding = std::variant<T, Ending>;

struct Request {
    const Context& context;
    const Call& call;
    Conversation& conversation;
    const Command& command;
    // Variables that stand for options come first among them, as Slurm reads them.
    Parsed parsed;
    // Variables that no option stands for.
    std::vector<std::string> variables;

    Ending deny(std::string_view code, std::string what, std::string advice = "") const;
    Ending usage_error(std::string_view text, int status = 1) const;

    // The options that pass, without those that are named here.
    Arguments passed(std::initializer_list<std::string_view> without = {}) const;
    // Adds each of these options that was given, whatever its verdict.
    void add_given(Arguments& arguments, std::initializer_list<std::string_view> names) const;

    Ending relay(const Arguments& arguments) const;
    // Each line passes through `rewrite`.
    Ending relay(const Arguments& arguments, std::function<std::string(std::string_view line)> rewrite) const;
    OrEnding<Captured> capture(const Arguments& arguments) const;
    Ending answer(const Captured& captured) const;

    // Options that pass one list of words: "-j 17" is "-j" and a word to getopt, and a list to the client.
    std::optional<std::string> list_or_word(std::string_view name);
};

// Answers what needs no handler: usage errors, refused options, --help and --version.
OrEnding<Request> read_request(const Context& context, const Call& call, Conversation& conversation);

JobSet::Bounds bounds_of(const Context& context);

// The user's jobs, with the bounds of the session's scope. One question to squeue; where it fails, Slurm's
// own words are the answer.
OrEnding<JobSet> ask_jobs(const Request& request);

// Ids of a request, with those that the session may not know of replaced by ids of no job. In what Slurm then
// says they become what was asked again.
class Disguise {
  public:
    explicit Disguise(const JobSet& jobs) : jobs_(jobs) {}

    std::string text_of(const JobId& id);
    std::string text_of(const std::vector<JobId>& ids);
    std::string restored(std::string text) const;
    // Nothing was asked that the session may know of.
    bool hides_all() const { return known_ == 0; }

  private:
    const JobSet& jobs_;
    std::vector<uint32_t> hidden_;
    size_t known_ = 0;
};

// "17,18,67108864": the jobs in scope and one that does not exist, so that it is a list to Slurm even when
// there are none or one.
std::string list_of(const std::vector<uint32_t>& numbers);

// Linux takes no argument above 128 KiB.
inline constexpr size_t kLongestList = 120'000;

// Whether each of a comma list of user names and numbers is the user's own.
bool is_own_user(const Context& context, std::string_view list);

bool equals_ignoring_case(std::string_view left, std::string_view right);
bool starts_ignoring_case(std::string_view text, std::string_view start);

// A name that is known by its beginning, in any case: exact, or the only one that begins like this with at
// least three letters. Null: none.
template <typename Row>
const Row* find_by_beginning(std::span<const Row> rows, std::string_view name) {
    const Row* found = nullptr;
    for (const Row& row : rows) {
        if (equals_ignoring_case(row.name, name)) return &row;
        if (name.size() < 3 || !starts_ignoring_case(row.name, name)) continue;
        if (found) return nullptr;
        found = &row;
    }
    return found;
}

}  // namespace slurm::queries
