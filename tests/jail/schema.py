# SPDX-License-Identifier: MIT
"""schema.py SCHEMA [--lines]: checks the JSON on standard input, or each line of it, against a file of docs/schemas.

Then it checks the check: the same document with a member removed, of another type, or added must not pass. So a schema that permits
everything fails here."""
import copy
import json
import sys
from pathlib import Path

import jsonschema

# An object of one of these names has members by the names of limits, controls, switches or writers.
OPEN = {"limits", "levels", "processes", "system_calls", "trace", "refused", "writers"}


def validator(file):
    schema = json.loads(file.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    resolver = jsonschema.RefResolver(file.resolve().as_uri(), schema)
    return jsonschema.Draft202012Validator(schema, resolver=resolver)


def first_error(check, document):
    error = next(check.iter_errors(document), None)
    return error and f"{error.json_path}: {error.message}"


def places(value, path=()):
    """Yields the path of each object and each member, but of each array only the first item's."""
    if path:
        yield path
    members = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for key, member in members:
        yield from places(member, (*path, key))


def at(document, path):
    for key in path:
        document = document[key]
    return document


def changed(document, path, change):
    mutant = copy.deepcopy(document)
    change(at(mutant, path[:-1]), path[-1])
    return mutant


def with_other_type(parent, key):
    parent[key] = {"of another type": [None]} if not isinstance(parent[key], dict) else "of another type"


def mutants(document, required):
    for path in places(document):
        yield f"{path} has another type", changed(document, path, with_other_type)
        if isinstance(at(document, path), dict) and path[-1] not in OPEN:
            yield f"{path} has an unknown member", changed(document, (*path, ""), lambda parent, _: parent.update(unknown=1))
    for key in required:
        yield f"{key} is removed", changed(document, (key,), lambda parent, key: parent.pop(key))
    if isinstance(document, dict):
        yield "an unknown member", {**document, "unknown": 1}
    elif document:
        for key in document[0]:
            yield f"{key} of an item is removed", changed(document, (0, key), lambda parent, key: parent.pop(key))


def main():
    file = Path(sys.argv[1])
    check = validator(file)
    text = sys.stdin.read()
    documents = [json.loads(line) for line in text.splitlines()] if "--lines" in sys.argv else [json.loads(text)]
    if not documents:
        sys.exit("there is nothing to check")
    for document in documents:
        if error := first_error(check, document):
            sys.exit(f"{file.name}: {error}")
        for what, mutant in mutants(document, check.schema.get("required", [])):
            if not first_error(check, mutant):
                sys.exit(f"{file.name} permits a document in which {what}")


main()
