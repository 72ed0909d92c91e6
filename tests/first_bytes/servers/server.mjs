// SPDX-License-Identifier: MIT
// Node's servers: HTTP, HTTP/2 in clear, and TLS that chooses a certificate by name. They answer with the name that they saw.
import fs from "node:fs";
import http from "node:http";
import http2 from "node:http2";
import tls from "node:tls";

const [folder, address, httpPort, tlsPort, http2Port] = process.argv.slice(2);
const seen = (request) => {
    const url = /^[a-z][a-z0-9+.-]*:\/\/([^/?]*)/i.exec(request.url ?? "");
    return `[[${request.headers.host ?? ""}]][[${url ? url[1] : ""}]][[${request.headers[":authority"] ?? ""}]]`;
};
const answer = (request, response) => {
    request.resume();
    request.on("end", () => response.end(seen(request)));
};
http.createServer(answer).listen(httpPort, address);
http2.createServer(answer).listen(http2Port, address);
const contexts = {};
for (const name of ["default", "good.test", "evil.test"]) {
    const pem = fs.readFileSync(`${folder}/${name}.pem`);
    contexts[name] = tls.createSecureContext({ key: pem, cert: pem, minVersion: "TLSv1" });
}
const pem = fs.readFileSync(`${folder}/default.pem`);
const server = tls.createServer({ key: pem, cert: pem, minVersion: "TLSv1", ciphers: "DEFAULT@SECLEVEL=0",
    SNICallback: (name, done) => done(null, contexts[name] ?? contexts.default) });
server.on("tlsClientError", (problem, socket) => socket.destroy());
server.listen(tlsPort, address);
