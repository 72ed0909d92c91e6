// SPDX-License-Identifier: MIT
#include "config/import_properties.h"

#include "config/import_bash.h"
#include "config/import_srt.h"
#include "config/layer.h"

namespace config {
namespace {

const char* broken_claim(const Imported& imported, Layer layer) {
    ParsedFile parsed = parse_layer(layer, "imported.toml", imported.toml);
    if (!parsed.problems.empty()) return "what is imported passes parse_layer";
    size_t settings = parsed.content.values.size();
    return settings == imported.carried ? nullptr : "as many settings are written as are counted";
}

}  // namespace

const char* imported_bash_is_valid(std::string_view bytes) {
    if (const char* broken = broken_claim(import_bash(bytes), Layer::user)) return broken;
    return broken_claim(import_bash(bytes, {.for_administrator = true, .check = {}}), Layer::admin);
}

const char* imported_srt_is_valid(std::string_view bytes) {
    base::Result<Imported> imported = import_srt(bytes);
    return imported ? broken_claim(*imported, Layer::user) : nullptr;
}

}  // namespace config
