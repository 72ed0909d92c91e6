// SPDX-License-Identifier: MIT
#include "import/properties.h"

#include "config/layer.h"
#include "import/bash.h"
#include "import/srt.h"

namespace config {
namespace {

const char* broken_claim(const Imported& imported, Layer layer) {
    ParsedFile parsed = parse_layer(layer, "imported.toml", imported.toml);
    if (!parsed.problems.empty()) return "what is imported passes parse_layer";
    size_t settings = parsed.content.values.size();
    return settings == imported.carried ? nullptr : "as many settings are written as are counted";
}

}  // namespace

// The bytes are used as the file and as bash's output about it.
const char* imported_bash_is_valid(std::string_view bytes) {
    auto print = [&](std::string_view, const std::vector<std::string>&) -> base::Result<std::string> {
        return std::string(bytes);
    };
    for (bool is_admin : {false, true}) {
        ImportOptions options{
            .for_administrator = is_admin, .check = {}, .home = "/home/ann", .run_bash = print, .starts = {}};
        std::string text(bytes);
        std::erase(text, '\0');
        base::Result<Imported> imported = import_bash(text, options);
        if (!imported) continue;
        if (const char* broken = broken_claim(*imported, is_admin ? Layer::admin : Layer::user))
            return broken;
    }
    return nullptr;
}

const char* imported_srt_is_valid(std::string_view bytes) {
    base::Result<Imported> imported = import_srt(bytes);
    return imported ? broken_claim(*imported, Layer::user) : nullptr;
}

}  // namespace config
