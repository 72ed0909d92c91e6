// SPDX-License-Identifier: MIT
#include "cli/layers/record.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "audit/reader.h"
#include "audit/verify.h"
#include "base/encoding/sha256.h"
#include "base/file.h"
#include "base/no_links.h"
#include "base/text.h"
#include "cli/sessions/records.h"
#include "layers/tree.h"

namespace cli {
namespace {

constexpr size_t kMostRecordedFiles = 10'000;   // of one apply; the first line has the number of all
constexpr uint64_t kLargestHashed = 64u << 20;  // a larger file has no SHA-256 in the record

// Of the session that made the layer. One that audit.keep has removed begins again, without its start.
base::Result<audit::Writer> open_writer(const std::string& directory, const std::string& session) {
    const std::vector<audit::RecordFile> records = audit::records_in(directory);
    auto known = std::ranges::find(records, session, &audit::RecordFile::session);
    audit::LastLine last{
        .file = base::format("{}/{}-{}.jsonl", directory, base::utc_stamp(::time(nullptr)), session),
        .head = {}};
    if (known != records.end()) {
        base::Result<audit::LastLine> found = audit::last_line_of(known->path, audit::kLayersWriter);
        if (!found) return found.error();
        last = *std::move(found);
    } else if (base::Status made = base::make_directories(directory); !made) {
        return made.error();
    }
    base::Fd file(::open(last.file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return base::system_error("write the record " + base::printable(last.file), errno);
    return audit::Writer(std::move(file), audit::kLayersWriter, last.head);
}

std::string hash_of(int root, const std::string& path) {
    base::Fd file(layers::open_below(root, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    struct stat status;
    bool is_small = file && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                    static_cast<uint64_t>(status.st_size) <= kLargestHashed;
    if (!is_small) return "";
    base::Result<std::string> content = base::read_descriptor(file.get(), kLargestHashed);
    return content ? base::sha256(*content) : "";
}

}  // namespace

base::Result<LayerRecord> LayerRecord::open(const Settings& settings, const layers::Layer& layer) {
    LayerRecord record;
    if (!settings.policy.audit.enabled) return record;
    record.user_ = settings.workspace.identity.user;
    base::Result<audit::Writer> writer = open_writer(records_directory(settings.workspace), layer.about.id);
    if (writer) {
        record.writer_ = *std::move(writer);
        return record;
    }
    bool is_required = settings.effective.origin("audit.enabled").layer == config::Layer::admin;
    if (is_required) return writer.error();
    return record;
}

audit::Line LayerRecord::line(std::string_view action, const layers::Layer& layer) const {
    audit::Line line("layer");
    line.text("action", action).text("layer", layer.about.title()).path("project", layer.about.project.str());
    line.text("user", user_).number("pid", static_cast<uint64_t>(::getpid()));
    return line;
}

void LayerRecord::add(std::string_view action, const layers::Layer& layer, size_t count) {
    writer_.write(std::move(line(action, layer).number("count", count)));
}

void LayerRecord::add_apply(std::string_view action, const layers::Layer& layer,
                            const layers::Journal& journal, const std::vector<std::string>& held) {
    if (!writer_) return;
    audit::Line first = line(action, layer);
    first.number("count", journal.operations.size());
    if (!held.empty()) first.texts("held", held);
    writer_.write(std::move(first));
    base::Fd upper(base::open_without_links(base::Path::known(layer.upper()), O_RDONLY | O_DIRECTORY));
    size_t count = 0;
    for (const layers::Operation& operation : journal.operations) {
        if (operation.fresh.is_directory && operation.act != layers::Act::remove) continue;
        if (++count > kMostRecordedFiles) break;
        audit::Line each("layer");
        bool is_removal = operation.act == layers::Act::remove;
        each.text("action", is_removal ? "delete" : operation.act == layers::Act::mode ? "mode" : "write");
        each.path("path", operation.path);
        if (!is_removal && upper) each.text("sha256", hash_of(upper.get(), operation.path));
        writer_.write(std::move(each));
    }
}

}  // namespace cli
