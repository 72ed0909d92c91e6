// SPDX-License-Identifier: MIT
// Theory of operation. The child gets two messages: which optional namespaces to make, and the work. In
// between it does what needs no plan. The work lies in a memory file, and the message carries the descriptors
// that it needs. The child puts the numbers that they have here into the launch specification. If the
// supervisor ends, so does the child: by PR_SET_PDEATHSIG, and at the end of the messages.
#include "backends/native/early_child.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <optional>
#include <string>
#include <utility>

#include "backends/native/child_after_clone.h"
#include "backends/native/order.h"
#include "base/process/descriptors.h"
#include "base/result.h"
#include "host/private_files.h"
#include "inner/stage.h"
#include "network/netns/recipe.h"

namespace backends::native {
namespace {

// Letters of the first message.
constexpr char kNothing = '-';
constexpr char kNetwork = 'n';
constexpr char kIpc = 'i';

// Letters of the second one: the meaning of each descriptor. The first is the memory file.
constexpr char kWork = 'w';
constexpr char kStandard = 's';  // three: 0, 1 and 2
constexpr char kFailures = 'f';
constexpr char kControl = 'c';
constexpr char kCgroup = 'g';
constexpr char kListeners = 'l';
constexpr char kTerminal = 't';

constexpr size_t kMostWork = 64u << 20;

struct Beginning {
    CallerIds caller;
    base::Path searched;
    base::Fd orders, answer;
    cpu_set_t processors = {};  // that the caller may use; none: the machine has too many to count
};

[[noreturn]] void give_up() {
    ::_exit(static_cast<int>(base::ExitCode::jail_failed));
}

base::PassedDescriptors next_message(int orders) {
    base::Result<base::PassedDescriptors> message = base::receive_descriptors(orders);
    if (!message || message->note.empty()) give_up();
    return *std::move(message);
}

// True at their end, too.
bool has_message(int orders) {
    char first;
    return ::recv(orders, &first, 1, MSG_PEEK | MSG_DONTWAIT) >= 0;
}

// As the supervisor does for itself: while the jail is built, each mount may need a descriptor.
void raise_open_files() {
    struct rlimit limit = {};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

// Zero, or errno.
int make_optional_namespaces(std::string_view wanted) {
    int flags = 0;
    if (wanted.find(kNetwork) != std::string_view::npos) flags |= CLONE_NEWNET;
    if (wanted.find(kIpc) != std::string_view::npos) flags |= CLONE_NEWIPC;
    return flags == 0 || ::unshare(flags) == 0 ? 0 : errno;
}

// Puts each descriptor where its letter says.
void place(base::PassedDescriptors& passed, inner::LaunchSpec& spec, Work& work, int& failures) {
    int standard = 0;
    for (size_t i = 1; i < passed.note.size() && i < passed.descriptors.size(); ++i) {
        const char letter = passed.note[i];
        if (letter == kStandard) {
            if (::dup2(passed.descriptors[i].get(), standard++) < 0) give_up();
            continue;
        }
        const int number = passed.descriptors[i].release();
        if (letter == kFailures) failures = number;
        if (letter == kControl) spec.control = number;
        if (letter == kCgroup) work.cgroup = number;
        if (letter == kListeners) work.listeners = number;
        if (letter == kTerminal) spec.terminal = number;
    }
}

// The kernel may start the child on the processor of its parent, where it would not run until the parent
// waits. So it starts on another one. It may use them all again when the first message has come.
void move_aside(pid_t child, cpu_set_t processors) {
    if (CPU_COUNT(&processors) < 2) return;
    CPU_CLR(static_cast<size_t>(::sched_getcpu()), &processors);
    (void)!::sched_setaffinity(child, sizeof processors, &processors);
}

void use_all_processors(const cpu_set_t& processors) {
    if (CPU_COUNT(&processors) >= 2) (void)!::sched_setaffinity(0, sizeof processors, &processors);
}

// The messages are more important than the search: it ends when the work comes, and the supervisor goes on
// with it while this process builds. Returns the optional namespaces, and errno if they can't be made.
std::pair<std::string, int> search_until_work_comes(const Beginning& beginning) {
    constexpr int kTurn = 8;  // directories between two looks at the messages
    host::PrivateFilesWalk walk(beginning.searched);
    std::optional<std::pair<std::string, int>> made;
    auto make = [&] {
        std::string wanted = next_message(beginning.orders.get()).note;
        use_all_processors(beginning.processors);
        const int number = make_optional_namespaces(wanted);
        made.emplace(std::move(wanted), number);
    };
    for (int turn = 1; !walk.is_over(); ++turn) {
        walk.look_into_next();
        if (turn % kTurn != 0 || !has_message(beginning.orders.get())) continue;
        if (made) break;
        make();
    }
    (void)base::write_all(beginning.answer.get(), walk.encode());
    if (!made) make();
    return *std::move(made);
}

[[noreturn]] void live(Beginning& beginning) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    raise_open_files();
    const auto [wanted, unmade] = search_until_work_comes(beginning);
    beginning.answer.reset();
    Work work{.caller = beginning.caller};
    Failure failure = unmade != 0 ? Failure{unmade, Phase::namespaces} : begin_jail(work);

    base::PassedDescriptors passed = next_message(beginning.orders.get());
    if (passed.descriptors.empty()) give_up();
    base::Result<std::string> bytes = base::read_descriptor(passed.descriptors.front().get(), kMostWork);
    if (!bytes) give_up();
    base::Result<Order> order = decode(*bytes);
    if (!order) give_up();
    work.script = &order->script;
    int failures = -1;
    place(passed, order->spec, work, failures);
    network::netns::Recipe recipe;
    if (wanted.find(kNetwork) != std::string::npos) {
        recipe = network::netns::make_recipe(order->network, true);
        work.network = &recipe;
    }
    if (!failure) failure = build_jail(work);
    if (failure) {
        send_failure(failures, failure);
        give_up();
    }
    order->spec.mounts = work.mounts;
    ::_exit(inner::run_copied_stage(order->spec));
}

}  // namespace

std::unique_ptr<EarlyChild> EarlyChild::start(const base::Path& searched) {
    if (::geteuid() == 0) return nullptr;
    int orders[2], answer[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, orders) != 0) return nullptr;
    base::Fd our_orders(orders[0]), their_orders(orders[1]);
    if (::pipe2(answer, O_CLOEXEC) != 0) return nullptr;
    base::Fd our_answer(answer[0]), their_answer(answer[1]);
    Beginning beginning{.caller = {::getuid(), ::getgid()}, .searched = searched};
    (void)!::sched_getaffinity(0, sizeof beginning.processors, &beginning.processors);

    // A signal for the caller's process group must not end the child without its supervisor.
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    struct clone_args arguments = {};
    arguments.flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS;
    arguments.exit_signal = SIGCHLD;
    auto process = static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof arguments));
    if (process == 0) {
        our_orders.reset();
        our_answer.reset();
        beginning.orders = std::move(their_orders);
        beginning.answer = std::move(their_answer);
        live(beginning);
    }
    sigprocmask(SIG_SETMASK, &before, nullptr);
    if (process < 0) return nullptr;
    move_aside(process, beginning.processors);
    std::unique_ptr<EarlyChild> child(new EarlyChild);
    child->process_ = process;
    child->orders_ = std::move(our_orders);
    child->answer_ = std::move(our_answer);
    return child;
}

EarlyChild::~EarlyChild() {
    end();
}

std::optional<host::PrivateFilesWalk> EarlyChild::take_search() {
    base::Result<std::string> text = base::read_descriptor(answer_.get());
    answer_.reset();
    return text ? host::PrivateFilesWalk::decode(*text) : std::nullopt;
}

void EarlyChild::make_namespaces(OptionalNamespaces wanted) {
    std::string note(1, kNothing);
    if (wanted.network) note += kNetwork;
    if (wanted.ipc) note += kIpc;
    made_ = wanted;
    if (!base::send_descriptors(orders_.get(), note, {})) end();
}

pid_t EarlyChild::become_jail(const Work& work) {
    base::Result<base::Fd> file =
        base::memory_file("work of a launch", encode(work.network, work.spec, work.script));
    if (process_ > 0 && file && made_ == work.namespaces) {
        std::string note = {kWork, kStandard, kStandard, kStandard};
        std::vector<int> passed = {file->get(), STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
        auto add = [&](int descriptor, char letter) {
            if (descriptor < 0) return;
            passed.push_back(descriptor);
            note += letter;
        };
        add(work.failures, kFailures);
        add(work.spec.control, kControl);
        add(work.cgroup, kCgroup);
        add(work.listeners, kListeners);
        add(work.spec.terminal, kTerminal);
        if (base::send_descriptors(orders_.get(), note, passed)) {
            orders_.reset();
            return std::exchange(process_, -1);
        }
    }
    end();
    return -1;
}

void EarlyChild::end() {
    orders_.reset();
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
    process_ = -1;
}

}  // namespace backends::native
