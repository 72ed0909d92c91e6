# SPDX-License-Identifier: MIT
# A client of good.example that does not say why it closes: "within" the TLS handshake when the server's certificate arrives, "after" the
# handshake without a request, or after a "request", whose answer it needs.
import socket
import ssl
import sys

how = sys.argv[1]
context = ssl.create_default_context()
connection = socket.create_connection(("good.example", 443), timeout=100)
if how == "within":
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    session = context.wrap_bio(incoming, outgoing, server_hostname="good.example")
    try:
        session.do_handshake()
    except ssl.SSLWantReadError:
        connection.sendall(outgoing.read())
    assert connection.recv(65536)
    connection.close()
else:
    session = context.wrap_socket(connection, server_hostname="good.example", suppress_ragged_eofs=True)
    if how == "request":
        session.sendall(b"GET /private HTTP/1.1\r\nHost: good.example\r\n\r\n")
        assert session.recv(65536).startswith(b"HTTP/1.1 ")
    # Without an end of TLS.
    session.close()
