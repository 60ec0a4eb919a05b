#!/usr/bin/env python3
"""Writes what is inside the portable programs, for users: OUT/components.spdx.json (SPDX 2.3: names, versions, licences) and
OUT/components/*.txt (the copyright and licence of each part, as Debian has it, and the common licences that they name).

usage: components.py PORTABLE OUT VERSION     PORTABLE: build/portable, after libraries.sh
"""
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
COMMON = pathlib.Path("/usr/share/common-licenses")


def parts():
    """Return (suite, kind, package, version, licence) of each part that is inside."""
    for line in (HERE / "parts.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            suite, kind, package, version, licence = line.split(maxsplit=4)
            if kind == "compiler":
                version = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], check=True, capture_output=True,
                                         text=True).stdout
            if licence != "-":
                yield suite, kind, package, version, licence


def copyright_of(kind, package, portable):
    source = portable / "sources" / package
    if kind == "source":
        return (source / "debian/copyright").read_text()
    if kind == "upstream":
        return "\n".join(path.read_text() for path in sorted(source.glob("COPYING*")))
    root = pathlib.Path("/") if kind == "compiler" else portable / "sysroot"
    return (root / "usr/share/doc" / package / "copyright").read_text()


def spdx(listed, version):
    """The document. Its time is that of the source, so that two builds are equal."""
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    created = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    ours = {"SPDXID": "SPDXRef-cgpu", "name": "cgpu", "versionInfo": version, "supplier": "Organization: the cgpu authors",
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "Apache-2.0",
            "licenseDeclared": "Apache-2.0", "copyrightText": "2026 the cgpu authors"}
    packages, relationships = [ours], [
        {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-cgpu"}]
    texts = []
    for suite, _, package, its_version, licence in listed:
        name = f"SPDXRef-{suite}-{re.sub(r'[^A-Za-z0-9.-]', '-', package)}"
        own = re.search(r"AdditionRef-(\S+)", licence)
        if own:  # not on SPDX's list
            texts.append({"licenseId": f"LicenseRef-{package}", "name": licence.replace("AdditionRef-", ""),
                          "extractedText": f"See components/{package}.txt"})
            licence = f"LicenseRef-{package}"
        packages.append({
            "SPDXID": name, "name": package, "versionInfo": its_version, "supplier": "Organization: Debian",
            "downloadLocation": f"http://deb.debian.org/debian/dists/{suite}/", "filesAnalyzed": False,
            "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": f"See components/{package}.txt"})
        relationships.append({"spdxElementId": "SPDXRef-cgpu", "relationshipType": "CONTAINS", "relatedSpdxElement": name})
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"cgpu-{version}",
            "documentNamespace": f"https://cgpu.example/spdx/cgpu-{version}",
            "creationInfo": {"created": created, "creators": ["Tool: cgpu packaging/portable/components.py"]},
            "packages": packages, "hasExtractedLicensingInfos": texts, "relationships": relationships}


def main():
    portable, out, version = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    listed = list(parts())
    texts = out / "components"
    texts.mkdir(parents=True, exist_ok=True)
    named = set()
    for suite, kind, package, _, _ in listed:
        text = copyright_of(kind, package, portable)
        # The C library is there twice: of Debian 11 in the programs, of Debian 12 in cgpu-runtime.
        name = package if kind != "compiler" else f"{package}-{suite}"
        (texts / f"{name}.txt").write_text(text)
        named |= set(re.findall(r"/usr/share/common-licenses/([\w.-]*\w)", text))
    for name in sorted(named):
        (texts / f"{name}.txt").write_text((COMMON / name).read_text())
    (out / "components.spdx.json").write_text(json.dumps(spdx(listed, version), indent=1) + "\n")
    print(f"{len(listed)} parts, {len(named)} licences of Debian's common ones")


if __name__ == "__main__":
    main()
