// SPDX-License-Identifier: MIT
#include "slurm/scope/rows.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>

namespace slurm {
namespace {

constexpr std::string_view kFields[] = {"%A", "%F", "%i", "%T", "%k"};
constexpr size_t kFieldCount = std::size(kFields);

// Slurm's names of the states in which a job has ended.
constexpr std::string_view kEndedStates[] = {"BOOT_FAIL", "CANCELLED",    "COMPLETED", "DEADLINE",
                                             "FAILED",    "NODE_FAIL",    "PREEMPTED", "REVOKED",
                                             "TIMEOUT",   "OUT_OF_MEMORY"};
// squeue prints this for a missing comment.
constexpr std::string_view kNoComment = "(null)";

std::optional<std::string_view> take_field(std::string_view& rest, std::string_view nonce) {
    size_t end = rest.find(nonce);
    if (end == rest.npos) return {};
    std::string_view field = rest.substr(0, end);
    rest.remove_prefix(end + nonce.size());
    return field;
}

using Fields = std::array<std::string_view, kFieldCount>;

// Removes the query's own fields, from the first nonce to the last.
std::optional<Fields> take_fields(std::string_view& rest, std::string_view nonce) {
    if (!rest.starts_with(nonce)) return {};
    rest.remove_prefix(nonce.size());
    Fields fields;
    for (std::string_view& field : fields) {
        std::optional<std::string_view> taken = take_field(rest, nonce);
        if (!taken) return {};
        field = *taken;
    }
    return fields;
}

std::optional<JobRow> read_row(const Fields& fields) {
    const auto& [job, array, id, state, comment] = fields;
    auto own = parse_job_id(job), leader = parse_job_id(array);
    if (!own || !leader || own->tasks || own->step || leader->tasks || leader->step) return {};
    JobRow row{.job = own->job, .leader = leader->job};
    // Only this text shows the leader of a component. The list of an array's tasks may be truncated.
    if (auto shown = parse_job_id(id); shown && shown->component) row.leader = shown->job;
    row.is_over = std::ranges::find(kEndedStates, state) != std::end(kEndedStates);
    SplitComment split = split_comment(comment == kNoComment ? std::string_view() : comment);
    row.comment = std::move(split.user_part);
    row.tag = std::move(split.tag);
    return row;
}

}  // namespace

base::Result<std::string> make_nonce() {
    std::array<unsigned char, 16> random{};
    ssize_t got;
    do {
        got = ::getrandom(random.data(), random.size(), 0);
    } while (got < 0 && errno == EINTR);
    if (got != static_cast<ssize_t>(random.size()))
        return base::system_error("cannot get random bytes", errno);
    std::string nonce = "n";
    for (unsigned char byte : random) {
        nonce += "0123456789abcdef"[byte >> 4];
        nonce += "0123456789abcdef"[byte & 0xf];
    }
    return nonce;
}

std::vector<std::string> question(uint32_t uid, std::string_view nonce) {
    return {"--noheader", "--states=all", "--user=" + std::to_string(uid),
            "--format=" + format_with_question("", nonce)};
}

std::vector<JobRow> read_rows(std::string_view answer, std::string_view nonce) {
    std::vector<JobRow> rows;
    while (std::optional<Fields> fields = take_fields(answer, nonce)) {
        std::optional<JobRow> row = read_row(*fields);
        if (!row || !answer.starts_with('\n')) return rows;
        rows.push_back(*std::move(row));
        answer.remove_prefix(1);
    }
    return rows;
}

std::string format_with_question(std::string_view format, std::string_view nonce) {
    std::string whole(nonce);
    for (std::string_view field : kFields) whole.append(field).append(nonce);
    return whole.append(format);
}

ShownRows read_shown_rows(std::string_view answer, std::string_view nonce) {
    auto take_to_nonce = [&] {
        std::string_view taken = answer.substr(0, answer.find(nonce));
        answer.remove_prefix(taken.size());
        return std::string(taken);
    };
    ShownRows shown{.before = take_to_nonce(), .rows = {}};
    while (std::optional<Fields> fields = take_fields(answer, nonce)) {
        ShownRow row{.job = read_row(*fields), .text = take_to_nonce()};
        // The headings come first, and have words in place of a job's number.
        bool is_understood = row.job || shown.rows.empty();
        if (!is_understood || !row.text.ends_with('\n')) return shown;
        shown.rows.push_back(std::move(row));
    }
    return shown;
}

JobSet::JobSet(std::vector<JobRow> rows, Bounds bounds)
    : rows_(std::move(rows)), bounds_(std::move(bounds)) {}

JobSet JobSet::joined_with(std::vector<JobRow> more) const {
    more.insert(more.begin(), rows_.begin(), rows_.end());
    return JobSet(std::move(more), bounds_);
}

bool JobSet::is_in_scope(const JobRow& row) const {
    if (bounds_.always && (row.job == *bounds_.always || row.leader == *bounds_.always)) return true;
    if (!bounds_.session && !bounds_.project) return true;
    if (!row.tag) return false;
    return (!bounds_.session || row.tag->session == *bounds_.session) &&
           (!bounds_.project || row.tag->project == *bounds_.project);
}

std::vector<const JobRow*> JobSet::rows_of(uint32_t job) const {
    std::vector<const JobRow*> found;
    for (const JobRow& row : rows_) {
        if (row.job == job || row.leader == job) found.push_back(&row);
    }
    return found;
}

bool JobSet::contains(uint32_t job) const {
    std::vector<const JobRow*> meant = rows_of(job);
    return !meant.empty() && std::ranges::all_of(meant, [&](const JobRow* row) { return is_in_scope(*row); });
}

bool JobSet::contains(const JobId& id) const {
    return contains(id.job);
}

std::vector<uint32_t> JobSet::numbers(bool with_ended) const {
    // A row that shares its number with others of its array represents all of them.
    struct Group {
        bool is_whole = true, has_wanted = false;
        std::vector<uint32_t> parts;
    };
    std::map<uint32_t, Group> groups;
    for (const JobRow& row : rows_) {
        Group& group = groups[row.leader];
        if (!is_in_scope(row)) {
            group.is_whole = false;
        } else if (with_ended || !row.is_over) {
            group.has_wanted = true;
            if (row.job != row.leader) group.parts.push_back(row.job);
        }
    }
    std::vector<uint32_t> numbers;
    for (const auto& [leader, group] : groups) {
        if (!group.has_wanted) continue;
        if (group.is_whole) {
            numbers.push_back(leader);
        } else {
            numbers.insert(numbers.end(), group.parts.begin(), group.parts.end());
        }
    }
    return numbers;
}

}  // namespace slurm
