// SPDX-License-Identifier: MIT
// `config check --admin`: checks a file as an administrator's ceiling, before or after it is installed. A
// rule that would stop every start is a mistake; a rule without effect is a warning.
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "base/file.h"
#include "base/format.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/config_parts.h"
#include "cli/output.h"
#include "cli/report/ceiling_report.h"
#include "cli/report/network_entries.h"
#include "cli/scratch_project.h"
#include "config/files/checked_files.h"
#include "config/files/sources.h"
#include "config/layer.h"

namespace cli {
namespace {

struct Finding {
    std::string path;
    std::string problem;
    std::string advice;
};

// Reasons for which the program would refuse the file as an administrator's file. Every user must be able to
// read it, and only root may write or replace it.
// `is_listed`: `start` is a directory that the program lists.
std::vector<Finding> ownership_findings(const base::Path& start, bool is_listed) {
    std::vector<Finding> findings;
    bool is_file = !is_listed;
    for (base::Path path = start;; path = path.parent(), is_file = false, is_listed = false) {
        struct stat status;
        std::string name = path.str(), word = base::shell_word(name);
        if (::stat(name.c_str(), &status) != 0) break;
        if (status.st_uid != 0)
            findings.push_back({name, base::format("is owned by uid {}", status.st_uid),
                                base::format("run 'chown root {}'", word)});
        bool is_sticky = !is_file && (status.st_mode & S_ISVTX) != 0;
        if ((status.st_mode & 022) != 0 && !is_sticky)
            findings.push_back({name, "can be written by others", base::format("run 'chmod go-w {}'", word)});
        if ((is_file || is_listed) && (status.st_mode & 0444) != 0444)
            findings.push_back(
                {name, "can't be read by everybody", base::format("run 'chmod a+r {}'", word)});
        if (!is_file && (status.st_mode & 0111) != 0111)
            findings.push_back(
                {name, "can't be entered by everybody", base::format("run 'chmod a+x {}'", word)});
        if (path.is_root()) break;
    }
    return findings;
}

class AdminCheck {
  public:
    AdminCheck(const Invocation& call, const Workspace& workspace) : call_(call), workspace_(workspace) {}

    int check(const std::vector<base::Path>& files, bool is_installed) {
        policy::Layers layers;
        if (is_installed) check_directories();
        for (const base::Path& file : files) check_file(file, layers);
        // A start may fail for other reasons than those checked above.
        if (is_installed && problems_ == 0) {
            base::Result<std::vector<config::LayerFile>> read = config::read_admin_files(workspace_.files);
            if (!read) add_problem(read.error());
        }
        if (problems_ > 0) return kFailed;
        if (files.empty())
            return call_.output.result(
                base::format("no file of an administrator's in {}: there is no ceiling\n",
                             workspace_.files.admin_directory));

        policy::PathMeaning paths = path_meaning(call_.caller.disk, workspace_.identity.home);
        base::Result<policy::Effective> effective = policy::merge(layers, paths);
        if (!effective) {
            call_.output.error(effective.error());
            return kFailed;
        }
        std::vector<std::string> warnings = ceiling_warnings(*effective, paths, call_.caller.disk);
        for (const std::string& warning : warnings) tell_warning(call_.output, warning);
        if (is_installed && !is_closed(*effective)) {
            base::Result<Planned> planned = make_plan(call_.caller, call_.arguments, "", {});
            if (!planned && (names_any(planned.error(), files) || names_bwrap(planned.error(), *effective))) {
                add_problem(planned.error());
                return kFailed;
            }
        }
        if (!is_installed && !is_closed(*effective)) {
            // Only a warning, because the file may be meant for another machine.
            base::Status started = check_start(call_.caller, workspace_, layers);
            if (!started)
                tell_warning(call_.output,
                             "on this machine no run starts with it: " + started.error().line());
        }
        leave_out_without_effect(*effective, warnings);
        std::string names;
        for (const base::Path& file : files) names += (names.empty() ? "" : ", ") + file.str();
        return call_.output.result(base::format("{}: no mistakes\n{}", base::printable(names),
                                                ceiling_summary(*effective, call_.output.colours_results())));
    }

  private:
    // Without project.parents no plan can be made; the summary reports this.
    static bool is_closed(const policy::Effective& effective) {
        return effective.items("project.parents").empty();
    }

    // A plan may also fail because of the caller's own files or the current directory. Those are not mistakes
    // of the ceiling.
    static bool names_any(const base::Error& error, const std::vector<base::Path>& files) {
        return std::ranges::any_of(files, [&](const base::Path& file) {
            return error.where.starts_with(file.str()) || error.what.find(file.str()) != std::string::npos;
        });
    }

    // The backend's error names the program, not the rule that chose it.
    static bool names_bwrap(const base::Error& error, const policy::Effective& effective) {
        const std::string& pinned = effective.text("isolation.bwrap");
        return !pinned.empty() && error.what.find(pinned) != std::string::npos;
    }

    void check_directories() {
        for (const char* name : {"", "/conf.d"}) {
            base::Result<base::Path> path = base::Path::parse(workspace_.files.admin_directory + name);
            struct stat status;
            if (path && ::stat(path->str().c_str(), &status) == 0 && S_ISDIR(status.st_mode))
                check_ownership(*path, true);
        }
    }

    void add_problem(const base::Error& error) {
        call_.output.error(error);
        ++problems_;
    }

    void check_file(const base::Path& file, policy::Layers& layers) {
        check_ownership(file, false);
        base::Result<std::string> text = base::read_file(file.str(), config::kLargestConfiguration);
        if (!text) return add_problem(text.error());
        if (text->empty())
            return add_problem(
                {.what = "an empty file stops every start: it looks like one that is being written",
                 .advice = "write a rule, or remove the file",
                 .where = file.str()});
        config::ParsedFile parsed = config::parse_layer(config::Layer::admin, file.str(), *text);
        for (const base::Error& problem : parsed.problems) add_problem(problem);
        for (const base::Error& problem : network_problems(parsed.content.values)) add_problem(problem);
        layers.admin.push_back(std::move(parsed.content));
    }

    void check_ownership(const base::Path& file, bool is_listed) {
        base::Result<base::Path> admin = base::Path::parse(workspace_.files.admin_directory);
        bool is_in_place = admin && file.is_within(*admin);
        std::vector<Finding> findings = ownership_findings(file, is_listed);
        for (const Finding& finding : findings) {
            if (is_in_place) {
                if (!said_.insert(finding.path + finding.problem).second) continue;
                add_problem({.what = finding.path + " " + finding.problem, .advice = finding.advice});
            } else if (finding.path == file.str()) {
                tell_warning(call_.output,
                             base::format("{} {}, which stops every start once it is in place; 'install -m "
                                          "0644' as root puts it there as it must be",
                                          finding.path, finding.problem));
            }
        }
    }

    const Invocation& call_;
    const Workspace& workspace_;
    size_t problems_ = 0;
    std::set<std::string> said_;  // every file has the same directories above it
};

}  // namespace

int config_check_admin(const Invocation& call, const Workspace& workspace) {
    std::vector<base::Path> files;
    for (const std::string& warning : unread_files(workspace, config::Layer::admin))
        tell_warning(call.output, warning);
    if (call.arguments.words.size() > 1) {
        base::Result<base::Path> path =
            path_from(call.arguments.words[1], workspace.identity.home, call.caller.working_directory);
        if (!path) return call.output.fail(path.error());
        files.push_back(*std::move(path));
    } else {
        for (const ListedFile& file : configuration_files(workspace)) {
            base::Result<base::Path> path = base::Path::parse(file.path);
            if (file.layer == config::Layer::admin && file.exists && path) files.push_back(*std::move(path));
        }
    }
    return AdminCheck(call, workspace).check(files, call.arguments.words.size() < 2);
}

}  // namespace cli
