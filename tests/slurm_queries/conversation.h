// SPDX-License-Identifier: MIT
// A simulated cluster with prepared answers. It records the arguments of the real commands, and returns the
// output that the test has set. It makes the answer to the question about jobs from rows, with the nonce of
// the question.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "slurm/queries/handlers.h"
#include "slurm/scope/identity.h"

namespace slurm::queries {

struct Ran {
    std::string client;
    std::vector<std::string> arguments;

    bool operator==(const Ran&) const = default;
};

struct PreparedJob {
    std::string job, array, id, comment;
    std::string state = "RUNNING";
};

class PreparedConversation : public chaperon::Conversation {
  public:
    std::vector<PreparedJob> jobs;
    // The output of each command, in order; the last one is repeated.
    std::map<std::string, std::vector<chaperon::Captured>> answers;
    chaperon::Captured question_answer;  // replaces the rows if its status is not 0

    std::vector<Ran> ran;  // without the questions
    int questions = 0;
    std::string output, errors;
    std::vector<Denial> denials;

    void out(std::string_view text) override { output += text; }
    void err(std::string_view text) override { errors += text; }
    chaperon::Ending deny(const Denial& denial) override {
        denials.push_back(denial);
        return {.status = 1};
    }
    void record(std::string_view, const std::map<std::string, std::string>&) override {}

    base::Result<chaperon::Captured> capture(std::string_view client,
                                             const std::vector<std::string>& arguments,
                                             std::string_view) override {
        if (std::string nonce = question_nonce(client, arguments); !nonce.empty()) {
            ++questions;
            return answer_question(nonce);
        }
        ran.push_back({std::string(client), arguments});
        if (std::string nonce = nonce_ahead(client, arguments); !nonce.empty()) {
            if (question_answer.ending.status != 0) return question_answer;
            return show_rows(nonce, std::ranges::find(arguments, "--noheader") == arguments.end());
        }
        std::vector<chaperon::Captured>& prepared = answers[std::string(client)];
        if (prepared.empty()) return chaperon::Captured{};
        chaperon::Captured said = prepared.front();
        if (prepared.size() > 1) prepared.erase(prepared.begin());
        return said;
    }

    base::Result<chaperon::Ending> relay(std::string_view client, const std::vector<std::string>& arguments,
                                         const Relayed& how) override {
        base::Result<chaperon::Captured> said = capture(client, arguments, {});
        std::string_view rest = said->output;
        while (!rest.empty()) {
            size_t length = std::min(rest.find('\n'), rest.size() - 1) + 1;
            output += how.rewrite ? how.rewrite(rest.substr(0, length)) : std::string(rest.substr(0, length));
            rest.remove_prefix(length);
        }
        errors += said->errors;
        return said->ending;
    }

    base::Result<chaperon::Ending> hold(std::string_view, const std::vector<std::string>&,
                                        const Choose&) override {
        return chaperon::Ending{};
    }

  private:
    static std::string question_nonce(std::string_view client, const std::vector<std::string>& arguments) {
        constexpr std::string_view kFormat = "--format=n";
        if (client != "squeue" || arguments.size() != 4 || arguments[1] != "--states=all") return "";
        if (!arguments[2].starts_with("--user=")) return "";
        if (!arguments[3].starts_with(kFormat)) return "";
        return arguments[3].substr(kFormat.size() - 1, 33);
    }

    // The nonce of a format that begins like the question's.
    static std::string nonce_ahead(std::string_view client, const std::vector<std::string>& arguments) {
        constexpr std::string_view kFormat = "--format=n";
        if (client != "squeue" || arguments.empty() || !arguments.back().starts_with(kFormat)) return "";
        std::string nonce = arguments.back().substr(kFormat.size() - 1, 33);
        return arguments.back().substr(kFormat.size() + 32).starts_with("%A" + nonce + "%F") ? nonce : "";
    }

    // Headings, then for each job the output of the user's format: here the id, and a second line.
    chaperon::Captured show_rows(const std::string& nonce, bool has_headings) const {
        chaperon::Captured said{.output = "", .errors = "a warning\n", .ending = {}};
        auto add = [&](const PreparedJob& row) {
            said.output += nonce;
            for (const std::string& field : {row.job, row.array, row.id, row.state, row.comment}) {
                said.output += field + nonce;
            }
            said.output += " shows " + row.id + "\nand more\n";
        };
        if (has_headings) add({"JOBID", "ARRAY_JOB_ID", "JOBID", "COMMENT", "STATE"});
        for (const PreparedJob& job : jobs) add(job);
        return said;
    }

    chaperon::Captured answer_question(const std::string& nonce) const {
        if (question_answer.ending.status != 0) return question_answer;
        chaperon::Captured said;
        for (const PreparedJob& job : jobs) {
            said.output += nonce;
            for (const std::string& field : {job.job, job.array, job.id, job.state, job.comment}) {
                said.output += field + nonce;
            }
            said.output += "\n";
        }
        return said;
    }
};

inline const std::string kSession(32, 'a');
inline const Tag kOurs = make_tag(kSession, base::Path::known("/lab/project"));
inline const Tag kOther{.session = std::string(32, 'c'), .project = std::string(32, 'd')};

// Three jobs (one is completed) and an array of the project, one job of another project, and one without a
// tag.
inline std::vector<PreparedJob> some_jobs() {
    std::string ours = text_of(kOurs);
    return {{"17", "17", "17", "my run " + ours},
            {"18", "18", "18", ours},
            {"20", "20", "20_[2-5%1]", ours, "PENDING"},
            {"23", "20", "20_1", ours},
            {"30", "30", "30", "elsewhere " + text_of(kOther)},
            {"31", "31", "31", "untagged"},
            {"32", "32", "32", ours, "COMPLETED"}};
}

struct QueryResult {
    PreparedConversation conversation;
    chaperon::Ending ending;

    Ran last() const { return conversation.ran.empty() ? Ran{} : conversation.ran.back(); }
    // The argument of the last command that begins with this text.
    std::string argument(std::string_view begin) const {
        for (const std::string& argument : last().arguments) {
            if (argument.starts_with(begin)) return argument;
        }
        return "";
    }
    std::string code() const { return conversation.denials.empty() ? "" : conversation.denials.back().code; }
};

struct Ask {
    chaperon::Scope scope = chaperon::Scope::project;
    std::string launcher_job = "";
    std::vector<std::string> environment = {};
    std::map<std::string, std::vector<chaperon::Captured>> answers = {};
    std::vector<PreparedJob> jobs = some_jobs();
    std::string state_directory = "/nonexistent";

    QueryResult operator()(const std::string& command, std::vector<std::string> arguments) const {
        chaperon::Context context;
        context.session = kSession;
        context.project = base::Path::known("/lab/project");
        context.scope = scope;
        context.uid = 1000;
        context.user = "ann";
        context.launcher_job = launcher_job;
        context.state_directory = state_directory;
        chaperon::Call call{
            .command = command, .arguments = std::move(arguments), .environment = environment};
        QueryResult asked;
        asked.conversation.jobs = jobs;
        asked.conversation.answers = answers;
        asked.ending = query_handlers().find(command)->second(context, call, asked.conversation);
        return asked;
    }
};

inline chaperon::Captured says(std::string output, std::string errors = "", int status = 0) {
    return {.output = std::move(output), .errors = std::move(errors), .ending = {.status = status}};
}

}  // namespace slurm::queries
