"""What MkDocs does to the pages: `make site` runs it.

The pages are written for readers of the repository, in the Markdown of GitHub. On the site the README is the
front page, guides outside docs/ are pages too, links between them lead to the pages, links to other files of
the repository become their names, lists are indented as Python-Markdown wants them, notebooks become pages.
"""

from __future__ import annotations

import base64
import glob
import html
import json
import os
import posixpath
import re
from collections.abc import Callable
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OUTSIDE = {
    "index.md": "README.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
    "security.md": "SECURITY.md",
    "programs.md": "tests/io/programs/README.md",
    "action.md": "action/README.md",
}
NARROWER = {"76.25em": "72em", "76.234375em": "71.984375em"}  # widths at which the layout changes
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
FENCE = re.compile(r"^\s*(```+|~~~+)")
ITEM = re.compile(r"^(\s*)([-*]|\d+\.) ")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages whose text stands outside docs/, and the pages of notebooks."""
    for name, path in OUTSIDE.items():
        with open(os.path.join(ROOT, path), encoding="utf-8") as text:
            files.append(File.generated(config, name, content=text.read()))
    for file in list(files):
        if file.src_uri.endswith(".ipynb"):
            name = file.src_uri.removesuffix(".ipynb") + ".md"
            files.append(
                File.generated(config, name, content=notebook_page(file.content_string, file.src_uri))
            )
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn the Markdown of the repository into that of the site."""
    del config
    return _lists(_links(markdown, page.file.src_uri, files))


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let wide tables and figures scroll by themselves, so that the page does not."""
    del page, config, files
    return re.sub(r"<table\b.*?</table>", r'<div class="wide">\g<0></div>', html, flags=re.DOTALL)


def on_post_template(output_content: str, template_name: str, config: MkDocsConfig) -> str:
    """Let the page for missing pages find its style beside it: it is opened from a disk, too."""
    del config
    if template_name != "404.html":
        return output_content
    relative = output_content.replace('"/"', '"."')
    return re.sub(r'(\b(?:href|src)=|"search": )"/(?!/)', r'\1"./', relative)


def on_post_build(config: MkDocsConfig) -> None:
    """Show tabs and both columns from 1152 pixels on; in the theme a menu button replaces them up to 1220."""
    for suffix in ("css", "js"):
        for path in glob.glob(os.path.join(config.site_dir, "assets", "**", f"*.{suffix}"), recursive=True):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            for wide, wanted in NARROWER.items():
                text = text.replace(wide, wanted)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)


def _links(markdown: str, uri: str, files: Files) -> str:
    """Return a page whose links are those of the site."""
    at = OUTSIDE.get(uri, posixpath.join("docs", uri))
    pages = {path: name for name, path in OUTSIDE.items()}

    def changed(found: re.Match[str]) -> str:
        image, text, target = found.groups()
        if re.match(r"[a-z]+:|#", target):
            return found[0]
        path, sharp, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(at), path))
        if path in {"docs/studies", "docs/howto"}:
            path += "/README.md"
        on_site = pages.get(path, path.removeprefix("docs/") if path.startswith("docs/") else "")
        on_site = re.sub(r"\.ipynb$", ".md", on_site)
        kept = os.path.exists(os.path.join(ROOT, path))
        if not on_site or (kept and files.get_file_from_path(on_site) is None):
            return text if text.startswith("`") else f"{text} (`{path}`)" if text != path else f"`{path}`"
        relative = posixpath.relpath(on_site, posixpath.dirname(uri) or ".")
        return f"{image}[{text}]({relative}{sharp}{anchor})"

    return _outside_fences(markdown, lambda line: LINK.sub(changed, line))


def _outside_fences(markdown: str, change: Callable[[str], str]) -> str:
    """Return a page whose text between the blocks of code was changed."""
    parts: list[tuple[bool, list[str]]] = [(False, [])]
    fence = ""
    for line in markdown.split("\n"):
        found = FENCE.match(line)
        if found and not fence:
            fence = found[1]
            parts.append((True, [line]))
        elif fence and line.strip() == fence:
            fence = ""
            parts[-1][1].append(line)
            parts.append((False, []))
        else:
            parts[-1][1].append(line)
    return "\n".join("\n".join(lines) if code else change("\n".join(lines)) for code, lines in parts if lines)


def _lists(markdown: str) -> str:
    """Return a page whose lists begin after an empty line and are indented by four blanks."""

    def changed(text: str) -> str:
        lines: list[str] = []
        for line in text.split("\n"):
            found = ITEM.match(line)
            before = lines[-1] if lines else ""
            if found and found[1]:
                lines.append(f"    {line.lstrip()}" if len(found[1]) < 4 else line)
                continue
            if found and before.strip() and not ITEM.match(before) and not before.startswith(" "):
                lines.append("")
            lines.append(line)
        return "\n".join(lines)

    return _outside_fences(markdown, changed)


def notebook_page(text: str, uri: str) -> str:
    """Return a notebook with its outputs as a page."""
    name = posixpath.basename(uri)
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"]).rstrip()
        if cell["cell_type"] == "markdown":
            parts.append(source)
            if len(parts) == 1:
                link = f'<a href="{name}" download>{name}</a>'
                parts.append(f"This page is the notebook {link}, with what its cells printed.")
            continue
        parts.append(f"```python\n{source}\n```")
        parts += [shown for output in cell["outputs"] if (shown := _shown(output))]
    return "\n\n".join(parts) + "\n"


def _shown(output: dict[str, Any]) -> str:
    """Return one output of a cell as Markdown."""
    if output["output_type"] == "stream":
        return f"```text\n{''.join(output['text']).rstrip()}\n```"
    data = output.get("data", {})
    if "image/svg+xml" in data:
        drawn = base64.b64encode("".join(data["image/svg+xml"]).encode()).decode()
        return f'<img class="figure" alt="figure" src="data:image/svg+xml;base64,{drawn}">'
    if "text/html" in data:
        return '<div class="wide">' + re.sub(r"\n\s*\n", "\n", "".join(data["text/html"])) + "</div>"
    return f"```text\n{html.unescape(''.join(data.get('text/plain', ''))).rstrip()}\n```"
