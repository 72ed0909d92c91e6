# SPDX-License-Identifier: MIT
# grpc_client.py HOST:PORT: calls of all kinds, each with the token of TRACKER_TOKEN.
import os
import sys
import threading

import grpc

roots = open(os.environ["SSL_CERT_FILE"], "rb").read()
metadata = (("authorization", "Bearer " + os.environ.get("TRACKER_TOKEN", "none")),)
with grpc.secure_channel(sys.argv[1], grpc.ssl_channel_credentials(roots)) as channel:
    unary = channel.unary_unary("/test.Echo/Unary")
    answer, call = unary.with_call(b"hello", metadata=metadata, timeout=100)
    print("unary:", answer.decode(), dict(call.trailing_metadata())["seen"], call.code().name)
    try:
        unary(b"missing", metadata=metadata, timeout=100)
    except grpc.RpcError as error:
        print("failure:", error.code().name, error.details())
    print("at once:", len({future.result() for future in [unary.future(b"%d" % i, metadata=metadata, timeout=100) for i in range(50)]}))
    many = channel.unary_stream("/test.Echo/Many")
    print("many:", sum(len(message) for message in many(b"500", metadata=metadata, timeout=100)))

    total = channel.stream_unary("/test.Echo/Sum")
    print("sum:", total((b"x" * 20000 for _ in range(3000)), metadata=metadata, timeout=100).decode())

    # The next message is sent when the echo of the last one is there.
    echoes = []

    def messages():
        for number in range(100):
            while len(echoes) < number:
                turn.wait(100)
                turn.clear()
            yield b"%d" % number

    turn = threading.Event()
    call = channel.stream_stream("/test.Echo/Both")(messages(), metadata=metadata, timeout=100)
    try:
        for echo in call:
            echoes.append(echo)
            turn.set()
    except grpc.RpcError as error:
        print("both ended:", error.code().name, len(echoes))
    print("both:", len(echoes), echoes[-1].decode(), dict(call.trailing_metadata())["seen"], call.code().name)
