// SPDX-License-Identifier: MIT
// Three sessions in a row, with generated trees, policies and operations of the jail: a file that a rule
// closed in the first session stays closed in the third, under any name, and no session prevents the next one
// from starting.
#include <gtest/gtest.h>

#include <random>

#include "base/rounds.h"
#include "plan/case.h"
#include "plan/rename_model.h"

namespace {

using base::Path;
using host::Kind;
using plan::MountKind;
using test::Disk;
using test::Jail;

constexpr std::string_view kSystem = R"(d /usr/bin
l /bin usr/bin
f /etc/passwd 0644 root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/bash
f /etc/group 0644 root:x:0:\nann:x:1000:
d /tmp
d /var/tmp
)";
const Path kHome = Path::known("/home/ann");
const Path kProject = Path::known("/home/ann/app");
constexpr std::string_view kPinned = "can't be renamed aside";

class Round {
  public:
    Round(unsigned seed, bool has_pins) : random_(seed), has_pins_(has_pins) {}

    // The number of leaks; nothing if the policy gives no plan.
    std::optional<int> leaks() {
        grow();
        choose_policy();
        for (int session = 1; session <= 3; ++session) {
            test::Case example{.tree = std::string(kSystem) + disk_.listing(),
                               .toml = {.admin = ceiling_, .user = policy_},
                               .project = kProject.str()};
            auto plan = test::planned(example);
            if (!plan && session == 1) return std::nullopt;
            if (!plan) {
                ADD_FAILURE() << "session " << session << " can't start: " << plan.error().line() << "\n"
                              << example.tree;
                return std::nullopt;
            }
            if (!has_pins_) drop_pins(*plan);
            most_mounts_ = std::max(most_mounts_, plan->mounts.size());
            if (session == 1) note_what_is_taken(Jail(disk_, plan->mounts));
            if (session == 3) return count(Jail(disk_, plan->mounts));
            run_session(*plan);
        }
        return std::nullopt;
    }

    std::string story() const { return ceiling_ + policy_ + story_; }
    size_t taken() const { return unread_.size() + unwritten_.size(); }
    size_t most_mounts() const { return most_mounts_; }

  private:
    size_t pick(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
    Path pick_path() {
        auto at = disk_.names().begin();
        std::advance(at, static_cast<long>(pick(disk_.names().size())));
        return at->first;
    }
    Path pick_below(const Path& top) {
        for (;;) {
            Path path = pick_path();
            if (path.is_strictly_within(top)) return path;
        }
    }
    std::string pick_name() {
        constexpr const char* kNames[] = {"a", "b", "data", "svc", "vendor", "raw", "x.code-workspace"};
        return kNames[pick(std::size(kNames))];
    }

    void grow() {
        for (const char* file :
             {"/home/ann/app/data/raw/secret", "/home/ann/app/svc/api/.env", "/home/ann/app/a/keep/file",
              "/home/ann/.cargo/credentials.toml", "/home/ann/.ssh/id_ed25519", "/home/ann/notes/b/text"}) {
            disk_.make(Path::known(file), Kind::file);
        }
        for (size_t i = 0, n = pick(8); i < n; ++i) {
            Path at = pick_below(kHome) / pick_name();
            disk_.make(at, pick(3) == 0 ? Kind::file : Kind::directory);
        }
        // Symbolic links of the user on the way to paths that the policy names.
        if (pick(3) == 0) disk_.make(kProject / "link", Kind::symlink, "data");
        if (pick(4) == 0) disk_.make(kProject / ".env", Kind::symlink, "svc/real");
        if (pick(4) == 0) disk_.make(kProject / "svc/real", Kind::file);
    }

    std::string list_of(size_t most, const std::vector<Path>& choices) {
        std::set<Path> chosen;
        for (size_t i = 0, n = pick(most + 1); i < n; ++i) chosen.insert(choices[pick(choices.size())]);
        std::string text;
        for (const Path& path : chosen) text += (text.empty() ? "\"" : ", \"") + path.str() + "\"";
        return "[" + text + "]\n";
    }

    void choose_policy() {
        std::vector<Path> choices;
        for (int i = 0; i < 6; ++i) choices.push_back(pick_below(kProject));
        choices.push_back(kProject / "data/raw");
        choices.push_back(kProject / "link/raw");
        choices.push_back(kProject / "not/there/yet");
        ceiling_ = "[mounts]\nhidden = " + list_of(1, choices) + "deny_writable = " + list_of(2, choices);
        policy_ = "[mounts]\nhidden = " + list_of(2, choices) + "[project]\nmask = [\"secret\"]\n";
        policy_ += pick(2) ? "protect = [\"a/keep\", \"x.code*\"]\n" : "";
        policy_ += pick(3) == 0 ? "[home]\naccess = \"write\"\n" : "";
    }

    static void drop_pins(plan::Plan& plan) {
        std::erase_if(plan.mounts, [](const plan::Mount& mount) {
            return mount.kind == MountKind::held_link || mount.reason.why.find(kPinned) != std::string::npos;
        });
    }

    void note_what_is_taken(const Jail& jail) {
        std::map<int, int> names;
        for (const auto& [path, object] : disk_.names()) ++names[object->number];
        for (const auto& [path, object] : disk_.names()) {
            if (object->kind != Kind::file || !is_in_writable_place(jail, path)) continue;
            test::View view = jail.view(path);
            if (!view.is_read) unread_.insert(object->number);
            if (view.is_read && !view.is_written) unwritten_.insert({object->number, path});
        }
    }
    // Other files do not exist inside, or are in a directory that is read-only as a whole.
    static bool is_in_writable_place(const Jail& jail, const Path& path) {
        for (Path above = path.parent(); !above.is_root(); above = above.parent()) {
            if (jail.view(above).is_written) return true;
        }
        return false;
    }

    int count(const Jail& jail) const {
        int leaks = 0;
        for (const auto& [path, object] : disk_.names()) {
            test::View view = jail.view(path);
            if (jail.can_read(path) && unread_.contains(object->number)) ++leaks;
            for (const auto& [number, place] : unwritten_) {
                if (number == object->number && view.is_written) ++leaks;
                // Another file now has the name that was read-only.
                if (path == place && number != object->number) ++leaks;
            }
        }
        return leaks;
    }

    void run_session(const plan::Plan& plan) {
        std::vector<Path> made;
        auto make = [&](const Path& path, Kind kind) {
            for (Path at = path; !disk_.names().contains(at); at = at.parent()) made.push_back(at);
            disk_.make(path, kind);
        };
        for (const plan::NewDirectory& wanted : plan.new_directories) make(wanted.path, Kind::directory);
        for (const plan::Placeholder& wanted : plan.placeholders)
            make(wanted.path, wanted.content ? Kind::file : Kind::directory);
        Jail jail(disk_, plan.mounts);
        for (int i = 0; i < 25; ++i) act(jail);
        for (const Path& path : made) {
            if (disk_.names().contains(path) && disk_.is_empty_directory(path)) disk_.remove(path);
        }
    }

    void act(Jail& jail) {
        const Path one = pick_below(kHome), other = pick_below(kHome);
        const Path fresh = (pick(2) ? other.parent() : other) / pick_name();
        bool is_done = false;
        const size_t kind = pick(10);
        switch (kind) {
            case 0:
            case 1:
            case 8:
            case 9:
                is_done = jail.rename(one, fresh);
                break;
            case 2:
                is_done = jail.exchange(one, other);
                break;
            case 3:
                is_done = jail.remove(one);
                break;
            case 4:
                is_done = jail.link(one, fresh);
                break;
            case 5:
                is_done = jail.make(fresh, Kind::symlink, pick(3) ? other.str() : fresh.str());
                break;
            case 6:
                is_done = jail.make(fresh, pick(2) ? Kind::directory : Kind::file, "");
                break;
            case 7:
                is_done = jail.shut(one);
                break;
        }
        if (is_done)
            story_ += std::to_string(kind) + " " + one.str() + " " + fresh.str() + " " + other.str() + "\n";
    }

    std::mt19937 random_;
    bool has_pins_;
    Disk disk_;
    std::string ceiling_, policy_, story_;
    std::set<int> unread_;
    std::set<std::pair<int, Path>> unwritten_;
    size_t most_mounts_ = 0;
};

constexpr unsigned kRounds = test::rounds(400);

TEST(Renames, GiveNothingBackThatARuleTookAway) {
    size_t planned = 0, taken = 0;
    for (unsigned seed = 0; seed < kRounds; ++seed) {
        Round round(seed, true);
        std::optional<int> leaks = round.leaks();
        ASSERT_FALSE(HasFailure()) << "seed " << seed << "\n" << round.story();
        if (!leaks) continue;
        ASSERT_EQ(*leaks, 0) << "seed " << seed << "\n" << round.story();
        ++planned;
        taken += round.taken();
    }
    EXPECT_GT(planned, kRounds / 2);
    EXPECT_GT(taken, planned * 2);
}

TEST(Renames, GiveThingsBackWithoutPins) {
    constexpr int kEnough = 6;
    int rounds_that_leak = 0;
    for (unsigned seed = 0; rounds_that_leak < kEnough && seed < 200; ++seed) {
        std::optional<int> leaks = Round(seed, false).leaks();
        rounds_that_leak += leaks && *leaks > 0;
    }
    EXPECT_EQ(rounds_that_leak, kEnough);
}

}  // namespace
