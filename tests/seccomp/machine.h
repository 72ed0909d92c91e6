// SPDX-License-Identifier: MIT
// A small interpreter for the kernel's filter programs. It supports the instructions that libseccomp and this
// project emit, and stops at any other.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>

namespace test {

struct Outcome {
    uint32_t answer = 0;               // SECCOMP_RET_*
    size_t steps = 0;                  // instructions executed
    bool looked_at_arguments = false;  // if false, the kernel caches the answer
};

class Machine {
  public:
    Machine(std::span<const uint64_t> program, const seccomp_data& call) : program_(program), call_(call) {}

    Outcome run() {
        for (size_t at = 0; at < program_.size(); ++at) {
            sock_filter instruction;
            std::memcpy(&instruction, &program_[at], sizeof instruction);
            ++outcome_.steps;
            if (BPF_CLASS(instruction.code) == BPF_RET) {
                outcome_.answer = BPF_RVAL(instruction.code) == BPF_A ? accumulator_ : instruction.k;
                return outcome_;
            }
            at += execute(instruction);
        }
        throw std::runtime_error("the program runs past its end");
    }

  private:
    // How many instructions to skip.
    size_t execute(const sock_filter& instruction) {
        switch (instruction.code) {
            case BPF_LD | BPF_W | BPF_ABS:
                accumulator_ = load(instruction.k);
                return 0;
            case BPF_ALU | BPF_AND | BPF_K:
                accumulator_ &= instruction.k;
                return 0;
            case BPF_ST:
                memory_.at(instruction.k) = accumulator_;
                return 0;
            case BPF_LD | BPF_W | BPF_MEM:
                accumulator_ = memory_.at(instruction.k);
                return 0;
            case BPF_JMP | BPF_JA:
                return instruction.k;
            case BPF_JMP | BPF_JEQ | BPF_K:
                return jump(instruction, accumulator_ == instruction.k);
            case BPF_JMP | BPF_JGT | BPF_K:
                return jump(instruction, accumulator_ > instruction.k);
            case BPF_JMP | BPF_JGE | BPF_K:
                return jump(instruction, accumulator_ >= instruction.k);
            case BPF_JMP | BPF_JSET | BPF_K:
                return jump(instruction, (accumulator_ & instruction.k) != 0);
            default:
                throw std::runtime_error("an instruction that this machine does not have");
        }
    }
    static size_t jump(const sock_filter& instruction, bool holds) {
        return holds ? instruction.jt : instruction.jf;
    }

    uint32_t load(uint32_t offset) {
        if (offset % 4 != 0 || offset + 4 > sizeof call_)
            throw std::runtime_error("a load from outside the call");
        if (offset >= offsetof(seccomp_data, args)) outcome_.looked_at_arguments = true;
        uint32_t word;
        std::memcpy(&word, reinterpret_cast<const char*>(&call_) + offset, sizeof word);
        return word;
    }

    std::span<const uint64_t> program_;
    seccomp_data call_;
    uint32_t accumulator_ = 0;
    std::array<uint32_t, BPF_MEMWORDS> memory_ = {};
    Outcome outcome_;
};

}  // namespace test
