// SPDX-License-Identifier: MIT
#include "cli/help/topics.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/places.h"
#include "plan/backend.h"

namespace {

TEST(BackendsPage, IsWhatTheDocumentationShows) {
    auto page = base::read_file(test::data("/../docs/security.md"));
    ASSERT_TRUE(page) << page.error().line();
    EXPECT_TRUE(page->ends_with(cli::backends_page()))
        << "write the end of docs/security.md anew, from '## Levels': build/agent-sandbox help backends";
}

TEST(BackendsPage, EveryRowNamesAControlThatExists) {
    for (const plan::Reach& reach : plan::lesser_reaches()) {
        EXPECT_EQ(plan::control_row(reach.control).name, reach.control);
        EXPECT_LE(reach.level, plan::control_row(reach.control).best) << reach.control;
    }
}

}  // namespace
