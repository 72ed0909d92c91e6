// SPDX-License-Identifier: MIT
#include "import/import.h"

#include "base/format.h"
#include "base/text.h"
#include "import/bash.h"
#include "import/srt.h"

namespace config {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

std::string LeftOut::describe() const {
    return (line > 0 ? base::format("line {}: ", line) : std::string()) + text + ": " + reason;
}

std::string Imported::summary() const {
    return base::format("carried over {}{}, left out {}", carried, carried == 1 ? " setting" : " settings",
                        left_out.size() + more_left_out);
}

base::Result<Imported> import_file(std::string_view text, const ImportOptions& options) {
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    bool is_json = base::trim(text).starts_with('{');
    if (is_json) return import_srt(text, options);
    return import_bash(text, options);
}

}  // namespace config
