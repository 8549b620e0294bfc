"""Results in files, and the table of means with marks of significance."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from leadline.errors import UsageError

if TYPE_CHECKING:
    from leadline.data.result import Result


FORMATS = {".csv": "csv", ".json": "json", ".tex": "latex", ".md": "markdown", ".html": "html"}
PAGE = '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>leadline</title>\n{}</html>\n'


def write_result(result: Result, path: str | os.PathLike[str], **options: Any) -> None:
    """Write a result to a file in the format given by its suffix."""
    from leadline.io.read_paths import refuse_sources
    from leadline.io.write import checked_path, write_whole

    name = checked_path(path)
    refuse_sources(name, result.sources)
    suffix = os.path.splitext(name)[1].lower()
    if suffix == ".parquet":
        content = _parquet(result, options)
    elif suffix in FORMATS:
        content = _text(result, FORMATS[suffix], options).encode("utf-8", "surrogateescape")
    else:
        choices = ", ".join([*FORMATS, ".parquet"])
        raise UsageError(f"{name}: results are not written as '{suffix}'; expected one of {choices}")
    write_whole(name, content)


def _text(result: Result, form: str, options: dict[str, Any]) -> str:
    if form == "json":
        return result.to_json(**options) + "\n"
    text = result.text(form, **options)
    return PAGE.format(text) if form == "html" else text


def _parquet(result: Result, options: dict[str, Any]) -> bytes:
    import io

    from leadline.data.optional import import_optional

    table = result.to_arrow(**options)  # raises an error that names the missing package
    target = io.BytesIO()
    import_optional("pyarrow.parquet").write_table(table, target, compression="zstd")
    return target.getvalue()
