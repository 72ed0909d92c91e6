// SPDX-License-Identifier: MIT
#include "base/table.h"

#include <gtest/gtest.h>

namespace {

TEST(Table, AlignsColumnsAndLeavesNoBlankAtTheEnd) {
    base::Table table;
    table.add({{"a"}, {"one"}, {"x"}});
    table.add({{"longer"}, {""}, {""}});
    table.add({{"é"}, {"three"}, {"y"}});
    EXPECT_EQ(table.text(2, false),
              "  a       one    x\n"
              "  longer\n"
              "  é       three  y\n");
}

TEST(Table, AnEmptyCellKeepsItsColumn) {
    base::Table table;
    table.add({{"a"}, {"one"}, {"x"}});
    table.add({{""}, {""}, {"y"}});
    EXPECT_EQ(table.text(0, false),
              "a  one  x\n"
              "        y\n");
}

TEST(Table, AVeryWideCellPushesItsOwnRowOnly) {
    base::Table table;
    std::string wide(80, 'w');
    table.add({{wide}, {"x"}});
    table.add({{"a"}, {"y"}});
    EXPECT_EQ(table.text(0, false), wide + "  x\na  y\n");
}

TEST(Table, PaintsTheCellAndNotItsPadding) {
    base::Table table;
    table.add({{"a", base::Style::dim}, {"b"}});
    table.add({{"ccc"}, {"d"}});
    EXPECT_EQ(table.text(0, true), "\x1b[2ma\x1b[0m    b\nccc  d\n");
}

TEST(Table, TheLastCellGoesOnBelowItselfWhereThereIsRoom) {
    base::Table table;
    table.add({{"--flag"}, {"one two three four five six seven"}});
    EXPECT_EQ(table.text(2, false, 36),
              "  --flag  one two three four five\n"
              "          six seven\n");
    EXPECT_EQ(table.text(2, false, 20), "  --flag  one two three four five six seven\n");
}

TEST(Wrapped, BreaksAtBlanksAndLeavesLongWordsWhole) {
    using Lines = std::vector<std::string>;
    EXPECT_EQ(base::wrapped("a bc def", 4), (Lines{"a bc", "def"}));
    EXPECT_EQ(base::wrapped("é é é", 3), (Lines{"é é", "é"}));
    EXPECT_EQ(base::wrapped("x longer-than-that y", 5), (Lines{"x", "longer-than-that", "y"}));
    EXPECT_EQ(base::wrapped("", 5), (Lines{""}));
}

}  // namespace
