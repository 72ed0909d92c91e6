// SPDX-License-Identifier: MIT
#include "network/requests/git.h"

#include <algorithm>
#include <optional>

#include "base/parse.h"
#include "base/text.h"

namespace network::requests {
namespace {

constexpr size_t kLengthDigits = 4;
constexpr size_t kMaximumPacket = 65520;     // with its length, as git sends it
constexpr size_t kMaximumRefusalText = 900;  // git cuts longer lines
constexpr std::string_view kFlush = "0000";
constexpr std::string_view kPrefix = "refused by agent-sandbox: ";

constexpr std::string_view kLength = "a pkt-line of the push has a malformed length";
constexpr std::string_view kPushTooLong = "the commands of the push are longer than 64 KiB";
constexpr std::string_view kTooMany = "the push changes more than 1,000 refs";
constexpr std::string_view kOptions =
    "the options of a push are not read; push without -o and without push.pushOption";
constexpr std::string_view kCertificate = "a signed push can't be read by the rules";
constexpr std::string_view kCommand = "a command of the push is malformed";
constexpr std::string_view kReference = "a ref of the push is malformed";
constexpr std::string_view kRefTwice = "the push names a ref twice";

std::string bare(std::string_view segment) {
    return base::lower(segment.substr(0, segment.find(';')));
}

// A value of the query in the form in which a server compares it.
std::string form_value(std::string_view text) {
    std::string plain(text);
    std::ranges::replace(plain, '+', ' ');
    return base::lower(base::percent_decoded(plain));
}

GitService refs_service(std::string_view query) {
    bool fetches = true;
    for (std::string_view pair : base::split(query, '&')) {
        size_t equals = std::min(pair.find('='), pair.size());
        if (form_value(pair.substr(0, equals)) != "service") continue;
        std::string value = form_value(pair.substr(std::min(equals + 1, pair.size())));
        if (value.find("receive") != std::string::npos) return GitService::push_refs;
        fetches &= value == "git-upload-pack";
    }
    return fetches ? GitService::fetch_refs : GitService::unknown;
}

bool is_object_id(std::string_view text) {
    return (text.size() == 40 || text.size() == 64) && std::ranges::all_of(text, base::is_lower_hex_digit);
}

bool is_zero(std::string_view id) {
    return id.find_first_not_of('0') == std::string_view::npos;
}

// As git's check-ref-format, below refs/.
bool is_reference(std::string_view text) {
    if (!text.starts_with("refs/") || text.size() > 1024) return false;
    for (std::string_view part : base::split(text, '/')) {
        if (part.empty() || part.starts_with('.') || part.ends_with('.') || part.ends_with(".lock"))
            return false;
    }
    if (text.find("..") != std::string_view::npos || text.find("@{") != std::string_view::npos) return false;
    return std::ranges::all_of(text, [](char letter) {
        auto byte = static_cast<unsigned char>(letter);
        return byte > ' ' && byte != 0x7f &&
               std::string_view("~^:?*[\\").find(letter) == std::string_view::npos;
    });
}

void set_repository(GitTarget& target, const std::vector<std::string>& segments, size_t size) {
    target.repository.assign(segments.begin(), segments.begin() + static_cast<std::ptrdiff_t>(size));
    if (!target.repository.empty() && target.repository.back().ends_with(".git")) {
        std::string& name = target.repository.back();
        name.resize(name.size() - 4);
    }
}

// GitLab stores large files below /gitlab-lfs.
GitTarget lfs_target(const std::vector<std::string>& segments) {
    GitTarget target;
    for (size_t i = 0; i + 1 < segments.size(); ++i) {
        std::string name = bare(segments[i]), next = bare(segments[i + 1]);
        if (!(name == "info" && next == "lfs") && !(name == "gitlab-lfs" && next == "objects")) continue;
        bool is_batch = name == "info" && segments.size() == i + 4 && bare(segments[i + 2]) == "objects" &&
                        bare(segments[i + 3]) == "batch";
        target.service = is_batch ? GitService::lfs_batch : GitService::lfs;
        set_repository(target, segments, i);
        break;
    }
    return target;
}

GitTarget target_of(const std::vector<std::string>& segments, std::string_view query) {
    GitTarget target = lfs_target(segments);
    if (target.service != GitService::none) return target;
    size_t count = segments.size();
    size_t tail = 1;
    std::string last = count > 0 ? bare(segments[count - 1]) : "";
    if (last == "git-upload-pack") {
        target.service = GitService::fetch;
    } else if (last == "git-receive-pack") {
        target.service = GitService::push;
    } else if (last == "refs" && count > 1 && bare(segments[count - 2]) == "info") {
        target.service = refs_service(query);
        tail = 2;
    } else {
        return target;
    }
    set_repository(target, segments, count - tail);
    return target;
}

// One line of printable text.
std::string line_text(std::string_view text) {
    return base::printable(text).substr(0, kMaximumRefusalText);
}

}  // namespace

GitTarget git_target(const CanonicalPath& path) {
    return target_of(path.segments, path.query);
}

bool hides_git(const CanonicalPath& path) {
    GitService own = git_target(path).service;
    return std::ranges::any_of(path.readings, [&](const std::vector<std::string>& reading) {
        return target_of(reading, path.query).service != own;
    });
}

PushReader::State PushReader::refuse(std::string_view fault) {
    fault_ = fault;
    return state_ = State::refused;
}

PushReader::State PushReader::look(std::string_view received) {
    while (state_ == State::need_more) {
        if (looked_ > kMaximumCommandBytes) return refuse(kPushTooLong);
        std::string_view rest = received.substr(looked_);
        if (rest.size() < kLengthDigits) return state_;
        std::string_view digits = rest.substr(0, kLengthDigits);
        std::optional<size_t> length = base::parse_number<size_t>(digits, 16);
        bool is_number = length && digits.find('-') == std::string_view::npos;
        if (!is_number) return refuse(kLength);
        if (*length == 0) {
            looked_ += kLengthDigits;
            return state_ = State::complete;
        }
        if (*length <= kLengthDigits || *length > kMaximumPacket) return refuse(kLength);
        if (looked_ + *length > kMaximumCommandBytes) return refuse(kPushTooLong);
        if (rest.size() < *length) return state_;
        std::string_view fault = read_line(rest.substr(kLengthDigits, *length - kLengthDigits));
        if (!fault.empty()) return refuse(fault);
        looked_ += *length;
    }
    return state_;
}

std::string_view PushReader::read_line(std::string_view line) {
    constexpr std::string_view kShallow = "shallow ";
    if (line.ends_with('\n')) line.remove_suffix(1);
    if (line.starts_with("push-cert")) return kCertificate;
    if (line.starts_with(kShallow) && is_object_id(line.substr(kShallow.size()))) {
        return commands_.empty() ? std::string_view() : kCommand;
    }
    size_t nul = line.find('\0');
    if (nul != std::string_view::npos) {
        if (has_capabilities_ || !commands_.empty()) return kCommand;
        has_capabilities_ = true;
        read_capabilities(line.substr(nul + 1));
        if (has_options_) return kOptions;
        line = line.substr(0, nul);
    }
    return read_command(line);
}

std::string_view PushReader::read_command(std::string_view line) {
    size_t first = line.find(' ');
    size_t second = first == std::string_view::npos ? first : line.find(' ', first + 1);
    if (second == std::string_view::npos) return kCommand;
    std::string_view before = line.substr(0, first), after = line.substr(first + 1, second - first - 1);
    std::string_view ref = line.substr(second + 1);
    if (!is_object_id(before) || !is_object_id(after) || before.size() != after.size()) return kCommand;
    if (!is_reference(ref)) return kReference;
    if (std::ranges::find(commands_, ref, &PushCommand::ref) != commands_.end()) return kRefTwice;
    if (commands_.size() == kMaximumCommands) return kTooMany;
    using enum PushCommand::Change;
    commands_.push_back({.ref = std::string(ref),
                         .change = is_zero(after)    ? remove
                                   : is_zero(before) ? create
                                                     : update});
    return {};
}

void PushReader::read_capabilities(std::string_view text) {
    for (std::string_view word : base::split(text, ' ')) {
        reports_status_ |= word == "report-status" || word == "report-status-v2";
        has_side_band_ |= word == "side-band-64k";
        // An option may make the server skip its checks, or open and merge a request.
        has_options_ |= word == "push-options";
    }
}

std::string packet_line(std::string_view text) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    text = text.substr(0, kMaximumPacket - kLengthDigits);
    size_t length = text.size() + kLengthDigits;
    std::string line;
    for (int shift = 12; shift >= 0; shift -= 4) line += kDigits[length >> shift & 15];
    return line.append(text);
}

GitAnswer git_refusal(GitService service, std::string_view text) {
    bool is_push = service == GitService::push_refs || service == GitService::push;
    bool is_advertisement = service != GitService::fetch && service != GitService::push;
    std::string name = is_push ? "git-receive-pack" : "git-upload-pack";
    GitAnswer answer;
    answer.content_type = base::format("application/x-{}-{}", name,
                                       std::string_view(is_advertisement ? "advertisement" : "result"));
    if (is_advertisement)
        answer.body = packet_line(base::format("# service={}\n", name)) + std::string(kFlush);
    answer.body += packet_line(base::format("ERR {}{}\n", kPrefix, line_text(text)));
    return answer;
}

GitAnswer push_refusal(const PushReader& push, const std::vector<std::string>& reasons) {
    constexpr char kData = 1;
    constexpr size_t kBand = kMaximumPacket - kLengthDigits - 1;
    constexpr std::string_view kWhole = "another ref of this push is refused";
    GitAnswer answer =
        git_refusal(GitService::push, reasons.empty() ? "" : std::string_view(reasons.front()));
    if (!push.reports_status()) return answer;
    std::string report = packet_line("unpack ok\n");
    for (size_t i = 0; i < push.commands().size(); ++i) {
        std::string_view reason =
            i < reasons.size() && !reasons[i].empty() ? std::string_view(reasons[i]) : kWhole;
        report +=
            packet_line(base::format("ng {} {}{}\n", push.commands()[i].ref, kPrefix, line_text(reason)));
    }
    report += kFlush;
    answer.body.clear();
    if (!push.has_side_band()) {
        answer.body = std::move(report);
        return answer;
    }
    for (size_t at = 0; at < report.size(); at += kBand)
        answer.body += packet_line(kData + report.substr(at, kBand));
    answer.body += kFlush;
    return answer;
}

}  // namespace network::requests
