"""A worker's exported metrics: the table of docs/METRICS.md, which a unit test compares with the code."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The labels that Prometheus itself adds to a series.
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


def cases(enumeration, file="*.swift"):
    """The words of a Swift enumeration: its raw values, or its cases' names in kebab case, without payloads."""
    for path in sorted(ROOT.glob(f"Sources/contract/HeraldEvents/Vocabulary/{file}")):
        found = re.search(rf"^( *)(?:public )?enum {enumeration}:.*?^\1}}", path.read_text(), re.M | re.S)
        if found:
            named = re.findall(r'^ +case (\w+)(?: = "([\w-]+)")?$', found[0], re.M)
            if len(named) > 3:
                return [word or re.sub(r"([A-Z])", r"-\1", name).lower() for name, word in named]
    raise SystemExit(f"check-deploy: there is no enumeration {enumeration} that this understands")


def outages():
    return cases("OutageReason")
