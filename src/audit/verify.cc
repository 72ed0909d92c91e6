// SPDX-License-Identifier: MIT
// The chains are followed side by side, one for each writer. A part that was dropped on purpose leaves a gap
// in each of them: the record names it, in a line that is itself in a chain, and after it a chain is taken up
// where it goes on. Threat: who deletes a part by hand and says it was dropped needs a line that says so, and
// that line would have to be in the supervisor's chain. (tests/audit/verify_test.cc)
#include "audit/verify.h"

#include <algorithm>
#include <set>

#include "audit/reader.h"
#include "base/sha256.h"
#include "base/text.h"

namespace audit {
namespace {

constexpr size_t kMostWriters = 64;

using Outcome = Verification::Outcome;

class Check {
  public:
    // False: it is broken, and no more is to be read.
    bool take(const Event& event, size_t missing_parts) {
        std::string writer = event.json.text("writer");
        if (is_first_) {
            is_first_ = false;
            if (writer.empty()) return true;
            result_.outcome = Outcome::unfinished;
            seed_ = event.json.text("session");
            if (event.kind() != "start" || seed_.empty())
                return broken(event, "the record does not begin with its start");
        } else if (result_.outcome == Outcome::unchained) {
            return writer.empty() || broken(event, "the lines before it are in no chain");
        }
        if (result_.outcome == Outcome::unchained) return true;
        if (writer.empty()) return broken(event, "it is in no chain");
        bool is_late = has_ended_ && std::ranges::find(result_.unnamed, writer) == result_.unnamed.end();
        if (is_late) return broken(event, "it stands behind the end of the session");
        if (!follows(event, writer, missing_parts)) return false;
        if (event.kind() == "journal" && event.json.number("part") > 0)
            said_dropped_.insert(event.json.number("part"));
        if (event.kind() == "end") return ends(event, writer);
        return true;
    }

    Verification finish(const Reader& reader) {
        const PassedOver& passed = reader.passed_over();
        if (result_.outcome == Outcome::broken && passed.damaged > 0)
            broken_at(passed.first_damaged, "it can't be read, and a chain misses a line");
        if (result_.outcome == Outcome::broken || result_.outcome == Outcome::unchained) return result_;
        for (unsigned part : reader.missing_parts()) {
            if (said_dropped_.contains(part)) continue;
            broken_at({}, "its part " + std::to_string(part) + " is missing");
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
        size_t gaps = 0;  // missing parts that were before its last line
    };

    bool follows(const Event& event, const std::string& writer, size_t missing_parts) {
        auto known = chains_.find(writer);
        if (known == chains_.end()) {
            if (chains_.size() == kMostWriters) return broken(event, "there are too many writers");
            known = chains_.emplace(writer, Chain{{0, base::sha256(seed_)}, 0}).first;
        }
        Chain& chain = known->second;
        auto number = static_cast<uint64_t>(event.json.number("line"));
        bool may_jump = missing_parts > chain.gaps;
        chain.gaps = missing_parts;
        bool is_next = number == chain.head.lines + 1;
        if (!is_next && !(may_jump && number > chain.head.lines)) {
            std::string expected = std::to_string(chain.head.lines + 1);
            return broken(event, "it is line " + std::to_string(number) + " of the writer " +
                                     base::printable(writer) + " where line " + expected +
                                     " was to come: lines were removed, put in or moved");
        }
        if (is_next && event.json.text("previous") != chain.head.hash) {
            return broken(event, number == 1 ? "its chain does not begin with this session's id"
                                             : "the line before it of the writer " + base::printable(writer) +
                                                   " was altered");
        }
        chain.head = {number, base::sha256(event.text)};
        result_.heads[writer] = chain.head;
        ++result_.lines;
        return true;
    }

    // The end names how far each of the others had come: a line that was cut off behind is missed.
    bool ends(const Event& event, const std::string& writer) {
        has_ended_ = true;
        const base::Json* writers = event.json.find("writers");
        if (writers == nullptr || !writers->is_object()) return broken(event, "it does not name the writers");
        for (const auto& [name, head] : writers->members()) {
            if (name == writer) continue;
            auto chain = chains_.find(name);
            uint64_t lines = chain == chains_.end() ? 0 : chain->second.head.lines;
            if (static_cast<uint64_t>(head.number("lines")) != lines) {
                return broken(event, "the writer " + base::printable(name) + " wrote " +
                                         std::to_string(head.number("lines")) + " lines, and " +
                                         std::to_string(lines) + " are there");
            }
            if (lines > 0 && head.text("hash") != chain->second.head.hash)
                return broken(event, "the last line of the writer " + base::printable(name) + " was altered");
        }
        for (const auto& [name, chain] : chains_) {
            if (name != writer && writers->find(name) == nullptr) result_.unnamed.push_back(name);
        }
        return true;
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
    std::set<int64_t> said_dropped_;
    Verification result_;
};

}  // namespace

base::Result<Verification> verify(const std::string& first_part) {
    Reader reader(first_part);
    if (base::Status opened = reader.open(); !opened) return opened.error();
    Check check;
    reader.take_newer();
    while (std::optional<Event> event = reader.next()) {
        if (!check.take(*event, reader.missing_parts().size())) break;
    }
    return check.finish(reader);
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
            text += ": " + std::to_string(verification.lines) + " lines, none altered, removed or put in";
            break;
        case Outcome::unfinished:
            text += ": " + std::to_string(verification.lines) +
                    " lines in order, but the session's end is not there: it still runs, was killed, or the "
                    "end was cut off";
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
        text += "  " + std::to_string(verification.dropped_parts) +
                " parts were dropped, as the record had reached its size; what stood there is not checked\n";
    }
    if (verification.damaged > 0) {
        text += "  " + std::to_string(verification.damaged) +
                " damaged lines, which a full disk leaves, are passed over; no chain misses them\n";
    }
    for (const std::string& name : verification.unnamed) {
        text += "  whether the last lines of " + base::printable(name) + " are there can't be said\n";
    }
    if (verification.outcome == Outcome::broken) return text;
    for (const auto& [name, head] : verification.heads) {
        text +=
            "  head of " + base::printable(name) + ": " + std::to_string(head.lines) + " " + head.hash + "\n";
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
    base::Json heads = base::Json::object();
    for (const auto& [name, head] : verification.heads) {
        heads.set(name,
                  base::Json::object().set("lines", static_cast<size_t>(head.lines)).set("hash", head.hash));
    }
    json.set("heads", std::move(heads));
    return json;
}

}  // namespace audit
