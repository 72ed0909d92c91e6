// SPDX-License-Identifier: MIT
#include "layers/checkpoints/checkpoints.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "layers/checkpoints/copy.h"
#include "layers/layer_trees.h"
#include "layers/tree.h"
#include "layers/watched_calls.h"

namespace {

namespace fs = std::filesystem;
using layers::Checkpoint;
using layers::Layer;
using layers::NewCheckpoint;
using testing_support::Answer;
using testing_support::Fate;
using testing_support::LayerTrees;
using testing_support::WatchedCall;
using testing_support::WatchedChild;

constexpr const char* kMark = "user.overlay.opaque";

// A layer whose upper directory has an entry of each kind.
class Checkpoints : public testing::Test {
  protected:
    Checkpoints() {
        const layers::Store store(trees_.root());
        layer_ = {
            .about = {.id = "4f2a00", .name = "", .project = base::Path::known(trees_.project()), .start = 5},
            .directory = store.directory_of("4f2a00").str()};
        if (!layers::open_for_session(layer_, 0755)) std::abort();
        lock_ = *layers::lock_checkpoints(layer_);
        trees_.write(at("src/one"), "one");
        trees_.write(at("src/two"), "two", 0755);
        trees_.write(at("shut"), "shut", 0);
        trees_.write(at("closed/inner"), "inner");
        fs::permissions(at("closed"), fs::perms(0));
        fs::create_hard_link(at("src/one"), at("linked"));
        fs::create_symlink("/etc/passwd", at("link"));
        ::mkfifo(at("pipe").c_str(), 0640);
        ::mknod(at("gone").c_str(), S_IFCHR, makedev(0, 0));
        fs::create_directory(at("opaque"));
        ::setxattr(at("opaque").c_str(), kMark, "y", 1, 0);
        ::setxattr(at("src/two").c_str(), "user.note", "x", 1, 0);
        const struct timespec times[] = {{1, 0}, {1'000'000'000, 5}};
        ::utimensat(AT_FDCWD, at("src/two").c_str(), times, 0);
    }
    ~Checkpoints() override { fs::permissions(at("closed"), fs::perms(0700)); }

    std::string at(const std::string& name) const { return layer_.present() + "/" + name; }

    // Each entry with its kind, mode, time, device, size and number of names, without content.
    static std::string shape(const std::string& root) {
        std::string text;
        std::vector<std::string> names;
        for (const auto& entry :
             fs::recursive_directory_iterator(root, fs::directory_options::skip_permission_denied))
            names.push_back(entry.path().string());
        std::ranges::sort(names);
        for (const std::string& name : names) {
            struct stat status;
            ::lstat(name.c_str(), &status);
            text += base::format("{} {} {} {} {}\n", name.substr(root.size()), status.st_mode,
                                 S_ISREG(status.st_mode) ? layers_time(status) : 0, status.st_rdev,
                                 S_ISREG(status.st_mode) ? status.st_size : 0);
        }
        return text;
    }
    static int64_t layers_time(const struct stat& status) {
        return int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
    }

    unsigned save(const std::string& text = "") const {
        auto copy = NewCheckpoint::make(layer_);
        if (!copy) ADD_FAILURE() << copy.error().line();
        auto kept = copy->keep(text, !text.empty());
        if (!kept) ADD_FAILURE() << kept.error().line();
        layers::remove_surplus_checkpoints(layer_);
        return kept->number;
    }
    std::string in(unsigned number, const std::string& name) const {
        return layer_.checkpoint_upper(number) + "/" + name;
    }
    static ino_t inode(const std::string& path) {
        struct stat status;
        return ::lstat(path.c_str(), &status) == 0 ? status.st_ino : 0;
    }

    LayerTrees trees_;
    Layer layer_;
    base::Fd lock_;
};

TEST_F(Checkpoints, AreExactCopiesWithTheMarksOfTheKernel) {
    const std::string before = shape(layer_.present());
    const unsigned number = save("first");
    EXPECT_EQ(number, 1u);
    EXPECT_EQ(shape(layer_.checkpoint_upper(number)), before);
    EXPECT_EQ(shape(layer_.present()), before) << "the original changed";
    EXPECT_EQ(*base::read_file(in(1, "src/two")), "two");
    EXPECT_EQ(inode(in(1, "src/one")), inode(in(1, "linked")));
    EXPECT_NE(inode(in(1, "src/one")), inode(at("src/one")));
    char value = 0;
    EXPECT_EQ(::getxattr(in(1, "opaque").c_str(), kMark, &value, 1), 1);
    EXPECT_EQ(::getxattr(in(1, "src/two").c_str(), "user.note", &value, 1), 1);
    fs::permissions(in(1, "closed"), fs::perms(0700));
    EXPECT_EQ(*base::read_file(in(1, "closed/inner")), "inner");
    const std::vector<Checkpoint> all = layers::checkpoints_of(layer_);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].text, "first");
    EXPECT_FALSE(layers::find_checkpoint(layer_, 2));
}

TEST_F(Checkpoints, ShareFilesOnlyWithTheSameContent) {
    trees_.write(at("same"), "same");
    trees_.write(at("other"), "aaaa");
    save();
    // A program that maps a file can write to it without a new time.
    const struct timespec now[] = {{0, UTIME_NOW}, {1'000'000'000, 5}};
    ::utimensat(AT_FDCWD, at("other").c_str(), now, 0);
    save();
    trees_.write(at("other"), "bbbb");
    ::utimensat(AT_FDCWD, at("other").c_str(), now, 0);
    save();
    EXPECT_EQ(inode(in(1, "same")), inode(in(3, "same")));
    EXPECT_NE(inode(in(2, "other")), inode(in(3, "other")));
    EXPECT_EQ(*base::read_file(in(2, "other")), "aaaa");
    EXPECT_EQ(*base::read_file(in(3, "other")), "bbbb");
}

TEST_F(Checkpoints, ACopyThatTakesTooLongLeavesNothing) {
    const std::string before = shape(layer_.present());
    auto copy = NewCheckpoint::make(layer_, std::chrono::steady_clock::now());
    ASSERT_FALSE(copy);
    EXPECT_TRUE(layers::took_too_long(copy.error()));
    EXPECT_TRUE(layers::checkpoints_of(layer_).empty());
    layers::remove_unfinished(layer_);
    EXPECT_FALSE(fs::exists(layer_.directory + "/checkpoints/new"));
    EXPECT_EQ(shape(layer_.present()), before);
    EXPECT_EQ(save(), 1u);
}

// A session is frozen meanwhile: neither a sparse file of a terabyte nor one large file may take its time.
TEST_F(Checkpoints, AFileIsNotReadWhereItHasNoDataNorAfterTheEnd) {
    trees_.write(at("sparse"), "x");
    fs::resize_file(at("sparse"), uint64_t{1} << 40);
    EXPECT_EQ(save(), 1u);
    EXPECT_EQ(save(), 2u);
    const std::string copy = layer_.checkpoint_upper(2) + "/sparse";
    EXPECT_EQ(fs::file_size(copy), uint64_t{1} << 40);
    EXPECT_EQ(inode(copy), inode(layer_.checkpoint_upper(1) + "/sparse"));
    auto open = [](const std::string& path, int flags) {
        return base::Fd(::open(path.c_str(), flags, 0600));
    };
    base::Fd one = open(at("sparse"), O_RDONLY), other = open(copy, O_RDWR);
    base::Fd to = open(trees_.root() + "/to", O_WRONLY | O_CREAT);
    const auto end = std::chrono::steady_clock::now();
    EXPECT_EQ(layers::have_same_bytes(one.get(), other.get(), end), -ETIME);
    EXPECT_EQ(layers::have_same_bytes(one.get(), other.get()), 1);
    ASSERT_EQ(::pwrite(other.get(), "y", 1, off_t{1} << 39), 1);
    EXPECT_EQ(layers::have_same_bytes(one.get(), other.get()), 0);
    const int copied = layers::copy_bytes(one.get(), to.get(), uint64_t{1} << 40, end);
    EXPECT_TRUE(copied == ETIME || copied == 0)
        << copied;  // a file system that shares the bytes needs no time
}

TEST_F(Checkpoints, TheOldestThatHaveNoNameMakeRoom) {
    EXPECT_EQ(save("mine"), 1u);
    for (size_t i = 0; i < layers::kMostCheckpoints + 3; ++i) save();
    const std::vector<Checkpoint> all = layers::checkpoints_of(layer_);
    ASSERT_EQ(all.size(), layers::kMostCheckpoints + 1);
    EXPECT_EQ(all[0].number, 1u);
    EXPECT_EQ(all[1].number, 5u);
}

TEST_F(Checkpoints, OneCommandAtATimeUsesThem) {
    EXPECT_FALSE(layers::lock_checkpoints(layer_));
    lock_.reset();
    EXPECT_TRUE(layers::lock_checkpoints(layer_));
}

TEST_F(Checkpoints, RestoreTheLayerAtRest) {
    const std::string before = shape(layer_.present());
    save();
    trees_.write(at("more"), "more");
    fs::remove(at("gone"));
    ASSERT_TRUE(layers::restore_at_rest(layer_, 1));
    EXPECT_EQ(shape(layer_.present()), before);
    trees_.write(at("src/one"), "the checkpoint has a copy of its own");
    EXPECT_EQ(*base::read_file(in(1, "src/one")), "one");
}

// Without entries that the owner can't read: their modes are changed while they are copied.
TEST_F(Checkpoints, ARollbackThatIsKilledAtAnyCallHasTheOldOrTheNewState) {
    fs::permissions(at("closed"), fs::perms(0700));
    fs::permissions(at("shut"), fs::perms(0600));
    const std::string then = shape(layer_.present());
    save();
    auto add_more = [&] {
        trees_.write(at("more"), "more");
        const struct timespec times[] = {{1, 0}, {1'000'000'000, 7}};
        ::utimensat(AT_FDCWD, at("more").c_str(), times, 0);
    };
    add_more();
    const std::string now = shape(layer_.present());
    int calls = 0, old_states = 0, new_states = 0;
    for (int n = 0; n <= calls && !HasFailure(); ++n) {
        WatchedChild child;
        child.run(
            [&] { return layers::restore_at_rest(layer_, 1) ? 0 : 1; },
            [&](const WatchedCall& call) { return Answer{n == call.index ? Fate::kill : Fate::proceed}; });
        if (n == 0) calls = child.calls();
        const std::string after = shape(layer_.present());
        EXPECT_TRUE(after == then || after == now) << "killed at " << n << "\n" << after;
        ++(after == then ? new_states : old_states);
        EXPECT_EQ(shape(layer_.checkpoint_upper(1)), then);
        add_more();
    }
    EXPECT_GT(calls, 20);
    EXPECT_GT(old_states, 10);
    EXPECT_GT(new_states, 1);
}

}  // namespace
