// SPDX-License-Identifier: MIT
// The compiled programs, run in the interpreter of machine.h: both architectures, every combination of
// switches, every row against the table itself, with neighbours that must pass.
#include <gtest/gtest.h>
#include <linux/audit.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "seccomp/filter.h"
#include "seccomp/generate/compile.h"
#include "seccomp/kernel.h"
#include "seccomp/machine.h"
#include "seccomp/table.h"

namespace {

using seccomp::Architecture;
using seccomp::Condition;
using seccomp::Row;
using seccomp::Switches;

constexpr uint32_t kX32Bit = 0x40000000;

uint32_t audit_of(Architecture architecture) {
    return architecture == Architecture::x86_64 ? AUDIT_ARCH_X86_64 : AUDIT_ARCH_AARCH64;
}

const std::vector<uint64_t>& program(Architecture architecture, unsigned index) {
    static std::map<std::pair<Architecture, unsigned>, std::vector<uint64_t>> compiled;
    auto [place, is_new] = compiled.try_emplace({architecture, index});
    if (is_new) {
        auto result = seccomp::compile(architecture, Switches::from_index(index));
        if (!result) throw std::runtime_error(result.error().line());
        place->second = *std::move(result);
    }
    return place->second;
}

test::Outcome run(Architecture architecture, unsigned index, const seccomp_data& call) {
    return test::Machine(program(architecture, index), call).run();
}

bool holds(const Condition& condition, uint64_t argument) {
    switch (condition.kind) {
        case Condition::Kind::none:
            return true;
        case Condition::Kind::masked_equal:
            return (argument & condition.mask) == condition.value;
        case Condition::Kind::greater:
            return argument > condition.value;
        case Condition::Kind::not_equal:
            return argument != condition.value;
    }
    return false;
}

// The answers of the table, implemented in the simplest way. Several rows may match at once (a family in the
// low half of an argument whose high half is not zero): then the answer of any of them is right.
std::set<uint32_t> expected(Architecture architecture, const Switches& switches, const seccomp_data& call) {
    std::set<uint32_t> answers;
    for (const Row& row : seccomp::rows()) {
        if (switches.lifts(row.lifted_by) || seccomp::number_of(architecture, row) != call.nr) continue;
        bool matches = std::ranges::all_of(row.conditions, [&](const Condition& condition) {
            return holds(condition, call.args[condition.argument]);
        });
        if (matches) answers.insert(SECCOMP_RET_ERRNO | static_cast<uint32_t>(row.error));
    }
    if (answers.empty()) answers.insert(SECCOMP_RET_ALLOW);
    return answers;
}

// Arguments at the boundary of a condition, and some beside it.
std::vector<uint64_t> interesting(const Condition& condition) {
    std::vector<uint64_t> values;
    for (uint64_t value : {condition.value, condition.value + 1, condition.value - 1,
                           condition.value ^ condition.mask, condition.mask}) {
        values.insert(values.end(), {value, value | uint64_t{1} << 32, value | uint64_t{1} << 63});
    }
    return values;
}

std::string described(const Row& row, unsigned index, const seccomp_data& call) {
    std::string text = std::string(row.name) + " (" + std::string(row.when) + ") with program " +
                       std::to_string(index) + " and";
    for (uint64_t argument : call.args) text += " " + std::to_string(argument);
    return text;
}

class Filter : public testing::TestWithParam<Architecture> {
  protected:
    seccomp_data call(int number) const {
        return {.nr = number, .arch = audit_of(GetParam()), .instruction_pointer = 0, .args = {}};
    }

    void expect_as_the_table_says(const Row& row, const seccomp_data& call) const {
        for (unsigned index = 0; index < seccomp::kProgramCount; ++index)
            expect_as_the_table_says(row, call, index);
    }
    void expect_as_the_table_says(const Row& row, const seccomp_data& call, unsigned index) const {
        uint32_t answer = run(GetParam(), index, call).answer;
        EXPECT_TRUE(expected(GetParam(), Switches::from_index(index), call).contains(answer))
            << described(row, index, call) << ": " << answer;
    }
};

TEST_P(Filter, AnswersEveryRowAsTheTableSays) {
    for (const Row& row : seccomp::rows()) {
        std::optional<int> number = seccomp::number_of(GetParam(), row);
        if (!number) continue;
        seccomp_data call = this->call(*number);
        for (const Condition& condition : row.conditions) {
            if (condition.kind == Condition::Kind::masked_equal)
                call.args[condition.argument] = condition.value;
            if (condition.kind == Condition::Kind::greater || condition.kind == Condition::Kind::not_equal)
                call.args[condition.argument] = condition.value + 1;
        }
        // Program 0 lifts no restriction.
        EXPECT_EQ(run(GetParam(), 0, call).answer, SECCOMP_RET_ERRNO | static_cast<uint32_t>(row.error))
            << row.name;
        expect_as_the_table_says(row, call);
        for (const Condition& condition : row.conditions) {
            for (uint64_t value : interesting(condition)) {
                seccomp_data neighbour = call;
                neighbour.args[condition.argument] = value;
                expect_as_the_table_says(row, neighbour);
            }
        }
    }
}

TEST_P(Filter, AnswersArbitraryArgumentsAsTheTableSays) {
    std::mt19937_64 random(7);
    for (const Row& row : seccomp::rows()) {
        std::optional<int> number = seccomp::number_of(GetParam(), row);
        if (!number || row.conditions.empty()) continue;
        for (int i = 0; i < 50; ++i) {
            seccomp_data call = this->call(*number);
            // Few bits, as in real calls, and sometimes all of them.
            for (auto& argument : call.args)
                argument =
                    i % 5 == 0 ? random() : (uint64_t{1} << random() % 33) | (uint64_t{1} << random() % 33);
            unsigned index = random() % seccomp::kProgramCount;
            expect_as_the_table_says(row, call, index);
        }
    }
}

TEST_P(Filter, AllowsEveryNumberThatNoRowNames) {
    std::set<int> named;
    for (const Row& row : seccomp::rows()) {
        if (std::optional<int> number = seccomp::number_of(GetParam(), row)) named.insert(*number);
    }
    for (int number = 0; number < 600; ++number) {
        if (named.contains(number)) continue;
        test::Outcome outcome = run(GetParam(), 2, call(number));
        EXPECT_EQ(outcome.answer, SECCOMP_RET_ALLOW) << number;
        EXPECT_FALSE(outcome.looked_at_arguments) << number << ": the kernel could not cache the answer";
    }
}

TEST_P(Filter, KillsForeignArchitectures) {
    constexpr uint32_t kForeign[] = {AUDIT_ARCH_I386,    AUDIT_ARCH_ARM,     AUDIT_ARCH_X86_64,
                                     AUDIT_ARCH_AARCH64, AUDIT_ARCH_RISCV64, 0};
    for (uint32_t foreign : kForeign) {
        if (foreign == audit_of(GetParam())) continue;
        for (unsigned index = 0; index < seccomp::kProgramCount; ++index) {
            for (int number : {0, 1, 39, 101, 435, 437, 452}) {
                seccomp_data call = this->call(number);
                call.arch = foreign;
                EXPECT_EQ(run(GetParam(), index, call).answer, SECCOMP_RET_KILL_PROCESS)
                    << foreign << " " << number;
            }
        }
    }
}

// x32 programs run as x86_64 with an extra bit in the call number; other architectures have no such ABI.
class FilterOfX86 : public Filter {};
INSTANTIATE_TEST_SUITE_P(Only, FilterOfX86, testing::Values(Architecture::x86_64));

TEST_P(FilterOfX86, KillsX32) {
    for (unsigned index = 0; index < seccomp::kProgramCount; ++index) {
        for (int number : {0, 1, 56, 165, 437, 520, 545}) {
            EXPECT_EQ(run(GetParam(), index, call(static_cast<int>(kX32Bit) | number)).answer,
                      SECCOMP_RET_KILL_PROCESS)
                << number;
        }
    }
}

TEST_P(Filter, FitsTheKernelAndStaysShort) {
    for (unsigned index = 0; index < seccomp::kProgramCount; ++index)
        EXPECT_LT(program(GetParam(), index).size(), 1500u);
}

INSTANTIATE_TEST_SUITE_P(Both, Filter, testing::ValuesIn(seccomp::kArchitectures), [](const auto& tested) {
    return tested.param == Architecture::x86_64 ? "x86_64" : "aarch64";
});

TEST(FilterTest, TheProgramCarriesTheOnesOfItsArchitecture) {
#ifdef __x86_64__
    constexpr Architecture kHere = Architecture::x86_64;
#else
    constexpr Architecture kHere = Architecture::aarch64;
#endif
    for (unsigned index = 0; index < seccomp::kProgramCount; ++index) {
        std::span<const sock_filter> carried = seccomp::filter_for(Switches::from_index(index));
        const std::vector<uint64_t>& compiled = program(kHere, index);
        ASSERT_EQ(carried.size(), compiled.size());
        EXPECT_EQ(std::memcmp(carried.data(), compiled.data(), carried.size_bytes()), 0);
    }
}

}  // namespace
