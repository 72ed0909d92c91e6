// SPDX-License-Identifier: MIT
// A record as who looks at it later reads it, line by line and part by part. What does not belong there is
// passed over and counted: half a line of a writer that was killed, lines of a version that is not known yet,
// anything that is no JSON. However large the record is, one line of it is held.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/result.h"

namespace audit {

// The longest line that a writer makes is far below.
inline constexpr size_t kLongestLine = 256u << 10;

struct RecordFile {
    std::string path;     // of the first part
    std::string session;  // 32 hexadecimal digits
};

// The records in this directory, newest first.
std::vector<RecordFile> records_in(const std::string& directory);

// By the session's id or a unique beginning of it; "last" or nothing: the newest one. A word with a slash is
// the path of a record.
base::Result<RecordFile> find_record(const std::string& directory, std::string_view text);

// The bytes that were recorded: a line has every byte beyond ASCII as a character of its own.
std::string recorded_bytes(std::string_view text);

struct Event {
    base::Json json;
    std::string text;     // as it stands in the file, without its end
    std::string file;     // the part that it stands in
    uint64_t number = 0;  // of the line there, from 1

    std::string kind() const { return json.text("kind"); }
    std::string value(std::string_view key) const;
    bool is_refusal() const;
    // file:number
    std::string place() const;
};

// Parts between those that are there.
struct Gap {
    unsigned first = 0;
    unsigned last = 0;
};

struct PassedOver {
    uint64_t damaged = 0;        // no JSON, no object, or too long
    uint64_t newer = 0;          // of a higher version
    uint64_t missing_parts = 0;  // between those that are there
    bool has_unfinished_line = false;
    std::string first_damaged;  // file:line
};

class Reader {
  public:
    explicit Reader(std::string first_part);

    // Whether there is such a file at all.
    base::Status open();

    // The next event. None: there is no more, for now; a writer may go on, and then so does this.
    std::optional<Event> next();

    // While the session goes on, a part is left only when its successor has been there for a while: another
    // writer may still have something to add.
    void set_live(bool is_live) { is_live_ = is_live; }

    // For who checks lines without reading what they say.
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
    std::string path_;  // of the part that is read
    base::Fd file_;
    std::string buffer_;
    size_t used_ = 0;           // of the buffer
    bool is_skipping_ = false;  // the rest of a line that is too long
    uint64_t number_ = 0;
    unsigned part_ = 1;
    unsigned waits_ = 0;
    bool is_live_ = false;
    bool takes_newer_ = false;
    std::vector<Gap> gaps_;
    std::deque<Object> pieces_;  // of a line that holds several, without a line break between them
    PassedOver passed_over_;
};

// Hands on each event as it comes, until the last one of the session came, `goes_on` says no, or `on_event`
// does. `goes_on` is asked whenever there is nothing new.
void follow(Reader& reader, const std::function<bool(const Event&)>& on_event,
            const std::function<bool()>& goes_on);

}  // namespace audit
