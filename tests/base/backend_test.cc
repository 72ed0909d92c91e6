// SPDX-License-Identifier: MIT
#include "base/backend.h"

#include <gtest/gtest.h>

namespace {

using base::Backend;

TEST(Backend, NamesGoThereAndBack) {
    for (Backend backend : base::kBackends) {
        base::Result<Backend> parsed = base::parse_backend(base::to_text(backend));
        ASSERT_TRUE(parsed) << parsed.error().line();
        EXPECT_EQ(*parsed, backend);
    }
    EXPECT_EQ(base::to_text(Backend::bwrap), "bwrap");
}

// Threat: a misspelt name must not get the traits of the strongest backend.
TEST(Backend, AnUnknownNameIsAnError) {
    for (const char* name : {"", "Native", "bubblewrap", "bwrap ", "auto", "landlok"}) {
        base::Result<Backend> parsed = base::parse_backend(name);
        ASSERT_FALSE(parsed) << name;
        EXPECT_EQ(parsed.error().what, "'" + std::string(name) + "' is not a backend");
    }
}

}  // namespace
