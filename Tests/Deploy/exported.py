"""What a worker exports: the table of docs/METRICS.md, which a unit test holds against the code."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What Prometheus itself adds to a series.
TARGET = {"job", "instance", "namespace"}


def samples():
    """The labels of each sample's name."""
    found = {"up": TARGET}
    page = (ROOT / "docs/METRICS.md").read_text()
    for name, kind, labels in re.findall(r"^\| `((?:herald|process)_\w+)` \| (\w+) \| ([^|]*) \|", page, re.M):
        labels = set(re.findall(r"`(\w+)`", labels)) | TARGET
        if kind == "histogram":
            found |= {f"{name}_bucket": labels | {"le"}, f"{name}_sum": labels, f"{name}_count": labels}
        else:
            found[name] = labels
    if len(found) < 40:
        raise SystemExit("check-deploy: docs/METRICS.md has no table of metrics that this understands")
    return found


def words(file, after):
    """The words of a Swift enumeration: `case .one: "word"`, in the property `after`."""
    [path] = ROOT.glob(f"Sources/**/{file}")
    text = path.read_text()
    body = text[text.index(after):]
    found = re.findall(r'case \.(?:\w+): "([\w-]+)"', body[:body.index("\n    }\n")])
    if len(found) < 3:
        raise SystemExit(f"check-deploy: {path} has no words that this understands")
    return found


def outages():
    return words("OutageReason+Words.swift", "public var word: String")


def reasons():
    """The reasons of /readyz, outages apart."""
    return words("Readiness.swift", "public var word: String")
