// SPDX-License-Identifier: MIT
#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/temporary_directory.h"

namespace base {
namespace {

using testing_support::TemporaryDirectory;

bool is_open(int fd) {
    return ::fcntl(fd, F_GETFD) >= 0;
}

TEST(Fd, ClosesWhatItOwns) {
    int number = ::open("/", O_RDONLY | O_CLOEXEC);
    { Fd fd(number); }
    EXPECT_FALSE(is_open(number));
}

TEST(Fd, MovesAndReleasesWithoutClosing) {
    Fd first(::open("/", O_RDONLY | O_CLOEXEC));
    int number = first.get();
    Fd second(std::move(first));
    EXPECT_FALSE(first);
    EXPECT_EQ(second.get(), number);
    EXPECT_EQ(second.release(), number);
    EXPECT_FALSE(second);
    EXPECT_TRUE(is_open(number));
    ::close(number);
}

TEST(Fd, AssignmentClosesTheFormerOne) {
    Fd first(::open("/", O_RDONLY | O_CLOEXEC));
    int former = first.get();
    first = Fd(::open("/", O_RDONLY | O_CLOEXEC));
    EXPECT_FALSE(is_open(former) && former != first.get());
    EXPECT_TRUE(is_open(first.get()));
}

TEST(ReadFile, GivesTheWholeContent) {
    TemporaryDirectory directory;
    EXPECT_EQ(*read_file(directory.write("empty", "")), "");
    EXPECT_EQ(*read_file(directory.write("small", "a\nb")), "a\nb");
    std::string large(300'000, 'x');
    EXPECT_EQ(*read_file(directory.write("large", large)), large);
}

TEST(ReadFile, ReadsFilesOfTheKernelThatHaveNoSize) {
    EXPECT_FALSE(read_file("/proc/self/status")->empty());
}

TEST(ReadFile, RefusesMoreThanTheLimit) {
    TemporaryDirectory directory;
    std::string path = directory.write("ten", "0123456789");
    EXPECT_TRUE(read_file(path, 10));
    Result<std::string> refused = read_file(path, 9);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().what, path + ": more than 9 bytes");
}

TEST(ReadFile, RefusesASparseFileBeforeItTakesTheMemory) {
    TemporaryDirectory directory;
    std::string path = directory.write("sparse", "");
    ASSERT_EQ(::truncate(path.c_str(), off_t{1} << 42), 0);
    EXPECT_FALSE(read_file(path));
}

TEST(ReadFile, DoesNotHangOnAFifo) {
    TemporaryDirectory directory;
    ASSERT_EQ(::mkfifo((directory / "fifo").c_str(), 0600), 0);
    EXPECT_EQ(*read_file(directory / "fifo"), "");
}

TEST(ReadFile, NamesTheFileInTheError) {
    EXPECT_EQ(read_file("/no/such/file").error().line(),
              "cannot read /no/such/file: No such file or directory");
    EXPECT_EQ(read_file("/").error().what, "/: cannot read: Is a directory");
}

TEST(WriteFileAtomically, ReplacesTheContentAndLeavesNothingBeside) {
    TemporaryDirectory directory;
    std::string path = directory.write("file", "old");
    ASSERT_TRUE(write_file_atomically(path, "new", 0640));
    EXPECT_EQ(*read_file(path), "new");
    size_t entries = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory.path()))
        ++entries;
    EXPECT_EQ(entries, 1u);
    struct stat status;
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0640u);
}

// A process with this number was killed while it wrote.
TEST(WriteFileAtomically, IsNotBlockedByALeftFile) {
    TemporaryDirectory directory;
    std::string path = directory / "file";
    std::string left = path + ".new." + std::to_string(::getpid());
    ASSERT_TRUE(write_file_atomically(left, "half"));
    for (const char* content : {"first", "second"}) {
        ASSERT_TRUE(write_file_atomically(path, content));
        EXPECT_EQ(*read_file(path), content);
    }
    EXPECT_EQ(*read_file(left), "half") << "another process may still write it";
}

TEST(WriteFileAtomically, KeepsTheOldFileWhenItFails) {
    TemporaryDirectory directory;
    std::filesystem::create_directory(directory / "occupied");
    directory.write("occupied/inside", "kept");
    EXPECT_FALSE(write_file_atomically(directory / "occupied", "new"));
    EXPECT_EQ(*read_file(directory / "occupied/inside"), "kept");
    size_t entries = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory.path()))
        ++entries;
    EXPECT_EQ(entries, 1u) << "the temporary file is gone";
    EXPECT_FALSE(write_file_atomically(directory / "missing/file", "x"));
}

TEST(MakeDirectories, MakesTheMissingOnesWithTheMode) {
    TemporaryDirectory directory;
    ASSERT_TRUE(make_directories(directory / "a/b/c", 0700));
    ASSERT_TRUE(make_directories(directory / "a/b/c", 0700)) << "what is there is fine";
    struct stat status;
    ASSERT_EQ(::stat((directory / "a/b").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST(MakeDirectories, RefusesWhereAFileStands) {
    TemporaryDirectory directory;
    directory.write("file", "");
    EXPECT_FALSE(make_directories(directory / "file"));
    EXPECT_FALSE(make_directories(directory / "file/below"));
}

TEST(WriteAll, ReportsAClosedReader) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    Fd reader(ends[0]), writer(ends[1]);
    ASSERT_TRUE(write_all(writer.get(), "abc"));
    EXPECT_FALSE(write_all(reader.get(), "abc")) << "not open for writing";
    writer.reset();
    EXPECT_EQ(*read_descriptor(reader.get()), "abc");
}

TEST(MemoryFile, HoldsTheContentAndCannotBeChanged) {
    Result<Fd> file = memory_file("test", "content");
    ASSERT_TRUE(file);
    EXPECT_EQ(*read_descriptor(file->get()), "content");
    EXPECT_FALSE(write_all(file->get(), "x"));
    EXPECT_NE(::ftruncate(file->get(), 0), 0);
    EXPECT_TRUE(::fcntl(file->get(), F_GETFD) & FD_CLOEXEC);
}

TEST(FileExists, KnowsFilesAndDirectories) {
    TemporaryDirectory directory;
    EXPECT_TRUE(file_exists(directory.path()));
    EXPECT_TRUE(file_exists(directory.write("file", "")));
    EXPECT_FALSE(file_exists(directory / "missing"));
}

}  // namespace
}  // namespace base
