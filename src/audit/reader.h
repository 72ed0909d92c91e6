// SPDX-License-Identifier: MIT
// Reads a record line by line and part by part. It skips and counts everything unknown: half a line of a
// killed writer, lines of a newer version, text that is not JSON. It keeps only one line in memory, however
// large the record is.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/encoding/json.h"
#include "base/file.h"
#include "base/result.h"

namespace audit {

// The longest line of a writer is far shorter.
inline constexpr size_t kLongestLine = 256u << 10;

struct RecordFile {
    std::string path;     // of the first part
    std::string session;  // 32 hexadecimal digits
};

// The records in this directory, newest first.
std::vector<RecordFile> records_in(const std::string& directory);

// By the session's id or a unique prefix of it; "last" or nothing means the newest one. A word with a slash
// is the path of a record.
base::Result<RecordFile> find_record(const std::string& directory, std::string_view text);

// When each of these credentials was last put into a request, by the lines of kind "request"; the newest
// records first. A credential that no kept record names is missing.
std::map<std::string, std::string> last_uses(const std::string& directory,
                                             const std::set<std::string>& credentials);

// The original bytes: a line stores every byte beyond ASCII as a character of its own.
std::string recorded_bytes(std::string_view text);

struct Event {
    base::Json json;
    std::string text;     // unchanged from the file, without its line break
    std::string file;     // the part that contains it
    uint64_t number = 0;  // of the line in this part, from 1

    std::string kind() const { return json.text("kind"); }
    std::string value(std::string_view key) const;
    bool is_refusal() const;
    // file:number
    std::string place() const;
};

// Missing parts between existing ones.
struct Gap {
    unsigned first = 0;
    unsigned last = 0;
};

struct PassedOver {
    uint64_t damaged = 0;        // not JSON, not an object, or too long
    uint64_t newer = 0;          // of a higher version
    uint64_t missing_parts = 0;  // between existing ones
    bool has_unfinished_line = false;
    std::string first_damaged;  // file:line
};

class Reader {
  public:
    explicit Reader(std::string first_part);

    // Opens the first part; fails if it does not exist.
    base::Status open();

    // Skips all events that are in the record by now.
    void skip_to_end();

    // The next event. Nothing: no more at the moment; when a writer adds lines, later calls return them.
    std::optional<Event> next();

    // While the session runs, the reader leaves a part only when the next part has existed for a while,
    // because another writer may still add lines.
    void set_live(bool is_live) { is_live_ = is_live; }

    // Also returns lines of a newer version, for checks that do not depend on their content.
    void take_newer() { takes_newer_ = true; }

    const PassedOver& passed_over() const { return passed_over_; }
    const std::vector<Gap>& gaps() const { return gaps_; }

  private:
    struct Object {
        base::Json json;
        std::string text;
    };

    std::optional<std::string> next_line();
    std::optional<Object> next_object();
    bool fill();
    bool open_next_part();
    base::Fd open_part(const std::string& path) const;
    void note_damaged();

    std::string stem_;
    std::string path_;  // the current part
    base::Fd file_;
    std::string buffer_;
    size_t used_ = 0;           // bytes of the buffer that are consumed
    bool is_skipping_ = false;  // the rest of a line that is too long
    uint64_t number_ = 0;
    unsigned part_ = 1;
    unsigned waits_ = 0;
    bool is_live_ = false;
    bool takes_newer_ = false;
    std::vector<Gap> gaps_;
    std::deque<Object> pieces_;  // from a line with several objects without a line break between them
    PassedOver passed_over_;
};

// Passes each event to `on_event` until the session's last event, or until `goes_on` or `on_event` returns
// false. It calls `goes_on` whenever there is no new event.
void follow(Reader& reader, const std::function<bool(const Event&)>& on_event,
            const std::function<bool()>& goes_on);

}  // namespace audit
