"""Checks examples against the contract's schemas; `scripts/check-contract` calls it.

    contract.py [ASYNCAPI_SCHEMA]

One process for all: starting check-jsonschema takes a second, and there are sixty examples.
"""

import contextlib
import io
import pathlib
import sys

from check_jsonschema import main as check_jsonschema

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


def is_content(*words):
    """Whether check-jsonschema finds no fault."""
    return check_jsonschema([str(word) for word in words], standalone_mode=False) == 0


def is_refused(schema, example):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return not is_content("--schemafile", schema, example)


def main():
    wrong = not is_content("--check-metaschema", *sorted(DOCS.glob("schemas/*.schema.json")))
    for kind in ("event", "result", "feedback", "preference", "recall"):
        schema = DOCS / f"schemas/{kind}.schema.json"
        valid, invalid = (sorted(DOCS.glob(f"examples/{kind}/{folder}/*.json")) for folder in ("valid", "invalid"))
        if not valid or not invalid:
            sys.exit(f"check-contract: there are no examples of a {kind}")
        if not is_content("--schemafile", schema, *valid):
            # With such a schema, everything would be refused.
            sys.exit(1)
        for example in invalid:
            if not is_refused(schema, example):
                print(f"check-contract: the schema lets {example.relative_to(DOCS)} through", file=sys.stderr)
                wrong = True
    if len(sys.argv) > 1:
        wrong = not is_content("--schemafile", sys.argv[1], DOCS / "asyncapi.yaml") or wrong
    sys.exit(wrong)


if __name__ == "__main__":
    main()
