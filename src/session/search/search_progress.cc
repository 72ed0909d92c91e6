// SPDX-License-Identifier: MIT
#include "session/search/search_progress.h"

#include <poll.h>
#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "base/encoding/codec.h"

template <>
struct base::OwnEncoding<std::chrono::milliseconds> {
    static void write(FieldWriter& writer, std::chrono::milliseconds time) { writer.add(time.count()); }
    static void read(FieldReader& reader, std::chrono::milliseconds& time) {
        int64_t count = 0;
        reader.get(count);
        time = std::chrono::milliseconds(count);
    }
};

template <>
inline constexpr session::LateFinding::Kind base::kLast<session::LateFinding::Kind> =
    session::LateFinding::Kind::held;
template <>
inline constexpr auto base::kFields<session::LateFinding> = std::tuple(&session::LateFinding::kind,
                                                                       &session::LateFinding::after,
                                                                       &session::LateFinding::path);

namespace session {

SearchProgress::SearchProgress() {
    ::clock_gettime(CLOCK_REALTIME_COARSE, &began_at_);
    void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) shared_ = new (memory) Shared{};
}

SearchProgress::~SearchProgress() {
    if (shared_ != nullptr) ::munmap(shared_, sizeof(Shared));
}

std::chrono::milliseconds SearchProgress::elapsed() const {
    auto since = std::chrono::steady_clock::now() - began_;
    return std::chrono::duration_cast<std::chrono::milliseconds>(since);
}

void SearchProgress::count_entries(uint64_t entries) {
    if (shared_ == nullptr) return;
    shared_->has_begun = true;
    shared_->entries += entries;
}

void SearchProgress::say_complete() {
    if (shared_ != nullptr && shared_->completed_after == 0)
        shared_->completed_after = std::max<int64_t>(1, elapsed().count());
}

void SearchProgress::say_failed() {
    if (shared_ != nullptr) shared_->has_failed = true;
}

void SearchProgress::say_unwatched() {
    if (shared_ != nullptr) shared_->is_unwatched = true;
}

void SearchProgress::add(Kind kind, const base::Path& path) {
    if (shared_ == nullptr) return;
    switch (kind) {
        case Kind::masked:
            ++shared_->masked;
            break;
        case Kind::appeared:
            ++shared_->appeared;
            break;
        case Kind::repository:
            ++shared_->repositories;
            break;
        case Kind::closed:
            ++shared_->closed;
            break;
        case Kind::replaced:
            ++shared_->replaced;
            break;
        case Kind::open:
            ++shared_->open;
            break;
        case Kind::held:
            ++shared_->held;
            break;
    }
    base::FieldWriter writer;
    base::write(writer, LateFinding{.kind = kind, .after = elapsed(), .path = path});
    const std::string line = writer.take();
    const uint32_t used = shared_->used;
    if (line.size() > kText - used) return;
    std::ranges::copy(line, shared_->text + used);
    shared_->used = used + static_cast<uint32_t>(line.size());
}

void SearchProgress::count_found(size_t places) {
    if (shared_ != nullptr) shared_->found = places;
}

void SearchProgress::count_written(size_t places) {
    if (shared_ != nullptr) shared_->written = places;
}

void SearchProgress::wait_until_written() const {
    const auto latest = std::chrono::steady_clock::now() + kLongestSearchEnd;
    auto is_waiting = [&] { return shared_ != nullptr && shared_->written != shared_->found; };
    while (is_waiting() && std::chrono::steady_clock::now() < latest) (void)::poll(nullptr, 0, 1);
}

SearchProgress::Report SearchProgress::report() const {
    Report report;
    if (shared_ == nullptr) return report;
    report.has_begun = shared_->has_begun;
    report.has_failed = shared_->has_failed;
    report.is_unwatched = shared_->is_unwatched;
    report.is_complete = shared_->completed_after != 0;
    report.entries = shared_->entries;
    report.duration = std::chrono::milliseconds(shared_->completed_after);
    report.masked = shared_->masked;
    report.repositories = shared_->repositories;
    report.closed = shared_->closed;
    report.open = shared_->open;
    report.held = shared_->held;
    report.appeared = shared_->appeared;
    report.replaced = shared_->replaced;
    base::FieldReader reader({shared_->text, shared_->used});
    while (reader.is_good() && !reader.is_at_end()) {
        LateFinding finding;
        base::read(reader, finding);
        if (reader.is_good()) report.findings.push_back(std::move(finding));
    }
    return report;
}

}  // namespace session
