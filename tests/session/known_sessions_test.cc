// SPDX-License-Identifier: MIT
#include "session/control/known_sessions.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "base/file.h"
#include "base/temporary_directory.h"
#include "session/control/session_directory.h"

namespace session {
namespace {

using base::Json;

std::string id_of(unsigned number) {
    char digits[33];
    std::snprintf(digits, sizeof digits, "%08x%024x", number, 0xabcu);
    return digits;
}

std::string host_name() {
    char name[256] = {};
    ::gethostname(name, sizeof name - 1);
    return name;
}

class KnownSessions : public testing::Test {
  protected:
    KnownSessions() { std::filesystem::create_directories(sessions()); }

    std::string sessions() const { return place.path() + "/sessions"; }
    std::string at(const std::string& id, const std::string& name = "") const {
        return sessions() + "/" + id + (name.empty() ? "" : "/" + name);
    }
    std::vector<Known> known() const { return known_sessions({place.path()}); }

    // A session's directory as on this machine; `changes` are applied to the metadata before it is written.
    void make(const std::string& id, const Json& changes = Json::object()) {
        Json metadata = Json::object()
                            .set("session", id)
                            .set("host", host_name())
                            .set("boot", boot_id())
                            .set("pid", 1)
                            .set("started", "2024-02-29T23:59:59.000Z")
                            .set("command", Json::array().push("bash"));
        for (const auto& [key, value] : changes.members()) metadata.set(key, value);
        place.write("sessions/" + id + "/lock", "");
        place.write("sessions/" + id + "/control", "");
        place.write("sessions/" + id + "/session.json", metadata.dump());
    }
    base::Fd hold(const std::string& id) const {
        base::Fd lock(::open(at(id, "lock").c_str(), O_RDWR | O_CLOEXEC));
        EXPECT_EQ(::flock(lock.get(), LOCK_EX | LOCK_NB), 0);
        return lock;
    }
    void age(const std::string& path, std::time_t seconds) const {
        std::time_t then = ::time(nullptr) - seconds;
        struct timespec times[] = {{.tv_sec = then, .tv_nsec = 0}, {.tv_sec = then, .tv_nsec = 0}};
        ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
    }
    bool is_there(const std::string& id) const { return base::file_exists(at(id)); }

    testing_support::TemporaryDirectory place;
};

TEST_F(KnownSessions, AreThoseWhoseLockIsHeldNewestFirst) {
    make(id_of(1), Json::object().set("started", "2024-01-01T00:00:00.000Z"));
    make(id_of(2), Json::object().set("started", "2024-01-02T00:00:00.000Z"));
    base::Fd one = hold(id_of(1)), two = hold(id_of(2));
    std::vector<Known> found = known();
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].id, id_of(2));
    EXPECT_EQ(found[0].directory, at(id_of(2)));
    EXPECT_EQ(found[0].state, Known::State::running);
    EXPECT_EQ(found[1].id, id_of(1));
}

TEST_F(KnownSessions, ASessionThatWasKilledIsRemovedWithItsDirectoryOnly) {
    make(id_of(1));
    make(id_of(2));
    std::string kept = place.write("record.jsonl", "kept");
    ASSERT_EQ(::symlink(kept.c_str(), at(id_of(1), "log").c_str()), 0);
    base::Fd lock = hold(id_of(2));
    ASSERT_EQ(known().size(), 1u);
    EXPECT_FALSE(is_there(id_of(1)));
    EXPECT_TRUE(is_there(id_of(2)));
    EXPECT_TRUE(base::file_exists(kept));
}

// For completion, which changes nothing.
TEST_F(KnownSessions, AListingCanSkipAKilledSessionWithoutRemovingIt) {
    make(id_of(1));
    make(id_of(2));
    base::Fd lock = hold(id_of(1));
    std::vector<Known> found = known_sessions({place.path()}, DeadSessions::skip);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].id, id_of(1));
    EXPECT_TRUE(is_there(id_of(2)));
}

TEST_F(KnownSessions, ADirectoryThatWasMadeJustNowIsLeftAlone) {
    ASSERT_EQ(::mkdir(at(id_of(1)).c_str(), 0700), 0);
    place.write("sessions/" + id_of(2) + "/lock", "");
    EXPECT_TRUE(known().empty());
    EXPECT_TRUE(is_there(id_of(1)));
    EXPECT_TRUE(is_there(id_of(2)));
    // They never became sessions.
    age(at(id_of(1)), 60);
    age(at(id_of(2)), 60);
    EXPECT_TRUE(known().empty());
    EXPECT_FALSE(is_there(id_of(1)));
    EXPECT_FALSE(is_there(id_of(2)));
}

TEST_F(KnownSessions, ASlowStartIsLeftAloneForAsLongAsItsLockIsHeld) {
    place.write("sessions/" + id_of(1) + "/lock", "");
    base::Fd lock = hold(id_of(1));
    age(at(id_of(1)), 60);
    EXPECT_TRUE(known().empty());
    EXPECT_TRUE(is_there(id_of(1)));
}

TEST_F(KnownSessions, OneOfAnotherMachineStaysForAWeek) {
    make(id_of(1), Json::object().set("host", "another.example"));
    std::vector<Known> found = known();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].state, Known::State::elsewhere);
    age(at(id_of(1), "session.json"), 8 * 24 * 3600);
    {
        // Its lock is visible here, and shows that the session is alive.
        base::Fd lock = hold(id_of(1));
        EXPECT_EQ(known().size(), 1u);
    }
    EXPECT_TRUE(known().empty());
    EXPECT_FALSE(is_there(id_of(1)));
}

TEST_F(KnownSessions, BrokenMetadataHidesNoSessionThatLives) {
    std::string nested(100'000, '[');
    const std::string broken[] = {"",        "{", "[1]", "null", nested, std::string(1 << 20, ' ') + "{}",
                                  "\xff\xfe"};
    std::vector<base::Fd> locks;
    for (unsigned index = 0; index < std::size(broken); ++index) {
        make(id_of(index));
        place.write("sessions/" + id_of(index) + "/session.json", broken[index]);
        locks.push_back(hold(id_of(index)));
    }
    std::vector<Known> found = known();
    EXPECT_EQ(found.size(), std::size(broken));
    for (const Known& one : found) EXPECT_TRUE(one.metadata.is_object());
    locks.clear();
    EXPECT_TRUE(known().empty());
}

TEST_F(KnownSessions, NamesThatAreNoIdentifiersAreNeverTouched) {
    const std::string upper = std::string(32, 'A'), longer = std::string(33, 'a'), other = "..data";
    for (const std::string& name : {upper, longer, other, std::string(31, 'a') + "\n"}) {
        place.write("sessions/" + name + "/session.json", "{}");
        age(at(name), 3600);
    }
    place.write("sessions/" + std::string(32, 'b'), "a file");
    EXPECT_TRUE(known().empty());
    EXPECT_TRUE(base::file_exists(at(upper)));
    EXPECT_TRUE(base::file_exists(at(longer)));
    EXPECT_TRUE(base::file_exists(at(other)));
    EXPECT_TRUE(base::file_exists(at(std::string(32, 'b'))));
}

// Threat: a link in place of a directory or a file redirects the removal, or the lookup, to another place.
TEST_F(KnownSessions, LinksAreNotFollowed) {
    testing_support::TemporaryDirectory outside;
    outside.write("session.json", "{}");
    outside.write("precious", "kept");
    ASSERT_EQ(::symlink(outside.path().c_str(), at(id_of(1)).c_str()), 0);
    make(id_of(2));
    ASSERT_EQ(::symlink(outside.path().c_str(), at(id_of(2), "inside").c_str()), 0);
    EXPECT_TRUE(known().empty());
    EXPECT_TRUE(base::file_exists(outside / "precious"));
    EXPECT_TRUE(base::file_exists(outside / "session.json"));
    EXPECT_FALSE(is_there(id_of(2)));
    EXPECT_EQ(::access(at(id_of(1)).c_str(), F_OK), 0);

    testing_support::TemporaryDirectory another;
    ASSERT_EQ(::symlink(sessions().c_str(), (another / "sessions").c_str()), 0);
    EXPECT_TRUE(known_sessions({another.path()}).empty());
}

TEST_F(KnownSessions, PipesAndDevicesAreNotWaitedFor) {
    make(id_of(1));
    for (const char* name : {"lock", "session.json"}) {
        ASSERT_EQ(::unlink(at(id_of(1), name).c_str()), 0);
        ASSERT_EQ(::mkfifo(at(id_of(1), name).c_str(), 0600), 0);
    }
    age(at(id_of(1)), 60);
    EXPECT_TRUE(known().empty());
    EXPECT_FALSE(is_there(id_of(1)));
}

TEST_F(KnownSessions, APlaceThatOthersCanWriteHasNone) {
    make(id_of(1));
    base::Fd lock = hold(id_of(1));
    ASSERT_EQ(::chmod(sessions().c_str(), 0777), 0);
    EXPECT_TRUE(known().empty());
    ASSERT_EQ(::chmod(sessions().c_str(), 0700), 0);
    EXPECT_EQ(known().size(), 1u);
    EXPECT_TRUE(known_sessions({"/nonexistent", ""}).empty());
}

TEST_F(KnownSessions, TwoHundredThatComeAndGoAreNotDisturbed) {
    std::atomic<bool> is_done = false;
    std::atomic<int> failures = 0, rounds = 0;
    std::thread reader([&] {
        while (!is_done) {
            for (const Known& one : known()) {
                if (one.metadata.text("session") != one.id) ++failures;
            }
            ++rounds;
        }
    });
    std::vector<std::thread> writers;
    for (unsigned writer = 0; writer < 8; ++writer) {
        writers.emplace_back([&, writer] {
            for (unsigned round = 0; round < 3; ++round) {
                std::vector<std::unique_ptr<SessionDirectory>> mine;
                for (unsigned index = 0; index < 25; ++index) {
                    std::string id = id_of(writer * 1000 + round * 100 + index);
                    mine.push_back(std::make_unique<SessionDirectory>());
                    if (!mine.back()->make(place.path(), id, Json::object(), "/record.jsonl")) ++failures;
                }
                for (const auto& one : mine) {
                    if (!base::file_exists(one->path() + "/session.json")) ++failures;
                }
            }
        });
    }
    for (std::thread& writer : writers) writer.join();
    std::vector<std::unique_ptr<SessionDirectory>> last;
    for (unsigned index = 0; index < 200; ++index) {
        last.push_back(std::make_unique<SessionDirectory>());
        ASSERT_TRUE(last.back()->make(place.path(), id_of(0x10000 + index), Json::object(), "").ok());
    }
    EXPECT_EQ(known().size(), 200u);
    is_done = true;
    reader.join();
    EXPECT_EQ(failures, 0);
    EXPECT_GT(rounds, 0);
    last.clear();
    EXPECT_TRUE(known().empty());
    EXPECT_TRUE(std::filesystem::is_empty(sessions()));
}

TEST_F(KnownSessions, ASupervisorThatIsKilledIsFoundDead) {
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    pid_t child = ::fork();
    if (child == 0) {
        SessionDirectory mine;
        bool is_made = mine.make(place.path(), id_of(7), Json::object(), "").ok();
        (void)!::write(ready[1], is_made ? "y" : "n", 1);
        ::pause();
        ::_exit(0);
    }
    char answer = 0;
    ASSERT_EQ(::read(ready[0], &answer, 1), 1);
    ::close(ready[0]);
    ::close(ready[1]);
    ASSERT_EQ(answer, 'y');
    EXPECT_EQ(known().size(), 1u);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_TRUE(known().empty());
    EXPECT_FALSE(is_there(id_of(7)));
}

TEST(FindAmong, TakesAnyUniquePrefix) {
    auto known = [](const std::string& id) {
        return Known{.id = id, .metadata = Json::object().set("command", Json::array().push("bash"))};
    };
    const std::string one = "aaaa1111" + std::string(24, '0'), two = "aaaa2222" + std::string(24, '0');
    std::vector<Known> sessions = {known(one), known(two)};
    EXPECT_EQ(find_among(sessions, "aaaa1")->id, one);
    EXPECT_EQ(find_among(sessions, two)->id, two);
    base::Error error = find_among(sessions, "aaaa").error();
    EXPECT_NE(error.what.find("aaaa1111 (bash), aaaa2222 (bash)"), std::string::npos) << error.line();
    EXPECT_EQ(find_among(sessions, "bbbb").error().exit_code, base::ExitCode::check_failed);
    for (std::string_view wrong : {"aaa", "AAAA1", "../../..", "aaaa1111/x"})
        EXPECT_EQ(find_among(sessions, wrong).error().exit_code, base::ExitCode::usage) << wrong;
    EXPECT_FALSE(find_among(sessions, one + "0").ok());
}

TEST(FindAmong, WithoutATextTakesTheOnlyOneThatRuns) {
    Known here{.id = std::string(32, 'a')},
        there{.id = std::string(32, 'b'), .state = Known::State::elsewhere};
    EXPECT_EQ(find_among({here, there}, "")->id, here.id);
    EXPECT_NE(find_among({there}, "").error().what.find("no session is running"), std::string::npos);
    Known third{.id = std::string(32, 'c')};
    EXPECT_NE(
        find_among({here, third}, "").error().what.find("several sessions are running: aaaaaaaa, cccccccc"),
        std::string::npos);
}

}  // namespace
}  // namespace session
