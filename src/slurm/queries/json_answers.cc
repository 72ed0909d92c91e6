// SPDX-License-Identifier: MIT
#include "slurm/queries/json_answers.h"

#include <algorithm>

#include "base/encoding/json.h"
#include "base/parse.h"
#include "base/text.h"
#include "slurm/queries/redact.h"
#include "slurm/scope/identity.h"

namespace slurm::queries {
namespace {

// Slurm's records nest about ten deep.
constexpr int kDeepest = 64;

// Reads one value after the other and never goes back. Every function returns false for text that is not
// JSON.
class Scanner {
  public:
    explicit Scanner(std::string_view text) : text_(text) {}

    bool value(std::string_view& found, int depth = 0) {
        blanks();
        size_t begin = at_;
        if (!skip(depth)) return false;
        found = text_.substr(begin, at_ - begin);
        return true;
    }
    bool string(std::string_view& found) {
        blanks();
        size_t begin = at_;
        if (!skip_string()) return false;
        found = text_.substr(begin, at_ - begin);
        return true;
    }
    bool take(char letter) {
        blanks();
        if (at_ == text_.size() || text_[at_] != letter) return false;
        ++at_;
        return true;
    }
    bool is_over() {
        blanks();
        return at_ == text_.size();
    }

  private:
    void blanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
    bool skip(int depth) {
        if (at_ == text_.size() || depth > kDeepest) return false;
        switch (text_[at_]) {
            case '{':
                return skip_members(depth);
            case '[':
                return skip_items(depth);
            case '"':
                return skip_string();
            case 't':
                return skip_word("true");
            case 'f':
                return skip_word("false");
            case 'n':
                return skip_word("null");
            default:
                return skip_number();
        }
    }
    bool skip_members(int depth) {
        std::string_view ignored;
        ++at_;
        if (take('}')) return true;
        do {
            if (!string(ignored) || !take(':') || !value(ignored, depth + 1)) return false;
        } while (take(','));
        return take('}');
    }
    bool skip_items(int depth) {
        std::string_view ignored;
        ++at_;
        if (take(']')) return true;
        do {
            if (!value(ignored, depth + 1)) return false;
        } while (take(','));
        return take(']');
    }
    // Bytes above ASCII pass: a comment may have any.
    bool skip_string() {
        if (at_ == text_.size() || text_[at_] != '"') return false;
        for (++at_; at_ < text_.size(); ++at_) {
            if (text_[at_] == '"') return ++at_, true;
            if (static_cast<unsigned char>(text_[at_]) < ' ') return false;
            if (text_[at_] == '\\' && !skip_escape()) return false;
        }
        return false;
    }
    // Ends at the last character of the escape.
    bool skip_escape() {
        if (++at_ >= text_.size()) return false;
        if (text_[at_] != 'u')
            return std::string_view("\"\\/bfnrt").find(text_[at_]) != std::string_view::npos;
        for (int digit = 0; digit < 4; ++digit) {
            ++at_;
            if (at_ >= text_.size() || !std::isxdigit(static_cast<unsigned char>(text_[at_]))) return false;
        }
        return true;
    }
    bool skip_word(std::string_view word) {
        if (!text_.substr(at_).starts_with(word)) return false;
        at_ += word.size();
        return true;
    }
    bool skip_digits() {
        size_t begin = at_;
        while (at_ < text_.size() && base::is_digit(text_[at_])) ++at_;
        return at_ > begin;
    }
    bool skip_one_of(std::string_view letters) {
        if (at_ == text_.size() || letters.find(text_[at_]) == letters.npos) return false;
        ++at_;
        return true;
    }
    bool skip_number() {
        skip_one_of("-");
        if (!skip_digits()) return false;
        if (skip_one_of(".") && !skip_digits()) return false;
        if (!skip_one_of("eE")) return true;
        skip_one_of("+-");
        return skip_digits();
    }

    std::string_view text_;
    size_t at_ = 0;
};

// The content of a string without escapes; nothing for other values. Names of members and of users need none.
std::optional<std::string_view> plain_string(std::string_view text) {
    if (text.size() < 2 || text.front() != '"' || text.find('\\') != text.npos) return {};
    return text.substr(1, text.size() - 2);
}

std::string quoted(const std::string& text) {
    return base::Json(text).dump(-1);
}

std::string joined(const std::vector<std::string>& parts, std::string_view open, std::string_view close,
                   std::string_view indent) {
    std::string text(open);
    for (size_t at = 0; at < parts.size(); ++at)
        text += base::format("{}\n{}{}", at == 0 ? "" : ",", indent, parts[at]);
    if (!parts.empty()) text += base::format("\n{}", indent.substr(2));
    return text + std::string(close);
}

// The parts of a document beside its subject. "client" and "command" of newer releases are those of the
// chaperon.
constexpr std::string_view kPlainParts[] = {"errors", "warnings", "last_update", "last_backfill"};
constexpr std::string_view kPartsOfMeta[] = {"plugin", "Slurm", "slurm"};

std::string shown_meta(std::string_view text) {
    std::vector<std::string> parts;
    for (const JsonMember& member : json_members(text).value_or(std::vector<JsonMember>())) {
        if (std::ranges::find(kPartsOfMeta, member.name) != std::end(kPartsOfMeta))
            parts.push_back(base::format("\"{}\": {}", member.name, member.value));
    }
    return joined(parts, "{", "}", "    ");
}

using ShowSubject = std::function<std::optional<std::string>(std::string_view name, std::string_view text)>;

// `show` returns the text of a part, or nothing for a part that it does not know.
std::optional<std::string> shown_document(std::string_view document, const ShowSubject& show) {
    std::optional<std::vector<JsonMember>> members = json_members(document);
    if (!members) return {};
    std::vector<std::string> parts;
    for (const JsonMember& member : *members) {
        std::optional<std::string> text;
        if (member.name == "meta") {
            text = shown_meta(member.value);
        } else if (std::ranges::find(kPlainParts, member.name) != std::end(kPlainParts)) {
            text = std::string(member.value);
        } else {
            text = show(member.name, member.value);
        }
        if (text) parts.push_back(base::format("\"{}\": {}", member.name, *text));
    }
    return joined(parts, "{", "}", "  ") + "\n";
}

struct ReplacedMember {
    std::string_view name;
    std::string Record::*value;
};
constexpr ReplacedMember kReplacedMembers[] = {
    {"command", &Record::command},        {"current_working_directory", &Record::directory},
    {"standard_error", &Record::error},   {"standard_input", &Record::input},
    {"standard_output", &Record::output},
};

std::string shown_value(const JsonMember& member, const std::optional<Record>& record,
                        std::string_view program) {
    const auto* row = std::ranges::find(kReplacedMembers, member.name, &ReplacedMember::name);
    if (record && row != std::end(kReplacedMembers) && !((*record).*row->value).empty())
        return quoted((*record).*row->value);
    bool is_ours = !record && member.name == "command" && plain_string(member.value) == program;
    return is_ours && !program.empty() ? "\"\"" : without_tags(member.value);
}

// A number of a job, of its array or of its heterogeneous job. Newer releases write {"set": …, "number": …}.
std::optional<uint32_t> number_of(const std::vector<JsonMember>& members, std::string_view name) {
    std::optional<uint32_t> number;
    for (const JsonMember& member : members) {
        if (member.name != name) continue;
        if (number) return {};
        number = json_number(member.value);
        if (std::optional<std::vector<JsonMember>> inner = json_members(member.value))
            number = number_of(*inner, "number");
        if (!number) return {};
    }
    return number;
}

std::optional<std::string> shown_job(std::string_view text, const JobsOfJson& jobs) {
    std::optional<std::vector<JsonMember>> members = json_members(text);
    if (!members) return {};
    std::optional<uint32_t> job = number_of(*members, "job_id");
    if (!job || *job == 0 || !jobs.is_shown(*job)) return {};
    std::optional<Record> record = jobs.find(*job);
    for (std::string_view leader : {"array_job_id", "het_job_id"}) {
        std::optional<uint32_t> number = record ? std::nullopt : number_of(*members, leader);
        if (number && *number != 0) record = jobs.find(*number);
    }
    std::vector<std::string> parts;
    for (const JsonMember& member : *members)
        parts.push_back(base::format("\"{}\": {}", member.name, shown_value(member, record, jobs.program)));
    return joined(parts, "{", "}", "      ");
}

bool names_users(std::string_view name) {
    for (std::string_view word : {"user", "owner", "uid"}) {
        if (name.find(word) != name.npos) return true;
    }
    return false;
}

std::string masked_value(std::string_view value, std::string_view own) {
    if (value == "null") return std::string(value);
    std::optional<std::string_view> names = plain_string(value);
    return names ? quoted(masked_users(*names, own)) : "null";
}

std::string masked(std::string_view value, std::string_view own) {
    std::vector<std::string> parts;
    if (std::optional<std::vector<JsonMember>> members = json_members(value)) {
        for (const JsonMember& member : *members) {
            std::string shown =
                names_users(member.name) ? masked_value(member.value, own) : masked(member.value, own);
            parts.push_back(base::format("\"{}\": {}", member.name, shown));
        }
        return joined(parts, "{", "}", "      ");
    }
    if (std::optional<std::vector<std::string_view>> items = json_items(value)) {
        for (std::string_view item : *items) parts.push_back(masked(item, own));
        return joined(parts, "[", "]", "    ");
    }
    return std::string(value);
}

constexpr std::string_view kSubjects[] = {"nodes", "sinfo", "partitions", "reservations", "licenses"};

}  // namespace

std::optional<std::vector<JsonMember>> json_members(std::string_view text) {
    Scanner scanner(text);
    std::vector<JsonMember> members;
    if (!scanner.take('{')) return {};
    if (scanner.take('}')) return scanner.is_over() ? std::optional(members) : std::nullopt;
    do {
        std::string_view name, value;
        if (!scanner.string(name) || !scanner.take(':') || !scanner.value(value)) return {};
        // A name that is written with escapes could be read as another one.
        std::optional<std::string_view> plain = plain_string(name);
        if (!plain) return {};
        members.push_back({std::string(*plain), value});
    } while (scanner.take(','));
    if (!scanner.take('}') || !scanner.is_over()) return {};
    return members;
}

std::optional<std::vector<std::string_view>> json_items(std::string_view text) {
    Scanner scanner(text);
    std::vector<std::string_view> items;
    if (!scanner.take('[')) return {};
    if (scanner.take(']')) return scanner.is_over() ? std::optional(items) : std::nullopt;
    do {
        std::string_view value;
        if (!scanner.value(value)) return {};
        items.push_back(value);
    } while (scanner.take(','));
    if (!scanner.take(']') || !scanner.is_over()) return {};
    return items;
}

std::optional<uint32_t> json_number(std::string_view text) {
    return number_below(text, UINT32_MAX);
}

std::optional<std::string> with_shown_jobs(std::string_view document, const JobsOfJson& jobs) {
    return shown_document(document, [&](std::string_view name, std::string_view text) {
        std::optional<std::vector<std::string_view>> items = name == "jobs" ? json_items(text) : std::nullopt;
        if (!items) return std::optional<std::string>();
        std::vector<std::string> parts;
        for (std::string_view item : *items) {
            if (std::optional<std::string> job = shown_job(item, jobs)) parts.push_back(*std::move(job));
        }
        return std::optional(joined(parts, "[", "]", "    "));
    });
}

std::optional<std::string> with_masked_users(std::string_view document, std::string_view own) {
    return shown_document(document, [&](std::string_view name, std::string_view text) {
        bool is_known = std::ranges::find(kSubjects, name) != std::end(kSubjects);
        return is_known ? std::optional(masked(text, own)) : std::nullopt;
    });
}

}  // namespace slurm::queries
