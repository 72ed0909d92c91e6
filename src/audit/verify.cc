// SPDX-License-Identifier: MIT
// Follows the chains side by side, one for each writer. A part that was dropped on purpose leaves a gap in
// each chain: a line of the record names the part, that line is itself in a chain, and after the gap the
// check continues with the next line of each chain. Such lines are dropped with their own part, so each names
// all parts dropped before. Threat: an attacker deletes a part and claims that it was dropped. This needs a
// line in the supervisor's chain. Threat: an attacker inserts lines of an invented writer. Their chain is
// valid, but the end of the record does not name this writer. (tests/audit/verify_test.cc)
#include "audit/verify.h"

#include <algorithm>

#include "audit/reader.h"
#include "base/encoding/sha256.h"
#include "base/text.h"

namespace audit {
namespace {

constexpr size_t kMostWriters = 64;
constexpr int64_t kMostCounted = int64_t{1} << 32;
// The writer of the start and the end.
constexpr std::string_view kSupervisor = "supervisor";
// The end can't name the last lines of these writers. The first two continue after it: jobs are submitted,
// and layers are applied. The filter of the ssh-agent is killed with the session.
constexpr std::string_view kUnnamed[] = {"slurm", kLayersWriter, "ssh-agent"};

bool is_unnamed(std::string_view writer) {
    return std::ranges::find(kUnnamed, writer) != std::end(kUnnamed);
}

using Outcome = Verification::Outcome;

class Check {
  public:
    // False: the record is broken; stop reading.
    bool take(const Event& event, size_t gaps) {
        std::string writer = event.json.text("writer");
        if (is_first_) {
            is_first_ = false;
            if (writer.empty()) return true;
            result_.outcome = Outcome::unfinished;
            seed_ = event.json.text("session");
            if (event.kind() != "start" || seed_.empty() || writer != kSupervisor)
                return broken(event, "the record does not begin with its start");
        } else if (result_.outcome == Outcome::unchained) {
            return writer.empty() || broken(event, "the lines before it are in no chain");
        }
        if (result_.outcome == Outcome::unchained) return true;
        if (writer.empty()) return broken(event, "it is in no chain");
        if (has_ended_ && !is_unnamed(writer))
            return broken(event, "it stands behind the end of the session");
        if (has_ended_) unnamed(writer);
        if (!follows(event, writer, gaps)) return false;
        if (event.kind() == "journal") note(event, writer);
        if (event.kind() == "end") return ends(event, writer, gaps);
        return true;
    }

    Verification finish(const Reader& reader) {
        const PassedOver& passed = reader.passed_over();
        if (result_.outcome == Outcome::broken && passed.damaged > 0)
            broken_at(passed.first_damaged, "it can't be read, and a chain misses a line");
        if (result_.outcome == Outcome::broken || result_.outcome == Outcome::unchained) return result_;
        for (const Gap& gap : reader.gaps()) {
            int64_t part = first_unsaid(gap);
            if (part > gap.last) continue;
            broken_at({}, base::format("its part {} is missing", part));
            return result_;
        }
        result_.damaged = passed.damaged;
        result_.dropped_parts = passed.missing_parts;
        if (has_ended_) result_.outcome = Outcome::intact;
        return result_;
    }

  private:
    struct Chain {
        Head head;
        size_t gaps = 0;  // gaps in the record before its last line
    };

    // Dropped parts that the record names: {"from":2,"part":5} means four parts, {"part":5} means one.
    void note(const Event& event, const std::string& writer) {
        int64_t part = std::min(event.json.number("part"), kMostCounted);
        if (part > 0 && writer == kSupervisor) {
            int64_t& last = said_dropped_[event.json.number("from", part)];
            last = std::max(last, part);
        }
        if (event.json.text("reason") == kLinesLost) {
            result_.lost +=
                static_cast<uint64_t>(std::clamp<int64_t>(event.json.number("count"), 0, kMostCounted));
        }
    }

    // The first part of the gap that no line names; greater than gap.last if all are named.
    int64_t first_unsaid(const Gap& gap) const {
        int64_t part = gap.first;
        for (const auto& [from, last] : said_dropped_) {
            if (from <= part && last >= part) part = last + 1;
        }
        return part;
    }

    bool follows(const Event& event, const std::string& writer, size_t gaps) {
        auto known = chains_.find(writer);
        if (known == chains_.end()) {
            if (chains_.size() == kMostWriters) return broken(event, "there are too many writers");
            known = chains_.emplace(writer, Chain{{0, base::sha256(seed_)}, 0}).first;
        }
        Chain& chain = known->second;
        auto number = static_cast<uint64_t>(event.json.number("line"));
        bool may_jump = gaps > chain.gaps;
        chain.gaps = gaps;
        bool is_next = number == chain.head.lines + 1;
        if (!is_next && !(may_jump && number > chain.head.lines)) {
            std::string expected = std::to_string(chain.head.lines + 1);
            return broken(event, base::format("it is line {} of the writer {} where line {} was to come: "
                                              "lines were removed, put in or moved",
                                              number, base::printable(writer), expected));
        }
        if (is_next && event.json.text("previous") != chain.head.hash) {
            return broken(event, number == 1 ? "its chain does not begin with this session's id"
                                             : base::format("the line before it of the writer {} was altered",
                                                            base::printable(writer)));
        }
        chain.head = {number, base::sha256(event.text)};
        result_.heads[writer] = chain.head;
        ++result_.lines;
        return true;
    }

    // The end names the last line of each other writer, so that removed lines at the end are detected.
    bool ends(const Event& event, const std::string& writer, size_t gaps) {
        has_ended_ = true;
        if (writer != kSupervisor) return broken(event, "it is not the supervisor that writes the end");
        const base::Json* writers = event.json.find("writers");
        if (writers == nullptr || !writers->is_object()) return broken(event, "it does not name the writers");
        for (const auto& [name, head] : writers->members()) {
            if (name == writer) continue;
            auto chain = chains_.find(name);
            uint64_t lines = chain == chains_.end() ? 0 : chain->second.head.lines;
            size_t gaps_before = chain == chains_.end() ? 0 : chain->second.gaps;
            // The writer's last lines may have been in a dropped part.
            if (gaps > gaps_before && static_cast<uint64_t>(head.number("lines")) > lines) {
                unnamed(name);
                continue;
            }
            if (static_cast<uint64_t>(head.number("lines")) != lines) {
                return broken(event, base::format("the writer {} wrote {} lines, and {} are there",
                                                  base::printable(name), head.number("lines"), lines));
            }
            if (lines > 0 && head.text("hash") != chain->second.head.hash)
                return broken(
                    event, base::format("the last line of the writer {} was altered", base::printable(name)));
        }
        for (const auto& [name, chain] : chains_) {
            if (name == writer || writers->find(name) != nullptr) continue;
            if (!is_unnamed(name)) {
                return broken(event, base::format("it does not name the writer {}, of whom there are lines: "
                                                  "they were put in, or it was killed",
                                                  base::printable(name)));
            }
            unnamed(name);
        }
        return true;
    }

    void unnamed(const std::string& writer) {
        if (std::ranges::find(result_.unnamed, writer) == result_.unnamed.end())
            result_.unnamed.push_back(writer);
    }
    bool broken(const Event& event, std::string problem) {
        broken_at(event.place(), std::move(problem));
        return false;
    }
    void broken_at(std::string where, std::string problem) {
        result_.outcome = Outcome::broken;
        result_.where = std::move(where);
        result_.problem = std::move(problem);
    }

    bool is_first_ = true;
    bool has_ended_ = false;
    std::string seed_;
    std::map<std::string, Chain> chains_;
    std::map<int64_t, int64_t> said_dropped_;  // first to last part
    Verification result_;
};

}  // namespace

base::Result<Verification> verify(const std::string& first_part) {
    Reader reader(first_part);
    if (base::Status opened = reader.open(); !opened) return opened.error();
    Check check;
    reader.take_newer();
    while (std::optional<Event> event = reader.next()) {
        if (!check.take(*event, reader.gaps().size())) break;
    }
    return check.finish(reader);
}

base::Result<LastLine> last_line_of(const std::string& first_part, std::string_view writer) {
    Reader reader(first_part);
    if (base::Status opened = reader.open(); !opened) return opened.error();
    reader.take_newer();
    LastLine last{.file = first_part, .head = {}};
    bool is_chained = false;
    std::string seed;
    while (std::optional<Event> event = reader.next()) {
        last.file = event->file;
        if (event->kind() == "start" && seed.empty()) {
            is_chained = !event->json.text("writer").empty();
            seed = event->json.text("session");
        }
        if (event->json.text("writer") != writer) continue;
        last.head = {static_cast<uint64_t>(event->json.number("line")), base::sha256(event->text)};
    }
    if (is_chained && last.head.hash.empty()) last.head.hash = base::sha256(seed);
    return last;
}

bool holds(const Verification& verification) {
    bool is_on = verification.outcome == Outcome::unfinished && verification.is_running;
    return verification.outcome == Outcome::intact || is_on;
}

namespace {

std::string_view to_text(Outcome outcome) {
    switch (outcome) {
        case Outcome::intact:
            return "intact";
        case Outcome::unfinished:
            return "unfinished";
        case Outcome::broken:
            return "broken";
        case Outcome::unchained:
            return "unchained";
    }
    return "";
}

}  // namespace

std::string to_text(const Verification& verification) {
    std::string text(to_text(verification.outcome));
    switch (verification.outcome) {
        case Outcome::intact:
            text +=
                base::format(": {} lines, each in its chain; the last line is vouched for by the head alone",
                             verification.lines);
            break;
        case Outcome::unfinished:
            text += verification.is_running ? ": the session still runs; "
                                            : ": the session was killed, or the end was cut off; ";
            text += std::to_string(verification.lines) +
                    " lines, each in its chain; the last ones are vouched for by the heads alone";
            break;
        case Outcome::broken:
            text += ": " + (verification.where.empty() ? "" : base::printable(verification.where) + ": ") +
                    verification.problem;
            break;
        case Outcome::unchained:
            text += ": the record was made without audit.chain, so nothing can be said";
            break;
    }
    text += "\n";
    if (verification.dropped_parts > 0) {
        text += base::format(
            "  {} parts were dropped, as the record had reached its size; what stood there is not checked\n",
            verification.dropped_parts);
    }
    if (verification.lost > 0) {
        text +=
            base::format("  {} lines could not be written, as the record itself says\n", verification.lost);
    }
    if (verification.damaged > 0) {
        text += base::format(
            "  {} damaged lines, which a full disk leaves, are passed over; no chain misses them\n",
            verification.damaged);
    }
    for (const std::string& name : verification.unnamed) {
        text +=
            base::format("  whether the last lines of {} are there can't be said\n", base::printable(name));
    }
    if (verification.outcome == Outcome::broken) return text;
    for (const auto& [name, head] : verification.heads) {
        text += base::format("  head of {}: {} lines {}\n", base::printable(name), head.lines, head.hash);
    }
    return text;
}

base::Json to_json(const Verification& verification) {
    base::Json json = base::Json::object();
    json.set("outcome", to_text(verification.outcome));
    json.set("lines", static_cast<size_t>(verification.lines));
    if (!verification.where.empty()) json.set("where", verification.where);
    if (!verification.problem.empty()) json.set("problem", verification.problem);
    json.set("damaged", static_cast<size_t>(verification.damaged));
    json.set("dropped_parts", static_cast<size_t>(verification.dropped_parts));
    json.set("lost", static_cast<size_t>(verification.lost));
    if (verification.outcome == Outcome::unfinished) json.set("running", verification.is_running);
    base::Json heads = base::Json::object();
    for (const auto& [name, head] : verification.heads) {
        heads.set(name,
                  base::Json::object().set("lines", static_cast<size_t>(head.lines)).set("hash", head.hash));
    }
    json.set("heads", std::move(heads));
    return json;
}

}  // namespace audit
