# SPDX-License-Identifier: MIT
# spellings.py TEXT HOST: sends TEXT in thirty spellings to HOST, in a header, as Authorization, in the query and as the user part of a
# URL (through the gateway's proxy). Prints "PLACE NUMBER STATUS CODE" for each, with the gateway's own code.
import base64
import http.client
import sys

TEXT, HOST = sys.argv[1], sys.argv[2]


def b64(text, before=""):
    return base64.b64encode((before + text).encode()).decode()


def percent(text, every=1, form="%%%02X"):
    return "".join(form % ord(letter) if number % every == 0 else letter for number, letter in enumerate(text))


def spellings(text):
    return [
        text, "Bearer " + text, "token " + text, f'"{text}"', f"session={text}; path=/", f"x{text}y", text.upper(), text.lower(),
        f"a={text}&b=c", f"v1.{text}.sig", "Basic " + b64("x:" + text), "Basic " + b64(text + ":"), "Basic " + b64(text + ":x-oauth-basic"),
        "basic " + b64("user:" + text), "Basic " + b64("us:" + text).rstrip("="), b64(text), b64(text, "a"), b64(text, "ab"),
        b64(text + "def", "abc"), b64(text).rstrip("="), b64(text, "?>").replace("+", "-").replace("/", "_"), f"v1.{b64(text)}.sig",
        "x" + b64(text), percent(text), percent(text, form="%%%02x"), percent(text, 2), percent(text, 5), percent("Bearer ") + text,
        percent(b64(text), 3), "a=b&c=" + percent(text, 3),
    ]


def quoted(text):
    # Percent signs and separators stay as they are: they are a part of the spelling.
    return "".join(letter if letter.isalnum() or letter in "%=&-._~+/" else "%%%02X" % ord(letter) for letter in text)


def code_of(place, spelling):
    fields, target, host = {}, "/private", HOST
    if place == "user":
        # A client with a proxy sends the whole URL.
        connection = http.client.HTTPConnection("198.18.0.1", 3128, timeout=60)
        target = "http://%s:x@%s/private" % (quoted(spelling).replace("/", "%2F"), HOST)
    else:
        connection = http.client.HTTPSConnection(HOST, timeout=60)
        if place == "query":
            target += "?key=" + quoted(spelling)
        else:
            fields = {"Authorization" if place == "authorization" else "X-Token": spelling}
    connection.putrequest("GET", target, skip_host=True, skip_accept_encoding=True)
    connection.putheader("Host", host)
    for name, value in fields.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    answer.read()
    return answer.status, answer.getheader("x-agent-sandbox") or "-"


for place in ("header", "authorization", "query", "user"):
    for number, spelling in enumerate(spellings(TEXT)):
        print(place, number, *code_of(place, spelling))
