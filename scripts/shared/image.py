"""An OCI image without a daemon: the tarball's tree, glibc, authorities and time zones, and a user without rights.

https://github.com/opencontainers/image-spec. `docker load` of a Docker without containerd's store reads manifest.json.
"""

import datetime
import hashlib
import json
import shutil

import archive
from debian import ROOT

IMAGE_PACKAGES = ["ca-certificates", "libc6", "tzdata"]
# As in deploy/Dockerfile.
USER = 10001
# glibc has more libraries; no program in the image would load the rest.
GLIBC = ["libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "libresolv.so.2", "librt.so.1"]
LOADER = "ld-linux-x86-64.so.2"


def make_root(tree, root):
    shutil.copytree(tree, root / "usr")
    for unused in ["share/man", "share/bash-completion", "share/zsh", "share/fish", "share/herald"]:
        shutil.rmtree(root / "usr" / unused)
    libraries = root / "usr/lib/x86_64-linux-gnu"
    libraries.mkdir(parents=True)
    for name in [*GLIBC, LOADER]:
        shutil.copyfile(ROOT / "lib/x86_64-linux-gnu" / name, libraries / name)
        (libraries / name).chmod(0o755)
    (root / "usr/lib64").mkdir()
    (root / "usr/lib64" / LOADER).symlink_to(f"../lib/x86_64-linux-gnu/{LOADER}")
    for name in ["bin", "lib", "lib64"]:
        (root / name).symlink_to(f"usr/{name}")
    shutil.copytree(ROOT / "usr/share/zoneinfo", root / "usr/share/zoneinfo", symlinks=True)
    certificates = root / "etc/ssl/certs"
    certificates.mkdir(parents=True)
    shutil.copyfile(ROOT / "etc/ssl/certs/ca-certificates.crt", certificates / "ca-certificates.crt")
    # The place where OpenSSL looks by itself, for librdkafka.
    (root / "usr/lib/ssl").mkdir()
    (root / "usr/lib/ssl/certs").symlink_to("/etc/ssl/certs")
    (root / "usr/lib/ssl/cert.pem").symlink_to("/etc/ssl/certs/ca-certificates.crt")
    (root / "etc/passwd").write_text(
        "root:x:0:0:root:/root:/usr/sbin/nologin\n"
        f"herald:x:{USER}:{USER}:herald:/nonexistent:/usr/sbin/nologin\n")
    (root / "etc/group").write_text(f"root:x:0:\nherald:x:{USER}:\n")
    (root / "etc/nsswitch.conf").write_text("passwd: files\ngroup: files\nhosts: files dns\n")
    # Scanners read the distribution from it, to find its packages' known vulnerabilities.
    shutil.copyfile(ROOT / "usr/lib/os-release", root / "usr/lib/os-release")
    (root / "etc/os-release").symlink_to("../usr/lib/os-release")
    (root / "etc/herald").mkdir()
    (root / "tmp").mkdir()
    (root / "tmp").chmod(0o1777)


def image_of(tree, root, version, commit, epoch):
    """The archive's bytes."""
    make_root(tree, root)
    layer = archive.tar(root, epoch)
    created = datetime.datetime.fromtimestamp(epoch, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    blobs = {}

    def blob(media_type, data):
        digest = hashlib.sha256(data).hexdigest()
        blobs[f"blobs/sha256/{digest}"] = data
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(data)}

    def document(media_type, value):
        return blob(media_type, json.dumps(value, separators=(",", ":")).encode())

    kind = "application/vnd.oci.image"
    layer_blob = blob(f"{kind}.layer.v1.tar+gzip", archive.compressed(layer))
    config = document(f"{kind}.config.v1+json", {
        "created": created, "architecture": "amd64", "os": "linux",
        "config": {
            "User": str(USER), "Env": ["PATH=/usr/bin"], "Entrypoint": ["/usr/bin/herald"],
            "Cmd": ["worker", "--config", "/etc/herald/herald.yaml"], "StopSignal": "SIGTERM",
            "Labels": {
                "org.opencontainers.image.title": "herald", "org.opencontainers.image.version": version,
                "org.opencontainers.image.revision": commit, "org.opencontainers.image.licenses": "Apache-2.0",
                "org.opencontainers.image.description":
                    "Delivers push notifications from Kafka to the notification backend",
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
        "history": [{"created": created, "created_by": "scripts/make-bundle"}],
    })
    manifest = document(f"{kind}.manifest.v1+json", {
        "schemaVersion": 2, "mediaType": f"{kind}.manifest.v1+json", "config": config, "layers": [layer_blob]})

    def path(descriptor):
        return "blobs/sha256/" + descriptor["digest"].removeprefix("sha256:")

    return archive.tar_of({
        "oci-layout": b'{"imageLayoutVersion":"1.0.0"}',
        "index.json": json.dumps({
            "schemaVersion": 2, "mediaType": f"{kind}.index.v1+json",
            "manifests": [{
                **manifest, "platform": {"architecture": "amd64", "os": "linux"},
                "annotations": {"org.opencontainers.image.ref.name": version}}],
        }, separators=(",", ":")).encode(),
        "manifest.json": json.dumps([{
            "Config": path(config), "RepoTags": [f"herald:{version}"], "Layers": [path(layer_blob)]}],
            separators=(",", ":")).encode(),
        **dict(sorted(blobs.items())),
    }, epoch)
