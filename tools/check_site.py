"""Check a built site: no page loads from the network, and every link within it leads somewhere."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Tags that load what they name when a page is opened, with the attribute that names it.
LOADS = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "object": "data", "video": "src"}


class Page(HTMLParser):
    """What a page loads, what it links to, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the tag names."""
        known = {name: value or "" for name, value in attrs}
        if tag in LOADS and LOADS[tag] in known and known.get("rel") not in ("canonical", "author", "license"):
            self.loads.append(known[LOADS[tag]])
        if tag == "a" and "href" in known:
            self.links.append(known["href"])
        self.anchors |= {known[name] for name in ("id", "name") if name in known}


def main(site: Path) -> int:
    """Say what is wrong; how many things are."""
    wrong = []
    # rustdoc checks its own pages, and they are many.
    files = [path for path in sorted(site.rglob("*.html")) if "rust" not in path.relative_to(site).parts]
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in files}
    for path, page in pages.items():
        name = path.relative_to(site)
        wrong += [f"{name} loads {address}" for address in page.loads if urlsplit(address).netloc]
        for address in page.links + page.loads:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                wrong.append(f"{name} links to {address}, which is not there")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                wrong.append(f"{name} links to {address}, which has no such anchor")
    for style in site.rglob("*.css"):
        if "url(http" in style.read_text(encoding="utf-8").replace('"', "").replace("'", ""):
            wrong.append(f"{style.relative_to(site)} loads from the network")
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{len(pages)} pages, {len(wrong)} things wrong")
    return min(len(wrong), 1)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
