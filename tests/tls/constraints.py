# SPDX-License-Identifier: MIT
# constraints.py FOLDER: serves https://localhost with the certificates of FOLDER/own and FOLDER/other, and has every client that is
# installed get a page from both. Prints "CLIENT own|other: served|refused".
import os
import shutil
import ssl
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FOLDER = sys.argv[1]
JAVA = """public class Get {
    public static void main(String[] words) throws Exception {
        System.out.print(new String(new java.net.URL(words[0]).openStream().readAllBytes()));
    }
}
"""
GO = """package main

import ("io"; "net/http"; "os")

func main() {
    answer, err := http.Get(os.Args[1])
    if err != nil { println(err.Error()); os.Exit(1) }
    io.Copy(os.Stdout, answer.Body)
}
"""
PYTHON = "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode())"
NODE = """require("https").get(process.argv[1], answer => answer.on("data", data => console.log(String(data)))).on("error", error => {
    console.error(error.message); process.exit(1); })"""


class Page(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "7")
        self.end_headers()
        self.wfile.write(b"welcome")

    def log_message(self, *words):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, which):
        super().__init__(("127.0.0.1", 0), Page)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(f"{FOLDER}/{which}/chain.pem", f"{FOLDER}/{which}/key.pem")
        threading.Thread(target=self.serve_forever, daemon=True).start()

    # In the thread of the request: a client that refuses must not end the server.
    def finish_request(self, request, address):
        try:
            super().finish_request(self.context.wrap_socket(request, server_side=True), address)
        except OSError:
            pass


def is_built_for_go():
    with open(f"{FOLDER}/get.go", "w") as file:
        file.write(GO)
    environment = dict(os.environ, GO111MODULE="off", CGO_ENABLED="0", GOFLAGS="")
    environment.setdefault("GOCACHE", f"{FOLDER}/go")
    environment.setdefault("HOME", FOLDER)
    return subprocess.run(["go", "build", "-o", f"{FOLDER}/get-go", f"{FOLDER}/get.go"], env=environment, check=False).returncode == 0


def clients():
    with open(f"{FOLDER}/Get.java", "w") as file:
        file.write(JAVA)
    yield "curl", ["curl", "-sS", "--cacert", "{root}", "{url}"]
    yield "wget", ["wget", "-qO-", "--tries=1", "--ca-certificate={root}", "{url}"]
    yield "python", [sys.executable, "-c", PYTHON, "{url}"]
    yield "node", ["node", "-e", NODE, "{url}"]
    yield "java", ["java", "-XX:TieredStopAtLevel=1", "-Djavax.net.ssl.trustStore={store}", f"{FOLDER}/Get.java", "{url}"]
    if shutil.which("go") and not is_built_for_go():
        print("go can't compile its client")
    yield "go", [f"{FOLDER}/get-go", "{url}"]


servers = {which: Server(which) for which in ("own", "other")}
for name, words in clients():
    if not shutil.which(words[0]):
        print(f"{name} is not installed")
        continue
    for which, server in servers.items():
        root, url = f"{FOLDER}/{which}/root.pem", f"https://localhost:{server.server_address[1]}/"
        command = [word.format(root=root, url=url, store=f"{FOLDER}/{which}/cacerts") if "{" in word and word not in (PYTHON, NODE) else word
                   for word in words]
        environment = {"PATH": os.environ["PATH"], "HOME": FOLDER, "SSL_CERT_FILE": root, "NODE_EXTRA_CA_CERTS": root}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
        is_served = done.returncode == 0 and "welcome" in done.stdout
        print(f"{name} {which}: {'served' if is_served else 'refused'}")
        if is_served != (which == "own"):
            print(done.stdout, done.stderr)
