// SPDX-License-Identifier: MIT
// What the verbs of layers did, in the record of the session that made the layer: lines of the kind "layer"
// (docs/records.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "audit/writer.h"
#include "base/result.h"
#include "cli/context.h"
#include "layers/journal.h"
#include "layers/store.h"

namespace cli {

class LayerRecord {
  public:
    // Records nothing if audit.enabled is false. An error: an administrator requires the record, and it can't
    // be written. `settings` are those of the layer's project.
    static base::Result<LayerRecord> open(const Settings& settings, const layers::Layer& layer);

    // `action`: apply or resume. One line, and one for each file that it wrote or deleted, with the SHA-256
    // of what was written.
    void add_apply(std::string_view action, const layers::Layer& layer, const layers::Journal& journal,
                   const std::vector<std::string>& held);
    // `action`: undo or discard. `count`: changes that it concerns.
    void add(std::string_view action, const layers::Layer& layer, size_t count);

  private:
    audit::Line line(std::string_view action, const layers::Layer& layer) const;

    audit::Writer writer_;
    std::string user_;
};

}  // namespace cli
