// SPDX-License-Identifier: MIT
// Starts a session, runs a command in it, and answers the question that the command raises (docs/automation.md).
import { spawn, spawnSync, ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";

const PROGRAM = "agent-sandbox";
const ALLOWED = new Set(["pypi.org", "files.pythonhosted.org"]);

interface Session { session: string; pid: number }
interface Question { id: number; name: string; port: number }
interface Result { exit_status: number; stdout: string; stderr: string; refused: { what: string }[] | null }

const start = (...words: string[]): ChildProcess => spawn(PROGRAM, words, { stdio: ["ignore", "pipe", "inherit"] });
const ask = (...words: string[]): string => spawnSync(PROGRAM, words, { encoding: "utf8" }).stdout;

const firstLine = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    createInterface({ input: child.stdout! }).once("line", resolve);
    child.once("close", () => reject(new Error("it ended; its reason is on standard error")));
  });

async function main(): Promise<void> {
  const session = start("--network", "filtered", "--ask", "--", "sh", "-c", "echo ready; exec sleep 600");
  await firstLine(session); // the session's command runs
  const sessions: Session[] = JSON.parse(ask("ps", "--json")).sessions;
  const name = sessions.find((one) => one.pid === session.pid)!.session;
  const questions = start("pending", "--follow", "--json", "--session", name);
  const command = start("exec", "--json", name, "--", "curl", "-sS", "http://unknown.example/");
  let output = "";
  command.stdout!.on("data", (bytes) => (output += bytes));
  const question: Question = JSON.parse(await firstLine(questions));
  const answer = ALLOWED.has(question.name) ? ["approve"] : ["deny", "--reason", "not on the list"];
  ask(...answer, String(question.id), "--session", name);
  await new Promise((resolve) => command.once("close", resolve));
  const result: Result = JSON.parse(output);
  console.log(`asked about ${question.name}:${question.port}, answered ${answer[0]}`);
  console.log(`exit status ${result.exit_status}, refused: ${result.refused?.map((one) => one.what).join(", ")}`);
  session.kill(); // `questions` ends with it
}

main();
