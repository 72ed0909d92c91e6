// SPDX-License-Identifier: MIT
// mcp_sdk.mjs LIBRARY COMMAND...: a client of `agent-sandbox mcp` made with the protocol's own library, which checks every result against
// the schemas that the server sends. It prints one line for each step.
import { pathToFileURL } from "node:url";

const [library, command, ...args] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(`${library}/dist/esm/client/${name}.js`));
const { Client } = await load("index");
const { StdioClientTransport } = await load("stdio");

const client = new Client({ name: "sdk", version: "1" });
await client.connect(new StdioClientTransport({ command, args }));
const call = (name, input, options) => client.callTool({ name, arguments: input }, undefined, options);
const content = async (...parameters) => (await call(...parameters)).structuredContent;

console.log((await client.listTools()).tools.map((tool) => tool.name).join(" "));
// It ends when the first report of its progress has come.
let reported = false;
const reports = { onprogress: () => reported || (reported = true, call("write", { path: "go", content: "" })) };
const ran = await content("run", { command: "until test -e go; do sleep 0.1; done; echo hello; exit 3" }, reports);
console.log("run", ran.stdout.trim(), ran.exit_status);
await call("write", { path: "sdk.txt", content: "ü" });
console.log("read", (await content("read", { path: "sdk.txt" })).text);
console.log("why", (await content("why", { syscall: "mount" })).allowed);
const abort = new AbortController();
const slept = call("run", { command: ["sleep", "1000"] }, { signal: abort.signal }).catch(() => console.log("cancelled"));
abort.abort("enough");
await slept;
await call("allow", {}).catch((error) => console.log("allow", error.code));
console.log("secret", (await call("read", { path: process.env.SECRET_FILE })).isError);
await client.close();
