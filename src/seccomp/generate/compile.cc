// SPDX-License-Identifier: MIT
#include "seccomp/generate/compile.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>

#include "base/file.h"
#include "base/text.h"

namespace seccomp {
namespace {

struct Release {
    void operator()(void* context) const { ::seccomp_release(context); }
};
using Context = std::unique_ptr<void, Release>;

uint32_t token(Architecture architecture) {
    switch (architecture) {
        case Architecture::x86_64:
            return SCMP_ARCH_X86_64;
        case Architecture::aarch64:
            return SCMP_ARCH_AARCH64;
    }
    return SCMP_ARCH_NATIVE;
}

base::Error library_error(const std::string& attempt, int code) {
    return base::Error{.what = base::format("libseccomp: cannot {}: {}", attempt, std::strerror(-code))};
}

scmp_arg_cmp comparison(const Condition& condition) {
    switch (condition.kind) {
        case Condition::Kind::masked_equal:
            return {condition.argument, SCMP_CMP_MASKED_EQ, condition.mask, condition.value};
        case Condition::Kind::greater:
            return {condition.argument, SCMP_CMP_GT, condition.value, 0};
        case Condition::Kind::not_equal:
            return {condition.argument, SCMP_CMP_NE, condition.value, 0};
        case Condition::Kind::none:
            break;
    }
    return {};
}

// libseccomp translates the numbers of its own machine, and its placeholders for calls that only other
// machines have, to the filter's architecture. This only asks whether it has the call at all.
std::optional<int> known_number(const Row& row) {
    int number = ::seccomp_syscall_resolve_name(std::string(row.name).c_str());
    return number == __NR_SCMP_ERROR ? std::nullopt : std::optional(number);
}

base::Status add_row(void* context, int number, const Row& row) {
    std::vector<scmp_arg_cmp> comparisons;
    for (const Condition& condition : row.conditions) comparisons.push_back(comparison(condition));
    int code = ::seccomp_rule_add_array(context, SCMP_ACT_ERRNO(static_cast<unsigned>(row.error)), number,
                                        static_cast<unsigned>(comparisons.size()), comparisons.data());
    if (code < 0) return library_error("add the row " + std::string(row.name), code);
    return base::success();
}

uint32_t audit_token(Architecture architecture) {
    switch (architecture) {
        case Architecture::x86_64:
            return AUDIT_ARCH_X86_64;
        case Architecture::aarch64:
            return AUDIT_ARCH_AARCH64;
    }
    return 0;
}

// Calls that are newer than libseccomp have the same number on every architecture. Our own instructions
// before libseccomp's check them. Calls of another architecture jump over these instructions, and
// libseccomp's part kills the process.
class Preamble {
  public:
    void add(const Row& row) {
        std::vector<sock_filter> check;
        load(check, offsetof(seccomp_data, nr));
        expect(check, static_cast<uint32_t>(row.number));
        for (const Condition& condition : row.conditions) {
            load(check,
                 static_cast<uint32_t>(offsetof(seccomp_data, args) + sizeof(uint64_t) * condition.argument));
            check.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, static_cast<uint32_t>(condition.mask)));
            expect(check, static_cast<uint32_t>(condition.value));
        }
        check.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<uint32_t>(row.error)));
        // A failed comparison continues after the row.
        for (size_t i = 0; i < check.size(); ++i) {
            if (BPF_CLASS(check[i].code) == BPF_JMP) check[i].jf = static_cast<uint8_t>(check.size() - i - 1);
        }
        body_.insert(body_.end(), check.begin(), check.end());
    }

    std::vector<sock_filter> take(Architecture architecture) const {
        std::vector<sock_filter> program;
        if (body_.empty()) return program;
        load(program, offsetof(seccomp_data, arch));
        program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, audit_token(architecture), 0,
                                   static_cast<uint8_t>(body_.size())));
        program.insert(program.end(), body_.begin(), body_.end());
        return program;
    }

  private:
    static void load(std::vector<sock_filter>& program, uint32_t offset) {
        program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset));
    }
    static void expect(std::vector<sock_filter>& program, uint32_t value) {
        program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 0));
    }

    std::vector<sock_filter> body_;
};

base::Result<std::string> exported(void* context) {
    base::Fd file(::memfd_create("filter", MFD_CLOEXEC));
    if (int code = ::seccomp_export_bpf(context, file.get()); code < 0)
        return library_error("export the filter", code);
    ::lseek(file.get(), 0, SEEK_SET);
    return base::read_descriptor(file.get());
}

}  // namespace

base::Result<std::vector<uint64_t>> compile(Architecture architecture, const Switches& switches) {
    // libseccomp offers what the running kernel supports. The filter is for other machines, and its bytes
    // must not depend on the build machine; API level 3 has everything that is needed here.
    if (int code = ::seccomp_api_set(3); code < 0) return library_error("choose its level", code);
    Context context(::seccomp_init(SCMP_ACT_ALLOW));
    if (!context) return base::Error{.what = "libseccomp: cannot begin a filter"};
    uint32_t arch = token(architecture);
    if (arch != ::seccomp_arch_native()) {
        ::seccomp_arch_add(context.get(), arch);
        ::seccomp_arch_remove(context.get(), SCMP_ARCH_NATIVE);
    }
    if (int code = ::seccomp_attr_set(context.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
        code < 0)
        return library_error("have foreign architectures killed", code);
    // A binary tree over the numbers.
    if (int code = ::seccomp_attr_set(context.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2); code < 0)
        return library_error("optimize the filter", code);
    Preamble preamble;
    for (const Row& row : rows()) {
        if (switches.lifts(row.lifted_by)) continue;
        std::optional<int> number = known_number(row);
        if (!number && row.number == 0)
            return base::Error{.what = "no system call is named " + std::string(row.name)};
        if (!number) {
            preamble.add(row);
        } else if (base::Status added = add_row(context.get(), *number, row); !added) {
            return added.error();
        }
    }
    base::Result<std::string> bytes = exported(context.get());
    if (!bytes) return bytes.error();
    std::vector<sock_filter> front = preamble.take(architecture);
    std::vector<uint64_t> program(front.size() + bytes->size() / sizeof(uint64_t));
    std::ranges::transform(front, program.begin(),
                           [](sock_filter one) { return std::bit_cast<uint64_t>(one); });
    std::memcpy(program.data() + front.size(), bytes->data(), bytes->size());
    return program;
}

std::optional<int> number_of(Architecture architecture, const Row& row) {
    int number = ::seccomp_syscall_resolve_name_arch(token(architecture), std::string(row.name).c_str());
    if (number >= 0) return number;
    return row.number != 0 ? std::optional(row.number) : std::nullopt;
}

std::vector<std::string> collect_names() {
    constexpr int kBeyondTheLast = 1000;
    std::set<std::string> names;
    for (const Row& row : rows()) names.emplace(row.name);
    for (Architecture architecture : kArchitectures) {
        for (int number = 0; number < kBeyondTheLast; ++number) {
            std::unique_ptr<char, decltype(&std::free)> name(
                ::seccomp_syscall_resolve_num_arch(token(architecture), number), &std::free);
            if (name) names.emplace(name.get());
        }
    }
    return {names.begin(), names.end()};
}

}  // namespace seccomp
