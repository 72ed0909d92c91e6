# SPDX-License-Identifier: MIT
# grpc_server.py ADDRESS:PORT KEY CERTIFICATE: echoes messages. It prints the authorization of each call, and sends it back in the trailers.
import sys
from concurrent import futures

import grpc


def authorization(context):
    return dict(context.invocation_metadata()).get("authorization", "none")


def unary(message, context):
    print("unary", authorization(context), flush=True)
    context.set_trailing_metadata((("seen", authorization(context)),))
    if message == b"missing":
        context.abort(grpc.StatusCode.NOT_FOUND, "not here")
    return b"echo " + message


def both(messages, context):
    print("both", authorization(context), flush=True)
    for message in messages:
        yield b"echo " + message
    context.set_trailing_metadata((("seen", authorization(context)),))


def many(message, context):
    for number in range(int(message)):
        yield b"x" * 10000 + str(number).encode()


def total(messages, context):
    return b"%d" % sum(len(message) for message in messages)


handlers = {"Sum": grpc.stream_unary_rpc_method_handler(total), "Unary": grpc.unary_unary_rpc_method_handler(unary),
            "Both": grpc.stream_stream_rpc_method_handler(both),
            "Many": grpc.unary_stream_rpc_method_handler(many)}
server = grpc.server(futures.ThreadPoolExecutor(32))
server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("test.Echo", handlers),))
key, certificate = (open(path, "rb").read() for path in sys.argv[2:4])
server.add_secure_port(sys.argv[1], grpc.ssl_server_credentials(((key, certificate),)))
server.start()
print("ready", flush=True)
server.wait_for_termination()
