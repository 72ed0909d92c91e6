// SPDX-License-Identifier: MIT
// launch_floor MOST [OPTION...] -- COMMAND...: the least that a launcher of such a jail must ask of the
// kernel.
//
// It makes the namespaces, a network with its loopback device, a new root with /proc, /dev and at most MOST
// mounts, and a helper process outside that holds a listening socket of the jail. Then it drops capabilities,
// installs a filter, and a pid 1 starts the command and reaps it. It reads no settings, decides nothing and
// checks nothing.
//
// The options are bubblewrap's, so that both get the same mounts: bench/bare_bwrap.py makes them from a plan.
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

// <sys/mount.h> and <linux/mount.h> define the same names in different ways.
extern "C" int mount(const char*, const char*, const char*, unsigned long, const void*);
extern "C" int umount2(const char*, int);

namespace {

constexpr unsigned long kNoSuid = 2, kNoDev = 4, kNoExec = 8;  // flags of mount(2)
constexpr int kDetach = 2;                                     // MNT_DETACH

struct Item {
    enum class Kind { readonly, writable, device, tmpfs, directory, symlink } kind;
    std::string source, target;
    int tree = -1;
    bool is_directory = true;
};

struct Work {
    std::vector<Item> items;
    std::string directory = "/";
    char** command = nullptr;
};

[[noreturn]] void fail(const char* what) {
    std::fprintf(stderr, "launch_floor: %s: %s\n", what, std::strerror(errno));
    std::_Exit(125);
}

bool is_mount(const Item& item) {
    return item.kind != Item::Kind::directory && item.kind != Item::Kind::symlink;
}

bool is_file_mount(const Item& item) {
    struct stat status {};
    return is_mount(item) && item.kind != Item::Kind::tmpfs && ::stat(item.source.c_str(), &status) == 0 &&
           !S_ISDIR(status.st_mode);
}

// The last mounts of single files are left out: the command needs the directories.
void keep_most(std::vector<Item>& items, long most) {
    long surplus = std::count_if(items.begin(), items.end(), is_mount) - most;
    for (size_t at = items.size(); at-- > 0 && surplus > 0;) {
        if (!is_file_mount(items[at])) continue;
        items.erase(items.begin() + static_cast<std::ptrdiff_t>(at));
        --surplus;
    }
}

// Options that need no argument or change nothing here are passed over.
Work read_arguments(int count, char** words) {
    struct Form {
        std::string_view name;
        int arguments;
        Item::Kind kind;
    };
    static constexpr Form kForms[] = {
        {"--ro-bind", 2, Item::Kind::readonly}, {"--bind", 2, Item::Kind::writable},
        {"--dev-bind", 2, Item::Kind::device},  {"--symlink", 2, Item::Kind::symlink},
        {"--tmpfs", 1, Item::Kind::tmpfs},      {"--dir", 1, Item::Kind::directory},
    };
    Work work;
    for (int at = 2; at < count; ++at) {
        const std::string_view word = words[at];
        if (word == "--") {
            work.command = words + at + 1;
            break;
        }
        if (word == "--chdir") work.directory = words[++at];
        if (word == "--cap-drop" || word == "--proc" || word == "--dev" || word == "--mqueue" ||
            word == "--remount-ro")
            ++at;
        for (const Form& form : kForms) {
            if (form.name != word) continue;
            Item item{.kind = form.kind, .source = words[at + 1], .target = words[at + form.arguments]};
            at += form.arguments;
            work.items.push_back(std::move(item));
            break;
        }
    }
    if (work.command == nullptr || *work.command == nullptr) {
        std::fputs("usage: launch_floor MOST [OPTION...] -- COMMAND...\n", stderr);
        std::_Exit(125);
    }
    keep_most(work.items, std::strtol(words[1], nullptr, 10));
    return work;
}

void write_file(const char* path, const std::string& text) {
    const int file = ::open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0 || ::write(file, text.data(), text.size()) < 0) fail(path);
    ::close(file);
}

int clone_tree(const std::string& path) {
    return static_cast<int>(
        ::syscall(SYS_open_tree, AT_FDCWD, path.c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE));
}

// The place of a target below the new root, which is the current directory.
const char* below_root(const std::string& path) {
    const size_t begin = path.find_first_not_of('/');
    return begin == std::string::npos ? "." : path.c_str() + begin;
}

void make_parents(const std::string& place) {
    for (size_t end = place.find('/'); end != std::string::npos; end = place.find('/', end + 1))
        ::mkdir(place.substr(0, end).c_str(), 0755);
}

void make_target(const char* place, bool is_directory) {
    auto make = [&] { return is_directory ? ::mkdir(place, 0755) : ::mknod(place, S_IFREG | 0644, 0); };
    if (make() == 0 || errno != ENOENT) return;
    make_parents(place);
    make();
}

void make_link(const Item& item) {
    const char* place = below_root(item.target);
    auto make = [&] { return ::symlink(item.source.c_str(), place); };
    if (make() == 0 || errno == EEXIST) return;
    make_parents(place);
    if (make() != 0) fail(place);
}

void place_tree(Item& item) {
    mount_attr attributes{};
    attributes.attr_set = MOUNT_ATTR_NOSUID;
    if (item.kind != Item::Kind::device) attributes.attr_set |= MOUNT_ATTR_NODEV;
    if (item.kind == Item::Kind::readonly) attributes.attr_set |= MOUNT_ATTR_RDONLY;
    if (::syscall(SYS_mount_setattr, item.tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes,
                  sizeof attributes) != 0)
        fail("mount_setattr");
    const char* place = below_root(item.target);
    make_target(place, item.is_directory);
    if (::syscall(SYS_move_mount, item.tree, "", AT_FDCWD, place, MOVE_MOUNT_F_EMPTY_PATH) != 0) fail(place);
    ::close(item.tree);
}

void mount_new(const char* type, const char* place, unsigned long flags, const char* data) {
    if (::mount(type, place, type, flags, data) != 0) fail(place);
}

constexpr const char* kDevices[] = {"null", "zero", "full", "random", "urandom", "tty"};

void build_root(Work& work) {
    // The new root covers the place where it is mounted, so all sources are opened before.
    for (Item& item : work.items) {
        if (item.kind != Item::Kind::readonly && item.kind != Item::Kind::writable &&
            item.kind != Item::Kind::device)
            continue;
        item.tree = clone_tree(item.source);
        struct stat status {};
        if (item.tree < 0 || ::fstat(item.tree, &status) != 0) fail(item.source.c_str());
        item.is_directory = S_ISDIR(status.st_mode);
    }
    std::vector<Item> devices;
    for (const char* name : kDevices) {
        const std::string path = std::string("/dev/") + name;
        devices.push_back({Item::Kind::device, path, path, clone_tree(path), false});
    }
    mount_new("tmpfs", "/tmp", kNoSuid | kNoDev, "mode=0755");
    if (::chdir("/tmp") != 0) fail("/tmp");
    ::mkdir("dev", 0755);
    mount_new("tmpfs", "dev", kNoSuid, "mode=0755");
    for (Item& device : devices) place_tree(device);
    ::mkdir("dev/pts", 0755);
    mount_new("devpts", "dev/pts", kNoSuid | kNoExec, "newinstance,ptmxmode=0666,mode=620");
    ::mkdir("proc", 0755);
    mount_new("proc", "proc", kNoSuid | kNoDev | kNoExec, nullptr);
    for (Item& item : work.items) {
        const char* place = below_root(item.target);
        switch (item.kind) {
            case Item::Kind::readonly:
            case Item::Kind::writable:
            case Item::Kind::device:
                place_tree(item);
                break;
            case Item::Kind::tmpfs:
                make_target(place, true);
                mount_new("tmpfs", place, kNoSuid | kNoDev, "mode=0755");
                break;
            case Item::Kind::directory:
                make_target(place, true);
                break;
            case Item::Kind::symlink:
                make_link(item);
                break;
        }
    }
    if (::syscall(SYS_pivot_root, ".", ".") != 0) fail("pivot_root");
    if (::umount2(".", kDetach) != 0) fail("umount2");
    if (::chdir(work.directory.c_str()) != 0) fail(work.directory.c_str());
}

int make_listener() {
    const int device = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ifreq request{};
    std::strcpy(request.ifr_name, "lo");
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(3128);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (device < 0 || ::ioctl(device, SIOCSIFFLAGS, &request) != 0 ||
        ::bind(device, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(device, 512) != 0)
        fail("listen on the jail's loopback");
    return device;
}

// One descriptor through a socket pair.
union OneDescriptor {
    cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
};

void send_descriptor(int via, int descriptor) {
    char byte = 0;
    iovec data{&byte, 1};
    OneDescriptor control{};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    control.head.cmsg_level = SOL_SOCKET;
    control.head.cmsg_type = SCM_RIGHTS;
    control.head.cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(&control.head), &descriptor, sizeof descriptor);
    if (::sendmsg(via, &message, 0) != 1) fail("sendmsg");
}

void receive_descriptor(int via) {
    char byte;
    iovec data{&byte, 1};
    OneDescriptor control{};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    if (::recvmsg(via, &message, MSG_CMSG_CLOEXEC) != 1) fail("recvmsg");
}

void drop_rights() {
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct none[2]{};
    if (::syscall(SYS_capset, &head, none) != 0) fail("capset");
    static constexpr int kRefused[] = {
        SYS_mount,       SYS_umount2,     SYS_pivot_root, SYS_setns,         SYS_unshare, SYS_ptrace,
        SYS_bpf,         SYS_keyctl,      SYS_add_key,    SYS_request_key,   SYS_fsopen,  SYS_fsmount,
        SYS_open_tree,   SYS_move_mount,  SYS_kexec_load, SYS_swapon,        SYS_reboot,  SYS_acct,
        SYS_personality, SYS_userfaultfd, SYS_quotactl,   SYS_io_uring_setup};
    constexpr auto kCount = static_cast<unsigned char>(std::size(kRefused));
    std::vector<sock_filter> filter = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
    for (unsigned char at = 0; at < kCount; ++at)
        filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(kRefused[at]),
                                  static_cast<unsigned char>(kCount - at), 0));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
    sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
    if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) fail("seccomp");
}

int exit_code_of(int status) {
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

[[noreturn]] void be_first_process(Work& work, unsigned user, unsigned group, int via) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    write_file("/proc/self/uid_map", std::to_string(user) + " " + std::to_string(user) + " 1\n");
    write_file("/proc/self/setgroups", "deny");
    write_file("/proc/self/gid_map", std::to_string(group) + " " + std::to_string(group) + " 1\n");
    send_descriptor(via, make_listener());
    build_root(work);
    drop_rights();
    const pid_t command = ::fork();
    if (command == 0) {
        ::execvp(work.command[0], work.command);
        fail(work.command[0]);
    }
    int status = 0;
    while (::wait(&status) != command) {
    }
    std::_Exit(exit_code_of(status));
}

}  // namespace

int main(int count, char** words) {
    Work work = read_arguments(count, words);
    const unsigned user = ::getuid(), group = ::getgid();
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) fail("socketpair");
    clone_args options{};
    options.flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET;
    options.exit_signal = SIGCHLD;
    const long jail = ::syscall(SYS_clone3, &options, sizeof options);
    if (jail < 0) fail("clone3");
    if (jail == 0) be_first_process(work, user, group, pair[1]);
    const pid_t helper = ::fork();
    if (helper == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        receive_descriptor(pair[0]);
        ::pause();
        std::_Exit(0);
    }
    int status = 0;
    ::waitpid(static_cast<pid_t>(jail), &status, 0);
    ::kill(helper, SIGKILL);
    ::waitpid(helper, nullptr, 0);
    return exit_code_of(status);
}
