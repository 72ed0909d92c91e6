// SPDX-License-Identifier: MIT
// Threat: the jail chooses names and paths in a record, and a record may come from another user: a line
// without end, a million parts, numbers out of range. The memory used here does not grow with the record, and
// a line that can't be read does not stop the reading. (tests/audit/reader_test.cc, fuzz_record)
#include "audit/reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "audit/writer.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/text.h"

namespace audit {
namespace {

constexpr std::string_view kSuffix = ".jsonl";
constexpr size_t kIdLength = 32;
constexpr size_t kShortestPrefix = 4;
constexpr size_t kChunk = 64u << 10;
constexpr std::chrono::milliseconds kBetweenLooks{200};
constexpr unsigned kLooksAtOldPart = 5;

bool is_id(std::string_view text) {
    return text.size() == kIdLength && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// STAMP-SESSION.jsonl: only the first part has no number.
std::string_view session_in(std::string_view name) {
    if (!name.ends_with(kSuffix)) return {};
    name.remove_suffix(kSuffix.size());
    size_t dash = name.find('-');
    if (dash == std::string_view::npos || !is_id(name.substr(dash + 1))) return {};
    return name.substr(dash + 1);
}

std::string directory_of(const std::string& path) {
    size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, std::max<size_t>(slash, 1));
}

std::string_view name_of(std::string_view path) {
    size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::vector<std::string> names_in(const std::string& directory) {
    std::vector<std::string> names;
    base::Fd place(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!place) return names;
    base::visit_entries(place.get(), [&](const struct dirent64& entry) {
        names.emplace_back(entry.d_name);
        return true;
    });
    return names;
}

// N of STEM.N.jsonl, or 0.
unsigned part_number(std::string_view name, std::string_view stem) {
    if (!name.starts_with(stem) || !name.ends_with(kSuffix)) return 0;
    name.remove_prefix(stem.size());
    if (name.size() <= kSuffix.size() + 1 || !name.starts_with('.')) return 0;
    std::string_view digits = name.substr(1, name.size() - 1 - kSuffix.size());
    return base::parse_number<unsigned>(digits).value_or(0);
}

// On a full disk a writer leaves a partial line or a line without its line break, and the line of another
// writer follows directly. No text in a record contains this mark, because quotes in it are escaped.
constexpr std::string_view kBeginning = "{\"v\":";

std::optional<base::Json> object_in(std::string_view line) {
    base::Result<base::Json> json = base::Json::parse(line);
    if (!json || !json->is_object()) return std::nullopt;
    return *std::move(json);
}

}  // namespace

std::vector<RecordFile> records_in(const std::string& directory) {
    std::vector<std::string> names = names_in(directory);
    std::ranges::sort(names, std::greater());
    std::vector<RecordFile> records;
    for (const std::string& name : names) {
        if (std::string_view session = session_in(name); !session.empty())
            records.push_back({directory + "/" + name, std::string(session)});
    }
    return records;
}

std::map<std::string, std::string> last_uses(const std::string& directory,
                                             const std::set<std::string>& credentials) {
    constexpr size_t kMostFiles = 1000;
    constexpr size_t kLargestPart = 64u << 20;
    constexpr std::string_view kMark = "\"credential\":\"";
    std::map<std::string, std::string> uses;
    std::vector<std::string> names = names_in(directory);
    std::erase_if(names, [](const std::string& name) { return !name.ends_with(kSuffix); });
    std::ranges::sort(names, std::greater());
    if (names.size() > kMostFiles) names.resize(kMostFiles);
    std::string last_stem;
    for (const std::string& name : names) {
        // All parts of the last session that is needed are read: they are not in the order of time.
        std::string stem = name.substr(0, name.find('.'));
        if (uses.size() == credentials.size() && stem != last_stem) break;
        last_stem = std::move(stem);
        base::Result<std::string> text = base::read_file(directory + "/" + name, kLargestPart);
        if (!text) continue;
        for (size_t at = 0; (at = text->find(kMark, at)) != std::string::npos; at += kMark.size()) {
            size_t begin = text->rfind('\n', at) + 1;  // 0 after npos
            size_t end = std::min(text->find('\n', at), text->size());
            std::optional<base::Json> line = object_in(std::string_view(*text).substr(begin, end - begin));
            if (!line || line->text("kind") != "request" || line->text("verdict") == "deny") continue;
            const std::string time = line->text("time"), used = line->text("credential");
            for (std::string_view word : base::split(used, ' ')) {
                if (!credentials.contains(std::string(word))) continue;
                std::string& latest = uses[std::string(word)];
                latest = std::max(latest, time);
            }
        }
    }
    return uses;
}

base::Result<RecordFile> find_record(const std::string& directory, std::string_view text) {
    if (text.find('/') != std::string_view::npos) {
        return RecordFile{std::string(text), std::string(session_in(name_of(text)))};
    }
    std::vector<RecordFile> records = records_in(directory);
    if (text.empty() || text == "last") {
        if (!records.empty()) return records.front();
        return base::Error{.what = "there is no record of a session yet in " + directory,
                           .exit_code = base::ExitCode::check_failed};
    }
    std::string shown = base::printable(text);
    if (text.size() < kShortestPrefix ||
        text.find_first_not_of("0123456789abcdef") != std::string_view::npos) {
        return base::Error{
            .what = base::format("'{}' is not a session", shown),
            .advice = base::format("write at least {} digits of its id, or last", kShortestPrefix),
            .exit_code = base::ExitCode::usage};
    }
    std::erase_if(records, [&](const RecordFile& record) { return !record.session.starts_with(text); });
    if (records.empty()) {
        return base::Error{.what = base::format("there is no record of a session {} in {}", shown, directory),
                           .exit_code = base::ExitCode::check_failed};
    }
    bool is_unique = std::ranges::all_of(
        records, [&](const RecordFile& record) { return record.session == records.front().session; });
    if (!is_unique) {
        return base::Error{.what = base::format("{} sessions begin with {}", records.size(), shown),
                           .advice = "write more digits",
                           .exit_code = base::ExitCode::usage};
    }
    return records.front();
}

std::string recorded_bytes(std::string_view text) {
    std::string bytes;
    bytes.reserve(text.size());
    for (std::string_view rest = text; !rest.empty();) {
        base::CodePoint point = base::first_code_point(rest);
        bool is_byte = point.length > 1 && point.value < 0x100;
        size_t length = std::max<size_t>(point.length, 1);
        if (is_byte) {
            bytes += static_cast<char>(point.value);
        } else {
            bytes += rest.substr(0, length);
        }
        rest.remove_prefix(length);
    }
    return bytes;
}

std::string Event::value(std::string_view key) const {
    return recorded_bytes(json.text(key));
}

bool Event::is_refusal() const {
    std::string verdict = json.text("verdict");
    return verdict == "deny" || verdict == "observed" || kind() == "limit";
}

std::string Event::place() const {
    return base::format("{}:{}", file, number);
}

Reader::Reader(std::string first_part) : path_(std::move(first_part)) {
    stem_ = path_.ends_with(kSuffix) ? path_.substr(0, path_.size() - kSuffix.size()) : path_;
}

base::Status Reader::open() {
    file_ = open_part(path_);
    if (!file_) return base::system_error("read the record " + base::printable(path_), errno);
    return base::success();
}

base::Fd Reader::open_part(const std::string& path) const {
    base::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status;
    if (!file || ::fstat(file.get(), &status) != 0) return {};
    if (!S_ISREG(status.st_mode)) {
        errno = EINVAL;
        return {};
    }
    return file;
}

void Reader::skip_to_end() {
    while (open_next_part()) continue;
    buffer_.clear();
    used_ = 0;
    pieces_.clear();
    ::lseek(file_.get(), 0, SEEK_END);
}

void Reader::note_damaged() {
    if (passed_over_.damaged++ == 0) passed_over_.first_damaged = base::format("{}:{}", path_, number_);
}

// False: no more data at the moment.
bool Reader::fill() {
    buffer_.erase(0, used_);
    used_ = 0;
    size_t before = buffer_.size();
    buffer_.resize(before + kChunk);
    ssize_t count = 0;
    while ((count = ::read(file_.get(), buffer_.data() + before, kChunk)) < 0 && errno == EINTR) continue;
    buffer_.resize(before + static_cast<size_t>(std::max<ssize_t>(count, 0)));
    return count > 0;
}

std::optional<std::string> Reader::next_line() {
    for (;;) {
        size_t end = buffer_.find('\n', used_);
        if (end == std::string::npos) {
            if (buffer_.size() - used_ > kLongestLine) {
                used_ = buffer_.size();
                is_skipping_ = true;
            }
            passed_over_.has_unfinished_line = is_skipping_ || used_ < buffer_.size();
            if (!fill()) return std::nullopt;
            continue;
        }
        std::string line = buffer_.substr(used_, end - used_);
        used_ = end + 1;
        ++number_;
        passed_over_.has_unfinished_line = false;
        if (std::exchange(is_skipping_, false) || line.size() > kLongestLine) {
            note_damaged();
            continue;
        }
        return line;
    }
}

bool Reader::open_next_part() {
    std::string stem(name_of(stem_));
    unsigned next = 0;
    for (const std::string& name : names_in(directory_of(path_))) {
        unsigned number = part_number(name, stem);
        if (number > part_ && (next == 0 || number < next)) next = number;
    }
    if (next == 0) return false;
    // Another writer may still write the last line of a part.
    if (is_live_ && waits_++ < kLooksAtOldPart) return false;
    std::string path = base::format("{}.{}{}", stem_, next, kSuffix);
    base::Fd file = open_part(path);
    if (!file) return false;
    // A partial line does not continue in the next part, but it may miss only its line break.
    if (is_skipping_ || used_ < buffer_.size()) {
        std::string rest = buffer_.substr(used_);
        std::optional<base::Json> json = is_skipping_ ? std::nullopt : object_in(rest);
        ++number_;
        if (json) {
            pieces_.push_back({*std::move(json), std::move(rest)});
        } else {
            note_damaged();
        }
    }
    if (next > part_ + 1) gaps_.push_back({part_ + 1, next - 1});
    passed_over_.missing_parts += next - part_ - 1;
    passed_over_.has_unfinished_line = false;
    buffer_.clear();
    used_ = 0;
    number_ = 0;
    waits_ = 0;
    is_skipping_ = false;
    part_ = next;
    path_ = std::move(path);
    file_ = std::move(file);
    return true;
}

// The content of the next line: one object, or several if a writer could not write its line break.
std::optional<Reader::Object> Reader::next_object() {
    while (pieces_.empty()) {
        std::optional<std::string> line = next_line();
        if (!line) return std::nullopt;
        waits_ = 0;
        // A writer adds a line break if it is not certain that the last line has one.
        if (line->empty()) continue;
        if (std::optional<base::Json> json = object_in(*line))
            return Object{*std::move(json), *std::move(line)};
        bool is_damaged = false;
        for (size_t begin = 0; begin < line->size();) {
            size_t end = std::min(line->find(kBeginning, begin + 1), line->size());
            std::string piece = line->substr(begin, end - begin);
            begin = end;
            if (std::optional<base::Json> json = object_in(piece)) {
                pieces_.push_back({*std::move(json), std::move(piece)});
            } else {
                is_damaged = true;
            }
        }
        if (is_damaged) note_damaged();
    }
    Object piece = std::move(pieces_.front());
    pieces_.pop_front();
    return piece;
}

std::optional<Event> Reader::next() {
    while (file_) {
        std::optional<Object> object = next_object();
        if (!object) {
            if (open_next_part()) continue;
            return std::nullopt;
        }
        int64_t version = object->json.number("v", 0);
        if (version > kVersion) {
            ++passed_over_.newer;
            if (!takes_newer_) continue;
        }
        if (version < 1 || object->json.text("kind").empty()) {
            note_damaged();
            continue;
        }
        return Event{std::move(object->json), std::move(object->text), path_, number_};
    }
    return std::nullopt;
}

void follow(Reader& reader, const std::function<bool(const Event&)>& on_event,
            const std::function<bool()>& goes_on) {
    reader.set_live(true);
    bool is_over = false;
    for (;;) {
        while (std::optional<Event> event = reader.next()) {
            if (!on_event(*event) || event->kind() == "end") return;
        }
        if (is_over) return;
        // Read once more what the session wrote before it ended.
        is_over = !goes_on();
        if (is_over) {
            reader.set_live(false);
        } else {
            std::this_thread::sleep_for(kBetweenLooks);
        }
    }
}

}  // namespace audit
