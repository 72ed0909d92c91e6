// SPDX-License-Identifier: MIT
// The arguments that the real commands would get; the conversation records them. tests/slurm shows on a real
// cluster that Slurm then does what is intended.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>

#include "slurm/jobs/spec.h"
#include "slurm/scope/identity.h"
#include "slurm/submit/handlers.h"

namespace {

using slurm::chaperon::Call;
using slurm::chaperon::Captured;
using slurm::chaperon::Context;
using slurm::chaperon::Conversation;
using slurm::chaperon::Ending;
using Words = std::vector<std::string>;

class Noted : public Conversation {
  public:
    void out(std::string_view text) override { output += text; }
    void err(std::string_view text) override { errors += text; }
    Ending deny(const slurm::Denial& denial) override {
        denied = denial.code;
        return {.status = 1};
    }
    void record(std::string_view, const std::map<std::string, std::string>&) override {}
    base::Result<Captured> capture(std::string_view, const Words& words, std::string_view) override {
        // The question's own random text delimits the answer.
        std::string format = words.back();
        for (const std::string& word : words)
            if (word.find("%A") != std::string::npos) format = word;
        captured = words;
        return Captured{.output = answer ? answer(format) : ""};
    }
    base::Result<Ending> relay(std::string_view name, const Words& words, const Relayed& asked) override {
        client = name;
        arguments = words;
        how = asked;
        if (how.rewrite) output += how.rewrite("Submitted batch job 17");
        return Ending{};
    }
    base::Result<Ending> hold(std::string_view name, const Words& words, const Choose& choose) override {
        client = name;
        arguments = words;
        chosen = choose({"SLURM_JOB_ID=3", "SLURM_CONF=/etc/slurm.conf", "HOME=/h"});
        return Ending{};
    }

    bool has(const std::string& word) const { return std::ranges::find(arguments, word) != arguments.end(); }
    std::string value(std::string_view option) const {
        std::string last;
        for (const std::string& word : arguments)
            if (word.starts_with(std::string(option) + "=")) last = word.substr(option.size() + 1);
        return last;
    }

    std::string output, errors, denied, client;
    Words arguments, captured, chosen;
    Relayed how;
    std::function<std::string(const std::string&)> answer;
};

class Submit : public testing::Test {
  protected:
    void SetUp() override {
        char pattern[] = "/tmp/agent-sandbox-submit.XXXXXX";
        ASSERT_NE(::mkdtemp(pattern), nullptr);
        context.state_directory = pattern;
        context.session = std::string(32, 'a');
        context.project = base::Path::known("/data/project");
        context.project_inode = 4711;
        context.user = "ann";
        context.program = "/opt/agent-sandbox";
        context.job_options = {"--network=isolated"};
    }
    void TearDown() override { std::filesystem::remove_all(context.state_directory); }

    Noted sbatch(Words words, std::string script = "#!/bin/sh\ntrue\n", Words environment = {}) {
        Noted noted;
        slurm::handle_sbatch(context,
                             Call{.command = "sbatch",
                                  .arguments = std::move(words),
                                  .environment = std::move(environment),
                                  .directory = "/data/project/sub",
                                  .script = std::move(script)},
                             noted);
        return noted;
    }
    Noted srun(Words words, Words environment = {}, bool has_terminal = false) {
        Noted noted;
        slurm::handle_srun(context,
                           Call{.command = "srun",
                                .arguments = std::move(words),
                                .environment = std::move(environment),
                                .directory = "/data/project",
                                .has_terminal = has_terminal},
                           noted);
        return noted;
    }
    static slurm::Spec job(const Noted& noted) { return *slurm::spec_from_job_file(*noted.how.input); }
    static slurm::Spec step(Noted noted) { return **slurm::take_step_variables(noted.how.variables); }

    Context context;
};

TEST_F(Submit, AJobGetsNothingOfTheSessionsCredentials) {
    context.credentials = {{"aws", {"AKIAPLACEHOLDER", "placeholderSecret"}, {"AWS_ACCESS_KEY_ID"}}};
    context.session_variables = {
        "SSL_CERT_FILE=/run/agent-sandbox/trust/ca-certificates.crt",
        "GIT_CONFIG_KEY_0=url.http://a.credential.agent-sandbox.internal/.insteadOf"};
    Words environment = {"AWS_ACCESS_KEY_ID=AKIAPLACEHOLDER", "COPY=x placeholderSecret y",
                         "SSL_CERT_FILE=/own.pem", "KEPT=1"};
    environment.insert(environment.end(), context.session_variables.begin(), context.session_variables.end());
    const Words expected = {"SSL_CERT_FILE=/own.pem", "KEPT=1", "GIT_CONFIG_KEY_0=agentsandbox.unused"};
    Noted noted = sbatch({"job.sh"}, "#!/bin/sh\ntrue\n", environment);
    EXPECT_EQ(job(noted).environment, expected);
    EXPECT_NE(
        noted.errors.find("sbatch: the job runs without the credential 'aws' (AWS_ACCESS_KEY_ID is not set)"),
        std::string::npos)
        << noted.errors;
    noted = srun({"true"}, environment);
    EXPECT_EQ(step(noted).environment, expected);
    EXPECT_NE(noted.errors.find("srun: the job runs without"), std::string::npos);
    EXPECT_EQ(sbatch({"job.sh"}, "#!/bin/sh\necho AKIAPLACEHOLDER\n").denied, "slurm-credential");
    EXPECT_EQ(sbatch({"--wrap=echo placeholderSecret"}).denied, "slurm-credential");
    EXPECT_EQ(srun({"echo", "AKIAPLACEHOLDER"}).denied, "slurm-credential");
    context.credentials.clear();
    noted = srun({"echo", "AKIAPLACEHOLDER"});
    EXPECT_EQ(noted.denied + noted.errors, "") << "the control";
}

TEST_F(Submit, SlurmGetsOurFileAndPathsOfOurs) {
    Noted noted =
        sbatch({"-n4", "--out", "mine-%j", "job.sh", "arg"}, "#!/bin/sh\n#SBATCH -t 5\necho\n", {"A=1"});
    EXPECT_EQ(noted.denied, "");
    EXPECT_TRUE(noted.has("--ntasks=4"));
    EXPECT_TRUE(noted.has("--time=5"));
    EXPECT_EQ(noted.value("--output"), context.state_directory + "/slurm/output/%j");
    EXPECT_EQ(noted.value("--job-name"), "job.sh");
    EXPECT_EQ(noted.value("--export"), "ALL");
    EXPECT_EQ(noted.value("--chdir"), "/data/project");
    EXPECT_TRUE(noted.has("--ignore-pbs"));
    EXPECT_TRUE(std::ranges::all_of(noted.arguments, [](const std::string& word) {
        return word.starts_with("--");
    })) << "no word of the agent is one of Slurm's";
    slurm::Spec spec = job(noted);
    EXPECT_EQ(spec.script, "#!/bin/sh\n#SBATCH -t 5\necho\n");
    EXPECT_EQ(spec.command, Words{"arg"});
    EXPECT_EQ(spec.output, "mine-%j");
    EXPECT_EQ(spec.project_inode, 4711u);
    EXPECT_EQ(spec.directory, "/data/project/sub");
    EXPECT_EQ(spec.options, Words{"--network=isolated"});
    EXPECT_EQ(spec.environment, Words{"A=1"});
}

TEST_F(Submit, TheCommentCarriesTheTagBehindTheUsersText) {
    auto split = slurm::split_comment(sbatch({"--comment=mine", "job.sh"}).value("--comment"));
    EXPECT_EQ(split.user_part, "mine");
    ASSERT_TRUE(split.tag);
    EXPECT_EQ(*split.tag, slurm::make_tag(context.session, context.project));
}

TEST_F(Submit, CommandLineBeatsVariablesBeatDirectives) {
    const std::string script = "#!/bin/sh\n#SBATCH --job-name=directive -p slow\n";
    EXPECT_EQ(sbatch({"job.sh"}, script).value("--job-name"), "directive");
    EXPECT_EQ(sbatch({"job.sh"}, script, {"SBATCH_JOB_NAME=variable"}).value("--job-name"), "variable");
    EXPECT_EQ(sbatch({"-J", "line", "job.sh"}, script, {"SBATCH_JOB_NAME=variable"}).value("--job-name"),
              "line");
    Noted noted = sbatch({"job.sh"}, script, {"SBATCH_PARTITION=fast"});
    EXPECT_EQ(noted.value("--partition"), "");
    EXPECT_EQ(noted.how.variables, Words{"SBATCH_PARTITION=fast"});
}

TEST_F(Submit, AnArraysDefaultNameIsSlurmsOwn) {
    EXPECT_EQ(job(sbatch({"job.sh"})).output, "slurm-%j.out");
    EXPECT_EQ(job(sbatch({"--array=1-3", "job.sh"})).output, "slurm-%A_%a.out");
    EXPECT_EQ(job(sbatch({"job.sh"}, "#!/bin/sh\n#SBATCH -a 1\n")).output, "slurm-%A_%a.out");
}

TEST_F(Submit, AWrappedLineIsAScript) {
    Noted noted = sbatch({"--wrap=echo $HOME"}, "");
    EXPECT_NE(job(noted).script.find("\necho $HOME\n"), std::string::npos);
    EXPECT_EQ(noted.value("--job-name"), "wrap");
}

TEST_F(Submit, WhatLeadsOutIsRefused) {
    struct Row {
        Words words;
        std::string_view code;
    };
    for (const Row& row : {Row{{"--uid=0", "j"}, "slurm-identity"},
                           {{"--get-user-env", "j"}, "slurm-host-environment"},
                           {{"--bbf=/etc/passwd", "j"}, "slurm-outside-file"},
                           {{"--container=/x", "j"}, "slurm-outside-code"},
                           {{"--mail-user=other@example.org", "j"}, "slurm-mail"},
                           {{":", "j"}, "slurm-heterogeneous"}}) {
        Noted noted = sbatch(row.words);
        EXPECT_EQ(noted.denied, row.code) << row.words.front();
        EXPECT_EQ(noted.client, "") << "nothing was run";
        std::string line = "#!/bin/sh\n#SBATCH " + row.words.front() + "\n";
        if (row.words.front() != ":") {
            EXPECT_EQ(sbatch({"j"}, line).denied, row.code) << line;
        }
    }
}

TEST_F(Submit, AJobGoesToThisClusterAlone) {
    auto submitted = [&](Words words) {
        Noted noted;
        noted.answer = [](const std::string&) { return "ClusterName = here\n"; };
        slurm::handle_sbatch(context,
                             Call{.command = "sbatch",
                                  .arguments = std::move(words),
                                  .directory = "/data/project",
                                  .script = "#!/bin/sh\n#SBATCH -M here\n"},
                             noted);
        return noted;
    };
    EXPECT_EQ(submitted({"j"}).value("--clusters"), "here");
    EXPECT_EQ(submitted({"--cluster=all", "j"}).value("--clusters"), "here");
    EXPECT_EQ(submitted({"-Mother", "j"}).denied, "slurm-other-cluster");
    EXPECT_EQ(submitted({"--cluster=other", "j"}).denied, "slurm-other-cluster");
    EXPECT_EQ(sbatch({"j"}).value("--clusters"), "");
}

TEST_F(Submit, MailIsLeftOutWhereItIsClosed) {
    std::string script = "#!/bin/sh\n#SBATCH --mail-type=END,FAIL --mail-user=ann@example.org\n";
    for (const Noted& noted : {sbatch({"j"}, script), sbatch({"--mail-type=ALL", "--mail-user=ann", "j"}),
                               srun({"--mail-type=ALL", "true"})}) {
        EXPECT_EQ(noted.denied, "");
        EXPECT_EQ(noted.value("--mail-type"), "");
        EXPECT_EQ(noted.value("--mail-user"), "");
        EXPECT_NE(noted.errors.find(": --mail-type is left out, because mail is closed"), std::string::npos);
        EXPECT_TRUE(noted.client == "sbatch" || noted.client == "srun");
    }
    EXPECT_EQ(sbatch({"--mail-type=NONE", "--mail-user=ann", "j"}).errors, "");
    EXPECT_EQ(sbatch({"--mail-user=bob", "j"}).denied, "slurm-mail");
}

TEST_F(Submit, MailGoesToTheAccountAlone) {
    context.mail_is_closed = false;
    EXPECT_EQ(sbatch({"--mail-type=END", "j"}).value("--mail-type"), "END");
    EXPECT_EQ(sbatch({"--mail-type=END", "--mail-user=ann", "j"}).denied, "");
    Noted at_host = sbatch({"--mail-type=END", "--mail-user=ann@example.org", "j"});
    EXPECT_EQ(at_host.value("--mail-type"), "END");
    EXPECT_EQ(at_host.errors, "sbatch: --mail-user is left out: Slurm writes to ann\n");
    EXPECT_EQ(at_host.value("--mail-user"), "");
    for (std::string other : {"other@example.org", "anna", "ann,bob", "ann@x@y", "ANN", "ann ", "bob@ann"})
        EXPECT_EQ(sbatch({"--mail-type=END", "--mail-user=" + other, "j"}).denied, "slurm-mail") << other;
}

TEST_F(Submit, WhatWasAskedForIsKept) {
    sbatch({"-o", "out-%j", "job.sh", "a"});
    auto record = slurm::find_record(context.state_directory, "17");
    ASSERT_TRUE(record);
    EXPECT_EQ(record->command, "/data/project/sub/job.sh a");
    EXPECT_EQ(record->output, "/data/project/sub/out-17");
    EXPECT_EQ(record->error, record->output);
}

TEST_F(Submit, AFileThatIsNoScriptIsComplainedAboutAsSlurmDoes) {
    Noted noted = sbatch({"job.sh"}, "echo\n");
    EXPECT_NE(noted.errors.find("sbatch: error"), std::string::npos);
    EXPECT_EQ(noted.client, "");
}

TEST_F(Submit, EveryTaskIsOurProgram) {
    Noted noted = srun({"-n2", "/bin/echo", "--uid=0"}, {"A=1"});
    ASSERT_GE(noted.arguments.size(), 2u);
    EXPECT_EQ(Words(noted.arguments.end() - 2, noted.arguments.end()),
              (Words{"/opt/agent-sandbox", "slurm-entry"}));
    EXPECT_EQ(step(noted).command, (Words{"/bin/echo", "--uid=0"}));
    EXPECT_TRUE(noted.has("--ntasks=2"));
    EXPECT_EQ(noted.value("--job-name"), "echo");
    EXPECT_TRUE(noted.how.passes_input);
    EXPECT_FALSE(noted.how.has_terminal);
}

TEST_F(Submit, FilesOfAStepAreNeverSlurms) {
    EXPECT_EQ(srun({"-o", "/etc/x", "true"}).value("--output"), "") << "the stub has opened it";
    Noted pattern = srun({"-o", "x-%t", "-e", "none", "-i", "3", "true"});
    EXPECT_EQ(pattern.value("--output"), "");
    EXPECT_EQ(step(pattern).output, "x-%t");
    EXPECT_EQ(pattern.value("--error"), "none");
    EXPECT_EQ(pattern.value("--input"), "3");
}

TEST_F(Submit, AStepEntersOnlyOurOwnAllocations) {
    EXPECT_EQ(srun({"--jobid=5", "true"}).denied, "slurm-not-in-scope");
    EXPECT_EQ(srun({"true"}, {"SLURM_JOB_ID=5"}).denied, "slurm-not-in-scope");
    EXPECT_EQ(srun({"true"}, {"SLURM_JOB_ID=5 --uid=0"}).denied, "slurm-not-in-scope");
    context.launcher_job = "5";
    Noted noted = srun({"true"}, {"SLURM_JOB_ID=5"});
    EXPECT_EQ(noted.denied, "");
    EXPECT_TRUE(noted.has("--jobid=5"));
    EXPECT_EQ(noted.value("--comment"), "") << "it has one";
}

TEST_F(Submit, AStepEntersAJobThatTheProjectSubmitted) {
    const std::string other(32, 'b');
    auto entered = [&](const std::string& job, const std::string& session, const base::Path& project) {
        Noted noted;
        noted.answer = [&](const std::string& format) {
            size_t at = format.find('n');
            std::string nonce = format.substr(at, 33);
            std::string comment = "text " + text_of(slurm::make_tag(session, project));
            std::string row = nonce;
            for (const std::string& field : {job, std::string("40"), job, std::string("RUNNING"), comment})
                row += field + nonce;
            return row + "\n";
        };
        slurm::handle_srun(
            context, Call{.command = "srun", .arguments = {"--jobid=" + job, "true"}, .directory = "/d"},
            noted);
        return noted.denied;
    };
    const base::Path elsewhere = base::Path::known("/data/elsewhere");
    EXPECT_EQ(entered("41", context.session, context.project), "");
    EXPECT_EQ(entered("41", other, context.project), "slurm-not-in-scope") << "without a record";
    slurm::Record record{.project = slurm::project_part(elsewhere)};
    ASSERT_TRUE(slurm::keep_record(context.state_directory, "41", record));
    EXPECT_EQ(entered("41", other, context.project), "slurm-not-in-scope") << "another project's record";
    record.project = slurm::project_part(context.project);
    ASSERT_TRUE(slurm::keep_record(context.state_directory, "41", record));
    EXPECT_EQ(entered("41", other, context.project), "");
    EXPECT_EQ(entered("41", other, elsewhere), "slurm-not-in-scope") << "another project's tag";
    // A task of an array has the record of its array.
    EXPECT_EQ(entered("42", other, context.project), "slurm-not-in-scope");
    ASSERT_TRUE(slurm::keep_record(context.state_directory, "40", record));
    EXPECT_EQ(entered("42", other, context.project), "");
    context.scope = slurm::chaperon::Scope::session;
    EXPECT_EQ(entered("41", other, context.project), "slurm-not-in-scope");
    EXPECT_EQ(entered("41", context.session, context.project), "");
}

TEST_F(Submit, TheListOfMpiNeedsNoCommand) {
    Noted noted = srun({"--mpi=list", "--overlap"});
    EXPECT_EQ(noted.arguments, Words{"--mpi=list"});
    EXPECT_NE(srun({"--mpi=none"}).errors, "");
}

TEST_F(Submit, StepsThatLeadOutAreRefused) {
    EXPECT_EQ(srun({"--multi-prog", "conf"}).denied, "slurm-multi-prog");
    EXPECT_EQ(srun({"--task-prolog=/x", "true"}).denied, "slurm-outside-code");
    EXPECT_EQ(srun({"--bcast=/x", "true"}).denied, "slurm-outside-file");
    EXPECT_EQ(srun({"true"}, {"SLURM_TASK_PROLOG=/x"}).denied, "slurm-outside-code");
    EXPECT_EQ(srun({"a", ":", "b"}).denied, "slurm-heterogeneous");
    EXPECT_NE(srun({"-n1"}).errors, "");
}

TEST_F(Submit, ATerminalIsMadeWhereThereIsOne) {
    EXPECT_TRUE(srun({"--pty", "bash"}, {}, true).how.has_terminal);
    EXPECT_FALSE(srun({"--pty", "bash"}, {}, false).how.has_terminal);
}

TEST_F(Submit, AnAllocationIsHeldByUs) {
    Noted noted;
    slurm::handle_salloc(context, Call{.command = "salloc", .arguments = {"-N2", "make"}, .directory = "/"},
                         noted);
    EXPECT_EQ(Words(noted.arguments.end() - 2, noted.arguments.end()),
              (Words{"/opt/agent-sandbox", "slurm-hold"}));
    EXPECT_TRUE(noted.has("--nodes=2"));
    EXPECT_TRUE(slurm::split_comment(noted.value("--comment")).tag);
    EXPECT_EQ(noted.chosen, (Words{"SLURM_JOB_ID=3", "SLURM_SUBMIT_DIR=/"}));
}

}  // namespace
