# SPDX-License-Identifier: MIT
# Starts the servers that Debian has, each on a port of the loopback. Each answers with the names that it saw, as [[NAME]]: HTTP in
# the answer, TLS by the certificate that it chose, which TLS 1.2 sends in clear text.
import os
import socket
import subprocess
import time

ADDRESS = "127.0.0.1"
NAMES = ("default", "good.test", "evil.test")
HERE = os.path.dirname(os.path.abspath(__file__))


def make_certificates(folder):
    for name in NAMES:
        path = f"{folder}/{name}"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN=[[{name}]]", "-addext", f"subjectAltName=DNS:{name}",
                        "-keyout", path + ".key", "-out", path + ".crt"], check=True, capture_output=True)
        with open(path + ".pem", "w") as both:
            both.write(open(path + ".key").read() + open(path + ".crt").read())
        subprocess.run(["openssl", "pkcs12", "-export", "-in", path + ".pem", "-name", name, "-out", path + ".p12", "-passout", "pass:secret"], check=True, capture_output=True)
    for name in NAMES:
        subprocess.run(["keytool", "-importkeystore", "-noprompt", "-srckeystore", f"{folder}/{name}.p12", "-srcstoretype", "PKCS12", "-srcstorepass", "secret",
                        "-destkeystore", f"{folder}/all.p12", "-deststoretype", "PKCS12", "-deststorepass", "secret"], check=True, capture_output=True)


def write(path, text):
    with open(path, "w") as file:
        file.write(text)
    return path


class Servers:
    def __init__(self, folder):
        self.folder, self.next_port, self.processes = folder, 21000, []
        self.http, self.tls = {}, {}

    def port(self, kind, name):
        self.next_port += 1
        kind[name] = self.next_port
        return self.next_port

    def run(self, name, *command):
        log = open(f"{self.folder}/{name}.log", "wb")
        self.processes.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log, cwd=self.folder))

    def start(self):
        folder = self.folder
        for name in NAMES:
            os.makedirs(f"{folder}/www/{name}", exist_ok=True)
            write(f"{folder}/www/{name}/index.html", f"[[{name}]]")
        self.start_nginx()
        self.start_apache()
        self.start_haproxy()
        self.start_lighttpd()
        self.start_stunnel()
        pem = {name: f"{folder}/{name}.pem" for name in NAMES}
        self.run("openssl", "openssl", "s_server", "-quiet", "-accept", f"127.0.0.1:{self.port(self.tls, 'openssl s_server')}", "-cert", pem["default"],
                 "-cert2", pem["evil.test"], "-servername", "evil.test", "-cipher", "ALL:@SECLEVEL=0", "-legacy_renegotiation")
        self.run("gnutls", "gnutls-serv", "--quiet", "--port", str(self.port(self.tls, "gnutls-serv")), "--disable-client-cert",
                 *[word for name in NAMES for word in ("--x509certfile", f"{folder}/{name}.crt", "--x509keyfile", f"{folder}/{name}.key")])
        self.run("go", f"{folder}/go-server", folder, ADDRESS, str(self.port(self.http, "Go")), str(self.port(self.tls, "Go")))
        self.run("node", "node", f"{HERE}/servers/server.mjs", folder, ADDRESS, str(self.port(self.http, "Node")), str(self.port(self.tls, "Node")),
                 str(self.port(self.http, "Node HTTP/2")))
        self.run("python", "python3", "-B", f"{HERE}/servers/server.py", folder, ADDRESS, str(self.port(self.http, "Python")), str(self.port(self.tls, "Python, second hello")))
        self.run("java", "java", "-Xmx512m", "-Djdk.tls.server.protocols=TLSv1.2,TLSv1.3", "-cp", f"{folder}:/usr/share/java/*", "Servers", folder, ADDRESS, str(self.port(self.http, "Java")),
                 str(self.port(self.tls, "Java")), str(self.port(self.http, "Netty")), str(self.port(self.http, "Netty with PROXY")), str(self.port(self.tls, "Netty")))
        self.wait()

    def start_nginx(self):
        folder, blocks = self.folder, ""
        plain, behind = self.port(self.http, "nginx"), self.port(self.http, "nginx with PROXY")
        sealed, sealed_behind = self.port(self.tls, "nginx"), self.port(self.tls, "nginx with PROXY")
        for name in NAMES:
            default = " default_server" if name == "default" else ""
            blocks += f"""server {{
                listen 127.0.0.1:{plain}{default}; listen 127.0.0.1:{behind}{default} proxy_protocol;
                listen 127.0.0.1:{sealed}{default} ssl; listen 127.0.0.1:{sealed_behind}{default} ssl proxy_protocol;
                server_name {name}; ssl_certificate {folder}/{name}.pem; ssl_certificate_key {folder}/{name}.pem;
                return 200 "[[{name}]][[$host]][[$http_host]]"; }}\n"""
        write(f"{folder}/nginx.conf", f"""daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/nginx.errors;
            events {{ worker_connections 1024; }}
            http {{ access_log off; ssl_protocols TLSv1 TLSv1.1 TLSv1.2; ssl_ciphers ALL:@SECLEVEL=0;
                    client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3; uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
                    {blocks} }}""")
        self.run("nginx", "nginx", "-p", folder, "-c", f"{folder}/nginx.conf")

    def start_apache(self):
        folder = self.folder
        plain, loose, sealed = self.port(self.http, "apache2"), self.port(self.http, "apache2, unsafe"), self.port(self.tls, "apache2")
        hosts = ""
        for port, name in [(port, name) for port in (plain, loose, sealed) for name in NAMES]:
            tls = f"SSLEngine on\nSSLCertificateFile {folder}/{name}.pem\nSSLProtocol -all +TLSv1.2\n" if port == sealed else ""
            unsafe = "HttpProtocolOptions Unsafe\n" if port == loose else ""
            hosts += f"""<VirtualHost 127.0.0.1:{port}>\nServerName {name}\nDocumentRoot {folder}/www/{name}\n{tls}{unsafe}
                Header always set X-Seen "expr=[[%{{HTTP_HOST}}]][[{name}]]"\n</VirtualHost>\n"""
        modules = "".join(f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n" for name in ("mpm_event", "authz_core", "dir", "headers", "ssl"))
        write(f"{folder}/apache.conf", f"""{modules}ServerRoot {folder}\nServerName default\nPidFile {folder}/apache.pid\nErrorLog {folder}/apache.errors
            Listen 127.0.0.1:{plain}\nListen 127.0.0.1:{loose}\nListen 127.0.0.1:{sealed}\nDirectoryIndex index.html\nThreadsPerChild 25\n{hosts}""")
        self.run("apache", "apache2", "-X", "-f", f"{folder}/apache.conf")

    def start_haproxy(self):
        folder = self.folder
        os.makedirs(f"{folder}/haproxy", exist_ok=True)
        for name in NAMES:
            write(f"{folder}/haproxy/{name}.pem", open(f"{folder}/{name}.pem").read())
        tls = f"ssl crt {folder}/default.pem crt {folder}/haproxy ssl-min-ver TLSv1.0 ciphers ALL:@SECLEVEL=0"
        answer = 'http-request return status 200 content-type text/plain lf-string "[[%[req.hdr(host)]]]"'
        write(f"{folder}/haproxy.conf", f"""global\n maxconn 2000\ndefaults\n mode http\n timeout client 60s\n timeout server 60s\n timeout connect 60s
frontend a\n bind 127.0.0.1:{self.port(self.http, 'haproxy')}\n {answer}
frontend b\n bind 127.0.0.1:{self.port(self.http, 'haproxy with PROXY')} accept-proxy\n {answer}
frontend c\n bind 127.0.0.1:{self.port(self.tls, 'haproxy')} {tls}\n {answer}
frontend d\n bind 127.0.0.1:{self.port(self.tls, 'haproxy with PROXY')} accept-proxy {tls}\n {answer}
frontend e\n bind 127.0.0.1:{self.port(self.http, 'haproxy, lenient')}\n option accept-invalid-http-request\n {answer}\n""")
        self.run("haproxy", "haproxy", "-db", "-f", f"{folder}/haproxy.conf")

    def start_lighttpd(self):
        folder = self.folder
        plain, sealed = self.port(self.http, "lighttpd"), self.port(self.tls, "lighttpd")
        chosen = "".join(f'$HTTP["host"] == "{name}" {{ server.document-root = "{folder}/www/{name}"\nssl.pemfile = "{folder}/{name}.pem" }}\n' for name in NAMES[1:])
        write(f"{folder}/lighttpd.conf", f"""server.modules = ("mod_openssl")\nserver.bind = "127.0.0.1"\nserver.port = {plain}\nserver.document-root = "{folder}/www/default"
index-file.names = ("index.html")\nserver.errorlog = "{folder}/lighttpd.errors"\nssl.pemfile = "{folder}/default.pem"\nssl.openssl.ssl-conf-cmd = ("MinProtocol" => "TLSv1.2")
$SERVER["socket"] == "127.0.0.1:{sealed}" {{ ssl.engine = "enable" }}\n{chosen}""")
        self.run("lighttpd", "lighttpd", "-D", "-f", f"{folder}/lighttpd.conf")

    def start_stunnel(self):
        folder, web = self.folder, self.http["nginx"]
        sections = f"[main]\naccept = 127.0.0.1:{self.port(self.tls, 'stunnel')}\nconnect = 127.0.0.1:{web}\ncert = {folder}/default.pem\nsslVersionMax = TLSv1.2\n"
        for name in NAMES[1:]:
            sections += f"[{name}]\nsni = main:{name}\nconnect = 127.0.0.1:{web}\ncert = {folder}/{name}.pem\nsslVersionMax = TLSv1.2\n"
        write(f"{folder}/stunnel.conf", f"foreground = yes\npid =\nsyslog = no\n{sections}")
        self.run("stunnel", "stunnel4", f"{folder}/stunnel.conf")

    def wait(self):
        deadline = time.monotonic() + 300
        for name, port in [*self.http.items(), *self.tls.items()]:
            while True:
                try:
                    socket.create_connection((ADDRESS, port)).close()
                    break
                except OSError:
                    if time.monotonic() > deadline:
                        raise SystemExit(f"nothing answers for {name} on {port}: see {self.folder}/*.log")
                    time.sleep(0.05)

    def stop(self):
        for process in self.processes:
            process.kill()
            process.wait()
