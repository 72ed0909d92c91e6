// SPDX-License-Identifier: MIT
// http2_client.js URL COUNT: as many requests at once over one connection of Node's http2. Prints how many got 200 and the last text.
const [url, count] = [new URL(process.argv[2]), Number(process.argv[3])];
const connection = require("http2").connect(url.origin);
connection.on("error", error => { console.log(error.code); process.exit(1); });
let done = 0, good = 0, text = "";
for (let i = 0; i < count; ++i) {
    const request = connection.request({ ":path": url.pathname + url.search });
    request.on("response", fields => { if (fields[":status"] === 200) ++good; });
    request.on("error", error => { console.log(error.code); });
    request.setEncoding("utf8").on("data", data => { text = data; });
    request.on("close", () => { if (++done === count) { console.log(good, text.trim()); connection.close(); } });
}
