// SPDX-License-Identifier: MIT
#include "session/helpers/certificates.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/process/descriptors.h"
#include "base/process/own_process.h"
#include "base/text.h"
#include "seccomp/allow_list.h"
#include "session/helpers/detach_helper.h"

namespace session {
namespace {

constexpr size_t kLargestAnswer = 1u << 20;
constexpr std::string_view kIssue = "issue";
constexpr std::string_view kMakerGone = "the process that makes the session's certificates has ended";

// The message: each text with its length before it. An error is one text, certificates are four.
void append(std::string& message, std::string_view text) {
    const auto size = static_cast<uint32_t>(text.size());
    message.append(reinterpret_cast<const char*>(&size), sizeof size).append(text);
}

std::optional<std::string_view> next(std::string_view& message) {
    uint32_t size = 0;
    if (message.size() < sizeof size) return std::nullopt;
    ::memcpy(&size, message.data(), sizeof size);
    message.remove_prefix(sizeof size);
    if (message.size() < size) return std::nullopt;
    std::string_view text = message.substr(0, size);
    message.remove_prefix(size);
    return text;
}

std::string made(const base::Result<network::tls::SessionRoot>& root, const std::vector<std::string>& names,
                 std::time_t now) {
    std::string message;
    base::Result<network::tls::Intermediate> intermediate =
        root ? root->issue(names, now) : base::Result<network::tls::Intermediate>(root.error());
    if (!intermediate) {
        append(message, intermediate.error().line());
        return message;
    }
    append(message, root->pem());
    append(message, root->link_name());
    append(message, intermediate->certificate);
    intermediate->key.reveal([&](std::string_view key) { append(message, key); });
    return message;
}

// What OpenSSL needs to sign, and what an order needs. No call opens a file, a socket or a program.
constexpr int kCalls[] = {SYS_recvmsg,        SYS_sendmsg,      SYS_read,
                          SYS_write,          SYS_memfd_create, SYS_fcntl,
                          SYS_lseek,          SYS_close,        SYS_getrandom,
                          SYS_clock_gettime,  SYS_brk,          SYS_munmap,
                          SYS_mremap,         SYS_madvise,      SYS_futex,
                          SYS_getpid,         SYS_gettid,       SYS_tgkill,
                          SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_restart_syscall,
                          SYS_exit,           SYS_exit_group,   SYS_fstat,
                          SYS_ppoll};

bool confine_to_orders() {
    std::vector<seccomp::Allowed> calls = {{SYS_mmap, 2, {PROT_EXEC}, true},
                                           {SYS_mprotect, 2, {PROT_EXEC}, true}};
    for (int number : kCalls) calls.push_back({.number = number});
    struct rlimit none = {0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && seccomp::install_allow_list(calls) == 0;
}

base::Result<base::Fd> issued(const network::tls::SessionRoot& root, int list) {
    base::Result<std::string> text = base::read_descriptor(list, kLargestAnswer);
    if (!text) return text.error();
    std::vector<std::string> names;
    for (std::string_view name : base::split(*text, '\n')) names.emplace_back(name);
    base::Result<network::tls::Intermediate> intermediate = root.issue(names, std::time(nullptr));
    if (!intermediate) return intermediate.error();
    base::Fd file(::memfd_create("certificate", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!file) return base::system_error("make a memory file", errno);
    base::Status written = network::tls::encode(*intermediate).reveal([&](std::string_view bytes) {
        return base::write_all(file.get(), bytes);
    });
    if (!written) return written.error();
    constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
    if (::fcntl(file.get(), F_ADD_SEALS, kSeals) != 0 || ::lseek(file.get(), 0, SEEK_SET) != 0)
        return base::system_error("seal a memory file", errno);
    return file;
}

// Until the supervisor closes its end.
void take_orders(const network::tls::SessionRoot& root, int orders) {
    while (true) {
        base::Result<base::PassedDescriptors> passed = base::receive_descriptors(orders);
        if (!passed || passed->note != kIssue || passed->descriptors.size() != 1) return;
        base::Result<base::Fd> file = issued(root, passed->descriptors[0].get());
        std::vector<int> answer;
        if (file) answer.push_back(file->get());
        std::string note = file ? std::string(kIssue) : file.error().line();
        if (!base::send_descriptors(orders, note, answer)) return;
    }
}

[[noreturn]] void make_and_answer(const std::vector<std::string>& names, std::time_t now, int answer,
                                  int orders, pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    ::prctl(PR_SET_DUMPABLE, 0);
    base::Result<network::tls::SessionRoot> root = network::tls::SessionRoot::make(now);
    std::string message = made(root, names, now);
    base::Status written = base::write_all(answer, message);
    ::explicit_bzero(message.data(), message.size());
    if (!root || !written) ::_exit(1);
    // The launch goes on with the answer. From here on this process only waits.
    step_aside(parent, "asb-certificate", {orders});
    base::forget_environment();
    if (!confine_to_orders()) ::_exit(1);
    base::rest();
    take_orders(*root, orders);
    ::_exit(0);
}

}  // namespace

base::Result<std::unique_ptr<CertificateMaker>> CertificateMaker::start(const std::vector<std::string>& names,
                                                                        std::time_t now) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return base::system_error("make a pipe", errno);
    std::unique_ptr<CertificateMaker> maker(new CertificateMaker);
    maker->answer_ = base::Fd(ends[0]);
    base::Fd theirs(ends[1]);
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return base::system_error("make a socket", errno);
    maker->orders_ = base::Fd(pair[0]);
    base::Fd their_orders(pair[1]);
    pid_t parent = ::getpid();
    maker->process_ = ::fork();
    if (maker->process_ < 0) return base::system_error("start a process", errno);
    if (maker->process_ == 0) {
        maker->orders_.release();
        make_and_answer(names, now, theirs.get(), their_orders.get(), parent);
    }
    ::fcntl(maker->orders_.get(), F_SETFL, O_NONBLOCK);
    return maker;
}

CertificateMaker::~CertificateMaker() {
    if (process_ > 0) ::kill(process_, SIGKILL);
    collect();
}

void CertificateMaker::collect() {
    if (process_ <= 0) return;
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
    process_ = -1;
}

base::Result<Certificates> CertificateMaker::take() {
    base::Result<std::string> message = base::read_descriptor(answer_.get(), kLargestAnswer);
    answer_.reset();
    if (!message) return message.error();
    std::string_view rest = *message;
    std::optional<std::string_view> root = next(rest), link = next(rest), intermediate = next(rest),
                                    key = next(rest);
    if (!root)
        return base::Error{.what = "the process that makes the session's certificates ended without them"};
    if (!key) return base::Error{.what = std::string(*root)};
    Certificates certificates{.root = std::string(*root),
                              .root_link = std::string(*link),
                              .intermediate = {.certificate = std::string(*intermediate), .key = {}}};
    certificates.intermediate.key.append(*key);
    ::explicit_bzero(message->data(), message->size());
    return certificates;
}

void CertificateMaker::issue(const std::vector<std::string>& names, OnIntermediate on_intermediate) {
    base::Result<base::Fd> list = base::memory_file("names", base::join(names, "\n"));
    if (!list) return on_intermediate(list.error());
    int passed[] = {list->get()};
    base::Status sent = base::send_descriptors(orders_.get(), kIssue, passed);
    if (!sent) return on_intermediate(base::Error{.what = std::string(kMakerGone)});
    waiting_.push_back(std::move(on_intermediate));
}

void CertificateMaker::hear() {
    base::Result<base::PassedDescriptors> passed = base::receive_descriptors(orders_.get());
    if (!passed && (errno == EAGAIN || errno == EINTR)) return;
    if (!passed || passed->note.empty()) {
        std::deque<OnIntermediate> failed = std::exchange(waiting_, {});
        for (OnIntermediate& one : failed) one(base::Error{.what = std::string(kMakerGone)});
        return;
    }
    if (waiting_.empty()) return;
    OnIntermediate next_one = std::move(waiting_.front());
    waiting_.pop_front();
    bool has_file = passed->note == kIssue && passed->descriptors.size() == 1;
    if (!has_file) return next_one(base::Error{.what = passed->note});
    next_one(std::move(passed->descriptors[0]));
}

}  // namespace session
