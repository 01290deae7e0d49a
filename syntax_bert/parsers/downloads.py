"""Fetching a file over HTTP: resumed after a break, and never put together from two versions of it."""

import re
import time
from pathlib import Path

from huggingface_hub import get_session
from huggingface_hub.constants import HF_HUB_DOWNLOAD_TIMEOUT
from huggingface_hub.utils import httpx, tqdm

__all__ = ["fetch"]

NUM_ATTEMPTS = 5
FIRST_WAIT = 1.0  # seconds, doubled from attempt to attempt
TRANSIENT_STATUSES = (408, 429, 500, 502, 503, 504)


def fetch(url: str, path: Path) -> None:
    """Fetches a file; what an earlier attempt left at `path` is continued if the server's file is still the same.

    A file at `path` is whole only after this returns: give a name that nothing else reads. One process at a time.

    Raises:
        OSError: If the server does not give the file, or is not reached in five attempts.
    """
    for attempt in range(NUM_ATTEMPTS):
        if attempt:
            time.sleep(FIRST_WAIT * 2 ** (attempt - 1))
        try:
            return fetch_rest(url, path)
        except httpx.HTTPStatusError as error:
            problem = f"the server answers {error.response.status_code} {error.response.reason_phrase}"
            if error.response.status_code not in TRANSIENT_STATUSES:
                break
        except httpx.TransportError as error:
            problem = f"{type(error).__name__}: {error}"
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            problem = f"{type(error).__name__}: {error}"
            break
    raise OSError(f"{url} cannot be downloaded: {problem}")


def fetch_rest(url: str, path: Path) -> None:
    """Makes one attempt; the ETag or date of what is at `path` lies beside it until that is the whole file."""
    version_file = path.with_name(f"{path.name}.version")
    expected = version_file.read_text("utf-8") if version_file.exists() and path.exists() else ""
    start = path.stat().st_size if expected else 0
    headers = {"Accept-Encoding": "identity"}  # a range of a compressed file would be one of other bytes
    if start:
        headers |= {"Range": f"bytes={start}-", "If-Range": expected}
    with get_session().stream("GET", url, headers=headers, timeout=HF_HUB_DOWNLOAD_TIMEOUT) as response:
        if start and response.status_code in (206, 416) and not is_rest(response, start, expected):
            version_file.unlink()
            raise httpx.RemoteProtocolError("what is left of the last attempt cannot be continued")
        response.raise_for_status()
        if not start or response.status_code != 206:
            start = 0
            path.write_bytes(b"")  # before the version: what lies here is never of an older one
            version_file.write_text(version(response) or "", "utf-8")
        total = file_size(response)
        with (
            open(path, "ab") as file,
            tqdm(total=total, initial=start, unit="B", unit_scale=True, desc=url.rpartition("/")[2]) as progress,
        ):
            for chunk in response.iter_raw():
                file.write(chunk)
                progress.update(len(chunk))
    if total is not None and path.stat().st_size != total:
        raise httpx.RemoteProtocolError(f"{path.stat().st_size} bytes came of {total}")
    version_file.unlink(missing_ok=True)


def version(response: httpx.Response) -> str | None:
    """Gives what `If-Range` may name: a strong ETag, or else the date of the last change."""
    etag = response.headers.get("ETag")
    return etag if etag and not etag.startswith("W/") else response.headers.get("Last-Modified")


def is_rest(response: httpx.Response, start: int, expected: str) -> bool:
    """Tells whether an answer is the rest, from byte `start`, of the version that is expected."""
    match = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    return match is not None and int(match[1]) == start and version(response) in (None, expected)


def file_size(response: httpx.Response) -> int | None:
    """Gives the size of the whole file in bytes, if the server says it."""
    size = response.headers.get("Content-Range", "").rpartition("/")[2] or response.headers.get("Content-Length", "")
    return int(size) if size.isdigit() else None
