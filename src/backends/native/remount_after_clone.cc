// SPDX-License-Identifier: MIT
// Theory of operation. The table has a line for each mount, with its mount point and its flags. The step that
// made a mount determines its new flags: the last step with this target, or, for a mount that came with a
// tree, the bind that contains it. Flags are only added. The existing ones are passed again, because the
// kernel replaces the whole set and refuses to clear one that the host had set.
#include "backends/native/remount_after_clone.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "backends/native/mount_calls.h"
#include "backends/native/open_after_clone.h"

#ifndef MS_NOSYMFOLLOW  // Linux 5.10
#define MS_NOSYMFOLLOW 256
#endif

namespace backends::native {
namespace {

struct Flag {
    const char* word;  // in the table
    unsigned long flag;
    uint64_t attribute;
};
constexpr Flag kFlags[] = {
    {"ro", MS_RDONLY, MOUNT_ATTR_RDONLY},
    {"nosuid", MS_NOSUID, MOUNT_ATTR_NOSUID},
    {"nodev", MS_NODEV, MOUNT_ATTR_NODEV},
    {"noexec", MS_NOEXEC, MOUNT_ATTR_NOEXEC},
    {"noatime", MS_NOATIME, 0},
    {"nodiratime", MS_NODIRATIME, 0},
    {"relatime", MS_RELATIME, 0},
    {"nosymfollow", MS_NOSYMFOLLOW, 0},
};

// A line of the table, read piece by piece; a field longer than its buffer is an error.
struct Line {
    char place[4096];
    char options[512];
};

class Table {
  public:
    explicit Table(int file) : file_(file) {}

    // 1: a line, 0: the end, or minus errno.
    int next(Line& line) {
        int field = 0;
        size_t place = 0, options = 0;
        for (;;) {
            int byte = read_byte();
            if (byte == kEnd) return field == 0 ? 0 : -EPROTO;
            if (byte < 0) return byte;
            if (byte == '\n') break;
            if (byte == ' ') {
                ++field;
            } else if (field == kPlaceField) {
                if (place + 1 >= sizeof line.place) return -ENAMETOOLONG;
                line.place[place++] = static_cast<char>(byte);
            } else if (field == kOptionsField) {
                if (options + 1 >= sizeof line.options) return -ENAMETOOLONG;
                line.options[options++] = static_cast<char>(byte);
            }
        }
        line.place[unescape(line.place, place)] = '\0';
        line.options[options] = '\0';
        return 1;
    }

  private:
    static constexpr int kPlaceField = 4;
    static constexpr int kOptionsField = 5;
    static constexpr int kEnd = 256;

    int read_byte() {
        while (at_ == count_) {
            ssize_t got = ::read(file_, bytes_, sizeof bytes_);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) return -errno;
            if (got == 0) return kEnd;
            at_ = 0;
            count_ = static_cast<size_t>(got);
        }
        return static_cast<unsigned char>(bytes_[at_++]);
    }

    // Blanks and some other characters are written as \040.
    static size_t unescape(char* text, size_t length) {
        size_t to = 0;
        for (size_t from = 0; from < length; ++to) {
            if (text[from] == '\\' && from + 3 < length) {
                text[to] = static_cast<char>((text[from + 1] - '0') * 64 + (text[from + 2] - '0') * 8 +
                                             (text[from + 3] - '0'));
                from += 4;
            } else {
                text[to] = text[from++];
            }
        }
        return to;
    }

    int file_;
    char bytes_[4096];
    size_t at_ = 0;
    size_t count_ = 0;
};

bool makes_mount(Act act) {
    return act == Act::mount_bind || act == Act::mount_copy || act == Act::mount_content ||
           act == Act::mount_new || act == Act::mount_link;
}

bool has_word(const char* options, const char* word) {
    size_t length = std::strlen(word);
    for (const char* at = options; *at != '\0';) {
        size_t part = std::strcspn(at, ",");
        if (part == length && std::memcmp(at, word, length) == 0) return true;
        at += part;
        if (*at == ',') ++at;
    }
    return false;
}

// `place` without its first slash.
bool is_below(const char* place, const char* target) {
    if (std::strcmp(target, ".") == 0) return true;
    size_t length = std::strlen(target);
    return std::strncmp(place, target, length) == 0 && (place[length] == '/' || place[length] == '\0');
}

// The attributes that the mount at this place gets in addition.
uint64_t attributes_for(const Script& script, const char* place) {
    const Step* nearest = nullptr;
    bool is_own = false;
    bool is_sealed = false;
    for (const Step& step : script.steps) {
        if (makes_mount(step.act) && is_below(place, step.target)) {
            nearest = &step;
            is_own = std::strcmp(place, step.target) == 0;
            is_sealed = false;
        } else if (step.act == Act::seal && std::strcmp(*place == '\0' ? "." : place, step.target) == 0) {
            is_sealed = true;
        }
    }
    uint64_t attributes = is_sealed ? MOUNT_ATTR_RDONLY : 0;
    bool decides = nearest != nullptr && (is_own || nearest->act == Act::mount_bind);
    return decides ? attributes | nearest->attributes : attributes;
}

int remount_one(const Script& script, int root, const Line& line) {
    const char* place = line.place[0] == '/' ? line.place + 1 : line.place;
    uint64_t wanted = attributes_for(script, place);
    unsigned long flags = 0;
    bool is_new = false;
    for (const Flag& flag : kFlags) {
        bool has = has_word(line.options, flag.word);
        bool needs = (wanted & flag.attribute) != 0;
        if (has || needs) flags |= flag.flag;
        is_new = is_new || (needs && !has);
    }
    if (!is_new) return 0;
    // Threat: if the project changes meanwhile, a link in the path could give these flags to another mount
    // (tests/jail/native_faults.bats).
    int opened = *place == '\0' ? root : open_link_itself(root, place);
    if (opened < 0) return -opened;
    DescriptorPath path(opened);
    int number = mount_call(nullptr, path.text(), nullptr, MS_REMOUNT | MS_BIND | flags, nullptr);
    if (opened != root) ::close(opened);
    return number;
}

}  // namespace

Failure remount(const Script& script, int self, int root) {
    int file = ::openat(self, "mountinfo", O_RDONLY | O_CLOEXEC);
    if (file < 0) return {errno, Phase::step, "the mount table", ""};
    static Line line;  // a failure points to it
    Table table(file);
    for (;;) {
        int got = table.next(line);
        if (got == 0) break;
        if (got < 0) return {-got, Phase::step, "the mount table", ""};
        // The old root is detached: every line belongs to the new view.
        if (int number = remount_one(script, root, line); number != 0)
            return {number, Phase::step, line.place, ""};
    }
    ::close(file);
    return {};
}

}  // namespace backends::native
